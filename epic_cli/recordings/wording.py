"""Refusals in words: the command line's own, the session's, or Python's."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from functools import lru_cache
from typing import Any, NamedTuple

from epic_cli.engine.description import split, write
from epic_cli.engine.refusals import PIECES, SEPARATORS, Reason, Refusal

GRAMMAR = "x,y,z / vx,vy,vz / t [key=value ...]"


class FrontEnd(Enum):
    """A front end, whose users read the messages."""

    COMMAND_LINE = "--"
    SESSION = ":"
    PYTHON = ""
    #: The command line, of a file beside the recording.
    BESIDE = "-- beside"

    def read(self, text: str) -> str:
        """Write a description of a recording as the user gives it.

        ``--read axes=xy``, ``read="axes=xy"``.
        """
        from shlex import quote  # only what is said needs it

        return f"read={text!r}" if self is FrontEnd.PYTHON else f"--read {quote(text)}"

    def read_own(self, text: str) -> str:
        """Write a description of this file alone: ``--read frame.axes=xy`` beside a recording."""
        if self is not FrontEnd.BESIDE:
            return self.read(text)
        from epic_cli.recordings.read_spec import BESIDE, ReadSpec

        keyed = ((key or ReadSpec.find_key(value), value) for key, value in split(text))
        return self.read(write((f"{BESIDE}{key}", value) for key, value in keyed))

    def write_setting(self, name: str, value: str = "") -> str:
        """Write a setting as the user gives it.

        ``--clock exact``, ``:clock exact``, ``clock="exact"``. A value in capitals is a
        placeholder.
        """
        if self is not FrontEnd.PYTHON:
            return f"{self.value.partition(' ')[0]}{name} {value}".rstrip()
        if not value:
            return name
        return f"{name}={value}" if value.isupper() else f'{name}="{value}"'


class Problem(NamedTuple):
    """A refused line in words: where it is, what is wrong and what was expected there.

    The first four are those of ``Refusal``.
    """

    line: int
    column: int
    text: bytes
    caret: int
    what: str
    expected: str


#: A line of a session among packets.
_COMMAND = ("this is a command of a session", "a packet; epic session < FILE takes both")

_WORDS = {
    Reason.PIECE_MISSING: ("{field} is missing", GRAMMAR),
    Reason.PIECE_NOT_A_NUMBER: ("{field} is not a number", GRAMMAR),
    Reason.SEPARATOR_MISSING: ("no '{separator}' after {field}", GRAMMAR),
    Reason.TORN: ("a NUL byte ends packet text, and there are lines behind it",
        "lines without NUL bytes: a crash leaves blocks of them"),
    Reason.NO_PACKETS: ("the recording has no packet", "a packet on at least one line"),
    Reason.FIELD_MISSING: ("{field} is missing", "a number"),
    Reason.FIELD_NOT_A_NUMBER: ("{field} is not a number", "a number"),
    Reason.NOT_SECONDS: ("{field} is not a finite number", "{field}=SECONDS"),
    Reason.NOT_A_DATE: ("{field} is not an ISO 8601 time", "as 2024-05-01T12:34:56.789Z"),
    Reason.NOT_DEGREES: ("{field} is not in degrees",
        "latitudes from -90 to 90{degrees_read}"),
    Reason.NOT_A_COUNT: ("{field} is not a whole number of 0 or more", "{field}=NUMBER"),
    Reason.NOT_A_FLAG: ("{field} is neither 0 nor 1", "{field}=0 or {field}=1"),
    Reason.NOT_A_ROTATION: ("the rotation is not a quaternion",
        "four numbers X,Y,Z,W of length 1, as 0,0,0,1"),
    Reason.NOT_A_SPIN: ("the spin is not three finite numbers", "spin=X,Y,Z in radians a second"),
    Reason.NOT_AN_ANGLE: ("{field} is not a finite number", "{field}=DEGREES"),
    Reason.NAME_EMPTY: ("the entity has no name", "entity=NAME"),
    Reason.NAME_NOT_UTF8: ("the entity's name is not UTF-8", "entity=NAME"),
    Reason.LINE_TOO_LONG: ("the line is too long", "at most {kib:.0f} KiB a line"),
    Reason.NOT_UTF8: ("this is not UTF-8", "UTF-8 text, or {encoding_read}"),
    Reason.NUL_BYTE: ("there is a NUL byte", "UTF-8 text"),
    Reason.COLUMNS_MISSING: ("the header has no column {names}", "the columns {columns}"),
    Reason.COLUMN_UNKNOWN: ("there is no column {detail} for {field}", "{column_read}: {names}"),
    Reason.STARS_IN_A_TABLE: ("{detail} has more than one *",
        "one * for the entities of a row; several are for levels of JSON"),
    Reason.COLUMN_UNCLEAR: ("no column is clearly {field}", "{likely_columns}"),
    Reason.ENTITIES_IN_A_ROW: ("a row has the positions of several entities: {names}",
        "{readings}"),
    Reason.COLUMN_AMBIGUOUS: ("{field} may be {alternatives}", "{readings}"),
    Reason.TICKS_WITHOUT_RATE: ("{detail} counts ticks, but their rate is not known",
        "{readings}{by_arrivals}"),
    Reason.DATE_UNCLEAR: ("day and month of {detail} may be swapped", "{readings}"),
    Reason.NO_HEADER: ("there is no header that names the {found} columns",
        "their numbers, as {readings}"),
    Reason.COLUMN_TWICE: ("the header has {field} twice", "a column for each name"),
    Reason.FIELD_COUNT: ("the row has {found} fields", "{width} fields: {columns}"),
    Reason.QUOTES_OPEN: ("a quoted field does not end", "{row}"),
    Reason.NOT_JSON: ("{detail}", "one JSON object a line"),
    Reason.NESTED_TOO_DEEP: ("this is nested too deeply", "one JSON object a line"),
    Reason.PACKETS_ELSEWHERE: ("another array has packets as well, and only the first was read",
        "all packets in one array; or {stars_read}, an array for each entity"),
    Reason.NOT_AN_OBJECT: ("this is not an object",
        '{{"time": 0.1, "x": 1, ...}} on each line{or_document}'),
    Reason.KEY_TWICE: ("{field} stands twice in one object", "each name once"),
    Reason.KEY_MISSING: ("{field} is missing", "the names {keys}"),
    Reason.NOT_A_SINGLE_VALUE: ("{field} is not a single value", "a number or text"),
    Reason.NOT_UNICODE: ("{field} is not Unicode text", "text without lone surrogates"),
    Reason.IN_SENTENCES: ("this is a log with numbers in sentences", "{readings}"),
    Reason.PATTERN_NOT_FOUND: ("the pattern matches neither this line nor any other",
        "a pattern that matches the line; literal ( [ . | need a backslash: \\( \\[ \\. \\|"),
    Reason.PATTERN_TOO_SLOW: ("the pattern takes more than {limit:g} s to look for in this line",
        "a pattern without nested repetition: a+ for (a+)+, [^,]* for .*"),
    Reason.GROUP_MISSING: ("the pattern has no group for {field}", "(?P<{field}>...) in it"),
    Reason.CELL_NOT_FINITE: ("{field} is not a finite number", "a number"),
    Reason.CELL_OUT_OF_RANGE: ("{field} is out of range", "a number from -{power} to {power}"),
    Reason.CELL_NOT_A_FLAG: ("{field} is neither 0 nor 1", "{field} 0 or 1"),
    Reason.TABLE_TOO_LONG: ("the table is too long", "at most {limit:.0f} lines"),
    Reason.TIME_GOES_BACK: ("time goes back", "at least {limit!r}"),
    Reason.ARRIVES_BEFORE_SENT: ("the packet arrives before it is sent", "both times on one clock"),
    Reason.DELAY_TOO_LONG: ("the packet takes more than an hour", "a delay of 0 to {limit:.0f} s"),
    Reason.NO_DELAY_COLUMN: ("the header has no column for delays", "one of {keys}"),
    Reason.NO_ARRIVAL: ("the packet has no arrival time",
        "arrival=SECONDS, {latency} or {demo_pacing}"),
    Reason.ARRIVAL_GOES_BACK: ("the packet arrived before the one above it",
        "packets in order of arrival: two seconds of a file are sorted, and 64 KiB of a pipe; for"
        " more sort the file: epic inspect says how"),
    Reason.TOO_FAR: ("this is more than {limit:,.0f} ticks after the last row",
        "a smaller gap, or a longer {tick}{or_begin}"),
    Reason.SINGLE_CLOCK_STALLS: ("the single-precision clock never gets past this time",
        "an earlier time ({exact_clock} goes further)"),
    Reason.BEYOND_CLOCK: ("no clock gets to this time", "a time below {limit:.3g} s"),
}  # fmt: skip


def word_refusal(refusal: Refusal, front_end: FrontEnd) -> Problem:
    """Return a refusal in the words of a front end."""
    if refusal.reason is Reason.PIECE_NOT_A_NUMBER and refusal.text.lstrip()[:1] == b":":
        return Problem(*refusal[:4], *_COMMAND)
    return Problem(*refusal[:4], *_describe_problem(refusal[4:], front_end))


@lru_cache(maxsize=256)
def _describe_problem(about: tuple[Any, ...], front_end: FrontEnd) -> tuple[str, str]:
    """Return what is wrong with a line and what was expected; many lines share both texts."""
    refusal = Refusal(0, 0, b"", 0, *about)
    facts = _collect_facts(refusal, front_end)
    what, expected = _WORDS[refusal.reason]
    return what.format_map(facts), expected.format_map(facts)


def _collect_facts(refusal: Refusal, front_end: FrontEnd) -> dict[str, object]:
    """Return the values of the fields in braces in the texts above."""
    field, setting = refusal.field, front_end.write_setting
    columns, width = ",".join(refusal.expected), len(refusal.expected)
    facts: dict[str, object] = {
        "field": field,
        "limit": refusal.limit,
        "kib": refusal.limit / 1024,
        "power": f"{refusal.limit:g}".replace("+", ""),
        "found": refusal.found,
        "width": width,
        "columns": columns,
        "row": f"{width} fields: {columns}" if columns else "a line of CSV",
        "keys": ", ".join(refusal.expected),
        "names": ", ".join(refusal.names),
        "detail": refusal.detail,
        "alternatives": " or ".join(refusal.names),
        "column_read": front_end.read_own(f"{field or 'time'}=NAME"),
        "stars_read": front_end.read_own("time=*.TIME,x=*.X,y=*.Y"),
        "or_document": f"; or {front_end.read_own('json')}" if refusal.found else "",
        "degrees_read": f", or {_list_readings(refusal, front_end)}" if refusal.readings else "",
        "readings": _list_readings(refusal, front_end),
        "likely_columns": "",
        "encoding_read": front_end.read_own("encoding=cp1252"),
        "latency": setting("latency", "SECONDS"),
        "demo_pacing": setting("pacing", "demo"),
        "exact_clock": setting("clock", "exact"),
        "tick": setting("tick"),
        "or_begin": "",
        "by_arrivals": "",
    }
    if len(refusal.readings) == 1 and "ticks@HZ" not in dict(refusal.readings[0].entries).values():
        facts["by_arrivals"] = ", the rate by the arrival times"
    if refusal.reason is Reason.COLUMN_UNCLEAR:
        facts["likely_columns"] = _list_columns(refusal, front_end)
    if refusal.reason is Reason.SEPARATOR_MISSING:
        facts["separator"] = SEPARATORS[PIECES.index(field)]
    if field == "time":  # with arrival pacing it has been tried
        begin = setting("pacing", "arrival")
        facts["or_begin"] = f", or {begin} to begin at the first packet"
    return facts


def _list_columns(refusal: Refusal, front_end: FrontEnd) -> str:
    """Return the readings that work, else the columns to choose one from."""
    if refusal.readings:
        return _list_readings(refusal, front_end)
    column = front_end.read_own(f"{refusal.field}=NAME")
    at_rate = f"; rows at a rate: {front_end.read_own(refusal.detail)}" if refusal.detail else ""
    return f"{column}, with one of {', '.join(refusal.names)}{at_rate}"


def _list_readings(refusal: Refusal, front_end: FrontEnd) -> str:
    """Return the readings to choose from, each on its own line with its first packet."""
    if not refusal.readings:
        if refusal.reason is Reason.IN_SENTENCES:
            return f"{front_end.read_own('pattern=REGEX')}, with (?P<time>[.0-9]+) for each field"
        return front_end.read_own(f"{refusal.field or 'time'}=NAME")
    shown = [front_end.read(write(reading.entries)) for reading in refusal.readings]
    if len(shown) == 1:
        return shown[0]
    pairs = zip(shown, refusal.readings, strict=True)
    lines = [f"{words}{f'  (first {one.first})' if one.first else ''}" for words, one in pairs]
    return "\n".join(["one of these:", *lines])


def describe_grammar(piece: int) -> str:
    """Return the grammar of packet text from a piece on.

    Piece 0 is x, 1 the comma behind it, 12 t.
    """
    marks = [f" {mark} " if mark == "/" else mark for mark in SEPARATORS]
    pairs = zip(PIECES, [*marks, ""], strict=True)
    return "".join([piece for pair in pairs for piece in pair][piece:])


def describe_left_out(left_out: Sequence[str], room: int, how: str) -> str:
    """Say which columns were left out and how to see them; empty if none were."""
    if not left_out:
        return ""
    return f"Left out at {room} columns: {', '.join(map(repr, left_out))}; {how} shows them."
