"""Lag: how much later than in truth a movement is drawn."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epic_cli.metrics.arrays import choose_places
from epic_cli.metrics.truth import SHIFTS, Truth, Window, shift_window

if TYPE_CHECKING:
    from epic_cli.metrics.arrays import Floats, Integers
    from epic_cli.metrics.turns import TurnTruth

    #: What has a lag: a movement, or how it is turned.
    Known = Truth | TurnTruth

#: The longest shift; a lag that is unknown costs as much.
LONGEST = float(SHIFTS[-1])

#: A minimum is plausible if the distance that it leaves is at most this many times the least.
PLAUSIBLE = 1.25

#: Minima that are nearer to each other than this (s) are one, and noise.
APART = 0.1

#: A minimum that lies less deep than this share of itself below its surroundings is a ripple.
RIPPLE = 0.05

#: This many rows are enough to look for the best shift, which all rows, or this many, then move ...
_FEW, _SOME, _MOST = 500, 2000, 20_000

#: ... so often, at most, until it moves by less than this (s), as shifts so far apart (s) tell.
_MOVES, _STILL, _AROUND = 3, 1e-3, 0.005


class Lag(NamedTuple):
    """The shift s for which shown(t) is nearest to truth(t - s), in seconds.

    ``residual`` is the root mean square of the distance that is left, over ``rows`` rows. Where no
    shift can be told to be better than the others, ``seconds`` is NaN and the residual that
    without a shift. ``others`` (s) are shifts that are as plausible, further from 0: the movement
    repeats itself. ``charged`` (s) is what the lag counts as: |seconds|, or ``LONGEST`` where it
    is unknown; NaN where the truth rests, which has no lag.
    """

    seconds: float
    residual: float
    rows: int
    others: tuple[float, ...] = ()
    charged: float = math.nan

    @property
    def unknown(self) -> bool:
        """Whether it moves, and no shift is better than the others."""
        return math.isnan(self.seconds) and not math.isnan(self.charged)


def find_lag(
    truth: Known,
    times: Floats,
    shown: Floats,
    segments: Integers,
    window: Window | None = None,
    resolution: float = 0.0,
) -> Lag:
    """The lag of ``shown`` (n, 3 or 4) at ``times`` (n) behind the truth, from -0.5 to 5 s.

    Only rows with a segment count (``segments`` (n), -1: none). All shifts are compared over the
    same rows, those of the ``window``. Of the local minima that leave nearly as little as the
    least one, and that the beginning of the movement does not rule out, the one nearest to 0 is
    the lag. The residual is that of all rows that it leaves in their segment. Differences of less
    than ``resolution`` (length) say nothing.
    """
    if window is None:
        window = shift_window(truth, times, segments)
    shifts, rows = SHIFTS[window.shifts], window.rows
    if not len(rows):
        return Lag(math.nan, math.nan, 0)

    def sampled(most: int) -> Callable[[Floats], Floats]:
        """The mean squares by shifts, of about this many rows."""
        chosen = rows[choose_places(len(rows), most)]
        some = times[chosen], shown[chosen], segments[chosen]

        def mean_squares(shifts: Floats) -> Floats:
            totals, counts = truth.squares(*some, shifts)
            return np.asarray(totals / np.maximum(counts, 1))

        return mean_squares

    few = sampled(_FEW)
    squares = few(shifts)
    small = max(resolution**2, 1e-9 * float(squares.max()))
    found = _minima(squares, small)
    if not found:
        some = times[rows[choose_places(len(rows), _FEW)]]
        charged = LONGEST if truth.moves(some, resolution) else math.nan
        return _residual(truth, times, shown, segments, 0.0)._replace(charged=charged)
    finer = sampled(_SOME)
    refined = []
    for index in found:
        width = float(max(shifts[index + 1] - shifts[index], shifts[index] - shifts[index - 1]))
        refined.append(_narrow(finer, float(shifts[index]), width, 2 if len(rows) > _SOME else 4))
    left = np.sqrt(finer(np.array(refined)))
    plausible = left <= PLAUSIBLE * left.min() + math.sqrt(small)
    candidates = _apart([(refined[k], float(left[k])) for k in np.flatnonzero(plausible)])
    best, *others = _told_apart(candidates, truth, times, shown, window)
    if len(rows) > _SOME:
        best = _settle(sampled(_MOST), finer, best)
    return _residual(truth, times, shown, segments, best)._replace(
        seconds=best, others=tuple(others), charged=abs(best)
    )


def _apart(shifts: list[tuple[float, float]]) -> list[float]:
    """Of shifts, each with what it leaves, that are next to each other the best; by size."""
    kept: list[tuple[float, float]] = []
    for shift, left in sorted(shifts):
        if not kept or shift - kept[-1][0] >= APART:
            kept.append((shift, left))
        elif left < kept[-1][1]:
            kept[-1] = shift, left
    return sorted((shift for shift, _ in kept), key=abs)


def _told_apart(
    shifts: list[float], truth: Known, times: Floats, shown: Floats, window: Window
) -> list[float]:
    """Those of equally plausible shifts that fit how the movement began.

    A movement that repeats itself has a beginning: what is drawn late rests at the first state for
    as long as it is late.
    """
    rows = window.beginning
    if len(shifts) < 2 or rows.stop - rows.start < 2:
        return shifts
    left = []
    for shift in shifts:
        squares = truth.squared_distance(np.maximum(times[rows] - shift, window.first), shown[rows])
        known = squares[np.isfinite(squares)]
        left.append(float(known.mean()) if len(known) else math.nan)
    bound = PLAUSIBLE**2 * min((value for value in left if not math.isnan(value)), default=math.inf)
    return [shift for shift, one in zip(shifts, left, strict=True) if not one > bound]


def _minima(squares: Floats, small: float) -> list[int]:
    """The places of local minima that lie deep enough below what is around them.

    That is, on the way from one to anything lower, or to the end, one has to climb by a share
    of it (``RIPPLE``), and by more than ``small``.
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


def _residual(truth: Known, times: Floats, shown: Floats, segments: Integers, shift: float) -> Lag:
    """What this shift leaves, over all rows that it leaves in their segment."""
    (total,), (count,) = truth.squares(times, shown, segments, np.array([shift]))
    return Lag(math.nan, math.sqrt(total / count) if count else math.nan, int(count))


def _narrow(squares: Callable[[Floats], Floats], middle: float, width: float, rounds: int) -> float:
    """The minimum near ``middle``: the vertex of a parabola, through ever nearer points.

    The mean square is nearly a parabola of the shift; for a constant velocity it is one.
    """
    for _ in range(rounds):
        left, centre, right = squares(np.array([middle - width, middle, middle + width])).tolist()
        bend = left - 2 * centre + right
        if not (math.isfinite(bend) and bend > 0):
            break
        move = (left - right) / (2 * bend) * width
        middle += min(max(move, -width), width)
        width /= 8
    return middle


def _settle(
    squares: Callable[[Floats], Floats], some: Callable[[Floats], Floats], middle: float
) -> float:
    """The minimum of the ``squares`` of all rows, near that of some rows, which bend alike."""
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
