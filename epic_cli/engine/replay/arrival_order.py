"""Sorting of a recording by arrival, for recordings that are sorted by send time."""

import math
from collections import deque
from collections.abc import Iterable, Iterator

from epic_cli.engine.packets import Groups, PacketBlock, arrival_range, join_by_arrival

#: A packet that arrived before others may stand so far below them (s), and this many packets.
WINDOW = 2.0
MOST_PACKETS = 65_536


def sort_by_arrival(blocks: Iterable[PacketBlock], strict: bool = False) -> Iterator[PacketBlock]:
    """Yield a whole recording's blocks with their packets in order of arrival.

    A packet that stands below packets of a later arrival moves above these packets. Blocks in order
    of arrival stay as they are. So do all packets above a packet without an arrival time, and a
    recording that is grouped by entity. With ``strict``, the blocks end with the first refused
    line, behind all packets that stand above that line.
    """
    blocks = _stop_at_refusal(blocks) if strict else blocks
    waiting: deque[tuple[float, PacketBlock]] = deque()  # each with the last arrival so far
    groups: Groups | None = Groups()
    newest, packets = -math.inf, 0
    try:
        for given in blocks:
            block = given
            first, last = arrival_range(block)
            if groups is not None and (math.isnan(first) or groups.next_group(block) < len(block)):
                groups = None
                yield from (one for _, one in waiting)
                waiting.clear()
            if groups is None:
                yield block
                continue
            newest, packets = max(newest, last), packets + len(block)
            joined = False
            while waiting and waiting[-1][0] > first:
                joined, (_, above) = True, waiting.pop()
                join_by_arrival(above, block, math.inf)
                block = above
                first, last = arrival_range(above)
            if joined:
                above, block = (
                    block,
                    join_by_arrival(block, PacketBlock(block.entities), newest - WINDOW),
                )
                _append_block(waiting, above, arrival_range(above)[1])
                last = arrival_range(block)[1]
            _append_block(waiting, block, last)
            while waiting and (waiting[0][0] <= newest - WINDOW or packets > MOST_PACKETS):
                _, above = waiting.popleft()
                packets -= len(above)
                yield above
    except Exception:
        yield from (one for _, one in waiting)
        raise
    yield from (one for _, one in waiting)


def _stop_at_refusal(blocks: Iterable[PacketBlock]) -> Iterator[PacketBlock]:
    for block in blocks:
        refusals = block.refusals
        if refusals:
            block.cut_after_line(refusals[0].line)
            block.refusals = []
        yield block
        if refusals:
            end = PacketBlock(block.entities)
            end.refusals = refusals[:1]
            yield end
            return


def _append_block(
    waiting: deque[tuple[float, PacketBlock]], block: PacketBlock, last: float
) -> None:
    waiting.append((max(last, waiting[-1][0]) if waiting else last, block))
