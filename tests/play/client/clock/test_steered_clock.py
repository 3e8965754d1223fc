"""A client's own time: speeds, waits, frames at once, and never back."""

from hypothesis import given
from hypothesis import strategies as st

from epic_cli.play.client.clock.timekeeper import SteeredClock


def test_nobody_steers_and_nothing_changes() -> None:
    clock = SteeredClock()
    for time_us in (-5_000_000, 0, 1, 2**50):
        assert clock.read(time_us) == clock.machine_time(time_us) == time_us


def test_a_wait_and_frames_at_once() -> None:
    clock = SteeredClock()
    clock.steer(1_000_000, 1.0, -99_000)
    assert [clock.read(at) for at in (1_000_000, 1_099_000, 1_199_000)] == [
        1_000_000, 1_000_000, 1_100_000,
    ]  # fmt: skip
    clock.steer(2_000_000, 1.25, 66_000)
    assert clock.read(2_000_000) == 1_901_000 + 66_000
    assert clock.read(3_000_000) == 1_901_000 + 66_000 + 1_250_000
    assert clock.machine_time(1_950_000) == 2_000_000  # a frame that was made at once
    assert clock.machine_time(1_901_000 + 66_000 + 1_250_000) == 3_000_000


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
        assert abs(clock.machine_time(clock.read(later_us)) - later_us) <= 1
