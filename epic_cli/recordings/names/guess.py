"""Infer the layout of a recording from its column names or JSON keys, or explain why it is unclear.

A ``*`` stands for each of several entities in one row: ``x=*_x`` is each column that ends in
``_x``. A column named without a star, mostly the time, belongs to all of these entities. The text
in the star's place is the entity's name, unless ``entity`` has a star as well.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from epic_cli.engine.failures import Portable
from epic_cli.engine.refusals import Reading, Reason
from epic_cli.engine.text import FIELDS
from epic_cli.recordings.names.spellings import (
    ALTITUDES,
    CLOCKS,
    DRAWN_WORDS,
    EYES,
    FRAME_WORDS,
    HEIGHTS,
    LATITUDES,
    LENGTH_UNITS,
    LONGITUDES,
    OTHER_WORDS,
    PLACES_OF_DEGREES,
    POSITION_WORDS,
    SPEED_UNITS,
    SPELLINGS,
    TICKS,
    TIME_UNIT_WORDS,
    TIME_UNITS_IN_BRACKETS,
    VELOCITY_WORDS,
    WHO_WORDS,
    WIDTHS,
    Component,
    Name,
    is_time_name,
    parse_component,
    split_name,
)
from epic_cli.recordings.names.turns import find_angle_unit, find_rotation_columns
from epic_cli.recordings.read_spec import (
    POSITION,
    TIME_UNITS,
    UNIX_UNITS,
    VELOCITY,
    Origin,
    ReadSpec,
    find_arrival_unit,
    find_star,
    select_whole_fields,
    sort_columns,
    split_at_stars,
    split_joined,
)

#: A time of day, or a date with one.
_ISO = re.compile(
    r"(\d{4}([-/])\d\d\2\d\d[Tt ])?\d{1,3}:\d\d(:\d\d)?([.,]\d+)?"
    r"( ?([Zz]|UTC|GMT|[+-]\d\d:?\d\d))?"
)

_NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?|[+-]?(nan|inf(inity)?)", re.I)

#: Dates as spreadsheets of several countries write them, and the rest of their format.
_DATE = re.compile(
    r"(\d{1,2})([./-])(\d{1,2})\2(\d{4}|\d\d)(,?[ T]+)"
    r"(\d{1,2}:\d\d)(:\d\d([.,]\d+)?)?( ?[AaPp][Mm])?"
)

#: Unix times from 1998 to 2128, in seconds; with these digits in any unit a time is one of them.
_UNIX = (9e8, 5e9)

#: As much in ticks of a ten-millionth of a second: since 1601, and since the year 1.
_TICKS_OF_DATES = ((1.25e17, 1.67e17), (6.3e17, 6.72e17))

#: Longest time since a program's start that is taken for seconds (s).
_LONGEST_UPTIME = 1e6

#: Days since 1900, of 1982 to 2146, with the time of the day.
_SERIAL = re.compile(r"[3-8]\d{4}[.,]\d{5,}")

#: What degrees are made of.
_DEGREES = {
    "semicircles": 180 / 2**31,
    "dege7": 1e-7,
    **dict.fromkeys(("rad", "radians"), 180 / math.pi),
}

#: Whole numbers of degrees times ten millions, as autopilots and receivers send them.
_DEGREES_E7 = re.compile(r"[-+]?\d{4,10}")

#: What autopilots send beside them: millimetres, and centimetres a second to the north, to the east
#: and down (MAVLink's GLOBAL_POSITION_INT).
_NORTH_EAST_DOWN = {"vx": "vy", "vy": "vx", "vz": "vz"}

#: This many names are proposed.
_MOST_NAMES = 12


class AmbiguousLayout(Portable, Exception):
    """The names leave open which column holds which field; ``facts`` are those of a ``Refusal``."""

    def __init__(self, reason: Reason, **facts: Any) -> None:
        super().__init__(reason)
        self.reason = reason
        self.facts = {**facts, "names": facts.get("names", ())[:_MOST_NAMES]}

    def add_readings(self, first: Sequence[Reading]) -> AmbiguousLayout:
        """Return this error with the given readings before its own."""
        if first:
            self.facts["readings"] = (*first, *self.facts.get("readings", ()))
        return self


def is_number(cell: str) -> bool:
    """Return True if a cell is a number."""
    return _NUMBER.fullmatch(cell) is not None


def is_value(cell: str) -> bool:
    """Return True if a cell is a number or a time, and so not the name of a column."""
    return any(pattern.fullmatch(cell) is not None for pattern in (_NUMBER, _ISO, _DATE))


def join_value(field: str, column: str, parts: Iterable[str]) -> str:
    """Join the cells of several columns into one value: an entity's name, or a time.

    A time is seconds with a fraction in the unit of its column's name, or a date with a time.
    """
    texts = [part.strip() for part in parts]
    if field != "time" or len(texts) != 2:
        return "/".join(texts)
    whole, rest = texts
    if not (whole and rest):
        return ""
    digits = _PARTS_OF_SECONDS.get(_find_time_unit(split_joined(column)[1]), 9)
    return f"{whole}.{rest:0>{digits}}" if rest.isdigit() else f"{whole} {rest}"


#: The digits of what is less than a second, by its unit.
_PARTS_OF_SECONDS = {"ms": 3, "us": 6, "ns": 9}

#: A date without a time of day.
_DAY = re.compile(r"\d{4}([-/])\d\d\1\d\d|\d{1,2}([./-])\d{1,2}\2(\d{4}|\d\d)")


def _find_time_unit(text: str) -> str:
    """Return the unit of time that a column's name contains or consists of; empty if none."""
    name = split_name(text)
    return TIME_UNITS_IN_BRACKETS.get(name.unit or name.words[-1] if name.words else "", "")


def _find_time_pair(names: Names, values: Values) -> str:
    """Return the two columns that together hold the time, joined by ``+``.

    Empty if there are none.
    """
    cells = {text: values[text].strip() for text in names}
    days = [text for text in names if _DAY.fullmatch(cells[text])]
    clocks = [text for text in names if _ISO.fullmatch(cells[text]) and ":" in cells[text][:4]]
    if len(days) == len(clocks) == 1:
        return f"{days[0]}+{clocks[0]}"
    units = {text: _find_time_unit(text) for text in names if cells[text].isdigit()}
    wholes = [text for text, unit in units.items() if unit == "s"]
    parts = [text for text, unit in units.items() if unit in _PARTS_OF_SECONDS]
    begins = {text: split_name(text).words if split_name(text).unit else () for text in units}
    found = [
        f"{whole}+{rest}"
        for whole in wholes[:_MOST_NAMES]
        for rest in parts
        if len(cells[rest]) <= _PARTS_OF_SECONDS[units[rest]] and begins[whole] == begins[rest]
    ]
    return found[0] if len(found) == 1 else ""


