"""Packets from JSON: values by their paths, entries of several entities, whole documents."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from enum import Enum, auto
from functools import cached_property
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from epic_cli.engine.packets import PacketBlock
from epic_cli.engine.refusals import Reading, Reason, Refusal
from epic_cli.engine.text import (
    FIELDS,
    OPTIONAL_FIELDS,
    DocumentCutter,
    EntriesScanner,
    JsonScanner,
    RecordScanner,
)
from epic_cli.recordings import BYTE_ORDER_MARK, LONGEST_OBJECT, Unreadable
from epic_cli.recordings.extras import parse_value
from epic_cli.recordings.lines import LineReader, find_numbers
from epic_cli.recordings.names.guess import (
    JOINED,
    AmbiguousLayout,
    describe_missing_header,
    find_entities,
    infer_layout,
    infer_row_layout,
    is_value,
    join_value,
    list_starred,
)
from epic_cli.recordings.names.spellings import (
    EYES,
    OTHER_WORDS,
    POSITION_WORDS,
    VELOCITY_WORDS,
    is_time_name,
    parse_component,
    split_name,
)
from epic_cli.recordings.read_spec import (
    POSITION,
    VELOCITY,
    ReadSpec,
    find_star,
    list_used_columns,
    sort_columns,
    split_at_stars,
    split_escaped,
    split_joined,
    split_path,
    write_column,
    write_path,
)

if TYPE_CHECKING:
    from epic_cli.recordings import ByteSource
    from epic_cli.recordings.extras import Extras


#: What is looked at of the first object: this many levels, entries of an array, and names in all.
DEEPEST, _WIDEST, _MOST = 8, 16, 500


class JsonNumber(str):
    """A JSON number as it was written: the engine rounds it once, to each precision."""


class Object(dict[str, Any]):
    """A JSON object; ``twice`` are repeated names, ``pairs`` all members if there are any."""

    twice: frozenset[str] = frozenset()
    pairs: tuple[tuple[str, Any], ...] = ()


def parse(text: str) -> Any:
    """Parse JSON with numbers as written.

    Raises ``json.JSONDecodeError`` and ``RecursionError``.
    """
    return json.loads(
        text,
        parse_float=JsonNumber,
        parse_int=JsonNumber,
        parse_constant=JsonNumber,
        object_pairs_hook=_make_object,
    )


def _make_object(pairs: list[tuple[str, Any]]) -> Object:
    made = Object(pairs)
    if len(made) < len(pairs):
        counts = Counter(name for name, _ in pairs)
        made.twice = frozenset(name for name, count in counts.items() if count > 1)
        made.pairs = tuple(pairs)
    return made


def write_text(value: str | float | None) -> str:
    """Return a single value as the text of a table's cell."""
    if value is None:
        return ""
    return value if isinstance(value, str) else str(int(value))


def is_unicode(text: str) -> bool:
    """Return True if a text has no unpaired surrogates."""
    return not any("\ud800" <= character <= "\udfff" for character in text)


def look_up(item: Any, path: tuple[str, ...]) -> tuple[Any, Reason | None]:
    """Return the value at the end of a path, or the reason why there is none."""
    for name in path:
        if isinstance(item, Object) and name in item:
            if name in item.twice:
                return None, Reason.KEY_TWICE
            item = item[name]
        elif isinstance(item, list) and name.isdigit() and int(name) < len(item):
            item = item[int(name)]
        elif name.isdigit() and int(name) < len(numbers := _read_vector(item)):
            item = numbers[int(name)]
        elif "+" in name and isinstance(item, dict) and item.keys() >= {*name.split("+")}:
            item = join_value("entity", name, (write_text(item[part]) for part in name.split("+")))
        else:
            return None, Reason.KEY_MISSING
    return item, None


def find_single_values(item: Any, most: int = _MOST) -> dict[str, str]:
    """Return the single values below a value, as texts by their paths, up to a limit."""
    values: dict[str, str] = {}
    _add_values(item, (), values, most)
    return values


def _add_values(value: Any, path: tuple[str, ...], into: dict[str, str], most: int) -> None:
    if len(path) > DEEPEST or len(into) >= most:
        return
    if isinstance(value, dict):
        for name, below in value.items():
            if is_unicode(name):
                _add_values(below, (*path, name), into, most)
    elif isinstance(value, list):
        for index, below in enumerate(value[:_WIDEST]):
            _add_values(below, (*path, str(index)), into, most)
    else:
        into[write_path(path)] = write_text(value)
        for index, number in enumerate(_read_vector(value)):
            into[write_path((*path, str(index)))] = number


def _add_typed_values(value: Any, path: tuple[str, ...], into: Extras) -> None:
    """Add the single values below a value, by their paths."""
    if len(path) > DEEPEST or len(into) >= _MOST:
        return
    if isinstance(value, dict):
        for name, below in value.items():
            if is_unicode(name):
                _add_typed_values(below, (*path, name), into)
    elif isinstance(value, list):
        for index, below in enumerate(value[:_WIDEST]):
            _add_typed_values(below, (*path, str(index)), into)
    elif value is not None:
        into[write_path(path)] = parse_value(value) if isinstance(value, JsonNumber) else value


def _read_vector(value: Any) -> tuple[str, ...]:
    """Return the numbers of a vector that is written as a text."""
    if not isinstance(value, str) or isinstance(value, JsonNumber):
        return ()
    return find_numbers(value) or ()


#: Such a document is held in memory.
_LONGEST = 64 << 20

#: What names of columns and rows beside one another are called.
_NAMES = ("columns", "fields", "header", "headers", "names")
_ROWS = ("data", "rows", "values", "points", "records")

#: Whole-numbered members of up to so much count, and are no times.
_COUNTS = 1e8

_DEEPEST, _LINES = 32, 65536

#: A time and a position in an array are this many values.
_STATE = 3


class Shape(Enum):
    """A shape of JSON documents that have packets."""

    COLUMNS = auto()
    SPLIT = auto()
    MEMBERS = auto()  # an object with a member for each
    TIMES = auto()  # the same, and the names are their times
    ARRAYS = auto()


def find_shape(value: Any, deep: int = 0) -> tuple[Shape, Any] | None:
    """Return the shape of a document and the value that has the packets, or None.

    The largest such value is taken, as it may be among others.
    """
    if deep > _DEEPEST or not isinstance(value, dict | list) or not value:
        return None
    if isinstance(value, dict):
        value = _join_streams(value)
        shape = _find_object_shape(value)
    else:
        arrays = isinstance(value[0], list) and len(value[0]) >= _STATE and _is_flat(value[0])
        shape = Shape.ARRAYS if arrays else None
    if shape is not None:
        return shape, value
    members = value.values() if isinstance(value, dict) else value[:1]
    found = [one for member in members if (one := find_shape(member, deep + 1))]
    return max(found, key=lambda one: len(one[1]), default=None)


