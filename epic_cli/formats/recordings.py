"""Recordings: packet text, CSV or JSON lines, told apart by their content, read block by block.

Whatever the length of a recording or of its lines, only a block of it is in memory at a time.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from epic_cli.engine.packets import Entities, PacketBlock
from epic_cli.formats.conventions import BYTE_ORDER_MARK, LONGEST_LINE, delimiter_of

if TYPE_CHECKING:
    from typing import Protocol

    from epic_cli.engine.contract import Packet

    class Reader(Protocol):
        """Turns the bytes of one recording into blocks of packets."""

        @property
        def entities(self) -> Entities:
            """The names of the entities seen so far."""

        @property
        def ended(self) -> bool:
            """The recording has said that it ends here; what follows is not read."""

        def scan(self, data: bytes, final: bool = False) -> PacketBlock:
            """The packets of all lines that ``data`` completes; ``final``: there is no more."""

    class Writer(Protocol):
        """Turns packets into a recording that its format's reader reads back as the same."""

        @property
        def header(self) -> bytes:
            """What stands above the first packet."""

        def row(self, packet: Packet) -> bytes:
            """The line of a packet; raises ``Unwritable`` where it would not be read back."""


PacketFormat = Literal["text", "csv", "jsonl"]
PACKET_FORMATS: tuple[PacketFormat, ...] = ("text", "csv", "jsonl")
InputFormat = Literal["auto", "text", "csv", "jsonl"]
INPUT_FORMATS: tuple[InputFormat, ...] = ("auto", *PACKET_FORMATS)

BLOCK_SIZE = 65536

_NUMBERS_BEGIN_WITH = tuple(b"%c" % byte for byte in b"0123456789+-.")


# Each format is loaded when it is wanted: packet text must start fast.


def make_reader(packet_format: PacketFormat) -> Reader:
    """A reader for one recording in this format."""
    if packet_format == "csv":
        from epic_cli.formats.csv import CsvReader

        return CsvReader()
    if packet_format == "jsonl":
        from epic_cli.formats.jsonl import JsonlReader

        return JsonlReader()
    from epic_cli.engine.text.scan import TextScanner

    return TextScanner()


def make_writer(packet_format: PacketFormat) -> Writer:
    """A writer for one recording in this format."""
    if packet_format == "csv":
        from epic_cli.formats.csv import CsvWriter

        return CsvWriter()
    if packet_format == "jsonl":
        from epic_cli.formats.jsonl import JsonlWriter

        return JsonlWriter()
    from epic_cli.formats.text import TextWriter

    return TextWriter()


def read(descriptor: int, input_format: InputFormat = "auto") -> Iterator[PacketBlock]:
    """The blocks of a recording, one for each time that the source has something to give.

    Raises ``OSError`` where the source cannot be read.
    """
    head = b""
    reader: Reader | None = None
    while reader is None or not reader.ended:
        data = os.read(descriptor, BLOCK_SIZE)
        final = not data
        if reader is None:
            head += data
            kind = detect(head, final) if input_format == "auto" else input_format
            if kind is None:
                continue
            reader, data = make_reader(kind), head
        yield reader.scan(data, final)
        if final:
            return


def detect(head: bytes, final: bool = False) -> PacketFormat | None:
    """The format of a recording that begins like this; None: its first line is not all there.

    JSON lines begin with ``{``; CSV begins with a header that names ``time`` and ``x``; all
    else is packet text.
    """
    if not final and BYTE_ORDER_MARK.startswith(head):
        return None
    begin = head.removeprefix(BYTE_ORDER_MARK).lstrip()
    if begin[:1] == b"{":
        return "jsonl"
    line, newline, _ = begin.partition(b"\n")
    if begin[:1] in _NUMBERS_BEGIN_WITH:
        return "text"  # a header begins with no number; the rest of the line need not be there
    if not newline and not final and len(head) < LONGEST_LINE:
        return None
    header = line.decode("utf-8", "replace")
    names = {name.strip().strip('"') for name in header.split(delimiter_of(header.strip()))}
    return "csv" if {"time", "x"} <= names else "text"