def add_units(given: ReadSpec, columns: Mapping[str, str], values: Mapping[str, str]) -> ReadSpec:
    """Return the layout with these columns and with their units and axes."""
    first = find_value("time", columns["time"], values).strip() if columns["time"] else ""
    time_format = given.time_format
    if time_format is None and given.time_unit is None:
        time_format = _infer_date_format(first)
    if given.packets is not None and _NUMBER.fullmatch(first):
        time_format = None  # the packets' dates are these
    came = values.get(columns.get("arrival", ""), "").strip()
    time_unit, origin = _infer_unit_and_origin(given, columns, (first, came), time_format)
    time_format = time_format or _infer_date_format(came)  # beside ticks
    arrival_unit = given.arrival_unit or _infer_arrival_unit(columns, came, time_unit)
    same = find_arrival_unit(time_unit)
    apart = bool(came) and _is_wall_clock(first, time_unit)
    apart &= not _is_wall_clock(came, arrival_unit or same)
    axes = given.axes or "".join(axis for axis in POSITION if columns.get(axis))
    for axis in axes:
        if not columns.get(axis):
            raise AmbiguousLayout(Reason.COLUMN_UNCLEAR, field=axis, names=tuple(values))
    velocities = [f"v{axis}" for axis in axes]
    speeds = all(columns.get(name) for name in velocities)
    _check_vectors(given, columns, axes, speeds)
    scale = _take_scale_of_packets(given, columns) if given.scale is None else given.scale
    geo = given.geo or (
        not {"x", "geo"} & (given.places.keys() | given.explicit)
        and (
            is_named_as(columns.get("x", ""), LONGITUDES)
            or _is_latitude_longitude_pair(columns.get("x", ""))
        )
    )
    left_out = {axis for axis in POSITION if axis not in axes}
    left_out |= {name for name in VELOCITY if not speeds or name not in velocities}
    kept = {one: column for one, column in columns.items() if not column or one not in left_out}
    whole = geo and scale is None and _is_degrees_e7(kept, values)
    autopilot = whole and all(kept.get(name) == name for name in VELOCITY)
    if autopilot and not set(VELOCITY) & set(given.places):
        kept |= {_NORTH_EAST_DOWN[name]: name for name in VELOCITY}
    return given._replace(
        columns=sort_columns(kept),
        time_unit=time_unit,
        time_origin=origin,
        time_format=time_format,
        arrival_unit=arrival_unit if arrival_unit != same or given.arrival_unit else None,
        arrival_apart=apart,
        delta_unit=_read_delta_unit(columns.get("delta", "")),
        axes=axes,
        scale=scale,
        geo=geo,
        angles=given.angles or find_angle_unit(kept),
        factors=_find_factors(kept, geo, values, whole) if scale is None else None,
        unless_own=False,
        rebase_time=False,
        **({} if given.packet_layout is None else _NOT_BESIDE),
    )


#: What a file that is beside a recording says of itself once it has been read.
_NOT_BESIDE: dict[str, Any] = {"packets": None, "packet_layout": None}


def _read_degrees_unit(column: str) -> str:
    """Return the unit in the name of a latitude or longitude: ``lat [rad]``, ``lat_rad``."""
    name = split_name(column)
    return name.unit or (name.words[-1] if name.words else "")


def _is_degrees_e7(columns: Mapping[str, str], values: Mapping[str, str]) -> bool:
    """Return True if the positions are whole numbers of degrees multiplied by ten million."""
    places = [columns.get(axis, "") for axis in ("x", "y")]
    units = {split_name(place).unit for place in places}
    texts = [values.get(place, "").strip() for place in places]
    if units != {""} or not all(map(_DEGREES_E7.fullmatch, texts)):
        return False
    x, y = map(float, texts)
    return (abs(x) > 360 or abs(y) > 90) and abs(x) <= 360e7 and abs(y) <= 90e7


def _find_autopilot_factors(
    columns: Mapping[str, str], values: Mapping[str, str]
) -> tuple[float, ...]:
    """Return the factors to degrees, meters and meters per second of autopilots' whole numbers."""
    found = []
    for field in (*POSITION[2:], *VELOCITY):
        text = values.get(columns.get(field, ""), "").strip()
        whole = _DEGREES_E7.fullmatch(text) is not None or text.lstrip("-+").isdigit()
        named = split_name(columns.get(field, "")).unit
        found.append((0.001 if field == "z" else 0.01) if whole and not named else 1.0)
    down = -1 if columns.get("vz") == "vz" and columns.get("vx") == "vy" else 1
    return (1e-7, 1e-7, *found[:3], down * found[3])


def _find_factors(
    columns: Mapping[str, str], geo: bool, values: Mapping[str, str], whole: bool
) -> tuple[float, ...] | None:
    """Return the factors to meters and meters per second of the named units; None if all are 1.

    An axis without a unit has that of the other axes, a velocity that of the position. ``whole``:
    positions are whole numbers of degrees multiplied by ten million, as autopilots send them.
    """
    if whole:
        return _find_autopilot_factors(columns, values)
    units = {field: split_name(columns[field]).unit for field in columns if columns[field]}
    lengths = {
        axis: LENGTH_UNITS[units[axis]] for axis in POSITION if units.get(axis) in LENGTH_UNITS
    }
    usual = 1.0 if geo else next(iter(lengths.values()), 1.0)
    degrees = ("x", "y") if geo else ()
    known = {**LENGTH_UNITS, **SPEED_UNITS}
    found = [
        _DEGREES.get(_read_degrees_unit(columns.get(axis, "")), 1.0)
        if axis in degrees
        else lengths.get(axis, usual)
        for axis in POSITION
    ]
    found += [known.get(units.get(name, ""), usual) for name in VELOCITY]
    return None if set(found) == {1.0} else tuple(found)


