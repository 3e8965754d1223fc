"""Replays of recordings or packets through a strategy, sample by sample."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from typing import TYPE_CHECKING, Any, overload

from epic_cli.api.reading import open_packets, read_accepted, read_packets
from epic_cli.api.shown import register
from epic_cli.engine.contract import STATUSES, Packet, Sample, SmoothingStrategy
from epic_cli.engine.failures import Portable, StrategyFailed
from epic_cli.engine.packets import Entities, PacketBlock, SampleBlock, SampleQueue
from epic_cli.engine.replay.playback import (
    CLOCKS,
    DEFAULT_TICK,
    PACINGS,
    ClockName,
    PacingName,
    SampleStream,
    Timing,
    parse_tick,
)
from epic_cli.engine.strategies import DEFAULT, make, make_factory
from epic_cli.engine.strategies.parts import is_native
from epic_cli.engine.text import COLUMNS, TURN_COLUMNS
from epic_cli.jobs.replay.run import is_grouped, order_blocks
from epic_cli.metrics.digits import format_three_digits
from epic_cli.metrics.tabular import Tabular
from epic_cli.recordings.rows import PacketSource

if TYPE_CHECKING:
    from fractions import Fraction

    from epic_cli.engine.arrow import Buffers
    from epic_cli.engine.parameters import Value
    from epic_cli.engine.refusals import Refusal
    from epic_cli.recordings.opening import RecordingSource
    from epic_cli.show.report import Report

#: The default tick, in seconds.
TICK = DEFAULT_TICK[0] / DEFAULT_TICK[1]


#: The number of rows that a notebook shows, and of those that a batch of columns has at least.
_SHOWN, _BATCH = 10, 65536


class RefusedPacket(Portable, ValueError):
    """A packet without a place on the clock: the ``packet``, and the ``refusal`` with the reason.

    Raised by ``replay``; the message names that function's arguments.
    """

    def __init__(self, packet: Packet, refusal: Refusal, recording: str = "") -> None:
        from epic_cli.recordings.wording import (  # only a refused packet needs them
            FrontEnd,
            word_refusal,
        )

        problem = word_refusal(refusal, FrontEnd.PYTHON)
        place = f"{recording}:{refusal.line}: " if recording else ""
        super().__init__(f"{place}{packet}: {problem.what}; expected {problem.expected}")
        self.packet = packet
        self.refusal = refusal


class DrawnSamples(Tabular, Iterator["Sample"]):
    """The samples of a replay, drawn one by one as they are asked for.

    Its tables consume the samples that have not been asked for yet; a notebook shows the first of
    them.
    """

    def __init__(self, drawn: Generator[tuple[SampleBlock, PacketBlock]]) -> None:
        self._drawn = drawn
        self._queue = SampleQueue()
        self._entities = Entities()
        self._columns: tuple[str, ...] = ()
        self._failure: Exception | None = None

    def __next__(self) -> Sample:
        while not self._queue:
            self._draw(next(self._drawn))
        return self._queue.take(self._entities)

    def _draw(self, drawn: tuple[SampleBlock, PacketBlock]) -> None:
        samples, packets = drawn
        self._queue.add(samples)
        self._entities = packets.entities
        self._columns = self._columns or list_columns(packets.turns())

    def _draw_samples(self, count: int) -> bool:
        """Draw until this many samples wait; return True if more can be drawn."""
        while len(self._queue) < count:
            try:
                drawn = next(self._drawn, None)
            except Exception as error:
                self._failure = error
                raise
            if drawn is None:
                return False
            self._draw(drawn)
        return True

    def close(self) -> None:
        """End the replay, and close its file."""
        self._queue = SampleQueue()
        self._drawn.close()

    def choose_columns(self) -> tuple[str, ...]:
        """Return the columns of CSV, with a rotation if one of the first packets has a rotation."""
        self._draw_samples(1)
        return self._columns or COLUMNS

    def peek_samples(self) -> list[Sample]:
        """Return the next few samples without consuming them."""
        self._draw_samples(_SHOWN)
        return self._queue.first(_SHOWN, self._entities)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the remaining samples as Arrow's stream: ``polars.DataFrame(samples)``."""
        from epic_cli.engine.arrow import export_stream

        fields = [
            (name, "U" if name in ("status", "entity") else "g") for name in self.choose_columns()
        ]
        return export_stream(fields, self._iterate_columns())

    def _iterate_columns(self) -> Iterator[tuple[int, list[Buffers]]]:
        """Yield the remaining samples as columns, some thousand at a time."""
        statuses = [status.encode() for status in STATUSES]
        turns = len(self.choose_columns()) > len(COLUMNS)
        more = True
        while more:
            more = self._draw_samples(_BATCH)
            names = [name.encode() for name in self._entities.list_names()]
            if count := len(self._queue):
                yield count, self._queue.columns(statuses, names, turns)

    def to_polars(self) -> Any:
        """Return a ``polars.DataFrame`` with a row for each sample; needs Polars."""
        return self._raise_own_error(super().to_polars)

    def to_arrow(self) -> Any:
        """Return a ``pyarrow.Table`` with a row for each sample; needs PyArrow."""
        return self._raise_own_error(super().to_arrow)

    def _raise_own_error(self, convert: Callable[[], Any]) -> Any:
        """Convert the samples; raise the replay's own error instead of the library's."""
        try:
            return convert()
        except BaseException:  # Polars may panic
            if self._failure is not None:
                raise self._failure from None
            raise

    def to_pandas(self) -> Any:
        """Return a ``pandas.DataFrame`` with a row for each sample; needs pandas."""
        import numpy as np
        import pandas

        for drawn in self._drawn:
            self._draw(drawn)
        names, columns = self._entities.list_names(), self.choose_columns()
        *numbers, statuses, entities = self._queue.arrays(len(columns) > len(COLUMNS))
        texts = [
            np.array(words, object)[np.frombuffer(codes, np.int32)]
            for words, codes in ((STATUSES, statuses), (names, entities))
        ]
        arrays = [*map(np.frombuffer, numbers), *texts]
        return pandas.DataFrame(dict(zip(columns, arrays, strict=True)))

    __repr__ = object.__repr__


