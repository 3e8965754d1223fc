"""Tests of Decentraland's seven curves, and of how its player goes from message to message."""

from typing import Any

import pytest
from support.conformance import load
from support.filter_cases import packet

from epic_cli import Packet, strategy

VALUES = load("decentraland_splines")
CURVES = {
    "linear": "Linear",
    "hermite": "Hermite",
    "full-monotonic-hermite": "FullMonotonicHermite",
    "bezier": "Bezier",
    "velocity-blending": "VelocityBlending",
    "position-blending": "PositionBlending",
}


def playing(first: Packet, second: Packet, **settings: Any) -> Any:
    """Return a strategy that begins the segment between two packets at local time 0."""
    one = strategy("spline", **{"use_speed_up": "off", "min_teleport_distance": 0, **settings})
    one.update(first, 0.0)
    one.read(0.0)
    one.update(second, 0.0)
    return one


@pytest.mark.parametrize("curve", CURVES)
def test_the_curves_values(curve: str) -> None:
    for case in VALUES["cases"]:
        first = packet(0.0, case["p0"], case["v0"])
        second = packet(case["T"], case["p1"], case["v1"])
        one = playing(first, second, interpolation_type=curve, use_extrapolation="off")
        found = one.read(case["t"]).position[0]
        assert found == pytest.approx(case[CURVES[curve]], abs=1e-12), case


def test_the_monotone_y_curve_limits_the_y_axis_only() -> None:
    first = Packet((0, 0, 0), (30, 30, 30), 0.0)
    second = Packet((1, 1, 1), (-10, -10, -10), 0.1)
    drawn = {
        curve: playing(first, second, interpolation_type=curve).read(0.025).position
        for curve in ("hermite", "monotone-y-hermite", "full-monotonic-hermite")
    }
    swinging, limited = drawn["hermite"][0], drawn["full-monotonic-hermite"][0]
    assert drawn["full-monotonic-hermite"] == (limited,) * 3
    assert drawn["monotone-y-hermite"] == (swinging, limited, swinging)


@pytest.mark.parametrize("curve", [*CURVES, "monotone-y-hermite"])
def test_the_velocity_is_that_of_the_curve(curve: str) -> None:
    first, second = Packet((0, 1, 2), (3, -9, 40), 0.0), Packet((1, 0, 5), (-4, -20, 2), 0.4)
    one = playing(first, second, interpolation_type=curve)
    for at in (0.01, 0.2, 0.39):
        before, here, after = (one.read(at + d) for d in (0.0, 1e-5, 2e-5))
        slope = [(b - a) / 2e-5 for a, b in zip(before.position, after.position, strict=True)]
        assert here.velocity == pytest.approx(slope, abs=1e-4)
        assert here.status == "interpolated"


def test_it_goes_on_and_slows_down_to_a_halt() -> None:
    one = playing(packet(0.0, 0.0, 10.0), packet(0.1, 1.0, 10.0), linear_time=0.4)
    drawn = [one.read(0.1 + gone) for gone in (0.2, 0.4, 0.6, 0.8, 9.0)]
    wanted = [3.0, 5.0, 6.5, 7.0, 7.0]
    assert [sample.position[0] for sample in drawn] == pytest.approx(wanted)
    assert [sample.velocity[0] for sample in drawn] == pytest.approx([10, 10, 5, 0, 0], abs=1e-9)
    statuses = ["extrapolated", "extrapolated", "extrapolated", "extrapolated", "held"]
    assert [sample.status for sample in drawn] == statuses


def test_it_holds_without_extrapolation() -> None:
    one = playing(packet(0.0, 0.0, 10.0), packet(0.1, 1.0, 10.0), use_extrapolation="off")
    assert one.read(0.3).status == "interpolated"
    sample = one.read(0.35)
    assert (sample.position[0], sample.velocity[0], sample.status) == (1.0, 0.0, "held")


def test_a_message_after_going_on_is_approached_from_there() -> None:
    one = playing(packet(0.0, 0.0, 10.0), packet(0.1, 1.0, 10.0), interpolation_type="linear")
    assert one.read(0.2).position[0] == pytest.approx(2.0)
    one.update(packet(0.3, 5.0, 10.0), 0.2)  # 0.1 s are left until its timestamp
    assert one.read(0.25).position[0] == pytest.approx(3.5)
    assert one.read(0.3).position[0] == pytest.approx(5.0)


