"""Tests of the IEEE 1278.1 models against the tests of Open-DIS, and of the strategy."""

from __future__ import annotations

import copy
import math
import sys
from typing import Any

import pytest
from support.conformance import load
from support.filter_cases import packet

from epic_cli import Packet, Vector, strategy
from epic_cli.engine.strategies import find_class

correct: Any = sys.modules[find_class("dis").__module__]
DisModel, DisState = correct.DisModel, correct.DisState
VALUES = load("dis_dead_reckoning")
Matrix = list[list[float]]


def body_to_world(psi: float, theta: float, phi: float) -> Matrix:
    """Return the matrix from body to world axes, for the standard's Euler angles (radians)."""
    cp, sp, ct, st = math.cos(psi), math.sin(psi), math.cos(theta), math.sin(theta)
    cf, sf = math.cos(phi), math.sin(phi)
    return [
        [ct * cp, sf * st * cp - cf * sp, cf * st * cp + sf * sp],
        [ct * sp, sf * st * sp + cf * cp, cf * st * sp - sf * cp],
        [-st, sf * ct, cf * ct],
    ]


def times(matrix: Matrix, vector: list[float]) -> Vector:
    x, y, z = (math.fsum(m * v for m, v in zip(row, vector, strict=True)) for row in matrix)
    return x, y, z


def three(numbers: list[float]) -> Vector:
    x, y, z = numbers
    return x, y, z


def columns(rows: Matrix) -> Matrix:
    return [list(column) for column in zip(*rows, strict=True)]


def euler(to_world: Matrix) -> list[float]:
    """Return the standard's angles psi, theta and phi (degrees) of a matrix from body to world
    axes.
    """
    psi = math.atan2(to_world[1][0], to_world[0][0])
    theta = math.asin(-to_world[2][0])
    phi = math.atan2(to_world[2][1], to_world[2][2])
    return [math.degrees(angle) for angle in (psi, theta, phi)]


class Entity:
    """An entity as the standard describes it, with velocities in the body's or the world's axes.

    The engine computes in world axes and draws no orientation. The test follows the orientation by
    the body's three axes, each as a velocity that turns with the body.
    """

    def __init__(self, case: dict[str, Any], angles: list[float], turn: list[float]) -> None:
        self.model = DisModel(case["algorithm"])
        self.position = three(case["position"])
        self.velocity = three(case["velocity"])
        self.acceleration = three(case["acceleration"])
        self.turn = three(turn)
        self.to_world = body_to_world(*angles)

    def after(self, seconds: float) -> Entity:
        in_body = self.model >= DisModel.FPB
        velocity, acceleration = (
            times(self.to_world, list(vector)) if in_body else vector
            for vector in (self.velocity, self.acceleration)
        )
        turn = times(self.to_world, list(self.turn))
        state = DisState(self.model, self.position, velocity, acceleration, turn)
        later = copy.copy(self)
        later.position, moving = state.extrapolate(seconds)
        if self.model.name.startswith("R"):
            axes = (
                DisState(DisModel.RPB, (0, 0, 0), three(axis), (0, 0, 0), turn)
                for axis in columns(self.to_world)
            )
            later.to_world = columns([list(axis.extrapolate(seconds)[1]) for axis in axes])
        later.velocity = times(columns(later.to_world), list(moving)) if in_body else moving
        return later


def entity(case: dict[str, Any]) -> Entity:
    angles = [math.radians(angle) for angle in case["euler_deg"]]
    turn = [math.radians(rate) for rate in case["angular_velocity_deg_s"]]
    return Entity(case, angles, turn)


@pytest.mark.parametrize("case", VALUES["golden"], ids=lambda case: case["name"])
def test_the_golden_values_of_open_dis(case: Any) -> None:
    assert DisModel(case["algorithm"]).name == case["name"]
    later = entity(case).after(case["dt"])
    own, most = case["own_check"], case["tolerance"]
    assert later.position == pytest.approx(case["expect_position"], abs=most)
    assert later.position == pytest.approx(own["position"], rel=1e-12, abs=1e-8)
    assert later.velocity == pytest.approx(case["expect_velocity"], abs=most)
    assert later.velocity == pytest.approx(own["velocity"], rel=1e-12, abs=1e-12)
    assert euler(later.to_world) == pytest.approx(case["expect_euler_deg"], abs=most)
    assert euler(later.to_world) == pytest.approx(own["euler_deg"], abs=1e-10)


@pytest.mark.parametrize("row", VALUES["two_half_steps"]["rows"], ids=lambda row: row["algorithm"])
def test_two_half_steps_are_one_step(row: Any) -> None:
    (case,) = (value for value in VALUES["golden"] if value["algorithm"] == row["algorithm"])
    start, half = entity(case), case["dt"] / 2
    later, whole = start.after(half).after(half), start.after(case["dt"])
    assert later.position == pytest.approx(row["position"], rel=1e-12, abs=1e-8)
    assert later.velocity == pytest.approx(row["velocity"], rel=1e-12, abs=1e-12)
    assert euler(later.to_world) == pytest.approx(row["euler_deg"], abs=1e-10)
    assert later.position == pytest.approx(whole.position, rel=1e-12, abs=1e-8)
    assert row["max_abs_diff_from_golden"] <= case["tolerance"]


