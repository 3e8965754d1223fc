"""The figures of a comparison: what they are, and how they come from one strategy's rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epic_cli.analysis.lag import find_lag
from epic_cli.analysis.metrics import quantile95
from epic_cli.analysis.reference import JUMP_FACTOR, JUMP_FLOOR, root_mean_square
from epic_cli.engine.packets import Status

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from epic_cli.analysis.reference import Reference
    from epic_cli.analysis.truth import Flags, Floats

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
    Figure("jerk", "jerk", "low", "RMS jerk of what is drawn, as a multiple of the truth's"),
    Figure("backward", "back", "low", "steps against the truth's direction"),
    Figure("held", "held", "low", "share of rows frozen for lack of data"),
    Figure("extrapolated", "extrap.", "", "share of rows drawn beyond what was known"),
    Figure("none", "none", "low", "share of rows before anything is drawn"),
)


@dataclass(frozen=True)
class Measurement:
    """What is known of one strategy's rows for one entity; ``pool`` makes figures of it."""

    errors: Floats  # of the rows that count
    lag: float
    residual: float
    residual_rows: int
    excess: float
    jumps: int
    backward: int
    third: Floats  # squared third differences, of what is drawn and of the truth
    truth_third: Floats
    statuses: NDArray[np.int64]  # how many rows of each status
    usual_speed: float
    tick: float
    broken: int  # rows that are not finite


def measure(rows: NDArray[np.void], reference: Reference) -> Measurement:
    """Measures the rows (n) of a ``Trace`` against the truth at the same ticks."""
    shown = np.ascontiguousarray(rows["position"])
    status = rows["status"]
    finite = np.isfinite(shown).all(axis=1)
    drawn = reference.counted & (status != int(Status.NONE))
    segments = np.where(drawn & finite, reference.segments, -1).astype(np.int32)
    counted = segments >= 0
    errors = np.linalg.norm((shown - reference.positions)[counted], axis=1)
    lag = find_lag(reference.truth, reference.times, shown, segments)
    moves = np.diff(shown, axis=0)
    pairs = counted[1:] & (segments[1:] == segments[:-1])
    steps = np.sqrt(np.einsum("ij,ij->i", moves, moves))
    excess = np.where(pairs, steps - reference.step_limit, 0.0)
    floor = JUMP_FLOOR * reference.usual_step
    jumps = pairs & (steps > JUMP_FACTOR * reference.step_limit + floor)
    fours = pairs[2:] & pairs[1:-1] & pairs[:-2]
    began = rows["time"] >= reference.truth.start
    return Measurement(
        errors,
        lag.seconds,
        lag.residual,
        lag.rows,
        float(max(excess.max(initial=0.0), 0.0)),
        int(jumps.sum()),
        _backward(moves, pairs, reference, 0.0 if math.isnan(lag.seconds) else lag.seconds),
        _third(shown, fours),
        _third(reference.positions, fours),
        np.bincount(status[began], minlength=4),
        reference.usual_speed,
        reference.tick,
        int((drawn & ~finite).sum()),
    )


def _third(path: Floats, which: Flags) -> Floats:
    differences = np.diff(path, 3, axis=0)[which]
    return np.asarray(np.einsum("ij,ij->i", differences, differences))


def _backward(moves: Floats, pairs: Flags, reference: Reference, lag: float) -> int:
    """Steps against the truth's direction now and a little before and after.

    Where the truth rests, the direction is the one in which it moved last.
    """
    velocities = reference.truth.at(reference.times[1:], lag).velocities
    speeds = np.sqrt(np.einsum("ij,ij->i", velocities, velocities))
    with np.errstate(invalid="ignore"):
        moving = speeds > BACKWARD_FLOOR * reference.usual_speed
    latest = np.maximum.accumulate(np.where(moving, np.arange(len(moving)), -1))
    pairs = pairs & (latest >= 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        directions = (velocities / speeds[:, None])[latest]
        against = pairs.copy()
        reach = max(1, round(TURN_WINDOW / reference.tick))
        for offset in (-reach, 0, reach):
            places = np.clip(np.arange(len(moves)) + offset, 0, max(len(moves) - 1, 0))
            along = np.einsum("ij,ij->i", moves, directions[places])
            against &= along < -BACKWARD_FLOOR * reference.usual_step
    return int(against.sum())


def pool(measurements: Sequence[Measurement]) -> Figures | None:
    """The figures of all entities together; None: no rows to compare, or some are not finite.

    Errors are those of all rows alike; the lag is the mean of the entities', by rows, and the
    residual what each one's own shift leaves.
    """
    errors = np.concatenate([one.errors for one in measurements]) if measurements else np.empty(0)
    if not len(errors) or any(one.broken for one in measurements):
        return None
    lagging = [one for one in measurements if not math.isnan(one.lag)]
    rows = sum(one.residual_rows for one in lagging)
    lag = sum(one.lag * one.residual_rows for one in lagging) / rows if rows else math.nan
    left = sum(one.residual**2 * one.residual_rows for one in lagging)
    third = np.concatenate([one.third for one in measurements])
    truth_third = np.concatenate([one.truth_third for one in measurements])
    statuses = np.sum([one.statuses for one in measurements], axis=0)
    shares = statuses / max(int(statuses.sum()), 1)
    tick = measurements[0].tick
    weights = [len(one.errors) for one in measurements]
    speed = np.average([one.usual_speed**2 for one in measurements], weights=weights)
    enough = len(third) > 0
    return Figures(
        len(errors),
        root_mean_square(errors),
        quantile95(errors),
        float(errors.max()),
        lag,
        math.sqrt(left / rows) if rows else math.nan,
        max(one.excess for one in measurements),
        sum(one.jumps for one in measurements),
        math.sqrt(float(third.mean())) / tick**3 if enough else math.nan,
        math.sqrt(float(truth_third.mean())) / tick**3 if enough else math.nan,
        sum(one.backward for one in measurements),
        float(shares[Status.HELD]),
        float(shares[Status.EXTRAPOLATED]),
        float(shares[Status.NONE]),
        math.sqrt(float(speed)),
        tick,
    )
