"""The two strategies made of parts: against slow oracles, engines' strategies and games' code."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support import composition_oracle as oracle

from epic_cli import Packet, strategy

Settings = dict[str, Any]
Drawn = list[Any]


class Engine:
    """A strategy, called as an oracle is."""

    def __init__(self, name: str, settings: Settings) -> None:
        self.made: Any = strategy(name, **settings)

    def take(self, packet: Packet, now: float) -> bool:
        return bool(self.made.update(packet, now))

    def draw(self, at: float) -> Any:
        sample = self.made.read(at)
        return None if sample.status == "none" else np.array(sample.position)


def apart(one: Drawn, other: Drawn) -> float:
    """The largest distance between what two draw; infinite where only one draws something."""
    worst = 0.0
    for a, b in zip(one, other, strict=True):
        if (a is None) != (b is None):
            return math.inf
        if a is not None:
            worst = max(worst, float(np.abs(a - b).max()))
    return worst


def stream(dice: random.Random, *, hostile: bool = True) -> tuple[list[Packet], list[float]]:
    """Packets in order of arrival, over a network with jitter, and the times of frames.

    A hostile one has pauses, lost, late and doubled packets, jumps and marked teleports.
    """
    period = dice.choice([1 / 30, 0.05, 0.1])
    latency, jitter = dice.uniform(0, 0.15), dice.choice([0.0, 0.01, 0.04])
    ahead = dice.choice([0.0, 0.0, 5.0, -100.0])  # of the sender's clock
    time, position, packets = dice.uniform(0, 3), np.zeros(3), []
    velocity = np.array([dice.gauss(0, 5) for _ in range(3)])
    for _ in range(60):
        time += period + (dice.uniform(0.2, 0.8) if hostile and dice.random() < 0.03 else 0)
        if dice.random() < 0.2:
            velocity = np.array([dice.gauss(0, 5) for _ in range(3)])
        position = position + velocity * period + (20 if hostile and dice.random() < 0.02 else 0)
        if hostile and dice.random() < 0.05:
            continue
        arrival = time + latency + (dice.expovariate(1 / jitter) if jitter else 0)
        packet = Packet(
            (position[0], position[1], position[2]),
            (velocity[0], velocity[1], velocity[2]),
            time + ahead,
            arrival,
            delta=dice.choice([0, 0, 0, 0.01]) if hostile else 0.0,
            teleport=hostile and dice.random() < 0.01,
        )
        packets.append(packet)
        if hostile and dice.random() < 0.03:
            packets.append(packet._replace(arrival=arrival + dice.uniform(0, 0.05)))
    packets.sort(key=lambda packet: packet.arrival or 0)
    if not hostile:  # in order, too
        newest = np.maximum.accumulate([packet.time for packet in packets])
        packets = [p for p, n in zip(packets, newest, strict=True) if p.time == n]
    at, frames = packets[0].arrival - 0.1, []  # type: ignore[operator]
    rate = dice.choice([30, 60, 144])
    while at < packets[-1].arrival + 1:  # type: ignore[operator]
        frames.append(at)
        at += dice.uniform(0.8, 1.3) / rate
    return packets, frames


#: The values to draw from: seconds and send intervals.
BUFFER: dict[str, list[Any]] = {
    "stamps": ["sender", "sender", "arrival", "ticks"],
    "clock": ["agree", "first", "min", "mean", "median", "max", "newest", "pll"],
    "clock_time": [0.3, 1.0, 2.0, "session"],
    "clock_margin": [0, 0, 0.03],
    "clock_resync": [0, 0, 0.02, 0.1],
    "clock_gain": [0.01, 0.05],
    "clock_limit": [0.0001, 0.003],
    "delay": [0, 0.0712, 0.133, 0.2, "0.513i", "1.808i", "3.5i"],
    "jitter_margin": [0, 1, 2.5],
    "jitter_time": [1, 2],
    "delay_least": [0, 0, 0.04, "1.1i"],
    "delay_most": [60, 60, 0.15, "2.2i"],
    "interval": ["auto", "auto", 0.06],
    "interval_time": [0, 0, 2],
    "curve": ["linear", "hermite", "catmull-rom"],
    "beyond": ["hold", "hold", "freeze", "unlimited", 0.1, 0.3],
    "beyond_along": ["slope", "velocity"],
    "beyond_then": ["stay", "return"],
    "catch_up": ["snap", "snap", "none", "rate"],
    "catch_up_rate": [0.05, 0.2],
    "catch_up_limit": [0, 0.2],
    "monotonic": ["off", "off", "on"],
    "late": ["drop", "drop", "insert"],
    "before": ["hold", "none"],
    "begin": [1, 1, 2, 3],
    "keep": [1024, 1024, 2, 3, 6],
    "low_pass": [0, 0, 0.05],
    "snap": [0, 5, 15],
}
CHASE: dict[str, list[Any]] = {
    "how": ["exponential", "lerp", "share", "spring", "speed", "interval", "linear", "eased"],
    "time": [0.05, 0.1, 0.2, "1i", "2.5i"],
    "share": [0.1, 0.3, 1],
    "speed": [3, 20],
    "ease": list(oracle.EASES),
    "start": ["drawn", "arrival"],
    "overshoot": ["off", "on"],
    "interval": ["auto", 0.06],
    "ahead": ["newest", "newest", "velocity", "arrival", "step"],
    "age": ["stamp", "arrival"],
    "ahead_time": [1.0, 0.1],
    "snap": [0, 5],
}


@pytest.mark.parametrize(
    ("name", "values", "slow"), [("buffer", BUFFER, oracle.Buffer), ("chase", CHASE, oracle.Chase)]
)
def test_random_compositions_draw_what_their_formulas_say(
    name: str, values: dict[str, list[Any]], slow: Callable[..., Any]
) -> None:
    count = 0
    for seed in range(120):
        dice = random.Random(seed)
        packets, frames = stream(dice)
        settings = {key: dice.choice(of) for key, of in values.items() if dice.random() < 0.6}
        drawn = oracle.rows(Engine(name, settings), packets, frames)
        assert apart(drawn, oracle.rows(slow(**settings), packets, frames)) < 1e-9, (seed, settings)
        count += sum(row is not None for row in drawn)
    assert count > 10000


def test_the_oracles_have_the_settings_of_the_strategies() -> None:
    for name, values, slow in (("buffer", BUFFER, oracle.Buffer), ("chase", CHASE, oracle.Chase)):
        made: Any = strategy(name)
        assert set(values) | {"clock_decay"} >= set(made.settings)
        assert slow().s == made.settings