@pytest.mark.parametrize("case", VALUES["flat_world"]["rows"])
def test_the_values_in_the_plane(case: Any) -> None:
    assert DisModel(case["algorithm"]).name == case["name"]
    angles = [math.radians(case["psi_deg"]), 0.0, 0.0]
    turn = [0.0, 0.0, math.radians(case["yaw_rate_deg_s"])]
    given = {name: case[name] for name in ("algorithm", "velocity", "acceleration")}
    start = Entity({**given, "position": [0.0, 0.0, 0.0]}, angles, turn)
    later = start.after(case["dt"])
    assert later.position == pytest.approx(case["position"], abs=1e-9)
    assert later.velocity == pytest.approx(case["velocity_out"], abs=1e-12)
    assert euler(later.to_world) == pytest.approx([case["psi_out_deg"], 0, 0], abs=1e-9)


@pytest.mark.parametrize("case", VALUES["circle"], ids=lambda case: case["name"])
def test_the_circles_of_open_dis(case: Any) -> None:
    given = {
        "algorithm": case["algorithm"],
        "position": case["start"],
        "velocity": [case["speed"], 0.0, 0.0],
        "acceleration": [0.0, 0.0, 0.0],
    }
    start = Entity(given, [case["psi0"], 0.0, case["roll"]], case["body_angular_velocity"])
    assert abs(case["psi_rate"]) * case["radius"] == pytest.approx(case["speed"])
    for quarter, (x, y) in enumerate(case["expect_xy_after_each_quarter"], 1):
        later = start.after(quarter * case["dt"])
        assert later.position == pytest.approx((x, y, 0), abs=VALUES["circle_tolerance"])
        *where, psi = case["own_check"][quarter - 1]
        assert later.position == pytest.approx(where, abs=1e-8)
        turned = math.radians(euler(later.to_world)[0])
        assert math.remainder(turned - psi, 2 * math.pi) == pytest.approx(0, abs=1e-9)


def test_what_is_below_the_thresholds_counts_as_none() -> None:
    rotation = math.radians(VALUES["thresholds"]["min_rotation_deg_s"])
    least = VALUES["thresholds"]["min_acceleration"]
    for part, counts in ((0.99, False), (1.01, True)):
        turning = DisState(DisModel.RPB, (0, 0, 0), (10, 0, 0), (0, 0, 0), (0, 0, rotation * part))
        assert (turning.extrapolate(2.0) != ((20, 0, 0), (10, 0, 0))) == counts
        weak = (least * part, -least * part, least * part)
        pushed = DisState(DisModel.FVW, (0, 0, 0), (10, 0, 0), weak)
        assert (pushed.extrapolate(2.0) != ((20, 0, 0), (10, 0, 0))) == counts
    # one axis is enough for all of them
    strong = DisState(DisModel.FVW, (0, 0, 0), (10, 0, 0), (least * 0.9, least, 0))
    assert strong.extrapolate(2.0)[0] == pytest.approx((20.18, 0.2, 0))


@pytest.mark.parametrize("turn", [1e-1, 1e-2, 3.6e-3, 5.0])
@pytest.mark.parametrize("seconds", [-1.0, 0.001, 0.05, 2.0, 2.8, 10.0])
def test_the_closed_form_is_the_integral(turn: float, seconds: float) -> None:
    """The oracle is Simpson's rule over the turning velocity."""
    state = DisState(DisModel.RVB, (1, 2, 3), (10, -4, 2), (1, 2, -3), (0, 0, turn))

    def velocity(s: float) -> Vector:
        x, y, z = 10 + s, -4 + 2 * s, 2 - 3 * s
        c, n = math.cos(turn * s), math.sin(turn * s)
        return c * x - n * y, n * x + c * y, z

    steps = 8000
    width = seconds / steps
    weights = [1.0 if k in (0, steps) else 4.0 if k % 2 else 2.0 for k in range(steps + 1)]
    rows = [velocity(k * width) for k in range(steps + 1)]
    integral = [
        begin + math.fsum(w * row[axis] for w, row in zip(weights, rows, strict=True)) * width / 3
        for axis, begin in enumerate((1.0, 2.0, 3.0))
    ]
    position, drawn_velocity = state.extrapolate(seconds)
    assert position == pytest.approx(integral, rel=1e-9, abs=1e-9)
    assert drawn_velocity == pytest.approx(velocity(seconds), rel=1e-9, abs=1e-9)


def circle(time: float) -> Packet:
    return Packet(
        (10 * math.cos(time), 10 * math.sin(time), 0.0),
        (-10 * math.sin(time), 10 * math.cos(time), 0.0),
        time,
    )


@pytest.mark.parametrize("number", range(1, 10))
def test_a_model_is_named_by_its_letters_or_its_number(number: int) -> None:
    drawn = []
    for model in (number, DisModel(number).name.lower()):
        one = strategy("dis", model=model)
        for k in range(3):
            one.update(Packet((k**2, k, 0), (3 * k + 1, 4 - k, 1), 0.1 * k), 0.1 * k)
        drawn.append(one.read(0.5))
    assert drawn[0] == drawn[1]


def test_models_whose_orientation_is_fixed_are_the_same_in_world_and_body() -> None:
    for pair in (("fpw", "fpb"), ("fvw", "fvb")):
        drawn = []
        for model in pair:
            one = strategy("dis", model=model)
            one.update(packet(0.0, 0.0, 5.0), 0.0)
            one.update(Packet((0.5, 0, 0), (6, 1, 0), 0.1), 0.1)
            drawn.append(one.read(0.3))
        assert drawn[0] == drawn[1]


def test_holds_after_the_timeout() -> None:
    one = strategy("dis")
    one.update(packet(0.0, 0.0, 10.0), 0.0)
    assert one.read(11.9).status == "extrapolated"
    last, held = one.read(100.0), one.read(100.05)
    assert (last.position[0], last.velocity[0], last.status) == (120.0, 0.0, "extrapolated")
    assert (held.position[0], held.velocity[0], held.status) == (120.0, 0.0, "held")
