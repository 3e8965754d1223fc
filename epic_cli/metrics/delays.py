"""Models of the built-in delay buffers: the delay behind the stamps, computed from the settings.

Each model follows the strategy's docstring on its clock: ``delay`` is the receiver's time minus the
stamp that is drawn, once the clock has settled.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epic_cli.engine.parameters import SettingError, Value
from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.engine.strategies import get_declaration
from epic_cli.metrics.digits import round_up_to_two_digits
from epic_cli.metrics.traffic import SHARES, MessageLog, make_traffic, measure_waits
from epic_cli.network.link import are_clocks_apart

if TYPE_CHECKING:
    from epic_cli.engine.packets import PacketBlock
    from epic_cli.metrics.arrays import Floats

    Written = Mapping[str, Value]


class BufferLine(NamedTuple):
    """The measures of a network (s) that the clocks of delay buffers depend on.

    ``period`` is the usual time between two messages, ``deviation`` that of the intervals between
    arrivals. Delays are arrivals minus stamps: ``least`` is the smallest, ``usual`` the median,
    ``kept`` that of the first message, or of the newest one that differs from it by more than 50 ms
    (the median over all messages); ``waited`` is the wait (``measure_waits``) that two
    thirds of the messages do not exceed.
    """

    period: float
    deviation: float
    least: float
    usual: float
    kept: float
    waited: float


def _read_number(settings: Written, name: str, auto: float = 0.0) -> float:
    """Return the number of a setting; ``auto`` for a setting that is a word."""
    value = settings[name]
    return auto if isinstance(value, str) else value


@dataclass(frozen=True)
class Buffer:
    """A model of a delay buffer: its delay is ``base`` plus its ``setting``, in ``unit`` seconds.

    If the setting is a word, ``auto`` is its number. ``by_arrival``: the buffer draws between
    arrivals, so its delay is behind the newest arrival instead of the stamps.
    """

    setting: str
    base: Callable[[Written, BufferLine], float]
    unit: Callable[[Written, BufferLine], float] = lambda _settings, _line: 1.0
    auto: Callable[[Written], float] = lambda _settings: 0.0
    by_arrival: bool = False

    def compute_delay(self, settings: Written, line: BufferLine) -> float:
        """Return the delay (s) of a buffer with these settings."""
        number = _read_number(settings, self.setting, self.auto(settings))
        return self.base(settings, line) + self.unit(settings, line) * number

    def compute_settings(
        self, delay: float, settings: Written, line: BufferLine
    ) -> dict[str, Value]:
        """Return the settings of a buffer with this delay, even settings that are out of range."""
        return {self.setting: (delay - self.base(settings, line)) / self.unit(settings, line)}


class _SourceBuffer(Buffer):
    """The ``source`` buffer: the larger of cl_interp and the ratio, plus one tick."""

    def compute_delay(self, settings: Written, line: BufferLine) -> float:
        behind = max(_read_number(settings, "cl_interp"), self._find_least_ratio_delay(settings))
        return self.base(settings, line) + behind + _read_number(settings, "tick_interval")

    def compute_settings(
        self, delay: float, settings: Written, line: BufferLine
    ) -> dict[str, Value]:
        behind = delay - self.base(settings, line) - _read_number(settings, "tick_interval")
        found: dict[str, Value] = {"cl_interp": behind}
        if behind < self._find_least_ratio_delay(settings):
            found["cl_interp_ratio"] = 0.0  # otherwise the ratio would count
        return found

    def _find_least_ratio_delay(self, settings: Written) -> float:
        return _read_number(settings, "cl_interp_ratio") / _read_number(settings, "cl_updaterate")


class _MirrorBuffer(Buffer):
    """The ``mirror`` buffer: a number of intervals, unless it adapts to the network."""

    def compute_delay(self, settings: Written, line: BufferLine) -> float:
        if settings["dynamic_adjustment"] != "on":
            return super().compute_delay(settings, line)
        tolerance = _read_number(settings, "dynamic_adjustment_tolerance")
        return line.usual + self.unit(settings, line) * (1 + tolerance) + line.deviation

    def compute_settings(
        self, delay: float, settings: Written, line: BufferLine
    ) -> dict[str, Value]:
        return {**super().compute_settings(delay, settings, line), "dynamic_adjustment": "off"}


class _LightyearBuffer(Buffer):
    """The ``lightyear`` buffer: its ratio has an effect if the jitter is set."""

    def compute_delay(self, settings: Written, line: BufferLine) -> float:
        # the mean deviation of delays, by the standard one of intervals
        jitter = _read_number(settings, "jitter", 0.6 * line.deviation)
        return (
            super().compute_delay(settings, line)
            + _read_number(settings, "jitter_multiple") * jitter
        )

    def compute_settings(
        self, delay: float, settings: Written, line: BufferLine
    ) -> dict[str, Value]:
        return {**super().compute_settings(delay, settings, line), "jitter": 0.0}


class _ChronoBuffer(Buffer):
    """The ``chrono`` buffer: a fixed delay, or one that grows with the jitter."""

    def compute_delay(self, settings: Written, line: BufferLine) -> float:
        if _read_number(settings, "buffer"):
            return super().compute_delay(settings, line)
        least, most = (_read_number(settings, name) for name in ("least", "most"))
        # the jitter is that of differences of delays: 1.4 times the deviation of intervals
        wait = _read_number(settings, "tick") + 2 * 1.4 * line.deviation
        wait = least + 0.2 * (least - wait) if wait < least else min(wait, most)
        return self.base(settings, line) + wait


class _EntitiesBuffer(Buffer):
    """The ``netcode-for-entities`` buffer: a number of snapshots, or of the ticks between two."""

    def compute_delay(self, settings: Written, line: BufferLine) -> float:
        rate, ticks = _read_number(settings, "sim_rate"), _count_ticks(settings)
        between = min(line.period * rate + 1, 6 * ticks)
        wanted = _read_number(settings, "want") * ticks
        return self.base(settings, line) + max(wanted, between) / rate


def _count_ticks(settings: Written) -> int:
    """Return the number of ticks between two snapshots."""
    rate = _read_number(settings, "sim_rate")
    return math.ceil(rate / _read_number(settings, "net_rate", rate))


class _GambettaBuffer(Buffer):
    """The ``gambetta`` buffer: its setting is a rate."""

    def compute_delay(self, settings: Written, line: BufferLine) -> float:
        return 1 / _read_number(settings, self.setting, 1 / line.period)

    def compute_settings(
        self, delay: float, settings: Written, line: BufferLine
    ) -> dict[str, Value]:
        del settings, line
        return {self.setting: 1 / delay}


class _PartsBuffer(Buffer):
    """The ``buffer`` strategy: a delay in seconds or send intervals, plus a jitter margin."""

    def compute_delay(self, settings: Written, line: BufferLine) -> float:
        interval = _read_number(settings, "interval", line.period)
        least, wanted, most = (
            _read_number(settings, name, float(str(settings[name]).rstrip("i")) * interval)
            for name in ("delay_least", "delay", "delay_most")
        )
        # the deviation of delays, by that of intervals
        jitter = _read_number(settings, "jitter_margin") * line.deviation / math.sqrt(2)
        return self.base(settings, line) + min(max(wanted + jitter, least), most)

    def compute_settings(
        self, delay: float, settings: Written, line: BufferLine
    ) -> dict[str, Value]:
        plain: dict[str, Value] = {"jitter_margin": 0.0, "delay_least": 0.0, "delay_most": 60.0}
        return super().compute_settings(delay, settings, line) | {
            name: value for name, value in plain.items() if settings[name] != value
        }


def _find_clock_offset(settings: Written, line: BufferLine) -> float:
    if settings["stamps"] == "arrival":
        offset = line.usual
    else:
        offset = {"agree": 0.0, "min": line.least, "first": line.kept}.get(
            str(settings["clock"]), line.usual
        )
    return offset + _read_number(settings, "clock_margin")


def _measure_usual_delay(_settings: Written, line: BufferLine) -> float:
    return line.usual


def _read_latency(settings: Written, line: BufferLine) -> float:
    return _read_number(settings, "latency", line.usual)


def _compute_geckos_delay(settings: Written) -> float:
    rate = _read_number(settings, "server_fps")
    return 3 / rate if rate else 0.1


#: Models of the built-in delay buffers, by name of the strategy.
BUFFERS: Mapping[str, Buffer] = {
    # with the stamps' own clock the latency is part of the setting
    "snapshot": Buffer(
        "interpolation_time",
        lambda settings, line: line.usual if settings["clock"] == "pll" else 0.0,
    ),
    "buffer": _PartsBuffer("delay", _find_clock_offset),
    "source": _SourceBuffer("cl_interp", _read_latency),
    "hermite": Buffer("playout_delay", _read_latency),
    "panda3d": Buffer(
        "delay",
        lambda settings, line: line.usual if settings["accept_clock_skew"] == "on" else 0.0,
    ),
    "geckos": Buffer(
        "interpolation_buffer", lambda _settings, line: line.kept, auto=_compute_geckos_delay
    ),
    "mirror": _MirrorBuffer(
        "buffer_time_multiplier",
        _measure_usual_delay,
        lambda settings, line: _read_number(settings, "send_interval", line.period),
    ),
    "james-frowen": Buffer(
        "tick_delay",
        _measure_usual_delay,
        lambda settings, line: _read_number(settings, "tick_interval", line.period),
    ),
    "unity-ngo": Buffer(
        "tick_latency",
        lambda settings, line: (
            _read_latency(settings, line) + _read_number(settings, "server_buffer")
        ),
        lambda settings, line: 1 / _read_number(settings, "tick_rate", 1 / line.period),
        lambda settings: 1.0 if settings["mode"] in ("legacy-lerp", "double-lerp") else 2.0,
    ),
    # Its clock goes back 2 ms after each snapshot that came late, else forward by 1. Late is what
    # comes less than 5 ms before it is needed (CL_AdjustTimeDelta, CL_SetCGameTime): the clock
    # stays where that happens to one in three.
    "quake3": Buffer("cl_time_nudge", lambda _settings, line: line.waited + 0.005),
    "ddnet": Buffer("tick_interval", _measure_usual_delay),
    "lightyear": _LightyearBuffer(
        "send_interval_ratio",
        lambda settings, line: (
            line.usual
            - _read_number(settings, "rtt") / 2
            + _read_number(settings, "jitter_margin") * _read_number(settings, "tick_interval")
        ),
        lambda settings, line: _read_number(settings, "send_interval", line.period),
    ),
    "chrono": _ChronoBuffer("buffer", _measure_usual_delay),
    # a snapshot is known to its clock a frame later, and estimated to a tick
    "netcode-for-entities": _EntitiesBuffer(
        "want",
        lambda settings, line: line.usual + 1 / _read_number(settings, "sim_rate"),
        lambda settings, _line: _count_ticks(settings) / _read_number(settings, "sim_rate"),
    ),
    "gambetta": _GambettaBuffer("update_rate", lambda _settings, _line: 0.0, by_arrival=True),
}


#: geckos' clock is replaced when it is off by more (s).
REPLACED = 0.05

#: Numbers of packets lost in a row.
LOST = (0, 1, 2)


class BufferCure(NamedTuple):
    """The ``settings`` of a buffer that waits for a share of the packets; None if out of range.

    ``latency`` (s) is how far behind the fastest packet's state the buffer then draws.
    """

    settings: Mapping[str, Value] | None
    latency: float


class BufferDelay(NamedTuple):
    """A delay buffer with its present settings.

    Its ``latency`` (s), and the share of packets in time. ``cures`` are settings that would be
    enough, by the number of lost packets (``LOST``), then by the share of packets in time
    (``SHARES``).
    """

    label: str
    strategy: str
    setting: str
    now: Value
    latency: float
    covers: float
    cures: tuple[tuple[BufferCure, ...], ...]


class DelaysNeeded(NamedTuple):
    """The delays (s) behind the fastest packet that would let the packets of recordings be in time.

    They are indexed by lost packets (``LOST``), then by share (``SHARES``). ``period`` (s) is the
    usual time between two messages, ``least`` the delay of the fastest (s), which contains the
    difference of the clocks.
    """

    messages: int
    period: float
    least: float
    needed: tuple[tuple[float, ...], ...]
    buffers: tuple[BufferDelay, ...]


#: Seconds; a delay covers a smaller difference between the clocks.
APART = 0.1


def adapt_to_clocks(candidate: StrategySpec, least: float, period: float) -> StrategySpec:
    """Return a strategy with the settings for clocks that differ, if they do and it needs any.

    ``least`` is the delay of the fastest packet (s), ``period`` the send interval (s).
    """
    declared = get_declaration(candidate.name)
    apart = abs(least) > APART and are_clocks_apart(least)
    if not apart or declared.one_clock is None or not declared.takes_one_clock(candidate.settings):
        return candidate
    settings = {
        name: float(f"{period:.3g}") if value is None else value
        for name, value in declared.one_clock.instead
    }
    return StrategySpec(candidate.name, {**candidate.settings, **settings})


def find_needed_delays(
    recordings: Iterable[Mapping[str, PacketBlock]], candidates: Sequence[StrategySpec]
) -> DelaysNeeded | None:
    """Return the delays that the packets of all recordings need, and the buffers' delays.

    Buffers that take two clocks for one have the settings for clocks that differ.
    ``recordings`` are packets by entity. None: no recording has enough packets with arrival times.
    """
    found = [recording for recording in map(_find_messages, recordings) if recording is not None]
    if not found:
        return None
    known = [one for log in found for one in log.of_entities]
    # clocks differ from recording to recording, and are the same for its entities
    least = [float(log.delays.min()) for log in found for _ in log.of_entities]

    def find_median(of: Callable[[MessageLog, float], float]) -> float:
        """Return the median of a delay over recordings and their entities."""
        return float(np.median([of(one, low) for one, low in zip(known, least, strict=True)]))

    apart = float(np.median(least))
    line = BufferLine(
        find_median(lambda one, _: one.period),
        find_median(lambda one, _: float(np.diff(np.sort(one.arrivals)).std())),
        apart,
        apart + find_median(lambda one, low: float(np.median(one.delays)) - low),
        apart + find_median(lambda one, low: _measure_median_kept_delay(one) - low),
        apart + find_median(lambda one, low: float(np.quantile(measure_waits(one), 2 / 3)) - low),
    )
    stamps = [
        np.concatenate(
            [measure_waits(one, lost) - low for one, low in zip(known, least, strict=True)]
        )
        for lost in LOST
    ]
    arrivals = [np.concatenate([_measure_gaps(log, lost) for log in known]) for lost in LOST]
    return DelaysNeeded(
        sum(len(log.sent) for log in found),
        line.period,
        line.least,
        tuple(_compute_share_quantiles(stamp) for stamp in stamps),
        tuple(
            _measure_buffer(candidate, BUFFERS[candidate.name], line, stamps, arrivals)
            for candidate in (adapt_to_clocks(one, line.least, line.period) for one in candidates)
            if candidate.name in BUFFERS
        ),
    )


def _find_messages(packets: Mapping[str, PacketBlock]) -> MessageLog | None:
    return make_traffic(packets).messages


def _measure_median_kept_delay(messages: MessageLog) -> float:
    """Return the median offset of a clock that is set again whenever it is wrong by 50 ms."""
    offset = math.inf
    kept = []
    for delay in messages.delays[np.argsort(messages.arrivals, kind="stable")].tolist():
        if abs(delay - offset) > REPLACED:
            offset = delay
        kept.append(offset)
    return float(np.median(kept))


def _measure_gaps(messages: MessageLog, lost: int) -> Floats:
    """Return the time from each arrival to the one after the next ``lost`` packets."""
    arrivals = np.sort(messages.unrested.arrivals)
    return np.asarray(arrivals[1 + lost :] - arrivals[: -1 - lost])


def _compute_share_quantiles(values: Floats) -> tuple[float, ...]:
    return tuple(float(row) for row in np.quantile(values, SHARES))


def _measure_buffer(
    candidate: StrategySpec,
    buffer: Buffer,
    line: BufferLine,
    stamps: Sequence[Floats],
    arrivals: Sequence[Floats],
) -> BufferDelay:
    settings = get_declaration(candidate.name).values(candidate.settings)
    waited = arrivals if buffer.by_arrival else stamps
    # what these begin at: behind our clock, and behind the fastest packet's state
    base, behind = (0.0, line.usual - line.least) if buffer.by_arrival else (line.least, 0.0)
    delay = buffer.compute_delay(settings, line) - base
    cures = tuple(
        tuple(
            BufferCure(
                _write_allowed_settings(
                    candidate, buffer.compute_settings(value + base, settings, line)
                ),
                value + behind,
            )
            for value in _compute_share_quantiles(each)
        )
        for each in waited
    )
    return BufferDelay(
        candidate.label,
        candidate.name,
        buffer.setting,
        settings[buffer.setting],
        delay + behind,
        float(np.mean(waited[0] <= delay + 1e-9)),
        cures,
    )


def _write_allowed_settings(
    candidate: StrategySpec, settings: Mapping[str, Value]
) -> dict[str, Value] | None:
    """Return the settings of a strategy as text; None if one is out of range."""
    rounded = {
        name: value if isinstance(value, str) else round_up_to_two_digits(value)
        for name, value in settings.items()
    }
    try:
        get_declaration(candidate.name).values({**candidate.settings, **rounded})
    except SettingError:
        return None
    return rounded
