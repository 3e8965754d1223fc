"""Ingestion of datagrams: accept packets, put their times on the receiver's clock, count the rest.

Datagrams are untrusted input, and memory does not grow with them.
"""

from __future__ import annotations

import json
import math
import re
from array import array
from collections import Counter, OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

from epic_cli.engine.intake import PacketFilter, RecordReader
from epic_cli.engine.link import Tally
from epic_cli.engine.packets import Entities, PacketBlock
from epic_cli.engine.text import TextScanner, cut_alike
from epic_cli.recordings import list_packet_formats
from epic_cli.recordings.datagrams.counts import MAX_ENTITIES, Counts, Refused
from epic_cli.recordings.entries.text import is_packet
from epic_cli.recordings.read_spec import INFERRED, ReadSpec
from epic_cli.recordings.reading import make_reader

if TYPE_CHECKING:
    from epic_cli.engine.refusals import Refusal
    from epic_cli.recordings import Reader
    from epic_cli.recordings.addresses import ReceivedDatagram
    from epic_cli.recordings.datagrams.record_layout import RecordLayout


BLANKS = b" \t\r\n"

#: Bytes of a datagram that show whether it is text: none of these is in any.
_BEGINNING = 64
_CONTROLS = bytes({*range(32)} - {*b"\t\r\n\v\f\x1b"})

#: How a map begins whose first key is a short text, or an array of such.
MSGPACK = re.compile(
    rb"(?:[\x91-\x9f]|\xdc..|\xdd....)?(?:[\x81-\x8f]|\xde..)[\xa1-\xbf\xd9]", re.DOTALL
)
#: Levels of an object that its names are taken from, to know it again.
_DEEPEST = 4


_JSON = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=str)


def is_binary(data: bytes) -> bool:
    """Return True if data begins with bytes that do not occur in texts."""
    head = data[:_BEGINNING]
    return len(head.translate(None, _CONTROLS)) < len(head)


def recognize_format(data: bytes) -> str:
    """Return the format that a datagram looks like: ``text``, ``csv`` or ``jsonl``."""
    if data[:1] in (b"{", b"["):
        return "jsonl"
    line = data.partition(b"\n")[0]
    if is_packet(line) or line[:1] == b"#" or b"/" in line:
        return "text"
    return "csv" if any(mark in line for mark in (b",", b";", b"\t", b"|", b" ")) else "text"


def convert_msgpack_to_json(data: bytes) -> bytes | Refused:
    """Convert msgpack to the equivalent JSON; return the reason if it is no msgpack."""
    try:
        import msgpack
    except ImportError:
        return Refused.MSGPACK
    # no more values than bytes, whatever lengths it gives
    unpacker = msgpack.Unpacker(strict_map_key=False, timestamp=1, max_buffer_size=len(data))
    try:
        unpacker.feed(data)
        text = "\n".join(json.dumps(each, ensure_ascii=False) for each in unpacker)
    except (ValueError, TypeError, RecursionError, msgpack.UnpackException):
        return Refused.BINARY
    return text.encode() if unpacker.tell() == len(data) else Refused.BINARY


def iterate_json_values(data: bytes) -> Iterator[tuple[str, Any]]:
    """Yield each JSON value with its text; for invalid JSON, an empty text with None."""
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
            item, stop = _JSON.raw_decode(text, at)
        except (ValueError, RecursionError):
            yield "", None
            return
        yield text[at:stop], item
        at = stop


def iterate_names(item: dict[str, Any], depth: int = 0) -> Iterator[object]:
    """Yield the names in an object and in the objects below it."""
    for name, value in item.items():
        yield name
        if isinstance(value, dict) and depth < _DEEPEST:
            yield tuple(iterate_names(value, depth + 1))
        elif isinstance(value, list):
            yield len(value)


#: Bytes of a JSON object, or of a table's header, that are searched for names.
LONGEST_NAMES = 4096

#: This many sets of names are kept with their readers, and this many names of entities with each.
_MOST_READERS = 16
_MOST_NAMES = 4096

#: This many readers are made for one datagram: each takes as long as hundreds of packets.
_MOST_NEW = 4

#: After this many refused objects of a datagram, and more than were read, the rest is not read.
_MOST_REFUSED = 64

#: This many shapes of objects are known to have the names of a reader.
_MOST_SHAPES = 64

