"""A cure is tried on the recording itself, and only what helps is named."""

from __future__ import annotations

import math

import numpy as np
import pytest

from epic_cli.engine.packets import PacketBlock
from epic_cli.engine.replay.strategy_spec import read_spec
from epic_cli.jobs.diagnose.cures import Bench, Cure, CureTrial
from epic_cli.jobs.diagnose.redraw import Redraw
from epic_cli.network.link import Link, LinkConditions
from epic_cli.network.movement import PathMovement
from epic_cli.network.paths import PATHS
from epic_cli.network.simulation import simulate

SHORT = "buffer+clock=median+clock_time=10+delay=0.03"


def recorded(rate: float = 20, seed: int = 3, duration: float = 40) -> PacketBlock:
    block = PacketBlock()
    path = PathMovement(PATHS["strafe"](5.0, 5.0, seed))
    link = Link(LinkConditions(0.06, 0.02, "gamma", loss=0.01), seed=seed)
    for packet in simulate(path, send_rate=rate, duration=duration, channel=link):
        block.append(packet)
    return block


def bench(block: PacketBlock, strategy: str = SHORT) -> Bench:
    return Bench(block, np.arange(0.4, 39, 1 / 60), read_spec(strategy))


def drawn_by(strategy: str, figure: str = "step_error") -> Cure:
    return Cure(f"-s {strategy}", figure, read_spec(strategy))


def test_a_trial_says_what_a_cure_brings_and_costs() -> None:
    found = bench(recorded()).try_cure(drawn_by(SHORT.replace("0.03", "0.09")))
    assert found is not None
    assert found.record.keys() == {"command", "figure", "before", "after"}
    assert found.after < 0.6 * found.before
    lag = next(change for change in found.changes if change[0] == "lag")
    assert lag[2] - lag[1] == pytest.approx(0.06, abs=0.015)
    assert " -> " in found.words
    assert " later" in found.words


@pytest.mark.parametrize(
    ("strategy", "figure"),
    [
        (SHORT, "step_error"),  # in force already
        (SHORT.replace("0.03", "0.031"), "step_error"),  # within the noise
        (SHORT.replace("0.03", "0.09"), "lag"),  # worse
        (SHORT.replace("0.03", "0"), "lag"),  # jumps for it
        (SHORT.replace("0.03", "3"), "step_error"),  # costs more than it gives
    ],
)
def test_what_does_not_help_is_no_cure(strategy: str, figure: str) -> None:
    assert bench(recorded()).try_cure(drawn_by(strategy, figure)) is None


def test_changed_packets_are_drawn_and_say_what_the_truth_is() -> None:
    """Each state is sent twice: the second of them stands for a movement that stopped."""
    block, once = PacketBlock(), recorded(20)
    for packet in map(once.__getitem__, range(len(once))):
        again = packet.time + 0.025, (packet.arrival or 0.0) + 0.025
        block.append(packet._replace(velocity=None))
        block.append(packet._replace(velocity=None, time=again[0], arrival=again[1]))

    def skip(packets: PacketBlock) -> PacketBlock:
        kept, last = PacketBlock(), None
        for packet in map(packets.__getitem__, range(len(packets))):
            if packet.position != last:
                kept.append(packet)
            last = packet.position
        return kept

    twice = bench(block, "buffer+clock=min+clock_time=session+delay=0.15")
    found = twice.try_cure(Cure("skip", "step_error", packets=skip))
    assert isinstance(found, CureTrial)
    assert found.after < 0.3 * found.before
    assert bench(once).try_cure(Cure("skip", "step_error", packets=skip)) is None


def test_step_errors_are_those_of_a_slow_and_obvious_oracle() -> None:
    """Against the movement itself, which the packets show nearly exactly at 60 Hz."""
    block = recorded(60)
    shown = Redraw(block).draw(read_spec("buffer+clock=min+delay=0.02"), np.arange(0.4, 39, 1 / 60))
    stand = Bench(block, np.arange(0.4, 39, 1 / 60), read_spec(SHORT), shown)
    assert stand.before is not None
    found = stand.before.figures(slice(None))
    path, best = PATHS["strafe"](5.0, 5.0, 3), math.inf
    times = stand.times[60:]
    for lag in np.arange(0.06, 0.12, 0.002):
        true = np.array([path(time - lag).position for time in times])
        off = np.square(true - shown[60:]).sum()
        if off < best:
            best, steps = off, np.diff(true, axis=0)
            error = np.sqrt(np.square(np.diff(shown[60:], axis=0) - steps).sum())
            expected = lag, error / np.sqrt(np.square(steps).sum())
    assert found.lag == pytest.approx(expected[0], abs=0.003)
    assert found.step_error == pytest.approx(expected[1], rel=0.1)
