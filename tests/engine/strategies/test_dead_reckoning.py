"""Tests of the book's dead reckoning: its figure 8.5, and each correction's closed form."""

import math
from typing import Any

import pytest

from epic_cli import Packet, Vector, strategy


def packet(position: Vector, velocity: Vector = (0.0, 0.0, 0.0), timestamp: float = 0.0) -> Packet:
    return Packet(position, velocity, timestamp)


def test_the_books_figure_8_5() -> None:
    """Compare with the figure for an RTT of 100 ms, in the book's units."""
    one = strategy("dead-reckoning", correction="snap", age="rtt", rtt=0.1)
    right, up = (1000.0, 0.0, 0.0), (0.0, 1000.0, 0.0)
    one.update(packet((0, 0, 0), right, 0.0), 0.050)
    assert one.read(0.050).position == pytest.approx((50, 0, 0))
    assert one.read(0.117).position == pytest.approx((117, 0, 0))
    one.update(packet((67, 0, 0), right, 0.067), 0.117)
    assert one.read(0.117).position == pytest.approx((117, 0, 0))
    assert one.read(0.184).position == pytest.approx((184, 0, 0))
    one.update(packet((134, 0, 0), up, 0.134), 0.184)
    assert one.read(0.184).position == pytest.approx((134, 50, 0))


def surprised(**settings: Any) -> Any:
    """Return a strategy that gets an unexpected packet at t = 1.

    It is drawn at x = 10 with 10 units/s, and the packet says (8, 1, 0) at rest.
    """
    one = strategy("dead-reckoning", **settings)
    one.update(packet((0, 0, 0), (10, 0, 0), 0.0), 0.0)
    one.read(1.0)
    one.update(packet((8, 1, 0), (0, 0, 0), 1.0), 1.0)
    return one


def test_blend_fades_the_difference_in_equal_steps() -> None:
    one = surprised(correction="blend", correction_time=0.2)
    drawn = [one.read(t) for t in (1.0, 1.05, 1.1, 1.21, 1.3)]
    assert [s.position[0] for s in drawn] == pytest.approx([10, 9.5, 9, 8, 8])
    assert [s.position[1] for s in drawn] == pytest.approx([0, 0.25, 0.5, 1, 1])
    assert [s.velocity[0] for s in drawn] == pytest.approx([-10, -10, -10, 0, 0])


def test_second_order_eases_in_without_a_corner() -> None:
    one = surprised(correction="second-order", correction_time=0.2)
    begin = one.read(1.0)
    assert begin.position == pytest.approx((10, 0, 0))
    assert begin.velocity == pytest.approx((10, 0, 0))
    # the y offset began with no speed of its own: 5 % of it are left after the correction time
    # if it begins at rest
    assert one.read(1.2).position[1] == pytest.approx(0.95)
    assert one.read(3.0).position == pytest.approx((8, 1, 0))


def test_second_order_obeys_the_equation_of_a_critically_damped_spring() -> None:
    one = surprised(correction="second-order", correction_time=0.5)
    frequency = 4.743864518 / 0.5
    for at in (1.05, 1.2, 1.4):
        before, here, after = (one.read(at + d) for d in (-1e-4, 0.0, 1e-4))
        offset = here.position[0] - 8
        acceleration = (after.velocity[0] - before.velocity[0]) / 2e-4
        expected = -2 * frequency * here.velocity[0] - frequency**2 * offset
        assert acceleration == pytest.approx(expected, rel=1e-4)


def test_a_large_difference_is_not_smoothed() -> None:
    distance = math.hypot(2, 1)
    assert surprised(snap_distance=distance + 0.01).read(1.0).position == pytest.approx((10, 0, 0))
    assert surprised(snap_distance=distance - 0.01).read(1.0).position == (8, 1, 0)


def test_the_age_is_measured_or_half_of_the_round_trip() -> None:
    measured = strategy("dead-reckoning")
    fixed = strategy("dead-reckoning", age="rtt", rtt=0.3)
    for spec in (measured, fixed):
        spec.update(packet((0, 0, 0), (10, 0, 0), 5.0), 5.08)
    assert measured.read(5.08).position == pytest.approx((0.8, 0, 0))
    assert fixed.read(5.08).position == pytest.approx((1.5, 0, 0))
