"""Which column or name holds which field of a packet, in which units: said in options.

A layout is one declaration with two forms. As a value it goes to the readers; in words it is the
options that say the same, to be typed, copied and kept:
``--columns time=timestamp_ms,x=pos_x,y=pos_y --time-unit ms --axes xy``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Literal, NamedTuple

from epic_cli.engine.text import ALL_FIELDS, FIELDS, OPTIONAL_FIELDS

if TYPE_CHECKING:
    from typing import TypedDict

    class Units(TypedDict):
        """What ``RecordScanner`` takes."""

        per_second: float | None
        origin: float | None
        scale: float
        axes: str


#: The fields in the order in which a layout names them.
FIELD_ORDER = ("time", *FIELDS[:-1], *OPTIONAL_FIELDS)

POSITION, VELOCITY = FIELDS[:3], FIELDS[3:6]

#: The fields of a truth, and of a drawn frame, that recordings have, too.
STATE = ("time", *POSITION, *VELOCITY, "entity", "teleport")
FRAME = ("time", *POSITION, "entity")

#: How many of a unit of time are a second.
TIME_UNITS = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}

Origin = float | Literal["first"]


class Beginning:
    """The time in seconds that ``first`` stands for; None: no packet has come yet.

    Recordings that share one begin together: the first packet of the one that is read first is
    where all of them are at 0, unless a time has been given.
    """

    def __init__(self, time: float | None = None) -> None:
        self.time = time


class Layout(NamedTuple):
    """How the packets of a table or of JSON lines are laid out; None: to be told from them.

    ``columns`` gives, for each field, the column with that name (or number, from 1, where the
    table has no header) or the path in an object (``pos.0``, ``header.t``); an empty text says
    that there is none; a ``*`` stands for each of several entities (``*_x``, ``players.*.x``).
    ``time_unit`` is ``s``, ``ms``, ``us``, ``ns``, ``ticks@HZ`` or ``iso``.
    ``time_origin`` is the time in seconds that becomes 0, or ``first``: that of the first packet;
    arrival times move with it. ``axes`` names, in the order of x, y and z, the recording's axes
    that become these; what is left out is 0. Lengths and velocities are multiplied by ``scale``.
    ``pattern``: a regular expression whose named groups are what columns are in a table.
    ``unless_own``: all this does not hold for packet text, nor for this program's own names.
    ``rebase_time``: where it is to be told, Unix times under this program's own names begin at the
    first packet, as those of others do. ``beginning``: other recordings have the same ``first``.
    """

    columns: tuple[tuple[str, str], ...] | None = None
    time_unit: str | None = None
    time_origin: Origin | None = None
    axes: str | None = None
    scale: float = 1.0
    pattern: str | None = None
    unless_own: bool = False
    rebase_time: bool = False
    beginning: Beginning | None = None

    @property
    def places(self) -> dict[str, str]:
        """The columns by field, those that are not empty."""
        return {field: column for field, column in self.columns or () if column}

    def beside(self, fields: Collection[str]) -> Layout:
        """That of a file with these fields of a recording, where it has not its own names."""
        kept = tuple(pair for pair in self.columns or () if pair[0] in fields)
        return self._replace(columns=None if self.columns is None else kept, unless_own=True)

    @property
    def units(self) -> Units:
        """What the engine's scanners have to know of a layout that is complete."""
        per_second = parse_time_unit(self.time_unit or "s")
        if self.time_origin == "first":
            origin = self.beginning.time if self.beginning is not None else None
        else:
            origin = self.time_origin or 0.0
        if origin is not None:
            origin *= per_second or 1.0
        axes = self.axes or "xyz"
        return {"per_second": per_second, "origin": origin, "scale": self.scale, "axes": axes}

    def items(self) -> list[tuple[str, str]]:
        """The names and values of the options that say the same.

        Where there are others, this program's own names go without saying.
        """
        items = [] if self.pattern is None else [("pattern", self.pattern)]
        if self.time_unit not in (None, "s"):
            items.append(("time-unit", str(self.time_unit)))
        if self.time_origin not in (None, 0.0):
            items.append(("time-origin", _shown(self.time_origin)))
        if self.axes not in (None, "".join(axis for axis in POSITION if axis in self.places)):
            items.append(("axes", str(self.axes)))
        if self.scale != 1:
            items.append(("scale", _shown(self.scale)))
        named = self.pattern is not None or set(POSITION) <= set(self.places)
        own = self._has_own_names and named
        if self.columns is not None and not (items and own):
            pairs = ",".join(f"{field}={column}" for field, column in self.columns)
            items.insert(self.pattern is not None, ("columns", pairs))
        return items

    def options(self) -> str:
        """The options that say the same, for a shell."""
        from shlex import quote  # only what is said needs it

        return " ".join(f"--{name} {quote(value)}" for name, value in self.items())

    @property
    def settles(self) -> tuple[str, ...]:
        """Which options about times have been given, whatever they say."""
        given = (("time-unit", self.time_unit), ("time-origin", self.time_origin))
        return tuple(name for name, value in given if value is not None)

    @property
    def is_own(self) -> bool:
        """Whether it is that of this program's own files."""
        others = (self.time_unit, self.time_origin, self.axes, self.scale, self.pattern)
        return others == ("s", 0.0, "xyz", 1.0, None) and self._has_own_names

    @property
    def is_empty(self) -> bool:
        """Whether it says nothing of a recording that packet text could not hold to."""
        return self[:6] == Layout()[:6]

    @property
    def _has_own_names(self) -> bool:
        return all(a == b for a, b in self.columns or ())


