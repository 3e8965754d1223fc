"""Measure how late frames are drawn."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from epic_cli.jobs.diagnose.mechanism.marks import find_least_leap
from epic_cli.jobs.diagnose.redraw import interpolate_at
from epic_cli.metrics.arrays import choose_places, compute_lengths, find_minimum
from epic_cli.metrics.drawn_path import FEWEST_FRAMES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from epic_cli.jobs.diagnose.comparison import FrameComparison
    from epic_cli.metrics.arrays import Floats

#: Range and spacing (s) of the shifts of a game against a strategy.
EARLIEST, LATEST, APART = -0.5, 1.0, 0.02


def find_lateness(
    times: Floats,
    path: Floats,
    comparison: FrameComparison,
    counted: NDArray[np.bool_] | None = None,
    most: int = 1000,
) -> tuple[float, float]:
    """Return how much later (s) than ``path`` (n, 3) frames are, and the error left (length).

    At most that many frames are compared.
    """
    at = np.flatnonzero(comparison.counted if counted is None else counted)
    at = at[choose_places(len(at), most)]
    wanted, drawn = comparison.times[at], comparison.drawn[at]

    def measure(shift: float) -> float:
        far = compute_lengths(interpolate_at(times, path, wanted - shift) - drawn)
        known = np.isfinite(far)
        return float(far[known].mean()) if known.mean() > 0.5 else math.inf

    shifts = np.arange(EARLIEST, LATEST + APART, APART).tolist()
    near = min(shifts, key=measure)
    return find_minimum(measure, near - APART, near + APART)


def measure_lag(
    comparison: FrameComparison, stamps: Floats, positions: Floats, usual_step: float
) -> float:
    """Return the lag (s) behind the lines between ``positions`` (n, 3) at ``stamps`` (n).

    NaN: beyond the range of the search, as where the sender has another clock.
    """
    times, calm = comparison.times, comparison.counted.copy()
    steps = compute_lengths(np.diff(positions, axis=0))
    for leap in np.flatnonzero(steps > find_least_leap(steps)):
        # frames that show it, however late they are: nothing was on the way
        before, after = stamps[[leap, leap + 1]]
        calm &= (times < before + EARLIEST) | (times > after + LATEST)
    if calm.sum() < FEWEST_FRAMES:
        return math.nan
    shift, residual = find_lateness(stamps, positions, comparison, calm)
    far = not EARLIEST + 0.01 < shift < LATEST - 0.01
    return shift if residual <= usual_step and not far else math.nan