def list_columns(turns: bool) -> tuple[str, ...]:
    """Return the columns of the CSV format, with or without those of a rotation."""
    return (*COLUMNS[:7], *TURN_COLUMNS, *COLUMNS[7:]) if turns else COLUMNS


def _make_report(found: DrawnSamples) -> Report:
    """Make a report that shows the next rows, and holds all remaining rows as data."""
    from epic_cli.show.report import Column, Data, Report, Table

    names = found.choose_columns()
    rows = [_make_row(sample, names) for sample in found.peek_samples()]
    columns = [
        Column(
            name, ["" if row[name] is None else _format_cell(row[name]) for row in rows], right=True
        )
        for name in names
        if any(row[name] not in ("", None) for row in rows)
    ]
    caption = "The next rows" if len(rows) == _SHOWN else ""
    parts = [Table(columns, caption=caption)] if columns else ["No rows."]

    def iterate_records() -> Iterator[dict[str, object]]:
        return (_make_row(sample, names) for sample in found)

    return Report(parts=parts, data=Data(names, iterate_records, iterate_records))


def _format_cell(value: object) -> str:
    return format_three_digits(value) if isinstance(value, float) else str(value)


def _make_row(sample: Sample, columns: tuple[str, ...]) -> dict[str, object]:
    """Return a sample as ``--format jsonl`` writes it."""
    drawn = sample.status != "none"
    numbers = [*sample.position, *sample.velocity] if drawn else [None] * 6
    turn = [*(sample.rotation or [None] * 4), *(sample.spin or [None] * 3)]
    turns = turn if len(columns) > len(COLUMNS) else []
    values = (sample.time, *numbers, *turns, sample.status, sample.entity)
    return dict(zip(columns, values, strict=True))


register(DrawnSamples, _make_report)


@overload
def replay(
    packets: PacketSource,
    strategy: str | type[SmoothingStrategy] = ...,
    *,
    tick: str | float | Fraction = ...,
    clock: ClockName | None = ...,
    pacing: PacingName | None = ...,
    latency: float | None = ...,
    **settings: Value,
) -> DrawnSamples: ...


@overload
def replay(
    packets: PacketSource,
    strategy: SmoothingStrategy | Callable[[], SmoothingStrategy],
    *,
    tick: str | float | Fraction = ...,
    clock: ClockName | None = ...,
    pacing: PacingName | None = ...,
    latency: float | None = ...,
) -> DrawnSamples: ...


def replay(
    packets: PacketSource,
    strategy: str | SmoothingStrategy | Callable[[], SmoothingStrategy] = DEFAULT,
    *,
    tick: str | float | Fraction = TICK,
    clock: ClockName | None = None,
    pacing: PacingName | None = None,
    latency: float | None = None,
    **settings: Value,
) -> DrawnSamples:
    """Draw packets with a strategy, tick by tick; return an iterator of ``Sample`` objects.

    ``packets`` are ``Packet`` objects, or the path of a recording, a table or rows, read as ``epic
    replay`` reads them: Unix times begin at 0. To describe them further, give the result of
    ``read_packets``: ``replay(read_packets(path, read="unit=ms"))``. The file is closed when the
    replay ends.

    ``strategy`` is a name or a class (with ``settings``, see ``epic_cli.strategies``), a function
    that makes strategies, or one strategy object (which is reset, can draw one entity, and is in
    use until the last sample: meanwhile it raises ``StrategyInUse`` for other users). ``tick`` is
    in seconds, or text as ``"60hz"``; packets without an arrival time arrive ``latency`` (seconds)
    after their own time. See ``Timing`` for the defaults. A sample is yielded as soon as the
    packets that decide it are there, so ``packets`` may be endless.

    Raise ``ValueError`` (``UnknownStrategy``, ``SettingError``) for wrong arguments at once, as
    well as ``TypeError`` for what holds no packets, ``OSError`` for a path that cannot be read and
    what ``read_packets`` raises; ``RefusedPacket`` for a packet that has no place on the clock,
    when it is reached, and ``TypeError`` for what is no packet: at once in what has a length,
    otherwise when it is reached. An error of a strategy in plain Python is raised as it is, with a
    note that names the packet; ``StrategyFailed`` means that the strategy returned no valid answer.
    """
    stream = make_stream(strategy, settings, tick, clock, pacing, latency)
    return DrawnSamples(draw(open_packets(packets), stream, 1, strategy))


