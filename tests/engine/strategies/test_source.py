"""Tests of Source's interpolated variables against tables of the formula."""

from __future__ import annotations

from typing import Any

import pytest
from support.conformance import load
from support.delivery import Original, beside, check_rows, streams

from epic_cli import Packet, Sample, strategy

TABLES = load("source_interpolatedvar")
STREAMS = streams()
MODES = {
    "oldest": "held",
    "hold": "held",
    "linear": "interpolated",
    "hermite": "interpolated",
    "extrapolate": "extrapolated",
    "extrapolate_capped": "held",
}


def sampled(history: list[tuple[float, float]], target: float) -> Sample:
    """Return x at this time on the sender's clock, given pairs (timestamp, x), oldest first."""
    made = strategy("source", cl_interp=0, cl_interp_ratio=0, tick_interval=0, latency=0)
    for timestamp, x in history:
        made.update(Packet((x, 0.0, 0.0), (0.0, 0.0, 0.0), timestamp), timestamp)
    return made.read(target)


@pytest.mark.parametrize(
    "case", TABLES["sample"], ids=lambda case: f"{case['history']}-{case['target']}"
)
def test_sample(case: dict[str, Any]) -> None:
    history = [(timestamp, value) for timestamp, value in reversed(case["entries_newest_first"])]
    sample = sampled(history, case["target"])
    assert sample.position[0] == pytest.approx(case["value"], abs=1e-9)
    assert sample.status == MODES[case["mode"]]


@pytest.mark.parametrize("case", TABLES["hermite"], ids=str)
def test_hermite(case: dict[str, Any]) -> None:
    history = [(0.0, case["p0"]), (1.0, case["p1"]), (2.0, case["p2"])]
    sample = sampled(history, 1 + case["t"])
    assert sample.position[0] == pytest.approx(case["value"], abs=1e-9)
    if 0 < case["t"] < 1:
        before, after = (sampled(history, 1 + case["t"] + d).position[0] for d in (-1e-6, 1e-6))
        assert (after - before) / 2e-6 == pytest.approx(case["derivative_per_frac"], abs=1e-6)


@pytest.mark.parametrize("run", TABLES["streams"], ids=lambda run: run["stream"])
def test_common_streams(run: dict[str, Any]) -> None:
    made = strategy("source", tick_interval=0, latency=0.08)
    original = Original()
    for row, sample in beside(made, STREAMS[run["stream"]], run["rows"]):
        last = original.last
        original.check(row["out"], sample)
        if row["out"] is None:
            continue
        assert row["target_time"] == pytest.approx(row["tick_ms"] / 1000 - 0.08 - 0.1)
        if row["mode"] == "extrapolate_capped" and last and last.position != sample.position:
            assert sample.status == "extrapolated"  # has just come to the end
        else:
            assert sample.status == MODES[row["mode"]]


def test_the_longer_of_interp_and_ratio_counts_in_whole_ticks_and_one() -> None:
    for settings, lag in (
        ({}, 0.12),  # TICKS_TO_TIME(TIME_TO_TICKS(0.1) + 1)
        ({"cl_interp": 0.3}, 0.315),
        ({"cl_interp": 0.0, "cl_updaterate": 10.0}, 0.21),
        ({"tick_interval": 0.0}, 0.1),
    ):
        made = strategy("source", latency=0, **settings)
        for count in range(100):
            made.update(Packet((count * 0.05, 0, 0), (1, 0, 0), count * 0.05), count * 0.05)
        assert 4.9 - made.read(4.9).position[0] == pytest.approx(lag)


def test_a_late_packet_wipes_out_the_newer_ones_only_with_quirks() -> None:
    def play(quirks: str) -> tuple[bool, float]:
        made = strategy("source", latency=0, tick_interval=0, quirks=quirks)
        for timestamp, x in ((0.0, 0.0), (0.1, 1.0), (0.2, 2.0), (0.3, 3.0)):
            made.update(Packet((x, 0, 0), (0, 0, 0), timestamp), timestamp)
        taken = made.update(Packet((0.5, 0, 0), (0, 0, 0), 0.05), 0.3)
        return taken, made.read(0.3).position[0]

    taken, shown = play("off")
    assert not taken
    assert shown == pytest.approx(2.0)
    taken, shown = play("on")
    assert taken
    assert shown == pytest.approx(0.5 + 10 * 0.05 * 3)  # the segment from 0 to 0.5, continued


@pytest.mark.parametrize(("gap", "shown"), [(0.0005, 11.0), (0.0015, 11.0 + 0.25 / 0.0015)])
def test_two_states_less_than_a_millisecond_apart_say_nothing_of_a_velocity(
    gap: float, shown: float
) -> None:
    made = strategy("source", latency=0, tick_interval=0, cl_interp=0, cl_interp_ratio=0)
    for timestamp, x in ((0.0, 10.0), (gap, 11.0)):
        made.update(Packet((x, 0, 0), (0, 0, 0), timestamp), timestamp)
    assert made.read(1.0).position[0] == pytest.approx(shown)


def test_the_first_millisecond_past_the_newest_is_drawn_as_the_others_are() -> None:
    assert sampled([(0.0, 0.0), (0.1, 1.0)], 0.1005).position[0] == pytest.approx(1.005)


def test_an_estimated_latency_draws_as_the_given_one() -> None:
    stream = STREAMS["parabola"]
    rows = next(run for run in TABLES["streams"] if run["stream"] == "parabola")["rows"]
    check_rows(strategy("source", tick_interval=0), stream, rows)