def _infer_unit_and_origin(
    given: ReadSpec,
    columns: Mapping[str, str],
    firsts: tuple[str, str],
    time_format: str | None,
) -> tuple[str, Origin | None]:
    """Return the unit and the origin of the times; ``firsts`` are the first time and arrival."""
    first, came = firsts
    name = split_name(split_joined(columns["time"])[0])
    unit = _read_unit_in_name(name)
    # what this program writes is in seconds, and read back as it was unless it is to be drawn
    named = all(columns.get(name) == name for name in ("time", *POSITION))
    own = named and given.pattern is None and not given.rebase_time
    dated = time_format is not None and not is_number(first)
    if dated or (given.time_unit is None and _ISO.fullmatch(first)):
        unit = "iso"
    time_unit = given.time_unit or unit or _take_unit_of_packets(given, columns["time"], first)
    time_unit = time_unit or ("s" if own else _infer_time_unit(first, came, name))
    if given.time_origin is not None:
        return time_unit, given.time_origin
    unix = _is_date(first, time_unit)
    return time_unit, "first" if time_unit == "iso" or (unix and not own) else 0.0


def _read_unit_in_name(name: Name) -> str | None:
    """Return the unit of time that the name of a time column contains or consists of.

    None if none.
    """
    return TIME_UNITS_IN_BRACKETS.get(
        name.unit or (name.spelling if len(name.spelling) > 1 else "")
    )


def _take_unit_of_packets(given: ReadSpec, column: str, first: str) -> str | None:
    """Return the time unit of the packets if it also holds for this column; None otherwise.

    The unit that is given for the packets' times holds if both time columns have one name, or if
    the packets' is not known; that of the packets' arrivals, if neither name says a unit.
    """
    if ":" in first or _is_date_in_any_unit(first):
        return None
    if given.packets is not None and given.packets.time_unit is not None:
        known, unit = _get_packet_column(given, "time"), str(given.packets.time_unit)
        if column == known if known or unit.startswith("tick") else True:
            return unit
    arrival = _get_packet_column(given, "arrival")
    if not arrival or _find_time_unit(arrival):
        return None
    unit = given.packet_layout.arrival_unit or find_arrival_unit(given.packet_layout.time_unit)
    return unit if unit in TIME_UNITS else None


def _get_packet_column(given: ReadSpec, field: str) -> str | None:
    """Return the packets' column of a field, for a file beside them; None if it is not known."""
    return None if given.packet_layout is None else given.packet_layout.places.get(field)


def _is_date_in_any_unit(value: str) -> bool:
    return any(_is_date(value, unit) for unit in (*UNIX_UNITS, "100ns"))


def _take_scale_of_packets(given: ReadSpec, columns: Mapping[str, str]) -> float | None:
    """Return the packets' scale if that scale also holds for the file beside the packets.

    None otherwise. The scale holds if both x columns have one name, or if the packets' x column is
    not known.
    """
    if given.packets is None or given.packets.scale is None:
        return None
    known = _get_packet_column(given, "x")
    return given.packets.scale if known in (None, columns.get("x")) else None


def _infer_arrival_unit(columns: Mapping[str, str], first: str, time_unit: str) -> str:
    """Return the unit of arrival times, by their column's name or by the first arrival."""
    column = columns.get("arrival", "")
    if _ISO.fullmatch(first) or _DATE.fullmatch(first):
        return "iso"
    named = _read_unit_in_name(split_name(column)) if column != "arrival" else None
    usual = find_arrival_unit(time_unit)
    own = all(columns.get(name) == name for name in ("time", *POSITION, "arrival"))
    if named is not None or own or not first:
        return named or usual
    if usual in TIME_UNITS and _is_date(first, usual):
        return usual
    dated = (unit for unit in (*UNIX_UNITS, "100ns") if _is_date(first, unit))
    return next(dated, "s" if usual == "iso" else usual)


def _read_delta_unit(column: str) -> str | None:
    """Return the unit in the name of the column of time deltas.

    None if it is that of the stamps.
    """
    return TIME_UNIT_WORDS.get(split_name(column).unit) if column else None


def _is_wall_clock(value: str, unit: str) -> bool:
    """Return True if a time includes a date or is a time of day."""
    return unit == "iso" or _is_date(value, unit)


def _infer_date_format(first: str) -> str | None:
    """Return the ``strptime`` format of a date that is not ISO 8601.

    None if the text is no such date. With points between its numbers the day comes first, with AM
    or PM the month. Raises ``AmbiguousLayout`` if neither order is certain.
    """
    found = _DATE.fullmatch(first)
    if found is None:
        return None
    day, mark, month, year, gap, _, seconds, _, half = found.groups()
    year = "%Y" if len(year) > 2 else "%y"
    clock = f"{'%I' if half else '%H'}:%M{':%S' if seconds else ''}"
    clock += f"{half[:-2]}%p" if half else ""
    day_first, month_first = (
        f"{name}{year}{gap.strip() + ' ' if 'T' not in gap else 'T'}{clock}"
        for name in (f"%d{mark}%m{mark}", f"%m{mark}%d{mark}")
    )
    if int(day) > 12 or (mark == "." and not half):
        return day_first
    if half or int(month) > 12:
        return month_first
    readings = tuple(Reading((("time_format", name),)) for name in (day_first, month_first))
    raise AmbiguousLayout(Reason.DATE_UNCLEAR, field="time", detail=first, readings=readings)


def _check_vectors(given: ReadSpec, columns: Mapping[str, str], axes: str, speeds: bool) -> None:
    """Raise ``AmbiguousLayout`` if velocities certainly meant have other axes than the position."""
    meant = [
        name
        for name in VELOCITY
        if columns.get(name) == name or (name in given.places and not given.axes)
    ]
    others = [name[1] for name in meant if name[1] not in axes and not given.axes]
    missing = [name for name in VELOCITY if meant and not columns.get(name) and name[1] in axes]
    if others or (missing and not speeds):
        raise AmbiguousLayout(Reason.COLUMNS_MISSING, names=(*others, *missing), expected=FIELDS)


