"""The state of a session: its packets, how they are shown, and the replay that goes on.

Nothing here knows of a terminal, of files or of commands.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Iterator
from operator import ne
from typing import NamedTuple

from epic_cli.engine.packets import Entities, PacketBlock
from epic_cli.engine.refusals import Refusal
from epic_cli.engine.settings import Value
from epic_cli.engine.strategies import DEFAULT, create
from epic_cli.engine.text.rows import RowWriter
from epic_cli.engine.text.scan import TextScanner
from epic_cli.formats.text import packet_line
from epic_cli.playback import SampleStream, Timing

Draw = Callable[[bytes], object]

#: A longer line is read as several (``fgets`` with 1024 bytes): no packet is kept as one.
_LONGEST_LINE = 1022


class View(NamedTuple):
    """How the packets are shown: a strategy with the settings that were set, and the timing."""

    strategy: str = DEFAULT
    settings: dict[str, Value] = {}  # noqa: RUF012 - never changed in place
    timing: Timing = Timing()

    def stream(self) -> SampleStream:
        """A replay of its own; raises ``ValueError`` for a strategy or setting there is not."""
        create(self.strategy, self.settings)
        return SampleStream(lambda: create(self.strategy, self.settings), self.timing)


class Taken(NamedTuple):
    """What became of some packet text: packets taken, lines refused, and whether ``q`` came."""

    packets: int
    refusals: list[Refusal]
    ended: bool


class Change(NamedTuple):
    """What another view of the same packets changed: the number of rows and the last one."""

    rows_before: int
    rows: int
    different: int | None
    last_before: bytes
    last: bytes
    refusals: list[Refusal]


class Session:
    """The packets so far, as text and as numbers, and one replay of them that goes on.

    ``lines`` holds the text of each packet, so that what is saved is what was typed. The replay
    can always be made again from the packets: an interrupt at any point loses none.
    """

    def __init__(self, view: View | None = None) -> None:
        self.view = view or View()
        self.stored: dict[str, dict[str, Value]] = {}  # settings of strategies left
        self.reset()

    def reset(self) -> None:
        """Forgets the packets; strategy, settings and timing stay."""
        self.entities = Entities()
        self.packets = PacketBlock(self.entities)
        self.lines: list[bytes] = []
        self.named = False  # whether any entity has a name
        self.refused = 0
        self._stream: SampleStream | None = self.view.stream()

    # ------------------------------------------------------------- packets

    def take(self, text: bytes, writer: RowWriter, draw: Draw, accept: Draw | None = None) -> Taken:
        """Takes lines of packet text and draws their rows.

        ``accept`` is given the good lines before the first row is drawn. Lines are counted from
        1; blank ones are passed over. If drawing is interrupted, the packets are taken.
        """
        scanner = TextScanner(self.entities)
        block = scanner.scan(text, final=True)
        stream = self._resume()
        lines = lines_of(block)
        if accept and lines:
            accept(b"".join(lines))
        before, block.refusals = block.refusals, []
        self.packets.extend(block)
        self.lines += lines
        self.named = self.named or _any_named(lines)
        self._stream = None
        for samples in stream.feed(block):
            draw(writer.rows(samples, self.entities))
        self._stream = stream
        if block.refusals:
            self._drop(len(lines), {refusal.line for refusal in block.refusals}, block)
        refusals = sorted(before + block.refusals, key=lambda one: one[:2])
        refusals = [refusal for refusal in refusals if refusal.text.strip()]
        self.refused += len(refusals)
        return Taken(len(lines) - len(block.refusals), refusals, scanner.ended)

    def _drop(self, added: int, refused: set[int], block: PacketBlock) -> None:
        """The clock never gets to some of the packets added last: they are not kept."""
        first = len(self.lines) - added
        places = _line_numbers(block, self.lines[first:])
        kept = [line for line, number in places if number not in refused]
        self.packets = self.packets.part(first)
        self.packets.extend(TextScanner(self.entities).scan(b"".join(kept), final=True))
        self.lines[first:] = kept

    def undo(self, count: int) -> int:
        """Takes the last packets back; how many there were to take."""
        count = min(count, len(self.lines))
        left = len(self.lines) - count
        self._stream = None
        self.packets = self.packets.part(left)
        del self.lines[left:]
        self.named = _any_named(self.lines)
        return count

    # ------------------------------------------------------------- replaying

    def _resume(self) -> SampleStream:
        """The replay that has taken all packets so far."""
        if self._stream is None:
            stream = self.view.stream()
            deque(stream.feed(self.packets.part(len(self.packets))), maxlen=0)
            self._stream = stream
        return self._stream

    def rows(self, writer: RowWriter, view: View | None = None) -> Iterator[bytes]:
        """All rows, piece by piece, as ``epic replay`` writes them for these packets."""
        return self._play(view or self.view, writer, finish=True)

    def _play(self, view: View, writer: RowWriter, finish: bool) -> Iterator[bytes]:
        stream = view.stream()
        for samples in stream.feed(self.packets.part(len(self.packets))):
            yield writer.rows(samples, self.entities)
        for samples in stream.finish() if finish else ():
            yield writer.rows(samples, self.entities)

    def tail(self, count: int, writer: RowWriter) -> tuple[list[bytes], int]:
        """The last rows, and how many there are in all."""
        pieces: deque[list[bytes]] = deque()
        total = kept = 0
        for piece in self.rows(writer):
            lines = piece.splitlines(keepends=True)
            total += len(lines)
            kept += len(lines)
            pieces.append(lines)
            while kept - len(pieces[0]) >= count:
                kept -= len(pieces.popleft())
        rows = [line for lines in pieces for line in lines]
        return rows[len(rows) - count :] if len(rows) > count else rows, total

    def change(self, view: View) -> Change:
        """Shows the packets in another view from now on, and says what that changed.

        Raises ``ValueError`` for a strategy or setting that there is not, changing nothing.
        """
        stream = view.stream()
        block = self.packets.part(len(self.packets))
        writer, writer_before = RowWriter("table"), RowWriter("table")
        before = _while_it_works(self._play(self.view, writer_before, finish=False))
        counts, different, last = [0, 0], 0, [b"", b""]
        for samples in stream.feed(block):
            pair = [next(before, b""), writer.rows(samples, self.entities)]
            different += _count(pair, counts, last)
        for piece in before:
            different += _count([piece, b""], counts, last)
        same_ticks = view.timing == self.view.timing
        self.stored[self.view.strategy] = self.view.settings
        self.view, self._stream = view, stream
        return Change(
            counts[0],
            counts[1],
            different if same_ticks else None,
            last[0],
            last[1],
            block.refusals,
        )

    @property
    def discarded(self) -> int:
        """How many packets the strategy did not want: late ones, for the most part."""
        replay = self._stream.replay if self._stream else None
        return replay.discarded if replay else 0

    @property
    def pacing(self) -> str:
        """The pacing in force, which the first packet decides if nothing was set."""
        timing = self.view.timing
        arrivals = self.packets.begins_with_arrival() or timing.latency is not None
        return timing.pacing or ("arrival" if arrivals else "demo")

    @property
    def clock(self) -> str:
        """The clock in force, which the pacing decides if nothing was set."""
        return self.view.timing.clock or ("exact" if self.pacing == "arrival" else "single")


def _any_named(lines: list[bytes]) -> bool:
    return any(b"entity=" in line for line in lines)


def _while_it_works(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """A view that fails must not keep anybody from leaving it."""
    with contextlib.suppress(Exception):
        yield from pieces


def lines_of(block: PacketBlock) -> list[bytes]:
    """The packets as lines of packet text: their own text where it is that.

    Raises ``Unwritable`` for a packet that has no such line, see ``packet_line``.
    """
    lines = []
    for index in range(len(block)):
        text = block.line_text(index).rstrip(b"\r\n") if block.find_field is None else b""
        if not 0 < len(text) <= _LONGEST_LINE:
            text = packet_line(block[index]).encode()
        lines.append(text + b"\n")
    return lines


def _line_numbers(block: PacketBlock, lines: list[bytes]) -> Iterator[tuple[bytes, int]]:
    """Each packet's text with the number of the line that it came from."""
    for index, line in enumerate(lines):
        yield line, block.line(index)


def _count(pair: list[bytes], counts: list[int], last: list[bytes]) -> int:
    """Counts the rows of two pieces into ``counts``; how many of them are different."""
    if pair[0] == pair[1]:
        rows = pair[0].splitlines()
        both = [rows, rows]
        different = 0
    else:
        both = [piece.splitlines() for piece in pair]
        different = sum(map(ne, *both)) + abs(len(both[0]) - len(both[1]))
    for side in (0, 1):
        counts[side] += len(both[side])
        last[side] = both[side][-1] if both[side] else last[side]
    return different
