"""Packets to feed the predicting strategies with."""

from __future__ import annotations

from epic_cli import Packet


def packet(
    time: float, x: float, vx: float = 0.0, arrival: float | None = None, teleport: bool = False
) -> Packet:
    """Return a packet on the x axis."""
    return Packet((x, 0.0, 0.0), (vx, 0.0, 0.0), time, arrival, teleport=teleport)
