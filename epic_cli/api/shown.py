"""How results are shown in notebooks, and become tables of other libraries."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from epic_cli.metrics.tabular import Tabular
    from epic_cli.show.report import Part, Report


def register(kind: type[Tabular], report: Callable[[Any], Report]) -> None:
    """Says how the report of such results is made."""
    kind.report_of = staticmethod(report)
    kind.html_of = staticmethod(lambda found: as_html(report(found)))


def as_html(report: Report) -> str:
    """The verdict, tables and pictures of a report as a piece of HTML."""
    return "\n".join(("<div>", *_lines(report), "</div>"))


def _lines(report: Report) -> Iterator[str]:
    yield from (f"<h4>{escape(one)}</h4>" for one in [report.title] if one)
    if report.verdict:
        first, *others = map(escape, report.verdict)
        yield f"<p><b>{first}</b> {' '.join(others)}</p>"
    for part in report.parts:
        yield from _part(part)
    notes = "".join(f"<li>{escape(one)}</li>" for one in report.notes)
    yield from (f"<ul>{one}</ul>" for one in [notes] if one)


def _part(part: Part) -> Iterator[str]:
    from epic_cli.show.report import Figure, Report, ReportFinding, Table, Usage

    match part:
        case str():
            yield f"<p>{escape(part)}</p>"
        case Report():
            yield from _lines(part)
        case Table():
            heads = "".join(f"<th>{escape(one)}</th>" for one in part.titles)
            rows = "".join(
                f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>"
                for row in part.rows
            )
            caption = f"<caption>{escape(part.caption)}</caption>" if part.caption else ""
            yield f"<table>{caption}<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"
        case ReportFinding():
            terms = "".join(f"<br>{escape(name)}: {escape(text)}" for name, text in part.terms)
            yield f"<p><b>{escape(part.title)}</b>: {escape(part.text)}{terms}</p>"
        case Usage():
            yield "".join(f"<pre>{escape(text)}</pre>" for _, text in part.forms)
        case Figure():
            yield part.svg()
