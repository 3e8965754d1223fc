"""A report as text: rich prints it, no line wider than the screen."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.text import Text

from epic_cli.engine.text.widths import pad, printable, some, width, wrap
from epic_cli.recordings.wording import describe_left_out
from epic_cli.show.report import (
    KEPT,
    Column,
    Figure,
    Part,
    Report,
    ReportFinding,
    Table,
    Usage,
)

#: Sentences are no longer than this, however wide the screen is.
PROSE = 100

_INDENT = "   "


class ReportText:
    """A report for people: title, verdict, parts and notes, with empty lines between them.

    With ``explain`` the method follows. ``rest`` says where the columns are for which the screen is
    too narrow.
    """

    def __init__(
        self, report: Report, explain: bool = False, rest: str = "a wider window or --format csv"
    ) -> None:
        self._write_report = report
        self._explain = explain
        self._rest = rest

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the lines, and pictures between them."""
        screen = _Screen(
            options.max_width, options.encoding.startswith("utf"), self._explain, self._rest
        )
        yield from _write_report(self._write_report, screen)


class _Screen(NamedTuple):
    """The width of the screen, its character set, and the parts of a report to show."""

    room: int
    unicode: bool = True
    explain: bool = False
    rest: str = ""

    @property
    def prose(self) -> int:
        """The width of sentences, in columns."""
        return min(self.room, PROSE)


def _write_report(
    report: Report, screen: _Screen, outer: list[str] | None = None
) -> Iterator[RenderableType]:
    """Yield a report; the columns that it leaves out are named once, below the ``outer`` one."""
    left_out: list[str] = [] if outer is None else outer
    blocks = [_write_verdict(report, screen.prose)]
    blocks += [list(_write_part(part, screen, left_out)) for part in _number_findings(report.parts)]
    notes: list[RenderableType] = []
    shown = [] if outer is not None else list(dict.fromkeys(left_out))
    if words := describe_left_out(shown, screen.room, screen.rest):
        notes += wrap_paragraph(words, screen.prose)
    for note in (*report.notes, *(report.method if screen.explain else ())):
        notes += wrap_paragraph(note, screen.prose, style="dim")
    for number, block in enumerate(filter(None, [*blocks, notes])):
        if number:
            yield Text()
        yield from block


def _write_verdict(report: Report, room: int) -> list[RenderableType]:
    lines: list[RenderableType] = []
    first, *others = [*filter(None, [report.title]), *report.verdict] or [""]
    if first:
        lines += wrap_paragraph(first, room, style="bold")
    for sentence in others:
        lines += wrap_paragraph(sentence, room)
    return lines


def _number_findings(parts: Sequence[Part]) -> Iterator[Part]:
    number = 0
    for part in parts:
        if isinstance(part, ReportFinding) and part.title:
            number += 1
            concerned = f" ({some(part.entities)})" if part.entities else ""
            yield replace(part, title=f"{number}. {part.title}{concerned}")
        else:
            yield part


def _write_part(part: Part, screen: _Screen, left_out: list[str]) -> Iterator[RenderableType]:
    room = screen.room
    match part:
        case str():
            for line in part.splitlines():
                # an option is to be copied: it is not broken
                longest = width(line) if line.startswith("-s ") else 0
                yield from wrap_paragraph(line, max(min(room, PROSE), longest))
        case Report():
            yield from _write_report(part, screen, left_out)
        case Table():
            tables = _fit_tables(part, screen)
            for number, table in enumerate(tables):
                if number:
                    yield Text()
                left_out += table.left_out
                yield from table.iterate_lines(gaps=part.gaps)
        case ReportFinding():
            yield from _write_finding(part, screen)
        case Usage():
            left = max(len(name) for name, _ in part.forms) + 2
            for name, text in part.forms:
                whole = Text(no_wrap=True, overflow="ignore")
                yield whole.append(pad(name, left), "bold").append(text)
        case Figure():
            if drawn := part.draw():
                yield drawn


def _write_finding(part: ReportFinding, screen: _Screen) -> Iterator[RenderableType]:
    indent, room = _INDENT if part.title else "", screen.prose
    if part.title:
        yield from wrap_paragraph(part.title, room, style="bold")
    if part.text:
        yield from wrap_paragraph(part.text, room, indent)
    yield from write_definitions(
        [*part.terms, *(part.method if screen.explain else ())], room, indent
    )