_DIGITS = {b"%d" % digit for digit in range(10)}


class Decoded(NamedTuple):
    """The content of consecutive datagrams, the first of which has the number ``first``.

    ``ends`` are the places in the text of ``block`` at which the datagrams end. ``refused`` counts
    the parts that are no packets, for one ``reason``; ``example`` is such a line, or a description.
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
    """A decoder of datagrams. Times are in seconds unless ``read`` says otherwise.

    The origin of ``read`` is ignored. ``records``: the datagrams are binary.
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
        """Yield the packets of the datagrams, in their order."""
        if self._records is not None:
            yield from self._decode_binary(self._records, list(datagrams))
            return
        run: list[bytes] = []
        schema = _TEXT
        for number, data in enumerate(datagrams):
            pieces = self._split_datagram(data)
            found, lines = pieces[0] if len(pieces) == 1 else _NOTHING
            known = found is _TEXT or (isinstance(found, _Schema) and found.names in self._readers)
            if run and not (known and (found is schema or found == schema)):
                yield from self._decode_similar_datagrams(number - len(run), schema, run)
                run = []
            if known:
                schema = cast(_Schema, found)
                run.append(lines)
            else:
                yield from self._decode_single_datagram(number, data, pieces)
        if run:
            yield from self._decode_similar_datagrams(len(datagrams) - len(run), schema, run)

    def _decode_binary(self, layout: RecordLayout, datagrams: list[bytes]) -> Iterator[Decoded]:
        """Yield the packets of binary datagrams.

        A datagram that cannot be read to its end has none.
        """
        reader = self._record_reader
        if reader is None or len(reader.entities) > _MOST_NAMES:
            reader = self._record_reader = layout.make_reader()
        block, stops = reader.read(datagrams)
        yield Decoded(0, array("I", accumulate(map(len, datagrams))), block)
        for stop in stops:
            reason, words = layout.describe_refusal(len(datagrams[stop[0]]), stop)
            yield Decoded(stop[0], array("I", [0]), refused=1, reason=reason, example=words)

    def _decode_similar_datagrams(
        self, first: int, schema: _Schema, run: list[bytes]
    ) -> Iterator[Decoded]:
        """Scan similar datagrams together, or one by one where the result could differ."""
        block, ended = self._scan_lines(schema, b"\n".join(run))
        if len(run) > 1 and (ended or (schema.kind == "jsonl" and block.refusals)):
            for number, data in enumerate(run, first):
                pieces: list[_Piece] = [(schema, data)]
                if schema.kind == "jsonl":
                    pieces = self._split_objects(data)
                yield from self._decode_single_datagram(number, data, pieces)
            return
        ends = array("I", accumulate(len(data) + 1 for data in run))
        yield _make_decoded_datagram(first, ends, block)

    def _decode_single_datagram(
        self, number: int, data: bytes, pieces: list[_Piece]
    ) -> Iterator[Decoded]:
        """Yield the packets of one datagram, piece by piece."""
        found = refused = made = 0
        reason = Refused.NOT_PACKETS
        for at, (schema, lines) in enumerate(pieces):
            if refused > max(found, _MOST_REFUSED):  # what is left is no better
                left = len(pieces) - at
                yield Decoded(number, array("I", [0]), refused=left, reason=reason)
                return
            if isinstance(schema, Refused):
                decoded = Decoded(number, array("I", [0]), refused=1, reason=schema)
            elif made >= _MOST_NEW and self._is_reader_missing(schema):
                refusal = Refused.MANY_LAYOUTS
                decoded = Decoded(number, array("I", [0]), refused=1, reason=refusal)
            else:
                made += self._is_reader_missing(schema)
                block, _ = self._scan_lines(schema, lines)
                found += len(block)
                decoded = _make_decoded_datagram(number, array("I", [len(lines) + 1]), block)
            refused += decoded.refused
            reason = decoded.reason
            yield decoded
        if not found + refused:
            yield Decoded(number, array("I", [0]), refused=1)
        elif not refused and isinstance(schema, _Schema) and schema.kind == "jsonl":
            self._learn_shape(data, schema)

    def _is_reader_missing(self, schema: _Schema) -> bool:
        """Return True if there is no reader yet for lines of this schema."""
        return schema.kind != "text" and schema.names not in self._readers

    def _scan_lines(self, schema: _Schema, lines: bytes) -> tuple[PacketBlock, bool]:
        """Return the packets in lines of this schema, and True if they end the recording."""
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

    def _split_datagram(self, data: bytes) -> list[_Piece]:
        if self._format is None and data[:1] in _DIGITS:
            position, slash, _ = data.partition(b"/")
            if slash and position.count(b",") == 2 and b"\n" not in position:
                return [(_TEXT, data)]  # no need for a closer look
        data = data.strip(BLANKS)
        if not data:
            return [(Refused.EMPTY, data)]
        if self._format is None and MSGPACK.match(data):
            text = convert_msgpack_to_json(data)
            return [(text, data)] if isinstance(text, Refused) else self._split_json(text)
        if self._format is None and is_binary(data):
            return [(Refused.BINARY, data)]
        kind = self._format or recognize_format(data)
        if kind == "text":
            return [(_DOUBTFUL_TEXT if data[:1] in (b"#", b"q", b"\0") else _TEXT, data)]
        return self._split_table(data) if kind == "csv" else self._split_json(data)

    def _split_table(self, data: bytes) -> list[_Piece]:
        """Return the rows of a datagram under the names of its header."""
        if self._numbered:  # columns by their numbers: every line is a row
            return [(_Schema("csv", "numbered"), data)]
        header, newline, rows = data.partition(b"\n")
        header += newline
        if len(header) > LONGEST_NAMES:
            return [_NOTHING]
        if header != self._table_schema.header:  # usually that of the last one
            self._table_schema = _Schema("csv", ("csv", header), header)
        return [(self._table_schema, rows)] if rows else []

    def _split_json(self, data: bytes) -> list[_Piece]:
        """Return the lines of a shape that has been learned, or the objects one by one."""
        alike = cut_alike(data, LONGEST_NAMES)
        if alike is not None:
            schema = self._shapes.get(alike[0])
            if schema is not None and schema.names in self._readers:
                return [(schema, alike[1][:-1])]
        return self._split_objects(data)

    def _split_objects(self, data: bytes) -> list[_Piece]:
        """Return the objects of an array, or consecutive objects, each as a line."""
        pieces: list[_Piece] = []
        for text, item in iterate_json_values(data):
            line = text.replace("\n", " ").replace("\r", " ").encode()
            if isinstance(item, dict) and len(line) <= LONGEST_NAMES:
                pieces.append((_Schema("jsonl", ("jsonl", *iterate_names(item))), line))
            else:
                pieces.append(_NOTHING)
        return pieces

    def _learn_shape(self, data: bytes, schema: _Schema) -> None:
        """Remember that datagrams of this shape have the names of this schema."""
        shape = cut_alike(data.strip(BLANKS), LONGEST_NAMES)
        if shape is not None:
            if len(self._shapes) >= _MOST_SHAPES:
                self._shapes.clear()
            self._shapes[shape[0]] = schema


