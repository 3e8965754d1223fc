"""Writers of reports for documents and for other programs; ``formats`` has the table of them."""

from __future__ import annotations

import base64
import csv
import html
import io
import json
from collections.abc import Callable, Collection, Iterator
from itertools import groupby
from typing import TypeAlias

from epic_cli.engine.text.widths import printable, some
from epic_cli.show.report import Column, Figure, Part, Report, ReportFinding, Table, Usage


def write_csv(report: Report) -> str:
    """Return the rows of a report under a header of their fields; None is an empty cell."""
    out = io.StringIO()
    writer = csv.DictWriter(out, report.data.fields, lineterminator="\n")
    writer.writeheader()
    writer.writerows(report.data.rows())
    return out.getvalue()


def write_jsonl(report: Report) -> str:
    """Return one JSON object a line, with all digits; null stands for too little data."""
    return "".join(json.dumps(record, allow_nan=False) + "\n" for record in report.data.records())


def write_markdown(report: Report) -> str:
    """Return a report as a Markdown section: the verdict, the parts, the notes as a list."""
    return "\n".join(_write_lines(report)) + "\n"


def _write_lines(report: Report) -> Iterator[str]:
    blocks = [[f"## {_escape_markdown(report.title)}"] if report.title else []]
    blocks.append([_escape_markdown(" ".join(report.verdict))] if report.verdict else [])
    blocks += [list(_write_part(part)) for part in report.parts]
    blocks.append([f"- {_escape_markdown(note)}" for note in (*report.notes, *report.method)])
    for number, block in enumerate(filter(None, blocks)):
        if number:
            yield ""
        yield from block


def _write_part(part: Part) -> Iterator[str]:
    match part:
        case str():
            yield from map(_escape_markdown, part.splitlines())
        case Report():
            yield from _write_lines(part)
        case Table():
            yield from _write_table(part)
        case ReportFinding():
            concerned = f" ({some(part.entities)})" if part.entities else ""
            if part.title:
                yield from (f"### {_escape_markdown(part.title + concerned)}", "")
            if part.text:
                yield from (_escape_markdown(part.text), "")
            terms = (*part.terms, *part.method)
            yield from (f"- {name}: {_escape_markdown(text)}" for name, text in terms)
        case Usage():
            yield from (f"- {where}: `{printable(what)}`" for where, what in part.forms)


def _write_table(table: Table) -> Iterator[str]:
    """Yield a Markdown table, with the best cells of each column in bold."""
    columns = [column for column in table.columns if not column.error_bars]
    yield f"| {' | '.join(_escape_markdown(column.title) for column in columns)} |"
    yield f"| {' | '.join('---:' if column.right else ':---' for column in columns)} |"
    for cells in zip(*map(_write_cells, columns), strict=True):
        yield f"| {' | '.join(cells)} |"


def _write_cells(column: Column) -> list[str]:
    cells = [_escape_markdown(cell) for cell in column.cells]
    return [f"**{one}**" if row in (column.best or ()) else one for row, one in enumerate(cells)]


#: Characters that Markdown would take for a cell's end, a tag, a link, an image or code.
_ESCAPED = str.maketrans({each: f"\\{each}" for each in "\\|[]`"} | {"<": "&lt;", "&": "&amp;"})


def _escape_markdown(text: str) -> str:
    return printable(text).translate(_ESCAPED)


def escape_markup(text: str) -> str:
    """Escape text between tags of SVG, which cannot hold most control characters."""
    return html.escape(printable(text), quote=False)  # xml.sax.saxutils loads all of urllib


#: A function from a finding's moment to a link; empty text: no link.
Link: TypeAlias = Callable[[ReportFinding, float], str]


def write_html(
    report: Report, link: Link | None = None, terms: Collection[str] | None = None
) -> str:
    """Return a report as a piece of HTML for notebooks and pages, which loads nothing.

    With ``link``, findings show their moments as links. ``terms`` are the names of the findings'
    terms to show, None for all.
    """
    return "\n".join(("<div>", *_write_elements(report, link, terms), "</div>"))


