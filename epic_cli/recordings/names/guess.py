"""What the names of a table, or of a JSON object, say of its layout, or why they do not."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from epic_cli.engine.refusals import Reading, Reason
from epic_cli.engine.text import FIELDS
from epic_cli.recordings.names.spellings import (
    ALTITUDES,
    FRAME_WORDS,
    HEIGHTS,
    LATITUDES,
    LONGITUDES,
    SPELLINGS,
    TICKS,
    TIME_UNITS_IN_BRACKETS,
    WHO_WORDS,
    WIDTHS,
    Component,
    Name,
    component_of,
    name_of,
)
from epic_cli.recordings.names.turns import rotation_columns
from epic_cli.recordings.names.units import AmbiguousLayout, is_named_as, is_value, with_units
from epic_cli.recordings.read_spec import (
    POSITION,
    VELOCITY,
    ReadSpec,
    joined_columns,
    star_of,
    whole_fields,
)

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
    """The layout of a recording with these names and first values, texts as a layout writes them.

    What is given stands; the rest is inferred from names and values, one rule after the other.
    Raises ``AmbiguousLayout``.
    """
    if given.unless_own and given.pattern is None and {"time", "x"} <= set(values):
        given = ReadSpec(rebase_time=given.rebase_time, beginning=given.beginning)
    columns = {field: column for field, column in given.columns or () if column or field != "time"}
    _check_given(columns, values)
    names = {text: name_of(text) for text in values if text not in columns.values()}
    if set(FIELDS) <= set(values):
        own = {name: name for name in whole_fields(names)}
        columns = {**own, **_identifier(own, names), **columns}
        columns |= rotation_columns(columns, names, values)
    else:
        for rule in _RULES:
            columns |= rule(columns, names, values, given)
    return with_units(given, columns, values)


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


# ------------------------------------------------------------------------------------- the time


def _time(columns: Columns, names: Names, _values: Values, given: ReadSpec) -> Columns:
    """The time: a counter if there is a rate, else a time, else a counter with a unit."""
    if "time" in columns:
        return {}
    ticks = [text for text, name in names.items() if name.spelling in TICKS]
    if (given.time_unit or "").startswith("tick") and len(ticks) == 1:
        return {"time": ticks[0]}
    timed = [text for text in ticks if names[text].unit in TIME_UNITS_IN_BRACKETS]
    two = any(name.spelling == "ty" for name in names.values())  # tx is x, not a time
    timed_names = {text: name for text, name in names.items() if not two or name.spelling != "tx"}
    found = _single("time", timed_names) or (timed[0] if len(timed) == 1 else None)
    if found:
        return {"time": found}
    if ticks:
        rate = (Reading((("unit", "ticks@HZ"),)),)
        facts = {"field": "time", "detail": ticks[0], "readings": rate}
        raise AmbiguousLayout(Reason.TICKS_WITHOUT_RATE, **facts)
    raise AmbiguousLayout(Reason.COLUMN_UNCLEAR, field="time", names=tuple(names))


# ------------------------------------------------------------------- positions and velocities


def _groups(names: Names, velocity: bool) -> Groups:
    """The columns that are axes of positions, or velocities, by the words that they share.

    A lone axis counts where none has more; words of a thing with one axis may be anything.
    """
    groups: dict[Component, dict[str, str]] = {}
    for text, name in names.items():
        component = component_of(name)
        if component is not None and component.velocity == velocity:
            groups.setdefault(component._replace(axis=""), {}).setdefault(component.axis, text)
    groups = {group: _counted_from_0(axes) for group, axes in groups.items()}
    whole = {group: axes for group, axes in groups.items() if len(axes) > 1}
    alone = {one: axes for one, axes in groups.items() if axes and one.group != ("t",)}  # no tx
    return whole or {group: axes for group, axes in alone.items() if group.rank < _THING}


def _counted_from_0(axes: Mapping[str, str]) -> dict[str, str]:
    """The axes of a group: ``pos_1`` is x where there is no ``pos_0``; alone it is none."""
    if not all(name_of(text).words[-1].isdigit() for text in axes.values()):
        return {axis: text for axis, text in axes.items() if axis in POSITION}
    order = POSITION if "x" in axes else ("y", "z", "3")
    found = zip(POSITION, map(axes.get, order), strict=True)
    return {axis: text for axis, text in found if text} if len(axes) > 1 else {}


def _position(columns: Columns, names: Names, _values: Values, _given: ReadSpec) -> Columns:
    """The position: the best group of axes."""
    if any(axis in columns for axis in POSITION):
        return {}
    groups = _groups(names, velocity=False)
    found = {} if any("x" in axes for axes in groups.values()) else _globe(names)
    found = found or _best(_likeliest(groups, columns, names), "")
    if not found:
        raise AmbiguousLayout(Reason.COLUMN_UNCLEAR, field="x", names=tuple(names))
    return found | _height(found, names)


def _height(found: Columns, names: Names) -> Columns:
    """What stands beside x and y, in their unit, as the height above their plane."""
    if set(found) != {"x", "y"} or any(WIDTHS & set(name.words) for name in names.values()):
        return {}
    unit = name_of(found["x"]).unit
    tall = [text for text, one in names.items() if one.spelling in HEIGHTS and one.unit == unit]
    return {"z": tall[0]} if len(tall) == 1 else {}


def _likeliest(groups: Groups, columns: Columns, names: Names) -> Groups:
    """The groups that may be the entity's own position; refuses those of several entities."""
    own = {group: axes for group, axes in groups.items() if group.rank < _NAMED}
    things = {group: axes for group, axes in groups.items() if _NAMED <= group.rank <= _THING}
    if own or not things:
        return own or groups
    with suppress(AmbiguousLayout):  # a row for each player, and a ball in it
        who = set(name_of(columns.get("entity") or _single("entity", names) or "").words)
        things = {one: axes for one, axes in things.items() if set(one.group) & who} or things
    first, *more = things.values()
    apart = all(one.thing and not one.thing & FRAME_WORDS for one in things)
    if more and apart and all(one.keys() == first.keys() for one in more):
        shown = tuple(_entity(next(iter(one.values()))) for one in things.values())
        readings = tuple(map(_reading, things.values()))
        raise AmbiguousLayout(Reason.ENTITIES_IN_A_ROW, names=shown, readings=readings)
    return things


