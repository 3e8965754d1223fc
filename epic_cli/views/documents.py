"""Texts for documents and for other programs: in Markdown, CSV and markup."""

from __future__ import annotations

import csv
import html
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from epic_cli.engine.text.widths import printable


def markdown_table(titles: Sequence[str], rows: Iterable[Sequence[str]], left: int) -> list[str]:
    """The lines of a table whose first ``left`` columns are words, the others numbers."""
    rule = [":---"] * left + ["---:"] * (len(titles) - left)
    cells = [[printable(one).replace("|", "\\|") for one in row] for row in rows]
    return [f"| {' | '.join(row)} |" for row in (titles, rule, *cells)]


def csv_table(fields: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """Rows by their fields, under a header; what is None stays empty."""
    out = io.StringIO()
    writer = csv.DictWriter(out, fields, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def in_markup(text: str) -> str:
    """Text between tags of SVG, which has no way to write most control characters."""
    return html.escape(printable(text), quote=False)  # xml.sax.saxutils loads all of urllib
