"""JSON documents whose packets are not objects in one array: columns, rows, members by time.

They are read whole, and become JSON lines: pandas' ``orient="columns"``, ``"split"``, ``"index"``
and ``"values"``, InfluxDB's ``columns`` and ``values``, frames by their times.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from enum import Enum, auto
from typing import TYPE_CHECKING, Any

from epic_cli.recordings import Unreadable
from epic_cli.recordings.entries.json.values import Number, parse
from epic_cli.recordings.names.spellings import SPELLINGS, TICKS, name_of
from epic_cli.recordings.names.units import is_value
from epic_cli.recordings.read_spec import POSITION

if TYPE_CHECKING:
    from epic_cli.recordings import Source

#: Such a document is held in memory.
_LONGEST = 64 << 20

#: What names of columns and rows beside one another are called.
_NAMES = ("columns", "fields", "header", "headers", "names")
_ROWS = ("data", "rows", "values", "points", "records")

#: Whole-numbered members of up to so much count, and are no times.
_COUNTS = 1e8

_DEEPEST, _LINES = 32, 65536

#: A time and a position in an array are so many values.
_STATE = 3

_TIMES = {one for row in SPELLINGS["time"] for one in row}


class Shape(Enum):
    """What has the packets."""

    COLUMNS = auto()
    SPLIT = auto()
    MEMBERS = auto()  # an object with a member for each
    TIMES = auto()  # the same, and the names are their times
    ARRAYS = auto()


def find_shape(value: Any, deep: int = 0) -> tuple[Shape, Any] | None:
    """What has the packets in a document, and its shape; None: none of these shapes.

    The largest counts, as it may be among other things.
    """
    if deep > _DEEPEST or not isinstance(value, dict | list) or not value:
        return None
    if isinstance(value, dict):
        value = _streams(value)
        shape = _of_object(value)
    else:
        arrays = isinstance(value[0], list) and len(value[0]) >= _STATE and _is_flat(value[0])
        shape = Shape.ARRAYS if arrays else None
    if shape is not None:
        return shape, value
    members = value.values() if isinstance(value, dict) else value[:1]
    found = [one for member in members if (one := find_shape(member, deep + 1))]
    return max(found, key=lambda one: len(one[1]), default=None)


def _streams(value: dict[str, Any]) -> dict[str, Any]:
    """The columns of an object with a stream for each, as Strava's has them."""
    if not all(
        isinstance(one, dict) and isinstance(one.get("data"), list) for one in value.values()
    ):
        return value
    columns = {name: one["data"] for name, one in value.items()}
    places = columns.pop("latlng", [])
    if all(isinstance(one, list) and len(one) == 2 for one in places):
        columns |= {name: [one[at] for one in places] for at, name in enumerate(("lat", "lng"))}
    return columns


def _of_object(value: dict[str, Any]) -> Shape | None:
    names, rows = _split(value)
    if names and rows:
        return Shape.SPLIT
    columns = [name for name, one in value.items() if _column(one) is not None]
    others = [name for name in value if name not in columns]
    if any(_is_time(one) for one in columns) and not any(_is_time(one) for one in others):
        return Shape.COLUMNS
    if not all(map(is_value, value)) or not all(isinstance(v, dict | list) for v in value.values()):
        return None
    first = next(iter(value.values()))
    if isinstance(first, dict) and any(map(_is_time, first)):
        return Shape.MEMBERS if list(value) == list(map(str, range(len(value)))) else None
    return None if _has_times(first) else Shape.TIMES


def _split(value: dict[str, Any]) -> tuple[list[str], list[Any]]:
    """The names and the rows of an object that has them apart."""
    names: list[Any] = next((value[one] for one in _NAMES if isinstance(value.get(one), list)), [])
    if not all(isinstance(one, str) and not isinstance(one, Number) for one in names):
        return [], []
    for one in _ROWS:
        rows = value.get(one)
        if isinstance(rows, list) and rows and isinstance(rows[0], list):
            return names, rows
    return [], []


