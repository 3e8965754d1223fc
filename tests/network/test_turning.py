"""How simulated movement turns, and what quantised quaternions are."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from epic_cli.network import PATHS, PathMovement, simulate
from epic_cli.network.paths import circle
from epic_cli.network.sender import SenderSpec
from epic_cli.network.turning import SPIN, SPIN_AXIS, TURNINGS, smallest_three, turning_path


def rotations(path: str, turning: str, seed: int = 3, rate: float = 60.0) -> Rotation:
    moving = turning_path(PATHS[path], 5.0, 5.0, seed, turning)
    states = [moving(number / rate) for number in range(1200)]
    return Rotation.from_quat(np.array([one.rotation for one in states]))


@pytest.mark.parametrize(("path", "turning"), list(itertools.product(PATHS, TURNINGS[1:])))
def test_every_path_turns_without_half_turns(path: str, turning: str) -> None:
    found = rotations(path, turning)
    assert np.abs(np.linalg.norm(found.as_quat(), axis=1) - 1).max() < 1e-9
    if path not in ("strafe", "teleport") or turning != "heading":  # these turn back at once
        steps = np.degrees((found[1:] * found[:-1].inv()).magnitude())
        assert steps.max() < 40


def test_a_heading_is_along_the_movement() -> None:
    moving = turning_path(circle, 5.0, 5.0, 0, "heading")
    for time in np.arange(0.2, 20, 0.37):
        state = moving(time)
        ahead = Rotation.from_quat(state.rotation).apply([1, 0, 0])
        assert ahead @ state.velocity == pytest.approx(5.0, abs=1e-6)
    corners = rotations("zigzag", "heading").apply([1, 0, 0])
    assert np.abs(np.degrees(np.arctan2(corners[:, 1], corners[:, 0]))).max() < 45.001


def test_a_spin_is_of_constant_angular_velocity() -> None:
    found = rotations("circle", "spin")
    steps = (found[1:] * found[:-1].inv()).as_rotvec() * 60
    np.testing.assert_allclose(steps, [np.array(SPIN_AXIS) * SPIN * 2 * math.pi] * 1199, atol=1e-9)


@pytest.mark.parametrize("turning", ["look", "flick", "heading"])
def test_the_order_of_times_and_the_seed(turning: str) -> None:
    times = [0.1, 7.3, 2.2, 2.2, 9.9, 0.0]
    first = turning_path(PATHS["strafe"], 5.0, 5.0, 1, turning)
    again = turning_path(PATHS["strafe"], 5.0, 5.0, 1, turning)
    ordered = {time: again(time) for time in sorted(times)}
    assert [first(time) for time in times] == [ordered[time] for time in times]
    other = turning_path(PATHS["strafe"], 5.0, 5.0, 2, turning)
    assert other(7.3).rotation != first(7.3).rotation


@pytest.mark.parametrize("bits", [2, 5, 9, 15])
def test_the_smallest_three_are_off_by_half_a_step_each(bits: int) -> None:
    step = math.sqrt(2) / (2**bits - 1)
    for one in Rotation.random(200, random_state=bits):
        quaternion = tuple(one.as_quat())
        found = np.array(smallest_three(quaternion, bits))
        largest = int(np.abs(quaternion).argmax())
        away = found * np.sign(quaternion[largest]) - quaternion
        assert np.linalg.norm(found) == pytest.approx(1)
        if bits > 4:
            assert np.abs(np.delete(away, largest)).max() <= step / 2 + 1e-12
            assert np.degrees((Rotation.from_quat(found) * one.inv()).magnitude()) < 180 * step


def test_packets_carry_the_rotation_and_nothing_else_changes() -> None:
    plain = list(simulate(PathMovement(turning_path(circle, 5, 5, 0, "none")), duration=2))
    movement = PathMovement(turning_path(circle, 5, 5, 0, "spin"))
    turned = list(simulate(movement, duration=2))
    assert [one._replace(rotation=None) for one in turned] == plain
    coarse = list(simulate(movement, duration=2, sender=SenderSpec(rotation_bits=6).sender()))
    for one, rough in zip(turned, coarse, strict=True):
        exact = movement.snapshot(one.time).states[0][1].rotation
        assert exact is not None
        assert one.rotation == pytest.approx(exact, abs=1e-6)
        assert rough.rotation == pytest.approx(smallest_three(exact, 6), abs=1e-6)
