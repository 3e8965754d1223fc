"""The fields of a packet, and how a layout writes the columns and paths that hold them.

A backslash takes what follows it as it is; a ``*`` stands for each of several entities.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping

from epic_cli.engine.parameter_base import nearest
from epic_cli.engine.text import ALL_FIELDS, FIELDS, OPTIONAL_FIELDS, TURN_FIELDS

#: The fields in the order in which a layout names them.
FIELD_ORDER = ("time", *FIELDS[:-1], *OPTIONAL_FIELDS)

POSITION, VELOCITY = FIELDS[:3], FIELDS[3:6]

#: The fields of a truth, and of a drawn frame, that recordings have, too.
STATE = ("time", *POSITION, *VELOCITY, "entity", "teleport")
FRAME = ("time", *POSITION, "entity")


#: The numbers of which a rotation needs all, and those of a spin.
_TOGETHER = (TURN_FIELDS[:4], TURN_FIELDS[7:10], TURN_FIELDS[10:19], TURN_FIELDS[19:])


def whole_fields(names: Collection[str]) -> list[str]:
    """The fields that have these names; a rotation or a spin, of which a number lacks, has not."""
    lacking = {name for some in _TOGETHER if not set(some) <= set(names) for name in some}
    return [name for name in (*FIELDS, *OPTIONAL_FIELDS) if name in names and name not in lacking]


def in_order(columns: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """The columns by field in their usual order."""
    return tuple((field, columns[field]) for field in FIELD_ORDER if field in columns)


def parse_columns(text: str) -> tuple[tuple[str, str], ...]:
    r"""``time=timestamp_ms,x=pos_x`` as pairs; raises ``ValueError``.

    A backslash takes what follows it as it is: ``x=pos\, x`` for a column ``pos, x``.
    """
    columns: dict[str, str] = {}
    for part in split(text, ","):
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
    return in_order(columns)


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
    near = nearest(name, list(ALL_FIELDS))
    hint = f"; did you mean {near}=?" if near and near != name else ""
    known = [one for one in FIELD_ORDER if one not in TURN_FIELDS]
    turns = "qx to qw, yaw, pitch, roll, rx to rz, m00 to m22, wx to wz"
    return f"{name!r} is not FIELD=COLUMN, with a field of {', '.join(known)}, {turns}{hint}"


def column_name(column: str) -> str:
    """The name in a header that a column of a layout stands for."""
    return "".join(_unescaped(column))


def column_text(name: str) -> str:
    """How a layout writes the name of a column."""
    return re.sub(r"[\\,*|]", r"\\\g<0>", name)


def star_of(column: str) -> int:
    """Where a column has the star that stands for each of several entities; -1: it has none."""
    found = re.search(r"(?<!\\)(?:\\\\)*\*", column)
    return found.end() - 1 if found else -1


def joined_columns(column: str) -> tuple[str, ...]:
    """The columns that together name an entity: ``team+number``; one stands for itself."""
    return tuple(split(column, "+"))


def joined_name(parts: Iterable[str]) -> str:
    """The name of an entity that several columns name."""
    return "/".join(part.strip() for part in parts)


def path_names(path: str) -> tuple[str, ...]:
    """The names, from the outermost in, of a path in a JSON object."""
    return tuple("".join(_unescaped(step)) for step in split(path, "."))


def path_text(names: tuple[str, ...]) -> str:
    """How a layout writes a path."""
    return ".".join(column_text(name).replace(".", "\\.") for name in names)


def _unescaped(text: str) -> list[str]:
    characters = iter(text)
    return [next(characters, "") if one == "\\" else one for one in characters]


def split(text: str, separator: str) -> list[str]:
    """The parts between separators before which there is no backslash."""
    parts, characters = [""], iter(text)
    for one in characters:
        if one == separator:
            parts.append("")
        else:
            parts[-1] += one + next(characters, "") if one == "\\" else one
    return parts
