"""A comparison as a table for people, with what it means in words."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from epic_cli.analysis.compare import Comparison, Result
from epic_cli.analysis.figures import FIGURES, Figure, Figures
from epic_cli.analysis.score import FORMULA

#: The columns of the second table where one is too wide.
_SMOOTHNESS = ("largest_jump", "jumps", "jerk", "backward", "held", "extrapolated", "none")

#: Orders that ``sort_results`` knows, beside the order in which strategies were given.
SORTS = ("given", "name", *(one.name for one in FIGURES))


class Column(NamedTuple):
    """One column: its cells, and which rows have the best value."""

    figure: Figure
    cells: list[str]
    best: set[int]


def value_of(result: Result, name: str) -> float:
    """A figure by its name, as the table compares it; NaN: not enough to say."""
    if name == "score":
        return result.score
    if result.figures is None:
        return math.nan
    if name == "jerk":
        return relative_jerk(result.figures)
    return float(getattr(result.figures, name))


def relative_jerk(figures: Figures) -> float:
    """The jerk as a multiple of the truth's; as it is where the truth has none to speak of."""
    none = figures.truth_jerk * figures.tick**2 <= 1e-6 * figures.speed
    return figures.jerk if none else figures.jerk / figures.truth_jerk


def sort_results(results: Sequence[Result], by: str) -> list[Result]:
    """The results, best first; those without the figure come last."""
    if by == "given":
        return list(results)
    if by == "name":
        return sorted(results, key=lambda one: one.label)
    figure = next(one for one in FIGURES if one.name == by)
    return sorted(results, key=lambda one: _rank(figure, value_of(one, by)))


def _rank(figure: Figure, value: float) -> tuple[bool, float]:
    if math.isnan(value):
        return True, 0.0
    return False, {"high": -value, "zero": abs(value)}.get(figure.better, value)


def columns(results: Sequence[Result]) -> list[Column]:
    """The cells of the table by column, the best of each marked.

    The best is that of the same entity where results are by entity. Nothing is marked where all
    are equally good.
    """
    made = []
    for figure in FIGURES:
        values = [value_of(one, figure.name) for one in results]
        best: set[int] = set()
        for entity in {one.entity for one in results} if figure.better else ():
            rows = [i for i, one in enumerate(results) if one.entity == entity]
            ranks = {i: _rank(figure, values[i]) for i in rows if not math.isnan(values[i])}
            if len(set(ranks.values())) > 1:
                best |= {i for i, rank in ranks.items() if rank == min(ranks.values())}
        made.append(Column(figure, [cell(figure.name, value) for value in values], best))
    return made


def cell(name: str, value: float) -> str:
    """A value as the table shows it."""
    if math.isnan(value):
        return "-"
    written: dict[str, Callable[[float], str]] = {
        "score": lambda v: f"{v:.1f}",
        "lag": lambda v: f"{round(v * 1000)}",
        "jumps": lambda v: f"{v:.0f}",
        "backward": lambda v: f"{v:.0f}",
        "held": _percent,
        "extrapolated": _percent,
        "none": _percent,
    }
    return written.get(name, three_digits)(value)


def three_digits(value: float) -> str:
    """Three digits that count, without an exponent from 0.001 to a million."""
    if value == 0:
        return "0"
    size = math.floor(math.log10(abs(value)))
    if not -4 < size < 6:
        return f"{value:.2e}"
    return f"{value:.{max(0, 2 - size)}f}"


def _percent(share: float) -> str:
    return "0" if share == 0 else "<1 %" if share < 0.005 else f"{share:.0%}".replace("%", " %")


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
            yield self._table([one for one in made if one.figure.name not in _SMOOTHNESS])
            yield Text()
            yield self._table([one for one in made if one.figure.name in _SMOOTHNESS])
        yield Text()
        for line in ranking(self.comparison):
            yield Text(line, style="" if line.startswith("  ") else "bold")
        for line in story(self.comparison, self.results):
            yield Text(line, style="dim")

    def _table(self, made: Sequence[Column]) -> Table:
        table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold", pad_edge=False)
        table.add_column("strategy", overflow="fold")
        if self.by_entity:
            table.add_column("entity", overflow="fold")
        for column in made:
            table.add_column(column.figure.title + " ", justify="right", no_wrap=True)
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


def ranking(comparison: Comparison) -> list[str]:
    """Who is best, and how much worse the others are, in words."""
    judged = [one for one in comparison.results if one.figures is not None]
    if not judged:
        return []
    lines = []
    scored = [one for one in judged if not math.isnan(one.score)]
    if scored:
        best = max(scored, key=lambda one: one.score)
        lines.append(
            f"Best score: {best.label}, {best.score:.1f} of 100; {_lag(value_of(best, 'lag'))}"
        )
    judged.sort(key=lambda one: value_of(one, "error"))
    least = value_of(judged[0], "error")
    lines.append(f"Smallest error: {judged[0].label}, {three_digits(least)} (RMS)")
    for one in judged[1:]:
        error = value_of(one, "error")
        if least > 0:
            lines.append(f"  {one.label}: {_times(error / least)} the error of the best")
        else:
            lines.append(f"  {one.label}: {three_digits(error)}, the best is exact")
    return lines


def _times(ratio: float) -> str:
    digits = 0 if ratio >= 100 else 2 if ratio < 1.095 else 1
    return f"{ratio:.{digits}f} times"


def _lag(seconds: float) -> str:
    if math.isnan(seconds):
        return "its lag cannot be told"
    if abs(seconds) < 0.0005:
        return "it draws without lag"
    return f"it draws {abs(seconds) * 1000:.0f} ms {'late' if seconds > 0 else 'early'}"


def story(comparison: Comparison, results: Sequence[Result]) -> list[str]:
    """What was compared with what, what was left out, and how the score is made."""
    weights = ", ".join(f"{name} {value:g}" for name, value in comparison.weights._asdict().items())
    lines = [
        f"Truth: {comparison.truth}.",
        f"Rows: {comparison.rows}, one every {three_digits(comparison.tick * 1000)} ms; the first"
        f" {comparison.warm_up:.3g} s of each unbroken movement do not count.",
        f"{FORMULA[0].upper()}{FORMULA[1:]}. Weights: {weights}.",
    ]
    lines += [f"Note: {note}." for note in comparison.notes]
    for one in results:
        if one.note:
            place = f" ({one.entity})" if one.entity else ""
            lines.append(f"Note: {one.label}{place}: {one.note}.")
    return lines