def _fit_tables(table: Table, screen: _Screen) -> list[Fitted]:
    """Return a table fitted to the screen, or a table per group of columns if it is too wide."""
    room = screen.room
    groups = list(dict.fromkeys(column.group for column in table.columns if column.group))
    whole = fit(_keep_heaviest_columns([c for c in table.columns if not c.error_bars]), room)
    if not whole.left_out or not groups:
        pictures = [column for column in table.columns if column.error_bars]
        return [_add_picture_column(whole, pictures, screen)]
    parts = [
        [
            column
            for column in table.columns
            if column.group in ("", group) and not column.error_bars
        ]
        for group in groups
    ]
    return [fit(_keep_heaviest_columns(part), room) for part in parts]


#: Columns of a picture in a table: the fewest that tell something, and the most that help.
_PICTURE = (10, 40)

#: Width of the widest screen; longer lines go to files, which get no picture.
_WIDEST = 1000


def _add_picture_column(table: Fitted, pictures: Sequence[Column], screen: _Screen) -> Fitted:
    """Return the table with its first column of pictures added, if there is room."""
    room = screen.room - sum(table.widths) - len(_GAP) * len(table.widths)
    if not pictures or screen.room > _WIDEST or room < _PICTURE[0]:
        return table
    drawn = _draw_error_bars(pictures[0], min(room, _PICTURE[1]), screen.unicode)
    return Fitted(
        [*table.columns, drawn], [*table.widths, _measure_natural_width(drawn)], table.left_out
    )


def _draw_error_bars(column: Column, columns: int, unicode: bool) -> Column:
    """Return a column of text, ``columns`` wide: a dot and its interval in each row.

    The head has the values at both ends of the picture.
    """
    line, dot = "─●" if unicode else "-o"
    known = [end for bar in column.error_bars for end in bar if math.isfinite(end)]
    least, most = (min(known), max(known)) if known else (0.0, 0.0)
    ends = [f"{least:.0f}", f"{most:.0f}"]
    cells = []
    for bar in column.error_bars:
        low, middle, high = (
            round((end - least) / ((most - least) or 1) * (columns - 1))
            if math.isfinite(end)
            else None
            for end in bar
        )
        row = [" "] * columns
        if middle is not None:
            left = middle if low is None else low
            right = middle if high is None else high
            row[left : right + 1] = line * (right + 1 - left)
            row[middle] = dot
        cells.append("".join(row))
    head = ends[0] + ends[1].rjust(columns - len(ends[0]))
    return replace(column, title=head, cells=cells, error_bars=())


def _keep_heaviest_columns(columns: Sequence[Column]) -> list[Column]:
    """Return the columns, with the heaviest columns of groups marked as always kept."""
    most = max((column.weight for column in columns if column.group), default=KEPT)
    return [
        replace(column, weight=KEPT) if column.group and column.weight == most else column
        for column in columns
    ]


_GAP = "  "

#: Least columns for a text beside its name; with fewer it stands below.
_ENOUGH = 28


class Fitted(NamedTuple):
    """A table fitted to a width: its columns, their widths, and the heads of columns left out."""

    columns: list[Column]
    widths: list[int]
    left_out: list[str]

    def iterate_lines(self, head: str = "bold", gaps: Collection[int] = ()) -> Iterator[Text]:
        """Yield the lines of the table, its head first.

        An empty line stands before rows in ``gaps``.
        """
        yield self._write_line(
            list(map(_format_column_title, self.columns)), [head] * len(self.columns)
        )
        for row in range(len(self.columns[0].cells)):
            if row in gaps:
                yield Text()
            cells = [_format_cell(column, row) for column in self.columns]
            for index, columns in enumerate(self.widths):
                if width(printable(cells[index])) > columns:
                    yield Text(printable(cells[index]), no_wrap=True, overflow="ignore")
                    cells[index] = ""
            yield self._write_line(
                cells, [_choose_cell_style(column, row) for column in self.columns]
            )

    def _write_line(self, cells: Sequence[str], styles: Sequence[str]) -> Text:
        line = Text(no_wrap=True, overflow="ignore", end="\n")
        for index, (column, columns) in enumerate(zip(self.columns, self.widths, strict=True)):
            line.append(_GAP if index else "")
            line.append(pad(printable(cells[index]), columns, column.right), styles[index])
        line.rstrip()
        return line


