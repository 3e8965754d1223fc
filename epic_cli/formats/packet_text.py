"""Packets as packet text: what the scanner reads back as the same packet."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from epic_cli.engine.contract import Packet


def packet_line(packet: Packet) -> str:
    """A packet as one line, without its end, each number as short as it can be.

    Raises ``ValueError`` for an entity whose name cannot stand in packet text: it has blanks.
    """
    x, y, z = packet.position
    vx, vy, vz = packet.velocity
    line = (
        f"{number(x)},{number(y)},{number(z)}"
        f" / {number(vx)},{number(vy)},{number(vz)} / {number(packet.time)}"
    )
    return line + _tail(packet)


def number(value: float) -> str:
    """The shortest decimal that reads back as this number; whole ones without a fraction."""
    return repr(value).removesuffix(".0")


def _tail(packet: Packet) -> str:
    tail = ""
    if packet.arrival is not None:
        tail += f" arrival={number(packet.arrival)}"
    if packet.entity:
        # the scanner's blanks are those of C, the ones of Unicode are part of a name
        if any(blank in packet.entity for blank in " \t\n\v\f\r\0"):
            raise ValueError(f"the entity {packet.entity!r} has a blank in its name")
        tail += f" entity={packet.entity}"
    if packet.sequence is not None:
        tail += f" seq={packet.sequence}"
    if packet.teleport:
        tail += " teleport=1"
    if packet.delta:
        tail += f" delta={number(packet.delta)}"
    return tail