def _infer_time_unit(value: str, came: str, name: Name) -> str:
    """Infer the unit of a time without one.

    That of a recent date, of a clock's name, or seconds. Beside an arrival (``came``) that is a
    date, a time of more than eleven days since a start has the date's unit.
    """
    clock = next((unit for unit, clocks in CLOCKS.items() if name.spelling in clocks), None)
    if {"date", "datetime", "timestamp"} & set(name.words) and _SERIAL.fullmatch(value):
        return "d"  # of a spreadsheet
    likely = (value, came) if _is_long_uptime(value) else (value,)
    units = ((one, unit) for one in likely for unit in (*UNIX_UNITS, "100ns"))
    return clock or next((unit for one, unit in units if _is_date(one, unit)), "s")


def _is_long_uptime(value: str) -> bool:
    """Return True for a number that hardly is in seconds since a program's start."""
    try:
        return float(value.replace(",", ".")) >= _LONGEST_UPTIME
    except ValueError:
        return False


def _is_date(value: str, unit: str) -> bool:
    """Return True if a time in this unit is a date of the years in which recordings are made."""
    try:
        number = float(value.replace(",", "."))
    except ValueError:
        return False
    if unit == "100ns":
        return any(low <= number <= high for low, high in _TICKS_OF_DATES)
    return unit in TIME_UNITS and _UNIX[0] <= number / TIME_UNITS[unit] <= _UNIX[1]


def is_named_as(text: str, words: tuple[str, ...]) -> bool:
    """Return True if a name contains one of these words."""
    return bool(set(split_name(text).words) & set(words))


#: Fields that several columns may have together.
JOINED = ("time", "entity")


def find_value(field: str, column: str, values: Values) -> str:
    """Return the first value of a field.

    The cell of its column, or the joined cells of its columns.
    """
    if column in values:
        return values[column]
    return join_value(field, column, (values[part] for part in split_joined(column)))


#: Fields that are only taken where their first value can be meant.
_COUNT, _FLAG = re.compile(r"\d{1,18}"), re.compile(r"[01]|true|false", re.IGNORECASE)


#: What stands behind the name of an entity, or in front, where it has a column for each axis.
_PLACE = "(?:pos|position|loc|location|coord)"
_AXIS = re.compile(
    rf"(?i:[\W_]+{_PLACE}?[\W_]*[xyz]|{_PLACE}[\W_]*[xyz])\W*$|(?<=[a-z\d])[XYZ]$|(?<=\d)[xyz]$"
)
_UNIT = re.compile(r"\s*[\[({][^\])}]*[\])}]\s*$")
_AXIS_BEFORE = re.compile(rf"^(?:{_PLACE}[\W_]*)?[xyz][\W_]+|^{_PLACE}[\W_]+", re.IGNORECASE)

#: Columns by field; names by the texts that they are in; first values by the same; axes by group.
Columns = dict[str, str]
Names = Mapping[str, Name]
Values = Mapping[str, str]
Groups = Mapping[Component, Mapping[str, str]]

#: Ranks of positions: from the first on they have somebody's name, up to the second an entity's.
_NAMED, _THING = 2, 3


def infer_layout(given: ReadSpec, values: Mapping[str, str]) -> ReadSpec:
    """Infer the layout of a recording from its names and first values.

    Names are written as a layout writes them. What ``given`` says stands; the rest is inferred from
    names and values, one rule after the other. Raises ``AmbiguousLayout``.
    """
    if given.unless_own and given.pattern is None and {"time", "x"} <= set(values):
        given = given.own._replace(
            rebase_time=given.rebase_time,
            beginning=given.beginning,
            packet_layout=given.packet_layout,
            time_unit=given.time_unit if given.packets is not None else None,
            scale=given.scale if given.packets is not None else None,
        )
    counted = given.counts_rows
    columns = {
        field: column
        for field, column in given.columns or ()
        if column or field != "time" or counted
    }
    _check_given_columns(columns, values)
    names = {text: split_name(text) for text in values if text not in columns.values()}
    if set(FIELDS) <= set(values):
        own = {name: name for name in select_whole_fields(names)}
        columns = {**own, **_find_entity_column(own, names), **columns}
        columns |= find_rotation_columns(columns, names, values)
    else:
        for rule in _RULES:
            columns |= rule(columns, names, values, given)
    return add_units(given, columns, values)


def _find_entity_column(own: Columns, names: Names) -> Columns:
    """Return the entity's column beside columns with this program's own names.

    Empty if none is sure.
    """
    try:
        found = None if "entity" in own else _find_spelling("entity", names)
    except AmbiguousLayout:
        return {}
    return {"entity": found} if found else {}


def _check_given_columns(columns: Mapping[str, str], values: Mapping[str, str]) -> None:
    for field, column in columns.items():
        parts = split_joined(column) if field in JOINED else (column,)
        if column and column not in values and not all(part in values for part in parts):
            near = _find_similar_names(column, values)
            raise AmbiguousLayout(Reason.COLUMN_UNKNOWN, field=field, detail=column, names=near)


# ------------------------------------------------------------------------------------- the time


def _find_time(columns: Columns, names: Names, values: Values, given: ReadSpec) -> Columns:
    """Return the time's column, and the arrival's if that stands for both.

    A counter if a rate is given, else a time, else a counter with a unit.
    """
    if "time" in columns:
        return {}
    ticks = [text for text, name in names.items() if name.spelling in TICKS]
    if (given.time_unit or "").startswith("tick") and ticks:
        if len(ticks) > 1:
            raise _make_ambiguity("time", ticks)
        return {"time": ticks[0]}
    timed = [
        text
        for text in ticks
        if names[text].unit in TIME_UNITS_IN_BRACKETS or _is_date(values[text], "100ns")
    ]
    two = any(name.spelling == "ty" for name in names.values())  # tx is x, not a time
    pair = _find_time_pair(names, values)
    if pair:
        return {"time": pair}
    timed_names = {text: name for text, name in names.items() if not two or name.spelling != "tx"}
    both = _find_times_of_both(columns, names) if given.packets is None else {}
    found = both.get("time") or _find_spelling("time", timed_names)
    found = found or (timed[0] if len(timed) == 1 else None)
    if sure := both or ({"time": found} if found else _find_clocks(columns, names, given)):
        return sure
    known = _get_packet_column(given, "time")
    counts = given.packets is not None and (given.packets.time_unit or "").startswith("tick")
    if counts and known in ticks:
        return {"time": known}
    if ticks:
        rate = ("unit", "ticks@HZ")
        each = [Reading((("time", tick), rate)) for tick in ticks]
        readings = tuple(each) if len(ticks) > 1 else (Reading((rate,)),)
        facts = {"field": "time", "detail": ticks[0], "readings": readings}
        raise AmbiguousLayout(Reason.TICKS_WITHOUT_RATE, **facts)
    likely = [text for text, name in names.items() if is_time_name(name)]
    members = [] if likely else [text for text in names if _is_member_named_as_time(text)]
    likely = likely or (members if len(members) == 1 else [])  # several are those of entities
    likely = [text for text in likely if is_value(values[text].strip())]
    if len(likely) > 1:
        raise _make_ambiguity("time", likely)
    # where there is none, arrivals are all that is known of the sender's times
    sure = {"time": likely[0]} if likely else _find_date_or_arrival(columns, names, values)
    if sure:
        return sure
    free = {text: name for text, name in names.items() if not parse_component(name)}
    placed = len(free) < len(names)  # rows of places may have no times at all
    # those with a unit of time first
    able = sorted(free or names, key=lambda text: names[text].unit not in TIME_UNITS_IN_BRACKETS)
    facts = {"field": "time", "names": tuple(able), "detail": _ROWS if placed else ""}
    raise AmbiguousLayout(Reason.COLUMN_UNCLEAR, **facts)


