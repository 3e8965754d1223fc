"""Lasting changes of the delay at one moment, caused by the stamps or by the arrivals.

The sender's clock was set; or there is another route, another access point, a VPN.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from epic_cli.engine.measure import compute_running_medians
from epic_cli.jobs.diagnose.detectors import ARRIVALS, Detector, Finding
from epic_cli.metrics.arrays import compute_median
from epic_cli.metrics.traffic import (
    FEWEST_STATES,
    WRAPS,
    Floats,
    MessageLog,
    Traffic,
    estimate_sigma,
)

#: Messages on each side: few show sudden changes, many show changes through jitter.
SIDES = (16, 64)

#: Windows begin at this many places of the one before.
STRIDES = 8

#: Least change, in robust standard deviations of such differences of medians.
ERRORS = 7.0

#: Least share of a change in one place.
SUDDEN = 0.8

#: Messages on each side that have to show that share.
NEAR = 8
NEAR_SHARE = 0.5

#: Messages that show whether stamps or arrivals jumped: losses lengthen the interval of more.
FEW = 5

#: Least change (s) that is visible.
LEAST = 0.015

#: Most route changes: levels that come and go more often are a queue's.
MOST = 2


class Shift(NamedTuple):
    """A lasting change of the delay, in order of arrival: its message, and its size (s).

    ``sudden`` is the part of it in that place. ``of_stamps`` and ``of_arrivals`` are the leaps of
    each beyond the usual interval of as many messages.
    """

    place: int
    delays: float
    sudden: float
    of_stamps: float
    of_arrivals: float

    @property
    def of_clock(self) -> bool:
        """True if the stamps jumped and the arrivals did not."""
        return abs(self.of_stamps) > abs(self.of_arrivals) and self.of_stamps * self.delays < 0


@lru_cache(maxsize=1)
def find_shifts(messages: MessageLog) -> list[Shift]:
    """Return the lasting changes of the delay, in order of arrival.

    The medians of the 16 delays (or, where that finds none, the 64) before and after a message
    differ by more than ``ERRORS`` times their usual difference, and so do those of all messages up
    to the next change.
    """
    for side in SIDES:
        if found := _find_shifts_by_side(messages, side):
            return found
    return []


def _select_shifts(messages: MessageLog, clock: bool) -> list[Shift]:
    """Return either the changes that a clock caused, or those that the network caused."""
    return [shift for shift in find_shifts(messages) if shift.of_clock is clock]


def detect_clock_steps(traffic: Traffic) -> list[Finding]:
    """Find lasting changes of the delay at which the stamps jumped."""
    found = _select_shifts(traffic.arrived, clock=True)
    if found or not traffic.wraps:
        none: dict[str, float | str] = {"wraps": "", "unwrap": ""}
        return _make_finding("clock-step", traffic.arrived, found, 1.0, ("forward", "back"), none)
    wrap = next(iter(traffic.wraps.values()))
    values: dict[str, float | str] = {
        "step": wrap.length,
        "way": "back",
        "wraps": f": they wrap, as {WRAPS[wrap.length]} do",
        "unwrap": "Send more bits, or add what is missing whenever a stamp falls by more than half"
        " of that. ",
    }
    return [Finding("clock-step", 1.0, wrap.length, LEAST, values, wrap.first, None)]


def detect_route_changes(traffic: Traffic) -> list[Finding]:
    """Find lasting changes of the delay at which the arrivals jumped."""
    found = _select_shifts(traffic.arrived, clock=False)
    found = found if len(found) <= MOST else []
    return _make_finding("route-change", traffic.arrived, found, 0.2, ("less long", "longer"), {})


def _make_finding(
    cause: str,
    messages: MessageLog,
    found: list[Shift],
    whole: float,
    ways: tuple[str, str],
    more: dict[str, float | str],
) -> list[Finding]:
    """Return a finding for these changes; changes of ``whole`` seconds concern the whole recording.

    The worst change goes one of the ``ways``: to shorter delays, or to longer ones.
    """
    if not found:
        return []
    worst = max(found, key=lambda one: abs(one.delays))
    step = abs(worst.delays)
    first, most = (float(messages.sent[messages.in_order[row.place]]) for row in (found[0], worst))
    values: dict[str, float | str] = {"step": step, "way": ways[worst.delays > 0], **more}
    return [Finding(cause, min(1.0, step / whole), step, LEAST, values, first, most)]


def undo_shifts(traffic: Traffic, found: list[Shift]) -> Traffic:
    """Return the traffic with these changes undone, in stamps or arrivals."""
    messages = traffic.arrived
    added = np.zeros(len(messages.sent))
    streams = traffic.streams
    for shift in found:
        added[messages.in_order[shift.place :]] += shift.sudden
        if shift.of_clock:
            begin = float(messages.arrivals[messages.in_order[shift.place]])
            around = NEAR * messages.period  # there it is not sure which clock a stamp is of
            moved = (
                np.where(np.abs(stream.arrivals - begin) < around, np.nan, step)
                for stream in streams
                for step in [np.where(stream.arrivals >= begin, shift.sudden, 0.0)]
            )
            streams = tuple(
                stream.move_states(by) for stream, by in zip(streams, moved, strict=True)
            )
            streams = tuple(stream for stream in streams if len(stream.times) >= FEWEST_STATES)
    clock = any(shift.of_clock for shift in found)
    return replace(
        traffic,
        streams=streams,
        messages=messages.move_messages(added, 0.0)
        if clock
        else messages.move_messages(0.0, -added),
    )


def _find_shifts_by_side(messages: MessageLog, side: int) -> list[Shift]:
    order = messages.in_order
    delays = messages.delays[order]
    if len(delays) < 4 * side:
        return []
    stride = side // STRIDES
    medians = np.empty((len(delays) - side) // stride + 1)
    compute_running_medians(delays, side, stride, medians)
    change = medians[STRIDES:] - medians[:-STRIDES]  # at message side + stride * index
    # ticks that beat against frames make delays leap by one
    frame = messages.frame
    limit = max(LEAST + frame / 2, 1.25 * frame, ERRORS * estimate_sigma(change) + frame)
    peaks: list[int] = []
    left = np.abs(change)
    while len(left) and float(left.max()) > limit and len(peaks) < 100:
        peak = int(left.argmax())
        peaks.append(peak)
        left[max(0, peak - STRIDES) : peak + STRIDES] = 0
    found = []
    borders = sorted({_find_border(delays, side + stride * peak, side) for peak in peaks})
    if not borders:
        return []
    for place, begin, end in zip(
        borders, [0, *borders[:-1]], [*borders[1:], len(delays)], strict=True
    ):
        before, after = delays[begin:place], delays[place:end]
        if min(len(before), len(after)) < 2 * side:
            continue
        level = _measure_level_change(before, after)
        if abs(level) < limit:
            continue
        # a ramp is a queue's
        near_before, near_after = delays[place - side : place], delays[place : place + side]
        sudden = _measure_level_change(near_before, near_after)
        if abs(sudden) + frame < SUDDEN * abs(level):
            continue
        last, first = delays[place - NEAR : place], delays[place : place + NEAR]
        if abs(_measure_level_change(last, first)) < NEAR_SHARE * abs(level):
            continue
        sent, arrived = messages.sent[order], messages.arrivals[order]
        usual = compute_median(messages.sent[FEW:] - messages.sent[:-FEW])
        behind, ahead = slice(place - FEW, place), slice(place, place + FEW)
        found.append(
            Shift(
                int(place),
                level,
                sudden,
                _measure_level_change(sent[behind], sent[ahead]) - usual,
                _measure_level_change(arrived[behind], arrived[ahead]) - usual,
            )
        )
    return found


def _measure_level_change(before: Floats, after: Floats) -> float:
    """Return the difference of the medians."""
    return compute_median(after) - compute_median(before)


def _find_border(delays: Floats, place: int, side: int) -> int:
    """Return the message, close to ``place``, at which the delays change level.

    There the sum of their absolute distances to the medians before and after is least.
    """
    begin = place - side
    before = np.abs(delays[begin : place + side] - compute_median(delays[begin:place]))
    behind = np.abs(delays[begin : place + side] - compute_median(delays[place : place + side]))
    cost = np.cumsum(np.append(0, before)) + np.append(np.cumsum(behind[::-1])[::-1], 0)
    return begin + int(cost.argmin())


CLOCK_STEP = Detector(
    "clock-step",
    "the sender's clock was set while it ran",
    "The stamps jump {way} by {step:s} while packets go on arriving as before{wraps}.",
    "Until the strategy has found its delay again it stands still or runs ahead; after a jump back,"
    " packets are dropped as late.",
    "{unwrap}Stamp packets with a clock that is never set (a steady or monotonic one, or a tick"
    " count), or reset the stream with a teleport.",
    "difference of the median delays of the 16 messages before and after each, in the order of"
    " arrival; whether the stamps or the arrivals jump there",
    f"it is {LEAST * 1e3:g} ms and {ERRORS:g} robust standard deviations, and lasts",
    "change point by the difference of running medians",
    detect_clock_steps,
    needs=(ARRIVALS,),
    explains=(
        "queue",
        "route-change",
        "server-stall",
        "clock-drift",
        "teleport",
        "velocity",
        "reordering",
        "send-rate",
        "stamps",
        "on-change",
        "duplicates",
    ),
    mended=lambda traffic: undo_shifts(traffic, _select_shifts(traffic.arrived, clock=True)),
    rank=15,
)

ROUTE_CHANGE = Detector(
    "route-change",
    "the route has changed",
    "From then on every packet takes {step:s} {way}.",
    "A fixed delay that was right before is wrong now; a clock that is set once is off by that"
    " much.",
    "Use a strategy whose delay follows the network, or a delay with {step:s} to spare.",
    "difference of the median delays of the 16 messages before and after each, in the order of"
    " arrival",
    f"it is {LEAST * 1e3:g} ms and {ERRORS:g} robust standard deviations, lasts, and happens twice"
    " at most",
    'V. Paxson, "End-to-End Routing Behavior in the Internet", SIGCOMM 1996',
    detect_route_changes,
    needs=(ARRIVALS,),
    explains=("queue", "clock-drift"),
    mended=lambda traffic: undo_shifts(traffic, _select_shifts(traffic.arrived, clock=False)),
    rank=61,
)
