"""Tests of RoboCat Action: its interpolation, its extra simulation and its average."""

from typing import Any

import pytest
from support.conformance import load
from support.filter_cases import packet

from epic_cli import strategy
from epic_cli.engine.strategies.parts import WeightedTimedAverage

VALUES = load("robocat")


@pytest.mark.parametrize(
    "case", VALUES["interpolate_client_side_prediction"], ids=("local", "remote")
)
def test_the_way_to_a_corrected_value(case: Any) -> None:
    role = "remote" if case["remote"] else "local"
    steps = case["steps"]
    shown = 0.0
    for count in range(1, len(steps) + 1):
        one = strategy("robocat", rtt=case["rtt"], role=role)
        one.update(packet(0.0, 0.0), 0.0)
        for step in steps[:count]:
            one.update(packet(step["time"], step["corrected"]), step["time"])
        last = steps[count - 1]
        assert last["old"] == pytest.approx(shown, abs=1e-12)
        assert last["out_of_sync_for"] == pytest.approx(last["time"] - steps[0]["time"])
        shown = one.read(last["time"]).position[0]
        assert shown == pytest.approx(last["shown"], abs=1e-12)


def test_the_weighted_average_of_round_trip_times() -> None:
    case = VALUES["weighted_rtt"]
    average = WeightedTimedAverage(case["duration_s"])
    now = 0.0
    for step in case["steps"]:
        now += step["dt"]
        assert average.add(step["sample"], now) == pytest.approx(step["value"], abs=1e-12)


def test_the_round_trip_time_is_twice_the_age() -> None:
    one: Any = strategy("robocat")
    for k in range(200):
        one.update(packet(k * 0.05, k * 0.5, 10.0), k * 0.05 + 0.08)
    assert one.rtt_in_use == pytest.approx(0.16)
    assert one.read(10.03).position[0] == pytest.approx(10 * (10.03 + 0.08))


def test_frames_go_on_as_shown_also_while_it_is_out_of_sync() -> None:
    one = strategy("robocat", rtt=0.2)
    one.update(packet(0.0, 0.0, 1.0), 0.0)
    assert one.read(0.05).status == "extrapolated"
    one.update(packet(0.1, 5.0, 1.0), 0.1)
    shown = [one.read(time) for time in (0.15, 0.2, 0.4)]
    assert [sample.status for sample in shown] == ["extrapolated"] * 3
    speed = (shown[1].position[0] - shown[0].position[0]) / 0.05
    assert speed == pytest.approx(shown[0].velocity[0])
