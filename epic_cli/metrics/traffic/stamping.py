"""Stamps that are no sender's clock: those of the state before, or the times of arrival.

Sequence numbers give such states times of their own, so that nothing else is told of these stamps
as if it were the network's or the sender's doing.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from epic_cli.metrics.arrays import ARRIVAL, POSITION, SEQUENCE, TIME, median
from epic_cli.metrics.traffic.robust import Floats, Numbers, sigma

#: A share of the states, and how many, that have the stamp of the one before.
SHARE, LEAST = 0.01, 3

#: Where more have, nothing says when the others were.
MOST = 0.75

#: A share of the stamps that go back while numbers go on: a clock that is set does so once.
BACK = 0.003

#: In periods: what stamps that are arrivals spread by, at least.
SPREAD = 0.05

#: Stamps and arrivals that are so near (s) are the same; states of so many give the trend.
SAME, BLOCK = 2e-6, 32


class Stamping(NamedTuple):
    """What stamps are in truth, for which ``share`` of the states, and the ``spread`` (s) of it.

    ``first`` is the first such stamp (s; None: all are).
    """

    kind: Literal["repeated", "received"]
    share: float
    spread: float
    first: float | None


def restamped(columns: Floats) -> tuple[Floats, Stamping | None]:
    """Packets (``packet_table``) with stamps by their numbers where theirs are no clock's.

    They are in the order of their stamps. None: nothing is changed.
    """
    numbers, times, arrivals = columns[SEQUENCE], columns[TIME], columns[ARRIVAL]
    if len(times) < 4 * BLOCK or not np.isfinite(numbers).all():
        return columns, None
    received = bool(np.mean(np.abs(arrivals - times) < SAME) > 0.99)
    apart = np.diff(times)
    if not received and apart.all() and (np.diff(numbers) > 0).all():
        return columns, None
    numbers, places = np.unique(numbers, return_index=True)
    times, steps = times[places], np.diff(numbers)
    if len(numbers) < 4 * BLOCK:
        return columns, None
    back = float((np.diff(times) < 0).mean())
    if received or (back > BACK and not np.isfinite(arrivals).any()):
        found = _by_numbers(numbers, times)
    elif back > BACK:
        return columns, None
    else:
        moved = np.diff(columns[POSITION][:, places], axis=1).any(axis=0)
        found = _apart(numbers, times, moved & (np.diff(times) == 0) & (steps > 0))
    if found is None:
        return columns, None
    mended = columns[:, places]
    mended[TIME], stamping = found
    return mended[:, np.argsort(mended[TIME], kind="stable")], stamping


def _by_numbers(numbers: Floats, times: Floats) -> tuple[Floats, Stamping] | None:
    """Times on a line over the numbers, which follows slowly where the sender pauses."""
    half = len(numbers) // 2
    period = median((times[half:] - times[:-half]) / (numbers[half:] - numbers[:-half]))
    rest = times - period * numbers
    blocks = np.array_split(np.arange(len(rest)), len(rest) // BLOCK)
    middles = [float(one.mean()) for one in blocks]
    trend = np.interp(np.arange(len(rest)), middles, [median(rest[one]) for one in blocks])
    off = rest - trend
    usual = period * median(np.diff(numbers))
    if not sigma(off) > SPREAD * usual:
        return None
    # the fastest packet is the one without delay
    mended = period * numbers + trend + float(off.min())
    return mended, Stamping("received", 1.0, sigma(off), None)


def _apart(numbers: Floats, times: Floats, again: Floats) -> tuple[Floats, Stamping] | None:
    """States of one stamp, spread over the time until the next one by their numbers."""
    ties: Numbers = np.flatnonzero(again) + 1
    share = len(ties) / len(times)
    if len(ties) < LEAST or not SHARE < share < MOST:
        return None
    kept = np.setdiff1d(np.arange(len(times)), ties)
    mended = np.interp(numbers, numbers[kept], times[kept])
    beyond = numbers > numbers[kept[-1]]
    period = median(np.diff(times[kept]) / np.diff(numbers[kept]))
    mended[beyond] = times[kept[-1]] + period * (numbers[beyond] - numbers[kept[-1]])
    late = median(mended[ties] - times[ties])
    return mended, Stamping("repeated", share, late, float(times[ties[0]]))
