"""What a recording is that does not begin with a packet: a table, JSON lines, or text after all."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Literal

from epic_cli.formats.cells import split_row
from epic_cli.formats.conventions import delimiter_of, is_packet

#: So many lines may stand above the first packet of packet text.
_LINES = 6

#: So many lines may stand above a table's header.
_ABOVE = 20

#: The axes of two entities that have a column for each.
_SIDE_BY_SIDE = 4

#: An array that is JSON; a header, or a line of a log, may begin with a bracket as well.
_ARRAY = re.compile(
    rb"""\[\s*(?:$|[{[]|(?:"(?:[^"\\]|\\.)*"|-?\d[-+.\deE]*)\s*(?:$|,|\]\s*(?:$|,|\])))"""
)

#: What logs write that tables do not: a name before a number, a vector, words before a number.
_SENTENCE = re.compile(
    rb"[A-Za-z_] ?[=:] ?[\[({]?[-+.\d]"
    rb"|[A-Za-z] ?[=:]? ?[\[({] ?(?:[Xx] ?= ?)?[-+.\d]"
    rb"|[A-Za-z]{2} (?:[^,;\t|]* )?[A-Za-z]{2}[^,;\t|]*\d"
)

#: So much of a line is looked at.
_LOOKED_AT = 400


def kind_of(
    begin: bytes, final: bool
) -> Literal["text", "csv", "jsonl", "json", "sentences"] | None:
    """The format of a recording that begins like this, without blanks; None: more is needed.

    Objects on a line each, and packets at first sight, have been told before.
    """
    if begin[:1] == b"{" or _ARRAY.match(begin.partition(b"\n")[0].rstrip()):
        return _kind_of_json(begin, final)
    lines = begin.split(b"\n")
    if not final:
        lines.pop()  # it goes on
    lines = [line for line in lines if line.strip()]
    if any(map(is_packet, lines[:_LINES])):
        return "text"
    above, lines = lines_above_header(lines), lines[:_LINES]
    header, cells = _cells(lines[0]) if lines else ("", [])
    if above or {"time", "x"} <= set(cells):
        return "csv"
    if len(lines) < 2 and not final and len(cells) != 1:
        return None
    if lines and 2 * sum(map(is_sentence, lines)) >= len(lines):
        return "sentences"
    return "csv" if _is_table(header, cells, lines[1:]) else "text"


def is_sentence(line: bytes) -> bool:
    """Whether a line has numbers among words, and not cells most of which are numbers."""
    line = line[:_LOOKED_AT]
    if not _SENTENCE.search(line):
        return False
    from epic_cli.formats.names.guess import is_value
    from epic_cli.formats.vectors import numbers_in

    _, cells = _cells(line)
    values = sum(1 if is_value(cell) else len(numbers_in(cell) or ()) for cell in cells)
    return values < 3 or 2 * values < len(cells)


def _kind_of_json(begin: bytes, final: bool) -> Literal["jsonl", "json"] | None:
    """Whether it is a document; a line may also be the beginning of an object that broke."""
    if begin[:1] == b"[":
        first = begin[1:].lstrip()[:1]
        return "json" if first == b"{" else "jsonl" if first or final else None
    line, newline, below = begin.partition(b"\n")
    below = below.lstrip()
    if newline and line.rstrip().endswith(b"},"):
        return "json"
    if not below and not final:
        return None
    return "json" if newline and below[:1] not in (b"", b"{") else "jsonl"


def lines_above_header(lines: Sequence[bytes], columns: Collection[str] = ()) -> int:
    """How many of the first lines of a table are not its own: titles, and what a logger tells.

    Its header has the names that are wanted as ``columns``, or such that a time and a position can
    be told, and as many as the line below has cells. Where there is none, the first line is it.
    """
    for place, line in enumerate(lines[:_ABOVE]):
        header, names = _cells(line)
        if not _names_packets(names, columns):
            continue
        below = lines[place + 1].decode("utf-8", "replace") if lines[place + 1 :] else header
        if len(split_row(below.strip("\r\n"), delimiter_of(header)) or ()) == len(names):
            return place
    return 0


def _cells(line: bytes) -> tuple[str, list[str]]:
    """A line that may be a header, as text, and the names in it."""
    header = line.decode("utf-8", "replace").strip("\r").lstrip("#% ")
    return header, [cell.strip(' "') for cell in split_row(header, delimiter_of(header)) or ()]


def _names_packets(names: Sequence[str], columns: Collection[str]) -> bool:
    if columns:
        return all(one in names or one.rpartition(".")[0] in names for one in columns)
    if {"time", "x"} <= set(names):
        return True
    from epic_cli.formats.names.spellings import SPELLINGS, TICKS, component_of, name_of

    known = [name_of(name) for name in names]
    times = {one for spellings in SPELLINGS["time"] for one in spellings} | set(TICKS)
    components = list(filter(None, map(component_of, known)))
    positions = any(not component.velocity for component in components)
    # of several entities, each has its own
    beside = sum(bool(set(name.words) & {"x", "y"}) for name in known) >= _SIDE_BY_SIDE
    return any(name.spelling in times for name in known) and (positions or beside)


def _is_table(header: str, cells: list[str], others: list[bytes]) -> bool:
    """Whether the lines have several cells each, as many as the first one."""
    delimiter = delimiter_of(header)
    if len(cells) < 2 or (delimiter == " " and len(cells) < 3):
        return False
    if delimiter != " ":
        return True
    rows = [split_row(line.decode("utf-8", "replace"), delimiter) or [] for line in others]
    return bool(rows) and all(len(row) == len(cells) for row in rows)
