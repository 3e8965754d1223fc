"""A comparison for other programs and for documents: CSV, JSON lines, Markdown."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Sequence
from typing import Any

from epic_cli.analysis.compare import Comparison, Result
from epic_cli.analysis.metrics import METRICS
from epic_cli.engine.text.widths import printable
from epic_cli.views.comparison import columns
from epic_cli.views.comparison_words import ranking, result_words, story


def fields() -> list[str]:
    """The columns of CSV, and the keys of JSON lines."""
    return ["strategy", "entity", *(one.name for one in METRICS), "note"]


def record(result: Result) -> dict[str, Any]:
    """All that is known, by name, with all digits; None: not enough to say.

    Every metric is in the unit that it declares.
    """
    values = {one.name: result.value(one.name) for one in METRICS}
    return {
        "strategy": result.label,
        "entity": result.entity,
        **{name: value if math.isfinite(value) else None for name, value in values.items()},
        "note": "; ".join(map(result_words, result.notes)),
    }


def as_csv(results: Sequence[Result]) -> str:
    """CSV under a header; empty: not enough to say."""
    out = io.StringIO()
    writer = csv.DictWriter(out, fields(), lineterminator="\n")
    writer.writeheader()
    writer.writerows(record(one) for one in results)
    return out.getvalue()


def as_jsonl(results: Sequence[Result]) -> str:
    """One JSON object a line; null: not enough to say."""
    return "".join(json.dumps(record(one), allow_nan=False) + "\n" for one in results)


def as_markdown(comparison: Comparison, results: Sequence[Result], by_entity: bool) -> str:
    """A table for a document, the best of each column bold, and what it means under it."""
    made = columns(results, comparison.resolution)
    heads = ["strategy", *(["entity"] if by_entity else []), *(one.metric.title for one in made)]
    left = 2 if by_entity else 1
    lines = [_row(heads), _row([":---"] * left + ["---:"] * len(made))]
    for index, result in enumerate(results):
        cells = [result.label, *([result.entity or ""] if by_entity else [])]
        cells = [printable(cell).replace("|", "\\|") for cell in cells]
        for column in made:
            text = column.cells[index]
            cells.append(f"**{text}**" if index in column.best else text)
        lines.append(_row(cells))
    lines.append("")
    lines += [f"- {one.text}" for one in ranking(comparison)]
    lines += [f"- {line}" for line in story(comparison, results)]
    return "\n".join(lines) + "\n"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
