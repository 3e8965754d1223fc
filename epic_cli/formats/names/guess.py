"""What the names of a table, or of a JSON object, say of its layout, or why they do not."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from epic_cli.engine.refusals import Reason
from epic_cli.engine.text import FIELDS, OPTIONAL_FIELDS
from epic_cli.formats.columns import POSITION, VELOCITY, in_order, joined_columns, star_of
from epic_cli.formats.layout import TIME_UNITS, UNIX_UNITS, Layout, Origin
from epic_cli.formats.names.spellings import (
    ALTITUDES,
    LATITUDES,
    LENGTH_UNITS,
    LESSER,
    LONGITUDES,
    SPEED_UNITS,
    SPELLINGS,
    TICKS,
    TIME_UNITS_IN_BRACKETS,
    VELOCITY_WORDS,
    Component,
    Name,
    component_of,
    name_of,
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

#: Fields that are only taken where their first value can be meant.
_COUNT, _FLAG = re.compile(r"\d{1,18}"), re.compile(r"[01]|true|false", re.IGNORECASE)


#: What stands behind the name of an entity, or in front, where it has a column for each axis.
_PLACE = "(?:pos|position|loc|location|coord)"
_AXIS = re.compile(
    rf"(?i:[\W_]+{_PLACE}?[\W_]*[xyz]|{_PLACE}[\W_]*[xyz])\W*$|(?<=[a-z\d])[XYZ]$|(?<=\d)[xyz]$"
)
_AXIS_BEFORE = re.compile(rf"^(?:{_PLACE}[\W_]*)?[xyz][\W_]+|^{_PLACE}[\W_]+", re.IGNORECASE)

#: Columns by field; names by the texts that they are in; first values by the same; axes by group.
Columns = dict[str, str]
Names = Mapping[str, Name]
Values = Mapping[str, str]
Groups = Mapping[Component, Mapping[str, str]]

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


def infer_layout(given: Layout, values: Mapping[str, str]) -> Layout:
    """The layout of a recording with these names and first values, texts as a layout writes them.

    What is given stands; the rest is inferred from names and values, one rule after the other.
    Raises ``AmbiguousLayout``.
    """
    if given.unless_own and given.pattern is None and {"time", "x"} <= set(values):
        given = Layout(rebase_time=given.rebase_time, beginning=given.beginning)
    columns = {field: column for field, column in given.columns or () if column or field != "time"}
    _check_given(columns, values)
    names = {text: name_of(text) for text in values if text not in columns.values()}
    if set(FIELDS) <= set(values):
        own = {name: name for name in (*FIELDS, *OPTIONAL_FIELDS) if name in names}
        columns = {**own, **_identifier(own, names), **columns}
    else:
        for rule in _RULES:
            columns |= rule(columns, names, values, given)
    return _with_units(given, columns, values)


def _identifier(own: Columns, names: Names) -> Columns:
    """The column that surely names the entity beside this program's own names; empty: none does."""
    try:
        found = None if "entity" in own else _single("entity", names)
    except AmbiguousLayout:
        return {}
    return {"entity": found} if found else {}


def _check_given(columns: Mapping[str, str], values: Mapping[str, str]) -> None:
    for field, column in columns.items():
        parts = joined_columns(column) if field == "entity" else (column,)
        if column and column not in values and not all(part in values for part in parts):
            near = _near(column, values)
            raise AmbiguousLayout(Reason.COLUMN_UNKNOWN, field=field, detail=column, names=near)


def _with_units(given: Layout, columns: Mapping[str, str], values: Mapping[str, str]) -> Layout:
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
    geo = given.geo or ("x" not in given.places and _is(columns.get("x", ""), LONGITUDES))
    return given._replace(
        columns=in_order(kept),
        time_unit=time_unit,
        time_origin=origin,
        time_format=time_format,
        axes=axes,
        geo=geo,
        factors=_factors(kept, geo) if given.scale is None else None,
        unless_own=False,
        rebase_time=False,
    )


