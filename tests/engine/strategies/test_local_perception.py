"""The book's local perception filter: to the new state over the interpolation period."""

import pytest

from epic_cli import Packet, Sample, replay, strategy


def walker(period: float, count: int = 60, latency: float = 0.05) -> list[Packet]:
    return [
        Packet((k * period * 10, 0, 0), (10, 0, 0), k * period, k * period + latency)
        for k in range(count)
    ]


def test_it_goes_from_what_is_drawn_to_the_new_state_over_the_period() -> None:
    one = strategy("local-perception", period=0.2)
    one.update(Packet((0, 0, 0), (0, 0, 0), 0.0), 0.0)
    assert one.read(0.0) == Sample(0.0, (0, 0, 0), (0, 0, 0), "interpolated")
    one.update(Packet((4, 8, 0), (0, 0, 0), 0.3), 0.4)
    drawn = one.read(0.5)
    assert drawn.position == pytest.approx((2, 4, 0))
    assert drawn.velocity == pytest.approx((20, 40, 0))
    # a new state before the old one is reached: on from the middle
    one.update(Packet((2, 0, 0), (0, 0, 0), 0.4), 0.5)
    assert one.read(0.5).position == pytest.approx((2, 4, 0))
    assert one.read(0.6).position == pytest.approx((2, 2, 0))
    assert one.read(0.8) == Sample(0.8, (2, 0, 0), (0, 0, 0), "interpolated")
    assert one.read(0.9) == Sample(0.9, (2, 0, 0), (0, 0, 0), "held")


def test_the_lag_is_latency_plus_the_period() -> None:
    drawn = [s for s in replay(walker(0.1), "local-perception", period=0.1) if 3 < s.time < 5]
    lags = [s.time - s.position[0] / 10 for s in drawn]
    assert lags == pytest.approx([0.15] * len(lags))


def test_a_period_shorter_than_the_packets_stutters_and_the_packet_period_does_not() -> None:
    def statuses(period: float | str) -> set[str]:
        drawn = replay(walker(0.1), "local-perception", period=period, tick="1/60")
        return {s.status for s in drawn if 3 < s.time < 5}

    assert statuses(0.05) == {"interpolated", "held"}
    assert statuses("auto") == {"interpolated"}


def test_auto_measures_the_packet_period() -> None:
    packets = walker(1 / 15, 200)
    drawn = [s for s in replay(packets, "local-perception") if 8 < s.time < 12]
    lags = [s.time - s.position[0] / 10 for s in drawn]
    # the book's example: half the RTT, 50 ms, plus the packet period of 66.7 ms
    assert lags == pytest.approx([0.05 + 1 / 15] * len(lags))
