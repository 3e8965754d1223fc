"""Tests of fixed ticks against their closed forms, and against netfox's own tests."""

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


def moving(seed: int) -> tuple[float, list[tuple[float, float]], list[float]]:
    """Return a tick, packets, and frame times from the first packet on.

    Some frames are several ticks apart.
    """
    dice = random.Random(seed)
    packets, time = [], 0.0
    while time < 5:
        time += dice.choice([0.02, 0.05, 0.3])
        packets.append((time, dice.uniform(-9, 9)))
    frames = [packets[0][0]]
    while frames[-1] < 6:
        frames.append(frames[-1] + dice.uniform(0.001, dice.choice([0.02, 0.15, 0.6, 1.5])))
    return dice.choice([1 / 30, 0.05, 0.1]), packets, frames


def godot(tick: float, packets: list[tuple[float, float]], frames: list[float]) -> list[float]:
    """Draw between the last two ticks' states; all ticks of a frame see its newest packet."""
    states: dict[int, float] = {}
    rows = []
    for frame in frames:
        newest = [x for time, x in packets if time <= frame][-1]
        number = math.floor((frame - frames[0] + 1e-9) / tick)
        for index in range(max(states, default=-1) + 1, number + 1):
            states[index] = newest
        before, after = states[max(number - 1, 0)], states[number]
        rows.append(before + (after - before) * ((frame - frames[0]) / tick - number))
    return rows


def netfox(tick: float, packets: list[tuple[float, float]], frames: list[float]) -> list[float]:
    """Draw as network-time.gd: run the ticks that are due, eight at most, then record one state."""
    due = frames[0] + tick
    source = target = packets[0][1]
    rows = []
    for frame in frames:
        ticks = min(math.ceil((frame - due) / tick), 8)
        if ticks > 0:
            due += ticks * tick
            source, target = target, [x for time, x in packets if time <= frame][-1]
        factor = 1 - min(max((due - frame) / tick, 0), 1)
        rows.append(source + (target - source) * factor)
    return rows


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("recorded", "original"), [("tick", godot), ("loop", netfox)])
def test_closed_form(recorded: str, original: Any, seed: int) -> None:
    tick, packets, frames = moving(seed)
    made = strategy("tick-interpolation", tick_interval=tick, recorded=recorded)
    waiting = list(packets)
    for frame, wanted in zip(frames, original(tick, packets, frames), strict=True):
        while waiting and waiting[0][0] <= frame:
            made.update(at(*waiting[0]), waiting[0][0])
            waiting.pop(0)
        assert shown(made, frame) == pytest.approx(wanted, abs=1e-6), frame


def test_a_late_packet_is_discarded() -> None:
    made = strategy("tick-interpolation")
    assert made.update(at(1.0, 1.0), 1.0)
    assert not made.update(at(0.5, 5.0), 1.0)


@pytest.mark.parametrize("frame", [0.05, 0.025, 0.1, 0.0166, 0.035])
def test_a_tick_due_exactly_at_a_frame_waits_for_the_next(frame: float) -> None:
    """The loop of netfox runs ``ceil(debt / ticktime)`` ticks, none at a debt of 0."""
    tick = 0.05
    made = strategy("tick-interpolation", tick_interval=tick)
    before = after = newest = 0.0
    due = tick  # of the first tick after the first frame
    for number in range(60):
        at = number * frame
        newest = float(number * number)
        made.update(Packet((newest, 0.0, 0.0), (0.0, 0.0, 0.0), at - 0.001), at)
        if number == 0:
            before = after = newest
        ticks = min(math.ceil(round((at - due) / tick, 6)), 8)
        if ticks > 0:
            before, after = after, newest
            due += ticks * tick
        share = 1 - min(max((due - at) / tick, 0.0), 1.0)
        assert made.read(at).position[0] == pytest.approx(before + share * (after - before))
