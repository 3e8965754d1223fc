"""In which units and axes the columns of a recording are, by their names and first values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from epic_cli.engine.refusals import Reading, Reason
from epic_cli.engine.text import FIELDS
from epic_cli.recordings.names.spellings import (
    LENGTH_UNITS,
    LONGITUDES,
    SPEED_UNITS,
    TIME_UNITS_IN_BRACKETS,
    name_of,
)
from epic_cli.recordings.names.turns import angles_in
from epic_cli.recordings.read_spec import (
    POSITION,
    TIME_UNITS,
    UNIX_UNITS,
    VELOCITY,
    Origin,
    ReadSpec,
    in_order,
)

#: A time of day, or a date with one.
_ISO = re.compile(r"(\d{4}([-/])\d\d\2\d\d[Tt ])?\d\d:\d\d(:\d\d([.,]\d+)?)?([Zz]|[+-]\d\d:?\d\d)?")

_NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?|[+-]?(nan|inf(inity)?)", re.I)

#: Dates as spreadsheets of several countries write them, and the rest of their format.
_DATE = re.compile(
    r"(\d{1,2})([./-])(\d{1,2})\2(\d{4}|\d\d)(,?[ T]+)"
    r"(\d{1,2}:\d\d)(:\d\d([.,]\d+)?)?( ?[AaPp][Mm])?"
)

#: Unix times from 1998 to 2128, in seconds; with these digits in any unit a time is one of them.
_UNIX = (9e8, 5e9)

#: What degrees are made of.
_DEGREES = {"semicircles": 180 / 2**31, "dege7": 1e-7}

#: So many names are proposed.
_MOST_NAMES = 12


class AmbiguousLayout(Exception):
    """The names do not say which of them is which; ``facts`` are those of a ``Refusal``."""

    def __init__(self, reason: Reason, **facts: Any) -> None:
        super().__init__(reason)
        self.reason = reason
        self.facts = {**facts, "names": facts.get("names", ())[:_MOST_NAMES]}


def is_value(cell: str) -> bool:
    """Whether a cell is a number or a time, and so no name of a column."""
    return any(one.fullmatch(cell) is not None for one in (_NUMBER, _ISO, _DATE))


def with_units(given: ReadSpec, columns: Mapping[str, str], values: Mapping[str, str]) -> ReadSpec:
    """The layout with these columns, and the units and the axes that they have."""
    first = values[columns["time"]].strip()
    time_format = given.time_format
    if time_format is None and given.time_unit is None:
        time_format = _format_of(first)
    time_unit, origin = _unit_and_origin(given, columns, first, time_format)
    axes = given.axes or "".join(axis for axis in POSITION if columns.get(axis))
    for axis in axes:
        if not columns.get(axis):
            raise AmbiguousLayout(Reason.COLUMN_UNCLEAR, field=axis, names=tuple(values))
    velocities = [f"v{axis}" for axis in axes]
    speeds = all(columns.get(name) for name in velocities)
    _check_vectors(given, columns, axes, speeds)
    left_out = {axis for axis in POSITION if axis not in axes}
    left_out |= {name for name in VELOCITY if not speeds or name not in velocities}
    kept = {one: column for one, column in columns.items() if not column or one not in left_out}
    geo = given.geo or ("x" not in given.places and is_named_as(columns.get("x", ""), LONGITUDES))
    return given._replace(
        columns=in_order(kept),
        time_unit=time_unit,
        time_origin=origin,
        time_format=time_format,
        axes=axes,
        geo=geo,
        angles=given.angles or angles_in(kept),
        factors=_factors(kept, geo) if given.scale is None else None,
        unless_own=False,
        rebase_time=False,
    )


def _factors(columns: Mapping[str, str], geo: bool) -> tuple[float, ...] | None:
    """What makes metres, and metres per second, of the units in the names; None: nothing has to.

    An axis without a unit has that of the others, a velocity that of the position.
    """
    units = {field: name_of(columns[field]).unit for field in columns if columns[field]}
    lengths = {
        axis: LENGTH_UNITS[units[axis]] for axis in POSITION if units.get(axis) in LENGTH_UNITS
    }
    usual = 1.0 if geo else next(iter(lengths.values()), 1.0)
    degrees = ("x", "y") if geo else ()
    known = {**LENGTH_UNITS, **SPEED_UNITS}
    found = [
        _DEGREES.get(units.get(axis, ""), 1.0) if axis in degrees else lengths.get(axis, usual)
        for axis in POSITION
    ]
    found += [known.get(units.get(name, ""), usual) for name in VELOCITY]
    return None if set(found) == {1.0} else tuple(found)


def _unit_and_origin(
    given: ReadSpec, columns: Mapping[str, str], first: str, time_format: str | None
) -> tuple[str, Origin | None]:
    """The unit and the origin of the times, the first of which is this text."""
    unit = TIME_UNITS_IN_BRACKETS.get(name_of(columns["time"]).unit)
    # what this program writes is in seconds, and read back as it was unless it is to be drawn
    named = all(columns.get(name) == name for name in ("time", *POSITION))
    own = named and given.pattern is None and not given.rebase_time
    if time_format is not None or (given.time_unit is None and _ISO.fullmatch(first)):
        unit = "iso"
    time_unit = given.time_unit or unit or ("s" if own else _unit_of(first))
    if given.time_origin is not None:
        return time_unit, given.time_origin
    unix = time_unit in TIME_UNITS and _is_unix(first, TIME_UNITS[time_unit])
    return time_unit, "first" if time_unit == "iso" or (unix and not own) else 0.0


def _format_of(first: str) -> str | None:
    """The format of a date that is not in ISO 8601; None: it is no such date.

    Behind points the day comes first, before AM and PM the month. Raises ``AmbiguousLayout`` where
    neither shows.
    """
    found = _DATE.fullmatch(first)
    if found is None:
        return None
    day, mark, month, year, gap, _, seconds, _, half = found.groups()
    year = "%Y" if len(year) > 2 else "%y"
    clock = f"{'%I' if half else '%H'}:%M{':%S' if seconds else ''}"
    clock += f"{half[:-2]}%p" if half else ""
    day_first, month_first = (
        f"{one}{year}{gap.strip() + ' ' if 'T' not in gap else 'T'}{clock}"
        for one in (f"%d{mark}%m{mark}", f"%m{mark}%d{mark}")
    )
    if int(day) > 12 or (mark == "." and not half):
        return day_first
    if half or int(month) > 12:
        return month_first
    readings = tuple(Reading((("time_format", one),)) for one in (day_first, month_first))
    raise AmbiguousLayout(Reason.DATE_UNCLEAR, field="time", detail=first, readings=readings)


def _check_vectors(given: ReadSpec, columns: Mapping[str, str], axes: str, speeds: bool) -> None:
    """Refuses velocities of other axes than the position's, where they are certainly meant."""
    meant = [
        name
        for name in VELOCITY
        if columns.get(name) == name or (name in given.places and not given.axes)
    ]
    others = [name[1] for name in meant if name[1] not in axes and not given.axes]
    missing = [name for name in VELOCITY if meant and not columns.get(name) and name[1] in axes]
    if others or (missing and not speeds):
        raise AmbiguousLayout(Reason.COLUMNS_MISSING, names=(*others, *missing), expected=FIELDS)


def _unit_of(value: str) -> str:
    """The unit in which a time is a Unix time, or seconds."""
    return next((name for name in UNIX_UNITS if _is_unix(value, TIME_UNITS[name])), "s")


def _is_unix(value: str, per_second: float) -> bool:
    try:
        seconds = float(value.replace(",", ".")) / per_second
    except ValueError:
        return False
    return _UNIX[0] <= seconds <= _UNIX[1]


def is_named_as(text: str, words: tuple[str, ...]) -> bool:
    """Whether one of these words is in a name."""
    return bool(set(name_of(text).words) & set(words))
