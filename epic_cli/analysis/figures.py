"""The figures of a comparison: what they are, and how they come from one strategy's rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epic_cli.analysis.lag import Lag, find_lag
from epic_cli.analysis.metrics import quantile95
from epic_cli.analysis.reference import JUMP_FACTOR, JUMP_FLOOR, root_mean_square
from epic_cli.engine.measure.errors import accumulate_errors
from epic_cli.engine.packets import Status

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from epic_cli.analysis.reference import Reference
    from epic_cli.analysis.truth import Floats

#: A step against the truth's direction is a backward one from this share of the usual step on,
#: if the truth does not turn within so many seconds.
BACKWARD_FLOOR = 0.01
TURN_WINDOW = 0.1


class Figures(NamedTuple):
    """How well one strategy drew one entity, or all of them together; NaN: not enough to say.

    Lengths are in the recording's unit, times in seconds, shares from 0 to 1. ``FIGURES`` says
    what each one is.
    """

    rows: int
    error: float
    error95: float
    error_max: float
    lag: float
    residual: float
    largest_jump: float
    jumps: int
    jerk: float
    truth_jerk: float
    backward: int
    held: float
    extrapolated: float
    none: float
    #: Root mean square speed of the truth, and the tick: what the score is scaled by.
    speed: float
    tick: float


class Figure(NamedTuple):
    """One column: ``better`` is ``low``, ``zero`` (nearest to 0 is best), ``high`` or empty."""

    name: str
    title: str
    better: str
    meaning: str


FIGURES = (
    Figure("score", "score", "high", "overall, 0 to 100; the formula is under the table"),
    Figure("error", "error", "low", "RMS distance from the truth at the time it is drawn"),
    Figure("error95", "95 %", "low", "the distance that 95 % of the rows do not exceed"),
    Figure("error_max", "max", "low", "the largest distance"),
    Figure("lag", "lag ms", "zero", "the shift in time that brings it nearest to the truth"),
    Figure("residual", "residual", "low", "RMS distance that is left after that shift"),
    Figure(
        "largest_jump",
        "jump",
        "low",
        "how far the largest step goes beyond the truth's longest within half a second",
    ),
    Figure(
        "jumps",
        "jumps",
        "low",
        "steps more than 1.5 times as long as the truth's longest within half a second",
    ),
    Figure(
        "jerk",
        "jerk",
        "low",
        "RMS jerk as a multiple of the truth's, or as it is where the truth has none",
    ),
    Figure("backward", "back", "low", "steps against the truth's direction"),
    Figure("held", "held", "low", "share of rows frozen for lack of data"),
    Figure("extrapolated", "extrap.", "", "share of rows drawn beyond what was known"),
    Figure("none", "none", "low", "share of rows before anything is drawn"),
)


@dataclass(frozen=True)
class Measurement:
    """What is known of one strategy's rows for one entity; ``pool`` makes figures of it."""

    errors: Floats  # of the rows that count
    broken: int  # rows that would count, but are not finite
    lag: Lag
    excess: float
    jumps: int
    backward: int
    fours: int  # runs of four rows, and their squared third differences
    third: float
    truth_third: float
    statuses: NDArray[np.int64]  # how many rows of each status
    usual_speed: float
    tick: float


def measure(rows: NDArray[np.void], reference: Reference) -> Measurement:
    """Measures the rows (n) of a ``Trace`` against the truth at the same ticks."""
    shown, status = rows["position"], rows["status"]
    errors, counted = np.empty(len(rows)), np.empty(len(rows), np.int32)
    count, broken, excess, jumps, fours, third, truth_third = accumulate_errors(
        shown,
        status,
        reference.positions,
        reference.segments,
        reference.step_limit,
        JUMP_FACTOR,
        JUMP_FLOOR * reference.usual_step,
        errors,
        counted,
    )
    lag = find_lag(reference.truth, reference.times, shown, counted)
    backward = reference.truth.path.backward_steps(
        reference.times,
        shown,
        counted,
        0.0 if math.isnan(lag.seconds) else lag.seconds,
        max(1, round(TURN_WINDOW / reference.tick)),
        BACKWARD_FLOOR * reference.usual_speed,
        BACKWARD_FLOOR * reference.usual_step,
    )
    # rows before the truth begins are nobody's fault
    begun = int(np.searchsorted(reference.times, reference.truth.start))
    return Measurement(
        errors[:count],
        broken,
        lag,
        excess if excess > 1e-9 * reference.usual_step else 0.0,  # else it is rounding
        jumps,
        backward,
        fours,
        third,
        truth_third,
        np.bincount(status[begun:], minlength=4),
        reference.usual_speed,
        reference.tick,
    )


def pool(measurements: Sequence[Measurement]) -> Figures | None:
    """The figures of all entities together; None: no rows to compare, or some are not finite.

    Errors are those of all rows alike; the lag is the mean of the entities', by rows, and the
    residual what each one's own shift leaves.
    """
    errors = np.concatenate([one.errors for one in measurements]) if measurements else np.empty(0)
    if not len(errors) or any(one.broken for one in measurements):
        return None
    lags = [one.lag for one in measurements if not math.isnan(one.lag.seconds)]
    rows = sum(lag.rows for lag in lags)
    seconds = sum(lag.seconds * lag.rows for lag in lags) / rows if rows else math.nan
    left = sum(lag.residual**2 * lag.rows for lag in lags)
    fours = sum(one.fours for one in measurements)
    statuses = np.sum([one.statuses for one in measurements], axis=0)
    shares = statuses / max(int(statuses.sum()), 1)
    tick = measurements[0].tick
    weights = [len(one.errors) for one in measurements]
    speed = np.average([one.usual_speed**2 for one in measurements], weights=weights)

    def jerk(squares: float) -> float:
        return math.sqrt(squares / fours) / tick**3 if fours else math.nan

    return Figures(
        len(errors),
        root_mean_square(errors),
        quantile95(errors),
        float(errors.max()),
        seconds,
        math.sqrt(left / rows) if rows else math.nan,
        max(one.excess for one in measurements),
        sum(one.jumps for one in measurements),
        jerk(sum(one.third for one in measurements)),
        jerk(sum(one.truth_third for one in measurements)),
        sum(one.backward for one in measurements),
        float(shares[Status.HELD]),
        float(shares[Status.EXTRAPOLATED]),
        float(shares[Status.NONE]),
        math.sqrt(float(speed)),
        tick,
    )
