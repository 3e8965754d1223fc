"""Packets as CSV: comma- or tab-separated values under a header that names the columns."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

from epic_cli.engine.packets import PacketBlock
from epic_cli.engine.refusals import Reason
from epic_cli.engine.text.scan import FIELDS, OPTIONAL_FIELDS
from epic_cli.formats.conventions import LONGEST_LINE, delimiter_of
from epic_cli.formats.lines import LineReader
from epic_cli.formats.writing import Fault, Unwritable, check, check_length, csv_field, number

if TYPE_CHECKING:
    from epic_cli.engine.contract import Packet


#: The columns in the order in which they are written; ``delta`` may follow.
COLUMNS = ("entity", "time", "x", "y", "z", "vx", "vy", "vz", "arrival", "seq", "teleport")


class CsvReader(LineReader):
    """Reads packets under a header that names their columns, in any order among others."""

    def __init__(self) -> None:
        super().__init__()
        self._names: list[str] = []
        self._delimiter = ","
        self._places: list[int] = []
        self._optional: list[tuple[str, int]] = []

    def take_line(self, block: PacketBlock, line: str, raw: bytes, begin: int) -> None:
        """Takes the header, then a packet a line."""
        if not self._names:
            self._take_header(block, line, raw)
            return
        cells = split_row(line, self._delimiter)
        names = tuple(self._names)
        if cells is None:
            self.refuse(block, raw, 0, Reason.QUOTES_OPEN, expected=names)
        elif len(cells) != len(names):
            self.refuse(block, raw, 0, Reason.FIELD_COUNT, found=len(cells), expected=names)
        else:
            numbers = [cells[place] for place in self._places]
            optional = {name: cells[place] for name, place in self._optional}
            self.add(block, numbers, optional, begin, raw)

    def _take_header(self, block: PacketBlock, line: str, raw: bytes) -> None:
        self._delimiter = delimiter_of(line)
        self._names = [name.strip() for name in split_row(line, self._delimiter) or []]
        missing = tuple(name for name in FIELDS if name not in self._names)
        if missing:
            self.refuse(block, raw, 0, Reason.COLUMNS_MISSING, names=missing, expected=FIELDS)
            self.ended = True
            return
        self._places = [self._names.index(name) for name in FIELDS]
        self._optional = [(n, self._names.index(n)) for n in OPTIONAL_FIELDS if n in self._names]

    def find_field(self, raw: bytes, name: str) -> int:
        """Where in a line a field stands."""
        return field_offset(raw, self._names.index(name), self._delimiter)


class CsvWriter:
    """Writes packets as CSV; a ``delta`` other than 0 needs the column of that name."""

    def __init__(self, delta: bool = False) -> None:
        self._delta = delta
        self.header = ",".join((*COLUMNS, "delta") if delta else COLUMNS).encode() + b"\n"

    def row(self, packet: Packet) -> bytes:
        """A packet as one line; raises ``Unwritable``."""
        check(packet)
        numbers = ",".join(map(number, (packet.time, *packet.position, *packet.velocity)))
        arrival = "" if packet.arrival is None else number(packet.arrival)
        sequence = "" if packet.sequence is None else packet.sequence
        row = f"{csv_field(packet.entity)},{numbers},{arrival},{sequence},{packet.teleport:d}"
        if self._delta:
            row += f",{number(packet.delta)}"
        elif packet.delta:
            raise Unwritable(Fault.NO_COLUMN, "delta", packet.delta)
        return check_length(row.encode() + b"\n", LONGEST_LINE, packet.entity)


def split_row(line: str, delimiter: str) -> list[str] | None:
    """The fields of a line; None: its quotes do not end."""
    try:
        return next(csv.reader([line], delimiter=delimiter, strict=True), [])
    except csv.Error:
        return None


def field_offset(raw: bytes, place: int, delimiter: str) -> int:
    """At which byte of a line its field number ``place`` (from 0) begins; 0: it has not so many."""
    quoted, separator = False, ord(delimiter)
    for at, byte in enumerate(raw):
        if place == 0:
            return at
        quoted ^= byte == ord('"')
        place -= byte == separator and not quoted
    return len(raw.rstrip(b"\r\n")) if place == 0 else 0
