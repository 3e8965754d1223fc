"""Ticks of one's own: the closed form, and netfox's tests of its interpolation server."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest

from epic_cli import Packet, Sample, strategy


def at(time: float, x: float, teleport: bool = False) -> Packet:
    return Packet((x, -x, 0.0), (x, 0.0, 0.0), time, teleport=teleport)


def shown(made: Any, time: float) -> float:
    sample: Sample = made.read(time)
    return sample.position[0]


def test_upstream_interpolates_from_the_state_before_to_the_last() -> None:
    # test_should_interpolate: states 0 and 1, factor 0.5 gives 0.5; 0 the first, 1 the last
    made = strategy("tick-interpolation", tick_interval=1.0)
    made.update(at(0.0, 0.0), 0.0)
    assert shown(made, 0.0) == 0.0
    made.update(at(1.0, 1.0), 0.9)
    assert [shown(made, time) for time in (1.0, 1.5, 1.999)] == pytest.approx([0, 0.5, 0.999])


def test_upstream_teleports_skip_the_tick() -> None:
    made = strategy("tick-interpolation", tick_interval=1.0)
    made.update(at(0.0, 0.0), 0.0)
    made.read(0.0)
    made.update(at(1.0, 9.0, teleport=True), 0.9)
    assert [shown(made, time) for time in (1.0, 1.5)] == [9.0, 9.0]


@pytest.mark.parametrize("seed", range(8))
def test_closed_form(seed: int) -> None:
    dice = random.Random(seed)
    tick = dice.choice([1 / 30, 0.05, 0.1])
    packets, time = [], 0.0
    while time < 5:
        time += dice.choice([0.02, 0.05, 0.3])
        packets.append((time, dice.uniform(-9, 9)))
    frames = [packets[0][0]]
    while frames[-1] < 6:
        frames.append(frames[-1] + dice.uniform(0.001, 0.15))
    made = strategy("tick-interpolation", tick_interval=tick)
    waiting = list(packets)
    states: dict[int, float] = {}
    for frame in frames:
        while waiting and waiting[0][0] <= frame:
            made.update(at(*waiting[0]), waiting[0][0])
            waiting.pop(0)
        newest = [x for time, x in packets if time <= frame][-1]
        number = math.floor((frame - frames[0] + 1e-9) / tick)
        # a tick sees what has come when the first frame after it is drawn
        for index in range(max(states, default=-1) + 1, number + 1):
            states[index] = newest
        before, after = states[max(number - 1, 0)], states[number]
        u = (frame - frames[0]) / tick - number
        assert shown(made, frame) == pytest.approx(before + (after - before) * u, abs=1e-6)


def test_a_late_packet_is_discarded() -> None:
    made = strategy("tick-interpolation")
    assert made.update(at(1.0, 1.0), 1.0)
    assert not made.update(at(0.5, 5.0), 1.0)
