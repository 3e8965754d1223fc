"""Linear interpolation towards the newest state, frame by frame."""

import pytest

from epic_cli import Packet, strategy


def at_rest(x: float, timestamp: float) -> Packet:
    return Packet((x, 0, 0), (0, 0, 0), timestamp)


def test_each_frame_goes_its_share_of_the_way() -> None:
    one = strategy("lerp", lerp_time=0.2)
    one.update(at_rest(0, 0), 0)
    assert one.read(0.0).position == (0, 0, 0)
    one.update(at_rest(8, 0.01), 0.01)
    drawn = [one.read(t) for t in (0.05, 0.10, 0.15)]
    assert [s.position[0] for s in drawn] == pytest.approx([2.0, 3.5, 4.625])
    assert [s.velocity[0] for s in drawn] == pytest.approx([40, 30, 22.5])
    assert {s.status for s in drawn} == {"interpolated"}


def test_no_time_no_move_and_the_whole_time_the_whole_way() -> None:
    one = strategy("lerp", lerp_time=0.1)
    one.update(at_rest(0, 0), 0)
    one.read(1.0)
    one.update(at_rest(8, 0.5), 1.0)
    assert one.read(1.0).position == (0, 0, 0)
    assert one.read(1.1).position == pytest.approx((8, 0, 0))


def test_a_frame_later_than_the_lerp_time_jumps() -> None:
    one = strategy("lerp", lerp_time=0.1)
    one.update(at_rest(0, 0), 0)
    one.read(1.0)
    one.update(at_rest(8, 0.5), 1.0)
    assert one.read(1.101).position == (8, 0, 0)
    assert one.read(1.15).status == "held"


def test_at_a_steady_speed_it_lags_by_the_lerp_time_less_a_frame() -> None:
    one = strategy("lerp", lerp_time=0.1)
    for frame in range(400):
        now = frame * 0.02
        one.update(Packet((now * 5, 0, 0), (5, 0, 0), now), now)
        drawn = one.read(now)
    assert now - drawn.position[0] / 5 == pytest.approx(0.08)