def _find_clocks(columns: Columns, names: Names, given: ReadSpec) -> Columns:
    """Return the times whose names are somebody's and a unit: ``server_ms``, ``client_ms``.

    Empty unless they are sure; the only one is the time, and of frames the receiver's.
    """
    timed = {text: name for text, name in names.items() if name.unit in TIME_UNIT_WORDS}
    sent, own = (
        [text for text, name in timed.items() if name.spelling in words]
        for words in (_SENDERS, _RECEIVERS)
    )
    if len(sent) > 1 or len(own) > 1 or not sent + own:
        return {}
    if given.packets is not None:
        return {"time": (own or sent)[0]}
    came = sent and own and "arrival" not in columns
    return {"time": (sent or own)[0]} | ({"arrival": own[0]} if came else {})


def _find_date_or_arrival(columns: Columns, names: Names, values: Values) -> Columns:
    """Return the only column of arrivals, and for the time the only other date, or the same column.

    Empty if there is no arrival, or several.
    """
    arrivals = [text for text, name in names.items() if name.spelling in _ARRIVALS]
    arrivals = [columns["arrival"]] if "arrival" in columns else arrivals
    if len(arrivals) != 1 or not is_value(values[arrivals[0]].strip()):
        return {}
    dates = [text for text in names if text != arrivals[0] and _is_moment(values[text].strip())]
    sent = dates if len(dates) == 1 and _is_moment(values[arrivals[0]].strip()) else arrivals
    return {"time": sent[0], "arrival": arrivals[0]}


def _is_moment(value: str) -> bool:
    """Return True for a date with its time, in words or as a Unix time."""
    found = _ISO.fullmatch(value)
    return found[1] is not None if found else _is_date_in_any_unit(value)


def _is_member_named_as_time(text: str) -> bool:
    """Return True if the last step of a path is spelled as a time: ``snap.t``."""
    above, _, member = text.rpartition(".")
    spelling = split_name(member).spelling
    known = any(spelling in row for row in SPELLINGS["time"])
    return bool(above) and known and spelling != "tx"  # a translation's x


def _find_times_of_both(columns: Columns, names: Names) -> Columns:
    """Return the sender's time and, as the arrival, the log's own; empty unless both are sure."""
    if "arrival" in columns or any(name.spelling in _ARRIVALS for name in names.values()):
        return {}
    for received, made in ((_LOCAL_TIMES, _SENT_TIMES), (_OWN_TIMES, _PLAIN_TIMES)):
        own = [text for text, name in names.items() if name.spelling in received]
        sent = [text for text, name in names.items() if name.spelling in made]
        if len(own) == len(sent) == 1:
            return {"time": sent[0], "arrival": own[0]}
    known = {word for row in SPELLINGS["time"] for word in row}
    timed = [text for text, name in names.items() if name.spelling in known]
    own = [text for text in timed if "." not in text]
    sent = [text for text in timed if text.partition(".")[0].lower() in _MESSAGES]
    if len(timed) == 2 and len(own) == len(sent) == 1:  # that of the message, and the log's
        return {"time": sent[0], "arrival": own[0]}
    return {}


#: What logs call a message that they write down.
_MESSAGES = frozenset(("msg", "message", "data", "payload", "packet", "body", "state", "snapshot"))

#: Times that say whose they are: the sender's. Beside one, a plain time is that of the log.
_SENT_TIMES = frozenset((
    "server time", "server timestamp", "server send time", "sent server time", "remote time",
    "remote timestamp", "sent", "sent at", "sent time", "time sent", "sent timestamp", "send time",
    "send timestamp",
))  # fmt: skip
_LOCAL_TIMES = frozenset(("time", "t", "ts", "timestamp", "time stamp", "now", "client time",
                          "client timestamp", "time time", "performance now",
                          "perf now"))  # fmt: skip

_SENDERS = frozenset(("server", "srv", "svr", "sender", "remote", "host"))
_RECEIVERS = frozenset(("client", "cli", "clt", "local", "receiver"))

#: Times of the program that writes the log: beside one, a plain time is that of the state.
_OWN_TIMES = frozenset(("now", "performance now", "perf now", "date now"))
_PLAIN_TIMES = frozenset(("time", "t", "ts", "timestamp", "time stamp"))
_ARRIVALS = frozenset(word for row in SPELLINGS["arrival"] for word in row)

#: How rows without times are read.
_ROWS = "time=,unit=ticks@HZ"


# ------------------------------------------------------------------- positions and velocities


def _group_axes(names: Names, velocity: bool) -> Groups:
    """Group the columns that are axes of positions, or of velocities, by their other words.

    A group of one axis counts only where no group has more, and not if its words name a thing.
    """
    groups: dict[Component, dict[str, str]] = {}
    for text, name in names.items():
        component = parse_component(name)
        if component is not None and component.velocity == velocity:
            groups.setdefault(component._replace(axis=""), {}).setdefault(component.axis, text)
    groups = {group: _resolve_numbered_axes(axes) for group, axes in groups.items()}
    whole = {group: axes for group, axes in groups.items() if len(axes) > 1}
    alone = {one: axes for one, axes in groups.items() if axes and one.group != ("t",)}  # no tx
    return whole or {group: axes for group, axes in alone.items() if group.rank < _THING}


