"""A recording that grows while packets arrive, and is valid at any moment."""

from __future__ import annotations

import os

from epic_cli.engine.contract import Packet
from epic_cli.engine.packets import PacketBlock
from epic_cli.formats import DEFAULT, formats, packet_formats, suffixes
from epic_cli.formats.recordings import make_line_writer
from epic_cli.formats.writing import Unwritable
from epic_cli.live.consumer import Consumer, Limits
from epic_cli.live.whole_files import Rotation, WholeFile

#: What every format can record, except some names.
_STILL = Packet((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0.0)


def format_of(path: str) -> str:
    """The format by suffix: CSV, JSON lines, and packet text for all others."""
    kind = suffixes().get(os.path.splitext(path)[1].lower(), DEFAULT)  # noqa: PTH122 - as elsewhere
    return kind if kind in packet_formats() else DEFAULT


class Recording(Consumer):
    """A consumer that writes to a ``WholeFile``, in which so many of its ``unit`` are."""

    unit: str
    file: WholeFile

    def close(self) -> None:
        """Nothing more comes."""
        self.file.close()


class PacketRecording(Recording):
    """Writes packets in the format of the file's suffix."""

    unit = "packets"

    def __init__(self, path: str, rotation: Rotation | None = None) -> None:
        entry = formats()[format_of(path)]
        self._writer = make_line_writer(entry.name)
        self._rows = self._writer.many()
        self.file = WholeFile(path, self._writer.header, rotation=rotation)
        self.limits: Limits = Limits(
            entry.needs_velocity, not entry.needs_delta_column, self._takes
        )

    def _takes(self, name: str) -> bool:
        try:
            self._writer.row(_STILL._replace(entity=name))
        except Unwritable:
            return False
        return True

    def take_packets(self, block: PacketBlock) -> None:
        """Writes packets, which are within its limits."""
        rows, end = self._rows.rows(block)
        if end != len(block):
            raise ValueError(f"this recording cannot hold {block[end]}")
        if rows:
            self.file.write(rows, len(block))
