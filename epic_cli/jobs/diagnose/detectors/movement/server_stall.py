"""A sender that stalls now and then, so that the ticks of all entities are late together."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from epic_cli.jobs.diagnose.detectors import Detector, Finding
from epic_cli.jobs.diagnose.detectors.freezes import remove_freezes
from epic_cli.jobs.diagnose.detectors.network.shifts.causes import MOST as ROUTES
from epic_cli.jobs.diagnose.detectors.network.shifts.search import (
    Shift,
    find_shifts,
)
from epic_cli.jobs.diagnose.detectors.network.shifts.undoing import undo_shifts
from epic_cli.metrics.arrays import compute_quantile
from epic_cli.metrics.traffic import Flags, Floats, Numbers, Stream, Traffic

#: Longest stall (s) of a sender whose entities have moved on meanwhile.
HOLE = 2.0

#: Shortest stall, in intervals that 90 % do not exceed.
LONG = 2.5

LEAST = 2

#: Largest share of stalls: more are the way of sending.
MOST = 0.2

#: Without sequence numbers, this number of intervals of a sender as steady as this (in periods)
#: show by their lengths that nothing was lost: most are this far from a multiple of the period.
SEVERAL, STEADY, OFF_BEAT = 4, 0.1, 0.15

#: Searches for the lag that stalls leave, and the messages on each side of one.
ROUNDS, SIDES = 8, (16, 8, 64)


class _Stalls(NamedTuple):
    """The intervals (``places``) of a stream in which the sender sends nothing for any entity.

    ``stands``: the movement then goes on from where it was.
    """

    stream: Stream
    places: Numbers
    stands: bool


def _find_stalls(traffic: Traffic) -> _Stalls | None:
    streams, numbered = traffic.streams, bool(traffic.numbered)
    if not streams:
        return None
    stream = max(streams, key=lambda one: len(one.times))
    places = stream.find_stretched(LONG * _measure_usual_interval(stream))
    for other in streams:
        if other is not stream and other.times[0] <= stream.times[0] + other.period:
            own = other.times[other.find_stretched(LONG * _measure_usual_interval(other))]
            there = stream.times[places] < other.times[-1]
            places = places[~there | np.isin(np.round(stream.times[places], 6), np.round(own, 6))]
    paused, rested = np.zeros(len(places), bool), np.ones(len(places), bool)
    for each in streams:
        at, inside = find_intervals_at(each, stream.times[places])
        paused |= inside & each.mark_paused(at)
        rested &= ~inside | each.mark_rested(at)
    stands = int(paused.sum()) >= len(places) / 2
    # what has moved on may have been lost, where neither numbers nor stamps say otherwise
    complete = numbered or _is_off_beat(stream, places[~rested])
    moved_on = (stream.intervals[places] < HOLE) & complete
    places = places[~rested & (paused | moved_on)]
    told = LEAST <= len(places) <= MOST * len(stream.intervals) and (stands or complete)
    return _Stalls(stream, places, stands) if told else None


def _is_off_beat(stream: Stream, places: Numbers) -> bool:
    """Return True if a regular sender goes on off its beat after most of these intervals.

    Lost packets leave a multiple of the period.
    """
    steps = stream.intervals / stream.period
    regular = float((np.abs(steps - 1) < STEADY).mean()) >= 1 - MOST
    off = np.abs(steps[places] - np.round(steps[places])) > OFF_BEAT
    return len(places) >= SEVERAL and regular and float(off.mean()) > 0.5


def detect(traffic: Traffic) -> list[Finding]:
    """Find long intervals in which no packet is missing and an entity moved."""
    found = _find_stalls(traffic)
    if found is None:
        return _detect_tick_stalls(traffic)
    stream, places, stands = found
    lengths, period = stream.intervals[places], stream.period
    extent = float(lengths.sum()) / traffic.duration, float(lengths.max()) / period
    times = stream.times[places[[0, int(lengths.argmax())]]]
    values = {"times": float(len(places)), "longest": float(lengths.max()), "period": period}
    return [_make_finding(extent, values, times, len(traffic.streams) > 1, stands)]


def _find_tick_shifts(traffic: Traffic) -> list[Shift]:
    """Return lasting rises of the delay, if there are more than route changes explain."""
    if traffic.messages is None:
        return []
    found = [shift for shift in find_shifts(traffic.arrived) if not shift.of_clock]
    late = len(found) > ROUTES and all(each.delays > traffic.arrived.period for each in found)
    return found if late else []


def remove_cause(traffic: Traffic) -> Traffic:
    """Return the traffic without freezes at stalls and without the lag of stamps after stalls."""
    found = _find_stalls(traffic)
    if found is None:
        return _undo_tick_shifts(traffic)
    begins = found.stream.times[found.places]
    return remove_freezes(traffic, begins, found.stream.times[found.places + 1])


def _undo_tick_shifts(traffic: Traffic) -> Traffic:
    """Return the traffic without the lag of stamps that count ticks.

    Of two stalls in close succession a search finds one; without that one, it finds the other.
    """
    found = _find_tick_shifts(traffic)
    left = undo_shifts(traffic, found)
    for _ in range(ROUNDS if found else 0):
        rest = find_shifts(left.arrived, SIDES)
        more = [shift for shift in rest if shift.delays > 0 and not shift.of_clock]
        if not more:
            break
        found = sorted([*found, *more])
        left = undo_shifts(traffic, found)
    return left


def _detect_tick_stalls(traffic: Traffic) -> list[Finding]:
    """Detect stalls in stamps that count ticks: after each stall the stamps are behind."""
    found = _find_tick_shifts(traffic)
    if not found:
        return []
    messages = traffic.arrived
    waits = [shift.sudden for shift in found]
    places = messages.in_order[[shift.place for shift in found]]
    period = messages.period
    extent = sum(waits) / traffic.duration, max(waits) / period
    times = messages.sent[places[[0, int(np.argmax(waits))]]]
    values = {"times": float(len(found)), "longest": max(waits) + period, "period": period}
    return [_make_finding(extent, values, times, traffic.entities > 1, stands=True)]


def _make_finding(
    extent: tuple[float, float],
    values: dict[str, float],
    times: Floats,
    several: bool,
    stands: bool,
) -> Finding:
    """Return a finding for a share of the recording, with the first and worst of ``times``."""
    share, statistic = extent
    who = "all entities" if several else "the entity"
    first, worst = times.tolist()
    then = (
        "the movement goes on where it was, and the lost time is not made up for"
        if stands
        else "the next state is where the entity would have been anyway"
    )
    same = ""
    if not stands:
        same = (
            " Where the recorder numbers the packets, a hole of the recording looks the same: let"
            " the sender number them."
        )
    elif not several:
        same = (
            " An entity that stopped and went on at full speed, sent only when it changes, looks"
            " the same: record two entities that move, or the sender's ticks."
        )
    given: dict[str, float | str] = {**values, "who": who, "then": then, "same": same}
    return Finding("server-stall", min(1.0, share), statistic, LONG, given, first, worst)


def find_intervals_at(stream: Stream, begins: Floats) -> tuple[Numbers, Flags]:
    """Return the stream's interval at each stamp (s), and which stamps are within the stream."""
    at = np.searchsorted(stream.times, begins + stream.period / 2) - 1
    inside = (at >= 0) & (at < len(stream.intervals))
    return np.clip(at, 0, len(stream.intervals) - 1), inside


