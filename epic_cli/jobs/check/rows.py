"""Rows that were written, by this program or by another one: back to columns of text."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from epic_cli.jobs.check.case import NUMBERS

_EPIC = re.compile(r"pos: ([^, ]+),([^, ]+),([^, ]+)  vel: ([^, ]+),([^, ]+),([^, ]+)  time: (\S+)")
_EPIC_COLUMNS = ("x", "y", "z", "vx", "vy", "vz", "time")

#: How programs write a number that there is none of.
_NOTHING = ("null", "none", "nil", "-")

#: What is shown of a line that is not a row.
_SHOWN = 60


class NotRows(ValueError):
    """Text that is not rows: at which line (from 1), what stands there, what was expected."""

    def __init__(self, line: int, what: str) -> None:
        super().__init__(f"line {line}: {what}" if line else what)
        self.line = line
        self.what = what


class Row(NamedTuple):
    """A row: its line, its cells by the table's columns, its time."""

    line: int
    cells: tuple[str, ...]
    time: float


class Table(NamedTuple):
    """Rows of a format under the names of their columns."""

    row_format: str
    columns: tuple[str, ...]
    rows: list[Row]

    def place(self, column: str) -> int:
        """The place of a column; -1: there is none."""
        return self.columns.index(column) if column in self.columns else -1


def format_of(text: bytes) -> str | None:
    """The format of rows, by how they begin; None: it is none."""
    first = text.lstrip(b"\xef\xbb\xbf\r\n\t ")[:4096].partition(b"\n")[0]
    if first.startswith(b"pos:"):
        return "epic"
    if first.startswith(b"{"):
        return "jsonl"
    for name, separator in (("tsv", b"\t"), ("csv", b",")):
        names = [one.strip(b'" \r') for one in first.split(separator)]
        if b"time" in names and b"x" in names:
            return name
    return None


def parse(data: bytes, row_format: str) -> Table:
    """The rows of a text; raises ``NotRows``."""
    text = data.decode("utf-8", "surrogateescape").lstrip("\ufeff")
    columns: tuple[str, ...]
    if not text.strip():
        return Table(row_format, _EPIC_COLUMNS if row_format == "epic" else NUMBERS, [])
    if row_format == "epic":
        columns, rows = _EPIC_COLUMNS, _epic(text)
    elif row_format == "jsonl":
        columns, rows = _json_columns(text), _jsonl(text)
    else:
        lines = _separated(text, "\t" if row_format == "tsv" else ",")
        _, header = next(lines, (1, []))
        columns, rows = tuple(one.strip() for one in header), lines
        if not {"time", "x"} <= set(columns) or len(set(columns)) < len(columns):
            raise NotRows(1, f"{_shown(','.join(header))} is not a header of rows: time,x,y,z,...")
    return Table(row_format, columns, list(_rows(columns, rows)))


def drawn_rows(table: Table) -> Table:
    """The rows in which something is drawn: others have no position, or the status ``none``."""
    status = table.place("status")
    axes = [table.place(one) for one in "xyz" if one in table.columns]
    rows = [
        row
        for row in table.rows
        if all(row.cells[one] for one in axes) and (status < 0 or row.cells[status] != "none")
    ]
    return table._replace(rows=rows)


def _rows(columns: tuple[str, ...], rows: Iterator[tuple[int, list[str]]]) -> Iterator[Row]:
    """Rows whose numbers are some; where there is nothing to draw, cells are empty."""
    time = columns.index("time")
    numbers = [index for index, name in enumerate(columns) if name in NUMBERS]
    for line, cells in rows:
        if len(cells) != len(columns):
            raise NotRows(line, f"{len(cells)} cells, expected {len(columns)}: {','.join(columns)}")
        for index in numbers:
            if cells[index].strip().lower() in _NOTHING and index != time:
                cells[index] = ""
            try:
                float(cells[index] or ("x" if index == time else "0"))
            except ValueError:
                what = f"{_shown(cells[index])} is not a number, expected {columns[index]}"
                raise NotRows(line, what) from None
        yield Row(line, tuple(cells), float(cells[time]))


def _epic(text: str) -> Iterator[tuple[int, list[str]]]:
    for number, line in _lines(text):
        if not line.strip():
            continue
        found = _EPIC.fullmatch(line.rstrip())
        if not found:
            what = "is not a row, expected pos: x,y,z  vel: x,y,z  time: t"
            raise NotRows(number, f"{_shown(line)} {what}")
        yield number, list(found.groups())


def _separated(text: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    if separator == "\t":
        for number, line in _lines(text):
            if line:
                yield number, line.split("\t")
        return
    lines = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        for cells in lines:
            if cells:
                yield lines.line_num, cells
    except csv.Error as error:
        raise NotRows(lines.line_num, f"this is not CSV: {error}") from error


def _json_columns(text: str) -> tuple[str, ...]:
    first: tuple[str, ...] = ()
    for _, names, _ in _objects(text):
        if {"time", "x"} <= set(names):
            return names
        first = first or names
    if first:
        raise NotRows(1, f'an object with {", ".join(first)}, expected "time", "x", "y", ...')
    raise NotRows(1, "there is not an object")


def _jsonl(text: str) -> Iterator[tuple[int, list[str]]]:
    """The cells of each object; one in which nothing is drawn may have less than the others."""
    columns = _json_columns(text)
    for number, names, cells in _objects(text):
        if set(names) != set(columns) and not {"time"} <= set(names) <= (set(columns) - {*"xyz"}):
            raise NotRows(number, f"an object with {', '.join(names)}, expected {columns}")
        yield number, [cells.get(name, "") for name in columns]


def _objects(text: str) -> Iterator[tuple[int, tuple[str, ...], dict[str, str]]]:
    for number, line in _lines(text):
        if not line.strip():
            continue
        try:
            found = json.loads(line, parse_float=str, parse_int=str)
        except (ValueError, RecursionError) as error:
            raise NotRows(number, f"{_shown(line)} is not JSON: {error}") from error
        if not isinstance(found, dict):
            raise NotRows(number, f"{_shown(line)} is not an object")
        cells = {key: "" if value is None else str(value) for key, value in found.items()}
        yield number, tuple(cells), cells


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines with their numbers; only a line feed ends one."""
    for number, line in enumerate(text.lstrip("\ufeff").split("\n"), 1):
        yield number, line.rstrip("\r")


def _shown(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}...")
