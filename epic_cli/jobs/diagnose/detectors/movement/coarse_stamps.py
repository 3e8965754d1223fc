"""Stamps on a coarse clock, and even steps in ticks that such a clock makes uneven."""

from __future__ import annotations

import math
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from epic_cli.jobs.diagnose.detectors import ARRIVALS, Detector, Finding, select_worst
from epic_cli.jobs.diagnose.remedies import Remedy
from epic_cli.jobs.diagnose.remedies.packets import restamp
from epic_cli.metrics.arrays import compute_median
from epic_cli.metrics.traffic import (
    Flags,
    Floats,
    Stream,
    Traffic,
    estimate_sigma,
    round_rate,
)

#: Shortest step of a clock (s) that shows, and the longest, in periods.
SHORTEST, LONGEST = 0.002, 1.1

#: Intervals around one, of which it is one; and fewest intervals, and long ones among them.
AROUND, FEWEST, FEWEST_LONG = 5, 60, 8

#: Least shares of the intervals that are long and that are short, and the largest distance of one
#: from a whole number of steps, in steps.
BOTH, BLURRED = 0.03, 0.1

#: Largest share of the intervals' rounding that the ways from state to state follow, and least
#: share that the arrivals follow where it is no rounding.
FOLLOWS, ARRIVES = 0.3, 0.7

#: Least share of the intervals that are one of two neighbors on the lattice; others are of losses.
TWO = 0.85

#: Standard error of a median of normal values, in that of their mean.
MEDIAN = math.sqrt(math.pi / 2)

#: Binary digits of a single-precision number.
SINGLE = 24


class _Rounding(NamedTuple):
    """A stream's stamps on a lattice of ``step`` (s), which its ways do not follow.

    ``follows`` is the share of the intervals' differences that the ways follow, ``arrives`` the
    share that the arrivals do (NaN: there are none). ``period`` is the mean interval (s).
    """

    stream: Stream
    step: float
    period: float
    follows: float
    arrives: float


def _find_rounding(stream: Stream) -> _Rounding | None:
    step = _find_clock_step(stream.intervals)
    if len(stream.times) <= FEWEST or not SHORTEST <= step <= LONGEST * stream.period:
        return None
    near = (stream.intervals > 0) & (stream.intervals < stream.period + 1.5 * step)
    steps, intervals = stream.steps[near], stream.intervals[near]
    counts = np.round(intervals / step)
    least = math.floor(float(intervals.mean()) / step + 1e-6)
    beats = np.isin(counts, (least, least + 1))
    if len(steps) < FEWEST or beats.sum() < TWO * len(stream.intervals):
        return None
    half = AROUND // 2
    usual = sliding_window_view(steps, AROUND).mean(axis=1)
    around = sliding_window_view(intervals, AROUND).mean(axis=1)
    ways = steps[half:-half] / np.where(usual > 0, usual, np.inf)
    lasted, came = intervals[half:-half] / around, np.diff(stream.arrivals)[near][half:-half]
    used = (usual > 0.2 * stream.usual_step) & stream.follows[near][half:-half]
    used &= beats[half:-half]
    long = counts[half:-half][used] > least
    follows, unsure = _compare_long(ways[used], lasted[used], long)
    if not abs(follows) + 2 * unsure < FOLLOWS:
        return None
    arrives, _ = _compare_long((came / around)[used], lasted[used], long)
    return _Rounding(stream, step, float(intervals.mean()), follows, arrives)


def _find_clock_step(intervals: Floats) -> float:
    """Return the step of a clock (s) that makes usual intervals differ; 0 if there is none."""
    ordered = np.sort(intervals[intervals > 0])
    groups = np.split(ordered, np.flatnonzero(np.diff(ordered) > SHORTEST / 2) + 1)
    usual = [group for group in groups if len(group) >= BOTH * len(ordered)]
    if len(usual) < 2:
        return 0.0
    middles = np.array([compute_median(group) for group in usual])
    step = float(np.diff(middles).min())
    counts = np.round(middles / step)
    step = float(middles.sum() / counts.sum()) if counts.all() else 0.0
    wide = max(float(np.ptp(group)) for group in usual)
    off = float(np.abs(middles - counts * step).max())
    return step if step and max(wide, off) < BLURRED * step else 0.0


