"""A report as text: rich prints it, no line wider than the screen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.text import Text

from epic_cli.engine.text.widths import pad, some
from epic_cli.recordings.wording import left_out_words
from epic_cli.show.report import KEPT, Column, Figure, Finding, Part, Report, Table, Usage
from epic_cli.show.table import Fitted, definitions, fit, paragraph

#: Sentences are no longer than this, however wide the screen is.
PROSE = 100

_INDENT = "   "


class ReportText:
    """A report for people: title, verdict, parts and notes, with empty lines between them."""

    def __init__(self, report: Report) -> None:
        self._report = report

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The lines, and pictures between them."""
        yield from _report(self._report, options.max_width)


def _report(report: Report, room: int) -> Iterator[RenderableType]:
    prose = min(room, PROSE)
    left_out: list[str] = []
    blocks = [_head(report, prose)]
    blocks += [list(_part(part, room, left_out)) for part in _numbered(report.parts)]
    notes: list[RenderableType] = []
    if words := left_out_words(left_out, room, "a wider window or --format csv"):
        notes += paragraph(words, prose)
    for note in report.notes:
        notes += paragraph(note, prose, style="dim")
    for number, block in enumerate(filter(None, [*blocks, notes])):
        if number:
            yield Text()
        yield from block


def _head(report: Report, room: int) -> list[RenderableType]:
    lines: list[RenderableType] = []
    first, *others = [*filter(None, [report.title]), *report.verdict] or [""]
    if first:
        lines += paragraph(first, room, style="bold")
    for sentence in others:
        lines += paragraph(sentence, room)
    return lines


def _numbered(parts: Sequence[Part]) -> Iterator[Part]:
    number = 0
    for part in parts:
        if isinstance(part, Finding) and part.title:
            number += 1
            concerned = f" ({some(part.entities)})" if part.entities else ""
            yield replace(part, title=f"{number}. {part.title}{concerned}")
        else:
            yield part


def _part(part: Part, room: int, left_out: list[str]) -> Iterator[RenderableType]:
    match part:
        case str():
            for line in part.splitlines():
                yield from paragraph(line, min(room, PROSE))
        case Report():
            yield from _report(part, room)
        case Table():
            tables = _tables(part, room)
            for number, table in enumerate(tables):
                if number:
                    yield Text()
                left_out += table.left_out
                yield from table.lines(gaps=part.gaps)
        case Finding():
            yield from _finding(part, min(room, PROSE))
        case Usage():
            left = max(len(name) for name, _ in part.forms) + 2
            for name, text in part.forms:
                whole = Text(no_wrap=True, overflow="ignore")
                yield whole.append(pad(name, left), "bold").append(text)
        case Figure():
            if drawn := part.draw():
                yield drawn


def _finding(part: Finding, room: int) -> Iterator[RenderableType]:
    indent = _INDENT if part.title else ""
    if part.title:
        yield from paragraph(part.title, room, style="bold")
    if part.text:
        yield from paragraph(part.text, room, indent)
    yield from definitions(part.terms, room, indent)


def _tables(table: Table, room: int) -> list[Fitted]:
    """One table, or one for each group of columns where they do not all fit."""
    groups = list(dict.fromkeys(one.group for one in table.columns if one.group))
    whole = fit(_with_weightiest(table.columns), room)
    if not whole.left_out or not groups:
        return [whole]
    parts = [[one for one in table.columns if one.group in ("", group)] for group in groups]
    return [fit(_with_weightiest(part), room) for part in parts]


def _with_weightiest(columns: Sequence[Column]) -> list[Column]:
    """The columns; of those that may go, the most important one stays."""
    most = max((one.weight for one in columns if one.group), default=KEPT)
    return [
        replace(one, weight=KEPT) if one.group and one.weight == most else one for one in columns
    ]