def _factors(columns: Columns, geo: bool) -> tuple[float, ...] | None:
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
    found = [1.0 if axis in degrees else lengths.get(axis, usual) for axis in POSITION]
    found += [known.get(units.get(name, ""), usual) for name in VELOCITY]
    return None if set(found) == {1.0} else tuple(found)


def _unit_and_origin(
    given: Layout, columns: Mapping[str, str], first: str, time_format: str | None
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
    raise AmbiguousLayout(
        Reason.DATE_UNCLEAR, field="time", detail=first, names=(day_first, month_first)
    )


def _check_vectors(given: Layout, columns: Mapping[str, str], axes: str, speeds: bool) -> None:
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


# ------------------------------------------------------------------------------------- the time


def _time(columns: Columns, names: Names, _values: Values, given: Layout) -> Columns:
    """The time: a counter if there is a rate, else a time, else a counter with a unit."""
    if "time" in columns:
        return {}
    ticks = [text for text, name in names.items() if name.spelling in TICKS]
    if (given.time_unit or "").startswith("tick") and len(ticks) == 1:
        return {"time": ticks[0]}
    timed = [text for text in ticks if names[text].unit in TIME_UNITS_IN_BRACKETS]
    found = _single("time", names) or (timed[0] if len(timed) == 1 else None)
    if found:
        return {"time": found}
    if ticks:
        raise AmbiguousLayout(Reason.TICKS_WITHOUT_RATE, field="time", detail=ticks[0])
    raise AmbiguousLayout(Reason.COLUMN_UNCLEAR, field="time", names=tuple(names))


def _unit_of(value: str) -> str:
    """The unit in which a time is a Unix time, or seconds."""
    return next((name for name in UNIX_UNITS if _is_unix(value, TIME_UNITS[name])), "s")


def _is_unix(value: str, per_second: float) -> bool:
    try:
        seconds = float(value.replace(",", ".")) / per_second
    except ValueError:
        return False
    return _UNIX[0] <= seconds <= _UNIX[1]


# ------------------------------------------------------------------- positions and velocities


def _groups(names: Names, velocity: bool) -> Groups:
    """The columns that are axes of positions, or velocities, by the words that they share."""
    groups: dict[Component, dict[str, str]] = {}
    for text, name in names.items():
        component = component_of(name)
        if component is not None and component.velocity == velocity:
            groups.setdefault(component._replace(axis=""), {}).setdefault(component.axis, text)
    return groups


def _position(columns: Columns, names: Names, _values: Values, _given: Layout) -> Columns:
    """The position: the best group of axes."""
    if any(axis in columns for axis in POSITION):
        return {}
    groups = _groups(names, velocity=False)
    found = {} if any("x" in axes for axes in groups.values()) else _globe(names)
    found = found or _best(groups, "")
    if not found:
        _check_side_by_side(columns, names)
        raise AmbiguousLayout(Reason.COLUMN_UNCLEAR, field="x", names=tuple(names))
    return found


def _globe(names: Names) -> Columns:
    """Longitude, latitude and, where there is one, altitude; empty: there are none."""
    found: dict[str, str] = {}
    for axis, words in (("x", LONGITUDES), ("y", LATITUDES), ("z", ALTITUDES)):
        meant = [text for text in names if _is(text, words)]
        if len(meant) > 1 and axis != "z":
            raise AmbiguousLayout(Reason.COLUMN_AMBIGUOUS, field=axis, names=tuple(meant))
        found.update({axis: meant[0]} if meant else {})
    return found if {"x", "y"} <= set(found) else {}


def _is(text: str, words: tuple[str, ...]) -> bool:
    return bool(set(name_of(text).words) & set(words))


def _velocity(columns: Columns, names: Names, _values: Values, _given: Layout) -> Columns:
    """The velocity, if there is one."""
    return {} if set(VELOCITY) & set(columns) else _best(_groups(names, velocity=True), "v")


def _others(columns: Columns, names: Names, values: Values, _given: Layout) -> Columns:
    """The fields that are one column, if there is one in which their first value can be meant."""
    chosen: Columns = {}
    place = next((columns[axis] for axis in POSITION if columns.get(axis)), "")
    of_each = star_of(place) >= 0 > star_of(columns["time"])
    for field in ("arrival", "entity", "seq", "teleport"):
        found = None if field in columns else _single(field, names)
        if not found or (field == "entity" and of_each and star_of(found) < 0):
            continue  # the name of an entity is not the same for all
        if found == field or _can_be(field, values[found]):
            chosen[field] = found
    return chosen


#: The rules in their order: what each adds to the columns that are known.
_RULES = (_time, _position, _velocity, _others)


def _check_side_by_side(chosen: Columns, names: Names) -> None:
    """Refuses a row that has positions of several entities, each under the name of its own."""
    entities: dict[str, dict[str, str]] = {}
    for text, name in names.items():
        axes = [word for word in name.words if word in POSITION]
        others = [word for word in name.words if word not in POSITION]
        if len(axes) == 1 and others and not VELOCITY_WORDS & set(others):
            entities.setdefault("_".join(others), {}).setdefault(axes[0], text)
    first, *more = entities.values() or ({},)
    if more and len(first) > 1 and all(one.keys() == first.keys() for one in more):
        columns = {"time": chosen["time"]} if "time" in chosen else {}
        detail = ",".join(f"{field}={text}" for field, text in {**columns, **first}.items())
        shown = tuple(_entity(next(iter(one.values()))) for one in entities.values())
        raise AmbiguousLayout(Reason.ENTITIES_IN_A_ROW, names=shown, detail=detail)


def _entity(text: str) -> str:
    """The name of an entity in that of a column for one of its axes."""
    return _AXIS_BEFORE.sub("", _AXIS.sub("", text)) or text


def _best(groups: Groups, prefix: str) -> Columns:
    """The columns of the group that is most surely the entity's own; empty: there is none."""
    groups = {group: axes for group, axes in groups.items() if len(axes) > 1} or groups
    if not groups:
        return {}
    rank = min(group.rank for group in groups)
    best = [axes for group, axes in groups.items() if group.rank == rank]
    if len(best) > 1:
        best.sort(key=lambda axes: bool(LESSER & set(name_of(next(iter(axes.values()))).words)))
        whole = tuple(
            ",".join(f"{prefix}{axis}={text}" for axis, text in axes.items()) for axes in best
        )
        field = prefix + min(best[0])
        candidates = tuple(axes.get(min(axes), "") for axes in best)
        raise AmbiguousLayout(
            Reason.COLUMN_AMBIGUOUS, field=field, names=candidates, expected=whole
        )
    return {prefix + axis: text for axis, text in best[0].items()}


# ---------------------------------------------------------------------------------- single names


def _single(field: str, names: Names) -> str | None:
    """The name that is spelt as this field, if any; raises ``AmbiguousLayout`` for several."""
    for spellings in SPELLINGS[field]:
        found = [text for text, name in names.items() if name.spelling in spellings]
        if len(found) > 1:
            found = [text for text in found if star_of(text) >= 0] or found
        if len(found) > 1:
            raise AmbiguousLayout(Reason.COLUMN_AMBIGUOUS, field=field, names=tuple(found))
        if found:
            return found[0]
    return None


def _can_be(field: str, value: str) -> bool:
    pattern = {"seq": _COUNT, "teleport": _FLAG}.get(field)
    return pattern is None or not value.strip() or pattern.fullmatch(value.strip()) is not None


def _near(column: str, values: Mapping[str, str]) -> tuple[str, ...]:
    from difflib import get_close_matches  # only a mistake needs it

    near = get_close_matches(column, values, n=3, cutoff=0.4)
    return tuple(near) or tuple(values)
