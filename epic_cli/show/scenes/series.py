"""Long series for pictures: fewer rows that still show everything, and lag window by window."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from epic_cli.metrics.arrays import Floats
    from epic_cli.metrics.sampled_truth import SampledTruth

    Rows = NDArray[np.int64]


def kept_rows(series: Sequence[Floats], most: int) -> Rows:
    """The numbers of the rows to keep, about ``most``, of several series (n each) alike.

    All of them where there are no more. Otherwise the rows are cut into stretches of equal length,
    and of each the rows with the least and the largest value of every series are kept, and the
    first and the last row of all. Where a series is broken (NaN) between two kept rows, a row of
    the hole is kept too, so that nobody joins what is not joined; many holes thus add rows.
    """
    count = len(series[0])
    if count <= most:
        return np.arange(count)
    stretches = max(1, most // (2 * len(series)))
    size = -(-count // stretches)
    keep = np.zeros(count, bool)
    keep[[0, -1]] = True
    first = np.arange(0, count, size)
    for values in series:
        padded = np.full(len(first) * size, np.nan)
        padded[:count] = values
        table = padded.reshape(-1, size)
        some = ~np.isnan(table).all(axis=1)
        keep[first[some] + np.nanargmax(table[some], axis=1)] = True
        keep[first[some] + np.nanargmin(table[some], axis=1)] = True
    unknown = [np.flatnonzero(np.isnan(values)) for values in series]
    rows = np.flatnonzero(keep)
    while True:
        for holes in unknown:
            keep[_holes(holes, rows)] = True
        # a row that is kept for one series may stand between two holes of another
        before, rows = len(rows), np.flatnonzero(keep)
        if len(rows) == before:
            return rows


def shared_rows(count: int, most: int, moments: Rows) -> Rows:
    """Of ``count`` rows those that every line keeps: all, or every k-th and some ``moments``.

    Whatever is left out of a line, at these rows all lines are exact.
    """
    every = 1 if count <= most else -(-3 * count // (2 * most))
    return distinct(count, np.arange(0, count, every), np.arange(count)[-1:], moments)


def distinct(count: int, *rows: Rows) -> Rows:
    """These of ``count`` rows, each once, in order: in a fifth of the time of ``np.unique``."""
    wanted = np.zeros(count, bool)
    for some in rows:
        wanted[some] = True
    return np.flatnonzero(wanted)


def edges(positions: Floats) -> Rows:
    """The last row before and the first one after each edge of what is known (n, 3)."""
    flips = np.flatnonzero(np.diff(np.isnan(positions).any(axis=1)))
    return np.concatenate([flips, flips + 1])


def blur(times: Floats, positions: Floats, kept: Rows, shared: Rows) -> Floats | None:
    """How far the rows left out are from the line between those kept, after each shared row.

    Of ``positions`` (n, 3) at ``times`` (n) the largest distance until the next shared row, 0 after
    the last one; None: all rows are ``kept``.
    """
    if len(kept) == len(times):
        return None
    straight = [np.interp(times, times[kept], axis[kept]) for axis in positions.T]
    apart = np.sqrt(np.square(np.stack(straight, axis=1) - positions).sum(axis=1))
    apart[kept] = 0.0
    return np.asarray(np.maximum.reduceat(np.nan_to_num(apart), shared))


def _holes(unknown: Rows, rows: Rows) -> Rows:
    """One of the ``unknown`` rows from between each two known ``rows`` that have any."""
    at = np.searchsorted(unknown, rows[:-1], side="left")
    there = at < len(unknown)
    there[there] = unknown[at[there]] < rows[1:][there]
    return unknown[at[there]]


def runs(values: NDArray[np.integer], most: int, order: Sequence[int]) -> tuple[Rows, Rows]:
    """Where runs of equal values begin (row numbers), and what they are; about ``most`` of them.

    Where there are more, the rows are cut into stretches of equal length, and of each the value
    that stands first in ``order`` is shown: what is rare and matters is not lost.
    """
    count = len(values)
    if not count:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    starts = np.flatnonzero(np.append(True, values[1:] != values[:-1]))
    shown = values[starts]
    if len(starts) > most:
        rank = np.empty(max(order) + 1, np.int64)
        rank[list(order)] = np.arange(len(order))
        first = np.arange(0, count, -(-count // most))
        least = np.minimum.reduceat(rank[values], first)
        new = np.append(True, least[1:] != least[:-1])
        starts, shown = first[new], np.asarray(order)[least[new]]
    return starts, shown.astype(np.int64)


#: A window is at least so many seconds long, and no shorter than this share of the whole.
WINDOW, SHARE = 1.0, 1 / 400

#: Windows overlap: each consists of so many parts, and the next one begins a part later.
_PARTS = 4

#: So many rows of a part are looked at.
_ROWS = 6

#: The shifts that are tried, in seconds.
_SHIFTS = np.arange(-12, 61) * 0.025


class LagSeries(NamedTuple):
    """The lag (n, seconds) in windows around ``times`` (n); NaN where it is unknown."""

    times: Floats
    seconds: Floats


NO_LAGS = LagSeries(np.empty(0), np.empty(0))


@np.errstate(invalid="ignore", divide="ignore")
def lag_over_time(sampled: SampledTruth, shown: Floats, chosen: slice) -> LagSeries:
    """The lag of what is ``shown`` (n, 3) in the ``chosen`` n ticks, window by window.

    In each window it is the shift s that brings shown(t) nearest to truth(t - s), by least
    squares. It is unknown (NaN) where the best of the shifts is the first or the last one, where
    all are about as good, and where fewer than half of the rows count.
    """
    times = sampled.times[chosen]
    if len(times) < _PARTS:
        return NO_LAGS
    whole = float(times[-1] - times[0])
    parts = max(_PARTS, round(_PARTS * whole / max(WINDOW, SHARE * whole)))
    edges = np.linspace(0, len(times), min(parts, len(times)) + 1).astype(int)
    index = np.concatenate(
        [np.unique(np.linspace(a, b - 1, _ROWS).astype(int)) for a, b in pairwise(edges.tolist())]
    )
    begins = np.searchsorted(index, edges[:-1])

    def windowed(values: Floats) -> Floats:
        sums = np.cumsum(np.append(0, np.add.reduceat(values, begins)))
        return np.asarray(sums[_PARTS:] - sums[:-_PARTS])

    counted = sampled.counted[chosen][index] & np.isfinite(shown[index]).all(axis=1)
    rows = windowed(counted)
    squares = np.full((len(_SHIFTS), len(rows)), np.nan)
    for number, shift in enumerate(_SHIFTS):
        apart = np.square(shown[index] - sampled.truth.at(times[index], shift).positions)
        known = counted & np.isfinite(apart).all(axis=1)
        total, count = windowed(np.where(known, apart.sum(axis=1), 0.0)), windowed(known)
        squares[number] = np.where(2 * count >= rows, total / count, np.nan)
    enough = 2 * rows >= windowed(np.ones(len(index)))
    middles = (times[edges[:-_PARTS]] + times[edges[_PARTS:] - 1]) / 2
    return LagSeries(middles, np.where(enough, _minimum(squares), np.nan))


def _minimum(squares: Floats) -> Floats:
    """Where the mean squares (shifts, windows) are least: the vertex of a parabola there."""
    filled = np.where(np.isnan(squares), np.inf, squares)
    best = filled.argmin(axis=0)
    column = np.arange(squares.shape[1])
    inside = np.clip(best, 1, len(_SHIFTS) - 2)
    left, middle, right = (squares[inside + k, column] for k in (-1, 0, 1))
    step = _SHIFTS[1] - _SHIFTS[0]
    move = np.clip((left - right) / (2 * (left - 2 * middle + right)), -0.5, 0.5) * step
    highest = np.max(np.where(np.isnan(squares), 0.0, squares), axis=0)
    clear = (best == inside) & (filled.min(axis=0) < 0.5 * highest)
    return np.where(clear, _SHIFTS[inside] + move, np.nan)
