"""Tests of a comparison's metrics against slow and plain computations from their definitions."""

from __future__ import annotations

import bisect
import math
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray
from support import movements
from support.comparisons import compared
from support.conformance import load

from epic_cli import Packet, Sample
from epic_cli.engine.replay import Trace
from epic_cli.engine.replay.playback import SCREEN_TIMING, Timing
from epic_cli.engine.replay.strategy_spec import read_specs
from epic_cli.metrics.truth import SHIFTS, Truth, find_shift_window, make_truth

Floats = NDArray[np.float64]
TICK, WARM_UP = 1 / 60, 1.0
STRATEGIES = (
    "epic",
    "extrapolator",
    "snapshot",
    "dead-reckoning",
    "lerp",
    "dumb-terminal",
    "mirror",
)


def stop_and_go(t: float) -> tuple[float, float, float]:
    whole, rest = divmod(t, 2.0)
    return 6 * (whole + (1 - math.cos(math.pi * min(rest, 1.0))) / 2), 2 * math.sin(t), 0.0


def hopping(t: float) -> tuple[float, float, float]:
    """Return the positions of a wave with a teleport every four seconds."""
    return 3 * t + 15 * (t // 4), math.sin(2 * t), 0.5 * t


STREAMS = {"circle": movements.circle, "stop and go": stop_and_go, "hopping": hopping}


class Stream(NamedTuple):
    """The sent and the received packets, and the truth: n states in segments."""

    packets: list[Packet]
    states: list[Packet]
    given: bool


def stream(name: str) -> Stream:
    movement = STREAMS[name]
    states = movements.packets(movement, 10.0, 100.0)
    if name == "hopping":
        states = [
            one._replace(
                teleport=k in (400, 800), velocity=movements.velocity(movement, k / 100 + 1e-4)
            )
            for k, one in enumerate(states)
        ]
    generator = np.random.default_rng(len(name))
    sent, newest = [], 0.0
    for k, one in enumerate(states[::5]):
        newest = max(newest, one.time + 0.06 + 0.03 * generator.random())
        lost = generator.random() < 0.03 or (name == "stop and go" and 5.0 < one.time < 6.2)
        if k == 0 or one.teleport or not lost:
            sent.append(one._replace(arrival=newest))
    return Stream(sent, states if name == "stop and go" else sent, name == "stop and go")


class Plain:
    """A movement through states: cubic Hermite between two states of the same segment."""

    def __init__(self, states: list[Packet]) -> None:
        self.times = [state.time for state in states]
        self.places = [np.array(state.position) for state in states]
        self.speeds = [np.array(state.velocity) for state in states]
        self.segments = np.cumsum([state.teleport for state in states]).tolist()
        self.known: dict[float, tuple[Floats, Floats, int] | None] = {}

    def at(self, time: float) -> tuple[Floats, Floats, int] | None:
        if time not in self.known:
            self.known[time] = self.find(time)
        return self.known[time]

    def find(self, time: float) -> tuple[Floats, Floats, int] | None:
        after = bisect.bisect_left(self.times, time)
        if after < len(self.times) and self.times[after] == time:
            return self.places[after], self.speeds[after], self.segments[after]
        if after in (0, len(self.times)) or self.segments[after] != self.segments[after - 1]:
            return None
        duration = self.times[after] - self.times[after - 1]
        u = (time - self.times[after - 1]) / duration
        p0, p1 = self.places[after - 1 : after + 1]
        v0, v1 = self.speeds[after - 1 : after + 1]
        place = (
            (2 * u**3 - 3 * u**2 + 1) * p0
            + (u**3 - 2 * u**2 + u) * duration * v0
            + (3 * u**2 - 2 * u**3) * p1
            + (u**3 - u**2) * duration * v1
        )
        speed = (
            (6 * u**2 - 6 * u) * (p0 - p1) / duration
            + (3 * u**2 - 4 * u + 1) * v0
            + (3 * u**2 - 2 * u) * v1
        )
        return place, speed, self.segments[after]

    def span(self, segment: int) -> tuple[float, float]:
        times = [t for t, s in zip(self.times, self.segments, strict=True) if s == segment]
        return times[0], times[-1]


def length(vector: Floats) -> float:
    return math.sqrt(float((vector**2).sum()))


def mean(values: list[float]) -> float:
    return sum(values) / len(values)


def recomputed(rows: NDArray[np.void], truth: Plain, sampled: Truth) -> dict[str, float]:
    """Return the metrics computed from the definitions in the guide."""
    times, shown = rows["time"], rows["position"]
    n = len(rows)
    known: Any = [truth.at(t) for t in times]
    judged = [
        one is not None and times[k] - max(truth.span(one[2])[0], times[0]) >= WARM_UP
        for k, one in enumerate(known)
    ]
    counts = [k for k in range(n) if judged[k]]

    def together(*places: int) -> bool:
        """Return True if these rows are judged and belong to one segment."""
        return all(0 <= k < n and judged[k] and known[k][2] == known[places[0]][2] for k in places)

    place = {k: one[0] for k, one in enumerate(known) if one is not None}
    errors = [length(shown[k] - place[k]) for k in counts]
    speed = math.sqrt(mean([float((known[k][1] ** 2).sum()) for k in counts]))
    found = {
        "rows": float(len(counts)),
        "error": math.sqrt(mean([e**2 for e in errors])),
        "error95": float(np.percentile(errors, 95)),
        "error_max": max(errors),
        "speed": speed,
    }
    for status, name in enumerate(("none", "held", "interpolated", "extrapolated")):
        if name != "interpolated":
            found[name] = mean([float(rows["status"][k] == status) for k in counts])

    # lag: where the mean square is least, over the rows that all shifts leave in their segment
    segments = np.array([known[k][2] if judged[k] else -1 for k in range(n)], np.int32)
    tried = SHIFTS[find_shift_window(sampled, times, segments).shifts]
    low, high = tried[0] + 1e-9, tried[-1] - 1e-9
    spans = {k: truth.span(known[k][2]) for k in counts}
    shared = [k for k in counts if spans[k][0] <= times[k] - high and times[k] - low <= spans[k][1]]
    assert 2 * len(shared) >= len(counts)

    def left(shift: float, rows: list[int]) -> float:
        squares = []
        for k in rows:
            one = truth.at(times[k] - shift)
            if one is not None and one[2] == known[k][2]:
                squares.append(float(((shown[k] - one[0]) ** 2).sum()))
        return mean(squares)

    best = min((k * 0.025 for k in range(-6, 13)), key=lambda shift: left(shift, shared))
    for width in (0.01, 0.002, 0.0004):
        best = min((best + k * width for k in range(-3, 4)), key=lambda shift: left(shift, shared))
    found["lag"], found["residual"] = best, math.sqrt(left(best, counts))

    # steps: jumps are longer than the truth's longest within half a second
    steps = [
        length(place[k + 1] - place[k])
        if k in place and k + 1 in place and known[k][2] == known[k + 1][2]
        else 0.0
        for k in range(n - 1)
    ]
    pairs = [k for k in range(1, n) if together(k - 1, k)]
    usual = math.sqrt(mean([steps[k - 1] ** 2 for k in pairs]))
    resolution = max(float(np.abs(values).max()) for values in truth.places) * 2**-23
    excess, jumps = 0.0, 0
    for k in pairs:
        limit = max(steps[max(0, k - 1 - 30) : k + 30])
        step = length(shown[k] - shown[k - 1])
        excess = max(excess, step - limit)
        jumps += step > 1.5 * limit + 0.05 * usual + 2 * resolution
    found["largest_jump"], found["jumps"] = excess, float(jumps)

    def jerk(path: Any) -> float:
        thirds = [
            path[k] - 3 * path[k - 1] + 3 * path[k - 2] - path[k - 3]
            for k in range(3, n)
            if together(k, k - 1, k - 2, k - 3)
        ]
        return math.sqrt(mean([float((third**2).sum()) for third in thirds])) / TICK**3

    found["jerk_rms"], found["truth_jerk"] = jerk(shown), jerk(place)
    return found


@pytest.mark.parametrize("name", STREAMS)
def test_every_figure_is_what_its_definition_says(name: str) -> None:
    given = stream(name)
    block = movements.block(given.packets)
    truths = {"": make_truth(movements.block(given.states), "given")} if given.given else None
    sampled = truths[""] if truths else make_truth(block)
    taking_part, plain = read_specs(STRATEGIES), Plain(given.states)
    found = compared({"": block}, taking_part, SCREEN_TIMING, truths, warm_up=WARM_UP)
    for candidate, result in zip(taking_part, found.results, strict=True):
        rows = np.asarray(Trace(candidate.make, SCREEN_TIMING.resolve(True), block))
        expected = recomputed(rows, plain, sampled)
        lag, residual = expected.pop("lag"), expected.pop("residual")
        for metric, value in expected.items():
            assert result.value(metric) == pytest.approx(value, rel=1e-7, abs=1e-6), (
                candidate.label,
                metric,
            )
        assert result.value("lag") == pytest.approx(lag, abs=0.002), candidate.label
        assert result.value("residual") == pytest.approx(residual, rel=0.005, abs=2e-3)
        roughness = max(0.0, expected["jerk_rms"] ** 2 - expected["truth_jerk"] ** 2)
        assert result.value("smoothness_cost") == pytest.approx(
            math.sqrt(roughness) * TICK**2 / expected["speed"], rel=1e-6, abs=1e-6
        )


class Shown(movements.Heedless):
    """A strategy that draws a series, one value a tick."""

    label = "shown"

    def __init__(self, values: list[float], tick: float) -> None:
        self.values, self.tick = values, tick

    def make(self) -> Shown:
        return self

    def read(self, at: float) -> Sample:
        row = min(round(at / self.tick), len(self.values) - 1)
        return Sample(at, (self.values[row], 0.0, 0.0), (0.0,) * 3, "interpolated")


def test_the_figures_of_a_series_that_another_program_computed() -> None:
    series = load("metrics")["values"]["small_series"]
    tick = series["dt"]
    sent = [
        Packet((x, 0.0, 0.0), (1 / tick, 0.0, 0.0), k * tick, k * tick)
        for k, x in enumerate(series["truth"])
    ]
    block = movements.block(sent)
    truth = {"": make_truth(block, "given")}
    (found,) = compared(
        {"": block}, [Shown(series["shown"], tick)], Timing(), truth, warm_up=0.0
    ).results
    for name, theirs in (
        ("error", "rmse"),
        ("error95", "p95_abs_error_linear_interp"),
        ("error_max", "max_abs_error"),
        ("jerk_rms", "rms_jerk"),
    ):
        assert found.value(name) == pytest.approx(series[theirs], rel=1e-6), name
