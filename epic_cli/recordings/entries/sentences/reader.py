"""Logs in sentences: a regular expression says where the fields stand in a line."""

from __future__ import annotations

import contextlib
import re

from epic_cli.engine.packets import PacketBlock
from epic_cli.engine.refusals import Reason
from epic_cli.engine.text import RecordScanner
from epic_cli.recordings.lines import LineReader
from epic_cli.recordings.names.guess import infer_layout
from epic_cli.recordings.names.units import AmbiguousLayout
from epic_cli.recordings.read_spec import compiled, joined_columns, joined_name

#: So many lines are looked at for one that a pattern can be made of.
_PATIENCE = 100

#: How Unreal's logs write the time of day.
_UNREAL_TIME = re.compile(r"(\d{4})\.(\d\d)\.(\d\d)-(\d\d)\.(\d\d)\.(\d\d):(\d{3})")
_SHORTEST_TIME = len("2024.05.01-12.34.56:789")

#: So long (s of the processor) a pattern is looked for in a line: one that backtracks has no end.
LIMIT = 1.0


class PatternReader(LineReader):
    """Reads a packet from each line in which ``layout.pattern`` is found, and passes over others.

    Its named groups are to a line what the columns are to a row of a table. Without a pattern the
    first line from which one can be made is refused, with that.
    """

    def begin(self) -> None:
        """See ``LineReader``."""
        pattern = self.layout.pattern
        self._pattern = None if pattern is None else compiled(pattern)
        self._fields: dict[str, int] = {}
        self._joined: list[int] = []  # groups that together name the entity
        self._first: tuple[int, bytes] | None = None

    def take_line(self, block: PacketBlock, line: str, raw: bytes, begin: int) -> None:
        """Takes one packet, if there is one."""
        if self._pattern is None:
            self._propose(block, line, raw)
            return
        self._first = self._first or (self._line, raw)
        try:
            found = self._pattern.search(line.rstrip("\r\n"), timeout=LIMIT)
        except TimeoutError:
            self.refuse(block, raw, 0, Reason.PATTERN_TOO_SLOW, limit=LIMIT)
            self.ended = True
            return
        if found is None:
            return
        if self.records is not None or self._settle(block, found.groupdict(""), raw):
            groups = found.groups("")
            fields = {field: _plain(groups[place]) for field, place in self._fields.items()}
            if self._joined:
                fields["entity"] = joined_name(groups[place] for place in self._joined)
            self.add(block, fields, begin, raw)

    def _propose(self, block: PacketBlock, line: str, raw: bytes) -> None:
        from epic_cli.recordings.entries.sentences.proposal import propose

        self._first = self._first or (self._line, raw)
        readings = propose(line, [one.decode("utf-8", "replace") for one in self._ahead])
        if readings or self._line >= _PATIENCE:
            if not readings:
                self._line, raw = self._first
            self.refuse(block, raw, 0, Reason.IN_SENTENCES, readings=readings)
            self.ended = True

    def _settle(self, block: PacketBlock, groups: dict[str, str], raw: bytes) -> bool:
        try:
            layout = infer_layout(
                self.layout, {name: _plain(text) for name, text in groups.items()}
            )
        except AmbiguousLayout as ambiguous:
            named = ambiguous.reason is Reason.COLUMN_UNCLEAR
            reason = Reason.GROUP_MISSING if named else ambiguous.reason
            self.refuse(block, raw, 0, reason, **ambiguous.facts)
            self.ended = True
            return False
        assert self._pattern is not None
        numbers = self._pattern.groupindex
        places = layout.places
        if places.get("entity", "") not in ("", *numbers):
            self._joined = [numbers[one] - 1 for one in joined_columns(places.pop("entity"))]
        self._fields = {field: numbers[name] - 1 for field, name in places.items()}
        self.records = RecordScanner(self.entities, decimal_comma=True, **layout.units)
        self.settle(layout)
        return True

    def take_end(self, block: PacketBlock) -> None:
        """A pattern that is found in no line is a mistake."""
        if self.records is None and self._first is not None:
            self._line, raw = self._first
            given = self._pattern is not None
            self.refuse(block, raw, 0, Reason.PATTERN_NOT_FOUND if given else Reason.IN_SENTENCES)

    def cells_of(self, raw: bytes) -> dict[str, str]:
        """The groups of a line."""
        line = raw.decode("utf-8", "replace").rstrip("\r\n")
        with contextlib.suppress(TimeoutError):
            found = None if self._pattern is None else self._pattern.search(line, timeout=LIMIT)
            return {} if found is None else dict(found.groupdict(""))
        return {}

    def find_field(self, raw: bytes, name: str) -> int:
        """Where in a line a field stands."""
        line = raw.decode("utf-8", "replace").rstrip("\r\n")
        if self._pattern is None or name not in self._fields:
            return 0
        with contextlib.suppress(TimeoutError):
            found = self._pattern.search(line, timeout=LIMIT)
            begin = found.start(self._fields[name] + 1) if found else 0
            return len(line[: max(begin, 0)].encode())
        return 0


def _plain(text: str) -> str:
    if len(text) < _SHORTEST_TIME:
        return text
    return _UNREAL_TIME.sub(r"\1-\2-\3T\4:\5:\6.\7", text)
