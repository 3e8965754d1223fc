"""The EPIC library's Extrapolator, against what the library itself answered."""

from typing import Any

import pytest
from support.conformance import load

from epic_cli import Packet, Vector, strategy

VECTORS = load("epic_library")["vectors"]


def three(numbers: list[float] | None) -> Vector:
    x, y, z = [*(numbers or []), 0.0, 0.0, 0.0][:3]
    return (x, y, z)


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_it_answers_bit_for_bit_as_the_library(vector: dict[str, Any]) -> None:
    events = vector["events"]
    added = [event for event in events if event["op"] == "add"]
    one: Any = strategy(
        "extrapolator",
        velocity="estimated" if any(event["vel"] is None for event in added) else "given",
        start="origin",
        precision=vector["type"],
    )
    begun = False
    for event in events:
        if event["op"] == "read":
            drawn = one.read(event["t"])
            assert drawn.position == three(event["pos"]), event
            assert drawn.velocity == three(event["vel"]), event
            if begun:
                # where the line ends a second look finds nothing moved
                assert (one.read(event["t"]).status != "held") == event["ok"], event
            continue
        begun = True
        packet = Packet(
            three(event["pos"]),
            three(event["vel"]),
            event["packetTime"],
            teleport=event["op"] == "reset",
        )
        assert one.update(packet, event["curTime"]) == event["accepted"], event
        assert one.latency == event["latency"], event
        assert one.update_time == event["updateTime"], event


def test_the_librarys_own_unit_test_holds() -> None:
    one = strategy("extrapolator", velocity="estimated")

    def add(timestamp: float, now: float, x: float) -> bool:
        return one.update(Packet((x, 0, 0), (0, 0, 0), timestamp), now)

    assert add(0.1, 0.1, 0.0)
    assert not add(0.0, 1.0, 1.0)
    assert add(1.0, 1.5, 1.0)
    assert add(1.5, 2.0, 2.0)
    assert abs(one.read(2.0).position[0] - 2.5) < 0.25
    assert add(2.0, 2.5, 3.0)
    assert abs(one.read(2.5).position[0] - 4) < 0.125
    assert add(2.5, 3.0, 4.0)
    assert abs(one.read(3.0).position[0] - 5) < 0.07
    assert abs(one.read(3.25).position[0] - 5.5) < 0.07
    assert [one.read(time).status for time in (4.0, 4.05)] == ["extrapolated", "held"]


def test_status_goes_from_interpolated_to_extrapolated_to_held() -> None:
    one: Any = strategy("extrapolator")
    for k in range(100):
        one.update(Packet((k * 1.0, 0, 0), (10, 0, 0), k * 0.1), k * 0.1 + 0.05)
    now, period = 9.95, one.update_time
    assert one.read(now + 0.5 * period).status == "interpolated"
    assert one.read(now + 1.5 * period).status == "extrapolated"
    end, frozen = one.read(now + 2.5 * period), one.read(now + 2.6 * period)
    assert (end.status, frozen.status) == ("extrapolated", "held")
    assert end.velocity == frozen.velocity == (0, 0, 0)


def test_a_timestamp_ahead_of_the_clock_counts_as_no_latency() -> None:
    one: Any = strategy("extrapolator")
    assert one.update(Packet((1, 2, 3), (1, 0, 0), 5.0), 4.0)
    assert one.latency == 0
    assert one.read(4.0).position == (1, 2, 3)
