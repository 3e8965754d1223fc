"""A pattern for a log in sentences, by one of its lines: a beginning for who has to write one."""

from __future__ import annotations

import re
from typing import NamedTuple

from epic_cli.formats.layout import Layout, compiled
from epic_cli.formats.names.guess import AmbiguousLayout, infer_layout
from epic_cli.formats.names.spellings import VELOCITY_WORDS

#: What stands behind a name, which may be in quotes.
_NAMED = r"[\x22']?\s*[=:]"

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"

#: So much of a line is looked at, and for so long (s).
_LOOKED_AT, _LIMIT = 1000, 0.1

#: What a group takes, by what it took in the line: as simple as can be.
_TAKES_NUMBER, _TAKES_COUNT, _TAKES_NAME = r"[-+.e\d]+", r"\d+", r"\w+"
_TAKES_DATE, _TAKES_TIME = r"[-.\d]+[T -][\d:.,]+", r"[\d:.,]+"

#: Times: the game's own come before those of the logger.
_TIMES = (
    (
        re.compile(
            rf"\b(?P<key>time_ms|t|time|ts|timestamp)[\x22']?\s*[=:]\s*(?P<value>{_NUMBER})(?![\d:])",
            re.I,
        ),
        _TAKES_NUMBER,
    ),
    (re.compile(r"\b(?P<key>tick|frame)[\x22']?\s*[=:]?\s*(?P<value>\d+)", re.I), _TAKES_COUNT),
    (
        re.compile(r"(?P<value>\d{4}[-.]\d\d[-.]\d\d[T -]\d\d[:.]\d\d[:.]\d\d(?:[.,:]\d+)?)"),
        _TAKES_DATE,
    ),
    (re.compile(r"(?P<value>\d\d:\d\d:\d\d(?:[.,]\d+)?)"), _TAKES_TIME),
)
_VECTOR = re.compile(
    r"(?:(?P<word>[A-Za-z]*)[\s=:]*[(\[<{]|\b(?:set)?(?:pos|position|origin|loc|location)[\s=:]+)"
    r"\s*(?:[Xx]\s*[=:]\s*)?"
    rf"(?P<x>{_NUMBER})[,;\s]+(?:[Yy]\s*[=:]\s*)?(?P<y>{_NUMBER})"
    rf"(?:[,;\s]+(?:[Zz]\s*[=:]\s*)?(?P<z>{_NUMBER}))?\s*(?:[)\]>}}]|(?!\S))"
)
_AXIS = re.compile(rf"\b(?P<axis>v?[xyz]){_NAMED}\s*(?P<value>{_NUMBER})", re.I)
_OTHERS = (
    ("seq", re.compile(r"\bseq\w*[\x22']?\s*[=:#]\s*(?P<value>\d+)", re.I), _TAKES_COUNT),
    (
        "entity",
        re.compile(
            r"\b(?:entity|player|actor|id|name)[\x22']?\s*[=:]\s*[\x22']?(?P<value>\w+)", re.I
        ),
        _TAKES_NAME,
    ),
)


class _Piece(NamedTuple):
    """What stands for a field in the line, and what a group may take for it."""

    begin: int
    end: int
    name: str
    takes: str


def propose(line: str) -> str | None:
    """A pattern with a group for each field that the line seems to have; None: not enough."""
    line = line[:_LOOKED_AT]
    pieces = sorted([*_time(line), *_vectors(line), *_others(line)])
    pattern, at = "", 0
    for piece in pieces:
        if piece.begin < at:
            return None
        before = line[at : piece.begin]
        pattern += f"{_between(before, at == 0)}(?P<{piece.name}>{piece.takes})"
        at = piece.end
    try:
        found = compiled(pattern).search(line, timeout=_LIMIT)
        values = {} if found is None else found.groupdict()
        infer_layout(Layout(time_unit="ticks@60" if "tick" in values else None), values)
    except (AmbiguousLayout, ValueError, TimeoutError):
        return None
    right = all(values[one.name] == line[one.begin : one.end] for one in pieces)
    return pattern if right else None


def _between(text: str, first: bool) -> str:
    """What leads to a group: as much of the text before it as has no numbers or other words."""
    kept = re.search(r"[^\s\d]*[^\w\s]*\s?$|^\D{1,4}$", text)
    lead = kept.group() if kept else ""
    passed = "" if first or len(lead) == len(text) else ".*?"
    return passed + re.escape(lead).replace("\\ ", " ").replace("\\=", "=").replace("\\:", ":")


def _time(line: str) -> list[_Piece]:
    for pattern, takes in _TIMES:
        found = pattern.search(line)
        if found:
            key = found.groupdict().get("key", "").lower()
            name = "tick" if key in ("tick", "frame") else "time_ms" if "ms" in key else "time"
            return [_Piece(*found.span("value"), name, takes)]
    return []


def _vectors(line: str) -> list[_Piece]:
    pieces: dict[str, _Piece] = {}
    for found in _VECTOR.finditer(line):
        prefix = "v" if (found["word"] or "").lower() in VELOCITY_WORDS else ""
        for axis in "xyz":
            if found[axis] is not None:
                name = prefix + axis
                pieces.setdefault(name, _Piece(*found.span(axis), name, _TAKES_NUMBER))
    if "x" not in pieces:
        for found in _AXIS.finditer(line):
            name = found["axis"].lower()
            pieces.setdefault(name, _Piece(*found.span("value"), name, _TAKES_NUMBER))
    return list(pieces.values())


def _others(line: str) -> list[_Piece]:
    found = ((name, pattern.search(line), takes) for name, pattern, takes in _OTHERS)
    return [_Piece(*one.span("value"), name, takes) for name, one, takes in found if one]
