"""The state of a session: its packets, how they are shown, and the replay that goes on.

Nothing here knows of a terminal, of files or of commands.
"""

from __future__ import annotations

import contextlib
import math
from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple, cast

from epic_cli.engine.packets import Entities, PacketBlock, SampleBlock
from epic_cli.engine.settings import Value
from epic_cli.engine.strategies import DEFAULT, declaration, maker
from epic_cli.engine.text.rows import RowWriter
from epic_cli.engine.text.scan import TextScanner
from epic_cli.formats.text import packet_line
from epic_cli.playback import SampleStream, Timing
from epic_cli.repl.drawing import Drawing, count_different
from epic_cli.repl.interrupts import DrawingStopped, held_back

if TYPE_CHECKING:
    from epic_cli.engine.refusals import Refusal

Draw = Callable[[SampleBlock], object]

#: So few samples are drawn at once that an interrupt knows about where it came.
_AT_ONCE = 256

#: So many are where nobody sees them being drawn.
_MANY_AT_ONCE = 4096

#: So many packets are copied at once for another replay of them.
_PART = 16384

#: A packet that asks for more rows than this is asked about.
MOST_ROWS = 10_000

#: What a line with an entity's name has.
_NAME = b"entity="

#: A longer line is read as several (``fgets`` with 1024 bytes): no packet is kept as one.
_LONGEST_LINE = 1022


class View(NamedTuple):
    """How the packets are shown: a strategy with the settings that were set, and the timing."""

    strategy: str = DEFAULT
    settings: dict[str, Value] = {}  # noqa: RUF012 - never changed in place
    timing: Timing = Timing()

    def stream(self, at_once: int = _AT_ONCE) -> SampleStream:
        """A replay of its own; raises ``ValueError`` for a strategy or setting there is not."""
        return SampleStream(maker(self.strategy, self.settings), self.timing, at_once=at_once)

    @property
    def values(self) -> dict[str, Value]:
        """All settings of the strategy, given or default."""
        return declaration(self.strategy).values(self.settings)

    @property
    def changed(self) -> dict[str, Value]:
        """The settings that are not at their defaults."""
        defaults = declaration(self.strategy).values({})
        return {name: value for name, value in self.values.items() if value != defaults.get(name)}


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


class Tail(NamedTuple):
    """The last rows, and how many there are before them."""

    rows: list[bytes]
    before: int


