"""Tests of paths against closed forms, and of velocities as derivatives of positions."""

from __future__ import annotations

import math

import pytest

from epic_cli.engine.contract import Vector
from epic_cli.network.movement import Path
from epic_cli.network.paths import GOLDEN, PATHS, make_jump, make_spread_path

TIMES = [n * 0.0371 + 0.0103 for n in range(400)]


def paths() -> list[tuple[str, Path]]:
    return [(name, make(3.0, 2.0, 7)) for name, make in PATHS.items()]


def difference(a: Vector, b: Vector) -> float:
    return math.dist(a, b)


@pytest.mark.parametrize(("name", "path"), paths())
def test_velocity_is_the_derivative(name: str, path: Path) -> None:
    """One time in ten at most is at a corner, where the derivative does not exist."""
    half = 1e-5
    corners = 0
    for time in TIMES:
        before, now, after = (path(time + step) for step in (-half, 0.0, half))
        x, y, z = (
            (b - a) / (2 * half) for a, b in zip(before.position, after.position, strict=True)
        )
        turned = difference(before.velocity, after.velocity) > 0.01
        corners += turned
        if not turned:
            assert difference((x, y, z), now.velocity) < 1e-5, time
    assert corners <= {"strafe": 0}.get(name, 3)


@pytest.mark.parametrize(("name", "path"), paths())
def test_any_time_at_any_moment(name: str, path: Path) -> None:
    fresh = PATHS[name](3.0, 2.0, 7)
    forward = [path(time) for time in TIMES]
    assert [fresh(time) for time in reversed(TIMES)] == forward[::-1]


def test_entities_move_in_a_square_grid_each_at_another_phase() -> None:
    lap = 2 * math.pi * 2 / 3
    for number in range(5):
        path = make_spread_path(number, 2, "circle", 3.0, 2.0, 1, "none")
        places = [path(k * lap / 60).position for k in range(60)]
        x, y, z = (math.fsum(axis) / 60 for axis in zip(*places, strict=True))
        assert (x, y, z) == pytest.approx((6 * (number % 2), 6 * (number // 2), 0), abs=1e-9)
        turns = math.atan2(places[0][1] - y, places[0][0] - x) / (2 * math.pi)
        assert math.cos(2 * math.pi * (turns - number * GOLDEN)) == pytest.approx(1)


def test_jump_reaches_its_height_by_gravity() -> None:
    path = make_jump(2, 1.2, 0)
    take_off = math.sqrt(2 * 9.81 * 1.2)
    flight = 2 * take_off / 9.81
    top = path(1.5 * flight)
    assert top.position == pytest.approx((3 * flight, 0, 1.2))
    assert top.velocity == pytest.approx((2, 0, 0), abs=1e-12)
    assert path(0.5 * flight).position[2] == 0
    assert path(1.001 * flight).velocity[2] == pytest.approx(take_off, rel=0.01)
    assert min(path(time).position[2] for time in TIMES) >= 0
