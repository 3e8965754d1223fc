"""Undo lasting changes of the delay."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from epic_cli.jobs.diagnose.detectors.network.shifts.search import (
    LEAST,
    NEAR,
    Shift,
    measure_rise,
)
from epic_cli.metrics.arrays import compute_median
from epic_cli.metrics.traffic import FEWEST_STATES, MessageLog, Traffic

#: Least drift between changes, in its standard errors.
SURE = 4


def undo_shifts(traffic: Traffic, found: list[Shift]) -> Traffic:
    """Return the traffic with these changes undone, in stamps or arrivals."""
    if not found:
        return traffic
    messages = traffic.arrived
    added = np.zeros(len(messages.sent))
    streams = traffic.streams
    for shift, step in zip(found, _measure_steps(messages, found), strict=True):
        added[messages.in_order[shift.place :]] += step
        if shift.of_clock:
            begin = float(messages.arrivals[messages.in_order[shift.place]])
            around = NEAR * messages.period  # there it is not sure which clock a stamp is of
            moved = (
                np.where(np.abs(stream.arrivals - begin) < around, np.nan, late)
                for stream in streams
                for late in [np.where(stream.arrivals >= begin, step, 0.0)]
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


def _measure_steps(messages: MessageLog, found: list[Shift]) -> list[float]:
    """Return the size (s) of each change, between levels that drift at the usual rate.

    The whole levels say it best, unless they hide another change.
    """
    order = messages.in_order
    sent, delays = (
        np.split(row[order], [shift.place for shift in found])
        for row in (messages.sent, messages.delays)
    )
    slopes = np.array([measure_rise(*part) for part in zip(sent, delays, strict=True)])
    slope = compute_median(slopes)
    if abs(slope) < SURE * np.std(slopes, ddof=1) / np.sqrt(len(slopes)):
        slope = 0.0  # what short parts show of it by chance would be found as a clock's drift
    levels = [compute_median(late - slope * at) for at, late in zip(sent, delays, strict=True)]
    return [
        step if abs(step - shift.sudden) < LEAST else shift.sudden
        for step, shift in zip(np.diff(levels).tolist(), found, strict=True)
    ]
