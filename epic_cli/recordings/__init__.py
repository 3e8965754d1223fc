"""The table of recording formats, and the types of its entries.

Each module, or room, in ``entries`` has ``FORMATS``, its entries of the table: the name of a
format, how it is detected, and its reader and writer. The formats of ``--read`` and ``--to``, the
suffixes of files and the detection are made from the table. An entry exists before its libraries
are loaded: packet text must start fast.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from enum import IntEnum
from functools import cache
from typing import IO, TYPE_CHECKING, Protocol, TypeAlias

from epic_cli.engine.failures import Portable

if TYPE_CHECKING:
    from epic_cli.engine.contract import Packet
    from epic_cli.engine.packets import Entities, PacketBlock
    from epic_cli.engine.text import ColumnRows
    from epic_cli.recordings.read_spec import ReadSpec
    from epic_cli.recordings.writing import Changes

    #: Some of a recording: bytes, or whole rows of a table, the first rows of which came as bytes.
    Piece: TypeAlias = bytes | ColumnRows

    #: Return the next piece of a recording; an empty one at the end.
    PieceReader: TypeAlias = Callable[[], Piece]

    #: What is called with how a recording is read, where that was inferred.
    OnRead = Callable[[ReadSpec], object] | None

    #: The names of keys that tables have no columns for unless they are asked to.
    Requested = Collection[str]

    class ByteSource(Protocol):
        """A source of the bytes of a recording."""

        def read_more(self) -> bytes:
            """Return some more bytes; none at the end."""

        def open_file(self, title: str) -> IO[bytes]:
            """Return the whole source as a file that can be read in any order.

            Raises ``Unreadable`` for a stream; ``title`` names the format in the message.
            """

    class Reader(Protocol):
        """A reader that turns the bytes of one recording into blocks of packets."""

        @property
        def entities(self) -> Entities:
            """The names of the entities seen so far."""

        @property
        def ended(self) -> bool:
            """True once the recording has marked its own end; nothing after that is read."""

        def scan(self, data: bytes, final: bool = False) -> PacketBlock:
            """Return the packets of all lines that ``data`` completes.

            ``final`` marks the last data.
            """

    class Writer(Protocol):
        """A writer of recordings that the reader of its format reads back as the same packets."""

        @property
        def header(self) -> bytes:
            """The bytes above the first packet."""

        def format_row(self, packet: Packet) -> bytes:
            """Return the line of a packet; raises ``Unwritable`` if it could not be read back."""

        def make_block_writer(self, changes: Changes) -> BlockWriter:
            """Return a writer of the usual packets of many blocks of one recording.

            It keeps to the entities, the span and the shift of these changes.
            """

        def end(self) -> bytes:
            """Return the bytes below the last packet."""

    class BlockWriter(Protocol):
        """A writer of many packets at once; ``Writer.format_row`` writes the unusual ones."""

        def write(self, block: PacketBlock, begin: int) -> tuple[bytes, int]:
            """Return the bytes of the packets from an index on, and the index of the first left."""


#: Bytes of a line with its end; a longer one is refused. Packet text has the demo's own limit.
LONGEST_LINE = 65536

#: As much, of a JSON object: one may have some thousand entities.
LONGEST_OBJECT = 1 << 20

#: What may separate a table's columns: the first of these that its first line has, outside quotes.
DELIMITERS = "\t;|,"

#: What Windows programs put in front of UTF-8 text: it is passed over.
BYTE_ORDER_MARK = b"\xef\xbb\xbf"

#: The format that a recording has if it has no other.
DEFAULT = "text"

_ARRAY = rb"""\[\s*(?:$|[{[]|(?:"(?:[^"\\]|\\.)*"|-?\d[-+.\deE]*)\s*(?:$|,|\]\s*(?:$|,|\])))"""


class Unreadable(Portable, ValueError):
    """A recording that cannot be read in this way, whatever its packets are."""


class Fit(IntEnum):
    """The rank of a format, by how well it fits the beginning of a recording; the best wins."""

    NO = 0
    LAST_RESORT = 1  # nothing speaks for it, but it takes anything
    SHAPE = 2  # its lines look alike
    WORDS = 3
    UNDECIDED = 4  # more of the recording is needed
    GOOD = 5
    CERTAIN = 6  # no other format is asked


class Head:
    """The first bytes of a recording, from which formats recognize it.

    ``data`` has its bytes without a byte order mark, ``begin`` the bytes without leading blanks,
    and ``line`` their first line, which is complete if it has ``ended``. ``final`` is True if the
    recording ends here, ``enough`` if the format has to be decided now. ``layout`` is what is known
    of the recording's columns.
    """

    def __init__(self, data: bytes, final: bool = False, layout: ReadSpec | None = None) -> None:
        self.data = data.removeprefix(BYTE_ORDER_MARK)
        self.begin = self.data.lstrip()
        self.line, newline, self.below = self.begin.partition(b"\n")
        self.ended = bool(newline)
        self.final = final
        longest = LONGEST_OBJECT if self.begin[:1] == b"{" else LONGEST_LINE
        self.enough = final or len(data) >= longest
        self.layout = layout

    @property
    def begins_as_json(self) -> bool:
        """True if a JSON object or array begins.

        A header or a log may begin with a bracket, too.
        """
        import re

        return self.begin[:1] == b"{" or re.match(_ARRAY, self.line.rstrip()) is not None

    @property
    def has_object_line(self) -> bool:
        """True if the first line is a JSON object."""
        if self.line[:1] != b"{" or not self.line.rstrip().endswith(b"}"):
            return False
        if self.ended:
            return True
        from json import loads

        try:
            loads(self.line)
        except (ValueError, RecursionError):
            return False
        return True

    @property
    def lines(self) -> list[bytes]:
        """The complete lines that are not blank."""
        lines = self.begin.split(b"\n")
        if not self.enough:
            lines.pop()  # it goes on
        return [line for line in lines if line.strip()]


#: What lengths are in: a unit of the recording's own, which has no name, or meters.
LENGTHS, METERS = "lengths", "m"


class Format:
    """A format of recordings: one entry of the table of formats.

    ``suffixes`` are the endings of its files, the usual one first. ``magic`` are bytes that any
    recording in it begins with; ``detect`` looks closer. A format that is not text is ``unpacked``
    to the format of that name. ``by_name`` is False for formats that no user chooses for reading.
    ``needs_velocity`` is True if it cannot hold packets without one. ``binary`` formats are not
    written to a terminal. Lengths are in its ``unit``.
    """

    name: str
    suffixes: tuple[str, ...] = ()
    magic: tuple[bytes, ...] = ()
    unpacked = ""
    by_name = True
    needs_velocity = False
    binary = False
    unit = LENGTHS

    def is_beginning(self, head: bytes) -> bool:
        """Return True if a recording with this beginning is certainly in the format."""
        return head.startswith(self.magic)

    def detect(self, head: Head) -> Fit:
        """Return how well the beginning of a recording fits."""
        return Fit.NO

    def make_reader(
        self, layout: ReadSpec | None, on_read: OnRead, entities: Entities | None, head: bytes
    ) -> Reader:
        """Return a reader for a recording that begins with ``head``."""
        raise NotImplementedError

    def unpack(self, source: ByteSource, layout: ReadSpec | None) -> PieceReader:
        """Return a function that yields the bytes inside.

        Columns that no layout wants may be empty.
        """
        raise NotImplementedError

    def make_writer(self, requested: Requested, extras: Collection[str]) -> Writer:
        """Return a writer of recordings.

        A table has columns for the ``requested`` keys and for ``extras`` of these names.
        """
        raise NotImplementedError

    @property
    def reads(self) -> bool:
        """True if the format has a reader."""
        return type(self).make_reader is not Format.make_reader

    @property
    def writes(self) -> bool:
        """True if the format has a writer."""
        return type(self).make_writer is not Format.make_writer


@cache
def list_formats() -> dict[str, Format]:
    """Return the table of formats by name, the default one first."""
    import importlib
    import pkgutil

    from epic_cli.recordings import entries

    modules = [
        importlib.import_module(f"{entries.__name__}.{module.name}")
        for module in pkgutil.iter_modules(entries.__path__)
    ]
    found = {file_format.name: file_format for module in modules for file_format in module.FORMATS}
    return {DEFAULT: found.pop(DEFAULT), **dict(sorted(found.items()))}


def list_input_formats() -> tuple[str, ...]:
    """Return the formats that a user can choose for reading."""
    return (
        "auto",
        *(
            file_format.name
            for file_format in list_formats().values()
            if file_format.by_name and (file_format.reads or file_format.unpacked)
        ),
    )


def list_written_formats() -> tuple[str, ...]:
    """Return the formats that recordings can be written in."""
    return tuple(file_format.name for file_format in list_formats().values() if file_format.writes)


def list_packet_formats() -> tuple[str, ...]:
    """Return the formats that packets can be sent and received in, one by one."""
    return tuple(entry.name for entry in list_formats().values() if entry.reads and entry.writes)


def list_suffixes() -> dict[str, str]:
    """Return the format of each suffix of a recording's file name."""
    return {suffix: entry.name for entry in list_formats().values() for suffix in entry.suffixes}
