"""The packets of datagrams: packet text, CSV, JSON, or binary records.

Each datagram is read for itself: what one holds, or breaks, has no say in how the next is read.
Readers that have found out which name is which are kept for datagrams with the same names, and
those that follow one another and are alike are read at once, which gives the same packets.
"""

from __future__ import annotations

import json
from array import array
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from epic_cli.engine.packets import Entities, PacketBlock
from epic_cli.engine.text.json_objects import cut_alike
from epic_cli.engine.text.scan import TextScanner
from epic_cli.formats.entries.text import is_packet
from epic_cli.formats.layout import Layout
from epic_cli.formats.recordings import make_reader
from epic_cli.live.refused import Refused

if TYPE_CHECKING:
    from epic_cli.engine.intake.binary import RecordReader
    from epic_cli.engine.refusals import Refusal
    from epic_cli.formats import Reader
    from epic_cli.live.binary import RecordLayout

#: Bytes of a JSON object, or of the header of a table, that names are looked for in.
_LONGEST = 4096

#: So many sets of names are kept with their readers, and so many names of entities with each.
_MOST_READERS = 16
_MOST_NAMES = 4096

#: So many shapes of objects are known to have the names of a reader.
_MOST_SHAPES = 64

_BLANKS = b" \t\r\n"
_DIGITS = {b"%d" % digit for digit in range(10)}

#: Levels of an object that its names are taken from, to know it again.
_DEEPEST = 4


class Decoded(NamedTuple):
    """What is in some datagrams that follow one another, of which the first has this number.

    ``ends`` are the places in the text of ``block`` at which the datagrams end. ``refused`` counts
    what is no packet, by its reason; ``example`` is a line of that.
    """

    first: int
    ends: array[int]
    block: PacketBlock | None = None
    refused: int = 0
    reason: Refused = Refused.NOT_PACKETS
    example: Refusal | None = None


class _Way(NamedTuple):
    """How datagrams that are alike are read: by the reader for these names, under this header."""

    kind: str
    names: object = None
    header: bytes = b""


_AS_TEXT = _Way("text")