def _make_decoded_datagram(first: int, ends: array[int], block: PacketBlock) -> Decoded:
    refusals = block.refusals
    return Decoded(first, ends, block, len(refusals), example=refusals[0] if refusals else None)


#: Characters of an entity's name.
_LONGEST_NAME = 64

#: This many senders are distinguished; the others count as one.
_MOST_SENDERS = 64


@dataclass(frozen=True)
class IngestSpec:
    """The settings for reading datagrams and for accepting their packets.

    ``read`` is the packets' layout: the format is detected unless given, times are in seconds, and
    without an origin the first packet's time becomes 0 if it is a Unix time. ``records``: the
    layout of binary datagrams. ``sender``: datagrams of other senders are refused (a host and a
    port, which may be 0 for any). Entities other than ``entity`` are skipped; with
    ``single_entity`` a second entity is refused.
    """

    read: ReadSpec = INFERRED
    records: RecordLayout | None = None
    sender: tuple[Any, ...] | None = None
    entity: str | None = None
    single_entity: bool = False
    max_entities: int = MAX_ENTITIES

    def __post_init__(self) -> None:
        formats = ("auto", *list_packet_formats())
        if self.read.format not in formats:
            known = ", ".join(formats[1:])
            raise ValueError(f"read: a datagram is {known}, not {self.read.format}")
        if self.records is not None and self.read != INFERRED:
            raise ValueError("layout describes all of a binary record: leave read out")

    @property
    def time_origin(self) -> float | None:
        """The time (s) that becomes 0; NaN for the first packet's time, None if not given."""
        origin = self.read.time_origin
        return math.nan if origin == "first" else origin

    def is_accepted(self, sender: tuple[Any, ...]) -> bool:
        """Return True if datagrams of this sender are accepted."""
        if self.sender is None:
            return True
        host, port = self.sender[:2]
        return bool(sender[0] == host and port in (0, sender[1]))


