"""Fewer rows that still show everything: the extremes of each stretch, and every hole."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from epic_cli.analysis.truth import Floats

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
