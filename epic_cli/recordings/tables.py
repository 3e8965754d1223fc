"""CSV tables with named columns, read line by line; every cell is checked where it is used."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

from epic_cli.engine.failures import Portable
from epic_cli.engine.refusals import Reason, Refusal
from epic_cli.recordings import BYTE_ORDER_MARK, DELIMITERS, LONGEST_LINE
from epic_cli.recordings.wording import FrontEnd, Problem, word_refusal

#: What stands between blanks as the engine knows them; Unicode has more, which are text.
_WORD = re.compile(r"[^ \t-\r]+")

#: A longer table is refused: it would be held in memory.
MOST_ROWS = 5_000_000

#: A greater number has no digits after the point left, and could overflow in a product.
FARTHEST = 1e15


def find_delimiter(line: str) -> str:
    """Return the separator of a table's columns, judged by its first line.

    A blank if nothing else is.
    """
    bare = line.strip("\r\n")
    if '"' in bare:
        bare = "".join(bare.split('"')[::2])
    return next((each for each in DELIMITERS if each in bare), "," if '"' in line else " ")


def split_row(line: str, delimiter: str) -> list[str] | None:
    """Return the fields of a line; None if a quotation mark is not closed."""
    if delimiter == " ":
        return _WORD.findall(line)
    try:
        return next(csv.reader([line], delimiter=delimiter, strict=True), [])
    except csv.Error:
        return None


def find_field_offset(raw: bytes, place: int, delimiter: str) -> int:
    """Return the byte at which field number ``place`` (from 0) of a line begins.

    0 if there is none.
    """
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


class TableRefusal(Portable, ValueError):
    """The reason why a line of a table cannot be used.

    A front end may put the ``refusal`` in its own words.
    """

    def __init__(self, problem: Problem, refusal: Refusal | None = None) -> None:
        super().__init__(f"line {problem.line}: {problem.what}; expected {problem.expected}")
        self.problem = problem
        self.refusal = refusal
        self.name = ""  # of the file, once that is known

    def write_words(self, front_end: FrontEnd) -> Problem:
        """Return the problem in the words of a front end."""
        return word_refusal(self.refusal, front_end) if self.refusal else self.problem


class TableRow:
    """A line of a table: its cells by column."""

    def __init__(self, table: RecordingTable, cells: list[str]) -> None:
        self.table = table
        self._cells = cells

    def get_text(self, name: str, default: str = "") -> str:
        """Return the cell of a column without surrounding blanks.

        The default if there is no such column.
        """
        place = self.table.places.get(name)
        return default if place is None else self._cells[place].strip()

    def parse_number(self, name: str) -> float:
        """Return the number in a cell; raise ``TableRefusal`` unless it is finite and in range."""
        text = self.get_text(name)
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not math.isfinite(value) or "_" in text:
            raise self.refuse(name, Reason.CELL_NOT_FINITE if text else Reason.FIELD_MISSING)
        if abs(value) > FARTHEST:
            raise self.refuse(name, Reason.CELL_OUT_OF_RANGE, limit=FARTHEST)
        return value

    def parse_flag(self, name: str) -> bool:
        """Return True for a cell of 1, False for 0, an empty cell or a missing column."""
        text = self.get_text(name) or "0"
        if text not in ("0", "1"):
            raise self.refuse(name, Reason.CELL_NOT_A_FLAG)
        return text == "1"

    def refuse(self, name: str, reason: Reason, **facts: Any) -> TableRefusal:
        """Return an error to raise for a column of this row; ``facts`` are those of ``Refusal``."""
        place = self.table.places.get(name, 0)
        return self.table.refuse(reason, place, field=name, **facts)


class RecordingTable:
    """A table under a header that names its columns, separated by commas or tabs.

    Iterating yields the rows. Raises ``TableRefusal`` for a header or row that cannot be used.
    """

    def __init__(self, stream: BinaryIO, needed: Iterable[str]) -> None:
        self._stream = stream
        self._line = 0
        self._raw = b""
        self._delimiter = ","
        self.places: dict[str, int] = {}
        header = self._read_line()
        self._delimiter = find_delimiter(header)
        names = [name.strip() for name in self._split_line(header)]
        expected = tuple(needed)
        missing = tuple(name for name in expected if name not in names)
        if missing:
            raise self.refuse(Reason.COLUMNS_MISSING, names=missing, expected=expected)
        twice = [name for name in names if names.count(name) > 1 and name]
        if twice:
            raise self.refuse(Reason.COLUMN_TWICE, field=twice[0])
        self.places = {name: place for place, name in enumerate(names)}
        self._names = tuple(names)

    def __contains__(self, name: str) -> bool:
        return name in self.places

    def __iter__(self) -> Iterator[TableRow]:
        while line := self._read_line():
            if self._line > MOST_ROWS:
                raise self.refuse(Reason.TABLE_TOO_LONG, limit=MOST_ROWS)
            if line.isspace():
                continue
            cells = self._split_line(line)
            if len(cells) != len(self._names):
                raise self.refuse(Reason.FIELD_COUNT, found=len(cells), expected=self._names)
            yield TableRow(self, cells)

    def refuse(self, reason: Reason, place: int = 0, **facts: Any) -> TableRefusal:
        """Return an error to raise for a field of the current line.

        ``facts`` are those of ``Refusal``.
        """
        caret = find_field_offset(self._raw, place, self._delimiter)
        refusal = Refusal(self._line, caret + 1, self._raw, caret, reason, **facts)
        # no front end has words of its own for these
        return TableRefusal(word_refusal(refusal, FrontEnd.PYTHON))

    def _read_line(self) -> str:
        self._line += 1
        self._raw = self._stream.readline(LONGEST_LINE + 1)
        if len(self._raw) > LONGEST_LINE:
            raise self.refuse(Reason.LINE_TOO_LONG, limit=LONGEST_LINE)
        if self._line == 1:
            self._raw = self._raw.removeprefix(BYTE_ORDER_MARK)
        try:
            text = self._raw.decode()
        except UnicodeDecodeError:
            raise self.refuse(Reason.NOT_UTF8) from None
        if "\0" in text:
            raise self.refuse(Reason.NUL_BYTE)
        return text

    def _split_line(self, line: str) -> list[str]:
        cells = split_row(line, self._delimiter)
        if cells is None:
            raise self.refuse(Reason.QUOTES_OPEN)
        return cells