def _resolve_numbered_axes(axes: Mapping[str, str]) -> dict[str, str]:
    """Return the axes of a group, with numbered names resolved: ``pos_1`` is x without a ``pos_0``.

    A numbered name alone in its group is no axis.
    """
    if not all(split_name(text).words[-1].isdigit() for text in axes.values()):
        return {axis: text for axis, text in axes.items() if axis in POSITION}
    order = POSITION if "x" in axes else ("y", "z", "3")
    found = zip(POSITION, map(axes.get, order), strict=True)
    return {axis: text for axis, text in found if text} if len(axes) > 1 else {}


def _find_position(columns: Columns, names: Names, _values: Values, given: ReadSpec) -> Columns:
    """Return the columns of the position: the best group of axes."""
    if any(axis in columns for axis in POSITION):
        return {}
    north = next(filter(_is_latitude_longitude_pair, names), "")
    if north.endswith(".0") and f"{north[:-1]}1" in names:
        return {"x": f"{north[:-1]}1", "y": north}
    groups = _group_axes(names, velocity=False)
    if given.packets is not None:  # of the frames, what was drawn
        shown = {one: axes for one, axes in groups.items() if DRAWN_WORDS & set(one.group)}
        groups = shown if len(shown) == 1 else groups
    found = {} if any("x" in axes for axes in groups.values()) else _find_globe_columns(names)
    found = found or _choose_group(_select_own_positions(groups, columns, names), "")
    if not found:
        raise AmbiguousLayout(Reason.COLUMN_UNCLEAR, field="x", names=tuple(names))
    return found | _find_height(found, names)


def _find_height(found: Columns, names: Names) -> Columns:
    """Return the column of the height above x and y, or x and z; empty if none is sure.

    It is in the same unit.
    """
    lacking = {"xy": "z", "xz": "y"}.get("".join(sorted(found)))
    if lacking is None or any(WIDTHS & set(name.words) for name in names.values()):
        return {}
    # beside x and z a height may be that of a body
    words = set(HEIGHTS) if lacking == "z" else set(ALTITUDES) - set(HEIGHTS)
    free = {text: name for text, name in names.items() if text not in found.values()}
    unit = split_name(found["x"]).unit
    tall = [text for text, one in free.items() if one.spelling in words and one.unit == unit]
    return {lacking: tall[0]} if len(tall) == 1 else {}


def _select_own_positions(groups: Groups, columns: Columns, names: Names) -> Groups:
    """Return the groups that may be the entity's own position.

    Raises ``AmbiguousLayout`` if the groups are those of several entities.
    """
    own = {group: axes for group, axes in groups.items() if group.rank < _NAMED}
    things = {group: axes for group, axes in groups.items() if _NAMED <= group.rank <= _THING}
    if own or not things:
        return own or groups
    with suppress(AmbiguousLayout):  # a row for each player, and a ball in it
        who = set(split_name(columns.get("entity") or _find_spelling("entity", names) or "").words)
        things = {one: axes for one, axes in things.items() if set(one.group) & who} or things
    first, *more = things.values()
    apart = all(component.thing and not component.thing & FRAME_WORDS for component in things)
    if more and apart and all(record.keys() == first.keys() for record in more):
        shown = tuple(_strip_axis(next(iter(record.values()))) for record in things.values())
        readings = tuple(map(_make_reading, things.values()))
        raise AmbiguousLayout(Reason.ENTITIES_IN_A_ROW, names=shown, readings=readings)
    return things


def _make_reading(axes: Mapping[str, str], prefix: str = "") -> Reading:
    """Return a reading that takes the position, or with ``v`` the velocity, from these columns."""
    return Reading(tuple((prefix + axis, axes[axis]) for axis in POSITION if axis in axes))


def _find_globe_columns(names: Names) -> Columns:
    """Return the columns of longitude, latitude and, if any, altitude; empty if there are none."""
    found: dict[str, str] = {}
    for axis, words in (("x", LONGITUDES), ("y", LATITUDES), ("z", ALTITUDES)):
        meant = [text for text in names if is_named_as(text, words)]
        meant.sort(key=lambda text: [word not in split_name(text).words for word in words])
        if len(meant) > 1 and axis != "z":
            raise _make_ambiguity(axis, meant)
        found.update({axis: meant[0]} if meant else {})
    return found if {"x", "y"} <= set(found) else {}


def _is_latitude_longitude_pair(text: str) -> bool:
    """Return True if a name is that of a latitude and a longitude together."""
    return "".join(split_name(text).words[:-1]) in PLACES_OF_DEGREES


def _find_velocity(columns: Columns, names: Names, _values: Values, _given: ReadSpec) -> Columns:
    """Return the columns of the velocity, if any, unless they belong to another thing."""
    if set(VELOCITY) & set(columns):
        return {}
    place = parse_component(split_name(columns.get("x", "")))
    own = place.thing if place is not None else frozenset()
    groups = _group_axes(names, velocity=True)
    return _choose_group(
        {one: axes for one, axes in groups.items() if one.thing <= own | WHO_WORDS}, "v"
    )


def _find_single_columns(
    columns: Columns, names: Names, values: Values, _given: ReadSpec
) -> Columns:
    """Return the columns of arrival, entity, sequence number and teleport that fit by value."""
    chosen: Columns = {}
    place = next((columns[axis] for axis in POSITION if columns.get(axis)), "")
    of_each = find_star(place) >= 0 > find_star(columns["time"]) or len(split_at_stars(place)) > 2
    names = {text: name for text, name in names.items() if text not in columns.values()}
    for field in ("arrival", "entity", "seq", "teleport"):
        found = None if field in columns else _find_spelling(field, names)
        if not found or (field == "entity" and of_each and find_star(found) < 0):
            continue  # the name of an entity is not the same for all
        if names[found].spelling == "rx" and any(name.spelling == "ry" for name in names.values()):
            continue  # not "received", but one of three
        if found == field or _may_hold_axis(field, values[found]):
            chosen[field] = found
    return chosen


def _find_rotation(columns: Columns, names: Names, values: Values, _given: ReadSpec) -> Columns:
    return find_rotation_columns(columns, names, values)


