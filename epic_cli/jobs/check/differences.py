"""The comparison of expected and drawn rows: the first difference, and the size of each."""

from __future__ import annotations

import csv
import enum
import io
import json
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from epic_cli.engine.failures import Portable
from epic_cli.jobs.check.spec import NUMBERS, Tolerances

_EPIC = re.compile(r"pos: ([^, ]+),([^, ]+),([^, ]+)  vel: ([^, ]+),([^, ]+),([^, ]+)  time: (\S+)")
_EPIC_COLUMNS = ("x", "y", "z", "vx", "vy", "vz", "time")

#: Spellings of a missing number.
_NOTHING = ("null", "none", "nil", "-")

#: Most characters shown of a line that is not a row.
_SHOWN = 60


class NotRows(Portable, ValueError):
    """An error for a text that holds no rows: the line (from 1) and the reason."""

    def __init__(self, line: int, what: str) -> None:
        super().__init__(f"line {line}: {what}" if line else what)
        self.line = line
        self.what = what


class RowCells(NamedTuple):
    """A row: its line number, its cells in the order of the table's columns, and its time."""

    line: int
    cells: tuple[str, ...]
    time: float


class RowTable(NamedTuple):
    """Rows read from a text, with its format and the names of the columns."""

    row_format: str
    columns: tuple[str, ...]
    rows: list[RowCells]

    def find_column(self, column: str) -> int:
        """Return the index of a column; -1 if there is no such column."""
        return self.columns.index(column) if column in self.columns else -1


def recognize_format(text: bytes) -> str | None:
    """Recognize the format of rows by the beginning of the text; None if the text is not rows."""
    first = text.lstrip(b"\xef\xbb\xbf\r\n\t ")[:4096].partition(b"\n")[0]
    if first.startswith(b"pos:"):
        return "epic"
    if first.startswith(b"{"):
        return "jsonl"
    for name, separator in (("tsv", b"\t"), ("csv", b",")):
        names = [column.strip(b'" \r') for column in first.split(separator)]
        if b"time" in names and b"x" in names:
            return name
    return None


def parse(data: bytes, row_format: str) -> RowTable:
    """Parse the rows of a text; raise ``NotRows``."""
    text = data.decode("utf-8", "surrogateescape").lstrip("\ufeff")
    columns: tuple[str, ...]
    if not text.strip():
        return RowTable(row_format, _EPIC_COLUMNS if row_format == "epic" else NUMBERS, [])
    if row_format == "epic":
        columns, rows = _EPIC_COLUMNS, _parse_epic_rows(text)
    elif row_format == "jsonl":
        columns, rows = _find_json_columns(text), _parse_jsonl(text)
    else:
        lines = _parse_separated_rows(text, "\t" if row_format == "tsv" else ",")
        _, header = next(lines, (1, []))
        columns, rows = tuple(column.strip() for column in header), lines
        if not {"time", "x"} <= set(columns) or len(set(columns)) < len(columns):
            raise NotRows(
                1, f"{_shorten_text(','.join(header))} is not a header of rows: time,x,y,z,..."
            )
    return RowTable(row_format, columns, list(_parse_rows(columns, rows)))


def select_drawn(table: RowTable) -> RowTable:
    """Return the table with only the rows that have a position and a status other than ``none``."""
    status = table.find_column("status")
    axes = [table.find_column(axis) for axis in "xyz" if axis in table.columns]
    rows = [
        row
        for row in table.rows
        if all(row.cells[axis] for axis in axes) and (status < 0 or row.cells[status] != "none")
    ]
    return table._replace(rows=rows)


def _parse_rows(
    columns: tuple[str, ...], rows: Iterator[tuple[int, list[str]]]
) -> Iterator[RowCells]:
    """Return rows with parsed numbers; cells are empty in rows that draw nothing."""
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
                what = f"{_shorten_text(cells[index])} is not a number, expected {columns[index]}"
                raise NotRows(line, what) from None
        yield RowCells(line, tuple(cells), float(cells[time]))


