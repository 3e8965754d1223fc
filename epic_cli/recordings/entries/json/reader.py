"""Packets from JSON lines: one object a line, whatever its names and however deep they are."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from epic_cli.engine.packets import PacketBlock
from epic_cli.engine.refusals import Reason, Refusal
from epic_cli.engine.text import FIELDS, OPTIONAL_FIELDS, EntriesScanner, JsonScanner, RecordScanner
from epic_cli.recordings import LONGEST_OBJECT
from epic_cli.recordings.entries.json.entities import (
    Entries,
    entries_of,
    has_no_entries,
    infer_object_layout,
)
from epic_cli.recordings.entries.json.values import (
    Object,
    is_unicode,
    look_up,
    parse,
    single_values,
    text_of,
)
from epic_cli.recordings.lines import LineReader
from epic_cli.recordings.names.guess import infer_layout, no_header
from epic_cli.recordings.names.stars import starred
from epic_cli.recordings.names.units import AmbiguousLayout
from epic_cli.recordings.read_spec import (
    POSITION,
    VELOCITY,
    ReadSpec,
    joined_columns,
    joined_name,
    path_names,
)

#: Fields that may come in a later object, under their own names.
_LATER = (*VELOCITY, *OPTIONAL_FIELDS)

#: Those that each of several entities has for itself.
_OWN = (*VELOCITY, "entity", "teleport", "delta")

#: How an object of another language begins: Python's, Lua's.
_OF_OTHERS = re.compile(r'\s*\{\s*[^"\s]')

#: A time and a position in an array are so many values.
_STATE = 3

#: So many objects that do not say what is what are refused; after them nothing more is read.
_PATIENCE = 5


class JsonlReader(LineReader):
    """Reads a packet from each line: an object of numbers and, for the entity, text.

    An object may have an entry for each of several entities; then it is a packet for each.
    """

    longest = LONGEST_OBJECT

    #: The lines are those of the recording.
    has_lines = True

    def begin(self) -> None:
        """See ``LineReader``."""
        self._paths: dict[str, tuple[str, ...]] = {}
        self._entries: Entries | None = None
        self._empty: Refusal | None = None
        self._joined: tuple[tuple[str, ...], ...] = ()  # paths that together name the entity
        self._ambiguous = 0

    def take_line(self, block: PacketBlock, line: str, raw: bytes, begin: int) -> None:
        """Takes one packet."""
        try:
            item = parse(line.rstrip())
        except json.JSONDecodeError as error:
            self._refuse_json(block, line, raw, error)
            return
        except RecursionError:
            self.refuse(block, raw, 0, Reason.NESTED_TOO_DEEP)
            return
        if isinstance(item, list) and len(item) >= _STATE and not _has_containers(item):
            item = Object({str(index): one for index, one in enumerate(item)})
        if not isinstance(item, dict):
            items = item if isinstance(item, list) else ()
            found = sum(isinstance(one, dict) for one in items)
            self.refuse(block, raw, 0, Reason.NOT_AN_OBJECT, found=found)
        elif self.records is not None or self._settle(block, item, raw):
            self._take_object(block, item, raw, begin)

    def _refuse_json(
        self, block: PacketBlock, line: str, raw: bytes, error: json.JSONDecodeError
    ) -> None:
        """Refuses what is no JSON; objects of other languages with a pattern for them."""
        if self.records is None and self.has_lines and _OF_OTHERS.match(line):
            from epic_cli.recordings.entries.sentences.proposal import propose

            readings = propose(line)
            if readings:
                self.refuse(block, raw, 0, Reason.IN_SENTENCES, readings=readings)
                self.ended = True
                return
        caret = len(line[: error.pos].encode())
        self.refuse(block, raw, caret, Reason.NOT_JSON, detail=error.msg.lower())

    def _take_object(
        self, block: PacketBlock, item: dict[str, Any], raw: bytes, begin: int
    ) -> None:
        entries = None if self._entries is None else list(self._entries.of(item))
        fields = self._look_up(block, item, self._paths, raw) if entries != [] else None
        if fields is None:
            return
        if self._joined:
            fields["entity"] = joined_name(text_of(look_up(item, one)[0]) for one in self._joined)
        if self._entries is None or entries is None:
            self.add(block, fields, begin, raw)
            return
        for name, entry in entries:
            own = self._look_up(block, entry, self._entries.paths, raw)
            if own is not None:
                plain = name.encode("utf-8", "replace").decode()  # half a character is none
                entity = own.get("entity") or fields.get("entity") or plain
                self.add(block, {**fields, **own, "entity": entity}, begin, raw)

    def _look_up(
        self, block: PacketBlock, item: Any, paths: dict[str, tuple[str, ...]], raw: bytes
    ) -> dict[str, str] | None:
        """The fields that an object has at these paths; None: they are wrong, and refused."""
        fields: dict[str, str] = {}
        for field, path in paths.items():
            value, wrong = look_up(item, path)
            wrong = wrong or _wrong_kind(field, value)
            needed = field == "time" or (field in POSITION and not self.layout.partial)
            if wrong is Reason.KEY_MISSING and not needed:
                continue
            if wrong:
                expected = self._needed() if wrong is Reason.KEY_MISSING else ()
                caret = self.find_field(raw, field)
                label = self.label(field)
                self.refuse(block, raw, caret, wrong, field=label, expected=expected)
                return None
            fields[field] = text_of(value)
        return fields

    def _settle(self, block: PacketBlock, item: dict[str, Any], raw: bytes) -> bool:
        """Makes the plan by which lines are read; False: this object does not say what is what."""
        given = self.layout
        try:
            layout = self._infer_layout(item)
            without = self.without_counter(layout)
            if without is not None:
                self.layout = without
                layout = self._infer_layout(item)
                self.layout = given
        except AmbiguousLayout as ambiguous:
            if has_no_entries(self.layout, item):
                self._empty = self._empty or Refusal(
                    self._line, 1, raw, 0, ambiguous.reason, **ambiguous.facts
                )
                return False
            facts, reason = ambiguous.facts, ambiguous.reason
            if reason is Reason.COLUMN_UNCLEAR and all(map(str.isdigit, item)):  # an array
                reason, facts = Reason.NO_HEADER, no_header(single_values(item))
            self.refuse(block, raw, 0, reason, **facts)
            self._ambiguous += 1
            self.ended = self._ambiguous == _PATIENCE or "readings" in facts
            return False
        self._entries = entries_of(layout)
        places = {field: path_names(path) for field, path in layout.places.items()}
        joined = joined_columns(layout.places.get("entity", ""))
        several = len(joined) > 1 and self._entries is None
        if several and look_up(item, places["entity"])[1] is not None:
            del places["entity"]
            self._joined = tuple(map(path_names, joined))
        later = {field: (field,) for field in _LATER if field not in dict(given.columns or ())}
        if self._entries is not None:
            given_to_all = set(layout.places) - set(starred(layout))
            own = {
                field: later.pop(field)
                for field in _OWN
                if field in later and field not in given_to_all
            }
            self._entries = self._entries._replace(paths={**own, **self._entries.paths})
            places = {field: path for field, path in places.items() if field not in starred(layout)}
        self._paths = {**later, **places}
        self.records = self._scanner(layout)
        self.settle(layout)
        return True

    def _scanner(self, layout: ReadSpec) -> RecordScanner:
        """What takes the usual lines at once."""
        if self._joined:
            return RecordScanner(self.entities, **layout.units)
        if self._entries is None:
            return JsonScanner(self._paths, self.entities, **layout.units)
        steps = self._entries.steps
        if self._entries.singles or any(
            path[: len(steps)] == steps for path in self._paths.values()
        ):
            return RecordScanner(self.entities, **layout.units)  # some is shared of the entries
        return EntriesScanner(
            steps, self._paths, self._entries.paths, self.entities, **layout.units
        )

    def _infer_layout(self, item: Any) -> ReadSpec:
        """The layout of a recording with this object; see ``infer_layout``."""
        values = single_values(item)
        if _is_broken(values):
            values.update({name: "" for name in FIELDS if name not in values})
            return infer_layout(self.layout, values)
        return infer_object_layout(self.layout, item)

    def cells_of(self, raw: bytes) -> dict[str, str]:
        """The single values of an object by their paths."""
        try:
            return single_values(parse(raw.decode().strip().strip(",")))
        except (ValueError, RecursionError):
            return {}

    def needed_paths(self) -> Iterator[tuple[str, ...]]:
        """The paths of what each object must have; where they are those of entries, to these."""
        places = (*POSITION, "time")
        yield from (self._paths[field] for field in places if field in self._paths)
        if self._entries is not None:
            yield self._entries.steps

    def _needed(self) -> tuple[str, ...]:
        places = self.layout.places
        return tuple(places[field] for field in FIELDS if field in places)

    def take_end(self, block: PacketBlock) -> None:
        """Each object stands alone, but those that could have had entities may never have one."""
        if self.records is None and self._empty is not None:
            block.refusals.append(self._empty)

    def find_field(self, raw: bytes, name: str) -> int:
        """Where in a line a field stands."""
        at = 0
        for step in self._path(name):
            found = re.compile(rb'"%s"\s*:' % re.escape(step.encode())).search(raw, at)
            at = found.start() if found else at
        return at

    def _path(self, field: str) -> tuple[str, ...]:
        if self._entries is not None and field in self._entries.paths:
            return (*self._entries.steps, *self._entries.paths[field])
        return self._paths.get(field, (field,))


def _has_containers(item: list[Any]) -> bool:
    return any(isinstance(one, list | dict) for one in item)


def _is_broken(values: dict[str, str]) -> bool:
    """Whether it has this program's own names, but for one or two that cannot be left out."""
    axes = {name for name in POSITION if name in values}
    velocities = {name[1] for name in VELOCITY if name in values}
    return "time" in values and len(axes) + len(velocities) > 3 and axes != velocities != set()


def _wrong_kind(field: str, value: Any) -> Reason | None:
    """What is wrong with the kind of a value; None: nothing."""
    number = field in FIELDS
    if isinstance(value, list | dict):
        return Reason.FIELD_NOT_A_NUMBER if number else Reason.NOT_A_SINGLE_VALUE
    if number and isinstance(value, bool):
        return Reason.FIELD_NOT_A_NUMBER
    if isinstance(value, str) and not is_unicode(value):
        return Reason.FIELD_NOT_A_NUMBER if number else Reason.NOT_UNICODE
    return None
