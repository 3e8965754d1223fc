"""A comparison as a report: the verdict, one table, and what it rests on."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from epic_cli.jobs.compare.report import basis, verdict
from epic_cli.metrics import figure_names, named, shown_metrics
from epic_cli.metrics.comparison import Comparison, Result, best_for, good
from epic_cli.metrics.digits import known, reach, whole
from epic_cli.metrics.metric import Better, Metric
from epic_cli.metrics.notes import MARKS, result_words
from epic_cli.show.report import Column, Data, Record, Report, Table

#: The head of the scores' intervals.
LIKELY = "likely"

#: Columns of this weight or more are always there.
KEPT_WEIGHT = 8

_PLACES = ("strategy", "entity", "recording")
_ADVICE = ("rank", "good", "behind", "behind_low", "behind_high", "best_for")


def report(comparison: Comparison, sort: str = "score", by: str = "strategy") -> Report:
    """What came out, its lines sorted by a metric; ``by`` entity or recording, or all together."""
    results = ordered(comparison, sort, by)

    def data() -> list[Record]:
        return records(comparison, results)

    return Report(
        verdict=verdict(comparison),
        parts=[_table(results, by, comparison.resolution)],
        notes=basis(comparison, results),
        data=Data(fields(comparison.turns), data, data),
    )


def ordered(comparison: Comparison, sort: str, by: str = "strategy") -> list[Result]:
    """The lines of the table: by strategy, or by entity or recording and then strategy."""
    if by == "strategy":
        return sort_results(comparison.results, sort)
    results = comparison.by_entity if by == "entity" else comparison.by_recording
    return [
        result
        for place in dict.fromkeys(one.place for one in results)
        for result in sort_results([one for one in results if one.place == place], sort)
    ]


def sort_results(results: Sequence[Result], by: str) -> list[Result]:
    """The results by a metric, best first and those without a value last; or by ``name``.

    By the score, ranks come first: they go down the table. ``given`` leaves them in their order.
    """
    if by == "given":
        return list(results)
    if by == "name":
        return sorted(results, key=lambda one: one.label)
    metric = named(by)

    def place(one: Result) -> tuple[Any, ...]:
        rank = (one.rank or math.inf) if by == "score" else 0
        return not one.ranked, rank, metric.rank(one.value(by))

    return sorted(results, key=place)


# ---------------------------------------------------------------- the table


def _table(results: Sequence[Result], by: str, resolution: float) -> Table:
    """A line for each result; an empty one before another entity or recording."""
    columns = [Column("strategy", [one.label for one in results], text=True)]
    if by != "strategy":
        columns.append(Column(by, [one.place for one in results], text=True))
    metrics = metric_columns(results, resolution)
    if metrics and metrics[0].key == "score":
        scores, likely = metrics[0], likely_scores(results)
        if any(one.rank for one in results):
            ranks = [str(one.rank or "-") for one in results]
            metrics.insert(0, Column("rank", ranks, right=True, group=scores.group))
        if any(likely):
            between = Column(LIKELY, likely, scores.weight - 1, right=True, group=scores.group)
            metrics.insert(metrics.index(scores) + 1, between)
    gaps = [row for row, (a, b) in enumerate(pairwise(results), 1) if a.place != b.place]
    return Table([*columns, *metrics], gaps)


def metric_columns(results: Sequence[Result], resolution: float = 0.0) -> list[Column]:
    """A column for each metric of which something is known, the best values marked."""
    made = []
    judged = any(one.values for one in results)
    for metric in shown_metrics():
        values = [one.value(metric.name) for one in results]
        if judged and all(map(math.isnan, values)) and metric.weight < KEPT_WEIGHT:
            continue
        cells = [metric.cell(value, resolution) for value in values]
        column = Column(
            metric.title,
            [_with_mark(metric, cell, one) for cell, one in zip(cells, results, strict=True)],
            metric.weight,
            right=True,
            best=_best(metric, results, cells),
            group=metric.section.name,
            key=metric.name,
            meaning=metric.help,
        )
        made.append(column)
    if made:
        first = [
            "failed" if one.failed else cell
            for one, cell in zip(results, made[0].cells, strict=True)
        ]
        made[0] = replace(made[0], cells=first)
    return made


def _with_mark(metric: Metric, cell: str, result: Result) -> str:
    """A cell, with the sign that it is to be read with care."""
    marks = MARKS.get(metric.name, {})
    if result.failed:
        return cell
    return cell + next((marks[note.flaw] for note in result.notes if note.flaw in marks), "")


def _best(metric: Metric, results: Sequence[Result], cells: Sequence[str]) -> set[int]:
    """The rows with the best value, of the same entity or recording where results are by these.

    Nothing is marked where two figures are equally good, as they are written, or as far as the
    data's resolution tells, or where results have a standing that does not say which one is
    clearly better.
    """
    best: set[int] = set()
    if metric.better is Better.NEITHER:
        return best
    values = [one.value(metric.name) for one in results]
    for place in {one.place for one in results}:
        rows = [i for i, one in enumerate(results) if one.place == place and one.ranked]
        rows = [i for i in rows if not math.isnan(values[i])]
        rows.sort(key=lambda i: metric.rank(values[i]))
        if len(rows) < 2 or cells[rows[0]].lstrip("-") == cells[rows[1]].lstrip("-"):
            continue
        first = results[rows[0]]
        if first.rank is None or metric.name in first.standing.ahead:
            best.add(rows[0])
    return best


def likely_scores(results: Sequence[Result]) -> list[str]:
    """The interval of each score, as tables show it."""
    cells = [reach(*one.interval("score"), whole, "-") for one in results]
    return [one.replace("at most ", "to ") for one in cells]


# ---------------------------------------------------------------- the data


def fields(turns: bool = True) -> list[str]:
    """The columns of CSV, and the keys of JSON lines; with those of rotation if it ``turns``."""
    return [*_PLACES, *_ADVICE, *figure_names(turns), "note"]


def records(comparison: Comparison, results: Sequence[Result]) -> list[Record]:
    """A record for each result, its keys in the order of ``fields``."""
    games = best_for(comparison.results)
    found: list[Record] = []
    names = fields(comparison.turns)
    for one in results:
        values = _record(one, games if one.rank is not None else {})
        found.append({name: values[name] for name in names})
    return found


def _record(result: Result, games: Mapping[str, Sequence[str]]) -> dict[str, Any]:
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
        "rows": None if math.isnan(result.value("rows")) else int(result.value("rows")),
        "best_for": " ".join(games.get(result.label, ())),
        "note": "; ".join(map(result_words, result.notes)),
    }
