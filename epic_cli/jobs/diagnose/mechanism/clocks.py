"""The ways in which a buffer can tell the times of states: stamps, clocks, their jitter."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from epic_cli.engine.strategies.parts import ClockOffset, ClockRule, Deviation, RecentValues

if TYPE_CHECKING:
    from epic_cli.jobs.diagnose.frames import Frames
    from epic_cli.metrics.arrays import Floats

#: The settings of a clock; those that are of the packets of a time, or of some packets.
CLOCK_KEYS = ("stamps", "clock", "clock_time", "clock_share", "clock_count", "clock_resync")
WINDOWED = ("min", "mean", "median", "max")

#: The settings of jitter that is not the deviation over the usual time.
UNEVEN = {"jitter", "jitter_count", "jitter_time", "delay_rise", "delay_fall"}

#: Those that are numbers of which 0 means none.
SHIFTS = ("clock_share", "clock_resync")

#: Times (s) over which clocks are estimated.
CLOCK_TIMES = (0.5, 1.0, 2.0, 5.0, 10.0, math.inf)

#: Offsets (s) beyond which a clock by one packet is set again.
RESYNCS = (0.05,)

#: Shares of each packet in a mean clock.
CLOCK_SHARES = (0.05, 0.1, 0.2)


class TimeAxis(NamedTuple):
    """A way to tell the times of states: ``settings``, ``stamps``, and the clock's ``offsets``.

    ``late`` is the usual time from a state to the frame that would show it without a delay, by the
    sender's stamps; ``jitter`` the deviation that a margin multiplies, ``usual_jitter`` its median.
    The others are per packet (n); all are in seconds.
    """

    settings: Mapping[str, Any]
    stamps: Floats
    offsets: Floats
    late: float
    jitter: Floats
    usual_jitter: float


class TimeAxes:
    """The possible ways to find the sender's time in some frames, the usual ones first."""

    def __init__(self, frames: Frames) -> None:
        self._reader = _ClockReader(frames)
        self.every = [self._reader.read(settings) for settings in _iterate_clocks()]
        self._nearest: dict[object, TimeAxis] = {}

    def find(self, settings: Mapping[str, Any]) -> TimeAxis:
        """Return the time axis of a buffer with these settings, or the axis closest to it."""
        key = tuple(settings.get(name) for name in CLOCK_KEYS)
        if key not in self._nearest:
            self._nearest[key] = _find_nearest_axis(
                self.every, settings, self._reader.frames.interval
            )
        return self._nearest[key]


def _iterate_clocks() -> Iterator[dict[str, Any]]:
    """Yield the settings of stamps and clocks."""
    yield {}
    yield {"stamps": "arrival"}
    yield from ({"clock": "first", "clock_resync": off} for off in RESYNCS)
    for stamps in ({}, {"stamps": "ticks"}):
        for rule in ClockRule:
            clock = rule.name.lower()
            if clock == "agree":
                continue
            for time in CLOCK_TIMES if clock in WINDOWED else (None,):
                over = "session" if time == math.inf else time
                named = {} if time is None else {"clock_time": over}
                yield {**stamps, "clock": clock, **named}
        for share in CLOCK_SHARES:
            yield {**stamps, "clock": "mean", "clock_share": share}


def make_time_axis(frames: Frames, settings: Mapping[str, Any]) -> TimeAxis:
    """Return the time axis of a buffer with these settings."""
    return _ClockReader(frames).read(settings)


class _ClockReader:
    """A reader of clocks from packets; what several clocks share is computed once."""

    def __init__(self, frames: Frames) -> None:
        self.frames = frames
        self._stamps: dict[str, tuple[Floats, Floats]] = {}

    def read(self, settings: Mapping[str, Any]) -> TimeAxis:
        """Return the time axis of a buffer with these settings."""
        way = settings.get("stamps", "sender")
        if way not in self._stamps:
            self._stamps[way] = _read_stamps(self.frames, way)
        stamps, jitter = self._stamps[way]
        if settings.keys() & UNEVEN:
            jitter = measure_unevenness(self.frames, settings)
        rule = ClockRule[settings.get("clock", "agree").upper()]
        offsets = np.zeros(len(stamps))
        if way != "arrival" and rule != ClockRule.AGREE:
            time, share = settings.get("clock_time", 2.0), settings.get("clock_share", 0.0)
            time = math.inf if time == "session" else time
            count, resync = settings.get("clock_count", 0), settings.get("clock_resync", 0.0)
            offset = ClockOffset(rule, time, resync=resync, share=share, most=count)
            arrivals = self.frames.arrivals
            old = (arrivals - stamps).tolist()
            for place, arrival in enumerate(arrivals.tolist()):
                offset.add(old[place], arrival)
                offsets[place] = offset.value
        late = float(np.median(offsets + stamps - self.frames.stamps))
        return TimeAxis(settings, stamps, offsets, late, jitter, float(np.median(jitter)))


