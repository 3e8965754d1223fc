"""Tests of a link's rate, queue, changes over time, corruption and reordering gap."""

from __future__ import annotations

import io
import itertools
import math
from dataclasses import replace
from statistics import fmean
from typing import Any

import pytest

from epic_cli.network.link import Link, LinkConditions, QueueLimit, fates
from epic_cli.network.link_spec import LinkSpec
from epic_cli.network.trace import AddedLink, TraceLink, read_trace

COUNT = 20_000


def delays(conditions: LinkConditions, count: int = 400, rate: int = 100) -> list[float | None]:
    """Return the delays of packets sent at this rate; None for a lost one."""
    link = Link(conditions)
    found = [(n / rate, link.send(n / rate)) for n in range(count)]
    return [round(arrivals[0] - time, 9) if arrivals else None for time, arrivals in found]


def test_an_overloaded_queue_grows_by_the_same_time_with_each_packet() -> None:
    """100 packets/s of 1,000 bytes over 640 kbit/s take 12.5 ms each: each waits 2.5 ms longer."""
    link = LinkConditions(latency=0.03, rate=640_000, packet_size=1000, queue=QueueLimit(60))
    found = delays(link)
    assert found == [pytest.approx(0.03 + 0.0125 + n * 0.0025) for n in range(400)]


@pytest.mark.parametrize(
    ("queue", "longest"), [(QueueLimit(0.1), 0.1), (QueueLimit(packets=8), 0.1), (QueueLimit(0), 0)]
)
def test_tail_drop(queue: QueueLimit, longest: float) -> None:
    """One packet in five exceeds the rate and is dropped; the others wait the queue's length."""
    link = Link(LinkConditions(rate=640_000, packet_size=1000, queue=queue))
    sent = [(n / 100, link.send(n / 100)) for n in range(COUNT)]
    assert link.dropped == sum(not arrivals for _, arrivals in sent)
    expected = 0.2 if longest else 0.5  # without room a packet that must wait is dropped
    assert link.dropped / COUNT == pytest.approx(expected, abs=0.001)
    waits = [arrivals[0] - time - 0.0125 for time, arrivals in sent if arrivals]
    assert longest - 0.0125 < max(waits) <= longest + 1e-9


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


def test_a_change_leaves_the_rest_of_the_random_numbers_as_they_were() -> None:
    plain = LinkConditions(latency=0.1, jitter=0.05)
    lossy = replace(plain, later=((1.0, replace(plain, loss=0.5)), (2.0, plain)))
    pairs = list(zip(delays(plain), delays(lossy), strict=True))
    assert all(other in (None, one) for one, other in pairs)
    assert 30 < [other for _, other in pairs].count(None) < 70


def test_corrupted_packets_are_lost_and_counted() -> None:
    link = Link(LinkConditions(corrupt=0.2, rate=8e6))
    lost = sum(not link.send(n / 100) for n in range(COUNT))
    assert lost == link.corrupted == fates(link).corrupted
    assert lost / COUNT == pytest.approx(0.2, abs=5 * math.sqrt(0.16 / COUNT))


def test_reordering_with_a_gap_and_correlation() -> None:
    """A gap of 5 with a share of 1 reorders every fifth packet and no other, as in netem."""
    found = delays(LinkConditions(latency=0.1, reorder=1.0, reorder_gap=5))
    assert [n for n, delay in enumerate(found) if delay == 0] == list(range(4, 400, 5))
    conditions = LinkConditions(latency=0.1, reorder=0.2, reorder_correlation=0.5)
    ahead = [delay == 0 for delay in delays(conditions, COUNT)]
    assert fmean(ahead) == pytest.approx(0.2, abs=5 * math.sqrt(0.16 * 3 / COUNT))
    after = [after for before, after in itertools.pairwise(ahead) if before]
    assert fmean(after) == pytest.approx(0.6, abs=5 * math.sqrt(0.24 / len(after)))


def test_a_recorded_network_and_a_link_add_up() -> None:
    rows = "".join(f"{n / 10},{'' if n % 4 == 3 else 40 + n % 3}\n" for n in range(40))
    trace = read_trace(io.BytesIO(f"send_time,owd_ms\n{rows}".encode()))
    conditions = LinkConditions(latency=0.02, jitter=0.01, loss=0.3, duplicate=0.2)
    both = AddedLink(TraceLink(trace), Link(conditions, seed=3))
    recorded, link = TraceLink(trace), Link(conditions, seed=3)
    for n in range(400):
        time = n / 10
        extra = [arrival - time for arrival in recorded.send(time)]
        expected = (
            [arrival + value for value in extra for arrival in link.send(time)] if extra else []
        )
        if not extra:
            link.send(time)
        assert both.send(time) == pytest.approx(tuple(expected))
    assert not both.has_ended(1e6)
    kept = AddedLink(TraceLink(trace), Link(conditions, seed=3), in_order=True)
    arrivals = [arrival for n in range(400) for arrival in kept.send(n / 10)]
    assert arrivals == sorted(arrivals)


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
