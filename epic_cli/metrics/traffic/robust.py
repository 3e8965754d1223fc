"""Statistics that a few wild values do not move: what the detectors are built from."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from epic_cli.metrics.arrays import edges, median, quantile

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Numbers = NDArray[np.int64]

#: A normal distribution's standard deviation, from the median of its distances to the median.
_SIGMA = 1.4826

#: Rates at which games and screens tick, in hertz.
USUAL_RATES = (10, 15, 20, 24, 25, 30, 40, 50, 60, 64, 72, 90, 100, 120, 128, 144)


def sigma(values: Floats) -> float:
    """The standard deviation of the bulk of the values: 1.4826 times their MAD."""
    return _SIGMA * median(np.abs(values - median(values)))


def concentration(values: Floats, step: float) -> float:
    """How well values are multiples of ``step``: the mean cosine of their phases.

    1: all are; about n^-1/2: they are anything (the V-test, which is Rayleigh's for a known
    direction; K. V. Mardia, P. E. Jupp, "Directional Statistics", 2000).
    """
    return float(np.cos(2 * np.pi * values / step).mean())


class Envelope(NamedTuple):
    """A level of the values for each window, and when it was."""

    times: Floats
    levels: Floats


def lower_envelope(times: Floats, values: Floats, windows: int) -> Envelope:
    """The least values in ``windows`` windows of as many values each."""
    per = len(values) // windows
    blocks = values[: per * windows].reshape(windows, per)
    lowest = blocks.argmin(axis=1) + np.arange(windows) * per
    return Envelope(times[lowest], values[lowest])


def middles(times: Floats, values: Floats, windows: int) -> Envelope:
    """The medians of values and of times, which ascend, in such windows."""
    per = len(values) // windows
    begins = per * np.arange(windows)
    levels = [median(values[begin : begin + per]) for begin in begins]
    middle = (times[begins + (per - 1) // 2] + times[begins + per // 2]) / 2
    return Envelope(middle, np.array(levels))


class Line(NamedTuple):
    """``slope`` and its standard error, ``start`` at time 0, and the spread around the line."""

    slope: float
    error: float
    start: float
    spread: float


def robust_line(times: Floats, values: Floats) -> Line:
    """The Theil-Sen line: its slope is the median of those through any two points.

    H. Theil, Proc. Kon. Ned. Akad. v. Wetensch. A 53, 1950; P. K. Sen, JASA 63 (324), 1968. The
    standard error is that of least squares, from the residuals' robust spread, pi/2 wider for a
    median. For some hundreds of points at most: memory grows with the square.
    """
    one, other = np.triu_indices(len(times), 1)
    apart = times[one] != times[other]
    one, other = one[apart], other[apart]
    slope = median((values[other] - values[one]) / (times[other] - times[one]))
    start = median(values - slope * times)
    spread = sigma(values - slope * times)
    error = float(np.sqrt(np.pi / 2) * spread / (np.std(times) * np.sqrt(len(times))))
    return Line(slope, error, start, spread)


class Run(NamedTuple):
    """A stretch of values: from ``begin`` to before ``end``."""

    begin: int
    end: int


def runs(flags: Flags) -> list[Run]:
    """The unbroken runs of what is true."""
    return [Run(int(begin), int(end)) for begin, end in zip(*edges(flags), strict=True)]


def changes(*columns: NDArray[Any]) -> Flags:
    """Which rows differ from the one before them in any of these columns; the first one does."""
    new = np.zeros(len(columns[0]), bool)
    new[:1] = True
    for column in columns:
        new[1:] |= column[1:] != column[:-1]
    return new


def lattice(values: Floats) -> float:
    """The step of the lattice that all values stand on; 0: none is found.

    The candidate is the least distance between different values, which is the step where enough
    values are given; all the others have to be multiples of it.
    """
    different = np.unique(values)
    if len(different) < 3:
        return 0.0
    gaps = np.diff(different)
    # what is nearer than the arithmetic's own rounding is the same value
    gaps = gaps[gaps > 1e-9 * float(np.abs(different).max())]
    if not len(gaps):
        return 0.0
    step = float(gaps.min())
    turns = np.round(gaps / step)
    step = float(gaps.sum() / turns.sum())  # the least one may be rounded
    off = np.abs(gaps / step - turns)
    return step if quantile(off, 0.99) < 0.1 else 0.0
