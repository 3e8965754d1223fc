"""Tests of Fiedler's curves and error reduction against tables of the formula."""

from __future__ import annotations

from typing import Any

import pytest
from support.conformance import load

from epic_cli import Packet, strategy

TABLES = load("gaffer")
FRAME = 1 / 60


def state(time: float, x: float, speed: float = 0.0) -> Packet:
    return Packet((x, 0.0, 0.0), (speed, 0.0, 0.0), time)


@pytest.mark.parametrize("case", TABLES["hermite"], ids=str)
def test_hermite(case: dict[str, Any]) -> None:
    made = strategy("hermite", playout_delay=0.35, latency=0)
    step = case["step"]
    # one more state keeps the curve alive up to its end
    for time, x, speed in (
        (0, case["p0"], case["v0"]),
        (step, case["p1"], case["v1"]),
        (2 * step, case["p1"] + case["v1"] * step, case["v1"]),
    ):
        made.update(state(time, x, speed), time)
    sample = made.read(0.35 + case["t"] * step)
    assert sample.position[0] == pytest.approx(case["value"], abs=1e-9)
    assert sample.velocity[0] == pytest.approx(case["velocity"], abs=1e-6)


def after_a_jump(error: float) -> Any:
    """Return a strategy at time 10 whose entity jumps by -error when a freeze ends."""
    made = strategy("hermite", smoothing="adaptive", playout_delay=0, latency=0)
    made.update(state(0.0, 0.0), 0.0)
    made.read(0.0)
    made.update(state(10.0, -error), 10.0)
    return made


@pytest.mark.parametrize("case", TABLES["smoothing_sequences"], ids=lambda case: case["error0"])
def test_smoothing_sequences(case: dict[str, Any]) -> None:
    made = after_a_jump(case["error0"])
    assert made.read(10.0).position[0] == pytest.approx(0)
    for frame, left in enumerate(case["per_60hz_frame"], start=1):
        shown = made.read(10 + frame * FRAME).position[0]
        assert shown + case["error0"] == pytest.approx(left, abs=1e-9)


@pytest.mark.parametrize("case", TABLES["smoothing_factor"], ids=lambda case: case["distance"])
def test_smoothing_factor(case: dict[str, Any]) -> None:
    made = after_a_jump(case["distance"])
    made.read(10.0)
    left = made.read(10 + FRAME).position[0] + case["distance"]
    assert left == pytest.approx(case["distance"] * case["factor"], abs=1e-9)


def test_a_frame_of_50_ms_is_three_frames() -> None:
    made = after_a_jump(0.2)
    made.read(10.0)
    left = made.read(10.05).position[0] + 0.2
    assert left == pytest.approx(0.2 * 0.857375, abs=1e-9)


def test_a_small_rest_is_dropped() -> None:
    made = after_a_jump(0.2)
    made.read(10.0)
    assert made.read(12.0).position[0] == -0.2
    assert TABLES["clear_below_squared"] == 1e-6