class Ingest:
    """A receiver that reads datagrams and accepts their packets; it keeps only the entities' names.

    The receiver's clock starts with the first packet, at the packet's time: that packet's delay
    counts as 0. If a sender's clock is reset, the sender's times continue at the receiver's clock.
    """

    def __init__(self, spec: IngestSpec) -> None:
        self._spec = spec
        self._decoder = Decoder(spec.read, spec.records)
        self._refused: Counter[Refused] = Counter()
        self._delays = Tally()
        self._filter = PacketFilter(
            self._check_name,
            (Refused.NOT_FINITE, Refused.FAR_TIME),
            self._delays,
            origin=spec.time_origin,
            time_span=getattr(spec.records, "time_span", None) or 0.0,
        )
        self._senders: dict[tuple[Any, ...], int] = {}
        self._datagrams = 0
        self._example: Refusal | str | None = None

    @property
    def entities(self) -> Entities:
        """The entities whose packets were accepted."""
        return self._filter.entities

    @property
    def counts(self) -> Counts:
        """The counts of accepted and refused packets so far."""
        found = self._filter
        return Counts(
            self._datagrams,
            found.packets,
            found.late,
            self._refused,
            self._delays,
            found.clock_resets,
            found.clock_step,
            found.drifts(),
            self._example,
        )

    def convert_time(self, machine: float) -> float | None:
        """Return the receiver's clock at a time (s) of the machine's clock.

        None before the first packet.
        """
        return self._filter.now(machine)

    def take(
        self, received: Sequence[ReceivedDatagram], earliest: float = -math.inf
    ) -> PacketBlock:
        """Return the accepted packets of some datagrams.

        No arrival is before that of the previous packet, nor before ``earliest``, up to which rows
        have been drawn.
        """
        packets = PacketBlock(self.entities)
        self._datagrams += len(received)
        if self._spec.sender is not None:
            everybody, received = (
                received,
                [packet for packet in received if self._spec.is_accepted(packet.sender)],
            )
            if len(received) < len(everybody):
                self._refused[Refused.OTHER_SENDER] += len(everybody) - len(received)
        times = array("d", [packet.time for packet in received])
        senders = array("i", [self._number_sender(packet.sender) for packet in received])
        for decoded in self._decoder.read([packet.data for packet in received]):
            some = slice(decoded.first, decoded.first + len(decoded.ends))
            self.admit(decoded, times[some], senders[some], earliest, packets)
        return packets

    def admit(
        self,
        decoded: Decoded,
        times: array[float],
        senders: array[int],
        earliest: float,
        into: PacketBlock,
    ) -> None:
        """Append the accepted packets, and count the refused ones.

        ``times`` are the datagrams' arrivals on the machine's clock (s), ``senders`` small numbers
        for their senders.
        """
        self._example = self._example or decoded.example
        if decoded.refused:
            self._refused[decoded.reason] += decoded.refused
        if decoded.block is not None:
            ends = decoded.ends.tobytes()
            given = ends, times.tobytes(), senders.tobytes(), earliest, into
            found = self._filter.admit(decoded.block, *given)
            self._refused.update(found)  # type: ignore[arg-type]

    def _number_sender(self, sender: tuple[Any, ...]) -> int:
        number = self._senders.get(sender)
        if number is None:
            number = len(self._senders)
            if number < _MOST_SENDERS:
                self._senders[sender] = number
        return number

    def _check_name(self, name: str) -> Refused | bool | None:
        """Return the reason to refuse a new entity, False to skip it, or None to accept it."""
        spec = self._spec
        if spec.entity is not None and name != spec.entity:
            return False
        if len(name) > _LONGEST_NAME or not name.isprintable() or name != name.strip():
            return Refused.BAD_NAME
        if spec.single_entity and len(self.entities):
            return Refused.SECOND_ENTITY
        if len(self.entities) >= spec.max_entities:
            return Refused.TOO_MANY_ENTITIES
        return None
