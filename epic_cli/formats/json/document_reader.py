"""Packets from JSON documents: an array of objects, also in an object, or objects over lines."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress

from epic_cli.engine.packets import PacketBlock
from epic_cli.engine.refusals import Reason, Refusal
from epic_cli.engine.text.json_objects import DocumentCutter
from epic_cli.formats.conventions import BYTE_ORDER_MARK
from epic_cli.formats.json.envelope import Envelope, find_envelope
from epic_cli.formats.json.lines_reader import JsonlReader
from epic_cli.formats.json.values import look_up, parse


class JsonReader(JsonlReader):
    """Reads a packet from each object, as from lines with one each.

    Places are those of the document; an object that goes over several lines is shown as one, and
    stands where it begins.
    """

    has_lines = False

    def begin(self) -> None:
        """See ``LineReader``."""
        super().begin()
        self._cutter = DocumentCutter()
        self._above = 0  # bytes in front of an array in an object
        self._entered = False

    def look_for_array(self, head: bytes) -> None:
        """Enters the array of packets that stands in an object; see ``find_envelope``."""
        found = find_envelope(head, True, self.layout)
        if isinstance(found, Envelope):
            self._above, self._entered = found.begin, True
            self._cutter.enter(head.removeprefix(BYTE_ORDER_MARK)[: found.begin], found.around)

    def scan(self, data: bytes, final: bool = False) -> PacketBlock:
        """The packets of all objects that ``data`` completes; ``final``: there is no more."""
        data = data.removeprefix(BYTE_ORDER_MARK) if not self._line else data
        data, self._above = data[self._above :], 0
        block = super().scan(self._cutter.cut(data, final), final)
        self._cutter.place_packets(block)
        block.refusals = [self._placed(one) for one in block.refusals]
        self._cutter.forget(self._line)
        if final and self._entered and self.records is not None:
            block.refusals += self._others()
        return block

    def _others(self) -> Iterator[Refusal]:
        """The first of the arrays beside the one that was read that has packets as well."""
        for line, column, text in self._cutter.others():
            with suppress(json.JSONDecodeError, RecursionError, UnicodeDecodeError):
                item = parse(text.decode())
                if all(look_up(item, path)[1] is None for path in self.needed_paths()):
                    yield Refusal(line, column, text[:80], 0, Reason.PACKETS_ELSEWHERE)
                    return

    def _placed(self, refusal: Refusal) -> Refusal:
        line, column = self._cutter.place(refusal.line)
        return refusal._replace(line=line, column=column + refusal.column - 1)
