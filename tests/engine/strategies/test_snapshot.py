"""Entity interpolation of the platformer log: between two updates, in the past."""

import pytest

from epic_cli import Packet, Sample, replay, strategy


def update(x: float, timestamp: float, delta: float = 0.0) -> Packet:
    return Packet((x, 0, 0), (0, 0, 0), timestamp, delta=delta)


def test_it_draws_between_the_two_updates_around_the_time_in_the_past() -> None:
    one = strategy("snapshot")
    for k in range(4):
        one.update(update(k * 10.0, k * 0.1), k * 0.1)
    drawn = one.read(0.35)
    assert drawn.position == pytest.approx((15, 0, 0))
    assert drawn.velocity == pytest.approx((100, 0, 0))
    assert drawn.status == "interpolated"


def test_it_waits_at_the_oldest_update_until_there_is_enough() -> None:
    one = strategy("snapshot")
    assert one.read(0.0).status == "none"
    one.update(update(5, 0.0), 0.0)
    assert one.read(0.1) == Sample(0.1, (5, 0, 0), (0, 0, 0), "held")
    one.update(update(6, 0.1), 0.1)
    assert one.read(0.2) == Sample(0.2, (5, 0, 0), (0, 0, 0), "held")
    assert one.read(0.25).position == pytest.approx((5.5, 0, 0))


def test_it_holds_the_newest_when_it_is_starved() -> None:
    one = strategy("snapshot")
    for k in range(4):
        one.update(update(k * 10.0, k * 0.1), k * 0.1)
    assert one.read(0.9) == Sample(0.9, (30, 0, 0), (0, 0, 0), "held")


def test_the_ring_holds_as_many_updates_as_the_delay_has_steps() -> None:
    # ceil(200 / 33) + 1 places, one of them empty: 7 updates
    one = strategy("snapshot")
    for k in range(20):
        one.update(update(float(k), k * 0.01), k * 0.01)
    # the drawn time is 0, but updates 0 to 12 are overwritten
    assert one.read(0.2) == Sample(0.2, (13, 0, 0), (0, 0, 0), "held")


def test_an_update_may_say_how_old_its_state_is() -> None:
    one = strategy("snapshot")
    one.update(update(0, 0.0), 0.0)
    one.update(update(10, 0.13, delta=0.03), 0.13)
    assert one.read(0.25).position == pytest.approx((5, 0, 0))


def test_late_updates_and_duplicates_are_discarded() -> None:
    one = strategy("snapshot")
    assert one.update(update(0, 0.1), 0.1)
    assert not one.update(update(9, 0.1), 0.1)
    assert not one.update(update(9, 0.05), 0.15)


@pytest.mark.parametrize(("first", "step"), [(0.0, 0.1), (0.0, 0.0), (1e6, -0.1)])
def test_the_locked_clock_needs_no_timestamps(first: float, step: float) -> None:
    one = strategy("snapshot", clock="pll", server_step=0.1)
    drawn = []
    for k in range(100):
        now = 50 + k * 0.1
        assert one.update(update(k * 10.0, first + k * step), now)
        drawn.append(one.read(now + 0.05))
    lags = [s.time - 50 - s.position[0] / 100 for s in drawn[5:]]
    assert lags == pytest.approx([0.2] * len(lags))


def test_the_locked_clock_follows_a_sender_that_is_slow() -> None:
    # the sender's 100 ms are 100.05 of ours
    packets = [update(k * 10.0, 0.0) for k in range(400)]
    one = strategy("snapshot", clock="pll", server_step=0.1)
    for k, packet in enumerate(packets):
        now = k * 0.10005
        one.update(packet, now)
        drawn = one.read(now)
    # 200 ms ago update 397 was true; without the loop, the clock would be 20 ms ahead: 2 units
    assert drawn.position[0] == pytest.approx(397 * 10.0, abs=0.5)


def test_the_locked_clock_starts_anew_after_a_long_silence() -> None:
    one = strategy("snapshot", clock="pll", server_step=0.1)
    for k in range(10):
        one.update(update(k * 10.0, k * 0.1), k * 0.1)
    one.update(update(500, 12.0), 12.0)
    assert one.read(12.0) == Sample(12.0, (500, 0, 0), (0, 0, 0), "held")
    one.update(update(510, 12.1), 12.1)
    one.update(update(520, 12.2), 12.2)
    assert one.read(12.25).position == pytest.approx((505, 0, 0))


def test_a_lost_update_is_bridged_when_the_delay_allows() -> None:
    packets = [
        Packet((k * 10.0, 0, 0), (100, 0, 0), k * 0.1, k * 0.1 + 0.02) for k in range(30) if k != 15
    ]
    drawn = [s for s in replay(packets, "snapshot", interpolation_time=0.3) if 1 < s.time < 2.5]
    lags = [s.time - s.position[0] / 100 for s in drawn]
    assert lags == pytest.approx([0.3] * len(lags))
