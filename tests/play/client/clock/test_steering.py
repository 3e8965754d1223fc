"""The rules of each clock synchronization, one at a time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from epic_cli.play.clock import (
    ClockSync,
    Exchange,
    Ggpo,
    LightyearClock,
    Netfox,
    SteeredClock,
    Steering,
)

STEP = 0.033


def exchange(at: float, ahead: float, round_trip: float = 0.1) -> Exchange:
    """Return an exchange sent at this machine's time with a server whose clock is ahead."""
    there = at + round_trip / 2 + ahead
    return Exchange(at, there, there, at + round_trip)


def steered(sync: ClockSync, now: float, time: float) -> Steering:
    """Return a steering that is not None."""
    steering = sync.steer(now, time)
    assert steering is not None
    return steering


@pytest.mark.parametrize("sync", [Netfox(STEP), LightyearClock(STEP), Ggpo(STEP)])
def test_without_a_server_there_is_no_time(sync: ClockSync) -> None:
    assert sync.needs_server
    assert sync.steer(1.0, 1.0) is None


def test_netfox_begins_with_the_stamp_of_the_answer_and_samples_every_quarter_second() -> None:
    sync = Netfox(STEP)
    sync.measure(exchange(0.0, 7.0))  # answered at 7.05, which is in at 0.1
    assert steered(sync, 0.1, 0.1) == pytest.approx((1.0, 0, 6.95))
    for at in (0.05, 0.1, 0.2):
        sync.measure(exchange(at, 7.0))
    # nothing was sampled: it is where its reference clock is, and 2.5 % fast
    assert steered(sync, 1.0, 7.95) == pytest.approx((1.025, 0, 0.0))
    sync.measure(exchange(0.25, 7.0))  # 50 ms off, an eighth of that counts
    difference = 0.05 / 8 - 0.001
    faster = 1.025 + 0.225 * difference / STEP
    assert steered(sync, 1.0, 7.95) == pytest.approx((faster, 0, 0.0))


@pytest.mark.parametrize(("step", "moved"), [(1.9, 1.9 / 8), (2.1, 2.1), (-2.1, -2.1)])
def test_netfox_takes_an_offset_beyond_two_seconds_whole(step: float, moved: float) -> None:
    sync = Netfox(STEP)
    sync.measure(exchange(0.0, 0.05))
    sync.steer(0.0, 0.0)
    sync.measure(exchange(1.0, step))
    # a time that is a third of a tick behind the reference clock
    behind = STEP / 3
    steering = sync.steer(2.0, 2.0 + moved - behind - 0.001)
    assert steering is not None
    assert steering.speed == pytest.approx(0.8 + 0.45 * 2 / 3)
    assert steering.jump == 0


def follows(errors: list[float]) -> list[float]:
    """Check lightyear's speed after each state, given the client's error in ticks."""
    sync = LightyearClock(STEP)
    for number in range(3):
        sync.measure(exchange(number * 0.1, 0.0))
    speeds = []
    for number, error in enumerate([0.0, *errors]):
        now = 1.0 + 0.05 * number
        sync.hear(now - 0.05, now)
        steering = sync.steer(now, now + error * STEP)
        assert steering is not None
        assert steering.jump == pytest.approx(-error * STEP if abs(error) > 10 else 0.0)
        speeds.append(steering.speed)
        # between two states the speed stays
        assert sync.steer(now + 0.01, now + 0.2) == Steering(steering.speed)
    return speeds[1:]


def test_lightyear_changes_its_speed_at_the_third_error_in_a_row() -> None:
    slower = 1 / 1.02
    assert follows([2.0, 2.0, 2.0, 2.0]) == pytest.approx([1.0, 1.0, slower, slower])
    assert follows([-2.0, -2.0, -2.0]) == pytest.approx([1.0, 1.0, 1.02])
    assert follows([2.0, 2.0, 0.5, 2.0, 2.0]) == pytest.approx([1.0] * 5)
    assert follows([2.0, 2.0, -2.0]) == pytest.approx([1.0] * 3)
    # and comes back to its own speed by a tenth a state
    assert follows([-5.0, -5.0, -5.0, 0.0, 0.0])[2:] == pytest.approx([1.05, 1.045, 1.0405])


def test_lightyear_is_set_beyond_ten_ticks() -> None:
    assert follows([10.5, -11.0, 9.5]) == pytest.approx([1.0] * 3)


def test_lightyear_believes_the_time_after_three_round_trips() -> None:
    sync = LightyearClock(STEP)
    for number in range(3):
        sync.hear(50.0 + 0.05 * number, 0.05 * number)
        assert sync.steer(0.05 * number, 0.0) is None
        sync.measure(exchange(0.05 * number, 50.0))
    sync.hear(50.2, 0.2)
    assert steered(sync, 0.2, 0.2) == pytest.approx((1.0, 0, 50.05))


def test_ggpo_waits_every_240_frames_at_most() -> None:
    """The client is six frames ahead, and nothing helps; the first ring is half empty."""
    sync = Ggpo(STEP)
    for number in range(5):
        sync.measure(exchange(0.1 * number, 0.0))
    assert steered(sync, 1.0, 1.0) == pytest.approx((1.0, 0, 0.0))
    waits = []
    for frame in range(31, 600):
        now = frame * STEP + 1e-6
        sync.measure(exchange(now - 0.1, 0.0))
        steering = sync.steer(now, now + 6 * STEP)
        assert steering is not None
        if steering.frames:
            waits.append((frame, steering.frames))
    assert [frames for _, frames in waits] == [-3, -6, -6]
    assert waits[1][0] - waits[0][0] == waits[2][0] - waits[1][0] == 241


def test_nobody_steers_and_nothing_changes() -> None:
    clock = SteeredClock()
    for time_us in (-5_000_000, 0, 1, 2**50):
        assert clock.read(time_us) == clock.convert_to_machine_time(time_us) == time_us


def test_a_wait_and_frames_at_once() -> None:
    clock = SteeredClock()
    clock.steer(1_000_000, 1.0, -99_000)
    assert [clock.read(at) for at in (1_000_000, 1_099_000, 1_199_000)] == [
        1_000_000, 1_000_000, 1_100_000,
    ]  # fmt: skip
    clock.steer(2_000_000, 1.25, 66_000)
    assert clock.read(2_000_000) == 1_901_000 + 66_000
    assert clock.read(3_000_000) == 1_901_000 + 66_000 + 1_250_000
    assert clock.convert_to_machine_time(1_950_000) == 2_000_000  # a frame that was made at once
    assert clock.convert_to_machine_time(1_901_000 + 66_000 + 1_250_000) == 3_000_000


@given(
    st.lists(
        st.tuples(st.integers(0, 200_000), st.floats(0.8, 1.25), st.integers(-300_000, 300_000)),
        min_size=1,
        max_size=30,
    )
)
def test_it_never_goes_back_and_knows_when_it_shows_what(
    steps: list[tuple[int, float, int]],
) -> None:
    clock, machine_us, shown_us = SteeredClock(), 0, 0
    for passed_us, speed, ahead_us in steps:
        machine_us += passed_us
        assert clock.read(machine_us) >= shown_us
        clock.steer(machine_us, speed, ahead_us)
        shown_us = clock.read(machine_us)
        later_us = machine_us + 500_000
        assert abs(clock.convert_to_machine_time(clock.read(later_us)) - later_us) <= 1
