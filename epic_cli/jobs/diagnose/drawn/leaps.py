"""The errors of a strategy in frames without leaps, such as teleports, and in few others."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from epic_cli.jobs.diagnose.mechanism.marks import find_least_leap
from epic_cli.metrics.arrays import compute_lengths

if TYPE_CHECKING:
    from epic_cli.jobs.diagnose.comparison import FrameComparison
    from epic_cli.jobs.diagnose.fitted import FittedStrategy
    from epic_cli.metrics.arrays import Floats

#: Most of the frames that may be left out.
FEW = 0.1

#: The share of the frames that may be off by anything where the others are understood.
RARE = 0.01

#: An error without the largest ones is clearly understood at this share of the limit.
CLEARLY = 0.75


def measure_calm_error(
    comparison: FrameComparison, stamps: Floats, positions: Floats, found: FittedStrategy
) -> float | None:
    """Return the error (RMS) of the frames without leaps, as a share of the steps without them.

    ``stamps`` (n; s) and ``positions`` (n, 3) are the packets'. A leap goes farther in a send
    interval than four times what 90 % of the packets go. None if none of the frames leaps, or too
    many do, and where no packet does.
    """
    steps = compute_lengths(np.diff(positions, axis=0))
    steps = steps[steps > 0]
    most = find_least_leap(steps)
    if not (steps > most).any():
        return None
    times, drawn = comparison.times, comparison.drawn
    begins = np.searchsorted(times, times - float(np.median(np.diff(stamps))))
    far = np.flatnonzero(compute_lengths(drawn - drawn[begins]) > most)
    counts = np.zeros(len(times) + 1, int)
    np.add.at(counts, begins[far], 1)
    np.add.at(counts, far + 1, -1)
    calm = (np.cumsum(counts)[:-1] == 0)[comparison.counted]
    if not 1 - FEW < calm.mean() < 1:
        return None
    apart = compute_lengths(comparison.compute_differences(found))[calm]
    apart = apart[np.isfinite(apart)]
    return float(np.sqrt(np.square(apart).mean() / np.square(steps[steps <= most]).mean()))


def measure_few_errors(
    comparison: FrameComparison, found: FittedStrategy, understood: float
) -> tuple[float, float] | None:
    """Return the errors (RMS) of nearly all frames and of the others, as shares of a usual step.

    None unless the first is ``understood`` (RMS, length) and the others are not; clearly so if the
    others are merely those with the largest errors.
    """
    apart = compute_lengths(comparison.compute_differences(found))
    apart = np.sort(apart[np.isfinite(apart)])
    if not len(apart) or np.sqrt(np.square(apart).mean()) <= understood:
        return None
    count = len(apart) - math.ceil(RARE * len(apart))
    if found.draws_most:
        count = int(np.searchsorted(apart, comparison.same, side="right"))
    near, far = (float(np.sqrt(np.square(part).mean())) for part in np.split(apart, [count]))
    unit, most = comparison.unit, understood * (1.0 if found.draws_most else CLEARLY)
    return (near / unit, far / unit) if near <= most else None