def begun_together(given: Layout | None) -> Layout:
    """A layout for several recordings that are at 0 at the same moment."""
    given = given or Layout()
    known = given.time_origin if isinstance(given.time_origin, float) else None
    return given._replace(beginning=Beginning(known))


def layout_of(columns: Mapping[str, str], **others: object) -> Layout:
    """A layout with the columns in their usual order."""
    pairs = tuple((field, columns[field]) for field in FIELD_ORDER if field in columns)
    return Layout(pairs, **others)  # type: ignore[arg-type]


def parse_columns(text: str) -> tuple[tuple[str, str], ...]:
    r"""``time=timestamp_ms,x=pos_x`` as pairs; raises ``ValueError``.

    A backslash takes what follows it as it is: ``x=pos\, x`` for a column ``pos, x``.
    """
    columns: dict[str, str] = {}
    for part in _split(text, ","):
        field, equals, column = part.partition("=")
        field = field.strip()
        if not equals or field not in ALL_FIELDS:
            raise ValueError(_no_field(field if equals else part))
        if field in columns:
            raise ValueError(f"{field} is given twice")
        if column and column in columns.values():
            raise ValueError(f"{column!r} is given for two fields")
        columns[field] = column
    _check_stars(columns)
    return layout_of(columns).columns or ()


def _check_stars(columns: Mapping[str, str]) -> None:
    """Raises ``ValueError`` for stars that cannot stand for the same entities."""
    starred = {field: column for field, column in columns.items() if star_of(column) >= 0}
    if not starred:
        return
    for column in starred.values():
        if star_of(column[star_of(column) + 1 :]) >= 0:
            raise ValueError(f"{column!r} has more than one *")
    alike = POSITION if "time" in starred else (*POSITION, "entity")
    for field in alike:
        if columns.get(field) and field not in starred:
            other = next(iter(starred))
            raise ValueError(f"{field}={columns[field]} has no *, and {other}={starred[other]} has")
    if not set(POSITION) & set(starred):
        raise ValueError("a * stands for the entities of a row: x and y need it")


def _no_field(name: str) -> str:
    from epic_cli.engine.parameters import nearest

    near = nearest(name, list(ALL_FIELDS))
    hint = f"; did you mean {near}=?" if near and near != name else ""
    return f"{name!r} is not FIELD=COLUMN, with a field of {', '.join(FIELD_ORDER)}{hint}"


def parse_time_unit(text: str) -> float | None:
    """How many of a unit of time are a second; None: they are dates. Raises ``ValueError``."""
    if text == "iso":
        return None
    if text in TIME_UNITS:
        return TIME_UNITS[text]
    unit, _, rate = text.partition("@")
    try:
        hertz = float(rate.lower().removesuffix("hz"))
    except ValueError:
        hertz = math.nan
    if unit not in ("tick", "ticks") or not 1e-6 <= hertz <= 1e9:
        raise ValueError(f"{text!r} is not s, ms, us, ns, iso or ticks@HZ, as ticks@60")
    return hertz


def parse_time_origin(text: str) -> Origin:
    """``first``, or seconds; raises ``ValueError``."""
    try:
        origin = float(text)
    except ValueError:
        origin = math.nan
    if text != "first" and not math.isfinite(origin):
        raise ValueError(f"{text!r} is not first, 0 or SECONDS")
    return "first" if text == "first" else origin


def parse_pattern(text: str) -> str:
    """A regular expression with named groups; raises ``ValueError``."""
    try:
        groups = re.compile(text).groupindex
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"this is no regular expression: {error}") from error
    if not groups:
        raise ValueError(f"{text!r} has no group for a field, as (?P<time>[0-9.]+)")
    return text


def parse_axes(text: str) -> str:
    """Up to three of x, y and z, each once; raises ``ValueError``."""
    if not text or len(set(text)) < len(text) or not set(text) <= set("xyz"):
        raise ValueError(f"{text!r} is not a row of axes, as xyz, xy, xz or xzy")
    return text


def _shown(value: Origin) -> str:
    return value if isinstance(value, str) else repr(value).removesuffix(".0")


def column_name(column: str) -> str:
    """The name in a header that a column of a layout stands for."""
    return "".join(_unescaped(column))


def column_text(name: str) -> str:
    """How a layout writes the name of a column."""
    return re.sub(r"[\\,*]", r"\\\g<0>", name)


def star_of(column: str) -> int:
    """Where a column has the star that stands for each of several entities; -1: it has none."""
    found = re.search(r"(?<!\\)(?:\\\\)*\*", column)
    return found.end() - 1 if found else -1


def path_names(path: str) -> tuple[str, ...]:
    """The names, from the outermost in, of a path in a JSON object."""
    return tuple("".join(_unescaped(step)) for step in _split(path, "."))


def path_text(names: tuple[str, ...]) -> str:
    """How a layout writes a path."""
    return ".".join(column_text(name).replace(".", "\\.") for name in names)


def _unescaped(text: str) -> list[str]:
    characters = iter(text)
    return [next(characters, "") if one == "\\" else one for one in characters]


def _split(text: str, separator: str) -> list[str]:
    """The parts between separators before which there is no backslash."""
    parts, characters = [""], iter(text)
    for one in characters:
        if one == separator:
            parts.append("")
        else:
            parts[-1] += one + next(characters, "") if one == "\\" else one
    return parts
