"""Packet text, ``x,y,z / vx,vy,vz / t [key=value ...]``: the engine's ``TextScanner`` reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from epic_cli.formats.writing import (
    Fault,
    LineWriter,
    Unwritable,
    check,
    check_length,
    check_name,
    if_writable,
    number,
)

if TYPE_CHECKING:
    from epic_cli.engine.contract import Packet
    from epic_cli.engine.text.packet_rows import PacketRows

#: Bytes of a line with its end; the scanner reads a longer one as several.
LONGEST_LINE = 1023


class TextWriter(LineWriter):
    """Writes packets as packet text."""

    def many(self, **changes: Any) -> PacketRows:
        """What writes the same rows many at once; ``changes`` are those of ``PacketRows``."""
        from epic_cli.engine.text.packet_rows import PacketRows

        return PacketRows(if_writable(_name), LONGEST_LINE, **changes)

    def row(self, packet: Packet) -> bytes:
        """A packet as one line; raises ``Unwritable``."""
        return packet_line(packet).encode() + b"\n"


def packet_line(packet: Packet) -> str:
    """A packet as one line, without its end, each number as short as it can be.

    Raises ``Unwritable`` for a packet that would be read back as another one.
    """
    check(packet)
    if packet.velocity is None:
        raise Unwritable(Fault.NO_VELOCITY, "velocity", None)
    x, y, z = packet.position
    vx, vy, vz = packet.velocity
    line = (
        f"{number(x)},{number(y)},{number(z)}"
        f" / {number(vx)},{number(vy)},{number(vz)} / {number(packet.time)}"
    )
    if packet.arrival is not None:
        line += f" arrival={number(packet.arrival)}"
    if packet.entity:
        line += f" entity={_name(packet.entity)}"
    if packet.sequence is not None:
        line += f" seq={packet.sequence}"
    if packet.teleport:
        line += " teleport=1"
    if packet.delta:
        line += f" delta={number(packet.delta)}"
    if packet.entity:  # nothing else makes a line so long
        check_length(line.encode(), LONGEST_LINE - 1, packet.entity)
    return line


def _name(entity: str) -> str:
    check_name(entity)
    if " " in entity:  # of the printable characters the one that ends a word
        raise Unwritable(Fault.BLANK, "entity", entity)
    return entity
