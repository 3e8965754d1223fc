"""Logs in sentences: a regular expression says where the fields stand in a line."""

from __future__ import annotations

import re

from epic_cli.engine.packets import PacketBlock
from epic_cli.engine.refusals import Reason
from epic_cli.engine.text import RecordScanner
from epic_cli.formats.lines import LineReader
from epic_cli.formats.names.guess import AmbiguousLayout, infer_layout

#: So many lines are looked at for one that a pattern can be made of.
_PATIENCE = 100

#: How Unreal's logs write the time of day.
_UNREAL_TIME = re.compile(r"(\d{4})\.(\d\d)\.(\d\d)-(\d\d)\.(\d\d)\.(\d\d):(\d{3})")


class PatternReader(LineReader):
    """Reads a packet from each line in which ``layout.pattern`` is found, and passes over others.

    Its named groups are to a line what the columns are to a row of a table. Without a pattern the
    first line from which one can be made is refused, with that.
    """

    def begin(self) -> None:
        """See ``LineReader``."""
        pattern = self.layout.pattern
        self._pattern = None if pattern is None else re.compile(pattern)
        self._groups: dict[str, str] = {}
        self._first: tuple[int, bytes] | None = None

    def take_line(self, block: PacketBlock, line: str, raw: bytes, begin: int) -> None:
        """Takes one packet, if there is one."""
        if self._pattern is None:
            self._propose(block, line, raw)
            return
        self._first = self._first or (self._line, raw)
        found = self._pattern.search(line.rstrip("\r\n"))
        if found is None:
            return
        values = {name: _plain(text or "") for name, text in found.groupdict().items()}
        if self.records is not None or self._settle(block, values, raw):
            fields = {field: values[name] for field, name in self._groups.items()}
            self.add(block, fields, begin, raw)

    def _propose(self, block: PacketBlock, line: str, raw: bytes) -> None:
        from epic_cli.formats.entries.sentences.proposal import propose

        self._first = self._first or (self._line, raw)
        pattern = propose(line)
        if pattern or self._line >= _PATIENCE:
            if not pattern:
                self._line, raw = self._first
            self.refuse(block, raw, 0, Reason.IN_SENTENCES, detail=pattern or "")
            self.ended = True

    def _settle(self, block: PacketBlock, values: dict[str, str], raw: bytes) -> bool:
        try:
            layout = infer_layout(self.layout, values)
        except AmbiguousLayout as ambiguous:
            named = ambiguous.reason is Reason.COLUMN_UNCLEAR
            reason = Reason.GROUP_MISSING if named else ambiguous.reason
            self.refuse(block, raw, 0, reason, **ambiguous.facts)
            self.ended = True
            return False
        self._groups = layout.places
        self.records = RecordScanner(self.entities, decimal_comma=True, **layout.units)
        self.settle(layout)
        return True

    def take_end(self, block: PacketBlock) -> None:
        """A pattern that is found in no line is a mistake."""
        if self.records is None and self._first is not None:
            self._line, raw = self._first
            given = self._pattern is not None
            self.refuse(block, raw, 0, Reason.PATTERN_NOT_FOUND if given else Reason.IN_SENTENCES)

    def find_field(self, raw: bytes, name: str) -> int:
        """Where in a line a field stands."""
        line = raw.decode("utf-8", "replace").rstrip("\r\n")
        found = None if self._pattern is None else self._pattern.search(line)
        if found is None or name not in self._groups:
            return 0
        return len(line[: max(found.start(self._groups[name]), 0)].encode())


def _plain(text: str) -> str:
    return _UNREAL_TIME.sub(r"\1-\2-\3T\4:\5:\6.\7", text)
