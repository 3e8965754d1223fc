"""The rows around the first difference: expected ones with a minus, drawn ones with a plus."""

from __future__ import annotations

from collections.abc import Iterator

from epic_cli.checking.case import NUMBERS
from epic_cli.checking.differences import Difference, Pair
from epic_cli.checking.rows import Row, Table
from epic_cli.engine.text.widths import cut, printable, width

#: So many rows are shown before and after the first that differs.
_AROUND = 2

_LONGEST_CELL = 22


def rows_around(difference: Difference, columns: int | None = None) -> list[str]:
    """A table, no wider than so many columns (None: as wide as it likes)."""
    if difference.written:
        return []
    group, first = difference.first
    pairs = group.pairs[max(first - _AROUND, 0) : first + _AROUND + 1]
    apart = {cell.column for pair in pairs for cell in pair.apart}
    shown = [
        one
        for one in difference.columns
        if one in NUMBERS or one in apart or (one == "status" and len(apart) < 3)
    ]
    table = _cells(difference, pairs, ["time", *(one for one in shown if one != "time")])
    wanted = [one for one in shown if one in apart]
    while columns and _total(table) > columns and len(table[0]) > 2:
        names = table[0][1:]
        spare = [one for one in names[1:] if one not in wanted] or names[1:]
        place = table[0].index(spare[-1])
        for row in table:
            del row[place]
    widths = [max(width(row[place]) for row in table) for place in range(len(table[0]))]
    return [
        "  ".join(" " * (wide - width(cell)) + cell for cell, wide in zip(row, widths, strict=True))
        for row in table
    ]


def _total(table: list[list[str]]) -> int:
    return sum(max(width(row[place]) for row in table) + 2 for place in range(len(table[0])))


def _cells(difference: Difference, pairs: list[Pair], names: list[str]) -> list[list[str]]:
    return [["", *names], *_lines(difference, pairs, names)]


def _lines(difference: Difference, pairs: list[Pair], names: list[str]) -> Iterator[list[str]]:
    for pair in pairs:
        if not pair.differs and pair.expected:
            yield [" ", *_row(difference.expected, pair.expected, names)]
            continue
        if pair.expected is not None:
            yield ["-", *_row(difference.expected, pair.expected, names)]
        if pair.drawn is not None:
            yield ["+", *_row(difference.drawn, pair.drawn, names)]


def _row(table: Table, row: Row, names: list[str]) -> list[str]:
    cells = [row.cells[table.place(one)] if one in table.columns else "" for one in names]
    return [cut(printable(cell), _LONGEST_CELL) if cell else "-" for cell in cells]