def _join_streams(value: dict[str, Any]) -> dict[str, Any]:
    """Return the columns of an object that has a stream for each, as Strava's files do."""
    if not all(
        isinstance(item, dict) and isinstance(item.get("data"), list) for item in value.values()
    ):
        return value
    columns = {name: one["data"] for name, one in value.items()}
    places = columns.pop("latlng", [])
    if all(isinstance(place, list) and len(place) == 2 for place in places):
        columns |= {name: [place[at] for place in places] for at, name in enumerate(("lat", "lng"))}
    return columns


def _find_object_shape(value: dict[str, Any]) -> Shape | None:
    names, rows = _split_names_and_rows(value)
    if names and rows:
        return Shape.SPLIT
    columns = [name for name, one in value.items() if _read_column(one) is not None]
    others = [name for name in value if name not in columns]
    if any(_is_time_name(name) for name in columns) and not any(
        _is_time_name(other) for other in others
    ):
        return Shape.COLUMNS
    if not all(map(is_value, value)) or not all(isinstance(v, dict | list) for v in value.values()):
        return None
    first = next(iter(value.values()))
    if isinstance(first, dict) and any(map(_is_time_name, first)):
        return Shape.MEMBERS if list(value) == list(map(str, range(len(value)))) else None
    return None if _has_times(first) else Shape.TIMES


def _split_names_and_rows(value: dict[str, Any]) -> tuple[list[str], list[Any]]:
    """Return the names and the rows of an object that holds them separately."""
    names: list[Any] = next(
        (value[name] for name in _NAMES if isinstance(value.get(name), list)), []
    )
    if not all(isinstance(item, str) and not isinstance(item, JsonNumber) for item in names):
        return [], []
    for name in _ROWS:
        rows = value.get(name)
        if isinstance(rows, list) and rows and isinstance(rows[0], list):
            return names, rows
    return [], []


def _read_column(value: Any) -> list[Any] | None:
    """Return the values of a column: an array, or an object by row numbers.

    None if it is neither.
    """
    if isinstance(value, dict) and list(value) == list(map(str, range(len(value)))):
        value = list(value.values())
    return value if isinstance(value, list) and len(value) > 1 and _is_flat(value) else None


def _is_flat(values: list[Any]) -> bool:
    return not any(isinstance(item, dict | list) for item in values)


def _is_time_name(name: str) -> bool:
    return is_time_name(split_name(name))


def _has_times(value: Any, deep: int = 0) -> bool:
    """Return True if a time is anywhere below a value."""
    if isinstance(value, dict):
        return any(map(_is_time_name, value)) or (
            deep < _DEEPEST and any(_has_times(item, deep + 1) for item in value.values())
        )
    return isinstance(value, list) and any(_has_times(item, deep + 1) for item in value[:1])


# -------------------------------------------------------------------------------------- reading


def _iterate_objects(shape: Shape, value: Any) -> Iterator[Any]:
    """Yield the objects of a document that are packets or contain packets."""
    if shape is Shape.COLUMNS:
        columns = {name: column for name, one in value.items() if (column := _read_column(one))}
        longest = max(map(len, columns.values()))
        columns = {name: column for name, column in columns.items() if len(column) == longest}
        yield from (
            dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)
        )
    elif shape is Shape.SPLIT:
        names, rows = _split_names_and_rows(value)
        yield from (dict(zip(names, row, strict=False)) for row in rows)
    elif shape is Shape.MEMBERS:
        yield from value.values()
    elif shape is Shape.TIMES:
        counts = all(each.isdigit() and float(each) < _COUNTS for each in value)
        for time, one in value.items():
            stamp = time if ":" in time else JsonNumber(time)
            if isinstance(one, dict):
                yield {"tick" if counts else "time": stamp, **one}
            elif _is_flat(one):
                yield dict(zip(("time", *POSITION), (stamp, *one), strict=False))
            else:
                yield {"tick" if counts else "time": stamp, "entities": one}
    else:
        yield from value


def _write_json_value(value: Any) -> str:
    """Return a value as JSON, with numbers as they were written."""
    if isinstance(value, JsonNumber):
        return value
    if isinstance(value, dict):
        members = (f"{json.dumps(name)}: {_write_json_value(one)}" for name, one in value.items())
        return f"{{{', '.join(members)}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_write_json_value, value))}]"
    return json.dumps(value)


#: A document that is nested deeper than this has no packets.
_NESTED = 512


def parse_beginning(text: str) -> Any:
    """Return the value of a document's beginning, closed behind its last whole value.

    None if that is too little, or no JSON.
    """
    around: list[str] = []
    end = open_there = 0  # and how many containers are open there
    for mark in re.finditer(r'"(?:[^"\\]|\\.)*"|[][{},]', text, re.DOTALL):
        one = mark.group()
        if one in "[{":
            around.append("]" if one == "[" else "}")
        elif one[0] != '"' and around:
            if one != ",":
                around.pop()
            end = mark.start() + (one != ",")
            open_there = len(around)
    if open_there > _NESTED:
        return None
    try:
        return parse(text[:end] + "".join(reversed(around[:open_there])))
    except (json.JSONDecodeError, RecursionError):
        return None


def is_followed(text: str) -> bool | None:
    """Return True if text follows a document, None if nothing does yet."""
    try:
        parse(text)
    except json.JSONDecodeError as error:
        return error.msg == "Extra data"
    except RecursionError:
        return False
    return None


def make_lines(source: ByteSource) -> Callable[[], bytes]:
    """Return a function that yields a document's packets as JSON lines; raises ``Unreadable``."""
    data = bytearray()
    while more := source.read_more():
        data += more
        if len(data) > _LONGEST:
            raise Unreadable("one JSON document of more than 64 MiB: write it as JSON lines")
    try:
        document = parse(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"JSON that cannot be read: {error}") from error
    found = find_shape(document)
    lines = _write_lines(*found) if found else iter([bytes(data)])
    return lambda: next(lines, b"")


