"""Tests of the phase-locked loop of the Multiplayer Platformer Log."""

import random

import pytest

from epic_cli.engine.strategies.parts import PhaseLockedLoop


class TimeSyncer:
    """The log's original class as an oracle, with its own names and in milliseconds."""

    def __init__(self, now: float) -> None:
        self.integrator = 0.0
        self.total_drift = 0.0
        self.expected = now + 100

    def on_server_update(self, now: float) -> None:
        difference = self.expected - (now + self.total_drift)
        self.integrator = self.integrator * 0.9 + difference
        self.total_drift += min(max(self.integrator * 0.01, -0.1), 0.1)
        self.expected += 100


def test_it_drifts_as_the_logs_own_class_does() -> None:
    numbers = random.Random(5)
    loop, oracle = PhaseLockedLoop(), TimeSyncer(7000.0)
    loop.start(7.0)
    for k in range(1, 500):
        now = 7000 + k * 100 + numbers.uniform(0, 30)
        loop.server_update(now / 1000)
        oracle.on_server_update(now)
        assert loop.drift * 1000 == pytest.approx(oracle.total_drift, abs=1e-9)
        assert loop.expected * 1000 == pytest.approx(oracle.expected, abs=1e-6)


def test_it_tells_how_early_an_update_was_and_when_its_state_was_true() -> None:
    loop = PhaseLockedLoop(step=0.1)
    loop.start(2.0)
    assert loop.server_update(2.09) == pytest.approx(0.01)
    assert loop.ticks == 1
    assert loop.server_time(0.03) == pytest.approx(0.07)
    assert loop.since_start(2.5) == pytest.approx(0.5 + loop.drift)


def test_one_update_shifts_the_clock_by_no_more_than_the_limit() -> None:
    loop = PhaseLockedLoop(step=0.1, limit=0.0001)
    loop.start(0.0)
    loop.server_update(0.9)
    assert loop.drift == -0.0001
