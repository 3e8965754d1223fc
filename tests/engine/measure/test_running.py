"""Tests of running medians against the median of each window alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.lib.stride_tricks import sliding_window_view

from epic_cli.engine.measure import compute_running_medians

# few different values, so that a window has equal ones
VALUES = st.one_of(st.integers(-3, 3).map(float), st.floats(-1e9, 1e9))


@given(st.lists(VALUES, min_size=1, max_size=60), st.integers(1, 20), st.integers(1, 25))
def test_each_is_the_median_of_its_window(values: list[float], width: int, stride: int) -> None:
    series = np.array(values)
    if len(series) < width:
        return
    expected = np.median(sliding_window_view(series, width)[::stride], axis=1)
    medians = np.empty(len(expected))
    compute_running_medians(series, width, stride, medians)
    assert medians.tolist() == expected.tolist()


@pytest.mark.parametrize(("width", "stride", "count"), [(3, 1, 9), (3, 4, 4), (0, 1, 1), (3, 0, 1)])
def test_windows_that_are_not_there_are_refused(width: int, stride: int, count: int) -> None:
    with pytest.raises(ValueError, match=r"width and stride|too few values"):
        compute_running_medians(np.arange(10.0), width, stride, np.empty(count))


def test_of_no_windows_there_are_no_medians() -> None:
    room = np.full(4, 7.0)
    compute_running_medians(np.empty(0), 3, 1, room[2:2])
    assert room.tolist() == [7.0] * 4
