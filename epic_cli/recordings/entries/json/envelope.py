"""A JSON document whose packets are in an array of one object: ``{"map": .., "packets": [..]}``."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from enum import Enum, auto
from typing import NamedTuple

from epic_cli.recordings import BYTE_ORDER_MARK, LONGEST_OBJECT
from epic_cli.recordings.entries.json.entities import has_no_entries, infer_object_layout
from epic_cli.recordings.entries.json.values import parse
from epic_cli.recordings.names.units import AmbiguousLayout
from epic_cli.recordings.read_spec import ReadSpec

#: So much of a document may stand before its array, with the array's first object: as much as an
#: object may have.
MOST_ABOVE = LONGEST_OBJECT

#: So many containers may be around it.
_DEEPEST = 32

_BLANK = re.compile(r"[ \t\r\n]*")
_COMMA = re.compile(r"[ \t\r\n]*,[ \t\r\n]*")
_KEY = re.compile(r'"(?:[^"\\]|\\.)*"[ \t\r\n]*:[ \t\r\n]*', re.DOTALL)
_VALUE = json.JSONDecoder(parse_int=str, parse_float=str)  # Python limits the digits of an int


class Envelope(NamedTuple):
    """Where the array's own text begins, and how many containers are around it.

    ``begin`` is in bytes, behind a byte order mark.
    """

    begin: int
    around: int


class Sight(Enum):
    """What else the beginning of a document shows."""

    NONE = auto()  # there is no such array
    SHORT = auto()  # more of it is needed


def find_envelope(begin: bytes, final: bool, layout: ReadSpec | None = None) -> Envelope | Sight:
    """The array of packets in the object that begins a document, if it is all that there is.

    Its first entry has to say what is what, as an object on a line has. With ``final`` there is no
    more than ``begin``.
    """
    mark = BYTE_ORDER_MARK.decode("latin-1")
    text = begin[:MOST_ABOVE].decode("latin-1").removeprefix(mark)  # a character for each byte
    brace = _behind(_BLANK, text, 0)
    if text[brace : brace + 1] != "{":
        return Sight.NONE
    found = _look(text, brace, 1, layout or ReadSpec())
    if found is Sight.SHORT and (final or len(begin) >= MOST_ABOVE):
        return Sight.NONE
    if isinstance(found, Envelope) and _goes_on(text):
        return Sight.NONE
    return found


def _goes_on(text: str) -> bool:
    """Whether another value stands behind the first."""
    try:
        _, end = _VALUE.raw_decode(text, _behind(_BLANK, text, 0))
    except (json.JSONDecodeError, RecursionError):
        return False
    return bool(text[end:].strip())


def _look(text: str, begin: int, around: int, layout: ReadSpec) -> Envelope | Sight:
    """Looks through the object that begins here, and those in it, in their order."""
    at = _behind(_BLANK, text, begin + 1)
    while at < len(text):
        key = _KEY.match(text, at)
        if key is None:
            return Sight.NONE if text[at] == "}" else Sight.SHORT
        at = key.end()
        if text[at : at + 1] == "[":
            first = _behind(_BLANK, text, at + 1)
            if text[first : first + 1] in ("{", ""):
                found = _settled(text, first, layout)
                if found is not Sight.NONE:
                    return _alone(text, at, around, layout, found)
        elif text[at : at + 1] == "{" and around < _DEEPEST:
            below = _look(text, at, around + 1, layout)
            if below is not Sight.NONE:
                return below
        try:
            _, at = _VALUE.raw_decode(text, at)
        except (json.JSONDecodeError, RecursionError):
            return Sight.SHORT
        comma = _COMMA.match(text, at)
        if comma is None:
            return Sight.NONE if text[at:].strip() else Sight.SHORT
        at = comma.end()
    return Sight.SHORT


def _alone(
    text: str, at: int, around: int, layout: ReadSpec, found: ReadSpec | Sight
) -> Envelope | Sight:
    """The array that begins here, unless the next one has such objects as well, of an entity."""
    if isinstance(found, Sight):
        return found
    with suppress(json.JSONDecodeError, RecursionError):
        _, end = _VALUE.raw_decode(text, at)
        comma = _COMMA.match(text, end)
        key = _KEY.match(text, comma.end()) if comma else None
        if key is not None and text[key.end() : key.end() + 1] == "[":
            first = _behind(_BLANK, text, key.end() + 1)
            if _settled(text, first, layout) == found:
                return Sight.NONE
    return Envelope(at + 1, around)


def _settled(text: str, begin: int, layout: ReadSpec) -> ReadSpec | Sight:
    """What the first of the objects that begin here, but for empty ones, says of what is what."""
    try:
        while True:
            _, end = _VALUE.raw_decode(text, begin)
            item = parse(text[begin:end])
            try:
                return infer_object_layout(layout, item)
            except AmbiguousLayout:
                comma = _COMMA.match(text, end)
                if comma is None or not has_no_entries(layout, item):
                    return Sight.NONE
                begin = comma.end()
    except (json.JSONDecodeError, RecursionError):
        return Sight.SHORT


def _behind(pattern: re.Pattern[str], text: str, begin: int) -> int:
    found = pattern.match(text, begin)
    return found.end() if found else begin