#: The rules in their order: what each adds to the columns that are known.
_RULES = (_find_time, _find_position, _find_velocity, _find_rotation, _find_single_columns)


def _strip_axis(text: str) -> str:
    """Return the name of an entity in the name of a column for one of its axes."""
    return _AXIS_BEFORE.sub("", _AXIS.sub("", _UNIT.sub("", text))) or text


def _choose_group(groups: Groups, prefix: str) -> Columns:
    """Return the columns of the group most surely the entity's own; empty if there is no group.

    Raises ``AmbiguousLayout`` if several groups are equally sure.
    """
    if not groups:
        return {}
    rank = min(group.rank for group in groups)
    best = [axes for group, axes in groups.items() if group.rank == rank or not prefix]
    if len(best) > 1:
        field = prefix + min(best[0])
        names = tuple(axes.get(min(axes), "") for axes in best)
        readings = tuple(_make_reading(axes, prefix) for axes in best)
        raise AmbiguousLayout(Reason.COLUMN_AMBIGUOUS, field=field, names=names, readings=readings)
    return {prefix + axis: text for axis, text in best[0].items()}


# ---------------------------------------------------------------------------------- single names


def _find_spelling(field: str, names: Names) -> str | None:
    """Return the name spelled as this field, if any; raise ``AmbiguousLayout`` for several."""
    for spellings in SPELLINGS[field]:
        found = [text for text, name in names.items() if name.spelling in spellings]
        if not found and field == "entity":  # of a message's contents: data.id
            found = [text for text, name in names.items() if name.contained in spellings]
        if len(found) > 1:
            found = [text for text in found if find_star(text) >= 0] or found
        if len(found) > 1:
            raise _make_ambiguity(field, found)
        if found:
            return found[0]
    return None


def _make_ambiguity(field: str, names: Sequence[str]) -> AmbiguousLayout:
    readings = tuple(Reading(((field, name),)) for name in names)
    facts = {"field": field, "names": tuple(names), "readings": readings}
    return AmbiguousLayout(Reason.COLUMN_AMBIGUOUS, **facts)


def describe_missing_header(values: Values) -> dict[str, Any]:
    """Return the facts of a refusal of columns named by numbers: which column may be which field.

    Numbers in a vector are those of the position, and a cell without a number names the entity.
    """
    cells = {name: text.strip() for name, text in values.items() if f"{name}.0" not in values}
    whole = [name for name, text in cells.items() if "." not in name and is_value(text)]
    vector = [name for name in cells if "." in name]
    vector = [name for name in vector if name.partition(".")[0] == vector[0].partition(".")[0]]
    fields = [*whole[:1], *(vector or whole[1:])]
    columns = dict(zip(("time", *POSITION), fields, strict=False))
    others = [name for name, text in cells.items() if text and not is_value(text)]
    columns.update({"entity": others[0]} if others else {})
    reading = Reading(tuple(columns.items()))
    found = sum("." not in name for name in values)
    return {"found": found, "readings": (reading,) if "x" in columns else ()}


def _may_hold_axis(field: str, value: str) -> bool:
    pattern = {"seq": _COUNT, "teleport": _FLAG}.get(field)
    return pattern is None or not value.strip() or pattern.fullmatch(value.strip()) is not None


def _find_similar_names(column: str, values: Mapping[str, str]) -> tuple[str, ...]:
    from difflib import get_close_matches  # only a mistake needs it

    near = get_close_matches(column, values, n=3, cutoff=0.4)
    return tuple(near) or tuple(values)


def list_starred(layout: ReadSpec) -> dict[str, str]:
    """Return the columns of a layout that have a star, by field."""
    return {field: column for field, column in layout.places.items() if find_star(column) >= 0}


def infer_row_layout(given: ReadSpec, values: Mapping[str, str]) -> ReadSpec:
    """Infer the layout of a table, also one with columns for each entity; see ``infer_layout``."""
    templates = list_starred(given)
    if templates:
        if any(len(split_at_stars(column)) > 2 for column in templates.values()):
            raise AmbiguousLayout(Reason.STARS_IN_A_TABLE, detail=next(iter(templates.values())))
        found = find_entities(templates, tuple(values))
        names = sorted(found, key=lambda name: -len(found[name]))  # some have no velocity
        return infer_layout(given, _star_first_entity(values, names))
    problem, alone = None, None
    family = find_side_by_side(tuple(values))
    several = len(family) > 1 and not FRAME_WORDS & _collect_words(family)
    try:
        alone = infer_layout(given, values)
        own = "entity" in alone.places or "entity" in dict(given.columns or ())
        x = alone.places.get("x", "")
        place = parse_component(split_name(x))
        eye = place is not None and place.rank > _THING  # taken for lack of another
        if not several or own or not (eye or x in family.values()):
            return alone
    except AmbiguousLayout as ambiguous:
        if not several or ambiguous.reason not in _OF_SEVERAL:
            raise
        problem = ambiguous
    layout, entities = None, set[str]()
    with suppress(AmbiguousLayout):
        layout = infer_layout(given, _star_first_entity(values, tuple(family)))
        entities = set(find_entities(list_starred(layout), tuple(values)))
    if layout is not None and entities == set(family):
        return layout
    if problem is None:
        assert alone is not None
        return alone
    if layout is not None and entities > set(family):  # a camera, too
        stars = Reading(tuple(list_starred(layout).items()))
        problem.add_readings([stars])
    raise problem


#: What is not clear of columns for each of several entities where one is looked for.
_OF_SEVERAL = (Reason.ENTITIES_IN_A_ROW, Reason.COLUMN_AMBIGUOUS, Reason.COLUMN_UNCLEAR)

#: An axis in the name of a column: a word of its own, or at the end of one.
_AN_AXIS = re.compile(
    r"(?<![A-Za-z])[xyzXYZ](?![A-Za-z])|(?<=[a-z\d])[XYZ](?![A-Za-z])|(?<=\d)[xyz](?![A-Za-z])"
    r"|(?:(?<![A-Za-z])(?:p|pos|loc|coord))([xyz])(?![A-Za-z])"
)


#: What is between words, and a word of places at the end.
_PARTS = re.compile(r"([\W_]+|(?<=[a-z\d])(?:Pos|Position|Loc|Location|Coord)$)")


