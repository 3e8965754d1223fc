"""Packets from JSON lines: one object a line, whatever its names and however deep they are."""

from __future__ import annotations

import json
import re
from typing import Any

from epic_cli.engine.packets import PacketBlock
from epic_cli.engine.refusals import Reason
from epic_cli.engine.text.records import FIELDS, JsonScanner
from epic_cli.formats.guess import Untold, complete
from epic_cli.formats.layout import POSITION, VELOCITY, path_names, path_text
from epic_cli.formats.lines import LineReader

#: What is looked at of the first object: so many levels, entries of an array, and names in all.
_DEEPEST, _WIDEST, _MOST = 8, 16, 500

#: Fields that may come in a later object, under their own names.
_LATER = (*VELOCITY, "arrival", "entity", "seq", "teleport", "delta")

#: So many objects that do not say what is what are refused; after them nothing more is read.
_PATIENCE = 5


class _Number(str):
    """A JSON number as it was written: the engine rounds it once, to each precision."""


class _Object(dict[str, Any]):
    """A JSON object, and the names that it gives twice."""

    twice: frozenset[str] = frozenset()


class JsonlReader(LineReader):
    """Reads a packet from each line: an object of numbers and, for the entity, text."""

    def begin(self) -> None:
        """See ``LineReader``."""
        self._paths: dict[str, tuple[str, ...]] = {}
        self._untold = 0

    def take_line(self, block: PacketBlock, line: str, raw: bytes, begin: int) -> None:
        """Takes one packet."""
        try:
            item: Any = json.loads(
                line.rstrip(),
                parse_float=_Number,
                parse_int=_Number,
                parse_constant=_Number,
                object_pairs_hook=_object,
            )
        except json.JSONDecodeError as error:
            caret = len(line[: error.pos].encode())
            self.refuse(block, raw, caret, Reason.NOT_JSON, detail=error.msg.lower())
            return
        except RecursionError:
            self.refuse(block, raw, 0, Reason.NESTED_TOO_DEEP)
            return
        if not isinstance(item, dict):
            items = item if isinstance(item, list) else ()
            found = sum(isinstance(one, dict) for one in items)
            self.refuse(block, raw, 0, Reason.NOT_AN_OBJECT, found=found)
        elif self.records is not None or self._settle(block, item, raw):
            self._take_object(block, item, raw, begin)

    def _take_object(
        self, block: PacketBlock, item: dict[str, Any], raw: bytes, begin: int
    ) -> None:
        fields: dict[str, str] = {}
        for field, path in self._paths.items():
            value, wrong = _look_up(item, path)
            wrong = wrong or _wrong_kind(field, value)
            if wrong is Reason.KEY_MISSING and field not in (*POSITION, "time"):
                continue
            if wrong:
                expected = self._needed() if wrong is Reason.KEY_MISSING else ()
                caret = self.find_field(raw, field)
                label = self.label(field)
                self.refuse(block, raw, caret, wrong, field=label, expected=expected)
                return
            fields[field] = _text(value)
        self.add(block, fields, begin, raw)

    def _settle(self, block: PacketBlock, item: dict[str, Any], raw: bytes) -> bool:
        """Makes the plan by which lines are read; False: this object does not say what is what."""
        values: dict[str, str] = {}
        _flatten(item, (), values)
        try:
            if _is_broken(values):
                values.update({name: "" for name in FIELDS if name not in values})
            layout = complete(self.layout, values)
        except Untold as untold:
            self.refuse(block, raw, 0, untold.reason, **untold.facts)
            self._untold += 1
            self.ended = self._untold == _PATIENCE
            return False
        self._paths = {field: path_names(path) for field, path in layout.places.items()}
        for field in _LATER:  # objects need not be alike
            if field not in dict(self.layout.columns or ()):
                self._paths.setdefault(field, (field,))
        self.records = JsonScanner(self._paths, self.entities, **layout.units)
        self.settle(layout)
        return True

    def _needed(self) -> tuple[str, ...]:
        places = self.layout.places
        return tuple(places[field] for field in FIELDS if field in places)

    def take_end(self, block: PacketBlock) -> None:
        """Each object stands alone."""

    def find_field(self, raw: bytes, name: str) -> int:
        """Where in a line a field stands."""
        at = 0
        for step in self._paths.get(name, (name,)):
            found = re.compile(rb'"%s"\s*:' % re.escape(step.encode())).search(raw, at)
            at = found.start() if found else at
        return at


def _is_broken(values: dict[str, str]) -> bool:
    """Whether it has this program's own names, but for one or two that cannot be left out."""
    axes = {name for name in POSITION if name in values}
    velocities = {name[1] for name in VELOCITY if name in values}
    return "time" in values and len(axes) + len(velocities) > 3 and axes != velocities != set()


def _object(pairs: list[tuple[str, Any]]) -> _Object:
    made = _Object(pairs)
    if len(made) < len(pairs):
        names = [name for name, _ in pairs]
        made.twice = frozenset(name for name in names if names.count(name) > 1)
    return made


def _flatten(value: Any, path: tuple[str, ...], into: dict[str, str]) -> None:
    """The single values below a value, as texts by path."""
    if len(path) > _DEEPEST or len(into) >= _MOST:
        return
    if isinstance(value, dict):
        for name, below in value.items():
            if _is_unicode(name):
                _flatten(below, (*path, name), into)
    elif isinstance(value, list):
        for index, below in enumerate(value[:_WIDEST]):
            _flatten(below, (*path, str(index)), into)
    else:
        into[path_text(path)] = _text(value)


def _look_up(item: Any, path: tuple[str, ...]) -> tuple[Any, Reason | None]:
    """The value at the end of a path, or what is wrong on the way there."""
    for name in path:
        if isinstance(item, _Object) and name in item:
            if name in item.twice:
                return None, Reason.KEY_TWICE
            item = item[name]
        elif isinstance(item, list) and name.isdigit() and int(name) < len(item):
            item = item[int(name)]
        else:
            return None, Reason.KEY_MISSING
    return item, None


def _wrong_kind(field: str, value: Any) -> Reason | None:
    """What is wrong with the kind of a value; None: nothing."""
    number = field in FIELDS
    if isinstance(value, list | dict):
        return Reason.FIELD_NOT_A_NUMBER if number else Reason.NOT_A_SINGLE_VALUE
    if number and isinstance(value, bool):
        return Reason.FIELD_NOT_A_NUMBER
    if isinstance(value, str) and not _is_unicode(value):
        return Reason.FIELD_NOT_A_NUMBER if number else Reason.NOT_UNICODE
    return None


def _text(value: str | bool | None) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else str(int(value))


def _is_unicode(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)
