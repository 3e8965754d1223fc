"""What a recording is that does not begin with a packet: a table, JSON lines, or text after all."""

from __future__ import annotations

from typing import Literal

from epic_cli.formats.cells import split_row
from epic_cli.formats.conventions import delimiter_of, is_packet

#: So many lines may stand above the first packet of packet text.
_LINES = 6

#: What an array begins with that is JSON; a header may begin with a bracket as well.
_IN_ARRAYS = (b"{", b"[", b'"', *(b"%c" % byte for byte in b"-0123456789"))


def kind_of(begin: bytes, final: bool) -> Literal["text", "csv", "jsonl"] | None:
    """The format of a recording that begins like this, without blanks; None: more is needed.

    Objects and packets at first sight have been told before.
    """
    if begin[:1] == b"[" and begin[1:].lstrip()[:1] in _IN_ARRAYS:
        return "jsonl"
    lines = begin.split(b"\n")
    if not final:
        lines.pop()  # it goes on
    lines = [line for line in lines if line.strip()][:_LINES]
    if any(map(is_packet, lines)):
        return "text"
    header = lines[0].decode("utf-8", "replace").strip("\r").lstrip("#% ") if lines else ""
    cells = [cell.strip(' "') for cell in split_row(header, delimiter_of(header)) or ()]
    if {"time", "x"} <= set(cells):
        return "csv"
    if len(lines) < 2 and not final and len(cells) != 1:
        return None
    return "csv" if _is_table(header, cells, lines[1:]) else "text"


def _is_table(header: str, cells: list[str], others: list[bytes]) -> bool:
    """Whether the lines have several cells each, as many as the first one."""
    delimiter = delimiter_of(header)
    if len(cells) < 2 or (delimiter == " " and len(cells) < 3):
        return False
    if delimiter != " ":
        return True
    rows = [split_row(line.decode("utf-8", "replace"), delimiter) or [] for line in others]
    return bool(rows) and all(len(row) == len(cells) for row in rows)
