"""CSV tables with named columns, read line by line; every cell is checked where it is used."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Iterator
from typing import BinaryIO

from epic_cli.engine.problems import Problem

#: A longer line is refused, and so is a table of more rows: it would be held in memory.
LONGEST_LINE = 65536
MOST_ROWS = 5_000_000

#: A greater number has no digits after the point left, and could overflow in a product.
FARTHEST = 1e15


class RefusedLine(ValueError):
    """A line of a table that cannot be used, and why."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(f"line {problem.line}: {problem.what}; expected {problem.expected}")
        self.problem = problem


class Row:
    """One line of a table: its cells by column."""

    def __init__(self, table: Table, cells: list[str]) -> None:
        self._table = table
        self._cells = cells

    def text(self, name: str, default: str = "") -> str:
        """The cell of a column, without blanks around it; the default where there is no column."""
        place = self._table.places.get(name)
        return default if place is None else self._cells[place].strip()

    def number(self, name: str) -> float:
        """A cell that has to be a finite number."""
        text = self.text(name)
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not math.isfinite(value) or "_" in text:
            what = f"{name} is not a finite number" if text else f"{name} is missing"
            raise self.refuse(name, what, "a number")
        if abs(value) > FARTHEST:
            raise self.refuse(name, f"{name} is out of range", "a number from -1e15 to 1e15")
        return value

    def flag(self, name: str) -> bool:
        """A cell that is 0 or 1; empty, or without a column: 0."""
        text = self.text(name) or "0"
        if text not in ("0", "1"):
            raise self.refuse(name, f"{name} is neither 0 nor 1", f"{name} 0 or 1")
        return text == "1"

    def refuse(self, name: str, what: str, expected: str) -> RefusedLine:
        """An error to raise, with its place at a column."""
        return self._table.refuse(what, expected, self._table.places.get(name, 0))


class Table:
    """A table under a header that names its columns, separated by commas or tabs.

    Iterating gives its rows. Raises ``RefusedLine`` for the header or a row that makes no sense.
    """

    def __init__(self, stream: BinaryIO, needed: Iterable[str]) -> None:
        self._stream = stream
        self._line = 0
        self._raw = b""
        self._delimiter = ","
        self.places: dict[str, int] = {}
        header = self._next_line()
        self._delimiter = "\t" if "\t" in header else ","
        names = [name.strip() for name in self._split(header)]
        missing = [name for name in needed if name not in names]
        if missing:
            what = f"the header has no column {', '.join(missing)}"
            raise self.refuse(what, f"the columns {','.join(needed)}")
        twice = [name for name in names if names.count(name) > 1 and name]
        if twice:
            raise self.refuse(f"the header has {twice[0]} twice", "a column for each name")
        self.places = {name: place for place, name in enumerate(names)}
        self._width = len(names)

    def __contains__(self, name: str) -> bool:
        return name in self.places

    def __iter__(self) -> Iterator[Row]:
        while line := self._next_line():
            if self._line > MOST_ROWS:
                raise self.refuse("the table is too long", f"at most {MOST_ROWS} lines")
            if line.isspace():
                continue
            cells = self._split(line)
            if len(cells) != self._width:
                what = f"the row has {len(cells)} fields"
                raise self.refuse(what, f"{self._width} fields: {','.join(self.places)}")
            yield Row(self, cells)

    def refuse(self, what: str, expected: str, place: int = 0) -> RefusedLine:
        """An error to raise for the present line, with its place in the given field."""
        caret = self._caret(place)
        return RefusedLine(Problem(self._line, caret + 1, self._raw, caret, what, expected))

    def _next_line(self) -> str:
        self._line += 1
        self._raw = self._stream.readline(LONGEST_LINE + 1)
        if len(self._raw) > LONGEST_LINE:
            raise self.refuse("the line is too long", "at most 64 KiB a line")
        if self._line == 1:
            self._raw = self._raw.removeprefix(b"\xef\xbb\xbf")
        try:
            text = self._raw.decode()
        except UnicodeDecodeError:
            raise self.refuse("this is not UTF-8", "UTF-8 text") from None
        if "\0" in text:
            raise self.refuse("there is a NUL byte", "UTF-8 text")
        return text

    def _split(self, line: str) -> list[str]:
        try:
            return next(csv.reader([line], delimiter=self._delimiter, strict=True), [])
        except csv.Error:
            raise self.refuse("its quotes do not end", "a line of CSV") from None

    def _caret(self, place: int) -> int:
        quoted, delimiter = False, ord(self._delimiter)
        for at, byte in enumerate(self._raw):
            if place == 0:
                return at
            quoted ^= byte == ord('"')
            place -= byte == delimiter and not quoted
        return max(len(self._raw.rstrip()), 0) if place == 0 else 0
