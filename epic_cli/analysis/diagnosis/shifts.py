"""Delays that are others from one moment on, and whether the stamps or the arrivals have moved."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from epic_cli.analysis.diagnosis.robust import sigma

if TYPE_CHECKING:
    from epic_cli.analysis.diagnosis.traffic import Messages

#: Messages on each side.
SIDE = 16

#: Robust standard deviations of what such differences of medians are anyway.
ERRORS = 8.0

#: The share of a change that has to be in one place.
SUDDEN = 0.8

#: Seconds; less is nothing that is seen.
LEAST = 0.015


class Shift(NamedTuple):
    """A change of level, in the order of arrival: at which message, and by how much (s).

    ``of_stamps`` and ``of_arrivals`` are by how much each went beyond what so many messages take.
    """

    place: int
    delays: float
    of_stamps: float
    of_arrivals: float


def shifts(messages: Messages) -> list[Shift]:
    """The lasting changes of the level of the delays, in their order.

    The medians of the ``SIDE`` delays before and behind a message differ by more than ``ERRORS``
    times their usual difference, and so do those of all messages up to the next change.
    """
    order = np.argsort(messages.arrivals, kind="stable")
    delays = messages.delays[order]
    if len(delays) < 4 * SIDE:
        return []
    medians = np.median(sliding_window_view(delays, SIDE), axis=1)
    change = medians[SIDE:] - medians[:-SIDE]  # at message SIDE + index
    limit = max(LEAST, ERRORS * sigma(change))
    peaks: list[int] = []
    left = np.abs(change)
    while len(left) and float(left.max()) > limit and len(peaks) < 100:
        peak = int(left.argmax())
        peaks.append(peak)
        left[max(0, peak - SIDE) : peak + SIDE] = 0
    found = []
    borders = sorted(peak + SIDE for peak in peaks)
    if not borders:
        return []
    for place, begin, end in zip(
        borders, [0, *borders[:-1]], [*borders[1:], len(delays)], strict=True
    ):
        before, after = delays[begin:place], delays[place:end]
        level = float(np.median(after) - np.median(before))
        if abs(level) < limit or min(len(before), len(after)) < 2 * SIDE:
            continue
        # a ramp is a queue's
        near_before, near_after = medians[place - SIDE], medians[place]
        if abs(near_after - near_before) < SUDDEN * abs(level):
            continue
        sent, arrived = messages.sent[order], messages.arrivals[order]
        usual = SIDE * messages.period
        behind, ahead = slice(place - SIDE, place), slice(place, place + SIDE)
        found.append(
            Shift(
                int(place),
                level,
                float(np.median(sent[ahead]) - np.median(sent[behind])) - usual,
                float(np.median(arrived[ahead]) - np.median(arrived[behind])) - usual,
            )
        )
    return found
