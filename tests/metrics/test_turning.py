"""Tests of rotation errors against SciPy, and against errors built into what is drawn."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation
from support import movements

from epic_cli.engine.contract import Packet
from epic_cli.engine.packets import PacketBlock
from epic_cli.metrics.measurement import Entity, Measurement, measure
from epic_cli.metrics.metric import Weights
from epic_cli.metrics.recovery import find_events
from epic_cli.metrics.truth import make_truth, sample_truth
from epic_cli.metrics.turning import METRICS

TICK = 1 / 60
TIMES = np.arange(0, 20, TICK)


#: The rotation at a time, or at several.
Turning = Callable[[ArrayLike], Rotation]


def tumbling(rate: float, seed: int = 0, flips: bool = False) -> tuple[PacketBlock, Turning]:
    """Return a straight run that rotates to a random direction at each packet.

    Some signs are flipped. Between packets the truth itself is drawn
    (``tests/metrics/test_turns.py``).
    """
    chance = np.random.default_rng(seed)
    times = np.arange(0, 21, 1 / rate)
    steps = Rotation.from_rotvec(chance.normal(0, 0.2, (len(times), 3)))
    turned = [Rotation.identity()]
    for step in steps[1:]:
        turned.append(step * turned[-1])
    signs = chance.choice([-1, 1], len(times)) if flips else np.ones(len(times))
    packets = [
        Packet(
            time=float(t),
            position=(3 * t, 0.0, 0.0),
            velocity=(3.0, 0.0, 0.0),
            rotation=tuple(q.as_quat() * sign),
        )
        for t, q, sign in zip(times, turned, signs, strict=True)
    ]
    block = movements.block(packets)
    truth = make_truth(block, "given").turns
    assert truth is not None

    def turning(at: ArrayLike) -> Rotation:
        found = Rotation.from_quat(truth.interpolate(np.atleast_1d(at).astype(float)))
        return found if np.ndim(at) else found[0]

    return block, turning


def measured(
    block: PacketBlock, drawn: Rotation, aim_range: float = 20.0
) -> tuple[Measurement, dict[str, float]]:
    truth = make_truth(block, "given")
    sampled = sample_truth(truth, TIMES, TICK)
    entity = Entity("", block, sampled, find_events(block, truth, 0.0, None), aim_range)
    shown, status = sampled.positions.copy(), np.full(len(TIMES), 2, np.int32)
    found = measure(shown, status, entity, Weights(), rotations=drawn.as_quat())
    return found, {metric.name: float(metric.value(found)) for metric in METRICS}


@pytest.mark.parametrize("seed", range(3))
def test_angles_and_rays_are_those_of_scipy(seed: int) -> None:
    block, turning = tumbling(20, seed, flips=True)
    chance = np.random.default_rng(seed + 10)
    off = Rotation.from_rotvec(chance.normal(0, 0.3, (len(TIMES), 3)))
    true = turning(TIMES)
    found, figures = measured(block, off * true, 7.0)
    counted = sample_truth(make_truth(block, "given"), TIMES, TICK).counted
    angles = np.degrees(off.magnitude())[counted]
    rays = 7 * ((off * true).apply([1, 0, 0]) - true.apply([1, 0, 0]))[counted]
    assert figures["angle"] == pytest.approx(math.sqrt((angles**2).mean()), abs=1e-9)
    assert figures["angle95"] == pytest.approx(np.quantile(angles, 0.95), abs=1e-9)
    assert figures["angle_max"] == pytest.approx(angles.max(), abs=1e-9)
    assert figures["aim"] == pytest.approx(math.sqrt((rays**2).sum(axis=1).mean()), abs=1e-9)
    assert found.rows == counted.sum()


def test_turns_the_long_way_round_are_counted() -> None:
    """Between some packets, the drawn rotation goes 360 degrees less, the other way."""
    block, turning = tumbling(2, 5)
    drawn, ways = turning(TIMES), 9
    quaternions = drawn.as_quat()
    for k in range(ways):
        first = 5.0 + k
        begin, end = turning(first), turning(first + 0.5)
        way = (end * begin.inv()).as_rotvec()
        long = way * (1 - 2 * math.pi / np.linalg.norm(way))
        rows = np.flatnonzero((first <= TIMES) & (first + 0.5 > TIMES))
        share = (TIMES[rows] - first) / 0.5
        quaternions[rows] = (Rotation.from_rotvec(share[:, None] * long) * begin).as_quat()
    _, figures = measured(block, Rotation.from_quat(quaternions))
    assert figures["long_way"] == ways
    assert measured(block, drawn)[1]["long_way"] == 0
    assert figures["angle_max"] > 150


def test_jumps_and_jerk_are_against_the_truths() -> None:
    block, turning = tumbling(10, 2)
    _, same = measured(block, turning(TIMES))
    assert same["turn_jumps"] == 0
    assert same["turn_jerk"] == pytest.approx(1, rel=1e-6)
    jump = np.where((TIMES > 10)[:, None], [[0, 0, 1.5]], 0.0)
    _, figures = measured(block, Rotation.from_rotvec(jump) * turning(TIMES))
    assert figures["turn_jumps"] == 1
    assert figures["turn_jerk"] > 1


def plain_overshoot(block: PacketBlock, drawn: Rotation, true: Turning, late: int) -> float:
    """Compute the overshoot row by row from its definition, with SciPy's logarithms."""
    sampled = sample_truth(make_truth(block, "given"), TIMES, TICK)
    turned, squares = true(TIMES), []
    rows = np.flatnonzero(sampled.counted)
    for row in rows:
        squares.append(0.0)
        step = (drawn[row] * drawn[row - 1].inv()).as_rotvec()
        around = range(row - late - 30, row - late + 31)
        known = [at for at in around if 0 <= at < len(TIMES) and sampled.segments[at] >= 0]
        inside = row - 1 in rows and known and known[-1] == around[-1]
        if inside and np.linalg.norm(step) > math.radians(0.01):
            axis = step / np.linalg.norm(step)
            past = ((drawn[row] * turned[known].inv()).as_rotvec() @ axis).min()
            squares[-1] = max(math.degrees(past), 0.0) ** 2
    return math.sqrt(np.mean(squares))


@pytest.mark.parametrize(("seed", "late"), [(1, 4), (2, 0)])
def test_overshoot_is_that_of_its_definition(seed: int, late: int) -> None:
    """The drawn rotation swings past the truth, further than the truth turns in half a second."""
    block, true = tumbling(4, seed, flips=True)
    swing = np.sin(TIMES * 7)[:, None] * np.random.default_rng(seed).normal(0, 0.4, 3)
    drawn = Rotation.from_rotvec(swing) * true(np.maximum(TIMES - late * TICK, 0))
    found, figures = measured(block, drawn)
    seen = round(found.turn_lag.seconds / TICK)
    assert abs(seen - late) <= 1
    expected = plain_overshoot(block, drawn, true, seen)
    assert expected > 0.1
    assert figures["turn_overshoot"] == pytest.approx(expected, rel=1e-6)