def _measure_usual_interval(stream: Stream) -> float:
    """Return the 90 % quantile of send intervals, in periods; uneven sending raises it."""
    sent = stream.intervals[stream.follows]
    return compute_quantile(sent, 0.9) / stream.period if len(sent) else 1.0


DETECTOR = Detector(
    "server-stall",
    "the sender's ticks stall",
    "{times:time} nothing is sent of {who} for up to {longest:s} (usually every"
    " {period:s}), though no packet is lost; {then}.",
    "Delay buffers run empty; predictions go on, and are pulled back.",
    "Look for what blocks the server's tick (saving, pathfinding, garbage collection), and spread"
    " it over several ticks.{same}",
    "intervals between stamps above 2.5 times those that 90 % do not exceed, without a gap in the"
    " sequence numbers (without numbers: most of them no multiples of a steady period), common to"
    " all entities, in which the entity moved; or lasting leaps of the delays, all of them up, of"
    " stamps that count ticks",
    f"there are {LEAST} such intervals, or {ROUTES + 1} such leaps",
    "definition",
    detect,
    explains=(
        "queue",
        "clock-drift",
        "frozen",
        "on-change",
        "route-change",
        "teleport",
        "velocity",
        "stamps",
    ),
    mended=remove_cause,
    rank=45,
)
