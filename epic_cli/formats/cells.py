"""The cells of one line of a table, where the engine leaves it to be looked at closely."""

from __future__ import annotations

import csv
import re

#: What stands between blanks as the engine knows them; Unicode has more, which are text.
_WORD = re.compile(r"[^ \t-\r]+")


def split_row(line: str, delimiter: str) -> list[str] | None:
    """The fields of a line; None: its quotes do not end."""
    if delimiter == " ":
        return _WORD.findall(line)
    try:
        return next(csv.reader([line], delimiter=delimiter, strict=True), [])
    except csv.Error:
        return None


def field_offset(raw: bytes, place: int, delimiter: str) -> int:
    """At which byte of a line its field number ``place`` (from 0) begins; 0: it has not so many."""
    if delimiter == " ":
        begins = [word.start() for word in re.finditer(rb"\S+", raw)]
        return begins[place] if place < len(begins) else 0
    quoted, separator = False, ord(delimiter)
    for at, byte in enumerate(raw):
        if place == 0:
            return at
        quoted ^= byte == ord('"')
        place -= byte == separator and not quoted
    return len(raw.rstrip(b"\r\n")) if place == 0 else 0
