"""Recordings in their formats, told apart by their content, read and written block by block.

Whatever the length of a recording or of its lines, only a block of it is in memory at a time.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Literal

from epic_cli.engine.packets import Entities, PacketBlock
from epic_cli.formats.conventions import (
    BYTE_ORDER_MARK,
    CAPTURE_MAGICS,
    LONGEST_LINE,
    LONGEST_OBJECT,
    IsCapture,
    NeedsFile,
    Unreadable,
    is_packet,
)

if TYPE_CHECKING:
    from typing import IO, Protocol

    from epic_cli.engine.contract import Packet
    from epic_cli.formats.layout import Layout
    from epic_cli.formats.writing import LineWriter

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

        def end(self) -> bytes:
            """What is left to be written below the last packet."""


PacketFormat = Literal["text", "csv", "jsonl"]
PACKET_FORMATS: tuple[PacketFormat, ...] = ("text", "csv", "jsonl")
ReadFormat = Literal["text", "csv", "jsonl", "json", "sentences"]
InputFormat = Literal["auto", "text", "csv", "jsonl", "json", "parquet"]
INPUT_FORMATS: tuple[InputFormat, ...] = ("auto", *PACKET_FORMATS, "json", "parquet")
WrittenFormat = Literal["text", "csv", "tsv", "jsonl", "parquet"]
WRITTEN_FORMATS: tuple[WrittenFormat, ...] = ("text", "csv", "tsv", "jsonl", "parquet")

#: What a file's name ends with, by format.
ENDINGS: dict[str, WrittenFormat] = {
    ".txt": "text",
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
}

#: What a Parquet file begins and ends with.
PARQUET_MAGIC = b"PAR1"

BLOCK_SIZE = 65536


class NoLayout(Unreadable):
    """A layout was given for packet text, which has but one."""

    def __init__(self) -> None:
        super().__init__("columns and units are for tables and JSON lines; this is packet text")


class TwoFormats(Unreadable):
    """A pattern was given for a recording, and a format as well."""

    def __init__(self, input_format: InputFormat) -> None:
        super().__init__(f"a pattern is for lines of text, and not for {input_format}")


# Each format is loaded when it is wanted: packet text must start fast.


def make_reader(
    packet_format: ReadFormat,
    layout: Layout | None = None,
    tell: Callable[[Layout], object] | None = None,
    rebase_time: bool = False,
    entities: Entities | None = None,
    head: bytes = b"",
) -> Reader:
    """A reader for one recording in this format, which begins with ``head``; see ``read``."""
    if packet_format != "text" and rebase_time:
        from epic_cli.formats.layout import Layout

        layout = (layout or Layout())._replace(rebase_time=True)
    if packet_format == "csv":
        from epic_cli.formats.tables.csv_reader import CsvReader

        reader = CsvReader(layout, tell, entities)
        reader.look_for_header(head)
        return reader
    if packet_format == "jsonl":
        from epic_cli.formats.json.lines_reader import JsonlReader

        return JsonlReader(layout, tell, entities)
    if packet_format == "json":
        from epic_cli.formats.json.document_reader import JsonReader

        document = JsonReader(layout, tell, entities)
        document.look_for_array(head)
        return document
    if packet_format == "sentences":
        from epic_cli.formats.pattern_reader import PatternReader

        return PatternReader(layout, tell, entities)
    if layout is not None and not (layout.unless_own or layout.is_empty):
        raise NoLayout
    from epic_cli.engine.text.scan import TextScanner

    return TextScanner(entities)


def make_writer(packet_format: WrittenFormat, delta: bool = False) -> Writer:
    """A writer for one recording in this format; tables have a column for ``delta`` on request.

    Raises ``NoParquetLibrary``.
    """
    if packet_format == "parquet":
        from epic_cli.formats.tables.parquet_writer import ParquetWriter

        return ParquetWriter()
    return make_line_writer(packet_format, delta)


def make_line_writer(
    packet_format: Literal["text", "csv", "tsv", "jsonl"], delta: bool = False
) -> LineWriter:
    """As ``make_writer``, for the formats that have a line for each packet."""
    if packet_format in ("csv", "tsv"):
        from epic_cli.formats.tables.csv_writer import CsvWriter

        return CsvWriter(delta, "," if packet_format == "csv" else "\t")
    if packet_format == "jsonl":
        from epic_cli.formats.json.lines_writer import JsonlWriter

        return JsonlWriter()
    from epic_cli.formats.text import TextWriter

    return TextWriter()


def read(
    descriptor: int,
    input_format: InputFormat = "auto",
    layout: Layout | None = None,
    tell: Callable[[Layout], object] | None = None,
    rebase_time: bool = False,
    entities: Entities | None = None,
) -> Iterator[PacketBlock]:
    """The blocks of a recording, one for each time that the source has something to give.

    ``layout`` says which column or name is which field, as far as it is not to be told from the
    recording itself; ``tell`` is given what was told, where it is neither what was given nor this
    program's own. ``rebase_time``: see ``Layout``; with it the times of a recording that is to be
    drawn or judged begin near 0, without it they are what is written. ``entities``: those of what
    has been read before, to which the recording belongs.

    Raises ``OSError`` where the source cannot be read, ``NoLayout`` where a layout is given for
    packet text, and other kinds of ``Unreadable``.
    """
    if input_format == "parquet" or (input_format == "auto" and _is_parquet(descriptor)):
        from epic_cli.formats.tables.parquet_reader import rows_of

        return read_from(rows_of(descriptor, layout), "csv", layout, tell, rebase_time, entities)
    return read_from(
        lambda: os.read(descriptor, BLOCK_SIZE),
        input_format,
        layout,
        tell,
        rebase_time,
        entities,
    )


def read_from(
    more: Callable[[], bytes],
    input_format: InputFormat = "auto",
    layout: Layout | None = None,
    tell: Callable[[Layout], object] | None = None,
    rebase_time: bool = False,
    entities: Entities | None = None,
) -> Iterator[PacketBlock]:
    """As ``read``, from a function that gives some more bytes, and none at the end."""
    head = b""
    reader: Reader | None = None
    while reader is None or not reader.ended:
        data = more()
        final = not data
        if reader is None:
            head += data
            if input_format == "parquet":
                raise NeedsFile
            if layout is not None and layout.pattern is not None:
                layout = _held_to_pattern(layout, input_format, head)
            kind: ReadFormat | None
            if layout is not None and layout.pattern is not None:
                kind = "sentences"
            else:
                kind = detect(head, final) if input_format == "auto" else input_format
                if b"{" in head and kind in (None, "json", "jsonl") and input_format != "jsonl":
                    kind = _array_in(kind, head, final, layout)
            if kind is None:
                continue
            reader, data = make_reader(kind, layout, tell, rebase_time, entities, head), head
        yield reader.scan(data, final)
        if final:
            return


def _array_in(
    kind: ReadFormat | None, head: bytes, final: bool, layout: Layout | None
) -> ReadFormat | None:
    """A document, where the packets are in an array in an object; else ``kind``, or None."""
    from epic_cli.formats.json.envelope import Envelope, Sight, find_envelope

    found = find_envelope(head, final, layout)
    if isinstance(found, Envelope):
        return "json"
    return None if found is Sight.SHORT and kind != "jsonl" else kind


def _held_to_pattern(layout: Layout, input_format: InputFormat, head: bytes) -> Layout:
    """The layout without its pattern where that is not meant for a recording with this ``head``."""
    if layout.unless_own:
        from re import search

        lines = head.decode("utf-8", "replace").splitlines()
        meant = any(search(layout.pattern or "", line) for line in lines)
        return layout if meant else layout._replace(pattern=None)
    if input_format != "auto":
        raise TwoFormats(input_format)
    return layout


def read_stream(
    stream: IO[bytes],
    input_format: InputFormat = "auto",
    layout: Layout | None = None,
    tell: Callable[[Layout], object] | None = None,
    rebase_time: bool = False,
    entities: Entities | None = None,
) -> Iterator[PacketBlock]:
    """As ``read``, from a file that is open for reading bytes."""
    if input_format == "parquet" or (input_format == "auto" and _begins_as_parquet(stream)):
        from epic_cli.formats.tables.parquet_reader import rows_in

        return read_from(rows_in(stream, layout), "csv", layout, tell, rebase_time, entities)
    some = getattr(stream, "read1", stream.read)  # what a pipe has, without waiting for more
    return read_from(lambda: some(BLOCK_SIZE), input_format, layout, tell, rebase_time, entities)


def _begins_as_parquet(stream: IO[bytes]) -> bool:
    try:
        begin = stream.tell()
        head = stream.read(len(PARQUET_MAGIC))
        stream.seek(begin)
    except (AttributeError, OSError):
        return False  # a stream, which ``detect`` looks at
    return head == PARQUET_MAGIC


def _is_parquet(descriptor: int) -> bool:
    try:
        return os.pread(descriptor, len(PARQUET_MAGIC), 0) == PARQUET_MAGIC
    except OSError:
        return False  # a stream, which ``detect`` looks at


def _is_json(text: bytes) -> bool:
    from json import loads

    try:
        loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def detect(head: bytes, final: bool = False) -> ReadFormat | None:
    """The format of a recording that begins like this; None: more of it is needed.

    What is not packet text at first sight, see ``is_packet``, is told by ``detection``.
    """
    if not final and BYTE_ORDER_MARK.startswith(head):
        return None
    if head.startswith(PARQUET_MAGIC):
        raise NeedsFile
    if head.startswith(CAPTURE_MAGICS):
        raise IsCapture
    begin = head.removeprefix(BYTE_ORDER_MARK).lstrip()
    line, newline, _ = begin.partition(b"\n")
    if begin[:1] == b"{" and line.rstrip().endswith(b"}") and (newline or _is_json(line)):
        return "jsonl"
    if is_packet(line):
        return "text"
    if begin[:1] in (b"q", b"") and (newline or final) and b"," not in line:
        return "text"
    from epic_cli.formats.detection import kind_of

    longest = LONGEST_OBJECT if begin[:1] == b"{" else LONGEST_LINE
    return kind_of(begin, final or len(head) >= longest)
