"""A comparison as a table for people, with what it means in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from rich.console import Console, ConsoleOptions, RenderResult
from rich.constrain import Constrain
from rich.text import Text

from epic_cli.analysis.compare import Comparison, Result
from epic_cli.analysis.metric import Better, Metric, Section
from epic_cli.analysis.metrics import named, shown_metrics
from epic_cli.formats.wording import left_out_words
from epic_cli.views.comparison_words import LAG_MARKS, MARKS, ranking, story
from epic_cli.views.table import KEPT, fit
from epic_cli.views.table import Column as TableColumn

#: The head of the scores' intervals.
LIKELY = "likely"

#: Columns of this weight or more are always there.
KEPT_WEIGHT = 8

#: Sentences are no longer than this, however wide the screen is.
PROSE = 160


class Column(NamedTuple):
    """One column: its cells, and which rows have the best value."""

    metric: Metric
    cells: list[str]
    best: set[int]


def sort_results(results: Sequence[Result], by: str) -> list[Result]:
    """The results by a metric, best first and those without a value last; or by ``name``.

    ``given`` leaves them in their order.
    """
    if by == "given":
        return list(results)
    if by == "name":
        return sorted(results, key=lambda one: one.label)
    metric = named(by)
    return sorted(results, key=lambda one: (not one.ranked, metric.rank(one.value(by))))


def columns(results: Sequence[Result], resolution: float = 0.0) -> list[Column]:
    """The cells of the table by column, the best of each marked.

    The best is that of the same entity, or recording, where results are by these. Nothing is
    marked where two figures are equally good, as they are written, or as far as the data's
    ``resolution`` (length) tells, or where results have a standing that does not say which one is
    better beyond doubt. A column in which nothing is known is left out.
    """
    made = []
    judged = any(one.values for one in results)
    for metric in shown_metrics():
        values = [one.value(metric.name) for one in results]
        if judged and all(map(math.isnan, values)) and metric.weight < KEPT_WEIGHT:
            continue
        cells = [metric.cell(value, resolution) for value in values]
        best: set[int] = set()
        compared = metric.better is not Better.NEITHER
        for place in {one.place for one in results} if compared else ():
            rows = [i for i, one in enumerate(results) if one.place == place and one.ranked]
            known = [i for i in rows if not math.isnan(values[i])]
            known.sort(key=lambda i: metric.rank(values[i]))
            if len(known) < 2 or cells[known[0]].lstrip("-") == cells[known[1]].lstrip("-"):
                continue
            unjudged = results[known[0]].rank is None
            if unjudged or metric.name in results[known[0]].standing.ahead:
                best.add(known[0])
        made.append(Column(metric, cells, best))
    for row, one in enumerate(results):
        if one.failed:
            made[0].cells[row] = "failed"
            continue
        for column in made:
            marks = MARKS if column.metric.name == "score" else LAG_MARKS
            if column.metric.name in ("score", "lag"):
                column.cells[row] += next((marks[n.flaw] for n in one.notes if n.flaw in marks), "")
    return made


class ComparisonTable:
    """The table, one or (where it is too wide) two, and under it what it means.

    rich prints it. The best of each column has a star, and stands out where there is colour.
    """

    def __init__(self, comparison: Comparison, sort: str = "score", by: str = "strategy") -> None:
        self.comparison = comparison
        self.by = by
        self.results = ordered(comparison, sort, by == "entity", by == "recording")

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The advice, the table, the notes."""
        room = options.max_width
        for one in ranking(self.comparison):
            yield Constrain(Text(one.text, style="" if one.detail else "bold"), PROSE)
        if self.comparison.results:
            yield Text()
        made = columns(self.results, self.comparison.resolution)
        whole = fit(self._columns(made), room)
        tables = [whole]
        if whole.left_out:
            sections = (Section.ACCURACY, Section.SMOOTHNESS)
            parts = ([one for one in made if one.metric.section is section] for section in sections)
            tables = [fit(self._columns(part), room) for part in parts]
        for number, table in enumerate(tables):
            if number:
                yield Text()
            yield from table.lines(gaps=self._gaps())
        left_out = [title for table in tables for title in table.left_out]
        yield Text()
        words = left_out_words(left_out, room, "a wider window or --format csv")
        prose = [Text(words)] if words else []
        prose += [Text(line, style="dim") for line in story(self.comparison, self.results)]
        for paragraph in prose:
            yield Constrain(paragraph, PROSE)

    def _columns(self, made: Sequence[Column]) -> list[TableColumn]:
        most = max((one.metric.weight for one in made), default=0)
        named = [TableColumn("strategy", [one.label for one in self.results], shortest=12)]
        if self.by != "strategy":
            places = [one.place for one in self.results]
            named.append(TableColumn(self.by, places, shortest=6))
        first = bool(made) and made[0].metric.name == "score"
        if first and any(one.rank for one in self.results):
            ranks = [str(one.rank or "-") for one in self.results]
            named.append(TableColumn("rank", ranks, KEPT, right=True))
        shown = [
            TableColumn(
                column.metric.title + " ",
                [cell + ("*" if row in column.best else " ") for row, cell in rows],
                column.metric.weight if column.metric.weight < most else KEPT,
                right=True,
                styles=["bold green" if row in column.best else "" for row, _ in rows],
            )
            for column in made
            for rows in [list(enumerate(column.cells))]
        ]
        likely = likely_scores(self.results)
        if first and any(likely):
            shown.insert(1, TableColumn(LIKELY, likely, made[0].metric.weight - 1, right=True))
        return named + shown

    def _gaps(self) -> list[int]:
        """The rows at which another entity or recording begins."""
        pairs = zip(self.results, self.results[1:], strict=False)
        return [row for row, (a, b) in enumerate(pairs, 1) if a.place != b.place]


def likely_scores(results: Sequence[Result]) -> list[str]:
    """The interval of each score, as tables show it."""
    intervals = [one.interval("score") for one in results]
    return ["" if math.isnan(low) else f"{low:.0f}-{high:.0f}" for low, high in intervals]


def ordered(
    comparison: Comparison, sort: str, by_entity: bool = False, by_recording: bool = False
) -> list[Result]:
    """The lines of the table: by strategy, or by entity or recording and then strategy."""
    if not (by_entity or by_recording):
        return sort_results(comparison.results, sort)
    results = comparison.by_entity if by_entity else comparison.by_recording
    return [
        result
        for place in dict.fromkeys(one.place for one in results)
        for result in sort_results([one for one in results if one.place == place], sort)
    ]
