"""Delays that are others from one moment on, and whether the stamps or the arrivals have moved."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from epic_cli.analysis.diagnosis.detector import Finding
from epic_cli.analysis.diagnosis.messages import Messages
from epic_cli.analysis.diagnosis.robust import Floats, median, sigma
from epic_cli.analysis.diagnosis.stream import FEWEST_STATES
from epic_cli.analysis.diagnosis.traffic import Traffic
from epic_cli.engine.measure import running_medians

#: Messages on each side: few see what is sudden, many see through jitter.
SIDES = (16, 64)

#: Windows begin at so many places of the one before.
STRIDES = 8

#: Robust standard deviations of what such differences of medians are anyway.
ERRORS = 7.0

#: The share of a change that has to be in one place.
SUDDEN = 0.8

#: And of that, what so many messages on each side have to show.
NEAR = 8
NEAR_SHARE = 0.5

#: Whether stamps or arrivals have jumped shows in fewer: losses lengthen what many take.
FEW = 5

#: Seconds; less is nothing that is seen.
LEAST = 0.015


class Shift(NamedTuple):
    """A change of level, in the order of arrival: at which message, and by how much (s).

    ``sudden`` is how much of it is in that place. ``of_stamps`` and ``of_arrivals`` are by how much
    each went beyond what so many messages take.
    """

    place: int
    delays: float
    sudden: float
    of_stamps: float
    of_arrivals: float

    @property
    def of_clock(self) -> bool:
        """Whether the stamps have jumped, and not the arrivals."""
        return abs(self.of_stamps) > abs(self.of_arrivals) and self.of_stamps * self.delays < 0


@lru_cache(maxsize=1)
def shifts(messages: Messages) -> list[Shift]:
    """The lasting changes of the level of the delays, in their order.

    The medians of the 16 delays (or, where that finds none, the 64) before and behind a message
    differ by more than ``ERRORS`` times their usual difference, and so do those of all messages up
    to the next change.
    """
    for side in SIDES:
        if found := _shifts(messages, side):
            return found
    return []


def shifted(
    cause: str,
    messages: Messages,
    found: list[Shift],
    whole: float,
    words: Callable[[Shift], Mapping[str, float | str]],
) -> list[Finding]:
    """A finding of these changes; one of ``whole`` seconds concerns all of the recording.

    ``words`` makes its values of the worst.
    """
    if not found:
        return []
    worst = max(found, key=lambda one: abs(one.delays))
    step = abs(worst.delays)
    first, most = (float(messages.sent[messages.in_order[one.place]]) for one in (found[0], worst))
    values = {"step": step, **words(worst)}
    return [Finding(cause, min(1.0, step / whole), step, LEAST, values, first, most)]


def without(traffic: Traffic, found: list[Shift]) -> Traffic:
    """The traffic with these changes taken back, of stamps or arrivals."""
    messages = traffic.arrived
    added = np.zeros(len(messages.sent))
    streams = traffic.streams
    for one in found:
        added[messages.in_order[one.place :]] += one.sudden
        if one.of_clock:
            begin = float(messages.arrivals[messages.in_order[one.place]])
            around = NEAR * messages.period  # there it is not sure which clock a stamp is of
            moved = (
                np.where(np.abs(each.arrivals - begin) < around, np.nan, step)
                for each in streams
                for step in [np.where(each.arrivals >= begin, one.sudden, 0.0)]
            )
            streams = tuple(each.moved(by) for each, by in zip(streams, moved, strict=True))
            streams = tuple(each for each in streams if len(each.times) >= FEWEST_STATES)
    clock = any(one.of_clock for one in found)
    return replace(
        traffic,
        streams=streams,
        messages=messages.moved(added, 0.0) if clock else messages.moved(0.0, -added),
    )


def _shifts(messages: Messages, side: int) -> list[Shift]:
    order = messages.in_order
    delays = messages.delays[order]
    if len(delays) < 4 * side:
        return []
    stride = side // STRIDES
    medians = np.empty((len(delays) - side) // stride + 1)
    running_medians(delays, side, stride, medians)
    change = medians[STRIDES:] - medians[:-STRIDES]  # at message side + stride * index
    # ticks that beat against frames make delays leap by one
    frame = messages.frame
    limit = max(LEAST + frame / 2, 1.25 * frame, ERRORS * sigma(change) + frame)
    peaks: list[int] = []
    left = np.abs(change)
    while len(left) and float(left.max()) > limit and len(peaks) < 100:
        peak = int(left.argmax())
        peaks.append(peak)
        left[max(0, peak - STRIDES) : peak + STRIDES] = 0
    found = []
    borders = sorted({_border(delays, side + stride * peak, side) for peak in peaks})
    if not borders:
        return []
    for place, begin, end in zip(
        borders, [0, *borders[:-1]], [*borders[1:], len(delays)], strict=True
    ):
        before, after = delays[begin:place], delays[place:end]
        if min(len(before), len(after)) < 2 * side:
            continue
        level = _apart(before, after)
        if abs(level) < limit:
            continue
        # a ramp is a queue's
        near_before, near_after = delays[place - side : place], delays[place : place + side]
        sudden = _apart(near_before, near_after)
        if abs(sudden) + frame < SUDDEN * abs(level):
            continue
        last, first = delays[place - NEAR : place], delays[place : place + NEAR]
        if abs(_apart(last, first)) < NEAR_SHARE * abs(level):
            continue
        sent, arrived = messages.sent[order], messages.arrivals[order]
        usual = median(messages.sent[FEW:] - messages.sent[:-FEW])
        behind, ahead = slice(place - FEW, place), slice(place, place + FEW)
        found.append(
            Shift(
                int(place),
                level,
                sudden,
                _apart(sent[behind], sent[ahead]) - usual,
                _apart(arrived[behind], arrived[ahead]) - usual,
            )
        )
    return found


def _apart(before: Floats, after: Floats) -> float:
    """By how much the median has changed."""
    return median(after) - median(before)


def _border(delays: Floats, place: int, side: int) -> int:
    """Where the delays change from one level to the other, near a place.

    It is where their absolute distances to the medians before and behind are the least.
    """
    begin = place - side
    before = np.abs(delays[begin : place + side] - median(delays[begin:place]))
    behind = np.abs(delays[begin : place + side] - median(delays[place : place + side]))
    cost = np.cumsum(np.append(0, before)) + np.append(np.cumsum(behind[::-1])[::-1], 0)
    return begin + int(cost.argmin())
