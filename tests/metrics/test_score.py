from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from epic_cli.metrics.lag import LONGEST, Lag
from epic_cli.metrics.measurement import Measurement
from epic_cli.metrics.metric import Weighing, Weights, make_weights
from epic_cli.metrics.recovery import Recovery
from epic_cli.metrics.score import COSTS, compute_costs, compute_score, write_formula

TICK = 0.05
#: A jerk of 5000 where the truth has 3000, at a speed of 10: residual 0.5, 0.2 s early.
MEASURED = Measurement(
    errors=np.array([3.0]),
    broken=0,
    lag=Lag(-0.2, 0.5, 100, charged=0.2),
    excess=0.0,
    jumps=0,
    backward=0,
    overshoot=0.0,
    overshoots=0.0,
    fours=1,
    third=(5000 * TICK**3) ** 2,
    truth_third=(3000 * TICK**3) ** 2,
    statuses=np.array([0, 0, 100, 0]),
    recovery=Recovery(),
    beyond=0.0,
    extent=100.0,
    bound=50.0,
    speed=10.0,
    resolution=0.0,
    tick=TICK,
    weights=Weights(),
    totals={"late_along": 3.0, "late_across": 1.0},
)


def weighed(*weights: float, **changed: object) -> float:
    return compute_score(replace(MEASURED, weights=Weights(*weights), **changed))  # type: ignore[arg-type, no-any-return]


def test_costs_are_those_of_the_formula() -> None:
    found = compute_costs(MEASURED)
    assert found.accuracy == pytest.approx(0.5 / (10 * 0.1))
    assert found.smoothness == pytest.approx(4000 * 0.05**2 / 10)
    assert found.latency == pytest.approx(2.0)


def test_the_score_is_that_of_the_formula() -> None:
    assert weighed() == pytest.approx(100 / (1 + (0.5 + 1 + 2) / 3))
    assert weighed(2, 1, 0) == pytest.approx(100 / (1 + (2 * 0.5 + 1) / 3))
    assert set(COSTS) == set(Weights._fields)
    for name, cost in COSTS.items():
        assert (f"{name}: {cost}" in write_formula(Weights())) == (getattr(Weights(), name) > 0)


def test_recovering_costs_its_share_of_the_time_where_there_is_something_to_recover_from() -> None:
    rows = replace(MEASURED, errors=np.zeros(180))  # 9 s
    slow = replace(rows, recovery=Recovery(teleports=1, teleport_seconds=0.6, outage_seconds=0.4))
    assert compute_costs(slow).recovery == pytest.approx(0.1 / 0.1)
    assert compute_score(slow) == pytest.approx(100 / (1 + (0.5 + 1 + 2) / 3 + 1 / 3))
    quick = replace(rows, recovery=Recovery(outages=2))
    assert compute_score(quick) == compute_score(rows)
    assert math.isnan(compute_costs(rows).recovery)


def test_what_runs_ahead_and_back_costs_where_it_is_weighed() -> None:
    rows = replace(MEASURED, errors=np.zeros(50), overshoots=50 * 0.5**2, backward=10)
    found = compute_costs(rows)
    assert found.overshoot == pytest.approx(0.5 / (10 * 0.1))
    assert found.backward == pytest.approx(0.2 / 0.1)
    weights = Weights(0, 0, 0, 0, overshoot=1, backward=1)
    assert compute_score(replace(rows, weights=weights)) == pytest.approx(100 / (1 + 2.5 / 2))


@pytest.mark.parametrize(
    "unknown", [{"lag": Lag(math.nan, math.nan, 0)}, {"speed": 0.0}, {"fours": 0}]
)
def test_what_is_unknown_makes_no_score(unknown: dict[str, object]) -> None:
    assert math.isnan(weighed(**unknown))


def test_a_lag_that_cannot_be_told_costs_as_much_as_the_longest() -> None:
    unknown = Lag(math.nan, 0.5, 100, charged=LONGEST)
    assert weighed(lag=unknown) == pytest.approx(100 / (1 + (0.5 + 1 + 50) / 3))
    assert weighed(lag=unknown) < weighed(lag=Lag(4.9, 0.5, 100, charged=4.9))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"speed": 1.0},
            "no weight 'speed': the weights are accuracy, smoothness, latency, recovery, "
            "overshoot, backward, across",
        ),
        ({"latency": -1.0}, "latency=-1 is not allowed"),
        ({"latency": math.nan}, "latency=nan is not allowed"),
        (dict.fromkeys(Weights._fields, 0.0), "no weight is above 0"),
    ],
)
def test_weights_are_checked(given: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_weights(given)


def test_an_aim_is_at_any_range_within_its_limits() -> None:
    for within in ("1e-6", "1e9"):
        assert Weighing.parse(f"aim_range={within}").aim_range == float(within)
    for beyond in ("0.9e-6", "1.1e9", "nan"):
        with pytest.raises(ValueError, match="write 1e-06 to 1e\\+09"):
            Weighing.parse(f"aim_range={beyond}")


def test_weights_that_are_not_given_are_one() -> None:
    assert make_weights({"latency": 3}) == Weights(1, 1, 3, 1, 0, 0, 0)
