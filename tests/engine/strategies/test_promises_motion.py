"""Tests that a constant velocity over a clean link is drawn as a constant velocity.

Each row moves on by velocity times tick, so that the lag of what is drawn stays constant for twenty
minutes, at any rate of packets and rows; or the strategy declares how the lag varies.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import NamedTuple

import numpy as np
import pytest
from support.recordings import EXHAUSTIVE

from epic_cli import Packet, Timing, strategies, strategy
from epic_cli.engine.packets import PacketBlock
from epic_cli.engine.replay import Trace

DECLARED = {declaration.name: declaration for declaration in strategies()}

#: What is a constant lag: the single precision of some originals, after twenty minutes.
ROUNDING = 1e-3
#: The slowest clock (of Quake III, 2 ms a packet) is in step after that time, s.
WARM = 90.0
DURATION = 1200.0
SPEED = 5.0


class Pace(NamedTuple):
    """The packets a second, the rows a second, and the latency (s) of a test."""

    rate: float
    rows: int
    latency: float


PACES = [
    # as many rows as packets, at the packets' own times and at others
    Pace(20, 20, 0.1),
    Pace(20, 20, 0.0837),
    Pace(60, 60, 0.1),
    Pace(10, 10, 0.0999),
    # a multiple of one another
    Pace(20, 60, 0.1),
    Pace(60, 20, 0.0837),
    Pace(5, 10, 0.1),
    # nearly one or the other
    Pace(19.99, 20, 0.0837),
    Pace(20.02, 20, 0.1),
    Pace(60.3, 60, 0.1),
    Pace(19.99, 10, 0.1),
    # neither
    Pace(12.5, 30, 0.1),
    Pace(30, 50, 0.0837),
    Pace(128, 10, 0.1),
    Pace(5, 144, 0.1),
    Pace(128, 144, 0.0837),
]


@cache
def packets(rate: float, latency: float) -> PacketBlock:
    """Return the packets of a sender that moves on in a straight line."""
    block = PacketBlock()
    for number in range(round(DURATION * rate)):
        time = number / rate
        where = (SPEED * time, 0.0, 0.0)
        block.append(Packet(where, (SPEED, 0.0, 0.0), time, time + latency))
    return block


@cache
def waver(name: str, pace: Pace) -> float:
    """Return how much the lag of the rows varies (s) once all clocks have settled."""
    one = Fraction(1, pace.rows)
    pacing = Timing((one.numerator, one.denominator)).resolve(True)
    rows = np.asarray(Trace(lambda: strategy(name), pacing, packets(pace.rate, pace.latency)))
    late = rows["time"] - rows["position"][:, 0] / SPEED
    return float(np.ptp(late[(rows["time"] > WARM) & (rows["time"] < DURATION - 1)]))


@pytest.mark.parametrize("name", DECLARED)
def test_a_clean_line_is_drawn_at_its_own_speed_for_twenty_minutes(name: str) -> None:
    wavering = DECLARED[name].lag_varies
    first = list(DECLARED).index(name) % 4  # of the paces, a fourth of the strategies meet each
    for pace in PACES if EXHAUSTIVE or wavering else PACES[first::4]:
        most = wavering.compute_most(1 / pace.rate, 1 / pace.rows) if wavering else 0.0
        assert waver(name, pace) <= most + ROUNDING, pace


@pytest.mark.parametrize("name", [name for name, one in DECLARED.items() if one.lag_varies])
def test_who_declares_that_its_lag_wavers_has_a_pace_at_which_it_does(name: str) -> None:
    assert max(waver(name, pace) for pace in PACES) > 2 * ROUNDING
