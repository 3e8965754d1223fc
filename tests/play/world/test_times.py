"""Steps that are due on a machine's own clock."""

from fractions import Fraction

import pytest

from epic_cli.play.world import (
    SECOND_US,
    FixedStepLoop,
    MachineClock,
    convert_to_seconds,
    convert_to_us,
)


def test_as_many_steps_are_taken_as_time_has_passed() -> None:
    loop = FixedStepLoop(33_000, 10_000_000)
    assert loop.advance(10_000_000)
    assert not loop.advance(10_032_999)
    assert loop.advance(10_033_000)
    assert not loop.advance(10_033_000)
    steps = 0
    while loop.advance(11_000_000):
        steps += 1
    assert steps == 29  # 30 steps of 33 ms lie within the second, one of them taken above
    assert loop.time_us == 10_990_000
    assert loop.due_us == 11_023_000


@pytest.mark.parametrize("frames", [1, 7, 60, 1000])
def test_the_steps_are_the_same_whatever_the_frame_rate(frames: int) -> None:
    loop, times = FixedStepLoop(Fraction(SECOND_US, 60), 0), []
    for frame in range(frames + 1):
        while loop.advance(round(SECOND_US * frame / frames)):
            times.append(loop.time_us)
    assert times == [round(SECOND_US * n / 60) for n in range(61)]


def test_a_step_that_is_no_whole_number_of_microseconds_does_not_drift() -> None:
    loop = FixedStepLoop(Fraction(SECOND_US, 3), 0)
    for _ in range(3_000):
        assert loop.advance(loop.due_us)
    assert loop.due_us == 1000 * SECOND_US


def test_after_a_change_the_step_that_is_due_stays() -> None:
    loop = FixedStepLoop(50_000, 0)
    loop.advance(0)
    loop.change_step(20_000)
    assert loop.due_us == 50_000
    loop.advance(50_000)
    assert loop.due_us == 70_000


def test_a_step_of_no_length_is_refused() -> None:
    with pytest.raises(ValueError, match="longer than 0 s"):
        FixedStepLoop(0, 0)


@pytest.mark.parametrize("rate", [0.01, 0.97, 1.0, 1.3, 100.0])
def test_a_timer_goes_off_when_the_clock_shows_its_time(rate: float) -> None:
    clock = MachineClock(-3.0, rate, 7_000)
    for wait_us in (0, 33_000, 16_667, 10_000_000):
        at = clock.compute_match_time(clock.start_us + wait_us)
        assert at >= 7_000
        # the match counts whole microseconds, of which a fast clock shows several at once
        assert clock.read(at) == pytest.approx(clock.start_us + wait_us, abs=max(rate, 1.0))


def test_microseconds_become_seconds_and_the_same_microseconds_again() -> None:
    for time_us in (0, 1, -3_000_000, 33_000, 123_456_789_012):
        assert convert_to_us(convert_to_seconds(time_us)) == time_us
