"""Find lasting changes of the delay."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from epic_cli.engine.measure import compute_running_medians
from epic_cli.metrics.arrays import compute_median
from epic_cli.metrics.traffic import Floats, MessageLog, estimate_sigma

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

#: Delays that rise by this share of a change on one side alone, against it, are a queue's.
RAMP = 0.5

#: Messages that show whether stamps or arrivals jumped: losses lengthen the interval of more.
FEW = 5

#: Least change (s) that is visible.
LEAST = 0.015


class Shift(NamedTuple):
    """A lasting change of the delay, in order of arrival: its message, and its size (s).

    ``sudden`` is the part of it in that place. ``of_stamps`` and ``of_arrivals`` are the leaps of
    each beyond the usual interval of as many messages. ``hole`` is the longest time (s) around it
    without any stamp, beyond the usual interval.
    """

    place: int
    delays: float
    sudden: float
    of_stamps: float
    of_arrivals: float
    hole: float

    @property
    def of_clock(self) -> bool:
        """True if the stamps jumped and the arrivals did not."""
        jumped = abs(self.of_stamps) > abs(self.of_arrivals) and self.of_stamps * self.delays < 0
        # a clock that is set forward skips times, packets on a shorter route overtake others
        return jumped and self.hole > -SUDDEN * self.delays


@lru_cache(maxsize=2)
def find_shifts(messages: MessageLog, sides: tuple[int, ...] = SIDES) -> list[Shift]:
    """Return the lasting changes of the delay, in order of arrival.

    The medians of as many delays (of the next number of ``sides`` where one finds none) before and
    after a message differ by more than ``ERRORS`` times their usual difference, and so do those of
    all messages up to the next change.
    """
    for side in sides:
        if found := _find_shifts_by_side(messages, side):
            return found
    return []


def select_shifts(messages: MessageLog, clock: bool) -> list[Shift]:
    """Return either the changes that a clock caused, or those that the network caused."""
    return [shift for shift in find_shifts(messages) if shift.of_clock is clock]


def measure_rise(sent: Floats, delays: Floats) -> float:
    """Return the slope (s/s) of the delays, from their first third to their last."""
    third = max(1, len(sent) // 3)
    length, rise = (_measure_level_change(row[:third], row[-third:]) for row in (sent, delays))
    return rise / length if length > 0 else 0.0


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
        shift = Shift(
            int(place),
            level,
            sudden,
            _measure_level_change(sent[behind], sent[ahead]) - usual,
            _measure_level_change(arrived[behind], arrived[ahead]) - usual,
            float(np.diff(np.sort(sent[place - NEAR : place + NEAR])).max()) - messages.period,
        )
        parts = [(sent[part], delays[part]) for part in (slice(begin, place), slice(place, end))]
        if shift.of_clock or not _is_ramp(parts, sudden):
            found.append(shift)
    return found


def _is_ramp(parts: list[tuple[Floats, Floats]], sudden: float) -> bool:
    """Return True if the delays rise against a change on one side of it: a queue's.

    ``parts`` are the stamps and the delays (s) of each side.
    """
    slopes = [measure_rise(*part) for part in parts]
    ratios = [slope * np.ptp(part[0]) / sudden for slope, part in zip(slopes, parts, strict=True)]
    steepest = slopes[int(np.argmin(ratios))]
    return bool(min(ratios) < -RAMP and abs(slopes[1] - slopes[0]) > RAMP * abs(steepest))


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
