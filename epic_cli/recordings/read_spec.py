"""Describe how a recording is read: the column or name of each field, and the units.

A ``ReadSpec`` is a value for the readers that can also be written as text, to be typed, copied and
kept: ``--read 'time=timestamp_ms,x=pos_x,y=pos_y,unit=ms'``. The table ``READ`` lists its keys:
they are parsed, checked, completed, explained and written by this table.

In the name of a column a backslash takes the next character literally; a ``*`` stands for each of
several entities.
"""

import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from epic_cli.engine.description import Described, Entry, split, write
from epic_cli.engine.keys import BY_NAME, KEYS
from epic_cli.engine.parameters import (
    Choice,
    Custom,
    Number,
    Parameter,
    SettingError,
    Switch,
    Table,
    find,
)
from epic_cli.engine.text import EULER, FIELDS, OPTIONAL_FIELDS
from epic_cli.recordings import list_input_formats

#: The fields in the order in which a layout names them.
FIELD_ORDER = ("time", *FIELDS[:-1], *OPTIONAL_FIELDS)

POSITION, VELOCITY = FIELDS[:3], FIELDS[3:6]

#: The fields of a truth, and of a drawn frame, that recordings have, too.
STATE = ("time", *POSITION, *VELOCITY, "entity", "teleport")
FRAME = ("time", *POSITION, "entity")


#: The numbers of which a rotation needs all, and those of a spin.
_TOGETHER = tuple(
    form.columns for name in ("rotation", "spin") for form in BY_NAME[name].forms if form.needs_all
)


def select_whole_fields(names: Collection[str]) -> list[str]:
    """Return the fields among these names, without rotations and spins that lack a number."""
    lacking = {name for some in _TOGETHER if not set(some) <= set(names) for name in some}
    return [name for name in (*FIELDS, *OPTIONAL_FIELDS) if name in names and name not in lacking]


def list_used_columns(layout: "ReadSpec") -> frozenset[str]:
    """Return the columns that a layout reads, including joined columns and whole vectors."""
    used = {
        part for column in layout.places.values() for part in (column, column.rpartition(".")[0])
    }
    return frozenset(used.union(*map(split_joined, used)))


