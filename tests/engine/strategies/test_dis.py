"""The IEEE 1278.1 models, against the tests of Open-DIS, and the strategy around them."""

import math
from typing import Any

import pytest
from support.conformance import load
from support.filter_cases import packet

from epic_cli import Packet, Vector, strategy
from epic_cli.engine.strategies.dis.models import DisModel, DisState

VALUES = load("dis_dead_reckoning")
Matrix = list[list[float]]


def body_to_world(psi: float, theta: float, phi: float) -> Matrix:
    """The standard's Euler angles in radians, as the matrix from body to world axes."""
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


def extrapolated(case: dict[str, Any], angles: list[float], turn: list[float]) -> Vector:
    """The position of a case whose vectors are in body axes for models 6 to 9."""
    to_world = body_to_world(*angles)
    in_body = case["algorithm"] >= 6
    velocity, acceleration = (
        times(to_world, case[name]) if in_body else three(case[name])
        for name in ("velocity", "acceleration")
    )
    start = three(case.get("start", [0.0, 0.0, 0.0]))
    state = DisState(case["algorithm"], start, velocity, acceleration, times(to_world, turn))
    return state.extrapolated(case["dt"])[0]


@pytest.mark.parametrize("case", VALUES["golden"], ids=lambda case: case["name"])
def test_the_golden_values_of_open_dis(case: Any) -> None:
    angles = [math.radians(angle) for angle in case["euler_deg"]]
    turn = [math.radians(rate) for rate in case["angular_velocity_deg_s"]]
    found = extrapolated({**case, "start": case["position"]}, angles, turn)
    assert found == pytest.approx(case["expect_position"], abs=case["tolerance"])
    assert found == pytest.approx(case["own_check"]["position"], rel=1e-12, abs=1e-8)


@pytest.mark.parametrize("case", VALUES["flat_world"]["rows"])
def test_the_values_in_the_plane(case: Any) -> None:
    angles = [math.radians(case["psi_deg"]), 0.0, 0.0]
    turn = [0.0, 0.0, math.radians(case["yaw_rate_deg_s"])]
    assert extrapolated(case, angles, turn) == pytest.approx(case["position"], abs=1e-9)


@pytest.mark.parametrize("case", VALUES["circle"], ids=lambda case: case["name"])
def test_the_circles_of_open_dis(case: Any) -> None:
    to_world = body_to_world(case["psi0"], 0.0, case["roll"])
    velocity = times(to_world, [case["speed"], 0.0, 0.0])
    turn = times(to_world, case["body_angular_velocity"])
    state = DisState(DisModel.RPB, three(case["start"]), velocity, (0, 0, 0), turn)
    for quarter, (x, y) in enumerate(case["expect_xy_after_each_quarter"], 1):
        position, _ = state.extrapolated(quarter * case["dt"])
        assert position == pytest.approx((x, y, 0), abs=VALUES["circle_tolerance"])


def test_what_is_below_the_thresholds_counts_as_none() -> None:
    slow = DisState(DisModel.RPB, (0, 0, 0), (10, 0, 0), (0, 0, 0), (0, 0, math.radians(0.19)))
    assert slow.extrapolated(2.0) == ((20, 0, 0), (10, 0, 0))
    weak = DisState(DisModel.FVW, (0, 0, 0), (10, 0, 0), (0.09, -0.09, 0.09))
    assert weak.extrapolated(2.0) == ((20, 0, 0), (10, 0, 0))
    strong = DisState(DisModel.FVW, (0, 0, 0), (10, 0, 0), (0.09, 0.1, 0))
    assert strong.extrapolated(2.0)[0] == pytest.approx((20.18, 0.2, 0))


@pytest.mark.parametrize("turn", [1e-1, 1e-2, 3.6e-3, 5.0])
@pytest.mark.parametrize("seconds", [-1.0, 0.001, 0.05, 2.0, 2.8, 10.0])
def test_the_closed_form_is_the_integral(turn: float, seconds: float) -> None:
    """Against Simpson's rule over the turning velocity."""
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
    position, drawn_velocity = state.extrapolated(seconds)
    assert position == pytest.approx(integral, rel=1e-9, abs=1e-9)
    assert drawn_velocity == pytest.approx(velocity(seconds), rel=1e-9, abs=1e-9)


def circle(time: float) -> Packet:
    return Packet(
        (10 * math.cos(time), 10 * math.sin(time), 0.0),
        (-10 * math.sin(time), 10 * math.cos(time), 0.0),
        time,
    )


def test_each_model_draws_a_circle_better_than_the_one_before_and_the_turning_one_exactly() -> None:
    errors = []
    for model in ("static", "fpw", "fvw", "rpb"):
        one = strategy("dis", model=model)
        for k in range(5):
            one.update(circle(k * 0.2), k * 0.2 + 0.08)
        errors.append(math.dist(one.read(1.08).position, circle(1.08).position))
    # the chord, then the tangent's end: 0.28 s at 1 rad/s on a radius of 10
    assert errors[0] == pytest.approx(20 * math.sin(0.14))
    assert errors[1] == pytest.approx(
        10 * math.hypot(1 - math.cos(0.28), 0.28 - math.sin(0.28)), rel=1e-9
    )
    assert errors == sorted(errors, reverse=True)
    assert errors[3] < 1e-9


@pytest.mark.parametrize("number", range(1, 10))
def test_a_model_is_named_by_its_letters_or_its_number(number: int) -> None:
    drawn = []
    for model in (number, DisModel(number).name.lower()):
        one = strategy("dis", model=model)
        for k in range(3):
            one.update(Packet((k**2, k, 0), (3 * k + 1, 4 - k, 1), 0.1 * k), 0.1 * k)
        drawn.append(one.read(0.5))
    assert drawn[0] == drawn[1]


def test_models_without_acceleration_and_turn_go_straight() -> None:
    drawn = set()
    for model in ("fpw", "rpw", "fpb"):
        one = strategy("dis", model=model)
        one.update(packet(0.0, 0.0, 5.0), 0.0)
        one.update(packet(0.1, 0.5, 10.0), 0.1)
        drawn.add(one.read(0.3).position[0])
    assert drawn == {2.5}


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