def _parse_epic_rows(text: str) -> Iterator[tuple[int, list[str]]]:
    for number, line in _iterate_lines(text):
        if not line.strip():
            continue
        found = _EPIC.fullmatch(line.rstrip())
        if not found:
            what = "is not a row, expected pos: x,y,z  vel: x,y,z  time: t"
            raise NotRows(number, f"{_shorten_text(line)} {what}")
        yield number, list(found.groups())


def _parse_separated_rows(text: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    if separator == "\t":
        for number, line in _iterate_lines(text):
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


def _find_json_columns(text: str) -> tuple[str, ...]:
    first: tuple[str, ...] = ()
    for _, names, _ in _parse_json_objects(text):
        if {"time", "x"} <= set(names):
            return names
        first = first or names
    if first:
        raise NotRows(1, f'an object with {", ".join(first)}, expected "time", "x", "y", ...')
    raise NotRows(1, "this is not a JSON object")


def _parse_jsonl(text: str) -> Iterator[tuple[int, list[str]]]:
    """Return the cells of each object; an object that draws nothing may lack members."""
    columns = _find_json_columns(text)
    for number, names, cells in _parse_json_objects(text):
        if set(names) != set(columns) and not {"time"} <= set(names) <= (set(columns) - {*"xyz"}):
            raise NotRows(number, f"an object with {', '.join(names)}, expected {columns}")
        yield number, [cells.get(name, "") for name in columns]


def _parse_json_objects(text: str) -> Iterator[tuple[int, tuple[str, ...], dict[str, str]]]:
    for number, line in _iterate_lines(text):
        if not line.strip():
            continue
        try:
            found = json.loads(line, parse_float=str, parse_int=str)
        except (ValueError, RecursionError) as error:
            raise NotRows(number, f"{_shorten_text(line)} is not JSON: {error}") from error
        if not isinstance(found, dict):
            raise NotRows(number, f"{_shorten_text(line)} is not an object")
        cells = {key: "" if value is None else str(value) for key, value in found.items()}
        yield number, tuple(cells), cells


def _iterate_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines with their numbers; only a line feed ends a line."""
    for number, line in enumerate(text.lstrip("\ufeff").split("\n"), 1):
        yield number, line.rstrip("\r")


def _shorten_text(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}...")


#: Largest difference of the times of two rows to compare, as a share of a tick.
_SAME_TICK = 0.25


class CellDiff(NamedTuple):
    """A cell that differs, and the difference (NaN if a side is not a finite number)."""

    column: str
    expected: str
    drawn: str
    amount: float


class Pair(NamedTuple):
    """An expected row and the drawn row of the same time, with the cells that differ.

    A side without a row at that time is None.
    """

    expected: RowCells | None
    drawn: RowCells | None
    apart: tuple[CellDiff, ...] = ()

    @property
    def differs(self) -> bool:
        """True if the two rows differ, or one of them is missing."""
        return bool(self.apart) or self.expected is None or self.drawn is None

    @property
    def time(self) -> float:
        """The time of the rows (s)."""
        row = self.expected or self.drawn
        return row.time if row else math.nan


class Group(NamedTuple):
    """The rows of one entity (of one strategy, of one file), in order."""

    names: tuple[str, ...]
    pairs: list[Pair]


class Difference(NamedTuple):
    """The differences between two tables of rows.

    ``columns`` were compared; ``ignored`` exist on one side only. ``written``: the values are
    equal, but written in another way or order.
    """

    expected: RowTable
    drawn: RowTable
    columns: tuple[str, ...]
    ignored: tuple[str, ...]
    groups: list[Group]
    written: bool = False

    def iterate_pairs(self) -> Iterator[Pair]:
        """Yield all pairs of rows."""
        for group in self.groups:
            yield from group.pairs

    @property
    def differing(self) -> list[Pair]:
        """The pairs with both rows that differ."""
        return [pair for pair in self.iterate_pairs() if pair.apart]

    @property
    def missing(self) -> list[Pair]:
        """The expected rows that were not drawn."""
        return [pair for pair in self.iterate_pairs() if pair.drawn is None]

    @property
    def extra(self) -> list[Pair]:
        """The drawn rows that were not expected."""
        return [pair for pair in self.iterate_pairs() if pair.expected is None]

    @property
    def first(self) -> tuple[Group, int]:
        """The group of the first row that differs, in the expected order, and the row's index."""
        found = [
            (group, next(index for index, pair in enumerate(group.pairs) if pair.differs))
            for group in self.groups
            if any(pair.differs for pair in group.pairs)
        ]
        return min(found, key=lambda one: _get_row_line(one[0].pairs[one[1]]))

    @property
    def largest(self) -> tuple[Pair, CellDiff] | None:
        """The largest deviation of a number, with its pair of rows; None if no number deviates."""
        cells = ((pair, cell) for pair in self.iterate_pairs() for cell in pair.apart)
        known = [(pair, cell) for pair, cell in cells if not math.isnan(cell.amount)]
        positions = [(pair, cell) for pair, cell in known if cell.column in NUMBERS[1:4]]
        return max(positions or known, key=lambda deviation: abs(deviation[1].amount), default=None)


def _get_row_line(pair: Pair) -> float:
    row = pair.expected or pair.drawn
    return row.line if row else math.inf


def compare(
    expected: RowTable, drawn: RowTable, tolerances: Tolerances, *, literal: bool = False
) -> Difference | None:
    """Compare two tables; return their difference, or None if they are equal.

    Numbers are compared as numbers, and a quaternion equals its negative; with ``literal`` and
    without tolerances, cells are compared as written, as all other cells are. Columns that one side
    lacks are left out.
    """
    columns = tuple(column for column in expected.columns if column in drawn.columns)
    ignored = tuple(
        column for column in (*expected.columns, *drawn.columns) if column not in columns
    )
    names = tuple(column for column in columns if column not in NUMBERS and column != "status")
    compared = tuple(column for column in columns if column not in names)
    cells = _CellComparison(expected, drawn, compared, tolerances, literal and tolerances.exact)
    theirs = _group_rows(drawn, names)
    groups = []
    for key, rows in _group_rows(expected, names).items():
        groups.append(Group(key, list(_align_rows(rows, theirs.pop(key, []), cells))))
    for key, rows in theirs.items():
        groups.append(Group(key, [Pair(None, row) for row in rows]))
    if not any(pair.differs for group in groups for pair in group.pairs):
        return None
    return Difference(expected, drawn, columns, ignored, groups)


_QUATERNION = ("qx", "qy", "qz", "qw")


class _CellComparison:
    """A comparison of the cells of two rows."""

    def __init__(
        self,
        expected: RowTable,
        drawn: RowTable,
        columns: Sequence[str],
        tolerances: Tolerances,
        literal: bool,
    ) -> None:
        self._places = [
            (
                column,
                expected.find_column(column),
                drawn.find_column(column),
                tolerances.find_tolerance(column),
            )
            for column in columns
        ]
        self._literal = literal
        turn = [place[1:3] for place in self._places if place[0] in _QUATERNION]
        self._turn = turn if len(turn) == 4 and not literal else []

    def _is_negated(self, expected: RowCells, drawn: RowCells) -> bool:
        """Return True if negating one quaternion brings them closer (q and -q are one rotation)."""
        turns = [(expected.cells[here], drawn.cells[there]) for here, there in self._turn]
        return all(map(all, turns)) and sum(float(a) * float(b) for a, b in turns) < 0

    def make_pair(self, expected: RowCells, drawn: RowCells) -> Pair:
        """Return a pair of the two rows, with the cells that differ."""
        apart = []
        negative = self._is_negated(expected, drawn)
        for column, here, there, tolerance in self._places:
            one, other = expected.cells[here], drawn.cells[there]
            over = negative and column in _QUATERNION
            if one == other and not over:
                continue
            if column not in NUMBERS or not (one and other):
                apart.append(CellDiff(column, one, other, math.nan))
                continue
            a, b = float(one), -float(other) if over else float(other)
            if self._literal or not tolerance.is_within(a, b):
                amount = b - a
                finite = math.isfinite(amount)
                apart.append(CellDiff(column, one, other, amount if finite else math.nan))
        return Pair(expected, drawn, tuple(apart))


def _group_rows(table: RowTable, names: Sequence[str]) -> dict[tuple[str, ...], list[RowCells]]:
    places = [table.find_column(name) for name in names]
    groups: dict[tuple[str, ...], list[RowCells]] = {}
    for row in table.rows:
        groups.setdefault(tuple(row.cells[place] for place in places), []).append(row)
    return groups


def find_tick(rows: Sequence[RowCells]) -> float:
    """Return the usual time between two rows; NaN with fewer than two rows."""
    steps = sorted(b.time - a.time for a, b in pairwise(rows))
    return steps[len(steps) // 2] if steps else math.nan


def _align_rows(
    expected: Sequence[RowCells], drawn: Sequence[RowCells], cells: _CellComparison
) -> Iterator[Pair]:
    """Pair rows of about the same time; rows without a partner are missing or extra."""
    tick = find_tick(expected if len(expected) > 1 else drawn)
    near = _SAME_TICK * tick if tick > 0 else 1e-3
    here = there = 0
    while here < len(expected) and there < len(drawn):
        ours, theirs = expected[here], drawn[there]
        # not a number is beside whatever there is
        apart = theirs.time - ours.time
        if abs(apart) <= near or math.isnan(apart):
            yield cells.make_pair(ours, theirs)
            here, there = here + 1, there + 1
        elif apart > 0:
            yield Pair(ours, None)
            here += 1
        else:
            yield Pair(None, theirs)
            there += 1
    yield from (Pair(row, None) for row in expected[here:])
    yield from (Pair(None, row) for row in drawn[there:])


# ---------------------------------------------------------------- what it looks like


class Pattern(enum.Enum):
    """A kind of difference, such as rows shifted in time or a constant offset."""

    STATUS = enum.auto()  # only statuses differ
    ENDS_EARLY = enum.auto()  # rows are missing at the end, the others are the same
    BEGINS_LATE = enum.auto()
    GOES_ON = enum.auto()  # rows too many at the end
    BEGINS_EARLY = enum.auto()
    SHIFTED = enum.auto()  # drawn some ticks late or early
    TIMES = enum.auto()  # only the times are off, by as much everywhere
    CLOCK = enum.auto()  # only the times are off, by more and more
    AXES = enum.auto()  # axes are swapped or mirrored
    FACTOR = enum.auto()  # positions, velocities or both are multiplied by something
    OFFSET = enum.auto()  # something is added to a column
    DOUBLE = enum.auto()  # double precision where single is computed here
    SINGLE = enum.auto()  # the other way round
    FEW_DIGITS = enum.auto()  # single-precision numbers, printed with fewer digits than they need
    FACTOR_AT_FIRST = enum.auto()  # a factor in the first rows that differ; errors feed back then
    LAST_DIGIT = enum.auto()  # no more than the last digit that is printed
    PRECISION = enum.auto()  # as far as single precision reaches
    GROWING = enum.auto()  # the further on, the larger
    BEGINS_AT = enum.auto()  # the same up to some row, apart from there on
    SCATTERED = enum.auto()  # now and then
    NONE = enum.auto()


@dataclass(frozen=True)
class DifferenceCause:
    """A pattern with its evidence.

    ``amount`` is the ticks of a shift, the factor, the offset (in the columns' unit), the largest
    relative deviation, or the growth per second; ``what`` names columns or axes; ``count`` of
    ``total`` rows (or numbers, for digits) show it; ``time`` is where it begins (s). ``more`` rows
    are off by more than the pattern explains, from ``time`` on.
    """

    pattern: Pattern
    amount: float = 0.0
    what: str = ""
    count: int = 0
    total: int = 0
    time: float = 0.0
    more: int = 0