def _write_lines(shape: Shape, value: Any) -> Iterator[bytes]:
    lines = bytearray()
    for item in _iterate_objects(shape, value):
        lines += _write_json_value(item).encode() + b"\n"
        if len(lines) > _LINES:
            yield bytes(lines)
            lines.clear()
    yield bytes(lines)


#: So much of a document may stand before its array, with the array's first object: as much as an
#: object may have.
MOST_ABOVE = LONGEST_OBJECT

#: This many containers may be around it.
_AROUND = 32

_BLANK = re.compile(r"[ \t\r\n]*")
_COMMA = re.compile(r"[ \t\r\n]*,[ \t\r\n]*")
_KEY = re.compile(r'"(?:[^"\\]|\\.)*"[ \t\r\n]*:[ \t\r\n]*', re.DOTALL)
_VALUE = json.JSONDecoder(parse_int=str, parse_float=str)  # Python limits the digits of an int


class Envelope(NamedTuple):
    """The place of the array of packets: its beginning in bytes, and the containers around it.

    ``begin`` does not count a byte order mark.
    """

    begin: int
    around: int


class EnvelopeScan(Enum):
    """The reason why no ``Envelope`` was found while scanning for the array of packets."""

    NONE = auto()  # there is no such array
    SHORT = auto()  # more of it is needed


def find_envelope(
    begin: bytes, final: bool, layout: ReadSpec | None = None
) -> Envelope | EnvelopeScan:
    """Find the array of packets in a document's object, if the object is the whole document.

    The array's first entry has to have the names of a packet, like an object on a line. With
    ``final``, ``begin`` is the whole document.
    """
    mark = BYTE_ORDER_MARK.decode("latin-1")
    text = begin[:MOST_ABOVE].decode("latin-1").removeprefix(mark)  # a character for each byte
    brace = _skip_pattern(_BLANK, text, 0)
    if text[brace : brace + 1] != "{":
        return EnvelopeScan.NONE
    found = _find_array(text, brace, 1, layout or ReadSpec())
    if found is EnvelopeScan.SHORT and (final or len(begin) >= MOST_ABOVE):
        return EnvelopeScan.NONE
    if isinstance(found, Envelope) and _has_second_value(text):
        return EnvelopeScan.NONE
    return found


def _has_second_value(text: str) -> bool:
    """Return True if another value follows the first."""
    try:
        _, end = _VALUE.raw_decode(text, _skip_pattern(_BLANK, text, 0))
    except (json.JSONDecodeError, RecursionError):
        return False
    return bool(text[end:].strip())


def _find_array(text: str, begin: int, around: int, layout: ReadSpec) -> Envelope | EnvelopeScan:
    """Look for the array of packets in the object that begins here, and in the objects inside."""
    at = _skip_pattern(_BLANK, text, begin + 1)
    while at < len(text):
        key = _KEY.match(text, at)
        if key is None:
            return EnvelopeScan.NONE if text[at] == "}" else EnvelopeScan.SHORT
        at = key.end()
        if text[at : at + 1] == "[":
            first = _skip_pattern(_BLANK, text, at + 1)
            if text[first : first + 1] in ("{", ""):
                found = _infer_first_layout(text, first, layout)
                if found is not EnvelopeScan.NONE:
                    return _check_single_array(text, at, around, layout, found)
        elif text[at : at + 1] == "{" and around < _AROUND:
            below = _find_array(text, at, around + 1, layout)
            if below is not EnvelopeScan.NONE:
                return below
        try:
            _, at = _VALUE.raw_decode(text, at)
        except (json.JSONDecodeError, RecursionError):
            return EnvelopeScan.SHORT
        comma = _COMMA.match(text, at)
        if comma is None:
            return EnvelopeScan.NONE if text[at:].strip() else EnvelopeScan.SHORT
        at = comma.end()
    return EnvelopeScan.SHORT


def _check_single_array(
    text: str, at: int, around: int, layout: ReadSpec, found: ReadSpec | EnvelopeScan
) -> Envelope | EnvelopeScan:
    """Return the array that begins here, unless the next array is another entity's packets."""
    if isinstance(found, EnvelopeScan):
        return found
    with suppress(json.JSONDecodeError, RecursionError):
        _, end = _VALUE.raw_decode(text, at)
        comma = _COMMA.match(text, end)
        key = _KEY.match(text, comma.end()) if comma else None
        if key is not None and text[key.end() : key.end() + 1] == "[":
            first = _skip_pattern(_BLANK, text, key.end() + 1)
            if _infer_first_layout(text, first, layout) == found:
                return EnvelopeScan.NONE
    return Envelope(at + 1, around)


def _infer_first_layout(text: str, begin: int, layout: ReadSpec) -> ReadSpec | EnvelopeScan:
    """Return the layout of the first of these objects that is not empty."""
    try:
        while True:
            _, end = _VALUE.raw_decode(text, begin)
            item = parse(text[begin:end])
            try:
                return infer_object_layout(layout, item)
            except AmbiguousLayout as ambiguous:
                if ambiguous.facts.get("readings"):
                    return layout  # its reader says what may be meant
                comma = _COMMA.match(text, end)
                if comma is None or not has_no_entries(layout, item):
                    return EnvelopeScan.NONE
                begin = comma.end()
    except (json.JSONDecodeError, RecursionError):
        return EnvelopeScan.SHORT


def _skip_pattern(pattern: re.Pattern[str], text: str, begin: int) -> int:
    found = pattern.match(text, begin)
    return found.end() if found else begin


#: Members that have a position and are no entities.
_NO_ENTITIES = EYES | OTHER_WORDS | {"origin"}

#: Words of what several have in common, so that numbers are given in each.
_SIDES = {"team", "side", "squad", "faction"}

#: The rank of a position that stands under the name of a thing.
_THING = 3

#: This many containers of an object may have its entries.
_MOST_CONTAINERS = 64

#: Arrays of states that stand together are of an entity each.
_SEVERAL = 2


