"""The packets of datagrams: packet text, CSV, JSON, msgpack, or binary records.

Each datagram is read on its own: its content never affects how the next is read. It is cut into
pieces, each with the names that its reader uses, and the pieces are scanned. Readers that have
inferred a layout are kept for pieces with the same names. Datagrams that
follow one another and have one piece each, for a reader that is known, are scanned together, unless
that could make a difference.
"""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Literal, NamedTuple, cast

from epic_cli.engine.packets import Entities, PacketBlock
from epic_cli.engine.text import TextScanner, cut_alike
from epic_cli.recordings.datagrams.counts import Refused
from epic_cli.recordings.datagrams.shapes import (
    BLANKS,
    MSGPACK,
    is_binary,
    json_of_msgpack,
    json_values,
    kind_of,
    names_of,
)
from epic_cli.recordings.read_spec import INFERRED, ReadSpec
from epic_cli.recordings.recordings import make_reader

if TYPE_CHECKING:
    from epic_cli.engine.intake import RecordReader
    from epic_cli.engine.refusals import Refusal
    from epic_cli.recordings import Reader
    from epic_cli.recordings.datagrams.binary import RecordLayout

#: Bytes of a JSON object, or of a table's header, that are searched for names.
LONGEST_NAMES = 4096

#: So many sets of names are kept with their readers, and so many names of entities with each.
_MOST_READERS = 16
_MOST_NAMES = 4096

#: So many shapes of objects are known to have the names of a reader.
_MOST_SHAPES = 64

_DIGITS = {b"%d" % digit for digit in range(10)}


class Decoded(NamedTuple):
    """The content of consecutive datagrams, the first of which has this number.

    ``ends`` are the places in the text of ``block`` at which the datagrams end. ``refused`` counts,
    by reason, what is not a packet; ``example`` is such a line, or words.
    """

    first: int
    ends: array[int]
    block: PacketBlock | None = None
    refused: int = 0
    reason: Refused = Refused.NOT_PACKETS
    example: Refusal | str | None = None


class _Schema(NamedTuple):
    """The common schema of datagrams that share a reader."""

    kind: Literal["text", "csv", "jsonl"]
    names: object = None
    header: bytes = b""


_TEXT = _Schema("text")

#: Text whose first line may hold nothing at all, or end what is read.
_DOUBTFUL_TEXT = _Schema("text", "doubtful")

#: Lines that one reader reads, or why there are none.
_Piece = tuple[_Schema | Refused, bytes]
_NOTHING: _Piece = (Refused.NOT_PACKETS, b"")