class Decoder:
    """Reads datagrams. Times are in seconds unless the ``layout`` says otherwise.

    A layout's ``time_origin`` is not looked at. ``records``: the datagrams are binary.
    """

    def __init__(
        self,
        packet_format: str | None = None,
        layout: Layout | None = None,
        records: RecordLayout | None = None,
    ) -> None:
        self._format = packet_format
        given = layout or Layout()
        self._layout = given._replace(time_unit=given.time_unit or "s", time_origin=0.0)
        self._numbered = any(place.isdigit() for place in self._layout.places.values())
        self._records = records
        self._record_reader: RecordReader | None = None
        self._names = Entities()  # of packet text
        self._readers: OrderedDict[object, Reader] = OrderedDict()
        self._shapes: dict[bytes, _Way] = {}
        self._json = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=str)

    def read(self, datagrams: Sequence[bytes]) -> Iterator[Decoded]:
        """The packets of the datagrams, in their order."""
        if self._records is not None:
            yield from self._binary(self._records, datagrams)
            return
        run: list[bytes] = []
        way = _AS_TEXT
        first = 0
        for number, data in enumerate(datagrams):
            found, lines = self._look_at(data, way)
            if run and found is not way:
                yield from self._run(first, way, run)
                run = []
            if found is None:
                yield from self._alone(number, data.strip(_BLANKS), None)
                continue
            first = first if run else number
            way = found
            run.append(lines)
        if run:
            yield from self._run(first, way, run)

    def _look_at(self, data: bytes, before: _Way) -> tuple[_Way | None, bytes]:
        """How it is read, and what of it; None: by itself, since nothing like it has been read."""
        if self._format is None and data[:1] in _DIGITS:
            position, slash, _ = data.partition(b"/")
            if slash and position.count(b",") == 2 and b"\n" not in position:
                return _AS_TEXT, data  # no need to look any closer
        data = data.strip(_BLANKS)
        kind = self._format or _kind(data)
        if kind == "text":
            # the others may hold nothing at all
            return (None if data[:1] in (b"", b"#", b"q", b"\0") else _AS_TEXT), data
        if kind == "csv":
            names, lines, header = self._names_of_table(data)
            found = before if before.names == names else _Way(kind, names, header)
        else:
            alike = cut_alike(data, _LONGEST)
            if alike is None or alike[0] not in self._shapes:
                return None, data
            found, lines = self._shapes[alike[0]], alike[1][:-1]
        return (found if lines and found.names in self._readers else None), lines

    def _run(self, first: int, way: _Way, run: list[bytes]) -> Iterator[Decoded]:
        """Reads datagrams that are alike at once; one by one where that might not be the same."""
        text = way.kind == "text"
        reader = self._text_reader() if text else self._readers.pop(way.names, None)
        block = None
        if reader is not None:
            block = reader.scan(b"\n".join(run) + b"\n", text)
            if not text:
                self._keep(way.names, reader)
        doubtful = (
            reader is None
            or reader.ended
            or (way.kind == "jsonl" and block is not None and block.refusals)
        )
        if block is None or (doubtful and len(run) > 1):
            for number, data in enumerate(run, first):
                yield from self._alone(number, way.header + data, way.kind)
            return
        ends = array("I")
        end = 0
        for data in run:
            end += len(data) + 1
            ends.append(end)
        yield _decoded(first, ends, block)

    def _alone(self, number: int, data: bytes, kind: str | None) -> Iterator[Decoded]:
        """The packets of one datagram."""
        found = False
        for decoded in self._pieces(number, data, kind or self._format or _kind(data)):
            found = found or bool(decoded.refused) or len(decoded.block or ()) > 0
            yield decoded
        if not found:
            reason = Refused.NOT_PACKETS if data else Refused.EMPTY
            yield Decoded(number, array("I", [0]), refused=1, reason=reason)

    def _pieces(self, number: int, data: bytes, kind: str | None) -> Iterator[Decoded]:
        if not data:
            return
        if kind == "text":
            block = self._text_reader().scan(data + b"\n", True)
            yield _decoded(number, array("I", [len(data) + 1]), block)
        elif kind == "jsonl":
            yield from self._objects(number, data)
        elif kind == "csv":
            names, rows, header = self._names_of_table(data)
            if len(header) > _LONGEST:
                yield Decoded(number, array("I", [0]), refused=1)
            elif rows:
                yield self._with_reader(number, names, "csv", rows, header)

    def _with_reader(
        self, number: int, names: object, kind: str, data: bytes, header: bytes = b""
    ) -> Decoded:
        """Reads it with the reader for these names; a new one has the header above it."""
        reader = self._readers.pop(names, None)
        if reader is None:
            reader, data = make_reader(kind, self._layout), header + data
        block = reader.scan(data + b"\n")
        if len(block) or getattr(reader, "records", None):
            self._keep(names, reader)
        return _decoded(number, array("I", [len(data) + 1]), block)

    def _text_reader(self) -> Reader:
        if len(self._names) > _MOST_NAMES:
            self._names = Entities()
        return TextScanner(self._names)

    def _keep(self, names: object, reader: Reader) -> None:
        if not reader.ended and len(reader.entities) <= _MOST_NAMES:
            self._readers[names] = reader
            if len(self._readers) > _MOST_READERS:
                self._readers.popitem(last=False)

    # ---------------------------------------------------------------------------------- JSON

    def _objects(self, number: int, data: bytes) -> Iterator[Decoded]:
        nothing = Decoded(number, array("I", [0]), refused=1)
        names: object = None
        good = True
        for text, item in self._values(data):
            line = text.replace("\n", " ").replace("\r", " ").encode()
            if not isinstance(item, dict) or len(line) > _LONGEST:
                good = False
                yield nothing
                continue
            names = ("jsonl", *_names(item))
            decoded = self._with_reader(number, names, "jsonl", line)
            good = good and not decoded.refused
            yield decoded
        shape = cut_alike(data, _LONGEST) if good else None
        if shape is not None:  # then all of its objects have the same names
            if len(self._shapes) >= _MOST_SHAPES:
                self._shapes.clear()
            known = [way for way in self._shapes.values() if way.names == names]
            self._shapes[shape[0]] = known[0] if known else _Way("jsonl", names)

    def _values(self, data: bytes) -> Iterator[tuple[str, Any]]:
        """The values of an array, or those that stand one after the other, and their texts.

        What is none is text with None.
        """
        try:
            text = data.decode()
        except UnicodeDecodeError:
            yield "", None
            return
        array_ = text.startswith("[")
        at, end = (1, len(text) - text.endswith("]")) if array_ else (0, len(text))
        while at < end:
            if text[at] in " \t\r\n" or (array_ and text[at] == ","):
                at += 1
                continue
            try:
                item, stop = self._json.raw_decode(text, at)
            except (ValueError, RecursionError):
                yield "", None
                return
            yield text[at:stop], item
            at = stop

    # --------------------------------------------------------------------------------- tables

    def _names_of_table(self, data: bytes) -> tuple[object, bytes, bytes]:
        """By what its reader is known again, its rows, and its header with its new line."""
        if self._numbered:  # columns by their numbers: every line is a row
            return "numbered", data, b""
        header, newline, rows = data.partition(b"\n")
        return ("csv", header), rows, header + newline

    # -------------------------------------------------------------------------------- records

    def _binary(self, records: RecordLayout, datagrams: Sequence[bytes]) -> Iterator[Decoded]:
        run: list[bytes] = []
        first = 0
        for number, data in enumerate(datagrams):
            if data and not len(data) % records.size:
                first = first if run else number
                run.append(data)
                continue
            if run:
                yield self._record_run(records, first, run)
                run = []
            reason = Refused.NOT_RECORDS if data else Refused.EMPTY
            yield Decoded(number, array("I", [0]), refused=1, reason=reason)
        if run:
            yield self._record_run(records, first, run)

    def _record_run(self, records: RecordLayout, first: int, run: list[bytes]) -> Decoded:
        reader = self._record_reader
        if reader is None or len(reader.entities) > _MOST_NAMES:
            reader = self._record_reader = records.reader()
        ends = array("I")
        end = 0
        for data in run:
            end += len(data)
            ends.append(end)
        return Decoded(first, ends, reader.block(b"".join(run)))


def _decoded(first: int, ends: array[int], block: PacketBlock) -> Decoded:
    refusals = block.refusals
    return Decoded(first, ends, block, len(refusals), example=refusals[0] if refusals else None)


def _kind(data: bytes) -> str | None:
    """What a datagram looks like; None: nothing that is known."""
    if data[:1] in (b"{", b"["):
        return "jsonl"
    line, newline, _ = data.partition(b"\n")
    if is_packet(line) or line[:1] == b"#":
        return "text"
    if newline or b"/" not in line:
        separated = any(mark in line for mark in (b",", b";", b"\t", b"|", b" "))
        return "csv" if separated and b"/" not in line else "text"
    return "text"


def _names(item: dict[str, Any], depth: int = 0) -> Iterator[object]:
    """The names of an object and of the objects in it."""
    for name, value in item.items():
        yield name
        if isinstance(value, dict) and depth < _DEEPEST:
            yield tuple(_names(value, depth + 1))
        elif isinstance(value, list):
            yield len(value)