def _write_elements(
    report: Report, link: Link | None, terms: Collection[str] | None
) -> Iterator[str]:
    if report.title:
        yield f"<h2>{_escape_html(report.title)}</h2>"
    yield from (f"<p>{_escape_html(sentence)}</p>" for sentence in report.verdict)
    for found, parts in groupby(report.parts, lambda part: isinstance(part, ReportFinding)):
        yield from ("<ol>",) if found else ()
        for part in parts:
            yield from _write_element(part, link, terms)
        yield from ("</ol>",) if found else ()
    yield from (f"<p>{_escape_html(note)}</p>" for note in (*report.notes, *report.method))


def _write_element(part: Part, link: Link | None, terms: Collection[str] | None) -> Iterator[str]:
    match part:
        case str():
            yield from (f"<p>{_escape_html(line)}</p>" for line in part.splitlines())
        case Report():
            yield from _write_elements(part, link, terms)
        case Table():
            heads = "".join(f'<th scope="col">{_escape_html(title)}</th>' for title in part.titles)
            caption = _escape_html(part.caption)
            yield f'<div class="scroll" tabindex="0" role="region" aria-label="{caption}">'
            # a last column of words is wide
            yield "<table>" if part.columns[-1].right else '<table class="wordy">'
            yield f"<caption>{caption}</caption><thead><tr>{heads}</tr></thead><tbody>"
            for first, *others in part.rows:
                cells = "".join(f"<td>{_escape_html(cell)}</td>" for cell in others)
                head = f'<th scope="row">{_escape_html(first)}</th>' if first else "<td></td>"
                yield f"<tr>{head}{cells}</tr>"
            yield "</tbody></table></div>"
        case ReportFinding():
            whose = f" ({', '.join(part.entities)})" if part.entities else ""
            yield f"<li><strong>{_escape_html(part.title + whose)}</strong>"
            yield from (f"<p>{_escape_html(text)}</p>" for text in [part.text] if text)
            for name, text in (*part.terms, *part.method):
                if terms is None or name in terms:
                    yield f"<p>{_escape_html(f'{name}: {text}')}</p>"
            if link is not None and part.moments:
                moments = (_write_moment(part, *moment, link) for moment in part.moments)
                yield f"<p>when: {', '.join(moments)}</p>"
            yield "</li>"
        case Usage():
            yield f"<h2>{_escape_html(part.caption)}</h2><dl>"
            for where, words in part.forms:
                yield f"<dt>{_escape_html(where)}</dt><dd><code>{_escape_html(words)}</code></dd>"
            yield "</dl>"
        case Figure():
            yield from _write_pictures(part)


#: Pixels that pages are wide, and how wide their pictures are drawn.
_PHONE, _TABLET = (600, 400), (1000, 800)
_SCREEN = 1400


def _write_pictures(part: Figure) -> Iterator[str]:
    """Yield a picture as HTML, in several sizes if they differ, so that words stay readable."""
    picture = part.svg(_SCREEN)
    if not picture:
        return
    yield "<picture>"
    for page, pixels in (_PHONE, _TABLET):
        if (other := part.svg(pixels)) != picture:
            yield f'<source media="(max-width: {page}px)" srcset="{_make_data_url(other)}"/>'
    yield f'<img src="{_make_data_url(picture)}" alt="{_escape_html(part.words)}"/></picture>'


def _make_data_url(picture: str) -> str:
    return f"data:image/svg+xml;base64,{base64.b64encode(picture.encode()).decode()}"


def _write_moment(finding: ReportFinding, name: str, at: float, link: Link) -> str:
    words, place = _escape_html(f"{name} at {at:.2f} s"), link(finding, at)
    return f'<a href="{_escape_html(place)}">{words}</a>' if place else words


def _escape_html(text: str) -> str:
    return html.escape(printable(text))