class Decoder:
    """Reads datagrams. Times are in seconds unless ``read`` says otherwise.

    Its origin is ignored. ``records``: the datagrams are binary.
    """

    def __init__(
        self,
        read: ReadSpec = INFERRED,
        records: RecordLayout | None = None,
    ) -> None:
        self._format = None if read.format == "auto" else read.format
        self._layout = read._replace(time_unit=read.time_unit or "s", time_origin=0.0)
        self._numbered = self._layout.is_numbered
        self._records = records
        self._record_reader: RecordReader | None = None
        self._names = Entities()  # of packet text
        self._readers: OrderedDict[object, Reader] = OrderedDict()
        self._shapes: dict[bytes, _Schema] = {}
        self._table_schema = _Schema("csv")

    def read(self, datagrams: Sequence[bytes]) -> Iterator[Decoded]:
        """The packets of the datagrams, in their order."""
        if self._records is not None:
            yield from self._binary(self._records, list(datagrams))
            return
        run: list[bytes] = []
        schema = _TEXT
        for number, data in enumerate(datagrams):
            pieces = self._pieces(data)
            found, lines = pieces[0] if len(pieces) == 1 else _NOTHING
            known = found is _TEXT or (isinstance(found, _Schema) and self._is_known(found))
            if run and not (known and (found is schema or found == schema)):
                yield from self._together(number - len(run), schema, run)
                run = []
            if known:
                schema = cast(_Schema, found)
                run.append(lines)
            else:
                yield from self._alone(number, data, pieces)
        if run:
            yield from self._together(len(datagrams) - len(run), schema, run)

    def _binary(self, layout: RecordLayout, datagrams: list[bytes]) -> Iterator[Decoded]:
        """The packets of binary datagrams; one that cannot be read to its end has none."""
        reader = self._record_reader
        if reader is None or len(reader.entities) > _MOST_NAMES:
            reader = self._record_reader = layout.reader()
        block, stops = reader.read(datagrams)
        yield Decoded(0, array("I", accumulate(map(len, datagrams))), block)
        for stop in stops:
            reason, words = layout.refusal(len(datagrams[stop[0]]), stop)
            yield Decoded(stop[0], array("I", [0]), refused=1, reason=reason, example=words)

    def _is_known(self, schema: _Schema) -> bool:
        """Whether pieces with this schema may be scanned together."""
        return schema.names in self._readers

    def _together(self, first: int, schema: _Schema, run: list[bytes]) -> Iterator[Decoded]:
        """Scans similar datagrams together; one by one where the result could differ."""
        block, ended = self._scan(schema, b"\n".join(run))
        if len(run) > 1 and (ended or (schema.kind == "jsonl" and block.refusals)):
            for number, data in enumerate(run, first):
                pieces: list[_Piece] = [(schema, data)]
                if schema.kind == "jsonl":
                    pieces = self._objects(data)
                yield from self._alone(number, data, pieces)
            return
        ends = array("I", accumulate(len(data) + 1 for data in run))
        yield _decoded(first, ends, block)

    def _alone(self, number: int, data: bytes, pieces: list[_Piece]) -> Iterator[Decoded]:
        """The packets of one datagram, piece by piece."""
        found = refused = 0
        for schema, lines in pieces:
            if isinstance(schema, Refused):
                decoded = Decoded(number, array("I", [0]), refused=1, reason=schema)
            else:
                block, _ = self._scan(schema, lines)
                found += len(block)
                decoded = _decoded(number, array("I", [len(lines) + 1]), block)
            refused += decoded.refused
            yield decoded
        if not found + refused:
            yield Decoded(number, array("I", [0]), refused=1)
        elif not refused and isinstance(schema, _Schema) and schema.kind == "jsonl":
            self._learn(data, schema)

    def _scan(self, schema: _Schema, lines: bytes) -> tuple[PacketBlock, bool]:
        """The packets that the reader for these names finds in lines, and whether they ended it."""
        if schema.kind == "text":
            if len(self._names) > _MOST_NAMES:
                self._names = Entities()
            scanner = TextScanner(self._names)
            return scanner.scan(lines + b"\n", True), scanner.ended
        reader = self._readers.pop(schema.names, None)
        if reader is None:
            reader, lines = make_reader(schema.kind, self._layout), schema.header + lines
        block = reader.scan(lines + b"\n")
        useful = len(block) or getattr(reader, "records", None)
        if useful and not reader.ended and len(reader.entities) <= _MOST_NAMES:
            self._readers[schema.names] = reader
            if len(self._readers) > _MOST_READERS:
                self._readers.popitem(last=False)
        return block, reader.ended

    # ------------------------------------------------------------------ what a datagram consists of

    def _pieces(self, data: bytes) -> list[_Piece]:
        if self._format is None and data[:1] in _DIGITS:
            position, slash, _ = data.partition(b"/")
            if slash and position.count(b",") == 2 and b"\n" not in position:
                return [(_TEXT, data)]  # no need for a closer look
        data = data.strip(BLANKS)
        if not data:
            return [(Refused.EMPTY, data)]
        if self._format is None and MSGPACK.match(data):
            text = json_of_msgpack(data)
            return [(text, data)] if isinstance(text, Refused) else self._json_pieces(text)
        if self._format is None and is_binary(data):
            return [(Refused.BINARY, data)]
        kind = self._format or kind_of(data)
        if kind == "text":
            return [(_DOUBTFUL_TEXT if data[:1] in (b"#", b"q", b"\0") else _TEXT, data)]
        return self._table(data) if kind == "csv" else self._json_pieces(data)

    def _table(self, data: bytes) -> list[_Piece]:
        """Its rows, if there are any, under the names of its header."""
        if self._numbered:  # columns by their numbers: every line is a row
            return [(_Schema("csv", "numbered"), data)]
        header, newline, rows = data.partition(b"\n")
        header += newline
        if len(header) > LONGEST_NAMES:
            return [_NOTHING]
        if header != self._table_schema.header:  # usually that of the last one
            self._table_schema = _Schema("csv", ("csv", header), header)
        return [(self._table_schema, rows)] if rows else []

    def _json_pieces(self, data: bytes) -> list[_Piece]:
        """Lines of a shape that has been learned, or objects one by one."""
        alike = cut_alike(data, LONGEST_NAMES)
        if alike is not None:
            schema = self._shapes.get(alike[0])
            if schema is not None and schema.names in self._readers:
                return [(schema, alike[1][:-1])]
        return self._objects(data)

    def _objects(self, data: bytes) -> list[_Piece]:
        """The objects of an array, or those that stand one after the other, a line each."""
        pieces: list[_Piece] = []
        for text, item in json_values(data):
            line = text.replace("\n", " ").replace("\r", " ").encode()
            if isinstance(item, dict) and len(line) <= LONGEST_NAMES:
                pieces.append((_Schema("jsonl", ("jsonl", *names_of(item))), line))
            else:
                pieces.append(_NOTHING)
        return pieces

    def _learn(self, data: bytes, schema: _Schema) -> None:
        """Datagrams of the shape of this one have the names of its only schema."""
        shape = cut_alike(data.strip(BLANKS), LONGEST_NAMES)
        if shape is not None:
            if len(self._shapes) >= _MOST_SHAPES:
                self._shapes.clear()
            self._shapes[shape[0]] = schema


def _decoded(first: int, ends: array[int], block: PacketBlock) -> Decoded:
    refusals = block.refusals
    return Decoded(first, ends, block, len(refusals), example=refusals[0] if refusals else None)
