"""Tests of recorded networks: reading, and replay with their own delays and losses."""

from __future__ import annotations

import io
from typing import Any

import pytest

from epic_cli.network.link import Link, LinkConditions
from epic_cli.network.trace import AddedLink, NetworkTrace, TraceLink, read_trace
from epic_cli.recordings.tables import TableRefusal

RECEIVED = """flow,seq,send_time,recv_time,lost
a,0,10.000,10.051,0
b,0,10.010,10.011,0
a,1,10.050,10.093,0
a,2,10.050,,1
a,3,10.150,10.352,0
a,4,10.200,10.251,0
"""


def trace(text: str, **options: Any) -> NetworkTrace:
    return read_trace(io.BytesIO(text.encode()), **options)


def test_numbers_that_are_missing_are_lost_packets() -> None:
    rows = "7,0,10\n8,0.1,10\n11,0.4,20\n3,0.5,10\n"  # the counter is set at the end
    found = trace(f"seq,send_time,owd_ms\n{rows}")
    assert found.times == pytest.approx([0, 0.1, 0.2, 0.3, 0.4, 0.5])
    assert found.delays == [0.01, 0.01, None, None, 0.02, 0.01]
    # not where losses are told otherwise, or flows share a counter
    assert (
        len(trace(f"seq,send_time,owd_ms,lost\n{rows.replace(chr(10), ',0' + chr(10))}").times) == 4
    )
    assert (
        len(trace(f"seq,send_time,owd_ms,flow\n{rows.replace(chr(10), ',a' + chr(10))}").times) == 4
    )


def test_reads_the_rows_of_one_direction() -> None:
    text = "send_time,owd_ms,direction\n0,10,up\n0.1,20,down\n0.1,30,up\n0.05,40,down\n"
    assert trace(text, direction="up").delays == [0.01, 0.03]
    with pytest.raises(TableRefusal):  # the other direction's times go back
        trace(text, direction="down")


@pytest.mark.parametrize(("by", "times"), [("packet", range(7)), ("time", range(7))])
def test_loops(by: Any, times: range) -> None:
    """A trace by time restarts a mean step after its last packet."""
    link = TraceLink(NetworkTrace([0, 1, 2], [0.1, None, 0.3]), by, "loop")
    delays = [[round(arrival - time, 9) for arrival in link.send(time)] for time in times]
    assert delays == [[0.1], [], [0.3], [0.1], [], [0.3], [0.1]]
    assert not link.has_ended(1e9)


def test_a_trace_has_ended_after_its_period_however_that_is_rounded() -> None:
    link = TraceLink(NetworkTrace([0, 0.1, 0.2], [0.1] * 3), "time", "stop")
    link.send(1.1)
    assert 1.4 - 1.1 < 0.3
    assert (link.has_ended(1.39), link.has_ended(1.4)) == (False, True)


def test_a_trace_of_one_packet() -> None:
    one = NetworkTrace([0.0], [0.1])
    assert [TraceLink(one).send(time) for time in (3.0, 1e9)] == [(3.1,), (1e9 + 0.1,)]
    assert TraceLink(NetworkTrace([0.0, 5e-324], [0.1, 0.2])).send(1.0) == (1.1,)


def test_in_order() -> None:
    steep = NetworkTrace([0, 1], [0.75, 0.125])
    times = (0.0, 0.75, 1.0)
    free, kept = TraceLink(steep), TraceLink(steep, in_order=True)
    assert [free.send(time) for time in times] == [(0.75,), (1.5,), (1.125,)]
    assert [kept.send(time) for time in times] == [(0.75,), (1.5,), (1.5,)]


def test_lost_packets_of_unknown_time_lie_between_the_others() -> None:
    text = "send_time,recv_time,lost\n,,1\n1,1.1,0\n,,1\n,,1\n4,4.1,0\n,,1\n"
    found = trace(text)
    assert found.times == [0, 0, 1, 2, 3, 3]
    assert [delay is None for delay in found.delays] == [True, False, True, True, False, True]


@pytest.mark.parametrize(
    ("text", "options", "what"),
    [
        (RECEIVED, {}, "several flows, choose one: a, b"),
        (RECEIVED, {"flow": "c"}, "no packet of the flow 'c'; its flows are: a, b"),
        ("send_time,recv_time\n", {}, "the file has no packet"),
    ],
)
def test_unclear_flows(text: str, options: dict[str, Any], what: str) -> None:
    with pytest.raises(ValueError, match=what):
        trace(text, **options)


def test_in_order_no_packet_overtakes_another_on_both_networks_together() -> None:
    conditions = LinkConditions(jitter=0.1, duplicate=0.5, in_order=True)
    both = AddedLink(TraceLink(trace(RECEIVED, flow="a")), Link(conditions, seed=1), in_order=True)
    sent = [(k / 50, arrival) for k in range(200) for arrival in both.send(k / 50)]
    arrivals = [arrival for _, arrival in sent]
    assert arrivals == sorted(arrivals)
    assert all(arrival > time for time, arrival in sent)
