"""Expected values of the predicting strategies, and packets to feed them with."""

from __future__ import annotations

import json
from typing import Any

from epic_cli import Packet
from support.places import CONFORMANCE

FOLDER = CONFORMANCE / "strategies"


def expected(name: str) -> dict[str, Any]:
    """A file of expected values."""
    loaded: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text())
    return loaded


def packet(
    time: float, x: float, vx: float = 0.0, arrival: float | None = None, teleport: bool = False
) -> Packet:
    """A packet on the x axis."""
    return Packet((x, 0.0, 0.0), (vx, 0.0, 0.0), time, arrival, teleport=teleport)


def streams() -> list[dict[str, Any]]:
    """The common input streams; times in milliseconds."""
    found: list[dict[str, Any]] = expected("streams")["streams"]
    return found


def stream_packets(stream: dict[str, Any]) -> list[Packet]:
    """The packets of a common stream, with arrival times."""
    return [
        Packet(
            (one["x"], one["y"], 0.0),
            (one["vx"], one["vy"], 0.0),
            one["t_ms"] / 1000,
            one["recv_ms"] / 1000,
        )
        for one in sorted(stream["packets"], key=lambda one: (one["recv_ms"], one["seq"]))
    ]