def sort_columns(columns: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Return the columns by field in their usual order."""
    return tuple((field, columns[field]) for field in FIELD_ORDER if field in columns)


def _check_columns(columns: Mapping[str, str]) -> None:
    """Raise ``SettingError`` for columns by field that contradict each other."""
    # what logs arrivals alone has these for stamps
    fields = [
        field for field in columns if field != "arrival" or columns.get("time") != columns[field]
    ]
    named = [columns[field] for field in fields if columns[field]]
    twice = next((name for name in named if named.count(name) > 1), None)
    if twice is not None:
        raise SettingError(f"{twice!r} is given for two fields")
    _check_stars(columns)


def _check_stars(columns: Mapping[str, str]) -> None:
    """Raise ``SettingError`` for stars that cannot stand for the same entities."""
    starred = {field: column for field, column in columns.items() if find_star(column) >= 0}
    if not starred:
        return
    _check_levels(starred)
    alike = POSITION if "time" in starred else (*POSITION, "entity")
    for field in alike:
        if columns.get(field) and field not in starred:
            other = next(iter(starred))
            raise SettingError(
                f"{field}={columns[field]} needs a *, as {other}={starred[other]} has one"
            )
    if not set(POSITION) & set(starred):
        raise SettingError("a * stands for the entities of a row: x and y need it")


def _check_levels(starred: Mapping[str, str]) -> None:
    """Raise ``SettingError`` for columns with several stars at different places."""
    levels = {column: split_at_stars(column) for column in starred.values()}
    deepest = max(levels.values(), key=len)
    if len(deepest) < 3:  # a single star
        return
    for column, parts in levels.items():
        if parts[:-1] != deepest[: len(parts) - 1]:
            other = next(name for name, found in levels.items() if found is deepest)
            raise SettingError(f"the stars of {column} and of {other} stand for different things")


def split_at_stars(column: str) -> tuple[str, ...]:
    """Split a column at its stars: the parts before, between and behind them."""
    parts: list[str] = []
    while (at := find_star(column)) >= 0:
        parts.append(column[:at].removesuffix("."))
        column = column[at + 1 :].removeprefix(".")
    return (*parts, column)


def write_column_name(column: str) -> str:
    """Return the name in a header for a layout's column."""
    return "".join(_list_unescaped_characters(column))


def write_column(name: str) -> str:
    """Return a column's name as a layout writes it."""
    return re.sub(r"[\\*|]", r"\\\g<0>", name)


def find_star(column: str) -> int:
    """Return the index of a column's star, which stands for each of several entities, or -1."""
    found = re.search(r"(?<!\\)(?:\\\\)*\*", column)
    return found.end() - 1 if found else -1


def split_joined(column: str) -> tuple[str, ...]:
    """Split a joined column: ``team+number`` for an entity's name, ``date+time`` for a time.

    A single column is returned alone.
    """
    return tuple(split_escaped(column, "+"))


def split_path(path: str) -> tuple[str, ...]:
    """Return the names of a path in a JSON object, from the outermost in."""
    return tuple("".join(_list_unescaped_characters(step)) for step in split_escaped(path, "."))


def write_path(names: tuple[str, ...]) -> str:
    """Return a path as a layout writes it."""
    return ".".join(write_column(name).replace(".", "\\.") for name in names)


def _list_unescaped_characters(text: str) -> list[str]:
    characters = iter(text)
    return [next(characters, "") if character == "\\" else character for character in characters]


def split_escaped(text: str, separator: str) -> list[str]:
    """Split a text at separators without a backslash before them."""
    parts, characters = [""], iter(text)
    for character in characters:
        if character == separator:
            parts.append("")
        else:
            parts[-1] += character + next(characters, "") if character == "\\" else character
    return parts


if TYPE_CHECKING:
    from epic_cli.engine.text import Units

#: How many of a unit of time are a second.
TIME_UNITS = {
    "s": 1.0,
    "ms": 1e3,
    "us": 1e6,
    "100ns": 1e7,
    "ns": 1e9,
    "min": 1 / 60,
    "h": 1 / 3600,
    "d": 1 / 86400,
}

#: Those in which Unix times are written.
UNIX_UNITS = ("s", "ms", "us", "ns")

#: What begins a key that is meant of the file beside a recording, --drawn or --truth.
BESIDE = "frame."

#: What goes without saying where it is inferred; given, it is kept, and written back.
_UNSAID = (("unit", "s"), ("origin", 0.0), ("geo", False))

Origin = float | Literal["first"]


class Beginning:
    """The moment and the position that are 0 in all recordings that share this object.

    None before the first packet. ``time`` (s) is the time of ``first``, ``place`` the longitude and
    latitude (degrees) of 0, 0. Both are those of the first packet of the first recording.
    """

    def __init__(self, time: float | None = None, place: tuple[float, float] | None = None) -> None:
        self.time = time
        self.place = place


def find_units_per_second(text: str) -> float | None:
    """Return how many of a time unit make a second, or None for dates; raises ``ValueError``."""
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
        raise ValueError(
            f"{text!r} is not s, ms, us, 100ns, ns, min, h, d, iso or ticks@HZ, as ticks@60"
        )
    return hertz


def find_arrival_unit(time_unit: str | None) -> str:
    """Return the default unit of arrivals beside stamps in ``time_unit``."""
    unit = time_unit or "s"
    return "s" if unit.startswith("tick") else unit


def _write_value(value: Origin) -> str:
    return value if isinstance(value, str) else repr(value).removesuffix(".0")


def _explain_unknown_format(name: str) -> str:
    return f"{name!r} is no format: choose from {', '.join(list_input_formats())}"


def parse_format(text: str) -> str:
    """Return the name of an input format; raises ``ValueError`` for any other text."""
    if text not in list_input_formats():
        raise ValueError(_explain_unknown_format(text))
    return text


def parse_time_unit(text: str) -> str:
    """Return a unit of time; raises ``ValueError`` for any other text."""
    find_units_per_second(text)
    return text


def parse_time_origin(text: str) -> Origin:
    """Parse ``first`` or a number of seconds; raises ``ValueError``."""
    return "first" if text == "first" else _parse_finite(text, "first, 0 or SECONDS")


def parse_missing(text: str) -> float:
    """Parse a number that marks a missing position; raises ``ValueError``."""
    return _parse_finite(text, "a finite number")


def _parse_finite(text: str, expected: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"{text!r} is not {expected}")
    return number


def compile_pattern(pattern: str) -> Any:
    """Compile a regular expression whose search takes a ``timeout``; raises ``ValueError``."""
    import regex  # needed for logs in sentences only

    try:
        return regex.compile(pattern)
    except (regex.error, OverflowError, RecursionError) as error:
        raise ValueError(f"not a regular expression: {error}") from error


def parse_pattern(text: str) -> str:
    """Return a regular expression with named groups; raises ``ValueError`` for any other text."""
    if not compile_pattern(text).groupindex:
        raise ValueError(f"{text!r} has no group for a field, as (?P<time>[0-9.]+)")
    return text


def parse_time_format(text: str) -> str:
    """Return a ``strptime`` format of dates; raises ``ValueError`` for any other text."""
    directives = re.findall("%(.?)", text)
    wrong = next((item for item in directives if not item or item not in "YymbdHIMSfpz%"), None)
    if wrong is not None or ("H" not in directives and "I" not in directives):
        known = "%Y %y %m %b %d %H %I %M %S %f %p %z"
        raise ValueError(f"{text!r} is not a date format: use {known}, such as '%d.%m.%Y %H:%M:%S'")
    return text


def parse_encoding(text: str) -> str:
    """Return the name of a text encoding; raises ``ValueError`` for any other text."""
    try:
        " ".encode(text)
    except (LookupError, ValueError) as error:
        raise ValueError(f"{text!r} is no encoding of text, as cp1252 or utf-16") from error
    return text


def parse_axes(text: str) -> str:
    """Return up to three of x, y and z, each once; raises ``ValueError`` for any other text."""
    if not text or len(set(text)) < len(text) or not set(text) <= set("xyz"):
        raise ValueError(f"{text!r} is not axes such as xyz, xy, xz or xzy")
    return text


def _list_units() -> Iterator[tuple[str, None]]:
    return ((word, None) for word in (*TIME_UNITS, "iso", "ticks@60"))


_SCALE = Number("scale", None, "", "", 1e-9, 1e9)


class _Column(Custom):
    """The column of a field; an empty text says that the recording has no such field."""

    def __init__(self, name: str, help: str = "") -> None:  # noqa: A002
        super().__init__(name, None, help, "COLUMN", str)


_COLUMN_HELP = {form.columns[0]: form.help for key in KEYS for form in key.forms}

#: The keys of ``--read``: the columns by field, then what is said of all of them.
READ: Table = (
    *(_Column(field, _COLUMN_HELP.get(field, "")) for field in FIELD_ORDER),
    Custom("format", "auto", "The recording's format; auto detects it from the first line.",
           "FORMAT", parse_format,
           words=lambda: ((name, None) for name in list_input_formats())),
    Custom("pattern", None, "A regular expression for a log's lines, with a group for each field:"
           " (?P<time>...).", "REGEX", parse_pattern),
    Custom("time_format", None, "The format of dates, as strptime takes it: %m/%d/%Y %I:%M:%S %p."
           " %S takes a fraction.", "FORMAT", parse_time_format),
    Custom("unit", None, "The unit of the packets' times: s, ms, us, 100ns, ns, min, h, d, ticks@HZ"
           " or iso.  [default: the unit in the column's name, as in t_ms, or that of Unix times"
           " and dates, else s]", "UNIT", parse_time_unit, field="time_unit", words=_list_units),
    Custom("arrival_unit", None, "The unit of arrival times.  [default: that of the packets' times;"
           " s if those count ticks]", "UNIT", parse_time_unit, words=_list_units),
    Custom("origin", None, "The time that becomes 0: the first packet's, or a number of seconds.",
           "first|SECONDS", parse_time_origin, _write_value, field="time_origin",
           words=lambda: (("first", None), ("0", None))),
    Custom("axes", None, "The recording's axes that become x, y and z: xy in two dimensions, xzy if"
           " y is up.", "AXES", parse_axes,
           words=lambda: ((word, None) for word in ("xyz", "xy", "xz", "xzy"))),
    Custom("scale", None, "The factor of lengths, 0.01 for centimetres.  [default: the factor to"
           " meters of a unit in the names, as in 'x [cm]', else 1]", "NUMBER",
           _SCALE.read, _write_value),
    Custom("missing", None, "The number that marks a missing position, such as -999: a packet with"
           " it in two or more axes is left out.", "NUMBER", parse_missing, _write_value),
    Switch("geo", False, "x and y are longitude and latitude in degrees, and become meters around"
           " the first packet (transverse Mercator, WGS 84)."),
    Switch("partial", False, "Packets carry only the fields that changed since the entity's last"
           " packet."),
    Switch("names", False, "Call the players in a game's replay by their names, not numbers."),
    Custom("table", None, "The sheet of a workbook, or the table of a database.", "NAME", str),
    Custom("encoding", None, "The encoding of the text: cp1252, utf-16-le, ...  [default: UTF-8, or"
           " by the byte order mark]", "ENCODING", parse_encoding),
    Choice("angles", None, "The unit of angles and spins.  [default: the unit in the names, as in"
           " yaw_rad, else degrees for yaw, pitch and roll, radians for the others]",
           ("deg", "rad")),
    Choice("euler", None, "The order of yaw, pitch and roll: zyx turns about z, then y, then x, the"
           " body's own axes; unity, godot and unreal are the orders of these engines."
           "  [default: zyx]", EULER),
    Number("max_entities", None, "Judge at most this many entities, those with most packets."
           "  [default: 1000]", "", 1, 1e6, whole=True),
    Custom(f"{BESIDE}KEY", None, "Any of these keys, for the file of --drawn or --truth alone:"
           " frame.unit=ms. Others are as in the recording, or inferred.", "VALUE", str,
           field="frame"),
    Custom("profile", None, "A profile of the configuration file, by its name; entries beside it"
           " override those of the profile.", "NAME", str),
)  # fmt: skip


class _ReadSpecFields(NamedTuple):
    """The fields of a ``ReadSpec``."""

    columns: tuple[tuple[str, str], ...] | None = None
    time_unit: str | None = None
    time_origin: Origin | None = None
    axes: str | None = None
    scale: float | None = None
    pattern: str | None = None
    time_format: str | None = None
    geo: bool = False
    missing: float | None = None
    partial: bool = False
    names: bool = False
    table: str | None = None
    encoding: str | None = None
    angles: str | None = None
    euler: str | None = None
    max_entities: int | None = None
    format: str = "auto"
    unless_own: bool = False
    rebase_time: bool = False
    keep_extras: bool = False
    beginning: Beginning | None = None
    factors: tuple[float, ...] | None = None
    explicit: frozenset[str] = frozenset()
    arrival_unit: str | None = None
    arrival_apart: bool = False
    delta_unit: str | None = None
    frame: Any = None  # a ReadSpec or None: its name as a text would be compiled at each start
    packets: Any = None  # the same
    packet_layout: Any = None


class ReadSpec(Described, _ReadSpecFields):
    """The columns, units and other settings by which a recording is read.

    A field that is None, or has its default, is inferred from the recording. The fields up to
    ``format`` are keys of ``--read``.

    ``columns`` has the place of each field: a name, a number from 1 in a table without a header, or
    a path in an object (``pos.0``); an empty text says that there is no such field.
    ``arrival_apart``: arrival times are on a clock of their own; otherwise ``time_origin`` shifts
    arrivals, too. ``delta_unit`` is the unit in the name of the column of time deltas. ``frame`` is
    how the file beside the recording is read where that differs. For such a file, ``packets`` is
    the recording's spec and ``packet_layout`` is its layout, as far as known. ``factors``
    are the factors of axes and velocities once they are known, from ``scale`` or from units in
    names. ``unless_own``: the spec does not hold for packet text, nor for this program's own names.
    ``rebase_time``: where the origin is inferred, Unix times under this program's own names begin
    at the first packet, like any others. ``keep_extras``: columns that no field is read from are
    kept, too. ``beginning`` is the ``first`` moment that several recordings share. ``explicit`` are
    the keys that the user gave with their usual values, which inference must not replace.
    """

    TABLE, KEY, OWNER = READ, "profile", "read"

    @classmethod
    def parse(cls, text: str, profile: Callable[[str], str] | None = None) -> "ReadSpec":
        """Parse a description; an empty text leaves everything to be inferred.

        ``profile`` returns the description of a profile by its name, or raises ``ValueError``.
        Entries beside a profile's name override those of the profile. Raises ``SettingError``.
        """
        entries = split(text)
        for before, after in pairwise(entries):
            if before.key == "pattern" and not after.key:
                raise SettingError(
                    f"{after.value!r} has no key; if it belongs to the pattern: a value with a"
                    ' comma stands in double quotes, pattern="..."'
                )
        given, framed = cls._read_both(entries)
        given, beside = cls._add_profile(given, profile)
        framed, _ = cls._add_profile(beside | framed, profile)
        spec = cls._from_values(given)
        return spec._replace(frame=cls._from_values(framed)) if framed else spec

    @classmethod
    def _add_profile(
        cls, given: dict[str, Any], profile: Callable[[str], str] | None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return values with those of the profile that they name, and those for the file beside."""
        name = given.pop("profile", None)
        if name is None:
            return given, {}
        if profile is None:
            raise SettingError(_explain_unknown_format(name))
        described = profile(name)
        try:
            cls.parse(described)
        except SettingError as error:
            raise SettingError(f"[profile.{name}]: {error}") from error
        known, beside = cls._read_both(split(described))
        return known | given, beside

    @classmethod
    def _read_both(cls, entries: Sequence[Entry]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the values of the recording's entries, and of those of the file beside it."""
        count = len(BESIDE)
        beside = [Entry(key[count:], value) for key, value in entries if key.startswith(BESIDE)]
        if any(entry.key == "offset" for entry in beside):
            raise SettingError("a clock's offset stands with its file: --drawn FILE,offset=SECONDS")
        own = [entry for entry in entries if not entry.key.startswith(BESIDE)]
        given = cls.read(own)
        try:
            return given, cls.read(beside)
        except SettingError as error:
            raise SettingError(f"{BESIDE}KEY: {error}", *error.about) from error

    @classmethod
    def _from_values(cls, given: dict[str, Any]) -> "ReadSpec":
        """Return the spec with these values by their keys."""
        columns = {field: given.pop(field) for field in FIELD_ORDER if field in given}
        _check_columns(columns)
        return cls(
            sort_columns(columns) if columns else None,
            **{cls.find_parameter(key).field: value for key, value in given.items()},
            explicit=frozenset(key for key, value in given.items() if (key, value) in _UNSAID),
        )

    @classmethod
    def find_key(cls, name: str) -> str:
        """Return the key of a lone name: that of a format or of a profile."""
        if name in list_input_formats():
            return "format"
        return "" if name in (key.name for key in READ) else cls.KEY

    @classmethod
    def find_parameter(cls, key: str) -> Parameter:
        """Return the parameter of a key."""
        return find(key, READ, cls.OWNER, "key")

    @property
    def is_numbered(self) -> bool:
        """True if columns are given by number, so that no line is a header."""
        return any(place.isdigit() for place in self.places.values())

    @property
    def has_shared_column(self) -> bool:
        """True if two fields are read from one column: an arrival that is the stamp, too."""
        return len(set(self.places.values())) < len(self.places)

    @property
    def counts_rows(self) -> bool:
        """True if the recording has no times, and its rows are ticks."""
        counted = (self.time_unit or "").startswith("tick")
        return counted and dict(self.columns or ()).get("time") == ""

    @property
    def places(self) -> dict[str, str]:
        """The columns by field, without empty ones."""
        return {field: column for field, column in self.columns or () if column}

    def make_spec_beside(
        self, fields: Collection[str], layout: "ReadSpec | None" = None
    ) -> "ReadSpec":
        """Return the spec of the file beside the recording that has ``fields`` of its columns.

        The spec does not hold if the file has this program's own names; the file has units of its
        own. ``layout`` is the recording's layout.
        """
        kept = tuple(pair for pair in self.columns or () if pair[0] in fields)
        beside = self._replace(
            columns=None if self.columns is None else kept,
            format="auto",
            unless_own=True,
            time_unit=None,
            scale=None,
            arrival_unit=None,
            frame=None,
            packets=self,
            packet_layout=layout or self,
        )
        return beside._overlay(self.frame)

    def _overlay(self, other: "ReadSpec | None") -> "ReadSpec":
        """Return this spec with what another one says, its columns beside those of this one."""
        if other is None:
            return self
        columns = dict(self.columns or ()) | dict(other.columns or ())
        said = {
            parameter.field: getattr(other, parameter.field)
            for parameter in READ
            if not isinstance(parameter, _Column) and parameter.field not in ("frame", self.KEY)
        }
        said = {field: value for field, value in said.items() if value != getattr(INFERRED, field)}
        return self._replace(
            **said,
            columns=sort_columns(columns) if columns else self.columns,
            explicit=self.explicit | other.explicit,
        )

    @property
    def own(self) -> "ReadSpec":
        """The spec given for this file alone, where it is beside a recording."""
        alone = INFERRED if self.packets is None else self.packets.frame or INFERRED
        assert isinstance(alone, ReadSpec)
        return alone

    @property
    def said(self) -> dict[str, str]:
        """The ``--read`` entries of this spec.

        For a file beside a recording, those of the recording, which have those of the file.
        """
        return dict((self if self.packets is None else self.packets).list_entries())

    def name_entries(self, entries: Mapping[str, str]) -> dict[str, str]:
        """Return the entries under their keys of ``--read``."""
        prefix = "" if self.packets is None else BESIDE
        return {f"{prefix}{key}": value for key, value in entries.items()}

    def add_entries(self, entries: Mapping[str, str]) -> str:
        """Return the description with these entries added."""
        return write({**self.said, **self.name_entries(entries)}.items())

    def replace_text(self, text: str) -> "ReadSpec":
        """Return this spec with the layout that a description from ``add_entries`` names."""
        spec = ReadSpec.parse(text)
        if self.packets is not None:
            return self._replace(packets=spec)._overlay(spec.frame)
        return spec._replace(
            rebase_time=self.rebase_time, unless_own=self.unless_own, beginning=self.beginning
        )

    @property
    def units(self) -> "Units":
        """The units of a complete layout, for the engine's scanners."""
        unit = find_units_per_second(self.time_unit or "s")
        arrival_unit = self.arrival_unit or find_arrival_unit(self.time_unit)
        if self.time_origin == "first":
            origin = self.beginning.time if self.beginning is not None else None
        else:
            origin = self.time_origin or 0.0
        if origin is not None:
            origin *= unit or 1.0
        axes, scale = self.axes or "xyz", 1.0 if self.scale is None else self.scale
        return {
            "per_second": unit,
            "arrival_per_second": find_units_per_second(arrival_unit),
            "delta_per_second": TIME_UNITS[self.delta_unit] if self.delta_unit else unit or 1.0,
            "origin": origin,
            "arrival_moves": not self.arrival_apart,
            "scale": self.factors or ((scale, scale, 1, 1, 1, 1) if self.geo else scale),
            "axes": axes,
            "time_format": self.time_format or "",
            "delta": self.partial,
            "geo": self.geo,
            "place": self.beginning.place if self.beginning is not None else None,
            "angles": self.angles or "",
            "euler": self.euler or "zyx",
            "missing": math.nan if self.missing is None else self.missing,
        }

    def list_entries(self) -> list[tuple[str, str]]:
        """Return the entries of the description of this spec; none if everything is inferred.

        Columns with this program's own names are left out if there are other entries.
        """
        named = self.pattern is not None or set(POSITION) <= set(self.places)
        entries: list[tuple[str, str]] = []
        for parameter in READ:
            value = getattr(self, parameter.field, None)
            if isinstance(parameter, _Column) or value is None or parameter.field == "frame":
                continue
            if parameter.name in self.explicit:
                entries.append((parameter.name, parameter.write(value)))
                continue
            if value == parameter.default or (parameter.name, value) in _UNSAID:
                continue
            if parameter.field == "time_unit" and value == "iso" and self.time_format is not None:
                continue
            if value == "".join(axis for axis in POSITION if axis in self.places):
                continue  # the axes that it has
            entries.append((parameter.name, parameter.write(value)))
        if self.columns is not None and not (entries and self._has_own_names and named):
            above = ("format", "pattern")
            place = sum(name in above for name, _ in entries)
            entries[place:place] = self.columns
        if self.frame is not None:
            entries += [(f"{BESIDE}{key}", value) for key, value in self.frame.list_entries()]
        return entries

    @property
    def conversions(self) -> str:
        """The conversions of lengths and velocities with units, in words.

        Empty if there are none.
        """
        if self.factors is None:
            return ""
        fields: dict[float, list[str]] = {}
        for field, factor in zip((*POSITION, *VELOCITY), self.factors, strict=True):
            if field in self.places:
                fields.setdefault(factor, []).append(field)
        parts = [f"{', '.join(names)} times {factor:.6g}" for factor, names in fields.items()]
        return f"units become meters: {'; '.join(parts)}"

    @property
    def is_own(self) -> bool:
        """True if this is the layout of this program's own files."""
        usual = (self.time_unit, self.time_origin, self.axes) == ("s", 0.0, "xyz")
        others = self._replace(columns=None, time_unit=None, time_origin=None, axes=None)
        return usual and others.is_empty and self._has_own_names

    @property
    def is_empty(self) -> bool:
        """True if the spec contains nothing that packet text cannot follow."""
        here = ("unless_own", "rebase_time", "keep_extras", "beginning", "explicit")
        beside = ("packets", "packet_layout", "frame")
        own = ("format", "encoding", "names", "max_entities", *here, *beside)
        return self._replace(**{name: getattr(ReadSpec(), name) for name in own}) == ReadSpec()

    @property
    def _has_own_names(self) -> bool:
        return all(a == b for a, b in self.columns or ())


#: How a recording is read of which nothing is said.
INFERRED = ReadSpec()


def share_beginning(given: ReadSpec) -> ReadSpec:
    """Return the spec of several recordings that share the moment 0."""
    known = given.time_origin if isinstance(given.time_origin, float) else None
    return given._replace(beginning=Beginning(known))