def _read_stamps(frames: Frames, way: str) -> tuple[Floats, Floats]:
    """Return the stamps by which a buffer goes, and their deviation at each packet (n; s)."""
    arrivals = frames.arrivals
    if way == "arrival":
        return arrivals, np.append(0.0, _measure_jitter(arrivals[1:], np.diff(arrivals)))
    own = frames.stamps if way == "sender" else frames.ticks
    return own, _measure_jitter(arrivals, arrivals - own)


def _measure_jitter(arrivals: Floats, measured: Floats) -> Floats:
    """Return the deviation of ``measured`` at each packet, over the usual time."""
    deviation, found = Deviation(2.0), []
    for arrival, sample in zip(arrivals.tolist(), measured.tolist(), strict=True):
        deviation.add(sample, arrival)
        found.append(deviation.value())
    return np.array(found)


def measure_unevenness(frames: Frames, settings: Mapping[str, Any]) -> Floats:
    """Return the jitter at each packet (n; s), as ``buffer`` measures it with these settings.

    Each packet takes ``delay_rise`` or ``delay_fall`` of a change, as of the delay.
    """
    rise, fall = settings.get("delay_rise", 1.0), settings.get("delay_fall", 1.0)
    measure = settings.get("jitter", "lateness")
    by_means = measure in ("intervals", "stamps")
    known = _average_distances(frames, settings) if by_means else _measure_last(frames, settings)
    if rise == fall == 1:
        return np.array(known)
    last, found = known[0], []
    for jitter in known:
        last += (jitter - last) * (fall if jitter < last else rise)
        found.append(last)
    return np.array(found)


def _average_distances(frames: Frames, settings: Mapping[str, Any]) -> list[float]:
    """Return how far the times between packets are from their mean, on the mean (n; s).

    They are those of arrivals, or with ``jitter=stamps`` of stamps, which are an ``interval``
    apart. Each packet is a ``jitter_share`` of the means.
    """
    share, by_stamps = settings.get("jitter_share", 0.1), settings["jitter"] == "stamps"
    mean = settings.get("interval", frames.interval) if by_stamps else math.nan
    last, found = 0.0, [0.0]
    for interval in np.diff(frames.stamps if by_stamps else frames.arrivals).tolist():
        if interval > 0:
            mean = interval if math.isnan(mean) else mean
            mean += 0.0 if by_stamps else (interval - mean) * share
            last += (abs(interval - mean) - last) * share
        found.append(last)
    return found


def _measure_last(frames: Frames, settings: Mapping[str, Any]) -> list[float]:
    """Return the deviation, the spread, or the mean change of the last measurements (n; s)."""
    measure, arrivals = settings.get("jitter", "lateness"), frames.arrivals
    intervals = measure in ("arrivals", "longest") or settings.get("stamps") == "arrival"
    values = np.diff(arrivals) if intervals else arrivals - frames.stamps
    found = [0.0] * intervals
    if measure == "changes":
        share, last = settings.get("jitter_share", 0.1), 0.0
        for change in np.abs(np.diff(values, prepend=values[:1])).tolist():
            last += (change - last) * share
            found.append(last)
        return found
    time, count = settings.get("jitter_time", 2.0), settings.get("jitter_count", 0)
    recent = RecentValues(time, count)
    deviation = Deviation(time)
    for value, arrival in zip(values.tolist(), arrivals[intervals:].tolist(), strict=True):
        if measure in ("spread", "longest") or count:
            recent.add(value, arrival)
            ways = {"spread": recent.spread, "longest": recent.largest}
            found.append(ways.get(measure, recent.deviation)())
        else:
            deviation.add(value, arrival)
            found.append(deviation.value())
    return found


def _find_nearest_axis(
    every: list[TimeAxis], settings: Mapping[str, Any], interval: float
) -> TimeAxis:
    """Return the time axis of a buffer with these settings, or the axis closest to it.

    ``interval`` is the packets' (s).
    """
    stamps, clock = settings.get("stamps", "sender"), settings.get("clock", "agree")
    if stamps == "arrival":
        clock = "agree"

    def convert(time: float | str) -> float:
        return 1e9 if time in ("session", math.inf) else float(time)

    def measure_distance(axis: TimeAxis) -> tuple[bool, float]:
        own = axis.settings
        same = (own.get("stamps", "sender"), own.get("clock", "agree")) == (stamps, clock)
        counted = settings.get("clock_count", 0) * interval
        time = counted or convert(settings.get("clock_time", 2.0))
        time /= convert(own.get("clock_time", 2.0))
        apart = [settings.get(key, 0.0) - own.get(key, 0.0) for key in SHIFTS]
        return not same, sum(map(abs, apart)) + abs(math.log(time))

    return min(every, key=measure_distance)
