"""Tests of the truth of rotations against formulas computed by SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation, Slerp

from epic_cli import Packet
from epic_cli.engine.packets import PacketBlock
from epic_cli.metrics.truth import make_truth

Floats = NDArray[np.float64]


def turned(times: Floats, pace: float) -> Rotation:
    """Return rotations whose yaw runs and sways, with pitch and roll."""
    yaw = pace * times + 0.8 * np.sin(1.3 * times)
    angles = (yaw, 0.6 * np.sin(2.1 * times), 0.5 * np.sin(1.7 * times))
    return Rotation.from_euler("ZYX", np.stack(angles, axis=1))


def spins(times: Floats, pace: float) -> Floats:
    step = 1e-5
    ways = turned(times + step, pace) * turned(times - step, pace).inv()
    return np.asarray(ways.as_rotvec() / (2 * step))


def block(times: Floats, rotations: Floats, given: Floats | None) -> PacketBlock:
    found = PacketBlock()
    for row, (time, rotation) in enumerate(zip(times.tolist(), rotations.tolist(), strict=True)):
        spin = None if given is None else tuple(given[row].tolist())
        found.append(Packet((time, 0.0, 0.0), (1.0, 0.0, 0.0), time, rotation=rotation, spin=spin))
    return found


def root_mean_square(shown: Rotation, truth: Rotation) -> float:
    return float(np.degrees(np.sqrt(np.mean((shown * truth.inv()).magnitude() ** 2))))


@pytest.mark.parametrize("rate", [5, 12, 30])
@pytest.mark.parametrize(("kind", "gain"), [("given", 20), ("absent", 2), ("wrong", 2)], ids=str)
def test_it_is_closer_than_great_circles(rate: int, kind: str, gain: float) -> None:
    dice = np.random.default_rng(rate)
    times = (np.arange(20 * rate) + dice.uniform(-0.2, 0.2, 20 * rate)) / rate
    signs = np.where(dice.random(len(times)) < 0.5, -1.0, 1.0)[:, None]
    rotations = turned(times, 1.5).as_quat() * signs
    given = {"given": spins(times, 1.5), "absent": None, "wrong": -spins(times, 1.5)}[kind]
    turns = make_truth(block(times, rotations, given)).turns
    assert turns is not None
    at = np.linspace(times[0], times[-1], 3001)
    truth = turned(at, 1.5)
    circles = root_mean_square(Slerp(times, Rotation.from_quat(rotations))(at), truth)
    assert root_mean_square(Rotation.from_quat(turns.interpolate(at)), truth) < circles / gain


def test_spins_of_more_than_half_a_turn_between_packets_count() -> None:
    times = np.arange(60) / 10.0
    pace = 10 * np.radians(250)
    given = np.tile([0.0, 0.0, pace], (60, 1))
    yaws = Rotation.from_rotvec(given * times[:, None])
    turns = make_truth(block(times, yaws.as_quat(), given)).turns
    assert turns is not None
    at = np.linspace(0, 5.9, 500)
    truth = Rotation.from_rotvec(np.array([[0.0, 0.0, pace]]) * at[:, None])
    assert root_mean_square(Rotation.from_quat(turns.interpolate(at)), truth) < 1e-6


def test_nothing_leads_over_a_teleport() -> None:
    times = np.arange(40) / 20.0
    yaws = np.where(times < 1, times, times + 2)
    rotations = Rotation.from_rotvec(np.stack((0 * yaws, 0 * yaws, yaws), axis=1)).as_quat()
    found = PacketBlock()
    for time, rotation in zip(times.tolist(), rotations.tolist(), strict=True):
        place = (time + 50 * (time >= 1), 0.0, 0.0)
        found.append(Packet(place, None, time, rotation=rotation, teleport=time == 1))
    turns = make_truth(found).turns
    assert turns is not None
    shown = np.degrees(2 * np.arctan2(*turns.interpolate(np.array([0.94, 1.06]))[:, 2:].T))
    assert shown == pytest.approx(np.degrees([0.94, 3.06]), abs=1e-6)
    assert np.isnan(turns.interpolate(np.array([0.97]))).all()
