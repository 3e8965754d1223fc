"""A recording that grows while packets come in, and is whole at any moment."""

from __future__ import annotations

import os

from epic_cli.engine.contract import Packet
from epic_cli.engine.packets import PacketBlock
from epic_cli.formats import DEFAULT, formats, packet_formats, suffixes
from epic_cli.formats.recordings import make_line_writer
from epic_cli.formats.writing import Unwritable
from epic_cli.live.packet_filter import Limits
from epic_cli.live.whole_files import Rotation, WholeFile

#: What any recording has a place for, but for the names of some.
_STILL = Packet((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0.0)


def format_of(path: str) -> str:
    """By what the name ends with: CSV, JSON lines, and packet text for all others."""
    kind = suffixes().get(os.path.splitext(path)[1].lower(), DEFAULT)  # noqa: PTH122 - as elsewhere
    return kind if kind in packet_formats() else DEFAULT


def _whole_lines(data: bytes, most: int) -> int:
    return data.rfind(b"\n", 0, most) + 1


class GrowingRecording:
    """Writes packets as ``WholeFile`` does, in the format that the name says.

    ``recorded`` counts those that are in a file whatever becomes of the program.
    """

    def __init__(self, path: str, rotation: Rotation | None = None) -> None:
        entry = formats()[format_of(path)]
        self._writer = make_line_writer(entry.name)
        self._rows = self._writer.many()
        self._file = WholeFile(path, self._writer.header, _whole_lines, rotation)
        self.recorded = 0
        #: What it has no place for.
        self.limits = Limits(entry.needs_velocity, not entry.needs_delta_column, self._takes)

    @property
    def files(self) -> int:
        """How many there are."""
        return self._file.files

    def _takes(self, name: str) -> bool:
        try:
            self._writer.row(_STILL._replace(entity=name))
        except Unwritable:
            return False
        return True

    def write(self, block: PacketBlock) -> None:
        """Writes packets, all of which keep to its limits."""
        rows, end = self._rows.rows(block)
        if end != len(block):
            raise ValueError(f"this recording has no place for {block[end]}")
        if rows:
            self._file.write(rows)
            self.recorded += len(block)

    def close(self) -> None:
        """Nothing more comes."""
        self._file.close()
