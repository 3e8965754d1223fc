"""What came in and what was drawn in the last seconds."""

from __future__ import annotations

import copy
import math
from collections import deque
from collections.abc import Iterable
from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epic_cli.engine.packets import Entities, PacketBlock, SampleBlock
from epic_cli.engine.replay import separate

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from epic_cli.engine.contract import Packet

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int32]
    Rows = NDArray[np.void]

#: Seconds of what is drawn that are kept, and of packets: with what was true up to five seconds
#: before, lags are those of ``epic compare``.
KEPT, PACKETS_KEPT = 6.0, 11.0

#: No more packets, and no more samples, than this are kept of a second: a thousand entities at the
#: pace of a screen.
_MOST, _MOST_ROWS = 20_000, 100_000

#: So many packets are together, so that there are few parts.
_FULL = 512

#: A sample, as ``SampleBlock.rows`` has it.
ROW = np.dtype(
    [
        ("position", "f8", 3),
        ("velocity", "f8", 3),
        ("time", "f8"),
        ("status", "i4"),
        ("entity", "i4"),
    ],
    align=True,
)


#: Where an entity was when the packet was sent that arrived at this time, with this delay; its
#: sequence number, if it is ``numbered``.
POINT = np.dtype(
    [
        ("position", "f8", 3),
        ("time", "f8"),
        ("entity", "i4"),
        ("delay", "f8"),
        ("sequence", "u8"),
        ("numbered", "?"),
    ]
)


class Points(NamedTuple):
    """Where entities (their numbers, n) were at times (s, n): positions (n, 3)."""

    positions: Floats
    entities: Integers
    times: Floats

    def last(self) -> Points:
        """The last one of each entity; they are in the order of their times."""
        _, places = np.unique(self.entities[::-1], return_index=True)
        return self.at(len(self.entities) - 1 - places)

    def at(self, places: NDArray[np.intp]) -> Points:
        """Those at these places."""
        return Points(self.positions[places], self.entities[places], self.times[places])


class _Recent:
    """Records as bytes, in pieces, each with the time at which it ends; the oldest go."""

    def __init__(self, record: np.dtype[np.void], kept: float, most: int) -> None:
        self._record, self._kept = record, kept
        self._most = most * kept * record.itemsize
        self._pieces: deque[tuple[float, bytes]] = deque()
        self._size = 0

    def add(self, time: float, records: bytes) -> None:
        self._pieces.append((time, records))
        self._size += len(records)
        begin = time - self._kept
        while self._pieces[0][0] < begin or (self._size > self._most and len(self._pieces) > 1):
            self._size -= len(self._pieces.popleft()[1])

    def since(self, time: float) -> Rows:
        """Those in whose pieces some are of this time or later."""
        pieces = list(takewhile(lambda piece: piece[0] >= time, reversed(self._pieces)))
        return np.frombuffer(b"".join(piece for _, piece in reversed(pieces)), self._record)


class History:
    """Packets that were received (with arrivals) and samples that were drawn, of some seconds.

    ``newest`` is the last packet of each entity, whenever it came. ``rotations`` (4) are those that
    were drawn last, by the entities' numbers. ``teleported`` have teleported since it was cleared.
    """

    def __init__(self, entities: Entities) -> None:
        self.entities = entities
        self.newest: dict[str, Packet] = {}
        self.teleported: set[str] = set()
        self.rotations: dict[int, Floats] = {}
        self._blocks: deque[PacketBlock] = deque([PacketBlock(entities)])
        self._count = 0
        self._points = _Recent(POINT, KEPT, _MOST)
        self._rows = _Recent(ROW, KEPT, _MOST_ROWS)

    def frozen(self) -> History:
        """As it is now, whatever comes."""
        kept = copy.deepcopy(self, {id(self.entities): self.entities} | self._shared())
        kept._blocks[-1] = self._blocks[-1].part(0, len(self._blocks[-1]))
        return kept

    def _shared(self) -> dict[int, object]:
        """What does not change, for ``deepcopy``."""
        return {id(one): one for one in (*self._blocks, *self.newest.values())}

    def take(self, block: PacketBlock) -> Rows:
        """The packets of a block came in; what is kept of them (``POINT``)."""
        packets = [block[index] for index in range(len(block))]
        points = self._points_of(packets)
        if not packets:
            return points
        arrival = packets[-1].arrival or 0.0
        if len(self._blocks[-1]) >= _FULL:
            self._blocks.append(PacketBlock(self.entities))
        self._blocks[-1].extend(block)
        self._count += len(block)
        while len(self._blocks) > 1 and self._is_old(self._blocks[0], arrival):
            self._count -= len(self._blocks.popleft())
        self._points.add(arrival, points.tobytes())
        self.newest.update((one.entity, one) for one in packets)
        self.teleported.update(one.entity for one in packets if one.teleport)
        return points

    def _is_old(self, block: PacketBlock, now: float) -> bool:
        end = block[len(block) - 1].arrival or 0.0
        return end < now - PACKETS_KEPT or self._count > _MOST * PACKETS_KEPT

    def _points_of(self, packets: Iterable[Packet]) -> Rows:
        number = self.entities.number_of
        points = [
            (one.position, arrival, number(one.entity), arrival - one.time, one.sequence or 0,
             one.sequence is not None)
            for one in packets
            if (arrival := one.arrival) is not None
        ]  # fmt: skip
        return np.array(points, POINT)

    def newest_points(self) -> Points:
        """The newest packets as points."""
        return _points(self._points_of(self.newest.values()))

    def received(self, since: float = -math.inf) -> Points:
        """Where entities were when packets were sent that arrived since (s), by arrival."""
        points = self.points(since)
        return _points(points[points["time"] >= since])

    def points(self, since: float) -> Rows:
        """What is kept of packets that arrived since (s), and of some before (``POINT``)."""
        return self._points.since(since)

    def draw(self, samples: SampleBlock) -> None:
        """Samples were drawn."""
        rows = np.frombuffer(samples.rows(), ROW)
        if len(rows):
            self._rows.add(float(rows["time"][-1]), rows.tobytes())
            rotations = np.frombuffer(samples.turns()).reshape(-1, 7)[:, :4]
            known = np.flatnonzero(~np.isnan(rotations[:, 0]))
            self.rotations |= dict(
                zip(rows["entity"][known].tolist(), rotations[known], strict=True)
            )

    def redraw(self) -> None:
        """What was drawn is drawn again."""
        self.rotations.clear()
        self._rows = _Recent(ROW, KEPT, _MOST_ROWS)

    def blocks(self) -> list[PacketBlock]:
        """The packets, in their order."""
        return [block.part(0, len(block)) for block in self._blocks]

    def rows(self, since: float = -math.inf) -> Rows:
        """What was drawn (``ROW``), as far as there was something to draw."""
        rows = self._rows.since(since)
        kept: Rows = rows[(rows["status"] != 0) & (rows["time"] >= since)]
        return kept

    def drawn(self, since: float = -math.inf) -> Points:
        """The same as points."""
        return _points(self.rows(since))

    def by_entity(self, only: str | None = None) -> dict[str, PacketBlock]:
        """The packets of each entity, or of one."""
        found: dict[str, PacketBlock] = {}
        for block in self._blocks:
            if only is not None:
                block = block.part(0, len(block))  # noqa: PLW2901
                block.keep_entity(only)
            separate(block, found)
        return found

    @property
    def names(self) -> list[str]:
        """The entities that have sent something, in the order in which they came."""
        return list(self.newest)


def _points(records: Rows) -> Points:
    return Points(records["position"], records["entity"], records["time"])
