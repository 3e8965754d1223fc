"""The state of a session: its packets, how they are shown, and the replay that goes on.

Nothing here knows of a terminal, of files or of commands.
"""

from __future__ import annotations

import contextlib
import math
import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from epic_cli.engine.packets import Entities, PacketBlock, SampleBlock
from epic_cli.engine.parameter_base import Value
from epic_cli.engine.replay.playback import ReplaySpec, SampleStream, Timing
from epic_cli.engine.text import TextScanner
from epic_cli.session.packet_store import PacketStore, lines_of
from epic_cli.session.terminal import DrawingStopped, held_back
from epic_cli.session.view import Drawing, ViewChange, count_different

if TYPE_CHECKING:
    from epic_cli.engine.refusals import Refusal

Draw = Callable[[SampleBlock], object]

#: So few samples are drawn at once that an interrupt knows about where it came.
_AT_ONCE = 256

#: This many are where no one sees them being drawn.
_MANY_AT_ONCE = 4096

#: A packet that asks for more rows than this is asked about.
MOST_ROWS = 10_000

#: What a line with an entity's name has.
_NAME = b"entity="

#: What a line with a rotation has.
_TURN = re.compile(rb"[ \t](?:rotation|yaw|pitch|roll)=")


class Leap(NamedTuple):
    """A packet that asks for very many rows: about how many, its time (s) and its line."""

    rows: int
    time: float
    line: int


class Added(NamedTuple):
    """What became of some packet text: packets taken, lines refused, and whether ``q`` came.

    ``unplaced`` are packets that have no place on the clock; ``discarded`` counts packets taken
    that the strategy did not want, late ones for the most part.
    """

    packets: int
    refusals: list[Refusal]
    unplaced: list[Refusal] = []  # noqa: RUF012 - never changed in place
    discarded: int = 0
    ended: bool = False


