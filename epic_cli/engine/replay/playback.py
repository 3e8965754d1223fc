"""The replay of a recording with a strategy: choice of clock and pacing, and the loop."""

import math
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Literal, NamedTuple

from epic_cli.engine.packets import (
    ConnectionTimes,
    Groups,
    PacketBlock,
    SampleBlock,
    SampleSpool,
    sort_by_arrival,
    split_block,
)
from epic_cli.engine.parameters import Choice, Custom, Number, parse_ratio
from epic_cli.engine.replay import (
    ArrivalPacing,
    Clock,
    DemoPacing,
    ExactClock,
    FramePacing,
    Pacing,
    Replay,
    SingleClock,
)

if TYPE_CHECKING:
    from fractions import Fraction

    from epic_cli.engine.contract import SmoothingStrategy

ClockName = Literal["single", "exact"]
PacingName = Literal["demo", "arrival", "frame"]
CLOCKS: tuple[ClockName, ...] = ("single", "exact")
PACINGS: tuple[PacingName, ...] = ("demo", "arrival", "frame")

#: Seconds as numerator and denominator: ticks are computed from the exact ratio.
Ratio = tuple[int, int]
DEFAULT_TICK: Ratio = (1, 20)


class Timing(NamedTuple):
    """The settings of clock, pacing, tick and latency; None lets the recording decide.

    A recording with arrival times (or a ``latency`` to make them from) is replayed with ``arrival``
    pacing on the ``exact`` clock, any other as the demo does: ``demo`` pacing on the ``single``
    clock. ``tick`` and ``latency`` are in seconds.
    """

    tick: Ratio = DEFAULT_TICK
    clock: ClockName | None = None
    pacing: PacingName | None = None
    latency: float | None = None

    def in_force(self, arrivals: bool) -> tuple[ClockName, PacingName]:
        """Return the names of the clock and pacing used.

        ``arrivals``: packets have arrival times.
        """
        pacing = self.pacing or ("arrival" if arrivals or self.latency is not None else "demo")
        return self.clock or ("single" if pacing == "demo" else "exact"), pacing

    def resolve(self, arrivals: bool) -> Pacing:
        """Create the pacing, with its clock; ``arrivals``: packets have arrival times."""
        clock_name, pacing = self.in_force(arrivals)
        clock: Clock = ExactClock(*self.tick)
        if clock_name == "single":  # it takes the nearest float
            clock = SingleClock(self.tick[0] / self.tick[1])
        if pacing == "demo":
            return DemoPacing(clock)
        kind = FramePacing if pacing == "frame" else ArrivalPacing
        return kind(clock, math.nan if self.latency is None else self.latency)


#: The rows of a 60 Hz screen: what a player would see. The demo's clock would drift there, and
#: stall after three days.
SCREEN_TIMING = Timing((1, 60), "exact")


def parse_tick(tick: "str | float | Fraction") -> Ratio:
    """Parse a tick as an exact ratio: ``0.05``, ``1/60``, ``50ms`` or ``60hz``.

    Raise ``ValueError``. A float counts as the decimal that it prints as: 0.05 is 1/20.
    """
    from fractions import Fraction  # loaded only where a tick is set

    if isinstance(tick, float) and math.isfinite(tick):
        simple = Fraction(tick).limit_denominator(1_000_000)  # 1 / 60 is a float as well
        tick = simple if float(simple) == tick else tick
    text = str(tick)
    try:
        rate = text.strip().lower().endswith("hz")
        value = 1 / parse_ratio(text, "Hz") if rate else parse_ratio(text, "s")
    except (ArithmeticError, LookupError, ValueError) as error:
        raise ValueError(f"{tick!s:.40} is not a tick: write 0.05, 1/60, 50ms or 60hz") from error
    if not 1e-6 <= value <= 3600:
        raise ValueError(f"a tick of {tick} is out of range: it must be 0.000001 to 3600 s")
    ratio = (value.numerator, value.denominator)
    ExactClock(*ratio)
    return ratio


def tick_text(tick: Ratio) -> str:
    """Return a tick as text, in seconds: ``0.05``, or a ratio if the decimal is long."""
    seconds = f"{tick[0] / tick[1]:.6g}"
    return seconds if len(seconds) <= 6 else f"{tick[0]}/{tick[1]}"