def find_side_by_side(names: Sequence[str]) -> dict[str, str]:
    """Return the entities for which a header has columns of each axis, each with its x column.

    The text before the axis, or the text behind it, differs between the entities; everything else
    is equal: ``p1`` and ``p2`` of ``p1_x`` and ``p2_x``. Cameras and targets are not entities.
    """
    axes: dict[tuple[str, str], dict[str, str]] = {}
    glued = _find_names_before_axes(names)
    for text in names:
        if text[:-1] in glued:
            axes.setdefault((text[:-1], ""), {})[text[-1].lower()] = text
            continue
        marks = list(_AN_AXIS.finditer(text))
        if len(marks) > 1 and marks[-1].group() == "px":  # pixels
            marks.pop()
        if marks:
            begin, end = marks[-1].span(1) if marks[-1].group(1) else marks[-1].span()
            axes.setdefault((text[:begin], text[end:]), {})[text[begin:end].lower()] = text
    best: dict[str, str] = {}
    for side in (0, 1):
        alike: dict[tuple[str, ...], dict[str, str]] = {}
        for key, columns in axes.items():
            name = _find_entity_name(key[side])
            if name and _is_entity_name(name) and "x" in columns and len(columns) > 1:
                rest = key[side].replace(name, "*", 1)
                alike.setdefault((rest, key[1 - side], *sorted(columns)), {})[name] = columns["x"]
        best = max((best, *alike.values()), key=len)
    return best


def _find_names_before_axes(names: Sequence[str]) -> set[str]:
    """Return the entity names that stand right before an axis: ``alicex``, ``bobx``.

    ``AX``, ``BX``. Names of one letter count only if they are the first letters of the alphabet.
    """
    pairs, there = {"x": "y", "X": "Y"}, set(names)
    both = {text[:-1] for text in names if f"{text[:-1]}{pairs.get(text[-1:], '?')}" in there}
    glued = {stem for stem in both if stem[-1:].isalnum()}
    single = sorted(stem for stem in glued if len(stem) == 1)
    if single != [chr(ord("A") + at) for at in range(len(single))]:
        glued -= set(single)
    glued = {stem for stem in glued if _is_entity_name(stem) and _find_entity_name(stem)}
    return glued if len(glued) > 1 else set()


def _collect_words(names: Iterable[str]) -> set[str]:
    return {word for name in names for word in split_name(name).words}


def _find_entity_name(part: str) -> str:
    """Return the entity's name in the text beside an axis, without words for positions."""
    words = _PARTS.split(_UNIT.sub("", part))
    while words and _is_position_word(words[0]):
        words.pop(0)
    while words and _is_position_word(words[-1]):
        words.pop()
    return "".join(words)


def _is_position_word(word: str) -> bool:
    lower = word.strip("\\_").lower()
    around = POSITION_WORDS | {"world", "global"}
    return not lower.isalnum() or lower in around or lower in LENGTH_UNITS


def _is_entity_name(name: str) -> bool:
    """Return True if columns of this name belong to an entity, and not to a camera."""
    words = set(split_name(name).words)
    numbered = any(word.isdigit() for word in words)
    others = (OTHER_WORDS - _SEATS if numbered else OTHER_WORDS) | VELOCITY_WORDS | EYES
    return not words & others


#: Words that with a number are an entity's.
_SEATS = frozenset(("home", "slot", "block", "cell"))


def find_entities(templates: Mapping[str, str], names: Sequence[str]) -> dict[str, dict[str, int]]:
    """Return the index of each field's column, by the name of the entity.

    An entity's name is the text in the star's place. An entity has a column for each axis of the
    position that has a template. ``p1_v`` is no entity, though ``p1_v_x`` ends in ``_x``.
    """
    entities: dict[str, dict[str, int]] = {}
    for field, template in templates.items():
        pattern = _compile_template(template)
        for place, name in enumerate(names):
            found = pattern.fullmatch(name)
            if found and not VELOCITY_WORDS & set(split_name(found.group(1)).words[-1:]):
                entities.setdefault(found.group(1), {})[field] = place
    needed = [axis for axis in POSITION if axis in templates]
    return {
        name: places for name, places in entities.items() if all(axis in places for axis in needed)
    }


def is_named(column: str, name: str) -> bool:
    """Return True if a layout's column, with or without a star, matches this name."""
    return column == name or (
        find_star(column) >= 0 and bool(_compile_template(column).fullmatch(name))
    )


def _compile_template(template: str) -> re.Pattern[str]:
    at = find_star(template)
    return re.compile(f"{re.escape(template[:at])}(.+){re.escape(template[at + 1 :])}")


def _star_first_entity(values: Mapping[str, str], names: Sequence[str]) -> dict[str, str]:
    """Return the first entity's columns, a star in place of its name, and those of no entity."""
    known = set(names)
    lengths = sorted(set(map(len, names)), reverse=True)
    firsts: dict[str, str] = {}
    others: dict[str, str] = {}
    for text, value in values.items():
        begin, end = _find_name(text, known, lengths)
        if begin == end:
            others[text] = value
        elif text[begin:end] == names[0]:
            firsts[f"{text[:begin]}*{text[end:]}"] = value
    return {**firsts, **others}


def _find_name(text: str, names: Collection[str], lengths: Sequence[int]) -> tuple[int, int]:
    """Return begin and end of the longest of ``names`` that is a word of its own in a text.

    (0, 0) if none is.
    """
    for length in lengths:
        for begin in range(len(text) - length + 1):
            end = begin + length
            if text[begin:end] in names and _is_whole_name(text, begin, end):
                return begin, end
    return 0, 0


def _is_whole_name(text: str, begin: int, end: int) -> bool:
    """Return True if a part of a text is a whole name, and not a piece of a longer word."""
    first, before = text[begin], text[begin - 1] if begin else "_"
    last, behind = text[end - 1], text[end : end + 1] or "_"
    if first.isdigit():
        begins = not before.isdigit()
    else:
        begins = not (_UPPER if first.isupper() else _LETTER).fullmatch(before)
    ends = not (behind.isdigit() if last.isdigit() else _LOWER.fullmatch(behind))
    return begins and (ends or text[end:] in POSITION)


_UPPER, _LOWER, _LETTER = map(re.compile, ("[A-Z]", "[a-z]", "[A-Za-z]"))
