"""The options of a layout, and what is wrong with their texts.

``LAYOUT`` is the table of them: options, arguments in Python, keys of profiles and of cases are
made from it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from epic_cli.engine.parameter_base import Table, Value, named
from epic_cli.engine.parameters import Custom, Number, Switch
from epic_cli.engine.text import EULER
from epic_cli.recordings.columns import parse_columns
from epic_cli.recordings.layout import Layout, Origin, per_second


def parse_time_unit(text: str) -> str:
    """A unit of time; raises ``ValueError``."""
    per_second(text)
    return text


def parse_time_origin(text: str) -> Origin:
    """``first``, or seconds; raises ``ValueError``."""
    try:
        origin = float(text)
    except ValueError:
        origin = math.nan
    if text != "first" and not math.isfinite(origin):
        raise ValueError(f"{text!r} is not first, 0 or SECONDS")
    return "first" if text == "first" else origin


def compiled(pattern: str) -> Any:
    """A regular expression, whose search takes a ``timeout``; raises ``ValueError``."""
    import regex  # needed for logs in sentences only

    try:
        return regex.compile(pattern)
    except (regex.error, OverflowError, RecursionError) as error:
        raise ValueError(f"not a regular expression: {error}") from error


def parse_pattern(text: str) -> str:
    """A regular expression with named groups; raises ``ValueError``."""
    if not compiled(text).groupindex:
        raise ValueError(f"{text!r} has no group for a field, as (?P<time>[0-9.]+)")
    return text


def parse_time_format(text: str) -> str:
    """A format of dates; raises ``ValueError``."""
    directives = re.findall("%(.?)", text)
    wrong = next((one for one in directives if not one or one not in "YymbdHIMSfpz%"), None)
    if wrong is not None or ("H" not in directives and "I" not in directives):
        known = "%Y %y %m %b %d %H %I %M %S %f %p %z"
        raise ValueError(f"{text!r} is no format of {known}, as '%d.%m.%Y %H:%M:%S'")
    return text


def parse_encoding(text: str) -> str:
    """The name of an encoding of text; raises ``ValueError``."""
    try:
        " ".encode(text)
    except (LookupError, ValueError) as error:
        raise ValueError(f"{text!r} is no encoding of text, as cp1252 or utf-16") from error
    return text


def parse_axes(text: str) -> str:
    """Up to three of x, y and z, each once; raises ``ValueError``."""
    if not text or len(set(text)) < len(text) or not set(text) <= set("xyz"):
        raise ValueError(f"{text!r} is not axes such as xyz, xy, xz or xzy")
    return text


def parse_angles(text: str) -> str:
    """Deg or rad; raises ``ValueError``."""
    if text not in ("deg", "rad"):
        raise ValueError(f"{text!r} is neither deg nor rad")
    return text


def parse_euler(text: str) -> str:
    """How yaw, pitch and roll make a rotation; raises ``ValueError``."""
    if text not in EULER:
        raise ValueError(f"{text!r} is not one of {', '.join(EULER)}")
    return text


class _Field(Custom):
    """A field of a layout; what reads it says all that is wrong with a text."""

    def _check(self, value: object) -> Value:
        return str(value)


LAYOUT: Table = (
    _Field("pattern", None, "Where a log's lines have the fields: a group for each,"
           " (?P<time>...).", "REGEX", parse_pattern),
    _Field("columns", None, "Which column of a table, or path in a JSON object, is which field:"
           " time=timestamp_ms,x=pos.0,entity=player. A * is each of several entities in one row:"
           " x=*_x, x=players.*.x.  [default: by the usual names]", "FIELD=COLUMN,...",
           parse_columns, kind=tuple),
    _Field("time_unit", None, "The unit of its times: s, ms, us, ns, min, h, ticks@HZ or iso.",
           "UNIT", parse_time_unit),
    _Field("time_origin", None, "The time that becomes 0: that of the first packet, or one in"
           " seconds.", "first|SECONDS", parse_time_origin),
    _Field("axes", None, "Its axes that become x, y and z: xy in two dimensions, xzy where y is"
           " up.", "AXES", parse_axes),
    Number("scale", None, "What its lengths are multiplied by, as 0.01 for centimetres."
           "  [default: what makes metres of units in the names, as 'x [cm]', else 1]", "", 1e-9,
           1e9),
    _Field("time_format", None, "The format of its dates, as strptime has it: '%m/%d/%Y %I:%M:%S"
           " %p'. %S takes a fraction.", "FORMAT", parse_time_format),
    Switch("geo", False, "Its x and y are longitude and latitude in degrees: they become metres"
           " around the first packet (transverse Mercator, WGS 84)."),
    Switch("delta", False, "Its packets carry only what changed since the entity's last one."),
    Switch("names", False, "Call the players in a game's replay by their names, not numbers."),
    _Field("table", None, "Which sheet of a workbook, or table of a database.", "NAME", str),
    _Field("encoding", None, "The encoding of its text: cp1252, utf-16-le, ...  [default: UTF-8,"
           " or by its mark]", "ENCODING", parse_encoding),
    _Field("angles", None, "The unit of its angles and spins.  [default: that in the names, as"
           " yaw_rad, else degrees for yaw, pitch and roll, radians for the others]", "deg|rad",
           parse_angles),
    _Field("euler", None, "How yaw, pitch and roll follow each other: zyx turns about z, then y,"
           " then x, the body's own axes; unity, godot and unreal have theirs.  [default: zyx]",
           "NAME", parse_euler),
)  # fmt: skip


def make_layout(**given: Any) -> Layout | None:
    """The layout with these values by the names in ``LAYOUT``; None: all are None or the default.

    Raises ``ValueError``, and ``TypeError`` for what is neither text nor such a value.
    """
    values: dict[str, Any] = {}
    for one in LAYOUT:
        value = given.get(one.name)
        if isinstance(value, Mapping):
            value = ",".join(f"{field}={column}" for field, column in value.items())
        if value is None or value == one.default:
            continue
        if isinstance(value, one.kind):
            pass
        elif isinstance(one, Number):
            value = named(one, one.accept, value)
        elif isinstance(one, Switch):
            value = one.convert(one.check(value))
        elif isinstance(value, str) or one.name == "time_origin":
            value = one.read(str(value))
        else:
            raise TypeError(f"{one.name} is text, and not {value!r}")
        if value is not None and value != one.default:
            values[one.name] = value
    return Layout(**values) if values else None