def _column(value: Any) -> list[Any] | None:
    """The values of a column: an array, or an object by the numbers of its rows."""
    if isinstance(value, dict) and list(value) == list(map(str, range(len(value)))):
        value = list(value.values())
    return value if isinstance(value, list) and len(value) > 1 and _is_flat(value) else None


def _is_flat(values: list[Any]) -> bool:
    return not any(isinstance(one, dict | list) for one in values)


def _is_time(name: str) -> bool:
    spelling = name_of(name).spelling
    return spelling in _TIMES or spelling in TICKS


def _has_times(value: Any, deep: int = 0) -> bool:
    """Whether there is a time somewhere below."""
    if isinstance(value, dict):
        return any(map(_is_time, value)) or (
            deep < _DEEPEST and any(_has_times(one, deep + 1) for one in value.values())
        )
    return isinstance(value, list) and any(_has_times(one, deep + 1) for one in value[:1])


# -------------------------------------------------------------------------------------- reading


def _objects(shape: Shape, value: Any) -> Iterator[Any]:
    """The packets, or what has some, one by one."""
    if shape is Shape.COLUMNS:
        columns = {name: column for name, one in value.items() if (column := _column(one))}
        longest = max(map(len, columns.values()))
        columns = {name: column for name, column in columns.items() if len(column) == longest}
        yield from (
            dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)
        )
    elif shape is Shape.SPLIT:
        names, rows = _split(value)
        yield from (dict(zip(names, row, strict=False)) for row in rows)
    elif shape is Shape.MEMBERS:
        yield from value.values()
    elif shape is Shape.TIMES:
        counts = all(one.isdigit() and float(one) < _COUNTS for one in value)
        for time, one in value.items():
            stamp = time if ":" in time else Number(time)
            if isinstance(one, dict):
                yield {"tick" if counts else "time": stamp, **one}
            elif _is_flat(one):
                yield dict(zip(("time", *POSITION), (stamp, *one), strict=False))
            else:
                yield {"tick" if counts else "time": stamp, "entities": one}
    else:
        yield from value


def _text(value: Any) -> str:
    """A value as JSON, with numbers as they were written."""
    if isinstance(value, Number):
        return value
    if isinstance(value, dict):
        members = (f"{json.dumps(name)}: {_text(one)}" for name, one in value.items())
        return f"{{{', '.join(members)}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_text, value))}]"
    return json.dumps(value)


def beginning_of(text: str) -> Any:
    """The value of a document that goes on: what has begun is closed behind its last value.

    None: not enough of it, or no JSON.
    """
    around: list[str] = []
    end, closing = 0, ""
    for mark in re.finditer(r'"(?:[^"\\]|\\.)*"|[][{},]', text, re.DOTALL):
        one = mark.group()
        if one in "[{":
            around.append("]" if one == "[" else "}")
        elif one[0] != '"' and around:
            if one != ",":
                around.pop()
            end = mark.start() + (one != ",")
            closing = "".join(reversed(around))
    try:
        return parse(text[:end] + closing)
    except (json.JSONDecodeError, RecursionError):
        return None


def is_followed(text: str) -> bool | None:
    """Whether something stands behind a document; None: nothing does yet."""
    try:
        parse(text)
    except json.JSONDecodeError as error:
        return error.msg == "Extra data"
    except RecursionError:
        return False
    return None


def lines_of(source: Source) -> Callable[[], bytes]:
    """The packets of a document as JSON lines; raises ``Unreadable``."""
    data = bytearray()
    while more := source.more():
        data += more
        if len(data) > _LONGEST:
            raise Unreadable("one JSON document of more than 64 MiB: write it as JSON lines")
    try:
        document = parse(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"JSON that cannot be read: {error}") from error
    found = find_shape(document)
    lines = _chunks(*found) if found else iter([bytes(data)])
    return lambda: next(lines, b"")


def _chunks(shape: Shape, value: Any) -> Iterator[bytes]:
    lines = bytearray()
    for one in _objects(shape, value):
        lines += _text(one).encode() + b"\n"
        if len(lines) > _LINES:
            yield bytes(lines)
            lines.clear()
    yield bytes(lines)
