"""Tests of projective blending against the formula's values, and of delta3d's smoothing times."""

import math
from typing import Any

import pytest
from support.conformance import load
from support.delivery import check_rows, streams
from support.filter_cases import packet

from epic_cli import replay, strategy

VALUES = load("murphy_pvb")
STREAMS = streams()


def drawn_at(case: dict[str, Any], blending: str) -> float:
    """Return the position that is drawn T seconds after a packet with P1, V1 and A1.

    Until that packet the strategy draws P0 with V0. The acceleration is that between packets a
    second apart: the velocities of the first two are chosen such that the second is drawn at P0
    with V0 a second after it came in, and that the change from it to the third is A1.
    """
    one = strategy(
        "projective",
        blending=blending,
        smoothing_time=case["T_delta"],
        acceleration="estimated",
        limit_velocity="off",
    )
    second = case["V1"] - case["A1"]
    bend = case["V0"] - second
    one.update(packet(0.0, 0.0, second - bend), 0.0)
    one.update(packet(1.0, case["P0"] - second - bend / 2, second), 63.0)
    one.update(packet(2.0, case["P1"], case["V1"]), 64.0)
    return one.read(64.0 + case["T"]).position[0]


@pytest.mark.parametrize("case", VALUES["cases"])
def test_the_formulas_values(case: Any) -> None:
    assert drawn_at(case, "velocity") == pytest.approx(case["pvb"], abs=1e-9)
    assert drawn_at(case, "position") == pytest.approx(case["ppb"], abs=1e-9)


@pytest.mark.parametrize("expected_stream", VALUES["streams"], ids=lambda one: one["stream"])
def test_the_streams_as_a_program_that_begins_at_its_frames(expected_stream: Any) -> None:
    stream = STREAMS[expected_stream["stream"]]
    one = strategy(
        "projective",
        smoothing_time=expected_stream["T_delta"],
        begin="last-frame",
        limit_velocity="off",
    )
    check_rows(one, stream, expected_stream["rows"], velocity_tolerance=1e-7)


def test_the_velocity_is_that_of_the_path() -> None:
    one = strategy("projective", smoothing_time=0.4, acceleration="estimated")
    one.update(packet(0.0, 0.0, 10.0), 0.0)
    one.update(packet(0.3, 2.0, 4.0), 0.3)
    for at in (0.31, 0.45, 0.69, 0.9):
        before, here, after = (one.read(at + d) for d in (0.0, 1e-5, 2e-5))
        slope = (after.position[0] - before.position[0]) / 2e-5
        assert here.velocity[0] == pytest.approx(slope, abs=1e-4)
    assert one.read(1.0).status == "extrapolated"


def test_no_frame_changes_what_is_drawn() -> None:
    path = [packet(k * 0.1, math.sin(k * 0.5), math.cos(k * 0.5) * 5, k * 0.1) for k in range(20)]
    coarse = {round(s.time, 6): s for s in replay(path, "projective", tick="50ms")}
    fine = {round(s.time, 6): s for s in replay(path, "projective", tick="10ms")}
    for time, sample in coarse.items():
        assert sample.position == pytest.approx(fine[time].position, abs=1e-9)


def blend_ends(one: Any, after: float) -> float:
    """Return how many seconds after this time rows stay interpolated, to 0.01 s."""
    times = (after + k * 0.01 for k in range(1000))
    return next(at for at in times if one.read(at).status == "extrapolated") - after


def test_the_smoothing_time_is_the_average_interval() -> None:
    one = strategy("projective")
    now = 0.0
    for k in range(30):
        now = k * 0.2
        one.update(packet(now, now * 100, 100.0), now)
    assert blend_ends(one, now) == pytest.approx(0.2, abs=0.011)


def test_a_difference_that_the_velocity_cannot_cover_takes_a_second_at_most() -> None:
    one = strategy("projective")
    for k in range(5):
        one.update(packet(k * 3.0, 0.0), k * 3.0)
    one.update(packet(15.0, 1.0), 15.0)
    assert blend_ends(one, 15.0) == pytest.approx(1.0, abs=0.011)


def test_a_pause_does_not_make_slow_motion() -> None:
    one = strategy("projective")
    for k in range(30):
        one.update(packet(k * 0.1, k * 10.0, 100.0), k * 0.1)
    one.update(packet(60.0, 6000.0, 100.0), 60.0)
    assert blend_ends(one, 60.0) == pytest.approx(0.1, abs=0.011)


@pytest.mark.parametrize(("limit", "factor"), [("on", 2.0), ("off", 50.0)])
def test_a_drawn_velocity_far_above_the_received_is_cut_to_twice(limit: str, factor: float) -> None:
    """The drawn velocity is 50 units/s at 1.2 s, while the last packet said 1 unit/s."""
    one = strategy("projective", smoothing_time=1.0, limit_velocity=limit)
    one.update(packet(0.0, 0.0, 0.0), 0.0)
    one.update(packet(1.0, 0.0, 1.0), 1.0)
    fast = strategy("projective", smoothing_time=0.1, limit_velocity=limit)
    fast.update(packet(0.0, 0.0, 0.0), 0.0)
    fast.update(packet(1.0, 5.0, 1.0), 1.0)
    at = next(1 + k * 1e-4 for k in range(1000) if fast.read(1 + k * 1e-4).velocity[0] > 50)
    fast.update(packet(2.0, 5.0, 1.0), at)
    assert fast.read(at).velocity[0] == pytest.approx(
        factor + (5.0 - fast.read(at).position[0]) / 0.1, abs=0.2
    )


def test_snaps_beyond_the_snap_distance_only() -> None:
    one = strategy("projective", snap_distance=5.0)
    one.update(packet(0.0, 0.0), 0.0)
    one.update(packet(0.1, 4.0), 0.1)
    assert one.read(0.1).position[0] == pytest.approx(0.0)
    one.update(packet(0.2, 40.0), 0.2)
    assert one.read(0.2).position[0] == 40.0


def test_draws_the_present_when_it_knows_the_age() -> None:
    one = strategy("projective", age="auto")
    for k in range(20):
        one.update(packet(k * 0.1, k * 1.0, 10.0, k * 0.1 + 0.08), k * 0.1 + 0.08)
    assert one.read(2.0).position[0] == pytest.approx(20.0)
