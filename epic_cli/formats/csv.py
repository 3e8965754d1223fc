"""Packets as CSV: comma-separated values under a header; ``csv_reader`` reads any tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from epic_cli.formats.conventions import LONGEST_LINE
from epic_cli.formats.writing import Fault, Unwritable, check, check_length, csv_field, number

if TYPE_CHECKING:
    from epic_cli.engine.contract import Packet


#: The columns in the order in which they are written; ``delta`` may follow.
COLUMNS = ("entity", "time", "x", "y", "z", "vx", "vy", "vz", "arrival", "seq", "teleport")


class CsvWriter:
    """Writes packets as CSV; a ``delta`` other than 0 needs the column of that name."""

    def __init__(self, delta: bool = False) -> None:
        self._delta = delta
        self.header = ",".join((*COLUMNS, "delta") if delta else COLUMNS).encode() + b"\n"

    def row(self, packet: Packet) -> bytes:
        """A packet as one line; raises ``Unwritable``."""
        check(packet)
        velocity = map(number, packet.velocity) if packet.velocity is not None else ("", "", "")
        state = ",".join((*map(number, (packet.time, *packet.position)), *velocity))
        arrival = "" if packet.arrival is None else number(packet.arrival)
        sequence = "" if packet.sequence is None else packet.sequence
        row = f"{csv_field(packet.entity)},{state},{arrival},{sequence},{packet.teleport:d}"
        if self._delta:
            row += f",{number(packet.delta)}"
        elif packet.delta:
            raise Unwritable(Fault.NO_COLUMN, "delta", packet.delta)
        return check_length(row.encode() + b"\n", LONGEST_LINE, packet.entity)
