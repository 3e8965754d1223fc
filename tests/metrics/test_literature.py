from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support import literature
from support.conformance import load

#: Computed by an independent implementation of the documented formulas.
CASES = load("metrics")
VALUES: dict[str, Any] = CASES["values"]
SERIES = VALUES["small_series"]
TICK = SERIES["dt"]


def test_errors_of_the_small_series() -> None:
    distances = literature.errors(SERIES["shown"], SERIES["truth"])
    np.testing.assert_allclose(distances, np.abs(SERIES["error"]))
    assert literature.mean_error(distances) == pytest.approx(SERIES["mean_abs_error"])
    assert literature.rms(distances) == pytest.approx(SERIES["rmse"])
    assert distances.max() == pytest.approx(SERIES["max_abs_error"])
    assert literature.quantile95(distances) == pytest.approx(SERIES["p95_abs_error_linear_interp"])


@pytest.mark.parametrize("case", SERIES["time_space_inconsistency"])
def test_time_space_inconsistency(case: dict[str, float]) -> None:
    distances = np.abs(SERIES["error"])
    found = literature.time_space_inconsistency(distances, TICK, case["epsilon"])
    assert found == pytest.approx(case["value"])


def test_smoothness_of_the_small_series() -> None:
    shown = SERIES["shown"]
    np.testing.assert_allclose(literature.steps(shown), SERIES["steps"])
    assert literature.steps(shown).max() == pytest.approx(SERIES["max_step"])
    assert literature.frozen_ticks(shown, SERIES["truth"]) == SERIES["freeze_ticks"]
    assert literature.reversals(shown) == SERIES["reversals"]
    assert literature.rms_jerk(shown, TICK) == pytest.approx(SERIES["rms_jerk"])
    jump = literature.largest_velocity_jump(shown, TICK)
    assert jump == pytest.approx(SERIES["velocity_jump_max"])


def test_reversals_are_counted() -> None:
    assert literature.reversals([0, 1, 0.5, 1.5, 1.0]) == 3


@pytest.mark.parametrize("case", VALUES["classification"])
def test_tick_classes(case: dict[str, Any]) -> None:
    assert literature.classify_ticks(case["values"], case["expected_step"]) == case["classes"]


def test_tick_classes_of_a_movement_the_other_way() -> None:
    assert literature.classify_ticks([0, -1, 0, 0], -1.0) == ["Smooth", "Negative", "NoChange"]


def minimum_jerk(count: int) -> tuple[np.ndarray, float]:
    u = np.linspace(0, 1, count)
    return 10 * u**3 - 15 * u**4 + 6 * u**5, 1 / (count - 1)


@pytest.mark.parametrize("count", [1001, 21])
def test_log_dimensionless_jerk_of_the_minimum_jerk_movement(count: int) -> None:
    found = literature.log_dimensionless_jerk(*minimum_jerk(count))
    assert found == pytest.approx(VALUES["min_jerk"][f"numeric_ldlj_{count}"], abs=1e-9)


def test_log_dimensionless_jerk_comes_near_the_analytic_value() -> None:
    found = literature.log_dimensionless_jerk(*minimum_jerk(20001))
    assert found == pytest.approx(VALUES["min_jerk"]["analytic_ldlj"], abs=1e-3)


def test_spectral_arc_length_of_the_minimum_jerk_movement() -> None:
    u = np.arange(0, 1, 0.001)
    found = literature.spectral_arc_length(30 * u**2 - 60 * u**3 + 30 * u**4, 1000)
    assert found == pytest.approx(VALUES["min_jerk"]["sparc_fs1000_from_analytic_speed"])


def test_spectral_arc_length_of_a_gaussian() -> None:
    t = np.arange(-1, 1, 0.01)
    found = literature.spectral_arc_length(np.exp(-5 * t**2), 100)
    # where the published value cuts off the Gaussian is not known
    assert found == pytest.approx(VALUES["sparc_gaussian"]["value"], abs=0.005)


def test_two_humps_are_less_smooth_than_one() -> None:
    t = np.arange(-2, 2, 0.01)
    one = np.exp(-5 * t**2)
    two = np.exp(-20 * (t - 0.7) ** 2) + np.exp(-20 * (t + 0.7) ** 2)
    assert literature.spectral_arc_length(two, 100) < literature.spectral_arc_length(one, 100) - 0.5
