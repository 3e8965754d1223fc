"""Tests of a packet's estimated age, observed through a strategy that extrapolates at 1 unit/s."""

import pytest

from epic_cli import Packet, strategy


def ages(
    rule: str, delays: list[float], with_arrival: bool = True, delta: float = 0
) -> list[float]:
    """Return the age that the strategy assumes for each packet.

    The age is the distance, on arrival, of the drawn position from the packet's.
    """
    one = strategy("dis", age=rule)
    found = []
    for k, delay in enumerate(delays):
        timestamp = k * 1.0
        now = timestamp + delay
        arrival = now if with_arrival else None
        one.update(Packet((0, 0, 0), (1, 0, 0), timestamp, arrival, delta=delta), now)
        found.append(one.read(now).position[0])
    return found


@pytest.mark.parametrize("rule", ["auto", "stamp"])
def test_an_age_that_a_network_can_cause_is_believed(rule: str) -> None:
    assert ages(rule, [0.08, 0.2, 0.05, 0.3]) == pytest.approx([0.08, 0.2, 0.05, 0.3])


def test_arrival_takes_every_packet_for_new() -> None:
    assert ages("arrival", [0.08, 0.2, 5.0]) == [0, 0, 0]


def test_the_state_was_true_before_its_stamp() -> None:
    assert ages("stamp", [0.08], delta=0.03) == pytest.approx([0.11])


def test_stamp_believes_whatever_the_timestamp_says() -> None:
    assert ages("stamp", [-100.0, 7.0]) == pytest.approx([-100, 7])


def test_auto_believes_only_differences_where_the_clocks_never_agreed() -> None:
    # minus what is forgotten, 2 % of the 1.1 s between the two
    assert ages("auto", [-99.92, -99.82, -99.92]) == pytest.approx([0, 0.1 - 0.02 * 1.1, 0])
    assert ages("auto", [7.0, 7.1]) == pytest.approx([0, 0.1 - 0.02 * 1.1])


def test_auto_takes_a_packet_from_the_future_for_new() -> None:
    assert ages("auto", [0.08, 0.01, -0.02, -0.05, 0.05]) == pytest.approx(
        [0.08, 0.01, 0, 0, 0.1 - 0.02 * 1.1], abs=1e-9
    )


def test_auto_forgets_the_least_age_so_that_a_slow_clock_is_followed() -> None:
    drifting = [0.4 + 0.01 * k for k in range(30)]
    assert ages("auto", drifting)[-1] == pytest.approx(0.5)


def test_auto_keeps_the_timestamp_of_packets_without_arrival_time() -> None:
    assert ages("auto", [-0.85, 0.05, -3.0], with_arrival=False) == pytest.approx(
        [-0.85, 0.05, -3.0]
    )
