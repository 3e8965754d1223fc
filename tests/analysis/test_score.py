from __future__ import annotations

import math

import pytest

from epic_cli.analysis.figures import Figures
from epic_cli.analysis.score import Weights, costs, make_weights, score

FIGURES = Figures(
    rows=100,
    error=3.0,
    error95=4.0,
    error_max=5.0,
    lag=-0.2,
    residual=0.5,
    largest_jump=0.0,
    jumps=0,
    jerk=5000.0,
    truth_jerk=3000.0,
    backward=0,
    held=0.0,
    extrapolated=0.0,
    none=0.0,
    speed=10.0,
    tick=0.05,
)


def test_costs_are_those_of_the_formula() -> None:
    found = costs(FIGURES)
    assert found.accuracy == pytest.approx(0.5 / (10 * 0.1))
    assert found.smoothness == pytest.approx(4000 * 0.05**2 / 10)
    assert found.latency == pytest.approx(2.0)


def test_the_score_is_that_of_the_formula() -> None:
    assert score(FIGURES, Weights()) == pytest.approx(100 / (1 + (0.5 + 1 + 2) / 3))
    assert score(FIGURES, Weights(2, 1, 0)) == pytest.approx(100 / (1 + (2 * 0.5 + 1) / 3))


def test_only_ratios_of_weights_matter() -> None:
    assert score(FIGURES, Weights(1, 2, 3)) == pytest.approx(score(FIGURES, Weights(10, 20, 30)))


def test_drawing_smoother_than_the_truth_costs_nothing() -> None:
    assert costs(FIGURES._replace(jerk=10.0)).smoothness == 0


@pytest.mark.parametrize("unknown", [{"lag": math.nan}, {"speed": 0.0}, {"jerk": math.nan}])
def test_what_is_unknown_makes_no_score(unknown: dict[str, float]) -> None:
    figures = FIGURES._replace(**unknown)  # type: ignore[arg-type]
    assert math.isnan(score(figures, Weights()))


def test_what_does_not_count_may_be_unknown() -> None:
    lagless = FIGURES._replace(lag=math.nan)
    assert score(lagless, Weights(latency=0)) == pytest.approx(100 / (1 + 0.75))


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
