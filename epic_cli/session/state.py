"""The state of a session: the typed packets, their view, and a replay that continues.

This module uses no terminal, no files and no commands.
"""

from __future__ import annotations

import contextlib
import math
import re
from collections import deque
from collections.abc import Callable, Iterator
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

from epic_cli.engine.contract import Packet, Sample
from epic_cli.engine.failures import Portable
from epic_cli.engine.packets import Entities, PacketBlock, SampleBlock
from epic_cli.engine.replay.arrival_order import sort_by_arrival
from epic_cli.engine.replay.playback import SampleStream, Timing
from epic_cli.engine.text import RowWriter, TextScanner
from epic_cli.jobs.replay.spec import ReplaySpec
from epic_cli.recordings.entries.text import write_packet_line
from epic_cli.recordings.files import defer_interrupt

if TYPE_CHECKING:
    from epic_cli.engine.refusals import Refusal

Draw = Callable[[SampleBlock], object]

#: The first packet that is proposed.
FIRST_PACKET = "0,0,0 / 1,0,0 / 0"

#: The name of typed and pasted lines in messages.
TYPED = "<typed>"

#: Samples drawn at once: few, so that an interrupt knows its place; more without a screen.
_AT_ONCE, _MANY_AT_ONCE = 256, 4096

#: The number of rows beyond which the user is asked.
MOST_ROWS = 10_000

#: The longest line of a stored packet: the format reads longer ones as several.
_LONGEST_LINE = 1022

#: Marks of a line with an entity's name, and of one with a rotation.
_NAME, _TURN = b"entity=", re.compile(rb"[ \t](?:rotation|yaw|pitch|roll)=")


class TickGap(NamedTuple):
    """A packet that needs very many rows: their approximate number, its time (s), its line."""

    rows: int
    time: float
    line: int


class AppendResult(NamedTuple):
    """The result of adding packet text: packets taken, lines refused, and whether ``q`` came.

    ``unplaced`` are packets without a place on the clock; ``discarded`` counts accepted packets
    that the strategy did not use, mostly late ones.
    """

    packets: int
    refusals: list[Refusal]
    unplaced: list[Refusal] = []  # noqa: RUF012 - never changed in place
    discarded: int = 0
    ended: bool = False


class DrawingStopped(Portable, KeyboardInterrupt):
    """An interrupt while rows were drawn; the packets stay accepted.

    All rows up to ``drawn`` (s) have been drawn, and possibly some more; None: at most the first
    few have. The clock continues from ``clock``.
    """

    def __init__(self, drawn: float | None, clock: float) -> None:
        super().__init__()
        self.drawn = drawn
        self.clock = clock


class RowTail:
    """The number of drawn rows, the last sample, and the last ``kept`` rows."""

    def __init__(self, entities: Entities, kept: int = 0) -> None:
        self._entities = entities
        self._kept = kept
        self._pieces: deque[SampleBlock] = deque()
        self._held = 0  # samples in the pieces
        self.count = 0
        self.last: Sample | None = None

    def follow(self, blocks: Iterator[SampleBlock]) -> Iterator[SampleBlock]:
        """Yield the blocks unchanged while counting and storing their rows."""
        for samples in blocks:
            self.count += len(samples)
            self.last = samples.last(self._entities)
            if self._kept:
                self._pieces.append(samples.copy())
                self._held += len(samples)
                while self._held - len(self._pieces[0]) >= self._kept:
                    self._held -= len(self._pieces.popleft())
            yield samples

    def list_rows(self, writer: RowWriter) -> list[bytes]:
        """Return the last rows, written by ``writer``."""
        text = b"".join(writer.rows(piece, self._entities) for piece in self._pieces)
        return text.splitlines(keepends=True)[-self._kept :]


class ViewChange(NamedTuple):
    """The rows of the same packets before and after a change of the view.

    ``different`` counts the rows that differ; None: the ticks differ, too.
    """

    before: RowTail
    after: RowTail
    different: int | None
    refusals: list[Refusal]


