"""A table of the study against NumPy alone, on a circle; its closed form; what is missing."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from epic_cli.metrics.metric import Weights
from epic_cli.network.movement import RecordedMovement, Track
from studies import blending, measuring
from studies.blending import Question, region
from studies.matches import Kind, follow
from studies.measuring import AGES, Measured, Network, measured, scores
from studies.recordings import LIST, complaints

OMEGA, RADIUS, RATE, LATENCY = 4.0, 3.0, 17, 0.12
T = 1 / RATE
STILL = Network("still", 0.0, 0.0, 1, ((LATENCY, RATE),))


def circle(seconds: float) -> RecordedMovement:
    track = Track(1.0)
    for time in np.arange(0, seconds, 0.01):
        place = RADIUS * np.exp(1j * OMEGA * time)
        pace = 1j * OMEGA * place
        track.add(float(time), (place.real, place.imag, 0.0), (pace.real, pace.imag, 0.0), False)
    return RecordedMovement({"": track})


def blended(times: np.ndarray, smoothing: float) -> np.ndarray:
    """Return Murphy's projective velocity blending with exact packets that are LATENCY late."""
    shown = np.zeros(len(times), complex)
    here = speed = 0j
    for k in range(int(times[-1] / T) + 1):
        state = RADIUS * np.exp(1j * OMEGA * k * T)
        there, pace = state + 1j * OMEGA * state * LATENCY, 1j * OMEGA * state
        if k == 0:
            here, speed = there, pace

        def path(t: np.ndarray, a: complex = here, b: complex = there, v: complex = speed,
                 w: complex = pace) -> np.ndarray:  # fmt: skip
            u = np.minimum(t / smoothing, 1)
            own, received = a + (v + (w - v) * u) * t, b + w * t
            return np.asarray(own + (received - own) * u)

        own = (times >= k * T + LATENCY) & (times < (k + 1) * T + LATENCY)
        shown[own] = path(times[own] - k * T - LATENCY)
        ends = path(np.array([T - 1e-6, T]))
        here, speed = ends[1], (ends[1] - ends[0]) / 1e-6
    return shown


def seen(times: np.ndarray, shown: np.ndarray) -> tuple[float, float, float]:
    """Return the error against the present, the shift that minimizes it, and the rest."""
    shifts = np.arange(-0.1, 0.4, 0.0005)
    left = [np.mean(np.abs(shown - RADIUS * np.exp(1j * OMEGA * (times - s))) ** 2) for s in shifts]
    now = np.mean(np.abs(shown - RADIUS * np.exp(1j * OMEGA * times)) ** 2)
    return math.sqrt(now), float(shifts[np.argmin(left)]), math.sqrt(min(left))


def test_a_table_is_what_numpy_makes_of_a_circle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "NETWORKS", (STILL,))
    monkeypatch.setattr(measuring, "RECKONING", ("projective+age=stamp+smoothing_time=0.1",))
    monkeypatch.setattr(measuring, "BUFFERED", {"snapshot": ({}, (1.5,))})
    monkeypatch.setattr(measuring, "CHASING", ())
    piece = measured(circle(20), 0)
    one = Question(Kind("circle", ""), STILL, [piece] * 4)
    reckoned, buffered = blending.errors([one])

    times = np.arange(2.0, 19.5, 1 / 60)
    # without jitter and loss, 1 % are not interpolated with 0.99 intervals
    past = times - LATENCY - 1.5 * 0.99 * T
    k = np.floor(past / T)
    ends = RADIUS * np.exp(1j * OMEGA * k * T), RADIUS * np.exp(1j * OMEGA * (k + 1) * T)
    lines = ends[0] + (ends[1] - ends[0]) * (past / T - k)
    for row, shown in ((reckoned, blended(times, 0.1)), (buffered, lines)):
        error, lag, residual = seen(times, shown)
        assert float(row["error"]) == pytest.approx(error, rel=0.01)
        assert float(row["lag ms"]) == pytest.approx(1000 * lag, abs=1.5)
        assert float(row["residual"]) == pytest.approx(residual, rel=0.03)
        across = float(row["across"]) ** 2 + float(row["along"]) ** 2
        assert across == pytest.approx(residual**2, rel=0.06)
    # three costs of the same weight; half a tenth of a second of one is for nothing
    sums = one.sums((LATENCY, RATE), "snapshot 1.5")[:1]
    paid, free = scores(sums, Weights()), scores(sums, Weights(), 0.05)
    assert 100 / paid - 100 / free == pytest.approx(0.5 / 3)