class Entries(NamedTuple):
    """The paths to an object's entries, and from each entry to its fields.

    Entries with their own times are states: those of an array, or of an array in place of an entry,
    have no names of their own. If the entries are the object's own members, only members with a
    position count. ``singles`` are paths to further entries beside these, each under its name.
    """

    steps: tuple[str, ...]
    paths: dict[str, tuple[str, ...]]
    singles: tuple[tuple[str, ...], ...] = ()

    def iterate_entries(self, item: Any) -> Iterator[tuple[str, Any]]:
        """Yield an object's entries with their names or numbers; none for null."""
        for single in self.singles:
            state, _ = look_up(item, single)
            if isinstance(state, dict):
                yield single[-1], state
        found, _ = look_up(item, self.steps)
        timed = "time" in self.paths
        pairs: Iterable[tuple[str, Any]] = (
            found.pairs or found.items()
            if isinstance(found, Object)
            else (("" if timed else str(at), one) for at, one in enumerate(_get_list(found)))
        )
        for name, entry in pairs:
            several = timed and any(isinstance(item, dict) for item in _get_list(entry))
            states = entry if several else (entry,)
            moves = not self.steps and _is_velocity(name)
            for state in states:
                if state is not None and (self.steps or (self._has_position(state) and not moves)):
                    yield name, state

    def _has_position(self, entry: Any) -> bool:
        places = [self.paths[axis] for axis in POSITION if axis in self.paths]
        return isinstance(entry, dict | list) and any(not look_up(entry, at)[1] for at in places)


class Levels(NamedTuple):
    """The paths to nested entries of an object, and to the fields at each level.

    ``steps`` lead from an entry of one level to those of the next; ``paths`` begin with those of
    the object itself. As in ``Entries``, states in an array have no names of their own.
    """

    steps: tuple[tuple[str, ...], ...]
    paths: tuple[dict[str, tuple[str, ...]], ...]

    def iterate_entries(self, item: Any) -> Iterator[tuple[str, tuple[Any, ...]]]:
        """Yield the innermost entries: their joined names, and the objects on the way to each."""
        return self._iterate_entries((), (item,))

    def _iterate_entries(
        self, names: tuple[str, ...], way: tuple[Any, ...]
    ) -> Iterator[tuple[str, tuple[Any, ...]]]:
        at = len(way) - 1
        if at == len(self.steps):
            yield "/".join(names), way
            return
        found, _ = look_up(way[-1], self.steps[at])
        last = at + 1 == len(self.steps)
        if isinstance(found, Object):
            for name, entry in found.pairs or found.items():
                if entry is not None:
                    yield from self._iterate_entries((*names, name), (*way, entry))
            return
        unnamed = last and "time" in self.paths[-1]
        for index, entry in enumerate(_get_list(found)):
            if entry is not None:
                yield from self._iterate_entries(
                    names if unnamed else (*names, str(index)), (*way, entry)
                )


def find_levels(layout: ReadSpec) -> Levels | None:
    """Return the levels of a layout with nested entries, or None for at most one level."""
    columns = {field: split_at_stars(column) for field, column in layout.places.items()}
    deepest = max(columns.values(), key=len, default=())
    if len(deepest) <= _SEVERAL:
        return None
    steps = tuple(split_path(step) if step else () for step in deepest[:-1])
    paths: tuple[dict[str, tuple[str, ...]], ...] = tuple({} for _ in deepest)
    for field, parts in columns.items():
        paths[len(parts) - 1][field] = split_path(parts[-1]) if parts[-1] else ()
    return Levels(steps, paths)


def _take_first_state(entry: Any) -> Any:
    return next((item for item in _get_list(entry) if isinstance(item, dict)), entry)


def _get_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def find_entries(layout: ReadSpec) -> Entries | None:
    """Return the entries of a layout with several entities in an object, or None."""
    places = list_starred(layout)
    if not places or is_wide(layout) or find_levels(layout) is not None:
        return None
    paths = {}
    before: list[tuple[str, ...]] = []
    for field, path in places.items():
        at = find_star(path)
        outer = split_escaped(path[:at].rstrip("."), "|")
        before = [split_path(name) if name else () for name in outer]
        behind = path[at + 1 :].removeprefix(".")
        paths[field] = split_path(behind) if behind else ()
    *singles, steps = before
    return Entries(steps, paths, tuple(singles))


def is_wide(layout: ReadSpec) -> bool:
    """Return True if entities are distinguished within names: ``p1_x`` and ``p2_x``."""
    if find_levels(layout) is not None:
        return False
    for path in list_starred(layout).values():
        at = find_star(path)
        around = path[:at][-1:], path[at + 1 :][:1]
        if around[0] not in ("", ".", "|") or around[1] not in ("", "."):
            return True
    return False


def _add_singles(layout: ReadSpec, item: Any) -> ReadSpec:
    """Add entries of the same form beside a container to the layout: a ball beside the cars."""
    entries = find_entries(layout)
    if entries is None or not entries.steps or entries.singles or "time" in entries.paths:
        return layout
    beside, _ = look_up(item, entries.steps[:-1])
    axes = [entries.paths[axis] for axis in POSITION if axis in entries.paths]
    found = [
        write_path((*entries.steps[:-1], name))
        for name, value in (beside.items() if isinstance(beside, dict) else ())
        if isinstance(value, dict)
        and is_unicode(name)
        and not _NO_ENTITIES & set(split_name(name).words)
        and not any(look_up(value, path)[1] for path in axes)
    ]
    before = write_path(entries.steps)
    many = "|".join([*found, before])
    columns = tuple(
        (field, path.replace(before, many, 1) if find_star(path) >= 0 else path)
        for field, path in layout.columns or ()
    )
    singles = (look_up(item, split_path(name))[0] for name in found)
    above = next((height for single in singles for height in _find_height(single, axes)), None)
    if above is not None and "z" not in dict(columns):  # a ball flies, and players do not
        columns = sort_columns({**dict(columns), "z": f"{many}.*.{write_path(above)}"})
        return layout._replace(columns=columns, axes="xyz", factors=None)
    return layout._replace(columns=columns)


