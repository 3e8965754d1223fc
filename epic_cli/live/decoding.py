"""The packets of one datagram: packet text, CSV, JSON, or binary records.

Each datagram is read for itself: what one holds, or breaks, has no say in how the next is read.
Readers that have found out which name is which are kept for datagrams with the same names.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from epic_cli.engine.contract import Packet
from epic_cli.engine.refusals import Refusal
from epic_cli.engine.text.scan import TextScanner
from epic_cli.formats.conventions import is_packet
from epic_cli.formats.layout import Layout
from epic_cli.formats.recordings import PacketFormat, make_reader
from epic_cli.live.refused import Refused

if TYPE_CHECKING:
    from epic_cli.formats.recordings import Reader
    from epic_cli.live.binary import RecordLayout

#: Bytes of a JSON object, or of the header of a table, that names are looked for in.
_LONGEST = 4096

#: So many sets of names are kept with their readers, and so many names of entities with each.
_MOST_READERS = 16
_MOST_NAMES = 4096

#: Levels of an object that its names are taken from, to know it again.
_DEEPEST = 4


class Decoded:
    """The packets of a datagram, and how many others were refused; ``example`` is one of them."""

    def __init__(self) -> None:
        self.packets: list[Packet] = []
        self.refused = 0
        self.reason = Refused.NOT_PACKETS
        self.example: Refusal | None = None

    def refuse(self, count: int = 1, reason: Refused = Refused.NOT_PACKETS) -> Decoded:
        """Refuses so many packets, or a datagram."""
        self.refused += count
        self.reason = reason
        return self


class Decoder:
    """Reads datagrams. Times are in seconds unless the ``layout`` says otherwise.

    A layout's ``time_origin`` is not looked at. ``records``: the datagrams are binary.
    """

    def __init__(
        self,
        packet_format: PacketFormat | None = None,
        layout: Layout | None = None,
        records: RecordLayout | None = None,
    ) -> None:
        self._format = packet_format
        given = layout or Layout()
        self._layout = given._replace(time_unit=given.time_unit or "s", time_origin=0.0)
        self._records = records
        self._readers: OrderedDict[object, Reader] = OrderedDict()
        self._json = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=str)

    def decode(self, data: bytes) -> Decoded:
        """The packets of a datagram."""
        decoded = Decoded()
        if self._records is not None:
            found = self._records.packets(data) if data else None
            if found is None:
                return decoded.refuse(1, Refused.NOT_RECORDS if data else Refused.EMPTY)
            decoded.packets = found
            return decoded
        data = data.strip(b" \t\r\n")
        if not data:
            return decoded.refuse(1, Refused.EMPTY)
        kind = self._format or _kind(data)
        if kind == "text":
            self._take(TextScanner(), data, decoded, final=True)
        elif kind == "jsonl":
            self._take_objects(data, decoded)
        elif kind == "csv":
            self._take_table(data, decoded)
        return decoded if decoded.packets or decoded.refused else decoded.refuse()

    def _take(self, reader: Reader, data: bytes, decoded: Decoded, final: bool = False) -> None:
        block = reader.scan(data + b"\n", final)
        decoded.packets += [block[index] for index in range(len(block))]
        if block.refusals:
            decoded.refuse(len(block.refusals))
            decoded.example = decoded.example or block.refusals[0]

    # ---------------------------------------------------------------------------------- JSON

    def _take_objects(self, data: bytes, decoded: Decoded) -> None:
        for text, item in self._objects(data, decoded):
            line = text.replace("\n", " ").replace("\r", " ").encode()
            if not isinstance(item, dict) or len(line) > _LONGEST:
                decoded.refuse()
                continue
            self._take_known(("jsonl", *_names(item)), "jsonl", line, b"", decoded)

    def _objects(self, data: bytes, decoded: Decoded) -> Iterator[tuple[str, Any]]:
        """The values of an array, or those that stand one after the other, and their texts."""
        try:
            text = data.decode()
        except UnicodeDecodeError:
            decoded.refuse()
            return
        array = text.startswith("[")
        at, end = (1, len(text) - text.endswith("]")) if array else (0, len(text))
        while at < end:
            if text[at] in " \t\r\n" or (array and text[at] == ","):
                at += 1
                continue
            try:
                item, stop = self._json.raw_decode(text, at)
            except (ValueError, RecursionError):
                decoded.refuse()
                return
            yield text[at:stop], item
            at = stop

    # ---------------------------------------------------------------------------------- CSV

    def _take_table(self, data: bytes, decoded: Decoded) -> None:
        header, _, rows = data.partition(b"\n")
        if len(header) > _LONGEST:
            decoded.refuse()
        elif any(place.isdigit() for place in self._layout.places.values()):
            # columns by their numbers: every line is a row
            self._take_known("numbered", "csv", data, b"", decoded)
        elif rows:
            self._take_known(("csv", header), "csv", rows, header + b"\n", decoded)

    def _take_known(
        self, names: object, kind: PacketFormat, data: bytes, header: bytes, decoded: Decoded
    ) -> None:
        """Reads it with the reader for these names; a new one has the header above it."""
        reader = self._readers.pop(names, None)
        if reader is None:
            reader, data = make_reader(kind, self._layout), header + data
        taken = len(decoded.packets)
        self._take(reader, data, decoded)
        useful = len(decoded.packets) > taken or bool(getattr(reader, "records", None))
        if useful and not reader.ended and len(reader.entities) <= _MOST_NAMES:
            self._readers[names] = reader
            if len(self._readers) > _MOST_READERS:
                self._readers.popitem(last=False)


def _kind(data: bytes) -> PacketFormat | None:
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
