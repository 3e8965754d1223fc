"""Medians and quantiles are those of numpy, bit for bit."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from epic_cli.metrics.arrays import median, quantile

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
        found = [median(array), quantile(array, share)]
    np.testing.assert_array_equal(found, expected)


def test_the_median_of_nothing_is_not_a_number() -> None:
    assert np.isnan(median(np.empty(0)))