#: The fields of ``Timing``: options of the command line, commands of the session, keys of a case.
TIMING = (
    Custom("tick", DEFAULT_TICK, "Time between rows: 0.05, 1/60, 50ms or 60hz.", "seconds",
           parse_tick, tick_text, kind=tuple),
    Choice("clock", None, "single sums the ticks in single precision, which drifts as in the"
           " original C++ demo; exact does not. auto: single with --pacing demo, else exact.",
           CLOCKS, unset="auto"),
    Choice("pacing", None, "demo draws, at each packet, the rows up to 0.15 s past its time;"
           " arrival applies each packet when it arrived; frame applies it at the next tick, with"
           " that tick's time, as games read their sockets. auto: arrival if the first packet has"
           " an arrival time, else demo.", PACINGS, unset="auto"),
    Number("latency", None, "Latency of packets that have no arrival time.", "s", -3600,
           3600, words={"none": None}),
)  # fmt: skip


#: Says only which packets come.
_NO_SAMPLES = SampleBlock(1)


class SampleStream:
    """The samples that a replay of one recording draws, block by block.

    ``feed`` takes a block of packets and yields its samples, which must be used before the next
    call. A ``strict`` stream takes no packets after the first refused line. A block of samples has
    ``at_once`` at most.

    In a recording that is grouped by entity, each entity is drawn alone, from its own beginning,
    one after the other. With ``by_time`` (a bool, or a function of the first entity's name) their
    samples are spooled until all have been drawn, and come in order of time; until a second entity
    shows whether the recording is grouped, samples wait as well, so this is for recordings that are
    complete. ``connection``, if set before the first block, is that of the whole recording, whose
    entities are drawn apart.
    """

    def __init__(
        self,
        make_strategy: "Callable[[], SmoothingStrategy]",
        timing: Timing,
        strict: bool = False,
        at_once: int = 2048,
        by_time: bool | Callable[[str], bool] = False,
    ) -> None:
        self._make_strategy = make_strategy
        self._timing = timing
        self._strict = strict
        self._out = SampleBlock(at_once)
        self._groups = Groups()
        self._grouped = False
        self.by_time = by_time
        self.pacing = timing.pacing
        self._spool: SampleSpool | None = None
        self.connection: ConnectionTimes | None = None
        self._heard = ConnectionTimes()  # before the first packet of the one entity that is drawn
        self.replay: Replay | None = None

    def feed(self, block: PacketBlock) -> Iterator[SampleBlock]:
        """Yield the samples of a block of packets; each sample block is reused for the next.

        Packets that have no place on the clock are added to the block's refusals.
        """
        if self._strict and block.refusals:
            block.cut_after_line(block.refusals[0].line)
        if not len(block):
            self._record_other_entities(block)
            return
        if self.replay is None and len(self._heard):
            own = block.connection
            if own is None:
                own = ConnectionTimes()
                own.note(block)
            self._heard.extend(own)
            block.connection, self._heard = self._heard, ConnectionTimes()
        if self.replay is None and (name := block.first_name()):
            by_time = self.by_time
            if by_time(name) if callable(by_time) else by_time:
                self._spool = SampleSpool()
        yield from self._yield_or_spool(self._draw_groups(block))
        if self._spool is not None and self._groups.seen > 1 and not self._grouped:
            yield from self.release()

    def _record_other_entities(self, block: PacketBlock) -> None:
        """Record the datagrams of a block that holds packets of other entities only."""
        if block.connection is not None and self.replay is not None:
            self.replay.feed(block)
        elif block.connection is not None and is_listening(self._make_strategy()):
            self._heard.extend(block.connection)

    @property
    def waits(self) -> bool:
        """True while samples are held back until those of other entities are drawn."""
        return self._spool is not None

    def _draw_groups(self, block: PacketBlock) -> Iterator[SampleBlock]:
        rest: PacketBlock | None = block
        while rest is not None:
            part, rest = rest, None
            group = self._groups.next_group(part)
            if group < len(part):
                rest = split_block(part, group)
            if len(part):
                yield from self._draw_block(part)
                if part is not block:
                    block.refusals += part.refusals
            if rest is not None:
                yield from self._finish_replay()
                self.replay, self._grouped = None, True
                if self._spool is not None:
                    self._spool.next_group()

    def _yield_or_spool(self, drawn: Iterator[SampleBlock]) -> Iterator[SampleBlock]:
        """Yield samples at once, or store them in the spool while samples must wait."""
        for samples in drawn:
            if self._spool is None:
                yield samples
            elif not self._spool.add(samples):
                yield from self.release()

    def release(self) -> Iterator[SampleBlock]:
        """Yield the spooled samples; later samples are yielded at once."""
        spool, self._spool = self._spool, None
        if spool is not None:
            spool.begin()
            yield from self._iterate_samples(spool.draw, SampleBlock(self._out.capacity))

    def _draw_block(self, block: PacketBlock) -> Iterator[SampleBlock]:
        replay = self._get_replay(block)
        if isinstance(replay.pacing, ArrivalPacing):
            sort_by_arrival(block)
        replay.feed(block)
        yield from self._iterate_samples(replay.draw, self._out)
        block.refusals.extend(replay.refusals())
        block.refusals.sort(key=lambda refusal: refusal[:2])

    def _get_replay(self, block: PacketBlock) -> Replay:
        """Return the replay; at the first packet, create it with the clock and pacing that fit."""
        if self.replay is None:
            pacing = self._timing.resolve(block.begins_with_arrival())
            self.replay = Replay(
                self._make_strategy, pacing, block.entities, self._strict, self.connection
            )
        return self.replay

    def largest_tick_gap(self, block: PacketBlock) -> tuple[float, int]:
        """Return about the most rows that one packet of the block adds, and the packet's index.

        The block must be the next one fed.
        """
        return self._get_replay(block).largest_tick_gap(block) if len(block) else (0.0, 0)

    def horizon(self) -> tuple[float, float]:
        """Return the times (s) up to which rows are drawn, and up to which rows wait."""
        return self.replay.horizon() if self.replay else (-math.inf, -math.inf)

    def advance(self, time: float) -> Iterator[SampleBlock]:
        """Replay up to ``time`` (s), given that no earlier packet can still arrive.

        Yield the samples.
        """
        if self.replay is not None:
            self.replay.advance(time)
            yield from self._iterate_samples(self.replay.draw, self._out)

    def draw(
        self,
        found: Iterable[PacketBlock],
        done: Callable[[PacketBlock], object] = len,
        interrupted: Callable[[int], object] | None = None,
    ) -> Iterator[tuple[SampleBlock, PacketBlock]]:
        """Yield all samples of the blocks ``found``, each with the block of its packets.

        First each block is yielded with no samples. A sample block is reused for the next. ``done``
        is called with a block once it is drawn, and may raise. Before an error is raised, the
        spooled samples are yielded; before a ``KeyboardInterrupt`` only if ``interrupted`` is
        given, which is then called with the number of entities.
        """
        block = PacketBlock()
        try:
            for block in found:
                if len(block):
                    yield _NO_SAMPLES, block
                for samples in self.feed(block):
                    yield samples, block
                done(block)
            for samples in self.finish():
                yield samples, block
        except (KeyboardInterrupt, Exception) as error:
            is_error = isinstance(error, Exception)
            told = interrupted if self.waits and not is_error else None
            if is_error or told is not None:
                for samples in self.release():
                    yield samples, block
            if told is not None:
                told(len(block.entities))
            raise
        finally:
            self.close()

    def finish(self) -> Iterator[SampleBlock]:
        """Yield the samples that are due after the last packet."""
        yield from self._yield_or_spool(self._finish_replay())
        yield from self.release()

    def _finish_replay(self) -> Iterator[SampleBlock]:
        if self.replay is not None:
            self.replay.finish()
            yield from self._iterate_samples(self.replay.draw, self._out)

    def close(self) -> None:
        """End the replay and release its strategies."""
        if self.replay is not None:
            self.replay.close()
        if self._spool is not None:
            self._spool.close()

    @staticmethod
    def _iterate_samples(
        draw: Callable[[SampleBlock], bool], out: SampleBlock
    ) -> Iterator[SampleBlock]:
        more = True
        while more:
            more = draw(out)
            if len(out):
                yield out
            out.clear()


def is_listening(strategy: "SmoothingStrategy") -> bool:
    """Return True if what the strategy draws depends on packets of other entities."""
    return bool(getattr(strategy, "listens", hasattr(strategy, "hear")))


def has_need_of_estimates(strategy: "SmoothingStrategy") -> bool:
    """Return True if the strategy needs the engine to estimate missing velocities."""
    declared = getattr(strategy, "declaration", None)
    uses = declared is None or declared.uses_velocity
    return uses and not getattr(strategy, "estimates_velocity", False)
