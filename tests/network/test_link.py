"""Tests of the link, one packet at a time."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from statistics import fmean
from typing import Any

import pytest

from epic_cli.network.link import Fates, GilbertElliott, Link, LinkConditions

TIMES = [n / 50 for n in range(20_000)]


def sent(*, seed: int = 0, purpose: str = "link", **conditions: Any) -> list[tuple[float, ...]]:
    link = Link(LinkConditions(**conditions), seed=seed, purpose=purpose)
    return [link.send(time) for time in TIMES]


def test_same_seed_same_link() -> None:
    conditions: dict[str, Any] = {
        "latency": 0.1,
        "jitter": 0.05,
        "loss": 0.1,
        "duplicate": 0.1,
        "reorder": 0.1,
    }
    assert sent(**conditions, seed=3) == sent(**conditions, seed=3)
    assert sent(**conditions, seed=3) != sent(**conditions, seed=4)
    assert sent(**conditions, purpose="up") != sent(**conditions, purpose="down")


def test_duplicates_have_delays_of_their_own() -> None:
    arrivals = sent(latency=0.1, jitter=0.05, duplicate=0.2)
    twice = [pair for pair in arrivals if len(pair) == 2]
    error = 5 * math.sqrt(0.16 / len(TIMES))
    assert len(twice) / len(TIMES) == pytest.approx(0.2, abs=error)
    assert all(first < second for first, second in twice)


def test_reordered_packets_have_no_delay() -> None:
    arrivals = [pair[0] for pair in sent(latency=0.1, reorder=0.1)]
    delays = [round(a - t, 9) for a, t in zip(arrivals, TIMES, strict=True)]
    assert set(delays) == {0.0, 0.1}
    share = delays.count(0.0) / len(delays)
    assert share == pytest.approx(0.1, abs=5 * math.sqrt(0.09 / len(TIMES)))


def test_in_order_nothing_overtakes() -> None:
    conditions: dict[str, Any] = {"latency": 0.1, "jitter": 0.1, "loss": 0.1, "duplicate": 0.1}
    free = [time for pair in sent(**conditions) for time in pair]
    kept = [time for pair in sent(**conditions, in_order=True) for time in pair]
    assert any(b < a for a, b in itertools.pairwise(free))
    assert all(b >= a for a, b in itertools.pairwise(kept))
    assert fmean(kept) > fmean(free)


@pytest.mark.parametrize(
    ("conditions", "message"),
    [
        ({"latency": -0.1}, "latency=-0.1 is not allowed: it must be 0 to 60"),
        ({"latency": math.nan}, "latency=nan"),
        ({"jitter": 80}, "jitter=80 is not allowed: it must be 0 to 60"),
        (
            {"distribution": "cauchy"},
            "distribution=cauchy is not allowed: it must be uniform, normal",
        ),
        ({"correlation": 1.0}, "correlation=1.0 is not allowed: it must be 0 to 0.9999"),
        ({"loss": 1.5}, "loss=1.5 is not allowed: it must be 0 to 1"),
        ({"loss": GilbertElliott(2, 0.1)}, "must be 0 to 1, or 0% to 100%"),
        ({"duplicate": 2}, "duplicate=2"),
        ({"reorder": -1}, "reorder=-1"),
    ],
)
def test_nonsense_is_refused(conditions: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LinkConditions(**conditions)


def test_a_link_that_is_changed_goes_on_with_its_random_numbers_and_its_queue() -> None:
    before = LinkConditions(latency=0.05, jitter=0.02, loss=0.3, rate=8e4, packet_size=100)
    after = LinkConditions(latency=0.1, jitter=0.04, loss=0.1)
    planned = Link(replace(before, later=((5.0, after),)), seed=4)
    link = Link(before, seed=4)
    for number in range(1000):
        if number == 500:
            link.change(after)
        assert link.send(number / 100) == planned.send(number / 100)


def test_a_packet_may_say_how_long_it_is() -> None:
    link = Link(LinkConditions(rate=8e4, packet_size=100))
    assert link.send(0.0) == pytest.approx((0.01,))
    assert link.send(1.0, 300) == pytest.approx((1.03,))
    assert link.send(1.0, 1) == pytest.approx((1.0301,))


def test_what_was_not_counted_changes_no_count() -> None:
    assert Fates() + Fates(1, 2, 3) == Fates(1, 2, 3)
