"""Tests of the moving averages by samples and by time."""

import math

import pytest

from epic_cli.engine.strategies.parts import MovingAverage, WeightedTimedAverage


def test_the_first_sample_of_a_moving_average_counts_whole() -> None:
    average = MovingAverage(0.25)
    assert math.isnan(average.value)
    assert average.add(8.0) == 8.0
    assert average.add(4.0) == 7.0
    average.clear()
    assert average.add(1.0) == 1.0


def test_a_sample_of_the_timed_average_counts_for_its_time() -> None:
    average = WeightedTimedAverage(duration=1.0)
    assert average.add(0.2, 0.1) == pytest.approx(0.02)
    assert average.add(0.2, 0.2) == pytest.approx(0.038)
    assert average.add(5.0, 9.0) == 5.0  # longer than the duration: counts whole


@pytest.mark.parametrize("weight", [0.0, -0.1, 1.5, math.nan])
def test_a_weight_must_be_a_share(weight: float) -> None:
    with pytest.raises(ValueError, match="weight"):
        MovingAverage(weight)
