"""Packets as JSON lines, with the names of the CSV columns; ``lines_reader`` reads any others."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from epic_cli.engine.text.packet_rows import PacketRows
from epic_cli.engine.text.records import FIELDS
from epic_cli.formats.conventions import LONGEST_LINE
from epic_cli.formats.writing import (
    LineWriter,
    check,
    check_length,
    check_name,
    if_writable,
    number,
)

if TYPE_CHECKING:
    from epic_cli.engine.contract import Packet


class JsonlWriter(LineWriter):
    """Writes a packet as an object on each line; what it has not is left out.

    Numbers that are not finite are ``NaN`` and ``Infinity``, as Python's ``json`` has them.
    """

    def many(self, **changes: Any) -> PacketRows:
        """What writes the same rows many at once; ``changes`` are those of ``PacketRows``."""
        return PacketRows(if_writable(_name), LONGEST_LINE, json=True, **changes)

    def row(self, packet: Packet) -> bytes:
        """A packet as one line; raises ``Unwritable``."""
        check(packet)
        state = (packet.time, *packet.position, *(packet.velocity or ()))
        names = ("time", *FIELDS[:-1])
        fields = [f'"{n}": {_json_number(v)}' for n, v in zip(names, state, strict=False)]
        if packet.arrival is not None:
            fields.append(f'"arrival": {number(packet.arrival)}')
        if packet.entity:
            fields.append(f'"entity": {json.dumps(packet.entity)}')
        if packet.sequence is not None:
            fields.append(f'"seq": {packet.sequence}')
        if packet.delta:
            fields.append(f'"delta": {number(packet.delta)}')
        if packet.teleport:
            fields.append('"teleport": 1')
        row = f"{{{', '.join(fields)}}}\n".encode()
        return check_length(row, LONGEST_LINE, packet.entity)


def _name(entity: str) -> str:
    check_name(entity)
    return json.dumps(entity) if entity else ""


def _json_number(value: float) -> str:
    return number(value) if math.isfinite(value) else json.dumps(value)
