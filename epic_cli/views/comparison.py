"""A comparison as a table for people, with what it means in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from epic_cli.analysis.compare import Comparison, Result
from epic_cli.analysis.metric import Better, Metric, Section
from epic_cli.analysis.metrics import named, shown_metrics
from epic_cli.views.comparison_words import ranking, story


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
    return sorted(results, key=lambda one: metric.rank(one.value(by)))


def columns(results: Sequence[Result]) -> list[Column]:
    """The cells of the table by column, the best of each marked.

    The best is that of the same entity where results are by entity. Nothing is marked where all
    are equally good.
    """
    made = []
    for metric in shown_metrics():
        values = [one.value(metric.name) for one in results]
        best: set[int] = set()
        compared = metric.better is not Better.NEITHER
        for entity in {one.entity for one in results} if compared else ():
            rows = [i for i, one in enumerate(results) if one.entity == entity]
            ranks = {i: metric.rank(values[i]) for i in rows if not math.isnan(values[i])}
            if len(set(ranks.values())) > 1:
                best |= {i for i, rank in ranks.items() if rank == min(ranks.values())}
        made.append(Column(metric, [metric.cell(value) for value in values], best))
    for row, one in enumerate(results):
        if one.failed:
            made[0].cells[row] = "failed"
    return made


class ComparisonTable:
    """The table, one or (where it is too wide) two, and under it what it means.

    rich prints it. The best of each column has a star, and stands out where there is colour.
    """

    def __init__(
        self, comparison: Comparison, sort: str = "score", by_entity: bool = False
    ) -> None:
        self.comparison = comparison
        self.by_entity = by_entity
        self.results = ordered(comparison, sort, by_entity)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The table, the ranking in words, the notes."""
        made = columns(self.results)
        whole = self._table(made)
        if (
            console.measure(whole, options=options.update(width=10_000)).maximum
            <= options.max_width
        ):
            yield whole
        else:
            yield self._table([one for one in made if one.metric.section is Section.ACCURACY])
            yield Text()
            yield self._table([one for one in made if one.metric.section is Section.SMOOTHNESS])
        yield Text()
        for one in ranking(self.comparison):
            yield Text(f"  {one.text}") if one.detail else Text(one.text, style="bold")
        for line in story(self.comparison, self.results):
            yield Text(line, style="dim")

    def _table(self, made: Sequence[Column]) -> Table:
        table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold", pad_edge=False)
        table.add_column("strategy", overflow="fold")
        if self.by_entity:
            table.add_column("entity", overflow="fold")
        for column in made:
            table.add_column(column.metric.title + " ", justify="right", no_wrap=True)
        previous = None
        for row, result in enumerate(self.results):
            if self.by_entity and row and result.entity != previous:
                table.add_section()
            previous = result.entity
            cells = [Text(result.label)]
            if self.by_entity:
                cells.append(Text(result.entity or ""))
            for column in made:
                best = row in column.best
                style = "bold green" if best else ""
                cells.append(Text(column.cells[row] + ("*" if best else " "), style))
            table.add_row(*cells)
        return table


def ordered(comparison: Comparison, sort: str, by_entity: bool) -> list[Result]:
    """The lines of the table: by strategy, or by entity and then strategy."""
    if not by_entity:
        return sort_results(comparison.results, sort)
    entities = list(dict.fromkeys(one.entity for one in comparison.by_entity))
    return [
        result
        for entity in entities
        for result in sort_results([r for r in comparison.by_entity if r.entity == entity], sort)
    ]
