"""Tests that medians and quantiles equal numpy's, and that chosen indices are spread evenly."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from epic_cli.metrics.arrays import choose_places, compute_median, compute_quantile

values = st.lists(
    (st.floats(-1e300, 1e300) | st.just(math.nan)) | st.integers(-3, 3).map(float),
    min_size=1,
    max_size=60,
)


@given(values, st.sampled_from([0.0, 0.05, 0.5, 0.9, 0.95, 1.0]) | st.floats(0, 1))
def test_medians_and_quantiles_are_those_of_numpy(some: list[float], share: float) -> None:
    array = np.array(some)
    with np.errstate(all="ignore"):
        expected = [float(np.median(array)), float(np.quantile(array, share))]
        found = [compute_median(array), compute_quantile(array, share)]
    np.testing.assert_array_equal(found, expected)


def test_the_median_of_nothing_is_not_a_number() -> None:
    assert np.isnan(compute_median(np.empty(0)))


@pytest.mark.parametrize("count", [10, 2001, 18_000, 100_003])
def test_chosen_places_fall_in_step_with_nothing(count: int) -> None:
    chosen = choose_places(count, 2000)
    assert len(chosen) == min(count, 2000)
    assert (np.diff(chosen) > 0).all()
    assert chosen[0] >= 0
    assert chosen[-1] < count
    assert (chosen == choose_places(count, 2000)).all()
    for period in (2, 3, 4.8, 6, 9, 18) if count > 10_000 else ():
        waves = np.exp(2j * np.pi * chosen / period)
        assert abs(waves.mean()) < 5 / math.sqrt(len(chosen))
