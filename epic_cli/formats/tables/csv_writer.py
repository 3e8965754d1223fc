"""Packets as CSV or TSV: values under a header; ``csv_reader`` reads any tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from epic_cli.engine.text.packet_rows import PacketRows
from epic_cli.formats.conventions import LONGEST_LINE
from epic_cli.formats.writing import (
    Fault,
    LineWriter,
    Unwritable,
    check,
    check_length,
    check_name,
    csv_field,
    if_writable,
    number,
)

if TYPE_CHECKING:
    from epic_cli.engine.contract import Packet


#: The columns in the order in which they are written; ``delta`` may follow.
COLUMNS = ("entity", "time", "x", "y", "z", "vx", "vy", "vz", "arrival", "seq", "teleport")


class CsvWriter(LineWriter):
    """Writes packets as CSV, or with tabs for ``separator`` as TSV.

    A ``delta`` other than 0 needs the column of that name.
    """

    def __init__(self, delta: bool = False, separator: str = ",") -> None:
        self._delta = delta
        self._separator = separator
        columns = (*COLUMNS, "delta") if delta else COLUMNS
        self.header = separator.join(columns).encode() + b"\n"

    def many(self, **changes: Any) -> PacketRows:
        """What writes the same rows many at once; ``changes`` are those of ``PacketRows``."""
        names = if_writable(_name)
        separator, delta = self._separator, self._delta
        return PacketRows(names, LONGEST_LINE, separator=separator, delta=delta, **changes)

    def row(self, packet: Packet) -> bytes:
        """A packet as one line; raises ``Unwritable``."""
        check(packet)
        cells = [
            csv_field(packet.entity),
            *map(number, (packet.time, *packet.position)),
            *(map(number, packet.velocity) if packet.velocity is not None else ("", "", "")),
            "" if packet.arrival is None else number(packet.arrival),
            "" if packet.sequence is None else str(packet.sequence),
            "1" if packet.teleport else "0",
        ]
        if self._delta:
            cells.append(number(packet.delta))
        elif packet.delta:
            raise Unwritable(Fault.NO_COLUMN, "delta", packet.delta)
        row = self._separator.join(cells).encode() + b"\n"
        return check_length(row, LONGEST_LINE, packet.entity)


def _name(entity: str) -> str:
    check_name(entity)
    return csv_field(entity)
