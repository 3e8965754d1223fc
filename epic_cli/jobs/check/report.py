"""An outcome as a report: its words, the rows around the first difference, TAP and JUnit XML."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple
from xml.sax.saxutils import escape, quoteattr

from epic_cli.engine.text.widths import cut, printable, width
from epic_cli.jobs.check.case import NUMBERS
from epic_cli.jobs.check.differences import Difference, Pair
from epic_cli.jobs.check.outcome import CaseStatus, Outcome
from epic_cli.jobs.check.rows import Row, Table
from epic_cli.jobs.check.sentences import explanation, headline

#: What is no failure of what is tested, but of the test.
_ERRORS = (CaseStatus.BROKEN, CaseStatus.GONE, CaseStatus.STRATEGY_FAILED)

#: So many rows are shown before and after the first that differs.
_AROUND = 2

_LONGEST_CELL = 22


class CaseReport(NamedTuple):
    """An outcome in words: all that is kept of it, however many rows it has."""

    name: str
    status: CaseStatus
    headline: str
    lines: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Whether all is as expected."""
        return self.status is CaseStatus.HOLDS


def report(outcome: Outcome) -> CaseReport:
    """An outcome in words, which cannot steer a terminal."""
    lines = () if outcome.holds else tuple(map(printable, explanation(outcome)))
    name = printable(outcome.name)
    return CaseReport(name, outcome.status, printable(headline(outcome)), lines)


# ---------------------------------------------------------------- rows


def rows_around(difference: Difference, columns: int | None = None) -> list[str]:
    """A table: expected rows have a minus, drawn ones a plus.

    It is no wider than so many ``columns`` (None: as wide as it likes).
    """
    if difference.written:
        return []
    table, wanted = _table(difference)
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


def side_by_side(difference: Difference) -> list[list[str]]:
    """The same with a head, each row with what it is in words."""
    words = {"": "row", " ": "same", "-": "expected", "+": "drawn"}
    return [[words[sign], *cells] for sign, *cells in _table(difference)[0]]


def _table(difference: Difference) -> tuple[list[list[str]], list[str]]:
    """The rows around the first that differs, below a head, and which columns differ."""
    group, first = difference.first
    pairs = group.pairs[max(first - _AROUND, 0) : first + _AROUND + 1]
    apart = {cell.column for pair in pairs for cell in pair.apart}
    shown = [
        one
        for one in difference.columns
        if one in NUMBERS or one in apart or (one == "status" and len(apart) < 3)
    ]
    names = ["time", *(one for one in shown if one != "time")]
    table = [["", *names], *_lines(difference, pairs, names)]
    return table, [one for one in shown if one in apart]


def _total(table: list[list[str]]) -> int:
    return sum(max(width(row[place]) for row in table) + 2 for place in range(len(table[0])))


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


# ---------------------------------------------------------------- for other programs


def as_tap(outcomes: Sequence[CaseReport]) -> str:
    """TAP version 13: a line for each case, in the order of the cases."""
    lines = ["TAP version 13", f"1..{len(outcomes)}"]
    for number, one in enumerate(outcomes, 1):
        name = one.name.replace("\\", "\\\\").replace("#", "\\#")
        lines.append(f"{'ok' if one.holds else 'not ok'} {number} - {name}")
        lines += [f"# {line}" for line in (one.headline, *one.lines) if not one.holds]
    return "\n".join(lines) + "\n"


def as_junit(outcomes: Sequence[CaseReport]) -> str:
    """JUnit XML: a test case for each case."""
    errors = sum(one.status in _ERRORS for one in outcomes)
    failures = sum(not one.holds for one in outcomes) - errors
    counts = f'tests="{len(outcomes)}" failures="{failures}" errors="{errors}"'
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f"<testsuites {counts}>",
        f'<testsuite name="epic check" {counts}>',
    ]
    for one in outcomes:
        begin = f'<testcase classname="epic" name={quoteattr(one.name)}'
        if one.holds:
            lines.append(f"{begin}/>")
            continue
        kind = "error" if one.status in _ERRORS else "failure"
        text = escape("\n".join(one.lines))
        message = quoteattr(one.headline)
        lines += [f"{begin}>", f"<{kind} message={message}>{text}</{kind}>", "</testcase>"]
    return "\n".join([*lines, "</testsuite>", "</testsuites>"]) + "\n"