class Session:
    """The packets so far, one per line, and a replay of them that continues with each packet.

    The lines are stored as they were typed. Packets and replay can always be made again from the
    ``lines``: an interrupt at any point loses none.
    """

    def __init__(self, view: ReplaySpec | None = None) -> None:
        self.view = view or ReplaySpec()
        self.reset()

    def reset(self) -> None:
        """Drop the packets; strategy, settings and timing stay."""
        self.entities = Entities()
        self.lines: list[bytes] = []
        self.undone: list[bytes] = []  # lines that were taken back, in their order
        self.named = False  # whether any entity has a name
        self.turns = False  # whether any packet has a rotation
        self.refused = 0
        self.discarded = 0  # packets that the strategy did not want
        self.horizon = (-math.inf, -math.inf)  # as ``SampleStream.horizon``
        self._reached = -math.inf  # all packets that arrived before this (s) are here
        self._stream: SampleStream | None = self.view.make_stream(_AT_ONCE)

    # ------------------------------------------------------------- packets

    def iterate_blocks(self, begin: int = 0) -> Iterator[PacketBlock]:
        """Yield the packets from index ``begin`` on, in blocks; lines count from that packet."""
        scanner = TextScanner(self.entities)
        for at in range(begin, len(self.lines), _MANY_AT_ONCE):
            end = at + _MANY_AT_ONCE
            yield scanner.scan(b"".join(self.lines[at:end]), final=end >= len(self.lines))

    def list_last_packets(self, count: int) -> list[Packet]:
        """Return the last packets, at most ``count``, oldest first."""
        found = self.iterate_blocks(max(len(self.lines) - count, 0))
        return [block[index] for block in found for index in range(len(block))]

    def add(
        self,
        text: bytes,
        draw: Draw,
        accept: Callable[[bytes], object] | None = None,
        allows: Callable[[TickGap], bool] | None = None,
    ) -> AppendResult:
        """Add lines of packet text and draw their rows.

        ``accept`` is given the good lines before the first row is drawn. Lines are counted from 1;
        blank ones are skipped. Where one packet asks for very many rows, ``allows`` is asked first;
        if it returns False, nothing is taken. Raise ``DrawingStopped`` when drawing is interrupted:
        the packets are taken then.
        """
        scanner = TextScanner(self.entities)
        block = scanner.scan(text, final=True)
        refusals = [refusal for refusal in block.refusals if refusal.text.strip()]
        block.refusals = []
        stream = self._resume_replay()
        gap = _find_tick_gap(stream, block) if allows else None
        if gap and allows and not allows(gap):
            self._stream = None  # a first packet must not choose the pacing
            return AppendResult(0, refusals, ended=scanner.ended)
        lines = iterate_packet_lines(block)
        count, discarded = len(self.lines), self.discarded
        with defer_interrupt():
            if lines:
                if accept:
                    accept(b"".join(lines))
                self.lines += lines
                self.undone = []
                self._find_columns(lines)
            self.refused += len(refusals)
            self._stream = None
        self._draw_packets(stream, block, draw)
        self._stream = stream
        self._store_progress(stream)
        if block.refusals:  # the clock never reaches these packets
            unplaced = {refusal.line for refusal in block.refusals}
            self.lines[count:] = [
                line for index, line in enumerate(lines) if block.line(index) not in unplaced
            ]
            self.refused += len(block.refusals)
        taken = len(block) - len(block.refusals)
        discarded = self.discarded - discarded
        return AppendResult(taken, refusals, block.refusals, discarded, scanner.ended)

    def _find_columns(self, lines: list[bytes]) -> None:
        self.named = self.named or any(_NAME in line for line in lines)
        self.turns = self.turns or any(_TURN.search(line) for line in lines)

    def _draw_packets(self, stream: SampleStream, block: PacketBlock, draw: Draw) -> None:
        drawn = None
        try:
            for samples in stream.feed(block):
                draw(samples)
                last = samples.last(self.entities)
                drawn = last.time if last else drawn
        except KeyboardInterrupt:
            raise DrawingStopped(drawn, stream.horizon()[1]) from None

    def advance(self, time: float, draw: Draw) -> None:
        """Draw the rows that are due at ``time`` (s), on a clock that also runs without packets."""
        stream = self._resume_replay()
        self._reached = time
        for samples in self._draw_overdue_rows(stream):
            draw(samples)
        self._store_progress(stream)

    def _draw_overdue_rows(self, stream: SampleStream) -> Iterator[SampleBlock]:
        if self.timing_in_force.pacing != "demo" and self._reached > -math.inf:
            yield from stream.advance(self._reached)

    def undo(self, count: int) -> int:
        """Take back the last ``count`` packets; return how many there were."""
        left = max(len(self.lines) - count, 0)
        taken = self.lines[left:]
        self.undone = taken + self.undone
        self.lines, self._stream = self.lines[:left], None
        self.named = self.turns = False
        self._find_columns(self.lines)
        return len(taken)

    # ------------------------------------------------------------- replaying

    def _resume_replay(self) -> SampleStream:
        """Return a replay that has taken all packets so far."""
        if self._stream is None:
            stream = self.view.make_stream(_AT_ONCE)
            for block in self.iterate_blocks():
                deque(stream.feed(block), maxlen=0)
            deque(self._draw_overdue_rows(stream), maxlen=0)
            self._stream = stream
            self._store_progress(stream)
        return self._stream

    def _store_progress(self, stream: SampleStream) -> None:
        """Store the values that the toolbar shows about a replay of all packets."""
        self.discarded = stream.replay.discarded if stream.replay else 0
        self.horizon = stream.horizon()

    def _replay_recording(
        self, stream: SampleStream, refusals: list[Refusal]
    ) -> Iterator[SampleBlock]:
        """Yield all samples that ``epic replay`` would draw.

        Packets without a place on the clock are added to ``refusals``; their lines are the numbers
        of the packets.
        """
        for block in (
            self.iterate_blocks()
            if stream.pacing == "demo"
            else sort_by_arrival(self.iterate_blocks())
        ):
            yield from stream.feed(block)
            refusals += block.refusals
        self._store_progress(stream)
        yield from stream.finish()

    def draw_all(self, count: int) -> RowTail:
        """Replay all packets, and return the last ``count`` rows."""
        drawn = RowTail(self.entities, count)
        deque(drawn.follow(self.iterate_samples()), maxlen=0)
        return drawn

    def iterate_samples(self) -> Iterator[SampleBlock]:
        """Yield all samples that ``epic replay`` would draw for these packets, block by block."""
        return self._replay_recording(self.view.make_stream(_MANY_AT_ONCE, by_time=True), [])

    def change(self, view: ReplaySpec, count: int = 0) -> ViewChange:
        """Change the view; return how it changed the rows, with the last ``count`` rows.

        Raise ``ValueError`` for a strategy or setting that does not exist, changing nothing.
        """
        stream = view.make_stream(_MANY_AT_ONCE, by_time=True)
        refusals: list[Refusal] = []
        before, after = RowTail(self.entities), RowTail(self.entities, count)
        different = count_different(
            before.follow(_yield_until_error(self.iterate_samples)),
            after.follow(self._replay_recording(stream, refusals)),
            self.entities,
        )
        same_ticks = view.timing == self.view.timing
        self.view, self._stream = view, None
        self._store_progress(stream)
        return ViewChange(before, after, different if same_ticks else None, refusals)

    @property
    def timing_in_force(self) -> Timing:
        """The timing, with clock and pacing chosen by the first packet where none is set."""
        timing = self.view.timing
        first = TextScanner().scan(self.lines[0], final=True) if self.lines else PacketBlock()
        clock, pacing = timing.in_force(first.begins_with_arrival())
        return timing._replace(clock=clock, pacing=pacing)


