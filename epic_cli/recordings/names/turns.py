"""Inference of the columns of rotations and angular velocities, and of their units.

A rotation is read if it is complete and unambiguous. For anything else that looks like one there
are ``propose_rotations`` for the user.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from epic_cli.engine.keys import ANGLES, MATRIX, ROTATION_VECTOR, SPIN
from epic_cli.engine.text import TURN_FIELDS
from epic_cli.recordings.names.spellings import (
    FRAME_WORDS,
    NEUTRAL_WORDS,
    POSITION_WORDS,
    WHO_WORDS,
    Name,
    parse_component,
    split_name,
)
from epic_cli.recordings.read_spec import POSITION, find_star, sort_columns

#: The units of angles, as a name's last word or in brackets; a rate has them per second.
_UNITS = {
    **dict.fromkeys(("deg", "degs", "degree", "degrees", "°", "dps", "deg/s", "°/s"), "deg"),
    **dict.fromkeys(("rad", "rads", "radian", "radians", "rad/s", "rps"), "rad"),
}

#: Words around the numbers of a quaternion (or of what has three), and of an angular velocity.
_ROTATION = frozenset((
    "q", "r", "quat", "quaternion", "rot", "rotation", "orientation", "att", "attitude",
))  # fmt: skip
_SPIN = frozenset(("w", "av", "angvel", "omega", "spin", "angular"))
_SPIN_TOO = frozenset(("velocity", "vel", "twist", "speed"))

_EULER_WORDS = frozenset(("euler", "angle", "angles", "eulers"))

#: ``qx``, ``quatw``, ``rotX``, ``wx``, ``avz``, ``angvelx``: two words in one.
_JOINED = re.compile(r"(q|quat|rot|w|av|angvel|omega)([xyzw])|(r)([xyz])")

#: A number of a matrix in rows: ``rotation.0.2``.
_CELL = re.compile(r"(.+\.)([0-2])\.([0-2])")

#: So near to 0 one of the ends of a quaternion is not its w.
_NONE = 1e-6

Columns = dict[str, str]


class _RotationPart(NamedTuple):
    """A number of a rotation (``q``), of angles (``a``) or of a spin (``w``)."""

    kind: str
    words: frozenset[str]
    part: str


def find_rotation_columns(
    columns: Mapping[str, str], names: Mapping[str, Name], values: Mapping[str, str]
) -> Columns:
    """Return the columns of the rotation, and of its angular velocity, beside the known fields.

    Empty if there is no rotation or it is not clear. ``values`` are the first ones.
    """
    if set(TURN_FIELDS) & set(columns):
        return {}
    groups = list(_group_rotation_columns(columns, names, values))
    whole = set(MATRIX) <= set(names)
    found = {name: name for name in MATRIX} if whole else _choose_rotation(groups, values)
    if not found:
        return {}
    spins = [parts for key, parts in groups if key.kind == "w" and {*parts} == {*"xyz"}]
    if len(spins) == 1:
        spin = {f"w{axis}": spins[0][axis] for axis in POSITION}
        if (_find_angle_unit(found, ANGLES), _find_angle_unit(spin, spin)) != (
            "rad",
            "deg",
        ):  # one is for all
            found |= spin
    return found


def _choose_rotation(
    groups: Iterable[tuple[_RotationPart, Mapping[str, str]]], values: Mapping[str, str]
) -> Columns:
    """Return the quaternion, else the angles, with the plainest name; empty if none or several."""
    ranked = [
        ("qx" not in whole, len(key.words), whole)
        for key, parts in groups
        if (whole := _complete_rotation(parts, values))
    ]
    first = min((row[:2] for row in ranked), default=None)
    best = [whole for *rank, whole in ranked if tuple(rank) == first]
    return best[0] if len(best) == 1 else {}


def _group_rotation_columns(
    columns: Mapping[str, str], names: Mapping[str, Name], values: Mapping[str, str]
) -> Iterator[tuple[_RotationPart, dict[str, str]]]:
    """Group the columns named as a rotation of the entity itself by the words they share."""
    place = next((columns[axis] for axis in POSITION if columns.get(axis)), "")
    component = parse_component(split_name(place))
    thing = component.thing if component is not None else frozenset()
    known = thing | WHO_WORDS | NEUTRAL_WORDS | FRAME_WORDS | POSITION_WORDS
    found: dict[_RotationPart, dict[str, str]] = {}
    for text, name in names.items():
        part = _parse_rotation_part(name)
        if part is None or not part.words <= known or not _is_number(values.get(text, "")):
            continue
        if (find_star(place) >= 0) == (find_star(text) >= 0):
            found.setdefault(part._replace(part=""), {}).setdefault(part.part, text)
    yield from found.items()


def _parse_rotation_part(name: Name) -> _RotationPart | None:
    words = [part for word in name.words for part in _split_axis(word)]
    if name.unit and name.unit not in (*_UNITS, "s"):
        return None
    rate = name.unit == "s" or name.unit.endswith(("/s", "dps", "rps"))
    if len(words) > 1 and words[-1] in _UNITS:
        words.pop()
    last = words[-1] if words else ""
    rest = frozenset(words[:-1])
    angles = [word for word in words if word in (*ANGLES, "heading")]
    if len(angles) == 1:
        others = frozenset(words) - {angles[0]} - _ROTATION - _EULER_WORDS
        return None if rate else _RotationPart("a", others, angles[0])
    if last in ("x", "y", "z") and rest & _SPIN:
        return _RotationPart("w", rest - _SPIN - _SPIN_TOO, last)
    if last in (*"xyzw", *"0123") and rest & (_ROTATION | _EULER_WORDS) and not rate:
        euler = bool(rest & _EULER_WORDS)
        return _RotationPart("e" if euler else "q", rest - _ROTATION - _EULER_WORDS, last)
    return None


def _split_axis(word: str) -> tuple[str, ...]:
    joined = _JOINED.fullmatch(word)
    return tuple(filter(None, joined.groups())) if joined else (word,)


def _is_number(text: str) -> bool:
    try:
        return bool(text.strip()) and abs(float(text.replace(",", "."))) < float("inf")
    except ValueError:
        return False


def _complete_rotation(parts: Mapping[str, str], values: Mapping[str, str]) -> Columns:
    """Return the fields of a rotation that is complete and clear; empty if it is not."""
    if {*"xyzw"} <= set(parts):
        return {f"q{letter}": parts[letter] for letter in "xyzw"}
    if {*"0123"} == set(parts):
        orders = _order_quaternion(parts, values)
        return orders[0] if len(orders) == 1 else {}
    return {angle: parts[angle] for angle in ANGLES if angle in parts} if "yaw" in parts else {}


def _order_quaternion(parts: Mapping[str, str], values: Mapping[str, str]) -> list[Columns]:
    """Return the quaternions, w last and w first, that four numbered columns may hold.

    The first values decide: half a turn exactly is rare, so an end that is 0 is not w.
    """
    first, last = (abs(float(values[parts[at]].replace(",", "."))) < _NONE for at in "03")
    orders = [
        {f"q{one}": parts[at] for one, at in zip("xyzw", places, strict=True)}
        for places in ("0123", "1230")
    ]
    return orders if first == last else orders[:1] if first else orders[1:]


def _find_angle_unit(columns: Mapping[str, str], fields: Iterable[str]) -> str | None:
    """Return the unit of angles in the names of these fields' columns.

    None if no name has a unit.
    """
    for field in fields:
        name = split_name(columns.get(field, ""))
        unit = _UNITS.get(name.unit) or _UNITS.get(name.words[-1] if name.words else "")
        if unit is not None:
            return unit
    return None


def find_angle_unit(columns: Mapping[str, str]) -> str | None:
    """Return the unit of all angles and spins, by the names; None for the default units."""
    angles = _find_angle_unit(columns, ANGLES)
    spins = _find_angle_unit(columns, ROTATION_VECTOR + SPIN)
    if not any(columns.get(angle) for angle in ANGLES):
        return "deg" if spins == "deg" else None
    if angles == "rad":
        return angles
    return "deg" if spins == "deg" else None


def propose_rotations(
    columns: Mapping[str, str], values: Mapping[str, str]
) -> list[dict[str, str]]:
    """Return entries of ``--read``, each of which reads columns that look like a rotation.

    Empty if a rotation is read already, or left out.
    """
    if set(TURN_FIELDS) & set(columns):
        return []
    names = {text: split_name(text) for text in values}
    found: list[dict[str, str]] = []
    cells: dict[str, dict[str, str]] = {}
    for text in values:
        if (cell := _CELL.fullmatch(text)) and _parse_rotation_part(split_name(cell[1] + "0")):
            cells.setdefault(cell[1], {})[f"m{cell[2]}{cell[3]}"] = text
    found += [record for record in cells.values() if len(record) == 9]
    for key, parts in _group_rotation_columns(columns, names, values):
        if key.kind in "qa" and {*"0123"} == set(parts):
            found += _order_quaternion(parts, values)
        elif key.kind == "q" and {*"xyzw"} <= set(parts):
            found.append({f"q{letter}": parts[letter] for letter in "xyzw"})
        elif key.kind == "a" and "heading" in parts and "yaw" not in parts:
            angles = {"yaw": parts["heading"]} | {
                angle: parts[angle] for angle in ANGLES if angle in parts
            }
            found.append(angles)
        elif key.kind == "a" and "yaw" in parts:
            found.append({angle: parts[angle] for angle in ANGLES if angle in parts})
        elif key.kind in "qe" and set(parts) in ({*"xyz"}, {*"012"}):
            x, y, z = (parts[at] for at in sorted(parts))
            angles = {"yaw": y, "pitch": x, "roll": z}
            found.append({**angles, "euler": "unity"})
            if key.kind == "q":
                found.append({"rx": x, "ry": y, "rz": z})
    return [_sort_entries(record) for record in found]


def _sort_entries(entries: Mapping[str, str]) -> dict[str, str]:
    return {**dict(sort_columns(entries)), **entries}
