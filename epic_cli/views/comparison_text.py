"""A comparison for other programs and for documents: CSV, JSON lines, Markdown."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from epic_cli.analysis.advice import best_for, good
from epic_cli.analysis.compare import Comparison, Result
from epic_cli.analysis.metrics import figure_names
from epic_cli.views.comparison import LIKELY, columns, likely_scores
from epic_cli.views.comparison_words import ranking, result_words, story
from epic_cli.views.documents import csv_table, markdown_table
from epic_cli.views.numbers import known


def fields() -> list[str]:
    """The columns of CSV, and the keys of JSON lines."""
    return [*_PLACES, *_ADVICE, *figure_names(), "note"]


_PLACES = ("strategy", "entity", "recording")
_ADVICE = ("rank", "good", "behind", "behind_low", "behind_high", "best_for")


def record(result: Result, games: Mapping[str, Sequence[str]] | None = None) -> dict[str, Any]:
    """All that is known, by name, with all digits; None: not enough to say.

    Every metric is in the unit that it declares, and so are the ends of its interval (``_low``,
    ``_high``). ``behind`` is how many points of score it is behind the best, ``games`` for which
    kinds of games (``best_for``) a strategy would have the best score.
    """
    gap = result.standing.gap
    behind = tuple(gap) if gap else (math.nan, math.nan, math.nan)
    numbers = dict(zip(_ADVICE[2:5], behind, strict=True)) | result.figures()
    return {
        "strategy": result.label,
        "entity": result.entity,
        "recording": result.recording,
        "rank": result.rank,
        "good": None if result.rank is None else good(result),
        **{name: known(value) for name, value in numbers.items()},
        "best_for": " ".join((games or {}).get(result.label, ())),
        "note": "; ".join(map(result_words, result.notes)),
    }


def records(comparison: Comparison, results: Sequence[Result]) -> list[dict[str, Any]]:
    """A record for each result, its keys in the order of ``fields``."""
    games = best_for(comparison.results)
    found = []
    for one in results:
        values = record(one, games if one.rank is not None else None)
        found.append({name: values[name] for name in fields()})
    return found


def as_csv(comparison: Comparison, results: Sequence[Result]) -> str:
    """CSV under a header; empty: not enough to say."""
    return csv_table(fields(), records(comparison, results))


def as_jsonl(comparison: Comparison, results: Sequence[Result]) -> str:
    """One JSON object a line; null: not enough to say."""
    found = records(comparison, results)
    return "".join(json.dumps(one, allow_nan=False) + "\n" for one in found)


def as_markdown(comparison: Comparison, results: Sequence[Result], by: str = "strategy") -> str:
    """The advice, a table for a document, the best of each column bold, and what it rests on."""
    made = columns(results, comparison.resolution)
    ranks = [str(one.rank or "-") for one in results]
    likely = likely_scores(results)
    left = [("strategy", [one.label for one in results])]
    if by != "strategy":
        left.append((by, [one.place for one in results]))
    right = [("rank", ranks)] if any(one.rank for one in results) else []
    for column in made:
        cells = [
            f"**{cell}**" if row in column.best else cell for row, cell in enumerate(column.cells)
        ]
        right.append((column.metric.title, cells))
        if column.metric.name == "score" and any(likely):
            right.append((LIKELY, likely))
    lines = [" ".join(one.text for one in ranking(comparison)), ""] if ranks else []
    titles, cells_of = zip(*left, *right, strict=True)
    lines += markdown_table(titles, zip(*cells_of, strict=True), len(left))
    lines.append("")
    lines += [f"- {line}" for line in story(comparison, results)]
    return "\n".join(lines) + "\n"
