"""Tests of the simulation: order, memory, counts, and the same bytes for a seed."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any, get_args

import pytest

from epic_cli.network.link import GilbertElliott, Link, LinkConditions, TraceBy
from epic_cli.network.movement import PathMovement
from epic_cli.network.paths import PATHS, make_straight
from epic_cli.network.sender import Sender, SenderSpec
from epic_cli.network.simulation import simulate
from epic_cli.network.trace import TraceLink, read_trace
from epic_cli.network.truth_file import read_movement
from epic_cli.recordings.entries.text import make_text_writer

HERE = Path(__file__).parent


def line() -> PathMovement:
    return PathMovement(make_straight(1, 1, 0))


def test_states_of_one_time_share_a_datagram() -> None:
    text = b"entity,time,x,y,z\na,0,0,0,0\nb,0,1,0,0\na,1,0,0,0\nb,1,1,0,0\n"

    def sequences(separate: bool) -> list[tuple[str, int | None]]:
        movement = read_movement(io.BytesIO(text))
        packets = simulate(movement, send_rate=None, sender=Sender(SenderSpec(separate=separate)))
        return [(packet.entity, packet.sequence) for packet in packets]

    assert sequences(False) == [("a", 0), ("b", 0), ("a", 1), ("b", 1)]
    assert sequences(True) == [("a", 0), ("b", 1), ("a", 2), ("b", 3)]


def test_a_recorded_network_brings_its_own_delays_and_losses() -> None:
    trace = read_trace(io.BytesIO((HERE / "trace.csv").read_bytes()))
    rows = [row.split(",") for row in (HERE / "trace.csv").read_text().splitlines()[1:]]
    text = "entity,time,x,y,z\n" + "".join(f"e{row[0]},{row[1]},{row[0]},0,0\n" for row in rows)
    for by in get_args(TraceBy):
        movement = read_movement(io.BytesIO(text.encode()))
        link = TraceLink(trace, by, "stop")
        packets = simulate(
            movement, send_rate=None, channel=link, sender=Sender(SenderSpec(separate=True))
        )
        found = sorted((packet.position[0], packet.arrival) for packet in packets)
        assert found == [(float(row[0]), float(row[2])) for row in rows if row[3] == "0"]


def test_a_trace_that_stops_ends_the_simulation() -> None:
    trace = read_trace(io.BytesIO(b"send_time,owd_ms\n0,10\n1,10\n2,\n"))
    packets = list(simulate(line(), send_rate=2, channel=TraceLink(trace, "packet", "stop")))
    assert [packet.time for packet in packets] == [0, 0.5]


GOLDEN: dict[str, dict[str, Any]] = {
    name: {"path": name, "seed": 1, "link": {"latency": 0.08, "jitter": 0.03, "loss": 0.1}}
    for name in PATHS
} | {
    distribution: {
        "path": "circle",
        "seed": 42,
        "link": {
            "latency": 0.1,
            "jitter": 0.03,
            "distribution": distribution,
            "correlation": 0.5,
            "duplicate": 0.1,
            "reorder": 0.1,
            "loss": GilbertElliott(0.1, 0.4, 0.9, 0.01),
        },
    }
    for distribution in ("uniform", "normal", "pareto-unbounded", "gamma")
}


@pytest.mark.parametrize("name", GOLDEN)
def test_golden(name: str) -> None:
    """The same seed gives the same bytes: on every machine, in every version."""
    case = GOLDEN[name]
    movement = PathMovement(PATHS[case["path"]](5.0, 2.0, case["seed"]))
    sender = Sender(SenderSpec(clock_offset=1, clock_drift=100, quantize=0.001))
    link = Link(LinkConditions(**case["link"]), seed=case["seed"])
    packets = simulate(movement, duration=2, channel=link, sender=sender)
    writer = make_text_writer()
    found = b"".join(map(writer.format_row, packets))
    assert found == (HERE / "golden" / f"{name}.txt").read_bytes()
