"""A sender that stands still now and then: its ticks are late, for all entities at once."""

from __future__ import annotations

import numpy as np

from epic_cli.jobs.diagnose.detectors import NUMBERS, Detector, Finding
from epic_cli.jobs.diagnose.detectors.network.shifts import MOST as ROUTES
from epic_cli.jobs.diagnose.detectors.network.shifts import shifts
from epic_cli.metrics.arrays import quantile
from epic_cli.metrics.traffic import Floats, Stream, Traffic

#: In intervals that nine of ten do not exceed.
LONG = 2.5

LEAST = 2

#: More often than this it is no stall but the way of sending.
MOST = 0.2


def detect(traffic: Traffic) -> list[Finding]:
    """Intervals that are too long without a packet missing, in which the entity went on."""
    numbered = traffic.numbered
    stream = max(numbered, key=lambda one: len(one.times))
    places = stream.stretched(LONG * _usual(stream))
    for other in numbered:
        if other is not stream and other.times[0] <= stream.times[0] + other.period:
            own = other.times[other.stretched(LONG * _usual(other))]
            places = places[np.isin(np.round(stream.times[places], 6), np.round(own, 6))]
    places = places[~stream.rested(places)]
    if len(places) < LEAST or len(places) > MOST * len(stream.intervals):
        return _of_ticks(traffic)
    lengths, period = stream.intervals[places], stream.period
    figures = float(lengths.sum()) / traffic.duration, float(lengths.max()) / period
    times = stream.times[places[[0, int(lengths.argmax())]]]
    values = {"times": float(len(places)), "longest": float(lengths.max()), "period": period}
    return [_finding(figures, values, times, len(numbered) > 1)]


def _of_ticks(traffic: Traffic) -> list[Finding]:
    """Where stamps count ticks, they fall behind at each stall: more often than routes change."""
    if traffic.messages is None:
        return []
    messages = traffic.arrived
    found = [shift for shift in shifts(messages) if not shift.of_clock]
    if len(found) <= ROUTES or not all(shift.delays > messages.period for shift in found):
        return []
    waits = [shift.sudden for shift in found]
    places = messages.in_order[[shift.place for shift in found]]
    period = messages.period
    figures = sum(waits) / traffic.duration, max(waits) / period
    times = messages.sent[places[[0, int(np.argmax(waits))]]]
    values = {"times": float(len(found)), "longest": max(waits) + period, "period": period}
    return [_finding(figures, values, times, traffic.entities > 1)]


def _finding(
    figures: tuple[float, float], values: dict[str, float], times: Floats, several: bool
) -> Finding:
    """Of a share of the recording and how long it was; the first and the worst of ``times``."""
    share, statistic = figures
    who = "all entities" if several else "the entity"
    first, worst = times.tolist()
    given: dict[str, float | str] = {**values, "who": who}
    return Finding("server-stall", min(1.0, share), statistic, LONG, given, first, worst)


def _usual(stream: Stream) -> float:
    """The interval that nine of ten do not exceed, in periods: sending may be irregular, too."""
    sent = stream.intervals[stream.follows]
    return quantile(sent, 0.9) / stream.period if len(sent) else 1.0


DETECTOR = Detector(
    "server-stall",
    "the sender's ticks stall",
    "{times:time} nothing is sent of {who} for up to {longest:s} (usually every"
    " {period:s}), though nothing is lost.",
    "Delay buffers run empty; predictions go on, and are pulled back.",
    "Look for what blocks the server's tick (saving, pathfinding, garbage collection), and spread"
    " it over several ticks.",
    "intervals between stamps above 2.5 times those that 90 % do not exceed, without a gap in the"
    " sequence numbers, common to all entities, in which the entity moved; or lasting leaps of the"
    " delays, all of them up, of stamps that count ticks",
    f"{LEAST} of the former, {ROUTES + 1} of the latter",
    "definition of a stalled sender",
    detect,
    needs=(NUMBERS,),
    explains=("queue", "clock-drift"),
    rank=45,
)
