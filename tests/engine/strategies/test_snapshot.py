"""Tests of the entity interpolation of the Multiplayer Platformer Log."""

import pytest

from epic_cli import Packet, Sample, strategy


def update(x: float, timestamp: float, delta: float = 0.0) -> Packet:
    return Packet((x, 0, 0), (0, 0, 0), timestamp, delta=delta)


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
