from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from epic_cli.analysis.lag import Lag
from epic_cli.analysis.measurement import Measurement
from epic_cli.analysis.score import costs, score
from epic_cli.analysis.weights import Weights, make_weights

TICK = 0.05
#: A jerk of 5000 where the truth has 3000, at a speed of 10: residual 0.5, 0.2 s early.
MEASURED = Measurement(
    errors=np.array([3.0]),
    broken=0,
    lag=Lag(-0.2, 0.5, 100),
    excess=0.0,
    jumps=0,
    backward=0,
    fours=1,
    third=(5000 * TICK**3) ** 2,
    truth_third=(3000 * TICK**3) ** 2,
    statuses=np.array([0, 0, 100, 0]),
    speed=10.0,
    tick=TICK,
    weights=Weights(),
)


def weighed(*weights: float, **changed: object) -> float:
    return score(replace(MEASURED, weights=Weights(*weights), **changed))  # type: ignore[arg-type]


def test_costs_are_those_of_the_formula() -> None:
    found = costs(MEASURED)
    assert found.accuracy == pytest.approx(0.5 / (10 * 0.1))
    assert found.smoothness == pytest.approx(4000 * 0.05**2 / 10)
    assert found.latency == pytest.approx(2.0)


def test_the_score_is_that_of_the_formula() -> None:
    assert weighed() == pytest.approx(100 / (1 + (0.5 + 1 + 2) / 3))
    assert weighed(2, 1, 0) == pytest.approx(100 / (1 + (2 * 0.5 + 1) / 3))


def test_only_ratios_of_weights_matter() -> None:
    assert weighed(1, 2, 3) == pytest.approx(weighed(10, 20, 30))


def test_drawing_smoother_than_the_truth_costs_nothing() -> None:
    assert costs(replace(MEASURED, third=1e-6)).smoothness == 0


@pytest.mark.parametrize(
    "unknown", [{"lag": Lag(math.nan, math.nan, 0)}, {"speed": 0.0}, {"fours": 0}]
)
def test_what_is_unknown_makes_no_score(unknown: dict[str, object]) -> None:
    assert math.isnan(weighed(**unknown))


def test_what_does_not_count_may_be_unknown() -> None:
    lagless = weighed(1, 1, 0, lag=Lag(math.nan, 0.5, 100))
    assert lagless == pytest.approx(100 / (1 + 0.75))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"speed": 1.0}, "no weight 'speed': the weights are accuracy, smoothness, latency"),
        ({"latency": -1.0}, "latency=-1 is not allowed"),
        ({"latency": math.nan}, "latency=nan is not allowed"),
        ({"accuracy": 0.0, "smoothness": 0.0, "latency": 0.0}, "must be more than 0"),
    ],
)
def test_weights_are_checked(given: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_weights(given)


def test_weights_that_are_not_given_are_one() -> None:
    assert make_weights({"latency": 3}) == Weights(1, 1, 3)
