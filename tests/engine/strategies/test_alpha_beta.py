"""Tests of the alpha-beta filter against runs of filterpy, its rules and its closed forms."""

from typing import Any

import pytest
from support.conformance import load
from support.filter_cases import packet

from epic_cli import strategy

VALUES = load("gh_kalman")
FREE: dict[str, Any] = {"max_gap": 1e6, "snap_distance": 0, "age": "arrival"}


def run(one: Any, period: float, inputs: list[float]) -> list[tuple[float, float, float]]:
    """Return position, velocity and acceleration after each input.

    Filterpy starts at rest at the origin.
    """
    one.update(packet(0.0, 0.0), 0.0)
    found = []
    for index, x in enumerate(inputs, 1):
        one.update(packet(index * period, x), index * period)
        position, velocity, acceleration = one.state
        found.append((position[0], velocity[0], acceleration[0]))
    return found


@pytest.mark.parametrize("case", VALUES["gh"], ids=lambda case: f"{case['g']}-{case['h']}")
def test_g_h_as_filterpy(case: Any) -> None:
    one = strategy("alpha-beta", rule="given", g=case["g"], h=case["h"], **FREE)
    assert case["x0"] == case["dx0"] == 0
    found = run(one, case["dt"], case["input"])
    for state, row in zip(found, case["output"], strict=True):
        assert state[:2] == pytest.approx(row[:2], abs=1e-9)


@pytest.mark.parametrize("case", VALUES["ghk"])
def test_g_h_k_as_filterpy(case: Any) -> None:
    gains = {name: case[name] for name in "ghk"}
    found = run(strategy("alpha-beta", rule="given", **gains, **FREE), case["dt"], case["input"])
    for state, row in zip(found, case["output"], strict=True):
        assert state == pytest.approx(row, abs=1e-9)


def constant_gains(**settings: Any) -> Any:
    one: Any = strategy("alpha-beta", **settings)
    return one.gains


@pytest.mark.parametrize("row", VALUES["parameters"]["critical_damping_order2"])
def test_critical_damping(row: Any) -> None:
    gains = constant_gains(rule="critical-damping", theta=row["theta"])
    assert gains == pytest.approx((row["g"], row["h"], 0), abs=1e-12)


@pytest.mark.parametrize("row", VALUES["parameters"]["benedict_bordner"])
def test_benedict_bordner(row: Any) -> None:
    gains = constant_gains(rule="benedict-bordner", g=row["g"])
    assert gains == pytest.approx((row["g"], row["h"], 0), abs=1e-12)


@pytest.mark.parametrize("row", VALUES["parameters"]["benedict_bordner_critical"])
def test_benedict_bordner_critical(row: Any) -> None:
    gains = constant_gains(rule="benedict-bordner-critical", g=row["g"])
    assert gains == pytest.approx((row["g"], row["h"], 0), abs=1e-12)


@pytest.mark.parametrize("row", VALUES["parameters"]["optimal_noise_smoothing"])
def test_optimal_noise_smoothing(row: Any) -> None:
    gains = constant_gains(rule="optimal-noise-smoothing", g=row["g"])
    assert gains == pytest.approx(row["ghk"], abs=1e-12)


@pytest.mark.parametrize("row", VALUES["tracking_index"]["rows"])
def test_tracking_index(row: Any) -> None:
    one: Any = strategy("alpha-beta", sigma_w=row["tracking_index"] / 0.25, sigma_v=1.0)
    one.update(packet(0.0, 0.0), 0.0)
    one.update(packet(0.5, 1.0), 0.5)
    assert one.gains == pytest.approx((row["alpha"], row["beta"], 0), abs=1e-12)


@pytest.mark.parametrize("row", [r for r in VALUES["parameters"]["least_squares"] if r["n"] > 0])
def test_least_squares(row: Any) -> None:
    one: Any = strategy("alpha-beta", rule="least-squares", memory=1000)
    for index in range(row["n"] + 1):
        one.update(packet(index * 0.1, 0.0), index * 0.1)
    assert one.gains == pytest.approx((row["g"], row["h"], 0), abs=1e-12)


def test_the_memory_ends_the_growth() -> None:
    one: Any = strategy("alpha-beta", rule="least-squares", memory=3)
    for index in range(10):
        one.update(packet(index * 0.1, 0.0), index * 0.1)
    assert one.gains == pytest.approx((5 / 6, 1 / 2, 0))