def test_the_closed_form_is_the_quadratic_equation() -> None:
    """V / a is 0.1 s at 10 rad/s: the age s at which a s^2 / 2 V is s - T / 2 + D."""
    turns = 10.0
    off = np.abs(np.exp(1j * turns * AGES) - 1 - 1j * turns * AGES) ** 2
    table = np.stack([np.ones_like(AGES), turns**2 * np.ones_like(AGES), off, off / 2], axis=1)
    fast = Network("fast", 0.0, 0.0, 1, ((0.1, 1000),))
    one = Question(Kind("circle", ""), fast, [Measured({}, {}, table)] * 4)
    a_v = 2 * math.sqrt(off[4]) / AGES[4] ** 2 / turns
    for accuracy, latency in ((1, 1), (2, 1), (1, 0.5)):
        k = latency / accuracy / a_v
        expected = k + math.sqrt(k * k + 2 * k * 0.00099)
        found = one.predicted(1000, Weights(accuracy=accuracy, latency=latency), True)
        assert found == pytest.approx(expected, rel=0.03)


def test_going_on_straight_is_wrong_as_on_a_circle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "NETWORKS", ())
    table = measured(circle(10), 0).moves
    off = RADIUS * np.abs(np.exp(1j * OMEGA * AGES) - 1 - 1j * OMEGA * AGES)
    assert np.sqrt(table[:, 2] / table[:, 0]) == pytest.approx(off, rel=0.01)
    assert np.sqrt(table[:, 1] / table[:, 0]) == pytest.approx(OMEGA * RADIUS, rel=0.01)


def test_a_region_is_where_it_is_above_0_first() -> None:
    latencies = np.array([0.1, 0.2, 0.3])
    ahead = np.array(
        [[4.0, -1.0, 3.0, 1.0, -1.0], [1.0, 2.0, 2.0, -1.0, -1.0], [-1.0, -2.0, 1.0, 2.0, -1.0]]
    )
    begin, end = region(latencies, ahead)
    assert begin == pytest.approx([0.0, 0.1 + 0.1 / 3, 0.0, 0.0, 0.0])
    assert end == pytest.approx([0.25, 0.25, math.inf, 0.15, 0.0])


def test_stamps_follow_the_movement() -> None:
    """Exact states with stamps 15 ms off are stamped right, but for a shift that stays."""
    dice = np.random.default_rng(3)
    true = np.cumsum(dice.uniform(0.04, 0.09, 600))
    place = np.stack([30 * np.cos(true), 30 * np.sin(true), 0 * true], axis=1)
    pace = np.stack([-30 * np.sin(true), 30 * np.cos(true), 0 * true], axis=1)
    stamped = np.sort(true + dice.uniform(-0.015, 0.015, 600))
    made = follow(stamped, np.stack([place, pace], axis=1), np.zeros(599, bool))
    off = np.diff(made) - np.diff(true)
    assert np.sqrt(np.mean(off**2)) < 0.1 * np.std(np.diff(stamped) - np.diff(true))
    assert np.abs(made - true).max() < 0.015


def test_it_says_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["blending", "--data", str(tmp_path)])
    with pytest.raises(SystemExit, match=r"rl-01\.parquet is missing in "):
        blending.main()
    name = LIST.read_text().split()[1]
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("something else")
    assert f"{name} is not the file that the figures were made with" in complaints(tmp_path)
