"""Lag: how much later than in truth a movement is drawn."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from epic_cli.analysis.truth import Floats, Integers, Truth

#: Shifts that are tried first, in seconds: densely around 0, where lag usually is.
_COARSE = np.concatenate(
    (np.arange(-20, 40) * 0.025, np.arange(10, 20) * 0.1, np.arange(8, 21) * 0.25)
)

#: So many rows are enough to look for the best shift; the residual is that of all rows.
_FEW, _SOME = 500, 4000


class Lag(NamedTuple):
    """The shift s for which shown(t) is nearest to truth(t - s), in seconds.

    ``residual`` is the root mean square of the distance that is left, over ``rows`` rows.
    Both are NaN where no shift is better than others: the truth rests, or nearly all shifts
    leave the data.
    """

    seconds: float
    residual: float
    rows: int


def find_lag(truth: Truth, times: Floats, shown: Floats, segments: Integers) -> Lag:
    """The lag of ``shown`` (n, 3) at ``times`` (n) behind the truth, from -0.5 to 5 s.

    Only rows with a segment count (``segments`` (n), -1: none), and a shift only as long as it
    leaves at least half of them in their segment. Of shifts that are equally good (a movement
    that repeats itself) the smallest counts.
    """
    rows = np.flatnonzero(segments >= 0)
    nothing = Lag(math.nan, math.nan, 0)
    if not len(rows):
        return nothing

    def sampled(most: int) -> Callable[[Floats], Floats]:
        """The mean squares by shifts, of about so many rows."""
        chosen = rows[:: max(1, len(rows) // most)]
        some = times[chosen], shown[chosen], segments[chosen]

        def mean_squares(shifts: Floats) -> Floats:
            totals, counts = _squares(truth, *some, shifts)
            enough = 2 * counts >= len(chosen)
            return np.where(enough, totals / np.maximum(counts, 1), np.inf)

        return mean_squares

    squares = sampled(_FEW)(_COARSE)
    usable = np.isfinite(squares)
    if usable.sum() < 3:
        return nothing
    lowest, highest = squares[usable].min(), squares[usable].max()
    if highest - lowest <= 1e-9 * highest:
        return nothing
    good = np.flatnonzero(usable & (squares <= lowest + 1e-6 * (highest - lowest)))
    best = int(good[np.argmin(np.abs(_COARSE[good]))])
    if best in (0, len(_COARSE) - 1) or not usable[best - 1 : best + 2].all():
        return nothing
    width = float(max(_COARSE[best + 1] - _COARSE[best], _COARSE[best] - _COARSE[best - 1]))
    shift = _narrow(sampled(_SOME), float(_COARSE[best]), width)
    (total,), (count,) = _squares(truth, times, shown, segments, np.array([shift]))
    return Lag(shift, math.sqrt(total / count), int(count)) if count else nothing


def _squares(
    truth: Truth, times: Floats, shown: Floats, segments: Integers, shifts: Floats
) -> tuple[Floats, Integers]:
    totals, counts = np.empty(len(shifts)), np.empty(len(shifts), np.int32)
    truth.path.squared_distances(times, shown, segments, shifts, totals, counts)
    return totals, counts


def _narrow(squares: Callable[[Floats], Floats], middle: float, width: float) -> float:
    """The minimum near ``middle``: the vertex of a parabola, through ever nearer points.

    The mean square is nearly a parabola of the shift; for a constant velocity it is one.
    """
    for _ in range(5):
        left, centre, right = squares(np.array([middle - width, middle, middle + width])).tolist()
        bend = left - 2 * centre + right
        if not (math.isfinite(bend) and bend > 0):
            break
        move = (left - right) / (2 * bend) * width
        middle += min(max(move, -width), width)
        width /= 8
    return middle
