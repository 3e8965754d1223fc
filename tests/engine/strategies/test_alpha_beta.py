"""The alpha-beta filter, against runs of filterpy, its rules and its closed forms."""

from typing import Any

import pytest
from support.conformance import load
from support.filter_cases import packet

from epic_cli import Packet, strategy

VALUES = load("gh_kalman")
FREE: dict[str, Any] = {"max_gap": 1e6, "snap_distance": 0, "age": "arrival"}


def run(one: Any, period: float, inputs: list[float]) -> list[tuple[float, float, float]]:
    """Position, velocity and acceleration after each input; filterpy's start is 0 at rest."""
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


def test_the_examples_of_filterpys_documentation() -> None:
    one: Any = strategy("alpha-beta", rule="given", g=0.8, h=0.2)
    one.update(packet(0.0, 0.0), 0.0)
    one.update(packet(1.0, 1.0), 1.0)
    assert [axis[0] for axis in one.state[:2]] == pytest.approx([0.8, 0.2])
    both: Any = strategy("alpha-beta", rule="given", g=0.8, h=0.02)
    both.update(Packet((0.0, 1.0, 0.0), (0.0, 0.0, 0.0), 0.0), 0.0)
    both.update(Packet((2.0, 4.0, 0.0), (0.0, 0.0, 0.0), 1.0), 1.0)
    assert both.state[0] == pytest.approx((1.6, 3.4, 0))
    assert both.state[1] == pytest.approx((0.04, 0.06, 0))


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


def test_draws_the_present_of_a_constant_velocity() -> None:
    one = strategy("alpha-beta")
    for index in range(20):
        one.update(packet(index * 0.1, index * 1.0, 10.0), index * 0.1 + 0.08)
    sample = one.read(2.05)
    assert sample.position[0] == pytest.approx(20.5)
    assert sample.velocity[0] == pytest.approx(10)
    assert sample.status == "extrapolated"
    last, held = one.read(9.0), one.read(9.05)
    assert (last.velocity[0], last.status) == (0, "extrapolated")
    assert (held.velocity[0], held.status) == (0, "held")
    assert last.position == held.position == pytest.approx((29, 0, 0))


@pytest.mark.parametrize("settings", [{"snap_distance": 50.0}, {"max_gap": 0.5}])
def test_starts_anew_after_a_jump_or_a_gap(settings: dict[str, float]) -> None:
    one = strategy("alpha-beta", **{"snap_distance": 0.0, "max_gap": 1e6, **settings})
    for index in range(5):
        one.update(packet(index * 0.1, 0.0), index * 0.1)
    one.update(packet(1.4, 60.0, 3.0), 1.4)
    assert one.read(1.5).position[0] == pytest.approx(60.3)
