"""Tests of the rotations of simulated movement, and of quantized quaternions."""

from __future__ import annotations

import io
import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.conformance import load

from epic_cli.network import encoding
from epic_cli.network.movement import RecordedMovement
from epic_cli.network.paths import PATHS, SPIN, SPIN_AXIS, TURNINGS, make_turning_path
from epic_cli.network.sender import sample_movement
from epic_cli.network.simulation import simulate
from epic_cli.network.truth_file import TruthWriter, read_movement


def rotations(path: str, turning: str, seed: int = 3, rate: float = 60.0) -> Rotation:
    moving = make_turning_path(path, 5.0, 5.0, seed, turning)
    states = [moving(number / rate) for number in range(1200)]
    return Rotation.from_quat(np.array([state.rotation for state in states]))


@pytest.mark.parametrize(("path", "turning"), list(itertools.product(PATHS, TURNINGS[1:])))
def test_every_path_turns_without_half_turns(path: str, turning: str) -> None:
    found = rotations(path, turning)
    assert np.abs(np.linalg.norm(found.as_quat(), axis=1) - 1).max() < 1e-9
    if path not in ("strafe", "teleport") or turning != "heading":  # these turn back at once
        steps = np.degrees((found[1:] * found[:-1].inv()).magnitude())
        assert steps.max() < 40


def test_a_spin_is_of_constant_angular_velocity() -> None:
    found = rotations("circle", "spin")
    steps = (found[1:] * found[:-1].inv()).as_rotvec() * 60
    np.testing.assert_allclose(steps, [np.array(SPIN_AXIS) * SPIN * 2 * math.pi] * 1199, atol=1e-9)


@pytest.mark.parametrize("turning", ["look", "flick", "heading"])
def test_the_order_of_times_and_the_seed(turning: str) -> None:
    times = [0.1, 7.3, 2.2, 2.2, 9.9, 0.0]
    first = make_turning_path("strafe", 5.0, 5.0, 1, turning)
    again = make_turning_path("strafe", 5.0, 5.0, 1, turning)
    ordered = {time: again(time) for time in sorted(times)}
    assert [first(time) for time in times] == [ordered[time] for time in times]
    other = make_turning_path("strafe", 5.0, 5.0, 2, turning)
    assert other(7.3).rotation != first(7.3).rotation


def smallest_three(rotation: tuple[float, ...], bits: int) -> tuple[float, ...]:
    field = encoding.make_smallest_three_field(bits)
    return field.to_values(field.to_whole(rotation))


@pytest.mark.parametrize("one", load("compression_runs")["rotations"])
def test_the_smallest_three_of_other_programs(one: dict[str, list[float]]) -> None:
    """Mirror truncates where epic rounds; NGO has magnitude bits and a sign."""
    x, y, z, w = one["sent"]
    ours, step = np.array(smallest_three((x, y, z, w), 10)), math.sqrt(2) / 1023
    largest = int(np.abs(one["sent"]).argmax())
    steps = np.delete((ours - one["mirror"]) / step, largest)
    assert np.abs(steps - np.round(steps)).max() < 1e-3
    assert set(np.round(steps)) <= {0.0, 1.0}
    ngo = np.array(one["ngo"])
    assert np.abs(np.delete(ours - ngo, largest)).max() <= 1.01 * step


def recorded(text: str, **how: Any) -> RecordedMovement:
    return read_movement(io.BytesIO(text.encode()), **how)


@pytest.mark.parametrize("with_spins", [False, True])
def test_a_recording_with_rotation_is_the_truth(with_spins: bool) -> None:
    times = np.cumsum(np.random.default_rng(7).uniform(0.02, 0.3, 60))
    spin = np.array([0.4, -1.1, 2.0])
    exact = Rotation.from_rotvec(times[:, None] * spin)
    rows = [
        f"{k},0,0 / 0,0,0 / {time!r} rotation={','.join(map(str, one.as_quat()))}"
        + (f" spin={','.join(map(str, spin))}" if with_spins else "")
        for k, (time, one) in enumerate(zip(times.tolist(), exact, strict=True))
    ]
    movement = recorded("\n".join(rows))
    assert movement.turns
    packets = list(simulate(movement, send_rate=17))
    assert len(packets) > 100
    for packet in packets:
        true = Rotation.from_rotvec((packet.time) * spin)
        found = Rotation.from_quat(packet.rotation)
        assert (found * true.inv()).magnitude() < 3e-6
        np.testing.assert_allclose(packet.spin or (), spin, atol=2e-5)
    state = next(iter(simulate(recorded("\n".join(rows), velocities="taken"))))
    assert (state.spin is not None) == with_spins


def test_a_recording_whose_entities_turn_in_part() -> None:
    movement = recorded(
        "0,0,0 / 0,0,0 / 0 entity=a\n0,0,0 / 0,0,0 / 0 entity=b yaw=10\n"
        "0,0,0 / 0,0,0 / 1 entity=a yaw=50\n0,0,0 / 0,0,0 / 1 entity=b yaw=30\n"
        "0,0,0 / 0,0,0 / 2 entity=a yaw=70 \n0,0,0 / 0,0,0 / 2 entity=b"
    )
    found = {
        (packet.entity, packet.time): packet.rotation
        and Rotation.from_quat(packet.rotation).as_euler("ZYX")
        for packet in simulate(movement, send_rate=2)
    }
    yaws = {key: one is not None and round(math.degrees(one[0]), 3) for key, one in found.items()}
    assert yaws == {
        ("a", 0.0): False, ("a", 0.5): False, ("a", 1.0): 50, ("a", 1.5): 60, ("a", 2.0): 70,
        ("b", 0.0): 10, ("b", 0.5): 20, ("b", 1.0): 30, ("b", 1.5): 30, ("b", 2.0): False,
    }  # fmt: skip
    writer = TruthWriter(turns=movement.turns)
    rows = [
        writer.header,
        *(writer.format_rows(snapshot) for snapshot in sample_movement(movement, 2)),
    ]
    assert {line.count(b",") for row in rows for line in row.splitlines()} == {12}
