"""What is in a JSON object: its values by their paths, and the entries that it has for entities.

A path with a ``*`` leads to each entry of an array, or of an object: ``players.*.x``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from epic_cli.engine.refusals import Reason
from epic_cli.formats.layout import POSITION, Layout, path_names, path_text, star_of
from epic_cli.formats.names.guess import Untold, complete
from epic_cli.formats.names.stars import starred

#: What is looked at of the first object: so many levels, entries of an array, and names in all.
_DEEPEST, _WIDEST, _MOST = 8, 16, 500


class Number(str):
    """A JSON number as it was written: the engine rounds it once, to each precision."""


class Object(dict[str, Any]):
    """A JSON object, and the names that it gives twice."""

    twice: frozenset[str] = frozenset()


def parse(text: str) -> Any:
    """The value of a text; raises ``json.JSONDecodeError`` and ``RecursionError``."""
    return json.loads(
        text,
        parse_float=Number,
        parse_int=Number,
        parse_constant=Number,
        object_pairs_hook=_object,
    )


def _object(pairs: list[tuple[str, Any]]) -> Object:
    made = Object(pairs)
    if len(made) < len(pairs):
        names = [name for name, _ in pairs]
        made.twice = frozenset(name for name in names if names.count(name) > 1)
    return made


def text_of(value: str | float | None) -> str:
    """A single value as a cell of a table would have it."""
    if value is None:
        return ""
    return value if isinstance(value, str) else str(int(value))


def is_unicode(text: str) -> bool:
    """Whether a text has no halves of characters."""
    return not any("\ud800" <= character <= "\udfff" for character in text)


def look_up(item: Any, path: tuple[str, ...]) -> tuple[Any, Reason | None]:
    """The value at the end of a path, or what is wrong on the way there."""
    for name in path:
        if isinstance(item, Object) and name in item:
            if name in item.twice:
                return None, Reason.KEY_TWICE
            item = item[name]
        elif isinstance(item, list) and name.isdigit() and int(name) < len(item):
            item = item[int(name)]
        else:
            return None, Reason.KEY_MISSING
    return item, None


def single_values(item: Any) -> dict[str, str]:
    """The single values below a value, as texts by their paths."""
    values: dict[str, str] = {}
    _add_values(item, (), values)
    return values


def _add_values(value: Any, path: tuple[str, ...], into: dict[str, str]) -> None:
    if len(path) > _DEEPEST or len(into) >= _MOST:
        return
    if isinstance(value, dict):
        for name, below in value.items():
            if is_unicode(name):
                _add_values(below, (*path, name), into)
    elif isinstance(value, list):
        for index, below in enumerate(value[:_WIDEST]):
            _add_values(below, (*path, str(index)), into)
    else:
        into[path_text(path)] = text_of(value)


# ------------------------------------------------------------------------------- several entities


class Entries(NamedTuple):
    """Where an object has its entries, and where each of them has its fields."""

    steps: tuple[str, ...]
    paths: dict[str, tuple[str, ...]]

    def of(self, item: Any) -> Iterator[tuple[str, Any]]:
        """The entries that there are, each with its name or number; none where nothing is."""
        found, _ = look_up(item, self.steps)
        pairs = found.items() if isinstance(found, dict) else enumerate(_list(found))
        return ((str(name), entry) for name, entry in pairs if entry is not None)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def entries_of(layout: Layout) -> Entries | None:
    """How objects with several entities are read; None: a layout without stars."""
    places = starred(layout)
    if not places:
        return None
    paths = {}
    steps: tuple[str, ...] = ()
    for field, path in places.items():
        steps, paths[field] = _cut(path)
    return Entries(steps, paths)


def _cut(path: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names before and behind the star of a path."""
    at = star_of(path)
    before, behind = path[:at].removesuffix("."), path[at + 1 :].removeprefix(".")
    return path_names(before) if before else (), path_names(behind) if behind else ()


def complete_object(given: Layout, item: Any) -> Layout:
    """As ``complete``, of an object that may have an entry for each of several entities."""
    values = single_values(item)
    entries = entries_of(given)
    if entries is not None:
        return complete(given, {**_first(item, entries.steps), **values})
    try:
        return complete(given, values)
    except Untold as untold:
        found = []
        for steps in _containers(item, ()):
            with suppress(Untold):
                layout = complete(given, {**_first(item, steps), **values})
                if set(POSITION) & set(starred(layout)):
                    found.append(layout)
        if len(found) > 1:
            names = tuple(next(iter(starred(one).values())) for one in found)
            raise Untold(Reason.COLUMN_AMBIGUOUS, field="x", names=names) from untold
        if not found:
            raise
        return found[0]


def has_no_entries(given: Layout, item: Any) -> bool:
    """Whether it may be an object of which entities are to come, and that has none yet."""
    entries = entries_of(given)
    if entries is not None:
        found, _ = look_up(item, entries.steps)
        return found is None or found in ([], {})
    values: Mapping[str, Any] = item if isinstance(item, dict) else {}
    return any(value in ([], {}) for value in values.values())


def _containers(item: Any, steps: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Where a value has arrays of objects, or objects of objects."""
    if not isinstance(item, dict) or len(steps) > _DEEPEST:
        return
    for name, value in item.items():
        if not is_unicode(name):
            continue
        entries = value.values() if isinstance(value, dict) else _list(value)
        if any(isinstance(entry, dict) for entry in entries):
            yield (*steps, name)
        yield from _containers(value, (*steps, name))


def _first(item: Any, steps: tuple[str, ...]) -> dict[str, str]:
    """The single values of the first entry, by their paths with a star."""
    first = next((entry for _, entry in Entries(steps, {}).of(item)), None)
    star = f"{path_text(steps)}.*" if steps else "*"
    return {f"{star}.{path}": value for path, value in single_values(first).items() if path}