class ViewChange(NamedTuple):
    """What was drawn before and after another view of the same packets was chosen.

    ``different`` counts the rows that are drawn differently; None: they are of other ticks.
    """

    before: Drawing
    after: Drawing
    different: int | None
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
        self.discarded = 0  # packets that the strategy did not want
        self.horizon = (-math.inf, -math.inf)  # as ``SampleStream.horizon``
        self._stream: SampleStream | None = self.view.stream()

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
        refusals = [refusal for refusal in block.refusals if refusal.text.strip()]
        block.refusals = []
        stream = self._resume()
        leap = _leap(stream, block) if allows else None
        if leap and allows and not allows(leap):
            self._stream = None  # if it was the first packet, it has chosen no pacing
            return Added(0, refusals)
        lines = lines_of(block)
        before = self.discarded
        taken_text = b"".join(lines)
        with held_back():
            if accept and lines:
                accept(taken_text)
            self.packets.extend(block)
            self.lines += lines
            self.named = self.named or _NAME in taken_text
            self.refused += len(refusals)
            self._stream = None
        self._draw(stream, block, draw)
        self._stream = stream
        self._note(stream)
        if block.refusals:
            self._drop(len(lines), {refusal.line for refusal in block.refusals}, block)
            self.refused += len(block.refusals)
        taken = len(lines) - len(block.refusals)
        discarded = self.discarded - before
        return Added(taken, refusals, block.refusals, discarded, scanner.ended)

    def _draw(self, stream: SampleStream, block: PacketBlock, draw: Draw) -> None:
        drawn = None
        try:
            for samples in stream.feed(block):
                draw(samples)
                last = samples.last(self.entities)
                drawn = last.time if last else drawn
        except KeyboardInterrupt:
            raise DrawingStopped(drawn, stream.horizon()[1]) from None

    def _drop(self, added: int, refused: set[int], block: PacketBlock) -> None:
        """The clock never gets to some of the packets added last: they are not kept."""
        first = len(self.lines) - added
        places = _line_numbers(block, self.lines[first:])
        kept = [line for line, number in places if number not in refused]
        self.packets.cut_after_line(first)
        self.packets.extend(TextScanner(self.entities).scan(b"".join(kept), final=True))
        self.lines[first:] = kept

    def undo(self, count: int) -> int:
        """Takes the last packets back; how many there were to take."""
        count = min(count, len(self.lines))
        left = len(self.lines) - count
        self._stream = None
        self.packets.cut_after_line(left)
        del self.lines[left:]
        self.named = any(_NAME in line for line in self.lines)
        return count

    # ------------------------------------------------------------- replaying

    def _resume(self) -> SampleStream:
        """The replay that has taken all packets so far."""
        if self._stream is None:
            stream = self.view.stream()
            for block in self._parts():
                deque(stream.feed(block), maxlen=0)
            self._stream = stream
            self._note(stream)
        return self._stream

    def _parts(self) -> Iterator[PacketBlock]:
        """All packets, some at a time: what is drawn does not depend on how many."""
        for begin in range(0, len(self.packets), _PART):
            yield self.packets.part(begin, begin + _PART)

    def _note(self, stream: SampleStream) -> None:
        """Keeps what the toolbar shows of a replay of all packets."""
        self.discarded = stream.replay.discarded if stream.replay else 0
        self.horizon = stream.horizon()

    def samples(self, view: View | None = None) -> Iterator[SampleBlock]:
        """All that ``epic replay`` would draw for these packets, block by block."""
        stream = (view or self.view).stream(_MANY_AT_ONCE)
        for block in self._parts():
            yield from stream.feed(block)
        if view is None:
            self._note(stream)
        yield from stream.finish()

    def tail(self, count: int, writer: RowWriter) -> Tail:
        """The last ``count`` rows."""
        pieces: deque[SampleBlock] = deque()
        total = kept = 0
        for samples in self.samples():
            pieces.append(samples.copy())
            total += len(samples)
            kept += len(samples)
            while kept - len(pieces[0]) >= count:
                kept -= len(pieces.popleft())
        text = b"".join(writer.rows(piece, self.entities) for piece in pieces)
        rows = text.splitlines(keepends=True)[-count:]
        return Tail(rows, total - len(rows))

    def change(self, view: View) -> ViewChange:
        """Shows the packets in another view from now on, and says what that changed.

        The rows are those of a replay of the packets so far, as ``tail`` counts them. Raises
        ``ValueError`` for a strategy or setting that there is not, changing nothing.
        """
        stream = view.stream(_MANY_AT_ONCE)
        refusals: list[Refusal] = []
        before, after = Drawing(self.entities), Drawing(self.entities)
        different = count_different(
            before.follow(_while_it_works(self.samples())),
            after.follow(_whole(stream, self._parts(), refusals)),
            self.entities,
        )
        same_ticks = view.timing == self.view.timing
        self.stored[self.view.strategy] = self.view.settings
        self.view, self._stream = view, None
        self._note(stream)
        return ViewChange(before, after, different if same_ticks else None, refusals)

    def newest(self, entity: str, end: int) -> float:
        """The newest time of an entity's packets among the first ``end``."""
        packets = (self.packets[index] for index in range(end))
        return max((one.time for one in packets if one.entity == entity), default=-math.inf)

    @property
    def timing_in_force(self) -> Timing:
        """The timing, with the clock and pacing that the first packet decides if none is set."""
        timing = self.view.timing
        clock, pacing = timing.in_force(self.packets.begins_with_arrival())
        return timing._replace(clock=clock, pacing=pacing)


def _whole(
    stream: SampleStream, parts: Iterator[PacketBlock], refusals: list[Refusal]
) -> Iterator[SampleBlock]:
    """All that a replay draws for all packets; adds those that have no place on the clock."""
    for block in parts:
        yield from stream.feed(block)
        refusals += block.refusals
    yield from stream.finish()


def _leap(stream: SampleStream, block: PacketBlock) -> Leap | None:
    rows, index = stream.longest_leap(block)
    if rows <= MOST_ROWS:
        return None
    return Leap(round(rows), block[index].time, block.line(index))


def _while_it_works(blocks: Iterator[SampleBlock]) -> Iterator[SampleBlock]:
    """A view that fails must not keep anybody from leaving it."""
    with contextlib.suppress(Exception):
        yield from blocks


def lines_of(block: PacketBlock) -> list[bytes]:
    """The packets as lines of packet text: their own text where it is that.

    Raises ``Unwritable`` for a packet that has no such line, see ``packet_line``.
    """
    texts = block.line_texts(_LONGEST_LINE) if block.find_field is None else [None] * len(block)
    if None not in texts:
        return cast("list[bytes]", texts)
    return [
        f"{packet_line(block[index])}\n".encode() if text is None else text
        for index, text in enumerate(texts)
    ]


def _line_numbers(block: PacketBlock, lines: list[bytes]) -> Iterator[tuple[bytes, int]]:
    """Each packet's text with the number of the line that it came from."""
    for index, line in enumerate(lines):
        yield line, block.line(index)
