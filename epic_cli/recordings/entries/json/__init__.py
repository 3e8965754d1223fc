"""JSON: an object on each line, or a document with the packets in an array."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from epic_cli.recordings import Fit, Format, Head
from epic_cli.recordings.entries.text import is_packet

if TYPE_CHECKING:
    from epic_cli.engine.packets import Entities
    from epic_cli.recordings import ByteSource, OnRead, Reader, Requested
    from epic_cli.recordings.read_spec import ReadSpec
    from epic_cli.recordings.writing import LineWriter


class JsonDocument(Format):
    """An array of objects, also in an object, or objects that go over several lines."""

    name = "json"

    def detect(self, head: Head) -> Fit:
        """Detect an array of packets, also by the text around the array."""
        lines = head.has_object_line
        if not head.begins_as_json or (is_packet(head.line) and not lines):
            return Fit.NO
        from epic_cli.recordings.entries.json.reader import Envelope, EnvelopeScan, find_envelope

        fit = Fit.NO if lines else _detect_by_lines(head)
        found = find_envelope(head.data, head.final, head.layout)
        if isinstance(found, Envelope):
            return Fit.CERTAIN
        return Fit.UNDECIDED if found is EnvelopeScan.SHORT and fit is not Fit.NO else fit

    def make_reader(
        self, layout: ReadSpec | None, on_read: OnRead, entities: Entities | None, head: bytes
    ) -> Reader:
        """Return a reader that cuts the document into objects."""
        from epic_cli.recordings.entries.json.reader import JsonReader

        return JsonReader(layout, on_read, entities)


class JsonLines(Format):
    """An object on each line; whatever begins as JSON, unless it is a document."""

    name = "jsonl"
    suffixes = (".jsonl", ".ndjson")

    def detect(self, head: Head) -> Fit:
        """Detect JSON on each line; a document with an array of packets is a better fit."""
        return Fit.WORDS if head.begins_as_json else Fit.NO

    def make_reader(
        self, layout: ReadSpec | None, on_read: OnRead, entities: Entities | None, head: bytes
    ) -> Reader:
        """Return a reader of lines."""
        from epic_cli.recordings.entries.json.reader import JsonlReader

        reader = JsonlReader(layout, on_read, entities)
        reader.look_ahead(head)
        return reader

    def make_writer(self, requested: Requested, extras: Collection[str]) -> LineWriter:
        """Return a writer of objects, which leave out what a packet lacks.

        Numbers that are not finite are ``null``.
        """
        from json import dumps

        from epic_cli.recordings.extras import Tails, write_member
        from epic_cli.recordings.writing import LineWriter, check_name

        return LineWriter(
            lambda name: dumps(name) if check_name(name) else "", Tails(write_member), json=True
        )


def _detect_by_lines(head: Head) -> Fit:
    """Return how well a head fits a document.

    A line may also be the beginning of a broken object.
    """
    begin, below = head.begin, head.below.lstrip()
    if begin[:1] == b"[":
        first = begin[1:].lstrip()[:1]
        if first == b"{":
            return Fit.CERTAIN
        return Fit.NO if first or head.enough else Fit.UNDECIDED
    if head.ended and head.line.rstrip().endswith(b"},"):
        return Fit.CERTAIN
    if not below and not head.enough:
        return Fit.UNDECIDED
    return Fit.CERTAIN if head.ended and below[:1] not in (b"", b"{") else Fit.NO


class JsonShape(Format):
    """Documents whose packets are columns, rows or members: they become JSON lines."""

    name = "jsonshape"
    by_name = False
    unpacked = "jsonl"

    def detect(self, head: Head) -> Fit:
        """Look for the largest part of the document that has such a shape."""
        if not head.begins_as_json or (head.has_object_line and head.below.strip()):
            return Fit.NO
        from epic_cli.recordings.entries.json.reader import find_shape, is_followed, parse_beginning

        text = head.begin.decode("utf-8", "ignore")
        if find_shape(parse_beginning(text)) is None:
            return Fit.NO
        followed = is_followed(text)
        if followed:
            return Fit.NO
        # one that has ended may have another behind it, one that goes on may turn out a packet
        settled = head.enough or (followed is None and head.ended)
        return Fit.GOOD if settled else Fit.UNDECIDED

    def unpack(self, source: ByteSource, layout: ReadSpec | None) -> Callable[[], bytes]:
        """Return a function that yields the packets as JSON lines; raises ``Unreadable``."""
        from epic_cli.recordings.entries.json.reader import make_lines

        return make_lines(source)


FORMATS = (JsonDocument(), JsonLines(), JsonShape())
