"""The metrics by which drawn frames are judged, over slices of time."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epic_cli.metrics.digits import format_rough, format_seconds

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from epic_cli.metrics.arrays import Floats


class FrameMetric(NamedTuple):
    """A metric by which drawn frames are judged; lower values are better.

    A change below ``least`` is not mentioned. ``weight`` is the cost of one unit against a step
    error of 1. A remedy that improves another metric may not raise this one by more than
    ``bearable``.
    """

    title: str
    write: Callable[[float], str]
    unit: str
    least: float
    weight: float
    bearable: float


#: The metrics of drawn frames, by name.
METRICS = {
    "step_error": FrameMetric("step error", lambda value: f"{value:.2f}", "", 0.03, 1.0, 0.02),
    "lag": FrameMetric("lag", format_seconds, "", 0.005, 2.0, math.inf),
    "jumps": FrameMetric("jumps", format_rough, " a minute", 2.0, 0.02, 2.0),
    "held": FrameMetric(
        "still frames", lambda value: format_rough(value * 100), " %", 0.005, 2.0, 0.01
    ),
}


class MetricValues(NamedTuple):
    """The metrics of drawn frames against the truth.

    ``step_error`` is the RMS of the drawn step less the true one, at the best constant lag, over
    the RMS of the true steps; ``lag`` that lag behind the sender's time (s); ``jumps`` a minute;
    ``held`` the share of the frames in which it stands while the truth moves.
    """

    step_error: float
    lag: float
    jumps: float
    held: float

    @property
    def cost(self) -> float:
        """Weighted sum of all metrics."""
        return sum(
            metric.weight * value for metric, value in zip(METRICS.values(), self, strict=True)
        )


class MeasuredFrames(NamedTuple):
    """Sums over each slice (6, n): squared errors and true steps, jumps, held, rows, seconds.

    ``knows_lag`` is False where the frames are too far from the truth to tell how late they are.
    """

    sums: Floats
    lag: float
    knows_lag: bool = True

    def compute_values(self, slices: slice | NDArray[np.intp]) -> MetricValues:
        """Return the metrics over some of the slices."""
        errors, steps, jumps, held, rows, _ = self.sums[:, slices].sum(axis=1).tolist()
        if not steps or not rows:
            return MetricValues(math.nan, self.lag, math.nan, math.nan)
        jumps = self.compute_rate(jumps, slices)
        return MetricValues(math.sqrt(errors / steps), self.lag, jumps, held / rows)

    def compute_rate(self, count: float, slices: slice | NDArray[np.intp]) -> float:
        """Return how often a minute something is that happens ``count`` times in some slices."""
        return 60 * count / float(self.sums[5, slices].sum())


#: Time slices that choose a remedy, and slices that judge it.
CHOOSING, JUDGING = slice(0, None, 2), slice(1, None, 2)


def compute_standard_error(
    metric: str, before: MeasuredFrames, after: MeasuredFrames, judging: slice
) -> float:
    """Return the standard error of a metric's mean change over the slices; infinite for a few."""
    if metric == "lag":  # one for all slices
        return 0.0
    slices = np.arange(before.sums.shape[1])[judging]
    slices = slices[(before.sums[1, slices] > 0) & (after.sums[1, slices] > 0)]
    if len(slices) < 3:
        return math.inf
    place = list(METRICS).index(metric)
    changes = [
        before.compute_values(slices[[own]])[place] - after.compute_values(slices[[own]])[place]
        for own in range(len(slices))
    ]
    return float(np.std(changes, ddof=1)) / math.sqrt(len(slices))
