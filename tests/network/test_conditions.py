"""Tests of a link's rate, queue, changes over time, corruption and reordering gap."""

from __future__ import annotations

import math
from typing import Any

import pytest

from epic_cli.network.link import Link, LinkConditions
from epic_cli.network.link_spec import LinkSpec


def test_a_packet_in_the_queue_leaves_at_the_rate_at_which_it_came() -> None:
    slow = LinkConditions(rate=8000, packet_size=100)
    link = Link(LinkConditions(rate=8000, packet_size=100, later=((0.05, LinkConditions()),)))
    assert [link.send(time)[0] for time in (0.0, 0.01, 0.06, 0.3)] == [
        pytest.approx(0.1), pytest.approx(0.2), pytest.approx(0.2), 0.3,
    ]  # fmt: skip
    assert Link(slow).send(0.0) == (0.1,)


def test_conditions_change_exactly_at_their_times() -> None:
    """Times count from the first packet, which need not be sent at 0."""
    link = LinkSpec.parse('latency=0.1,at="1s loss=1",at="1.5s loss=0 latency=20ms"').conditions
    for start in (0.0, 5.1, 1.7e9):
        channel = Link(link)
        found = [channel.send(start + n / 100) for n in range(200)]
        assert [n for n, arrivals in enumerate(found) if not arrivals] == list(range(100, 150))
        assert found[99][0] - (start + 0.99) == pytest.approx(0.1, abs=1e-6)
        assert found[150][0] - (start + 1.5) == pytest.approx(0.02, abs=1e-6)
    assert link.find_at(1.0).loss == 1
    assert link.find_at(math.nextafter(1.0, 0)).loss == 0
    assert link.find_at(9.0) == LinkConditions(latency=0.02)


@pytest.mark.parametrize(
    ("conditions", "message"),
    [
        ({"rate": 0}, "rate=0 is not allowed"),
        ({"rate": math.nan}, "rate=nan is not allowed"),
        (
            {"packet_size": 0},
            "packet_size=0 is not allowed: it must be a whole number from 1 to 65535",
        ),
        ({"corrupt": 2}, "corrupt=2 is not allowed: it must be 0 to 1"),
        ({"reorder_gap": 0}, "reorder_gap=0 is not allowed: it must be a whole number from 1 to"),
        ({"loss_correlation": 1}, "loss_correlation=1 is not allowed: it must be 0 to 0.9999"),
        ({"later": ((2, LinkConditions()), (1, LinkConditions()))}, "1 s is listed after 2 s"),
        ({"later": ((-1, LinkConditions()),)}, "conditions must change at 0 s or later"),
        (
            {"later": ((1, LinkConditions(later=((1, LinkConditions()),))),)},
            "cannot have later changes of their own",
        ),
    ],
)
def test_nonsense_is_refused(conditions: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LinkConditions(**conditions)
