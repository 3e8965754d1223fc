"""Recordings that grow while packets arrive.

Valid files at any moment, split when they get large.
"""

from __future__ import annotations

import contextlib
import errno
import math
import os
import re
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from epic_cli.engine.packets import PacketBlock
from epic_cli.engine.text.widths import printable
from epic_cli.live.consumer import Consumer
from epic_cli.live.receiving import read_machine_time
from epic_cli.recordings import DEFAULT, list_formats, list_packet_formats, list_suffixes
from epic_cli.recordings.captures import HEADER, make_capture_record, measure_whole_records
from epic_cli.recordings.files import check_output, claim_output, raise_cannot_access
from epic_cli.recordings.reading import BINARY, make_line_writer
from epic_cli.recordings.writing import Fault, Unwritable
from epic_cli.shell.console import Sink, open_sink

if TYPE_CHECKING:
    from epic_cli.recordings.addresses import ReceivedDatagram


class Rotation(NamedTuple):
    """The limits of a file, by size (bytes) and time (s), at which the next file begins."""

    size: float = math.inf
    seconds: float = math.inf


_SIZES = {"kb": 10**3, "mb": 10**6, "gb": 10**9}
_SPANS = {"s": 1.0, "min": 60.0, "h": 3600.0}


def parse_rotation(text: str) -> Rotation:
    """Parse a size or a time, each with its unit; raise ``ValueError``."""
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([a-z]+)", text.strip().lower())
    number, unit = (float(found[1]), found[2]) if found else (math.nan, "")
    rotation = Rotation(
        number * _SIZES[unit] if unit in _SIZES else math.inf,
        number * _SPANS[unit] if unit in _SPANS else math.inf,
    )
    size, seconds = rotation
    if not (100_000 <= size < 1e15 or 1 <= seconds < 1e9):
        raise ValueError(
            f"{text!r} is not a size from 100kB on, such as 100MB, nor a time, such as 10min"
        )
    return rotation


def measure_whole_lines(data: bytes, size: int) -> int:
    """Return the size of the whole lines in the first ``size`` bytes of ``data``."""
    return data.rfind(b"\n", 0, size) + 1