def _reading(axes: Mapping[str, str], prefix: str = "") -> Reading:
    """The reading that takes these columns."""
    return Reading(tuple((prefix + axis, axes[axis]) for axis in POSITION if axis in axes))


def _globe(names: Names) -> Columns:
    """Longitude, latitude and, where there is one, altitude; empty: there are none."""
    found: dict[str, str] = {}
    for axis, words in (("x", LONGITUDES), ("y", LATITUDES), ("z", ALTITUDES)):
        meant = [text for text in names if is_named_as(text, words)]
        meant.sort(key=lambda text: [word not in name_of(text).words for word in words])
        if len(meant) > 1 and axis != "z":
            raise _several(axis, meant)
        found.update({axis: meant[0]} if meant else {})
    return found if {"x", "y"} <= set(found) else {}


def _velocity(columns: Columns, names: Names, _values: Values, _given: ReadSpec) -> Columns:
    """The velocity, if there is one: not that of another thing than the position's."""
    if set(VELOCITY) & set(columns):
        return {}
    place = component_of(name_of(columns.get("x", "")))
    own = place.thing if place is not None else frozenset()
    groups = _groups(names, velocity=True)
    return _best({one: axes for one, axes in groups.items() if one.thing <= own | WHO_WORDS}, "v")


def _others(columns: Columns, names: Names, values: Values, _given: ReadSpec) -> Columns:
    """The fields that are one column, if there is one in which their first value can be meant."""
    chosen: Columns = {}
    place = next((columns[axis] for axis in POSITION if columns.get(axis)), "")
    of_each = star_of(place) >= 0 > star_of(columns["time"])
    names = {text: name for text, name in names.items() if text not in columns.values()}
    for field in ("arrival", "entity", "seq", "teleport"):
        found = None if field in columns else _single(field, names)
        if not found or (field == "entity" and of_each and star_of(found) < 0):
            continue  # the name of an entity is not the same for all
        if names[found].spelling == "rx" and any(one.spelling == "ry" for one in names.values()):
            continue  # not "received", but one of three
        if found == field or _can_be(field, values[found]):
            chosen[field] = found
    return chosen


def _turn(columns: Columns, names: Names, values: Values, _given: ReadSpec) -> Columns:
    return rotation_columns(columns, names, values)


#: The rules in their order: what each adds to the columns that are known.
_RULES = (_time, _position, _velocity, _turn, _others)


def _entity(text: str) -> str:
    """The name of an entity in that of a column for one of its axes."""
    return _AXIS_BEFORE.sub("", _AXIS.sub("", _UNIT.sub("", text))) or text


def _best(groups: Groups, prefix: str) -> Columns:
    """The columns of the group that is most surely the entity's own; empty: there is none."""
    if not groups:
        return {}
    rank = min(group.rank for group in groups)
    best = [axes for group, axes in groups.items() if group.rank == rank or not prefix]
    if len(best) > 1:
        field = prefix + min(best[0])
        names = tuple(axes.get(min(axes), "") for axes in best)
        readings = tuple(_reading(axes, prefix) for axes in best)
        raise AmbiguousLayout(Reason.COLUMN_AMBIGUOUS, field=field, names=names, readings=readings)
    return {prefix + axis: text for axis, text in best[0].items()}


# ---------------------------------------------------------------------------------- single names


def _single(field: str, names: Names) -> str | None:
    """The name that is spelt as this field, if any; raises ``AmbiguousLayout`` for several."""
    for spellings in SPELLINGS[field]:
        found = [text for text, name in names.items() if name.spelling in spellings]
        if len(found) > 1:
            found = [text for text in found if star_of(text) >= 0] or found
        if len(found) > 1:
            raise _several(field, found)
        if found:
            return found[0]
    return None


def _several(field: str, names: Sequence[str]) -> AmbiguousLayout:
    readings = tuple(Reading(((field, one),)) for one in names)
    facts = {"field": field, "names": tuple(names), "readings": readings}
    return AmbiguousLayout(Reason.COLUMN_AMBIGUOUS, **facts)


def no_header(values: Values) -> dict[str, Any]:
    """The facts of a refusal of columns that have numbers for names: what may be which field.

    Numbers in a vector are those of the position, and what is no number names the entity.
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


def _can_be(field: str, value: str) -> bool:
    pattern = {"seq": _COUNT, "teleport": _FLAG}.get(field)
    return pattern is None or not value.strip() or pattern.fullmatch(value.strip()) is not None


def _near(column: str, values: Mapping[str, str]) -> tuple[str, ...]:
    from difflib import get_close_matches  # only a mistake needs it

    near = get_close_matches(column, values, n=3, cutoff=0.4)
    return tuple(near) or tuple(values)
