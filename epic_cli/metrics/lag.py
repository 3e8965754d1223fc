"""The lag: the time by which movements are drawn later than in truth."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epic_cli.metrics.arrays import choose_places
from epic_cli.metrics.truth import SHIFTS, Truth, Window, find_shift_window

if TYPE_CHECKING:
    from epic_cli.metrics.arrays import Floats, Integers
    from epic_cli.metrics.turns import TurnTruth

    #: A truth that a drawn path can lag behind: a movement, or rotations.
    Known = Truth | TurnTruth

#: The longest shift (s), which is also what an unknown lag costs.
LONGEST = float(SHIFTS[-1])

#: A minimum is plausible if its distance is at most this many times the least one.
PLAUSIBLE = 1.25

#: Minima closer than this (s) are one, and noise.
APART = 0.1

#: A minimum is a ripple if it is less deep than this share of itself.
RIPPLE = 0.05

#: Rows for a first search of the best shift, for refining it, and for settling it ...
_FEW, _SOME, _MOST = 500, 2000, 20_000

#: ... in at most this many moves, until one is shorter than this (s), by shifts this far apart (s).
_MOVES, _STILL, _AROUND = 3, 1e-3, 0.005


class Lag(NamedTuple):
    """A lag: the shift s, in seconds, for which ``shown(t)`` is nearest to ``truth(t - s)``.

    ``residual`` is the root mean square of the distance that is left, over ``rows`` rows. Where no
    shift is better than its neighbors, ``seconds`` is NaN and the residual is that without a shift.
    ``others`` (s) are equally plausible shifts, further from 0, of a movement that repeats itself.
    ``charged`` (s) is the lag that the score counts: |seconds|, or ``LONGEST`` where it is unknown;
    NaN for a truth at rest, which has no lag.
    """

    seconds: float
    residual: float
    rows: int
    others: tuple[float, ...] = ()
    charged: float = math.nan

    @property
    def unknown(self) -> bool:
        """True if the truth moves, but no shift fits better than the others."""
        return math.isnan(self.seconds) and not math.isnan(self.charged)

    def replace_residual(self, total: float, rows: int) -> Lag:
        """Return the lag with the residual of ``total`` squared distances over ``rows`` rows."""
        return self._replace(residual=math.sqrt(total / rows) if rows else math.nan, rows=rows)


def find_lag(
    truth: Known,
    times: Floats,
    shown: Floats,
    segments: Integers,
    window: Window | None = None,
    resolution: float = 0.0,
    residual: bool = True,
) -> Lag:
    """Find the lag of ``shown`` (n, 3 or 4) at ``times`` (n) behind the truth, from -0.5 to 5 s.

    Only rows with a segment count (``segments`` (n), -1: none). All shifts are compared over the
    same rows, those of the ``window``. Of the local minima that leave nearly as little as the least
    one, and that the beginning of the movement does not rule out, the one nearest to 0 is the lag.
    The residual is that of all rows that the lag leaves in their segment. Differences of less than
    ``resolution`` (length) are ignored. Without ``residual`` the lag has none, and no rows.
    """
    if window is None:
        window = find_shift_window(truth, times, segments)
    shifts, rows = SHIFTS[window.shifts], window.rows
    if not len(rows):
        return Lag(math.nan, math.nan, 0)

    def sample_squares(most: int) -> Callable[[Floats], Floats]:
        """Return a function of shifts to mean squares, over about ``most`` rows."""
        chosen = rows[choose_places(len(rows), most)]
        some = times[chosen], shown[chosen], segments[chosen]

        def compute_mean_squares(shifts: Floats) -> Floats:
            totals, counts = truth.sum_squares(*some, shifts)
            return np.asarray(totals / np.maximum(counts, 1))

        return compute_mean_squares

    few = sample_squares(_FEW)
    squares = few(shifts)
    small = max(resolution**2, 1e-9 * float(squares.max()))
    found = _find_minima(squares, small)
    if not found:
        some = times[rows[choose_places(len(rows), _FEW)]]
        charged = LONGEST if truth.is_moving(some, resolution) else math.nan
        unknown = Lag(math.nan, math.nan, 0, charged=charged)
        return _add_residual(unknown, truth, times, shown, segments) if residual else unknown
    finer = sample_squares(_SOME)
    refined = []
    for index in found:
        width = float(max(shifts[index + 1] - shifts[index], shifts[index] - shifts[index - 1]))
        refined.append(
            _narrow_minimum(finer, float(shifts[index]), width, 2 if len(rows) > _SOME else 4)
        )
    left = np.sqrt(finer(np.array(refined)))
    plausible = left <= PLAUSIBLE * left.min() + math.sqrt(small)
    candidates = _merge_near_shifts(
        [(refined[k], float(left[k])) for k in np.flatnonzero(plausible)]
    )
    best, *others = _select_shifts_by_beginning(candidates, truth, times, shown, window)
    if len(rows) > _SOME:
        best = _refine_minimum(sample_squares(_MOST), finer, best)
    lag = Lag(best, math.nan, 0, tuple(others), abs(best))
    return _add_residual(lag, truth, times, shown, segments) if residual else lag


def _merge_near_shifts(shifts: list[tuple[float, float]]) -> list[float]:
    """Merge shifts closer than ``APART``, keeping the lower residual; return the shifts by size."""
    kept: list[tuple[float, float]] = []
    for shift, left in sorted(shifts):
        if not kept or shift - kept[-1][0] >= APART:
            kept.append((shift, left))
        elif left < kept[-1][1]:
            kept[-1] = shift, left
    return sorted((shift for shift, _ in kept), key=abs)


def _select_shifts_by_beginning(
    shifts: list[float], truth: Known, times: Floats, shown: Floats, window: Window
) -> list[float]:
    """Return those of equally good shifts that also fit the beginning of the movement.

    A movement that repeats itself has a beginning: what is drawn late rests at the first state for
    as long as it is late.
    """
    rows = window.beginning
    if len(shifts) < 2 or rows.stop - rows.start < 2:
        return shifts
    left = []
    for shift in shifts:
        squares = truth.square_distances(np.maximum(times[rows] - shift, window.first), shown[rows])
        known = squares[np.isfinite(squares)]
        left.append(float(known.mean()) if len(known) else math.nan)
    bound = PLAUSIBLE**2 * min((value for value in left if not math.isnan(value)), default=math.inf)
    return [shift for shift, one in zip(shifts, left, strict=True) if not one > bound]


def _find_minima(squares: Floats, small: float) -> list[int]:
    """Return the indices of the local minima that are deep enough below their surroundings.

    From a minimum to anything lower, or to the end, the squares have to climb by a share of it
    (``RIPPLE``), and by more than ``small``.
    """
    found = []
    for place in range(1, len(squares) - 1):
        here = squares[place]
        if not (squares[place - 1] > here <= squares[place + 1]):
            continue
        climbs = []
        for side in (squares[place - 1 :: -1], squares[place + 1 :]):
            lower = np.flatnonzero(side < here)
            climbs.append(side[: lower[0] if len(lower) else None].max() - here)
        if min(climbs) > RIPPLE * here + small:
            found.append(place)
    return found


def _add_residual(lag: Lag, truth: Known, times: Floats, shown: Floats, segments: Integers) -> Lag:
    """Return the lag with the residual over all rows that the shift leaves in their segment."""
    shift = 0.0 if math.isnan(lag.seconds) else lag.seconds
    (total,), (count,) = truth.sum_squares(times, shown, segments, np.array([shift]))
    return lag.replace_residual(float(total), int(count))


def _narrow_minimum(
    squares: Callable[[Floats], Floats], middle: float, width: float, rounds: int
) -> float:
    """Return the shift of the minimum near ``middle``, by parabolas through ever closer points.

    The mean square is nearly a parabola of the shift; for a constant velocity it is one.
    """
    for _ in range(rounds):
        left, center, right = squares(np.array([middle - width, middle, middle + width])).tolist()
        bend = left - 2 * center + right
        if not (math.isfinite(bend) and bend > 0):
            break
        move = (left - right) / (2 * bend) * width
        middle += min(max(move, -width), width)
        width /= 8
    return middle


def _refine_minimum(
    squares: Callable[[Floats], Floats], some: Callable[[Floats], Floats], middle: float
) -> float:
    """Return the shift of the minimum over all rows, with the curvature of ``some`` rows."""
    for _ in range(_MOVES):
        left, right = squares(middle + _AROUND * np.array([-1.0, 1.0])).tolist()
        bend = float(some(middle + _AROUND * np.array([-1.0, 0.0, 1.0])) @ (1.0, -2.0, 1.0))
        if not (math.isfinite(bend) and bend > 0):
            break
        move = (left - right) / (2 * bend) * _AROUND
        middle += min(max(move, -_AROUND), _AROUND)
        if abs(move) < _STILL:
            break
    return middle
