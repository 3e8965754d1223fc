"""Runs the common input streams through a strategy, as their conformance files were made."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from epic_cli import Packet, Sample
from support.places import CONFORMANCE

FOLDER = CONFORMANCE / "strategies"


def load(name: str) -> Any:
    """A conformance file."""
    return json.loads((FOLDER / f"{name}.json").read_text())


def streams() -> dict[str, Any]:
    """The common input streams by their names."""
    return {stream["name"]: stream for stream in load("streams")["streams"]}


def packets(stream: dict[str, Any]) -> list[Packet]:
    """The packets of a common stream in order of arrival, seconds."""
    ordered = sorted(stream["packets"], key=lambda packet: (packet["recv_ms"], packet["seq"]))
    return [
        Packet(
            (packet["x"], packet["y"], 0.0),
            (packet["vx"], packet["vy"], 0.0),
            packet["t_ms"] / 1000,
            packet["recv_ms"] / 1000,
        )
        for packet in ordered
    ]


def ticks(stream: dict[str, Any]) -> list[float]:
    """The ticks of a common stream, seconds."""
    return [
        ms / 1000
        for ms in range(stream["first_tick_ms"], stream["last_tick_ms"] + 1, stream["tick_ms"])
    ]


def drawn(strategy: Any, arriving: list[Packet], at: list[float]) -> Iterator[Sample]:
    """What the strategy draws at these times, with every packet taken before its tick."""
    waiting = iter(arriving)
    packet = next(waiting, None)
    for time in at:
        while packet is not None and packet.arrival is not None and packet.arrival <= time + 1e-9:
            strategy.update(packet, packet.arrival)
            packet = next(waiting, None)
        yield strategy.read(time)


def check_rows(
    strategy: Any,
    stream: dict[str, Any],
    rows: list[dict[str, Any]],
    stretch: float = 1.0,
    tolerance: float = 1e-9,
) -> int:
    """Compares what is drawn with the rows of a conformance file; returns how many had a state.

    A row without a state is one in which the original drew nothing. ``stretch`` is how much
    longer than a tick the original's frames are.
    """
    times = ticks(stream)
    assert [round(row["tick_ms"]) for row in rows] == [round(time * 1000) for time in times]
    times = [times[0] + (time - times[0]) * stretch for time in times]
    compared = 0
    for row, sample in zip(rows, drawn(strategy, packets(stream), times), strict=True):
        expected = row["out"]
        if expected is None:
            continue
        compared += 1
        found = (*sample.position[:2], *sample.velocity[:2])
        wanted = tuple(expected[key] for key in ("x", "y", "vx", "vy"))
        assert sample.status != "none", row
        for ours, theirs in zip(found, wanted, strict=True):
            assert abs(ours - theirs) <= tolerance, (row, sample)
    return compared
