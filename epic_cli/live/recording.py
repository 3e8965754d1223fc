"""A recording that grows while packets come in, and is whole at any moment."""

from __future__ import annotations

import contextlib
import errno
import os
import stat

from epic_cli.engine.contract import Packet
from epic_cli.formats.recordings import ENDINGS, PacketFormat, make_writer
from epic_cli.formats.writing import Unwritable


def format_of(path: str) -> PacketFormat:
    """By what the name ends with: CSV, JSON lines, and packet text for all others."""
    kind = ENDINGS.get(os.path.splitext(path)[1].lower())  # noqa: PTH122 - as elsewhere
    return kind if kind in ("csv", "jsonl") else "text"


class GrowingRecording:
    """Writes packets in whole lines, past every buffer of this program.

    What ``write`` has returned from is in the file whatever becomes of the program; only the
    machine itself could lose it. ``recorded`` counts such packets. Raises ``OSError``; the file
    then ends with the last whole line. A file that has something in it is not written over.
    """

    def __init__(self, path: str) -> None:
        self._writer = make_writer(format_of(path))
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
        try:
            status = os.fstat(self._descriptor)
            self._regular = stat.S_ISREG(status.st_mode)
            if self._regular and status.st_size:
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
            self._whole = 0
            self._write(self._writer.header)
        except BaseException:
            self.close()
            raise
        self.recorded = 0
        self._rows: list[bytes] = []

    def add(self, packet: Packet) -> bool:
        """Takes a packet that is to be written next; False: its format has no place for it."""
        try:
            self._rows.append(self._writer.row(packet))
        except Unwritable:
            return False
        return True

    def write(self) -> None:
        """Writes what was added."""
        rows, self._rows = self._rows, []
        if rows:
            self._write(b"".join(rows))
            self.recorded += len(rows)

    def _write(self, rows: bytes) -> None:
        written = 0
        try:
            while written < len(rows):
                written += os.write(self._descriptor, rows[written:])
        except OSError:
            self._whole += rows.rfind(b"\n", 0, written) + 1
            if self._regular:
                with contextlib.suppress(OSError):
                    os.ftruncate(self._descriptor, self._whole)
            raise
        self._whole += written

    def close(self) -> None:
        """Nothing more comes."""
        os.close(self._descriptor)