def _find_height(entry: Any, axes: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Return the paths of a third number whose name resembles those of x and y in an entry."""
    paths = ((*path[:-1], name) for path in axes for name in ("z", "Z"))
    return [path for path in paths if isinstance(look_up(entry, path)[0], JsonNumber)][:1]


def infer_object_layout(given: ReadSpec, item: Any) -> ReadSpec:
    """Infer the layout of an object of several entities, by names or by entries.

    See ``infer_layout``.
    """
    values = find_single_values(item)
    flat = {name: value for name, value in values.items() if not _is_in_array(name)}
    levels = find_levels(given)
    if levels is not None:
        return infer_layout(given, {**_collect_level_values(given, levels, item), **flat})
    try:
        wide = (
            given if list_starred(given) and not is_wide(given) else infer_row_layout(given, flat)
        )
    except AmbiguousLayout:
        if is_wide(given):
            raise
    else:
        names = find_entities(list_starred(wide), tuple(flat)) if is_wide(wide) else ()
        if names and all(len(split_path(name)) == 1 for name in names):
            return wide
    return _infer_entry_layout(given, item, flat)


def _collect_level_values(given: ReadSpec, levels: Levels, item: Any) -> dict[str, str]:
    """Return the values on the way to the first innermost entry, by their paths with stars."""
    _, way = next(levels.iterate_entries(item), ("", (item,)))
    deepest = max(list_starred(given).values(), key=lambda column: len(split_at_stars(column)))
    found: dict[str, str] = {}
    begin = 0
    for entry in way[1:]:
        begin += find_star(deepest[begin:]) + 1
        before = deepest[:begin]
        values = find_single_values(entry)
        found |= {f"{before}.{path}" if path else before: one for path, one in values.items()}
    return found


def _is_in_array(path: str) -> bool:
    """Return True if a path leads to an object in an array."""
    steps = split_path(path)
    return any(a.isdigit() and not b.isdigit() for a, b in pairwise(steps))


def _infer_entry_layout(given: ReadSpec, item: Any, values: Mapping[str, str]) -> ReadSpec:
    """Infer the layout of an object that may have an entry for each of several entities."""
    entries = find_entries(given)
    if entries is not None:
        path = next(iter(list_starred(given).values()))
        first = _collect_entry_values(item, entries.steps, path[: find_star(path)])
        return infer_layout(given, {**first, **values})
    alone, ambiguous = None, AmbiguousLayout(Reason.COLUMN_UNCLEAR, field="x", names=tuple(values))
    try:
        alone = infer_layout(given, values)
        place = parse_component(split_name(alone.places.get("x", "")))
        if "x" in given.places or place is None or place.rank < _THING:
            return alone
    except AmbiguousLayout as error:
        ambiguous = error
    containers = list(islice(_find_containers(item, ()), _MOST_CONTAINERS))
    if ambiguous.reason is Reason.ENTITIES_IN_A_ROW and len(_find_member_objects(item)) > 1:
        containers.append(())
    found = _infer_container_layouts(given, item, values, containers)
    unclear = ambiguous.reason is Reason.COLUMN_UNCLEAR
    if not found and unclear:  # one of them may be there as yet
        here = _infer_container_layouts(given, item, values, [()])
        found = [spec for spec in here if _has_time_members(spec, item)]
    found = _select_outermost(found)
    parents = {_find_parent(spec) for spec in found}
    if len(found) > 1 and len(parents) == 1:
        found = (
            _infer_container_layouts(
                given, item, values, [parent[0] for parent in parents if parent]
            )
            or found
        )
    seen = [name for spec in found for name in _find_cameras(spec, item)]
    if seen and alone is not None:
        return alone
    if len(found) > 1 or seen:
        readings = tuple(Reading(tuple(list_starred(spec).items())) for spec in found)
        names = tuple(next(iter(list_starred(spec).values())) for spec in found)
        if seen and "readings" in ambiguous.facts:
            raise ambiguous.add_readings(readings)
        facts = {"field": "x", "names": names, "readings": readings}
        raise AmbiguousLayout(Reason.COLUMN_AMBIGUOUS, **facts) from ambiguous
    if found:
        return _extend_names(_add_singles(found[0], item), item)
    if alone is not None:
        return alone
    if unclear:
        facts = {**ambiguous.facts, "names": _list_names(item, values, containers)}
        raise AmbiguousLayout(ambiguous.reason, **facts) from ambiguous
    raise ambiguous


def _extend_names(layout: ReadSpec, item: Any) -> ReadSpec:
    """Extend the entity's name in the layout where several entries of one moment share a name."""
    entries = find_entries(layout)
    path = entries.paths.get("entity", ()) if entries is not None else ()
    if entries is None or len(path) != 1 or "time" in entries.paths:
        return layout
    there = [entry for _, entry in entries.iterate_entries(item) if isinstance(entry, dict)]
    names = [str(entry.get(path[0])) for entry in there]
    for other in there[0] if len(set(names)) < len(names) else ():
        whole = {(str(entry.get(other)), name) for entry, name in zip(there, names, strict=True)}
        side = _SIDES & set(split_name(other).words)
        plain = "." not in other and all(
            isinstance(value := entry.get(other), str)
            and (side or not isinstance(value, JsonNumber))
            for entry in there
        )
        if plain and len(whole) == len(names):
            column = layout.places["entity"]
            at = find_star(column) + 2
            joined = f"{column[:at]}{write_column(other)}+{column[at:]}"
            columns = {**dict(layout.columns or ()), "entity": joined}
            return layout._replace(columns=sort_columns(columns))
    return layout


def _find_cameras(layout: ReadSpec, item: Any) -> list[str]:
    """Return the names of entries that are a camera or a target, and no entity."""
    entries = find_entries(layout)
    if entries is None or entries.steps:
        return []
    path = next(entries.paths[axis] for axis in POSITION if axis in entries.paths)
    names = (
        name for name, entry in entries.iterate_entries(item) if look_up(entry, path)[1] is None
    )
    return [name for name in names if set(split_name(name).words) & _NO_ENTITIES]


def _infer_container_layouts(
    given: ReadSpec, item: Any, values: Mapping[str, str], containers: Iterable[tuple[str, ...]]
) -> list[ReadSpec]:
    """Infer a layout for the entries of each of these containers.

    Containers that are one entity, whose entries have no position, or whose names are ambiguous
    have none.
    """
    found = []
    for steps in containers:
        if steps and _is_single_entity(look_up(item, steps)[0]):
            continue
        within = f"{write_path(steps)}."
        others = {name: value for name, value in values.items() if not name.startswith(within)}
        with suppress(AmbiguousLayout):
            layout = infer_layout(given, {**_collect_entry_values(item, steps), **others})
            if set(POSITION) & set(list_starred(layout)):
                found.append(layout)
    return found


def _is_single_entity(container: Any) -> bool:
    """Return True if a container has the vectors of one entity."""
    if not isinstance(container, dict):
        return False
    words = POSITION_WORDS | VELOCITY_WORDS | {"rot", "rotation", "orientation", "angular", "acc"}
    vectors = [name for name, value in container.items() if isinstance(value, dict | list)]
    return all(set(split_name(name).words) <= words for name in vectors)


def _has_time_members(layout: ReadSpec, item: Any) -> bool:
    """Return True if the entries have times of their own where the layout looks for them."""
    entries = find_entries(layout)
    if entries is None or "time" not in entries.paths:
        return True
    return all(
        look_up(entry, entries.paths["time"])[1] is None
        for _, entry in entries.iterate_entries(item)
    )


def _select_outermost(found: list[ReadSpec]) -> list[ReadSpec]:
    """Leave out containers that lie inside a container with several, or around a single one."""
    steps = [entries.steps for entries in map(find_entries, found) if entries is not None]
    within = Counter(step[:-1] for step in steps if step[:-1] in steps and step)
    return [
        layout
        for layout, one in zip(found, steps, strict=True)
        if within[one] != 1 and (not one or within[one[:-1]] < _SEVERAL)
    ]


def _find_parent(layout: ReadSpec) -> tuple[tuple[str, ...], Any] | None:
    """Return the container of states with times of their own, and their layout."""
    entries = find_entries(layout)
    if entries is None or not entries.steps or "time" not in entries.paths:
        return None
    return entries.steps[:-1], tuple(sorted(entries.paths.items()))


def _find_member_objects(item: Any) -> list[Any]:
    """Return the members of an item that are objects, but for velocities."""
    if not isinstance(item, dict):
        return []
    return [
        value for name, value in item.items() if isinstance(value, dict) and not _is_velocity(name)
    ]


def _is_velocity(name: str) -> bool:
    return bool(VELOCITY_WORDS.intersection(split_name(name).words[-1:]))


def _list_names(
    item: Any, values: Mapping[str, str], containers: Iterable[tuple[str, ...]]
) -> tuple[str, ...]:
    """Return the names of an object's values, and once those that its entries share."""
    within = tuple(f"{write_path(steps)}." for steps in containers)
    stars = dict.fromkeys(
        name for steps in containers for name in _collect_entry_values(item, steps)
    )
    return (*(name for name in values if not name.startswith(within)), *stars)


def has_no_entries(given: ReadSpec, item: Any) -> bool:
    """Return True for an object that may have entities later, and has none yet."""
    levels = find_levels(given)
    if levels is not None:
        return next(levels.iterate_entries(item), None) is None
    entries = find_entries(given)
    if entries is not None:
        found, _ = look_up(item, entries.steps)
        return found is None or found in ([], {})
    values: Mapping[str, Any] = item if isinstance(item, dict) else {}
    return any(value in ([], {}) for value in values.values())


def _find_containers(item: Any, steps: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the paths of arrays or objects that hold objects or arrays."""
    if not isinstance(item, dict) or len(steps) > DEEPEST:
        return
    for name, value in item.items():
        if not is_unicode(name):
            continue
        entries = value.values() if isinstance(value, dict) else _get_list(value)
        if any(isinstance(entry, dict | list) for entry in entries):
            yield (*steps, name)
        yield from _find_containers(value, (*steps, name))


def _collect_entry_values(
    item: Any, steps: tuple[str, ...], before: str | None = None
) -> dict[str, str]:
    """Return the values of the first entry, by their paths with a star for the entry's name.

    The paths begin with ``before``. It is not known which of an object's own members are entries.
    """
    found, _ = look_up(item, steps)
    entries = list(found.values()) if isinstance(found, dict) else _get_list(found)
    firsts = [_take_first_state(entry) for entry in entries if entry is not None]
    moves = isinstance(item, dict) and any(map(_is_velocity, item))
    if steps:  # the first that has most: what is missing has no axes
        firsts = (
            [max(firsts[:_WIDEST], key=lambda one: len(find_single_values(one)))] if firsts else []
        )
    else:
        firsts = _find_member_objects(item) or ([] if moves else firsts)
    if before is None:
        before = f"{write_path(steps)}." if steps else ""
    return {
        f"{before}*.{path}": value
        for first in reversed(firsts)
        for path, value in find_single_values(first).items()
        if path
    }


#: Fields that may come in a later object, under their own names.
_LATER = (*VELOCITY, *OPTIONAL_FIELDS)

#: Those that each of several entities has for itself.
_OWN = (*VELOCITY, "entity", "teleport", "delta")

#: How an object of another language begins: Python's, Lua's.
_OF_OTHERS = re.compile(r'\s*\{\s*[^"\s]')

#: The names of entities are kept for this many lists of names.
_MOST_HEADS = 64

#: This many objects that do not say what is what are refused; after them nothing more is read.
_PATIENCE = 5


class JsonlReader(LineReader):
    """A reader of a packet from each line: an object of numbers and, for the entity, text.

    An object may have an entry for each of several entities; each entry is then a packet.
    """

    longest = LONGEST_OBJECT

    #: The lines are those of the recording.
    has_lines = True

    def begin(self) -> None:
        """Set the reader's own state, before the first line."""
        self._paths: dict[str, tuple[str, ...]] = {}
        self._entries: Entries | None = None
        self._levels: Levels | None = None
        self._empty: Refusal | None = None
        #: Paths that together have a field.
        self._joined: dict[str, tuple[tuple[str, ...], ...]] = {}
        #: The paths of each of several entities, by the names that an object has.
        self._beside: dict[tuple[str, ...], dict[str, dict[str, tuple[str, ...]]]] = {}
        self._ambiguous = 0

    def take_line(self, block: PacketBlock, line: str, raw: bytes, begin: int) -> None:
        """Take the packets of one line."""
        try:
            item = parse(line.rstrip())
        except json.JSONDecodeError as error:
            self._refuse_json(block, line, raw, error)
            return
        except RecursionError:
            self.refuse(block, raw, 0, Reason.NESTED_TOO_DEEP)
            return
        if isinstance(item, list) and len(item) >= _STATE and _is_flat(item):
            item = Object({str(index): one for index, one in enumerate(item)})
        if not isinstance(item, dict):
            items = item if isinstance(item, list) else ()
            found = sum(isinstance(entry, dict) for entry in items)
            self.refuse(block, raw, 0, Reason.NOT_AN_OBJECT, found=found)
        elif self.records is not None or self._settle_layout(block, item, raw):
            self._take_object(block, item, raw, begin)

    def _refuse_json(
        self, block: PacketBlock, line: str, raw: bytes, error: json.JSONDecodeError
    ) -> None:
        """Refuse a line that is no JSON; for objects of other languages, propose a pattern."""
        if self.records is None and self.has_lines and _OF_OTHERS.match(line):
            from epic_cli.recordings.entries.sentences.reader import propose

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
        if self._levels is not None:
            for name, way in self._levels.iterate_entries(item):
                self._take_nested_entry(block, name, way, raw, begin)
            return
        entries = None if self._entries is None else list(self._entries.iterate_entries(item))
        fields = self._look_up_fields(block, item, self._paths, raw) if entries != [] else None
        if fields is None:
            return
        for field, parts in self._joined.items():
            texts = (write_text(look_up(item, part)[0]) for part in parts)
            fields[field] = join_value(field, self.layout.places[field], texts)
        if is_wide(self.layout):
            for name, own_paths in self._find_entity_paths(item).items():
                own = self._look_up_fields(block, item, own_paths, raw)
                if own is not None and any(own.get(axis) for axis in POSITION):
                    self.add(block, {**fields, **own, "entity": name}, begin, raw)
            return
        if self._entries is None or entries is None:
            self.add(block, fields, begin, raw)
            return
        for name, entry in entries:
            paths = self._entries.paths
            flat = not self.layout.partial and "z" in paths and look_up(entry, paths["z"])[1]
            if flat:  # beside others that fly
                paths = {field: path for field, path in paths.items() if field != "z"}
            own = self._look_up_fields(block, entry, paths, raw)
            if own is not None:
                own |= {"z": "0"} if flat else {}
                plain = name.encode("utf-8", "replace").decode()  # half a character is none
                entity = own.get("entity") or fields.get("entity") or plain
                self.add(block, {**fields, **own, "entity": entity}, begin, raw)

    def _take_nested_entry(
        self, block: PacketBlock, name: str, way: tuple[Any, ...], raw: bytes, begin: int
    ) -> None:
        """Take the packet of a nested entry; ``way`` are the objects that lead there."""
        assert self._levels is not None
        fields: dict[str, str] = {}
        for entry, paths in zip(way, self._levels.paths, strict=True):
            own = self._look_up_fields(block, entry, paths, raw)
            if own is None:
                return
            fields |= own
        plain = name.encode("utf-8", "replace").decode()  # half a character is none
        self.add(block, {**fields, "entity": fields.get("entity") or plain}, begin, raw)

    def _find_entity_paths(self, item: dict[str, Any]) -> dict[str, dict[str, tuple[str, ...]]]:
        """Return the field paths of each entity in an object that has names for each."""
        key = tuple(item)
        if key not in self._beside:
            if len(self._beside) >= _MOST_HEADS:
                self._beside.clear()
            names = tuple(find_single_values(item, sys.maxsize))  # a line is of limited length
            self._beside[key] = {
                split_path(name)[0]: {field: split_path(names[at]) for field, at in places.items()}
                for name, places in find_entities(list_starred(self.layout), names).items()
            }
        return self._beside[key]

    def _look_up_fields(
        self, block: PacketBlock, item: Any, paths: dict[str, tuple[str, ...]], raw: bytes
    ) -> dict[str, str] | None:
        """Return the fields of an object at these paths.

        None if one is wrong and the line refused.
        """
        fields: dict[str, str] = {}
        for field, path in paths.items():
            value, wrong = look_up(item, path)
            wrong = wrong or _check_type(field, value)
            needed = field == "time" or (field in POSITION and not self.layout.partial)
            if wrong is Reason.KEY_MISSING and not needed:
                continue
            if wrong:
                expected = self._list_needed_columns() if wrong is Reason.KEY_MISSING else ()
                caret = self.find_field(raw, field)
                label = self.name_field(field)
                self.refuse(block, raw, caret, wrong, field=label, expected=expected)
                return None
            fields[field] = write_text(value)
        return fields

    def _settle_layout(self, block: PacketBlock, item: dict[str, Any], raw: bytes) -> bool:
        """Make the plan by which lines are read; False if this object is ambiguous."""
        given = self.layout
        try:
            layout = self._infer_layout(item)
            without = self.drop_counter(layout)
            if without is not None:
                self.layout = without
                layout = self._infer_layout(item)
                self.layout = given
            layout = self.add_sequence(layout)
        except AmbiguousLayout as ambiguous:
            if has_no_entries(self.layout, item):
                self._empty = self._empty or Refusal(
                    self._line, 1, raw, 0, ambiguous.reason, **ambiguous.facts
                )
                return False
            facts, reason = self.propose_columns(ambiguous).facts, ambiguous.reason
            if reason is Reason.COLUMN_UNCLEAR and all(map(str.isdigit, item)):  # an array
                reason, facts = Reason.NO_HEADER, describe_missing_header(find_single_values(item))
            self.refuse(block, raw, 0, reason, **facts)
            self._ambiguous += 1
            self.ended = self._ambiguous == _PATIENCE or "readings" in facts
            return False
        self._entries = find_entries(layout)
        self._levels = find_levels(layout)
        if self._levels is not None:
            taken = {*dict(layout.columns or ()), *layout.places.values()}
            later = {field: (field,) for field in _LATER if field not in taken}
            innermost = {**later, **self._levels.paths[-1]}
            self._levels = self._levels._replace(paths=(*self._levels.paths[:-1], innermost))
            self.records = RecordScanner(self.entities, **layout.units)
            self.settle(layout)
            return True
        places = {field: split_path(path) for field, path in layout.places.items()}
        values = find_single_values(item)
        for field in JOINED:
            column = layout.places.get(field, "")
            joined = split_joined(column)
            if len(joined) > 1 and field not in list_starred(layout) and column not in values:
                del places[field]
                self._joined[field] = tuple(map(split_path, joined))
        taken = {*dict(given.columns or ()), *layout.places.values()}  # rx may be an arrival
        later = {field: (field,) for field in _LATER if field not in taken}
        if self._entries is not None:
            given_to_all = set(layout.places) - set(list_starred(layout))
            own = {
                field: later.pop(field)
                for field in _OWN
                if field in later and field not in given_to_all
            }
            self._entries = self._entries._replace(paths={**own, **self._entries.paths})
            places = {
                field: path for field, path in places.items() if field not in list_starred(layout)
            }
        if is_wide(layout):
            places = {
                field: path for field, path in places.items() if field not in list_starred(layout)
            }
            later = {}
        self._paths = {**later, **places}
        self.records = self._make_scanner(layout)
        self.settle(layout)
        return True

    def _make_scanner(self, layout: ReadSpec) -> RecordScanner:
        """Return a scanner of usual lines."""
        if self._joined or layout.has_shared_column or is_wide(layout):
            return RecordScanner(self.entities, **layout.units)
        if self._entries is None:
            return JsonScanner(self._paths, self.entities, **layout.units)
        steps = self._entries.steps
        if (
            self._entries.singles
            or "+" in "".join(self._entries.paths.get("entity", ()))
            or any(path[: len(steps)] == steps for path in self._paths.values())
        ):
            return RecordScanner(self.entities, **layout.units)  # some is shared of the entries
        return EntriesScanner(
            steps, self._paths, self._entries.paths, self.entities, **layout.units
        )

    def _infer_layout(self, item: Any) -> ReadSpec:
        """Infer the layout of a recording with this object; see ``infer_layout``."""
        values = find_single_values(item)
        if _lacks_fields(values):
            values.update({name: "" for name in FIELDS if name not in values})
            return infer_layout(self.layout, values)
        return infer_object_layout(self.layout, item)

    def reopen(self, layout: ReadSpec, head: bytes) -> JsonlReader:
        """Return another reader of the same objects.

        A document's are then on lines of their own.
        """
        reader = JsonlReader(layout)
        reader.look_ahead(head)
        return reader

    def split_cells(self, raw: bytes) -> dict[str, str]:
        """Return the single values of an object by path."""
        try:
            return find_single_values(parse(raw.decode().strip().strip(",")))
        except (ValueError, RecursionError):
            return {}

    @cached_property
    def _used_columns(self) -> frozenset[str]:
        """The paths that fields are read from."""
        return list_used_columns(self.layout).union(map(write_path, self._paths.values()))

    @property
    def _entry_columns(self) -> frozenset[str]:
        """The paths in an entity's entry that fields are read from."""
        found = self._entries.paths if self._entries is not None else {}
        return frozenset(map(write_path, found.values()))

    def split_values(self, raw: bytes) -> Extras:
        """Return the single values of an object by their paths, each of its own type."""
        values: Extras = {}
        try:
            _add_typed_values(parse(raw.decode().strip().strip(",")), (), values)
        except (ValueError, RecursionError):
            return {}
        return values

    def find_shared_cells(self, raw: bytes) -> dict[str, str]:
        """Return the single values beside the states of one entity, by their paths."""
        if self._entries is None or "time" not in self._entries.paths or not self._entries.steps:
            return {}
        before = f"{write_path(self._entries.steps)}."
        used = self.layout.places.values()
        cells = self.split_cells(raw).items()
        return {
            name: one for name, one in cells if not name.startswith(before) and name not in used
        }

    def iterate_needed_paths(self) -> Iterator[tuple[str, ...]]:
        """Yield the paths that each object must have; for entries, the path to these."""
        places = (*POSITION, "time")
        yield from (self._paths[field] for field in places if field in self._paths)
        if self._entries is not None:
            yield self._entries.steps
        if self._levels is not None:
            yield self._levels.steps[0]

    def _list_needed_columns(self) -> tuple[str, ...]:
        places = self.layout.places
        return tuple(places[field] for field in FIELDS if field in places)

    def take_end(self, block: PacketBlock) -> None:
        """Refuse the recording if objects that could have had entities never had one."""
        if self.records is None and self._empty is not None:
            block.refusals.append(self._empty)

    def find_field(self, raw: bytes, name: str) -> int:
        """Return the offset of a field in a line."""
        at = 0
        for step in self._find_path(name):
            found = re.compile(rb'"%s"\s*:' % re.escape(step.encode())).search(raw, at)
            at = found.start() if found else at
        return at

    def _find_path(self, field: str) -> tuple[str, ...]:
        if self._entries is not None and field in self._entries.paths:
            return (*self._entries.steps, *self._entries.paths[field])
        return self._paths.get(field, (field,))


def _lacks_fields(values: dict[str, str]) -> bool:
    """Return True for this program's own names of which one or two needed ones are missing."""
    axes = {name for name in POSITION if name in values}
    velocities = {name[1] for name in VELOCITY if name in values}
    return "time" in values and len(axes) + len(velocities) > 3 and axes != velocities != set()


def _check_type(field: str, value: Any) -> Reason | None:
    """Return why a value cannot be a field's, or None."""
    number = field in FIELDS
    if isinstance(value, list | dict):
        return Reason.FIELD_NOT_A_NUMBER if number else Reason.NOT_A_SINGLE_VALUE
    if number and isinstance(value, bool):
        return Reason.FIELD_NOT_A_NUMBER
    if isinstance(value, str) and not is_unicode(value):
        return Reason.FIELD_NOT_A_NUMBER if number else Reason.NOT_UNICODE
    return None


class JsonReader(JsonlReader):
    """A reader of a packet from each object of a document, as from lines with one object each.

    Places are those of the document; an object over several lines is shown as one line, at the
    place where the object begins.
    """

    has_lines = False

    def begin(self) -> None:
        """Set the reader's own state, and prepare to cut the document into objects."""
        super().begin()
        self._cutter = DocumentCutter()
        self._placed_empty: Refusal | None = None
        self._head: bytes | None = b""  # what has come while no one can say what is around it
        self._entered = False

    def scan(self, data: bytes, final: bool = False) -> PacketBlock:
        """Return the packets of all objects that ``data`` completes.

        ``final``: there is no more.
        """
        if self._head is not None:
            data = self._head + data
            found = find_envelope(data, final, self.layout)
            self._head = data if found is EnvelopeScan.SHORT else None
            if self._head is not None:
                return PacketBlock(self.entities)
            data = data.removeprefix(BYTE_ORDER_MARK)
            if isinstance(found, Envelope):
                self._entered = True
                self._cutter.enter(data[: found.begin], found.around)
                data = data[found.begin :]
        block = super().scan(self._cutter.cut(data, final), final)
        self._cutter.place_packets(block)
        block.refusals = [
            refusal if refusal is self._placed_empty else self._place_refusal(refusal)
            for refusal in block.refusals
        ]
        if self._empty is not None and self._placed_empty is None:  # its line will be forgotten
            self._empty = self._placed_empty = self._place_refusal(self._empty)
        self._cutter.forget(self._line)
        if final and self._entered and self.records is not None:
            block.refusals += self._find_other_arrays()
        return block

    def _find_other_arrays(self) -> Iterator[Refusal]:
        """Yield a refusal for the first other array that has packets as well."""
        for line, column, text in self._cutter.others():
            with suppress(json.JSONDecodeError, RecursionError, UnicodeDecodeError):
                item = parse(text.decode())
                if all(look_up(item, path)[1] is None for path in self.iterate_needed_paths()):
                    yield Refusal(line, column, text[:80], 0, Reason.PACKETS_ELSEWHERE)
                    return

    def _place_refusal(self, refusal: Refusal) -> Refusal:
        line, column = self._cutter.place(refusal.line)
        return refusal._replace(line=line, column=column + refusal.column - 1)
