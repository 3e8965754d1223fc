"""Tests of the EPIC library's Extrapolator against answers of the library itself."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.conformance import load
from support.recordings import examples

from epic_cli import Packet, Vector, strategy

VECTORS = load("epic_library")["vectors"]


def three(numbers: list[float] | None) -> Vector:
    x, y, z = [*(numbers or []), 0.0, 0.0, 0.0][:3]
    return (x, y, z)


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_it_answers_bit_for_bit_as_the_library(vector: dict[str, Any]) -> None:
    events = vector["events"]
    one: Any = strategy("extrapolator", start="origin", precision=vector["type"])
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
            None if event["vel"] is None else three(event["vel"]),
            event["packetTime"],
            teleport=event["op"] == "reset",
        )
        assert one.update(packet, event["curTime"]) == event["accepted"], event
        assert one.latency == event["latency"], event
        assert one.update_time == event["updateTime"], event


class Library:
    """A reimplementation of the library's Extrapolator<1, double>, formula by formula."""

    def __init__(self, time: float, now: float, position: float, velocity: float | None) -> None:
        self.last_time, self.last = time, position
        self.snap_time, self.snap, self.slope = now, position, velocity or 0.0
        self.update_time = now - time
        self.aim_time = now + self.update_time

    def add(self, time: float, now: float, position: float, velocity: float | None) -> None:
        elapsed = time - self.last_time
        if elapsed <= 0:
            return
        if velocity is None:
            velocity = (position - self.last) * (1.0 / elapsed) if elapsed > 1e-4 else 0.0
        update = self.update_time
        longer = elapsed > update
        self.update_time = (update + elapsed) * 0.5 if longer else (update * 7 + elapsed) * 0.125
        self.last_time, self.last = time, position
        self.snap = self.read(now)
        self.aim_time, self.snap_time = now + self.update_time, now
        aim = position + velocity * (self.aim_time - time)
        span = self.aim_time - now
        self.slope = velocity if abs(span) < 1e-4 else (aim - self.snap) * (1.0 / span)

    def read(self, at: float) -> float:
        at = min(max(at, self.snap_time), self.aim_time + self.update_time)
        return self.snap + self.slope * (at - self.snap_time)


@given(
    st.lists(
        st.tuples(
            st.floats(-0.05, 0.3), st.floats(0, 0.2), st.floats(-9, 9), st.none() | st.floats(-9, 9)
        ),
        min_size=2,
        max_size=20,
    )
)
@examples(200)
def test_a_stream_of_both_kinds_of_packets_is_drawn_as_the_library_draws_it(
    steps: list[tuple[float, float, float, float | None]],
) -> None:
    one = strategy("extrapolator", precision="double")
    oracle: Library | None = None
    time = now = 0.0
    for step, age, x, speed in steps:
        time += step
        now = max(now, time + age)
        velocity = None if speed is None else (speed, 0.0, 0.0)
        one.update(Packet((x, 0, 0), velocity, time), now)
        if oracle is None:
            oracle = Library(time, now, x, speed)
        else:
            oracle.add(time, now, x, speed)
        for at in (now, now + 0.07, now + 0.9):
            assert one.read(at).position[0] == oracle.read(at)


def test_what_is_given_can_be_ignored_or_demanded() -> None:
    def drawn(velocity: str, given: Vector | None) -> float:
        one = strategy("extrapolator", velocity=velocity)
        for time in (0.0, 0.1):
            one.update(Packet((time * 10, 0, 0), given, time), time)
        return one.read(0.15).position[0]

    wrong = (-50.0, 0.0, 0.0)
    assert drawn("estimated", wrong) == drawn("auto", None) == drawn("estimated", None)
    assert drawn("given", wrong) == drawn("auto", wrong) != drawn("auto", None)
    # the engine's estimate is the library's, but for its rounding to single precision
    assert drawn("given", None) == pytest.approx(drawn("auto", None))


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