def _format_column_title(column: Column) -> str:
    return column.title if column.best is None else f"{column.title} "  # above the star


def _format_cell(column: Column, row: int) -> str:
    star = "" if column.best is None else "*" if row in column.best else " "
    return column.cells[row] + star


def _choose_cell_style(column: Column, row: int) -> str:
    if column.best and row in column.best:
        return "bold green"
    return column.styles[row] if column.styles else ""


def _measure_natural_width(column: Column) -> int:
    """Return the width of a column's head or longest cell, whichever is wider."""
    cells = (_format_cell(column, row) for row in range(len(column.cells)))
    return max(width(printable(name)) for name in (_format_column_title(column), *cells))


def fit(columns: Sequence[Column], room: int) -> Fitted:
    """Fit columns to a width of ``room``: leave out columns, then narrow the rest."""
    kept = list(columns)
    natural = {id(column): _measure_natural_width(column) for column in columns}
    natural |= {id(column): min(natural[id(column)], room) for column in columns if column.text}
    while True:
        excess = sum(natural[id(kept_item)] + len(_GAP) for kept_item in kept) - len(_GAP) - room
        least = min(kept, key=lambda one: one.weight)
        final = least.weight >= KEPT
        narrow = 1 if final else max(room // 3, 12)
        wide = [natural[id(kept_item)] for kept_item in kept]
        shortest = [min(w, narrow) if o.text else w for o, w in zip(kept, wide, strict=True)]
        spare = sum(natural[id(one)] - low for one, low in zip(kept, shortest, strict=True))
        if excess <= spare:
            break
        if final:  # what is never left out has room, or the last of it goes after all
            least = next((item for item in reversed(kept[1:]) if not item.text), kept[0])
            if least is kept[0]:
                break
        kept = [item for item in kept if item is not least]
    widths = [natural[id(kept_item)] for kept_item in kept]
    for _ in range(min(max(excess, 0), spare)):  # the widest that may be cut gives one column
        index = max(
            (index for index, low in enumerate(shortest) if widths[index] > low),
            key=lambda index: widths[index],
        )
        widths[index] -= 1
    gone = [column.title for column in columns if not any(column is other for other in kept)]
    return Fitted(kept, widths, gone)


def wrap_paragraph(text: str, room: int, indent: str = "", style: str = "") -> Iterator[Text]:
    """Yield the lines of a text wrapped to ``room``, all of them indented."""
    for line in wrap(printable(" ".join(text.split())), max(room - width(indent), 1)):
        yield Text(indent + line, style, no_wrap=True, overflow="ignore")


class DescribedRow(NamedTuple):
    """A row of short styled cells, and a sentence about them."""

    cells: Sequence[str]
    text: str
    styles: Sequence[str]


def write_definitions(
    items: Sequence[tuple[str, str]], room: int, indent: str = ""
) -> Iterator[Text]:
    """Yield lines with names in bold and their meanings."""
    return write_described_rows(
        [DescribedRow((name,), text, ("bold",)) for name, text in items], room, indent
    )


def write_described_rows(
    rows: Sequence[DescribedRow], room: int, indent: str = ""
) -> Iterator[Text]:
    """Yield lines of rows, each sentence beside its cells, or below if there is little room."""
    columns = [max(map(width, column)) for column in zip(*(row.cells for row in rows), strict=True)]
    taken = width(indent) + sum(columns) + len(_GAP) * len(columns)
    for cells, text, styles in rows:
        if room - taken < _ENOUGH:
            yield from wrap_paragraph(" | ".join(cells), room, indent, styles[0])
            yield from wrap_paragraph(text, room, indent + "    ")
            continue
        for number, line in enumerate(wrap(printable(text), room - taken) or [""]):
            whole = Text(indent, no_wrap=True, overflow="ignore")
            for cell, size, style in zip(cells, columns, styles, strict=True):
                whole.append(pad("" if number else cell, size), style)
                whole.append(_GAP)
            yield whole.append(line)