def _compare_long(values: Floats, lasted: Floats, long: Flags) -> tuple[float, float]:
    """Return by how much values rise from short intervals to long ones, in what these are longer.

    Then two standard errors of it. Medians, since a lost packet makes the way longer, too. NaN if
    there are too few of either.
    """
    if min(int(long.sum()), int((~long).sum())) < max(FEWEST_LONG, BOTH * len(lasted)):
        return math.nan, math.nan
    groups, apart = (values[long], values[~long]), float(lasted[long].mean() - lasted[~long].mean())
    error = math.hypot(*(estimate_sigma(one) / math.sqrt(len(one)) for one in groups))
    rise = compute_median(groups[0]) - compute_median(groups[1])
    return rise / apart, MEDIAN * error / apart


def _detect(cause: str, traffic: Traffic) -> list[Finding]:
    """Find the entity with the evenest ways over coarse stamps, if this is their cause."""
    streams = [one for one in traffic.streams if one.name not in traffic.stamping]
    return select_worst(
        (_make_finding(cause, _find_rounding(stream.excerpt)) for stream in streams),
        lambda one: -abs(one.statistic),
    )


def _make_finding(cause: str, found: _Rounding | None) -> Finding | None:
    if found is None or (cause == "uneven-ticks") is not (found.arrives > ARRIVES):
        return None
    shortest, longest = np.quantile(found.stream.intervals, (0.05, 0.95)).tolist()
    values: dict[str, float | str] = {
        "step": found.step,
        "period": found.period,
        "shortest": shortest,
        "longest": longest,
        "kind": _name_kind(found),
        "same": _UNKNOWN if math.isnan(found.arrives) else "",
    }
    share, entities = min(1.0, found.step / found.period), found.stream.entities
    remedy = None
    if cause == "coarse-stamps" and found.stream.numbered:
        rate = round_rate(1 / found.period)
        count = partial(restamp, change=partial(_count_stamps, period=found.period))
        remedy = Remedy(f"--read time=seq,unit=ticks@{rate:g}", "step_error", packets=count)
    return Finding(cause, share, found.follows, FOLLOWS, values, entities=entities, remedy=remedy)


def _count_stamps(stream: Stream, period: float) -> Floats:
    """Return stamps (s) that are ``period`` (s) apart, by the sequence numbers."""
    numbers = (stream.sequence - stream.sequence[0]) / (stream.usual_gap or 1.0)
    return np.asarray(stream.times[0] + numbers * period)


def _name_kind(found: _Rounding) -> str:
    """Return what rounds so, in words."""
    latest = float(found.stream.times[-1])
    if latest > 0 and math.isclose(found.step, 2.0 ** (math.frexp(latest)[1] - SINGLE)):
        return f", as a 32-bit float rounds {latest:,.0f} s"
    return ""


#: The causes whose ``period`` is that of the sender.
TICK_CAUSES = ("coarse-stamps", "uneven-ticks")

_UNKNOWN = (
    " If the sender's ticks are as uneven as the stamps, which arrival times would tell, move by"
    " the time that each has lasted."
)

_MEASURED = (
    "rise of the median way from state to state, in those around, from other intervals to long ones"
    " of stamps on a lattice, over that of the intervals"
)

ROUNDED = Detector(
    "coarse-stamps",
    "stamps are rounded",
    "Stamps are multiples of {step:s}{kind}, and states are {period:s} apart: the way from one"
    " state to the next does not follow that rounding.",
    "What is drawn by the stamps speeds up and slows down from state to state.",
    "Stamp with a finer clock (a monotonic one with microseconds; a 32-bit float only for the time"
    " since the match began), or count ticks.{same}",
    _MEASURED,
    f"that is below {FOLLOWS:g}, with two standard errors, and the arrivals do not follow either",
    "standard error of a median",
    lambda traffic: _detect("coarse-stamps", traffic),
    explains=("send-rate", "stamps", "fixed-step", "threshold"),
    rank=66,
)

UNEVEN = Detector(
    "uneven-ticks",
    "each tick moves as far, however long it lasts",
    "Ticks last {shortest:s} to {longest:s}, in steps of {step:s}, and each moves the same way; the"
    " mean is {period:s}.",
    "The movement itself speeds up and slows down from state to state, whatever draws it.",
    "Move by the time that has passed, or in fixed steps by an accumulator of it. Timers that end"
    " at the system's own tick (15.6 ms in Windows) need a finer one, as timeBeginPeriod makes.",
    _MEASURED,
    f"that is below {FOLLOWS:g}, with two standard errors, and the arrivals follow by more than"
    f" {ARRIVES:g}",
    "standard error of a median",
    lambda traffic: _detect("uneven-ticks", traffic),
    needs=(ARRIVALS,),
    explains=("send-rate", "stamps", "fixed-step", "velocity", "threshold"),
    rank=67,
)