def make_stream(
    strategy: str | SmoothingStrategy | Callable[[], SmoothingStrategy],
    settings: dict[str, Value],
    tick: str | float | Fraction,
    clock: ClockName | None,
    pacing: PacingName | None,
    latency: float | None,
) -> SampleStream:
    """Make the replay of these arguments; raise what ``replay`` does for wrong ones."""
    timing = make_timing(tick, clock, pacing, latency)
    try:
        make = make_maker(strategy, settings)
    except ValueError as error:
        for name in settings.keys() & (read_packets.__kwdefaults__ or {}):
            error.add_note(
                f"{name} may be meant for read_packets: replay(read_packets(path, {name}=...))"
            )
        raise
    return SampleStream(make, timing, strict=True)


def make_timing(
    tick: str | float | Fraction,
    clock: ClockName | None,
    pacing: PacingName | None,
    latency: float | None,
) -> Timing:
    """Make the timing of these arguments; raise ``ValueError``."""
    if clock not in (None, *CLOCKS):
        raise ValueError(f"no clock {clock!r}: choose from {', '.join(CLOCKS)}")
    if pacing not in (None, *PACINGS):
        raise ValueError(f"no pacing {pacing!r}: choose from {', '.join(PACINGS)}")
    if pacing == "demo" and latency is not None:
        raise ValueError("latency sets arrival times, which pacing='demo' ignores")
    return Timing(parse_tick(tick), clock, pacing, latency)


def draw(
    packets: RecordingSource, stream: SampleStream, at_once: int, strategy: object
) -> Generator[tuple[SampleBlock, PacketBlock]]:
    """Yield the drawn samples, each with the block of its packet: see ``SampleStream.draw``.

    Packets that are not read from a file are taken ``at_once`` at a time.
    """

    def close_replay(block: PacketBlock) -> None:
        if block.refusals:
            raise _make_refusal(packets, block)

    stream.by_time = is_grouped(packets)
    name = strategy if isinstance(strategy, str) else ""
    try:
        found = order_blocks(packets, read_accepted(packets, at_once=at_once), stream, name)
        yield from stream.draw(found, close_replay)
    except StrategyFailed as failure:
        if failure.error is None:
            raise
        failure.error.add_note(str(failure))
        error = failure.error
    else:
        return
    finally:
        packets.close()
    raise error  # here, so that it keeps its cause


def _make_refusal(packets: RecordingSource, block: PacketBlock) -> RefusedPacket:
    refusal = block.refusals[0]
    place = packets.name if packets.log is not None else ""
    index = next(at for at in range(len(block)) if block.line(at) == refusal.line)
    return RefusedPacket(block[index], refusal, place)


def make_maker(
    strategy: str | SmoothingStrategy | Callable[[], SmoothingStrategy], settings: dict[str, Value]
) -> Callable[[], SmoothingStrategy]:
    """Return a function that creates strategies of this kind; refuse wrong settings at once."""
    if isinstance(strategy, str):
        return make_factory(strategy, settings)
    if isinstance(strategy, type) and issubclass(strategy, SmoothingStrategy):
        make(strategy, settings)
        return lambda: make(strategy, settings)
    if settings:
        raise ValueError(
            "settings are for a strategy given by name or class, not for one that is made"
        )
    if not isinstance(strategy, type) and isinstance(strategy, SmoothingStrategy):
        return _make_single_use(strategy)
    if not callable(strategy):
        raise TypeError(
            f"{strategy!r} is not a strategy: give a name, a class, a function that makes"
            " strategies, or an object with reset, update and read"
        )
    return strategy


def _make_single_use(strategy: SmoothingStrategy) -> Callable[[], SmoothingStrategy]:
    waiting = [strategy]

    def make() -> SmoothingStrategy:
        if not waiting:
            raise ValueError("one strategy object draws one entity: give a name or a class")
        made = waiting.pop()
        if is_native(made):
            made.reset()  # others are reset before use
        return made

    return make