def iterate_packet_lines(block: PacketBlock) -> list[bytes]:
    """Return packets as lines of packet text; rewrite lines that are too long."""
    return [
        f"{write_packet_line(block[index])}\n".encode() if line is None else line
        for index, line in enumerate(block.line_texts(_LONGEST_LINE))
    ]


def _find_tick_gap(stream: SampleStream, block: PacketBlock) -> TickGap | None:
    rows, index = stream.largest_tick_gap(block)
    if not MOST_ROWS < rows < math.inf:  # the replay refuses packets without a place
        return None
    return TickGap(round(rows), block[index].time, block.line(index))


def _yield_until_error(samples: Callable[[], Iterator[SampleBlock]]) -> Iterator[SampleBlock]:
    """Yield samples up to an error, so that the user can leave a view that fails."""
    with contextlib.suppress(Exception):
        yield from samples()


def count_different(
    before: Iterator[SampleBlock], after: Iterator[SampleBlock], entities: Entities
) -> int:
    """Count the rows that differ between two replays, by value.

    Numbers that print alike may differ.
    """
    writer = RowWriter("table")
    sides = (
        (row for block in blocks for row in writer.rows(block, entities).splitlines())
        for blocks in (before, after)
    )
    return sum(one != other for one, other in zip_longest(*sides))