class Session:
    """The packets so far, as text and as numbers, and one replay of them that goes on.

    What is saved is what was typed. The replay can always be made again from the packets: an
    interrupt at any point loses none.
    """

    def __init__(self, view: ReplaySpec | None = None) -> None:
        self.view = view or ReplaySpec()
        self.stored: dict[str, Mapping[str, Value]] = {}  # settings of strategies left
        self.reset()

    def reset(self) -> None:
        """Forgets the packets; strategy, settings and timing stay."""
        self.entities = Entities()
        self.packets = PacketStore(self.entities)
        self.named = False  # whether any entity has a name
        self.turns = False  # whether any packet has a rotation
        self.refused = 0
        self.discarded = 0  # packets that the strategy did not want
        self.undone: list[bytes] = []  # lines that were taken back, in their order
        self.horizon = (-math.inf, -math.inf)  # as ``SampleStream.horizon``
        self._reached = -math.inf  # no packet arrived before that (s) but those that are here
        self._stream: SampleStream | None = self.view.stream(_AT_ONCE)

    # ------------------------------------------------------------- packets

    def add(
        self,
        text: bytes,
        draw: Draw,
        accept: Callable[[bytes], object] | None = None,
        allows: Callable[[Leap], bool] | None = None,
    ) -> Added:
        """Takes lines of packet text and draws their rows.

        ``accept`` is given the good lines before the first row is drawn. Lines are counted from
        1; blank ones are passed over. Where one packet asks for very many rows, ``allows`` is
        asked first; if it says no, nothing is taken. Raises ``DrawingStopped`` when drawing is
        interrupted: the packets are taken then.
        """
        scanner = TextScanner(self.entities)
        block = scanner.scan(text, final=True)
        return self.take(block, draw, accept, allows)._replace(ended=scanner.ended)

    def take(
        self,
        block: PacketBlock,
        draw: Draw,
        accept: Callable[[bytes], object] | None = None,
        allows: Callable[[Leap], bool] | None = None,
    ) -> Added:
        """As ``add``, for packets that were read as packet text, with this session's entities."""
        refusals = [refusal for refusal in block.refusals if refusal.text.strip()]
        block.refusals = []
        stream = self._resume()
        leap = _leap(stream, block) if allows else None
        if leap and allows and not allows(leap):
            self._stream = None  # if it was the first packet, it has chosen no pacing
            return Added(0, refusals)
        lines = lines_of(block)
        count, before = len(self.packets), self.discarded
        with held_back():
            if len(block):
                if accept:
                    accept(lines)
                self.packets.add(block, lines)
                self.undone = []
            self.named = self.named or _NAME in lines
            self.turns = self.turns or _TURN.search(lines) is not None
            self.refused += len(refusals)
            self._stream = None
        self._draw(stream, block, draw)
        self._stream = stream
        self._note(stream)
        if block.refusals:
            self._drop(count, {refusal.line for refusal in block.refusals}, block, lines)
            self.refused += len(block.refusals)
        taken = len(block) - len(block.refusals)
        discarded = self.discarded - before
        return Added(taken, refusals, block.refusals, discarded)

    def _draw(self, stream: SampleStream, block: PacketBlock, draw: Draw) -> None:
        drawn = None
        try:
            for samples in stream.feed(block):
                draw(samples)
                last = samples.last(self.entities)
                drawn = last.time if last else drawn
        except KeyboardInterrupt:
            raise DrawingStopped(drawn, stream.horizon()[1]) from None

    def _drop(self, first: int, refused: set[int], block: PacketBlock, lines: bytes) -> None:
        """The clock never gets to some of the packets from this one on: they are not kept."""
        kept = b"".join(
            line + b"\n"
            for index, line in enumerate(lines.split(b"\n")[:-1])
            if block.line(index) not in refused
        )
        self.packets.cut(first)
        self.packets.add(TextScanner(self.entities).scan(kept, final=True), kept)

    def advance(self, time: float, draw: Draw) -> None:
        """Draws what is due by arrival at a time (s) of a clock that goes on without packets."""
        stream = self._resume()
        self._reached = time
        for samples in self._overdue(stream):
            draw(samples)
        self._note(stream)

    def _overdue(self, stream: SampleStream) -> Iterator[SampleBlock]:
        if self.timing_in_force.pacing == "arrival" and self._reached > -math.inf:
            yield from stream.advance(self._reached)

    def undo(self, count: int) -> int:
        """Takes the last packets back; how many there were to take."""
        count = min(count, len(self.packets))
        self._stream = None
        lines = b"".join(self.packets.texts()).splitlines(keepends=True)
        self.undone = lines[len(lines) - count :] + self.undone
        self.packets.cut(len(self.packets) - count)
        self.named = any(_NAME in text for text in self.packets.texts())
        self.turns = any(_TURN.search(text) for text in self.packets.texts())
        return count

    # ------------------------------------------------------------- replaying

    def _resume(self) -> SampleStream:
        """The replay that has taken all packets so far."""
        if self._stream is None:
            stream = self.view.stream(_AT_ONCE)
            for _, block in self.packets.blocks():
                deque(stream.feed(block), maxlen=0)
            deque(self._overdue(stream), maxlen=0)
            self._stream = stream
            self._note(stream)
        return self._stream

    def _note(self, stream: SampleStream) -> None:
        """Keeps what the toolbar shows of a replay of all packets."""
        self.discarded = stream.replay.discarded if stream.replay else 0
        self.horizon = stream.horizon()

    def samples(self, view: ReplaySpec | None = None) -> Iterator[SampleBlock]:
        """All that ``epic replay`` would draw for these packets, block by block."""
        stream = (view or self.view).stream(_MANY_AT_ONCE, by_time=True)
        for _, block in self.packets.blocks():
            yield from stream.feed(block)
        if view is None:
            self._note(stream)
        yield from stream.finish()

    def drawing(self, count: int) -> Drawing:
        """All rows, of which the last ``count`` can be seen."""
        drawing = Drawing(self.entities, count)
        deque(drawing.follow(self.samples()), maxlen=0)
        return drawing

    def change(self, view: ReplaySpec, count: int = 0) -> ViewChange:
        """Shows the packets in another view from now on, and says what that changed.

        The rows are those of a replay of the packets so far, as ``drawing`` has them, also for
        ``count``. Raises ``ValueError`` for a strategy or setting that there is not, changing
        nothing.
        """
        stream = view.stream(_MANY_AT_ONCE, by_time=True)
        refusals: list[Refusal] = []
        before, after = Drawing(self.entities), Drawing(self.entities, count)
        different = count_different(
            before.follow(_while_it_works(self.samples())),
            after.follow(_whole(stream, self.packets, refusals)),
            self.entities,
        )
        same_ticks = view.timing == self.view.timing
        self.stored[self.view.strategy.name] = self.view.strategy.settings
        self.view, self._stream = view, None
        self._note(stream)
        return ViewChange(before, after, different if same_ticks else None, refusals)

    def newest(self, entity: str, end: int) -> float:
        """The newest time of an entity's packets among the first ``end``."""
        packets = (
            block[index]
            for begin, block in self.packets.blocks()
            for index in range(min(len(block), max(end - begin, 0)))
        )
        return max((one.time for one in packets if one.entity == entity), default=-math.inf)

    @property
    def timing_in_force(self) -> Timing:
        """The timing, with the clock and pacing that the first packet decides if none is set."""
        timing = self.view.timing
        clock, pacing = timing.in_force(self.packets.begins_with_arrival())
        return timing._replace(clock=clock, pacing=pacing)


def _whole(
    stream: SampleStream, packets: PacketStore, refusals: list[Refusal]
) -> Iterator[SampleBlock]:
    """All that a replay draws for all packets; adds those that have no place on the clock.

    Their lines are the numbers of the packets.
    """
    for begin, block in packets.blocks():
        yield from stream.feed(block)
        if block.refusals:
            numbers = {block.line(index): begin + index + 1 for index in range(len(block))}
            refusals += [one._replace(line=numbers[one.line]) for one in block.refusals]
    yield from stream.finish()


def _leap(stream: SampleStream, block: PacketBlock) -> Leap | None:
    rows, index = stream.largest_tick_gap(block)
    if not MOST_ROWS < rows < math.inf:  # the replay refuses what has no place on the clock
        return None
    return Leap(round(rows), block[index].time, block.line(index))


def _while_it_works(blocks: Iterator[SampleBlock]) -> Iterator[SampleBlock]:
    """A view that fails must not keep anybody from leaving it."""
    with contextlib.suppress(Exception):
        yield from blocks
