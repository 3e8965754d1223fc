"""What is accumulated over the rows that one candidate draws: what metrics are computed from."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from epic_cli.analysis.cells import Grid, tally
from epic_cli.analysis.lag import Lag, find_lag
from epic_cli.analysis.sampled_truth import JUMP_FACTOR, JUMP_FLOOR, root_mean_square
from epic_cli.engine.measure.errors import accumulate_errors

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from epic_cli.analysis.sampled_truth import SampledTruth
    from epic_cli.analysis.truth import Floats
    from epic_cli.analysis.weights import Weights
    from epic_cli.engine.packets import Status

#: A step against the truth's direction is a backward one from this share of the usual step on,
#: if the truth does not turn within so many seconds.
BACKWARD_FLOOR = 0.01
TURN_WINDOW = 0.1


@dataclass(frozen=True)
class Measurement:
    """What was accumulated over the rows of one candidate: metrics are functions of it.

    It is of one entity as ``measure`` makes it, of several as ``pool`` does. Lengths are in the
    recording's unit. ``errors`` are those of the rows that count, one after the other; ``broken``
    is how many rows would count but are not finite. ``excess`` is by how much the longest step
    goes beyond the truth's longest around it. ``fours`` is the number of runs of four rows, and
    ``third`` and ``truth_third`` the sums of the squared third differences over them.
    ``statuses`` says how many rows have each status, also of those that do not count. ``speed``
    is the root mean square speed of the truth. ``tick`` (seconds) and ``weights`` are those of
    the comparison. ``sums`` are those of the cells (``tally``), to draw from again.
    """

    errors: Floats
    broken: int
    lag: Lag
    excess: float
    jumps: int
    backward: int
    fours: int
    third: float
    truth_third: float
    statuses: NDArray[np.int64]
    speed: float
    tick: float
    weights: Weights
    sums: Floats | None = None

    @property
    def error(self) -> float:
        """Root mean square distance from the truth."""
        return root_mean_square(self.errors)

    @property
    def jerk_rms(self) -> float:
        """Root mean square jerk of what was drawn, in length/s^3."""
        return self._jerk(self.third)

    @property
    def truth_jerk(self) -> float:
        """Root mean square jerk of the truth in the same rows, in length/s^3."""
        return self._jerk(self.truth_third)

    @property
    def usual_jerk(self) -> float:
        """The jerk that others are multiples of."""
        return self.truth_jerk

    def _jerk(self, squares: float) -> float:
        return math.sqrt(squares / self.fours) / self.tick**3 if self.fours else math.nan

    def share(self, status: Status) -> float:
        """Which share of the rows has this status, 0 to 1."""
        return float(self.statuses[status] / max(int(self.statuses.sum()), 1))


def measure(
    rows: NDArray[np.void], sampled: SampledTruth, weights: Weights, cells: Grid | None = None
) -> Measurement:
    """Measures the rows (n) of a ``Trace`` against the truth at the same ticks.

    With ``cells``, sums are kept for each.
    """
    shown, status = rows["position"], rows["status"]
    errors, counted = np.empty(len(rows)), np.empty(len(rows), np.int32)
    count, broken, excess, jumps, fours, third, truth_third = accumulate_errors(
        shown,
        status,
        sampled.positions,
        sampled.segments,
        sampled.step_limit,
        JUMP_FACTOR,
        JUMP_FLOOR * sampled.usual_step,
        errors,
        counted,
    )
    lag = find_lag(sampled.truth, sampled.times, shown, counted)
    backward = sampled.truth.path.backward_steps(
        sampled.times,
        shown,
        counted,
        0.0 if math.isnan(lag.seconds) else lag.seconds,
        max(1, round(TURN_WINDOW / sampled.tick)),
        BACKWARD_FLOOR * sampled.usual_speed,
        BACKWARD_FLOOR * sampled.usual_step,
    )
    # rows before the truth begins are nobody's fault
    begun = int(np.searchsorted(sampled.times, sampled.truth.start))
    return Measurement(
        errors[:count],
        broken,
        lag,
        excess if excess > 1e-9 * sampled.usual_step else 0.0,  # else it is rounding
        jumps,
        backward,
        fours,
        third,
        truth_third,
        np.bincount(status[begun:], minlength=4),
        sampled.usual_speed,
        sampled.tick,
        weights,
        None
        if cells is None
        else tally(cells, sampled, shown, status, counted, errors[:count], lag),
    )


def pool(measurements: Sequence[Measurement]) -> Measurement:
    """The measurements of several entities, one at least with rows that count, as one.

    Errors are those of all rows alike; the lag is the mean of the entities', by rows, and the
    residual what each one's own shift leaves.
    """
    lags = [one.lag for one in measurements if not math.isnan(one.lag.seconds)]
    rows = sum(lag.rows for lag in lags)
    lag = Lag(math.nan, math.nan, 0)
    if rows:
        squares = sum(one.residual**2 * one.rows for one in lags)
        seconds = sum(one.seconds * one.rows for one in lags) / rows
        lag = Lag(seconds, math.sqrt(squares / rows), rows)
    counts = [len(one.errors) for one in measurements]
    return Measurement(
        np.concatenate([one.errors for one in measurements]),
        sum(one.broken for one in measurements),
        lag,
        max(one.excess for one in measurements),
        sum(one.jumps for one in measurements),
        sum(one.backward for one in measurements),
        sum(one.fours for one in measurements),
        sum(one.third for one in measurements),
        sum(one.truth_third for one in measurements),
        np.sum([one.statuses for one in measurements], axis=0),
        math.sqrt(float(np.average([one.speed**2 for one in measurements], weights=counts))),
        measurements[0].tick,
        measurements[0].weights,
        measurements[0].sums if len(measurements) == 1 else None,
    )
