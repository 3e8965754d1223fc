from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import movements

from epic_cli.analysis.lag import find_lag
from epic_cli.analysis.truth import Truth, truth_of

TIMES = np.arange(20.0, 181.0) * 0.05
EVERYWHERE = np.zeros(len(TIMES), np.int32)


def truth(movement: movements.Movement, duration: float = 10.0) -> Truth:
    return truth_of(movements.block(movements.packets(movement, duration)))


CIRCLE, STRAIGHT = truth(movements.circle), truth(movements.straight)


@given(st.floats(-0.45, 2.9))
def test_a_pure_delay_is_the_lag(delay: float) -> None:
    for known, movement in ((CIRCLE, movements.circle), (STRAIGHT, movements.straight)):
        shown = np.array([movement(t - delay) for t in TIMES])
        lag = find_lag(known, TIMES, shown, EVERYWHERE)
        assert lag.seconds == pytest.approx(delay, abs=1e-4)
        assert lag.residual == pytest.approx(0.0, abs=1e-3)


def test_what_is_beside_the_path_stays_as_residual() -> None:
    shown = np.array([movements.circle(t - 0.1) for t in TIMES]) + np.array([0, 0, 0.75])
    lag = find_lag(CIRCLE, TIMES, shown, EVERYWHERE)
    assert lag.seconds == pytest.approx(0.1, abs=1e-6)
    assert lag.residual == pytest.approx(0.75, abs=1e-6)
    assert lag.rows == len(TIMES)


def test_the_worked_example_of_three_ticks() -> None:
    values = [float(k) for k in range(10)]
    known = truth(lambda t: (t / 0.05, 0.0, 0.0), 0.45)
    shown = np.array([[max(0.0, v - 3), 0, 0] for v in values])
    times = np.arange(10.0) * 0.05
    lag = find_lag(known, times, shown, np.zeros(10, np.int32))
    assert lag.seconds == pytest.approx(3 * 0.05)
    assert lag.residual == pytest.approx(0.0, abs=1e-9)


def test_of_equal_shifts_the_smallest_counts() -> None:
    def fast(t: float) -> tuple[float, float, float]:
        return math.cos(4 * math.pi * t), math.sin(4 * math.pi * t), 0.0

    known = truth_of(movements.block(movements.packets(fast, rate=100.0)))
    shown = np.array([fast(t - 0.1) for t in TIMES])
    assert find_lag(known, TIMES, shown, EVERYWHERE).seconds == pytest.approx(0.1, abs=1e-3)


@pytest.mark.parametrize("case", ["the truth rests", "no row counts", "the best is out of reach"])
def test_what_cannot_be_told_is_not_made_up(case: str) -> None:
    known, shown, segments = CIRCLE, np.array([movements.circle(t) for t in TIMES]), EVERYWHERE
    if case == "the truth rests":
        known = truth(lambda _: (1.0, 2.0, 3.0))
        shown = np.ones((len(TIMES), 3))
    elif case == "no row counts":
        segments = np.full(len(TIMES), -1, np.int32)
    else:
        known = STRAIGHT
        shown = np.array([movements.straight(t + 3.0) for t in TIMES])
    lag = find_lag(known, TIMES, shown, segments)
    assert math.isnan(lag.seconds)
    assert math.isnan(lag.residual)
    assert lag.rows == 0
