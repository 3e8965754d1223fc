"""Tests of the constant-velocity Kalman filter against runs of filterpy and its steady state."""

from typing import Any

import pytest
from support.conformance import load
from support.filter_cases import packet

from epic_cli import strategy

VALUES = load("gh_kalman")
FREE: dict[str, Any] = {"max_gap": 1e6, "snap_distance": 0, "age": "arrival"}


def test_positions_alone_as_filterpy() -> None:
    for case in VALUES["kalman_cv"]:
        one: Any = strategy(
            "kalman",
            measures="position",
            r_position=case["R"],
            q_variance=case["Q_var"],
            p_start=case["P0"],
            **FREE,
        )
        one.update(packet(0.0, 0.0), 0.0)
        for index, (x, row) in enumerate(zip(case["input"], case["output"], strict=True), 1):
            before = one.covariance
            one.update(packet(index * case["dt"], x), 0.0)
            position, velocity = one.state
            assert [position[0], velocity[0], *one.covariance] == pytest.approx(row[:5], rel=1e-9)
            assert before != one.covariance


def test_positions_and_velocities_as_filterpy() -> None:
    for case in VALUES["kalman_cv_position_velocity"]:
        one: Any = strategy(
            "kalman",
            r_position=case["R"][0],
            r_velocity=case["R"][1],
            q_variance=case["Q_var"],
            p_start=case["P0"],
            **FREE,
        )
        one.update(packet(0.0, 0.0), 0.0)
        for index, ((x, v), row) in enumerate(zip(case["input"], case["output"], strict=True), 1):
            one.update(packet(index * case["dt"], x, v), 0.0)
            assert [axis[0] for axis in one.state] == pytest.approx(row, abs=1e-9)


def test_settles_to_the_alpha_beta_filter_with_its_tracking_index() -> None:
    kalman: Any = strategy("kalman", measures="position", r_position=0.04, q_variance=9.0, **FREE)
    simple: Any = strategy("alpha-beta", sigma_w=3.0, sigma_v=0.2, **FREE)
    for index in range(400):
        for item in (kalman, simple):
            item.update(packet(index * 0.1, float(index * index % 7)), 0.0)
    assert kalman.state[0] == pytest.approx(simple.state[0], abs=1e-9)
    assert kalman.state[1] == pytest.approx(simple.state[1], abs=1e-9)


def test_is_less_sure_after_a_gap() -> None:
    one: Any = strategy("kalman", **FREE)
    for index in range(20):
        one.update(packet(index * 0.1, 0.0), 0.0)
    sure = one.covariance[0]
    one.update(packet(5.0, 0.0), 0.0)
    assert one.covariance[0] > sure


@pytest.mark.parametrize("name", ["alpha-beta", "kalman"])
def test_draws_the_present_of_a_constant_velocity(name: str) -> None:
    one = strategy(name)
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


@pytest.mark.parametrize("name", ["alpha-beta", "kalman"])
@pytest.mark.parametrize("settings", [{"snap_distance": 50.0}, {"max_gap": 0.5}])
def test_starts_anew_after_a_jump_or_a_gap(name: str, settings: dict[str, float]) -> None:
    one = strategy(name, **{"snap_distance": 0.0, "max_gap": 1e6, **settings})
    for index in range(5):
        one.update(packet(index * 0.1, 0.0), index * 0.1)
    one.update(packet(1.4, 60.0, 3.0), 1.4)
    assert one.read(1.5).position[0] == pytest.approx(60.3)