class WholeFile:
    """A file of whole lines or records, written without a buffer.

    What ``write`` has returned from is in the file even if the program dies; only the machine
    itself could lose it. Raises ``OSError`` with the name of the file, which then ends with a whole
    line or record: ``whole`` returns how many of the first bytes of the data are whole. A non-empty
    file is not overwritten, unless the first write ``replaces`` it; a file that this run reads
    never is. Each file begins with ``header``. With a ``rotation`` names are numbered:
    ``game-0001.csv``, ``game-0002.csv``. ``recorded`` counts the lines or records in them.
    """

    def __init__(
        self,
        path: str,
        header: bytes,
        whole: Callable[[bytes, int], int] = measure_whole_lines,
        rotation: Rotation | None = None,
        replaces: bool = False,
    ) -> None:
        self.path = Path(path)
        self._replaces = replaces
        self._header = header
        self._whole = whole
        self._rotation = rotation
        self._descriptor = -1
        self.files = 0
        self.recorded = 0
        self._open_next_file()

    def __str__(self) -> str:
        """Return the path as messages show it, with the number of files if there are several."""
        count = f"{self.files:,} numbered file" + "s" * (self.files != 1)
        path = printable(str(self.path))
        return path if self._rotation is None else f"{path}, in {count}"

    def _open_next_file(self) -> None:
        path = self.path
        if self._rotation is not None:
            path = path.with_stem(f"{path.stem}-{self.files + 1:04}")
        self._name = str(path)
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
        check_output(os.path.realpath(path))
        if self._rotation is not None:
            claim_output(self._name, f"{self.path}, in numbered files,")
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | BINARY, 0o666)
        self.files += 1
        try:
            status = os.fstat(self._descriptor)
            self._regular = stat.S_ISREG(status.st_mode)
            self._old = self._regular and status.st_size > 0
            if self._old and not self._replaces:
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
            self._size = 0
            self._begun = time.monotonic()
            self._write_whole_data(self._header)
        except BaseException:
            self.close()
            raise

    def write(self, data: bytes | memoryview, count: int = 1) -> None:
        """Write ``count`` lines or records; begin the next file first if this file is full."""
        data = bytes(data)
        while data and self._rotation is not None:
            filled = self._size > len(self._header)
            if filled and time.monotonic() - self._begun >= self._rotation.seconds:
                self._open_next_file()
                continue
            room = self._rotation.size - self._size
            if len(data) <= room:
                break
            some = self._whole(data, max(int(room), 0))
            if not some and not filled:
                break  # a line is longer than the file's limit
            self._write_whole_data(data[:some])
            data = data[some:]
            if data:
                self._open_next_file()
        if data:
            self._write_whole_data(data)
        self.recorded += count

    def take_back(self, data: bytes) -> None:
        """Remove the last write from a regular file; pipes and devices keep it."""
        if self._regular:
            self._size -= len(data)
            os.ftruncate(self._descriptor, self._size)
            self.recorded -= 1

    def _write_whole_data(self, data: bytes) -> None:
        written = 0
        if data and self._old:
            os.ftruncate(self._descriptor, 0)
            self._old = False
        try:
            while written < len(data):
                written += os.write(self._descriptor, data[written:])
        except OSError as error:
            error.filename = self._name
            self._size += self._whole(data, written)
            if self._regular:
                with contextlib.suppress(OSError):
                    os.ftruncate(self._descriptor, self._size)
            raise
        self._size += written

    def flush(self) -> None:
        """Do nothing: bytes are written at once."""

    def isatty(self) -> bool:
        """Return True if the file is a terminal."""
        return os.isatty(self._descriptor)

    def fileno(self) -> int:
        """Return the descriptor of the file."""
        return self._descriptor

    def close(self) -> None:
        """Close the file."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


@contextlib.contextmanager
def open_log(path: str | None) -> Iterator[Sink]:
    """Open a sink that writes whole lines to a file as the file grows.

    Without a path, or with ``-``, the sink is stdout. Raise ``CannotAccess``.
    """
    if path is None or path == "-":
        with open_sink(None) as sink:
            yield sink
        return
    with raise_cannot_access("write to", path):
        file = WholeFile(path, b"", replaces=True)
    with contextlib.closing(file):
        yield Sink(file, path)


def find_format(path: str) -> str:
    """Return the format for a suffix: CSV, JSON lines, or packet text for any other suffix."""
    kind = list_suffixes().get(os.path.splitext(path)[1].lower(), DEFAULT)  # noqa: PTH122 - as elsewhere
    return kind if kind in list_packet_formats() else DEFAULT


class Recording(Consumer):
    """A consumer that writes to a ``WholeFile`` and counts in ``unit``.

    ``left_out`` describes the packets that the format cannot hold; empty: all fit so far.
    """

    unit: str
    file: WholeFile
    left_out = ""

    def close(self) -> None:
        """Close the file."""
        self.file.close()


class PacketRecording(Recording):
    """A recording of packets in the format of the file's suffix."""

    unit = "packets"

    def __init__(self, path: str, rotation: Rotation | None = None) -> None:
        entry = list_formats()[find_format(path)]
        self._writer = make_line_writer(entry.name)
        self._rows = self._writer.make_many_writer()
        self._first: Unwritable | None = None
        self._count = 0
        self.file = WholeFile(path, self._writer.header, rotation=rotation)

    @property
    def left_out(self) -> str:  # type: ignore[override]
        """Words on the packets that the format cannot hold.

        Number, reason, and a format that can.
        """
        if self._first is None:
            return ""
        cure = "" if self._first.fault is Fault.UNPRINTABLE else "; .jsonl holds such packets"
        path = printable(str(self.file.path))
        return f"{self._count:,} not recorded in {path}: {self._first}{cure}"

    def take_packets(self, block: PacketBlock) -> None:
        """Write the packets that the format can hold, and count the others."""
        begin, found, written = 0, [], 0
        while begin < len(block):
            rows, end = self._rows.rows(block, begin)
            found.append(rows)
            written += end - begin
            if end < len(block):
                self._count_left_out_packets(block, end)
            begin = end + 1
        if written:
            self.file.write(b"".join(found), written)

    def _count_left_out_packets(self, block: PacketBlock, index: int) -> None:
        self._count += 1
        if self._first is None:
            try:
                self._writer.format_row(block[index])
            except Unwritable as error:
                self._first = error


class DatagramRecording(Recording):
    """A recording of each datagram received at ``target``, with its arrival and its sender.

    It is a capture (pcap) for Wireshark, from which ``epic convert`` makes packets.
    """

    unit = "datagrams"

    def __init__(
        self, path: str, target: tuple[Any, ...], rotation: Rotation | None = None
    ) -> None:
        self._target = target
        self.file = WholeFile(path, HEADER, measure_whole_records, rotation)
        self._wall = time.time_ns() - int(read_machine_time() * 1e9)

    def take_datagrams(self, received: Sequence[ReceivedDatagram]) -> None:
        """Write received datagrams to the file."""
        records = [
            make_capture_record(datagram, self._target, self._wall + round(datagram.time * 1e9))
            for datagram in received
        ]
        if records:
            self.file.write(b"".join(records), len(received))
