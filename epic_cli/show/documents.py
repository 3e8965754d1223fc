"""Reports for documents and for other programs: Markdown, CSV, JSON lines; and text in markup."""

from __future__ import annotations

import csv
import html
import io
import json
from collections.abc import Callable, Iterator, Mapping

from epic_cli.engine.text.widths import printable, some
from epic_cli.show.report import Column, Part, Report, ReportFinding, Table, Usage


def as_csv(report: Report) -> str:
    """Rows by their fields, under a header; what is None stays empty."""
    out = io.StringIO()
    writer = csv.DictWriter(out, report.data.fields, lineterminator="\n")
    writer.writeheader()
    writer.writerows(report.data.rows())
    return out.getvalue()


def as_jsonl(report: Report) -> str:
    """One JSON object a line, with all digits; null: not enough to say."""
    return "".join(json.dumps(one, allow_nan=False) + "\n" for one in report.data.records())


def as_markdown(report: Report) -> str:
    """A section of a document: the verdict, the parts, and what it rests on as a list."""
    return "\n".join(_lines(report)) + "\n"


#: The formats of a report, beside text for people.
DOCUMENTS: Mapping[str, Callable[[Report], str]] = {
    "csv": as_csv,
    "jsonl": as_jsonl,
    "markdown": as_markdown,
}


def _lines(report: Report) -> Iterator[str]:
    blocks = [[f"## {_plain(report.title)}"] if report.title else []]
    blocks.append([_plain(" ".join(report.verdict))] if report.verdict else [])
    blocks += [list(_part(part)) for part in report.parts]
    blocks.append([f"- {_plain(note)}" for note in report.notes])
    for number, block in enumerate(filter(None, blocks)):
        if number:
            yield ""
        yield from block


def _part(part: Part) -> Iterator[str]:
    match part:
        case str():
            yield from map(_plain, part.splitlines())
        case Report():
            yield from _lines(part)
        case Table():
            yield from _table(part)
        case ReportFinding():
            concerned = f" ({some(part.entities)})" if part.entities else ""
            if part.title:
                yield from (f"### {_plain(part.title + concerned)}", "")
            if part.text:
                yield from (_plain(part.text), "")
            yield from (f"- {name}: {_plain(text)}" for name, text in part.terms)
        case Usage():
            yield from (f"- {where}: `{printable(what)}`" for where, what in part.forms)


def _table(table: Table) -> Iterator[str]:
    """The best of each column is bold."""
    rule = ["---:" if one.right else ":---" for one in table.columns]
    yield f"| {' | '.join(map(_plain, table.titles))} |"
    yield f"| {' | '.join(rule)} |"
    for cells in zip(*map(_cells, table.columns), strict=True):
        yield f"| {' | '.join(cells)} |"


def _cells(column: Column) -> list[str]:
    cells = [_plain(one) for one in column.cells]
    return [f"**{one}**" if row in (column.best or ()) else one for row, one in enumerate(cells)]


#: What would be a cell's end, a tag, a link, an image or code.
_ESCAPED = str.maketrans({one: f"\\{one}" for one in "\\|[]`"} | {"<": "&lt;", "&": "&amp;"})


def _plain(text: str) -> str:
    return printable(text).translate(_ESCAPED)


def in_markup(text: str) -> str:
    """Text between tags of SVG, which has no way to write most control characters."""
    return html.escape(printable(text), quote=False)  # xml.sax.saxutils loads all of urllib
