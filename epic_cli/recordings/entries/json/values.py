"""What is in a JSON object: its values, by their paths."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from epic_cli.engine.refusals import Reason
from epic_cli.recordings.read_spec import path_text
from epic_cli.recordings.vectors import numbers_in

#: What is looked at of the first object: so many levels, entries of an array, and names in all.
DEEPEST, _WIDEST, _MOST = 8, 16, 500


class Number(str):
    """A JSON number as it was written: the engine rounds it once, to each precision."""


class Object(dict[str, Any]):
    """A JSON object, the names that it gives twice, and then all that it gives."""

    twice: frozenset[str] = frozenset()
    pairs: tuple[tuple[str, Any], ...] = ()


def parse(text: str) -> Any:
    """The value of a text; raises ``json.JSONDecodeError`` and ``RecursionError``."""
    return json.loads(
        text, parse_float=Number, parse_int=Number, parse_constant=Number, object_pairs_hook=_object
    )


def _object(pairs: list[tuple[str, Any]]) -> Object:
    made = Object(pairs)
    if len(made) < len(pairs):
        counts = Counter(name for name, _ in pairs)
        made.twice = frozenset(name for name, count in counts.items() if count > 1)
        made.pairs = tuple(pairs)
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
        elif name.isdigit() and int(name) < len(numbers := _vector(item)):
            item = numbers[int(name)]
        else:
            return None, Reason.KEY_MISSING
    return item, None


def single_values(item: Any) -> dict[str, str]:
    """The single values below a value, as texts by their paths."""
    values: dict[str, str] = {}
    _add_values(item, (), values)
    return values


def _add_values(value: Any, path: tuple[str, ...], into: dict[str, str]) -> None:
    if len(path) > DEEPEST or len(into) >= _MOST:
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
        for index, number in enumerate(_vector(value)):
            into[path_text((*path, str(index)))] = number


def _vector(value: Any) -> tuple[str, ...]:
    """The numbers of a vector that is written as a text."""
    if not isinstance(value, str) or isinstance(value, Number):
        return ()
    return numbers_in(value) or ()
