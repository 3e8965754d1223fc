"""Packets from JSON documents: an array of objects, also in an object, or objects over lines."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress

from epic_cli.engine.packets import PacketBlock
from epic_cli.engine.refusals import Reason, Refusal
from epic_cli.engine.text import DocumentCutter
from epic_cli.recordings import BYTE_ORDER_MARK
from epic_cli.recordings.entries.json.envelope import Envelope, Sight, find_envelope
from epic_cli.recordings.entries.json.reader import JsonlReader
from epic_cli.recordings.entries.json.values import look_up, parse


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
        self._head: bytes | None = b""  # what has come while nobody can say what is around it
        self._entered = False

    def scan(self, data: bytes, final: bool = False) -> PacketBlock:
        """The packets of all objects that ``data`` completes; ``final``: there is no more."""
        if self._head is not None:
            data = self._head + data
            found = find_envelope(data, final, self.layout)
            self._head = data if found is Sight.SHORT else None
            if self._head is not None:
                return PacketBlock(self.entities)
            data = data.removeprefix(BYTE_ORDER_MARK)
            if isinstance(found, Envelope):
                self._entered = True
                self._cutter.enter(data[: found.begin], found.around)
                data = data[found.begin :]
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
