from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from epic_cli.show.scene import choose_kept_rows, summarize_runs

Series = list[NDArray[np.float64]]


def random_series(seed: int) -> Series:
    """Return one to three series of equal length, with holes, plateaus and spikes."""
    random = np.random.default_rng(seed)
    count, made = int(random.integers(1, 400)), []
    for _ in range(random.integers(1, 4)):
        values = np.cumsum(random.normal(size=count)) * random.choice([0.0, 1.0, 1e6])
        values[random.random(count) < random.choice([0, 0.02, 0.5])] = np.nan
        values[random.integers(count)] = 1e9
        made.append(values)
    return made


SERIES = st.integers(0, 2**32).map(random_series)


@settings(deadline=None)
@given(SERIES, st.integers(1, 60))
def test_extremes_and_holes_are_kept(series: Series, most: int) -> None:
    rows = choose_kept_rows(series, most)
    assert (np.diff(rows) > 0).all()
    assert rows[0] == 0
    assert rows[-1] == len(series[0]) - 1
    for values in series:
        if not np.isnan(values).all():
            assert np.nanmax(values[rows]) == np.nanmax(values)
            assert np.nanmin(values[rows]) == np.nanmin(values)
        # whoever joins two rows that follow each other joins what was joined
        for first, last in pairwise(rows):
            if not np.isnan(values[[first, last]]).any():
                assert not np.isnan(values[first:last]).any()


@settings(deadline=None)
@given(SERIES, st.integers(10, 60))
def test_the_extremes_of_every_stretch_are_kept(series: Series, most: int) -> None:
    rows, count = choose_kept_rows(series, most), len(series[0])
    if count <= most:
        assert len(rows) == count
        return
    size = -(-count // max(1, most // (2 * len(series))))
    for values in series:
        for first in range(0, count, size):
            stretch = values[first : first + size]
            kept = values[rows[(rows >= first) & (rows < first + size)]]
            if not np.isnan(stretch).all():
                assert np.nanmax(kept) == np.nanmax(stretch)
                assert np.nanmin(kept) == np.nanmin(stretch)


@given(st.lists(st.integers(0, 3), min_size=1, max_size=300), st.integers(5, 400))
def test_runs_are_exact_where_they_fit(values: list[int], most: int) -> None:
    statuses = np.array(values)
    starts, shown = summarize_runs(statuses, most, (0, 1, 3, 2))
    assert starts[0] == 0
    assert (np.diff(shown) != 0).all()
    if 1 + (np.diff(statuses) != 0).sum() <= most:
        assert np.repeat(shown, np.diff(np.append(starts, len(values)))).tolist() == values
    else:
        assert len(starts) <= most


def test_what_is_rare_is_seen_among_too_many_runs() -> None:
    statuses = np.tile([2, 3], 5000)
    statuses[7001] = 1
    starts, shown = summarize_runs(statuses, 100, (0, 1, 3, 2))
    assert shown.tolist() == [3, 1, 3]
    assert starts[1] <= 7001 < starts[2]


@pytest.mark.parametrize("most", [1, 1000])
def test_nothing_is_thinned_to_nothing(most: int) -> None:
    assert summarize_runs(np.empty(0, int), most, (0, 1, 3, 2))[0].tolist() == []
