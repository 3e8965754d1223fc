"""Tests of the book's local perception filter, which reaches a state over its period."""

import pytest

from epic_cli import Packet, replay


def walker(period: float, count: int = 60, latency: float = 0.05) -> list[Packet]:
    return [
        Packet((k * period * 10, 0, 0), (10, 0, 0), k * period, k * period + latency)
        for k in range(count)
    ]


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