def test_a_message_behind_what_is_shown_is_dropped() -> None:
    one = playing(packet(0.0, 0.0, 10.0), packet(0.1, 1.0, 10.0))
    one.read(0.3)
    one.update(packet(0.2, 2.0, 10.0), 0.3)
    assert one.read(0.35).position[0] == pytest.approx(3.5)


def test_a_long_way_is_jumped() -> None:
    one = strategy("spline")
    one.update(packet(0.0, 0.0), 0.0)
    one.read(0.0)
    one.update(packet(0.1, 11.0), 0.1)
    assert one.read(0.1).position[0] == 11.0
    assert one.read(0.2).status == "held"


def test_messages_at_the_same_place_are_passed_at_once() -> None:
    one = strategy("spline")
    for k in range(10):
        one.update(packet(k * 0.1, 0.0), 0.0)
    one.update(packet(1.0, 1.0), 0.0)
    assert one.read(0.0).status == "interpolated"
    assert one.read(0.05).position[0] == pytest.approx(0.5)
    assert one.read(0.1).position[0] == pytest.approx(1.0)


def test_it_catches_up_when_messages_are_waiting() -> None:
    """Each of four waiting messages shortens the segment by a frame, down to half its duration."""
    one = strategy("spline", interpolation_type="linear", min_position_delta=0.0)
    one.update(packet(0.0, 0.0), 0.0)
    one.read(0.0)
    for k in range(1, 6):
        one.update(packet(k * 0.4, k * 4.0), 0.0)
    # 0.4 s minus five times 0.02 s
    assert one.read(0.02).position[0] == pytest.approx(4.0 * 0.02 / 0.3)
    one.reset()
    one.update(packet(0.0, 0.0), 0.0)
    one.read(0.0)
    for k in range(1, 6):
        one.update(packet(k * 0.4, k * 4.0), 0.0)
    assert one.read(0.1).position[0] == pytest.approx(2.0)


def test_blending_limits_the_speed_after_going_on() -> None:
    one = playing(
        packet(0.0, 0.0, 1.0), packet(0.1, 0.1, 1.0), use_blend="on", interpolation_type="linear"
    )
    one.read(0.2)
    one.update(packet(0.3, 10.2, 1.0), 0.2)  # 10 units in 0.1 s; 5 units/s is the limit
    assert one.read(1.2).position[0] == pytest.approx(5.2)


def test_a_pause_is_not_played_in_slow_motion() -> None:
    first, second = packet(0.0, 0.0), packet(60.0, 5.0)
    assert playing(first, second).read(1.0).position[0] == pytest.approx(5.0)
    slow = playing(first, second, max_duration=0, interpolation_type="linear")
    assert slow.read(30.0).position[0] == pytest.approx(2.5)


def test_messages_out_of_order_are_sorted_in() -> None:
    one = strategy("spline", interpolation_type="linear", use_speed_up="off")
    one.update(packet(0.0, 0.0), 0.0)
    one.read(0.0)
    assert one.update(packet(0.2, 4.0), 0.0)
    assert one.update(packet(0.1, 1.0), 0.0)
    assert not one.update(packet(0.1, 7.0), 0.0)
    assert [one.read(at).position[0] for at in (0.05, 0.1, 0.15)] == pytest.approx([0.5, 1, 2.5])
    assert not one.update(packet(0.1, 1.0), 0.15)


def test_what_waits_is_bounded() -> None:
    one = strategy("spline", use_speed_up="off")
    for k in range(1000):
        assert one.update(packet(k * 0.1, float(k)), 0.0)
    assert one.read(0.0).position[0] == 936.0
    assert not one.update(packet(0.05, 0.0), 0.0)


def test_numbers_too_large_to_play_hold_what_was_drawn() -> None:
    one = playing(Packet((0, 0, 0), (1e308, 0, 0), 0.0), Packet((0, 0, 0), (1e308, 0, 0), 1e3),
                  max_duration=0)  # fmt: skip
    before, here = one.read(0.0), one.read(500.0)
    assert (here.position, here.velocity) == (before.position, (0, 0, 0))
    assert here.status == "held"
