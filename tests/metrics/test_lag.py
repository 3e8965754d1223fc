from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import movements

from epic_cli.metrics.arrays import find_minimum
from epic_cli.metrics.lag import LONGEST, find_lag
from epic_cli.metrics.truth import Truth, build_truth, make_truth

TIMES = np.arange(20.0, 181.0) * 0.05
EVERYWHERE = np.zeros(len(TIMES), np.int32)


def truth(movement: movements.Movement, duration: float = 10.0) -> Truth:
    return make_truth(movements.block(movements.packets(movement, duration)))


CIRCLE, STRAIGHT = truth(movements.circle), truth(movements.straight)


@given(st.floats(-0.45, 2.9))
def test_a_pure_delay_is_the_lag(delay: float) -> None:
    for known, movement in ((CIRCLE, movements.circle), (STRAIGHT, movements.straight)):
        shown = np.array([movement(t - delay) for t in TIMES])
        lag = find_lag(known, TIMES, shown, EVERYWHERE)
        assert lag.seconds == pytest.approx(delay, abs=1e-4)
        assert lag.residual == pytest.approx(0.0, abs=1e-3)


@pytest.mark.parametrize("case", ["the truth rests", "no row counts", "the best is out of reach"])
def test_what_cannot_be_told_is_not_made_up(case: str) -> None:
    known, shown, segments = CIRCLE, np.array([movements.circle(t) for t in TIMES]), EVERYWHERE
    charged = rest = 0.0
    if case == "the truth rests":
        known = truth(lambda _: (1.0, 2.0, 3.0))
        shown = np.ones((len(TIMES), 3))
        charged, rest = math.nan, math.sqrt(5)
    elif case == "no row counts":
        segments = np.full(len(TIMES), -1, np.int32)
        charged = rest = math.nan
    else:
        known = STRAIGHT
        shown = np.array([movements.straight(t + 3.0) for t in TIMES])
        charged, rest = LONGEST, 3 * math.hypot(8, 2)
    lag = find_lag(known, TIMES, shown, segments)
    assert math.isnan(lag.seconds)
    assert lag.residual == pytest.approx(rest, nan_ok=True)
    assert lag.charged == pytest.approx(charged, nan_ok=True)
    assert lag.rows == (segments >= 0).sum()


def patrol(t: float) -> tuple[float, float, float]:
    """Return a walk around a square of 10 units in 4 s."""
    side, rest = divmod(t % 4.0, 1.0)
    corners = ((0, 0), (10, 0), (10, 10), (0, 10), (0, 0))
    (ax, ay), (bx, by) = corners[int(side)], corners[int(side) + 1]
    return ax + (bx - ax) * rest, ay + (by - ay) * rest, 0.0


@pytest.mark.parametrize("seed", range(8))
def test_noise_does_not_make_the_lag_a_whole_lap_longer(seed: int) -> None:
    times = np.arange(60, 1800) / 60
    known = make_truth(movements.block(movements.packets(patrol, 30.0)))
    noise = np.random.default_rng(seed).normal(0, 0.3, (len(times), 3))
    shown = np.array([patrol(t - 0.08) for t in times]) + noise
    lag = find_lag(known, times, shown, np.zeros(len(times), np.int32))
    assert lag.seconds == pytest.approx(0.08, abs=0.01)
    (lap,) = lag.others
    assert lap == pytest.approx(4.08, abs=0.01)


def test_the_lag_on_a_fast_circle_is_not_a_lap_early() -> None:
    def fast(t: float) -> tuple[float, float, float]:
        return math.cos(4 * math.pi * t), math.sin(4 * math.pi * t), 0.0

    known = make_truth(movements.block(movements.packets(fast, rate=100.0)))
    held = np.array([fast(math.floor((t - 0.08) * 20) / 20) for t in TIMES + 0.013])
    lag = find_lag(known, TIMES + 0.013, held, EVERYWHERE)
    assert 0.08 < lag.seconds < 0.14
    assert any(other == pytest.approx(lag.seconds - 0.5, abs=0.01) for other in lag.others)


LONG = np.arange(0.0, 620.0, 0.02)


def _wander(times: np.ndarray) -> np.ndarray:
    """Return positions (n, 3) of a movement that never repeats itself."""
    return np.stack(
        [
            6 * np.sin(1.1 * times) + 2 * np.sin(2.83 * times),
            5 * np.cos(0.7 * times) + np.sin(3.9 * times),
            0 * times,
        ],
        axis=1,
    )


WANDER = build_truth(LONG, _wander(LONG), np.gradient(_wander(LONG), LONG, axis=0), None, "given")


@pytest.mark.parametrize("seconds", [30, 300])
@pytest.mark.parametrize("rate", [10.0, 12.5, 30.0])
def test_the_lag_of_what_goes_with_the_packets_is_that_of_all_rows(
    rate: float, seconds: int
) -> None:
    times = np.arange(120, seconds * 60) / 60
    for late, first in ((-0.09, 0.0), (0.02, 1 / 60), (0.15, 0.7 / rate)):
        # held from packet to packet, by halves: too early behind a packet, too late before the next
        since = np.mod(times - first, 1 / rate)
        shown = _wander(times - late - since / 2)
        found = find_lag(WANDER, times, shown, np.zeros(len(times), np.int32))

        def left(shift: float, times: np.ndarray = times, shown: np.ndarray = shown) -> float:
            return float(np.square(_wander(times - shift) - shown).sum())

        least, _ = find_minimum(left, late - 0.1, late + 0.2, 20)
        assert found.seconds == pytest.approx(least, abs=2e-4), (late, first)
        assert found.rows == len(times)
