"""The lag over time of movements drawn late by a known time."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from support import movements

from epic_cli.metrics.truth import SampledTruth, make_truth, sample_truth
from epic_cli.show.scene import measure_lag_over_time


def sampled(movement: movements.Movement) -> SampledTruth:
    packets = movements.block(movements.packets(movement, duration=20.0))
    return sample_truth(make_truth(packets), np.arange(1200) / 60, 1 / 60)


def shown(movement: movements.Movement, late: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.array([movement(t) for t in np.arange(1200) / 60 - late])


@pytest.mark.parametrize("movement", [movements.circle, movements.straight])
@pytest.mark.parametrize("late", [-0.05, 0.0, 0.1234, 0.5])
def test_a_constant_lag_is_found_in_every_window(movement: movements.Movement, late: float) -> None:
    found = measure_lag_over_time(
        sampled(movement), shown(movement, np.full(1200, late)), slice(None)
    )
    known = found.seconds[np.isfinite(found.seconds)]
    assert len(known) > 60
    np.testing.assert_allclose(known, late, atol=1e-3)


def test_a_lag_that_changes_is_followed() -> None:
    late = np.where(np.arange(1200) < 600, 0.1, 0.3)
    found = measure_lag_over_time(
        sampled(movements.circle), shown(movements.circle, late), slice(None)
    )
    before = found.seconds[(found.times > 2.5) & (found.times < 9)]
    after = found.seconds[(found.times > 11) & (found.times < 18)]
    np.testing.assert_allclose(before, 0.1, atol=1e-3)
    np.testing.assert_allclose(after, 0.3, atol=1e-3)


def test_at_rest_no_lag_is_told() -> None:
    def rest(t: float) -> tuple[float, float, float]:
        return (1.0, 2.0, 3.0 + 0.0 * t)

    found = measure_lag_over_time(sampled(rest), shown(rest, np.zeros(1200)), slice(None))
    assert np.isnan(found.seconds).all()


def test_beyond_the_shifts_that_are_tried_no_lag_is_told() -> None:
    found = measure_lag_over_time(
        sampled(movements.straight), shown(movements.straight, np.full(1200, 2.5)), slice(None)
    )
    assert all(math.isnan(second) for second in found.seconds)


def test_of_too_few_rows_there_is_nothing() -> None:
    found = measure_lag_over_time(sampled(movements.circle), np.zeros((3, 3)), slice(0, 3))
    assert len(found.times) == 0
