"""A recording that grows while packets arrive, and is valid at any moment."""

from __future__ import annotations

import os

from epic_cli.engine.packets import PacketBlock
from epic_cli.formats import DEFAULT, formats, packet_formats, suffixes
from epic_cli.formats.recordings import make_line_writer
from epic_cli.formats.writing import Fault, Unwritable
from epic_cli.live.consumer import Consumer
from epic_cli.live.whole_files import Rotation, WholeFile


def format_of(path: str) -> str:
    """The format by suffix: CSV, JSON lines, and packet text for all others."""
    kind = suffixes().get(os.path.splitext(path)[1].lower(), DEFAULT)  # noqa: PTH122 - as elsewhere
    return kind if kind in packet_formats() else DEFAULT


class Recording(Consumer):
    """A consumer that writes to a ``WholeFile``, in which so many of its ``unit`` are.

    ``left_out`` says what its format cannot hold; nothing: it holds everything that came.
    """

    unit: str
    file: WholeFile
    left_out = ""

    def close(self) -> None:
        """Nothing more comes."""
        self.file.close()


class PacketRecording(Recording):
    """Writes packets in the format of the file's suffix, as far as this format can hold them."""

    unit = "packets"

    def __init__(self, path: str, rotation: Rotation | None = None) -> None:
        entry = formats()[format_of(path)]
        self._writer = make_line_writer(entry.name)
        self._rows = self._writer.many()
        self._first: Unwritable | None = None
        self._count = 0
        self.file = WholeFile(path, self._writer.header, rotation=rotation)

    @property
    def left_out(self) -> str:  # type: ignore[override]
        """How many packets are not in it, why the first of them is not, and what would hold it."""
        if self._first is None:
            return ""
        cure = "" if self._first.fault is Fault.UNPRINTABLE else "; .jsonl holds such packets"
        return f"{self._count:,} not recorded in {self.file.path}: {self._first}{cure}"

    def take_packets(self, block: PacketBlock) -> None:
        """Writes the packets that it can hold, and counts the others."""
        begin, found, written = 0, [], 0
        while begin < len(block):
            rows, end = self._rows.rows(block, begin)
            found.append(rows)
            written += end - begin
            if end < len(block):
                self._leave_out(block, end)
            begin = end + 1
        if written:
            self.file.write(b"".join(found), written)

    def _leave_out(self, block: PacketBlock, index: int) -> None:
        self._count += 1
        if self._first is None:
            try:
                self._writer.row(block[index])
            except Unwritable as error:
                self._first = error
