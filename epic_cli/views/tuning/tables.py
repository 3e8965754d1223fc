"""What tuning has found as tables and a chart for people."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.constrain import Constrain
from rich.text import Text

from epic_cli.analysis.metrics import named
from epic_cli.analysis.tuning.result import Verdict
from epic_cli.engine.text.widths import pad
from epic_cli.formats.wording import left_out_words
from epic_cli.views.comparison.sentences import basis as comparison_story
from epic_cli.views.report import KEPT, Column
from epic_cli.views.table import fit
from epic_cli.views.tuning.delays import DelaysText, written
from epic_cli.views.tuning.front import front_chart, front_rows
from epic_cli.views.tuning.words import (
    figure,
    findings,
    found_settings,
    points,
    story,
    usage,
)

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

    from epic_cli.analysis.compare import Result
    from epic_cli.analysis.metric import Metric
    from epic_cli.analysis.tuning.influence import Influence
    from epic_cli.analysis.tuning.result import Tuning, Tunings

#: Sentences are no longer than this, however wide the screen is.
PROSE = 160

#: The figures that are shown before and after, beside the one that was tuned for.
FIGURES = ("score", "error", "lag", "residual", "jumps", "jerk", "held")

#: The verdicts as a table has them.
VERDICTS = {
    Verdict.BETTER: "better",
    Verdict.NO_BETTER: "no better",
    Verdict.WORSE: "worse",
    Verdict.UNSURE: "unsure",
    Verdict.SAME: "as it is",
}


class TuningsText:
    """The decision, what it rests on, and the settings in every form. rich prints it."""

    def __init__(self, found: Tunings, chart_height: int = 12) -> None:
        self._found = found
        self._height = chart_height

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The closed form, the sentences, the tables, the chart, the notes."""
        found, room = self._found, options.max_width
        if found.delays is not None and found.delays.buffers:
            yield DelaysText(found.delays)
            yield Text()
        for one in findings(found):
            yield Constrain(Text(one.text, style="" if one.detail else "bold"), PROSE)
        yield Text()
        parts = [self._strategies(room)] if found.comparison is not None else [
            self._parts(found.tunings[0], room), self._settings(found.tunings[0], room)
        ]  # fmt: skip
        for part in parts:
            lines = list(part)
            if lines:
                yield from lines
                yield Text()
        best = best_of(found)
        if best.settings:
            yield from _to_copy(usage(best.strategy, best.settings))
            yield Text()
        chart = front_chart(found, height=self._height, width=PROSE)
        if chart is not None:
            yield chart
            yield Text()
            titles, rows = front_rows(found)
            yield from _table(titles, rows, room, left=1)
            yield Text()
        for line in notes(found):
            yield Constrain(Text(line, style="dim"), PROSE)

    def _parts(self, one: Tuning, room: int) -> Iterator[Text]:
        """Before and after, where it was tuned and where it was not."""
        titles, rows, better = part_rows(one, self._found.goal.metric)
        columns = [
            Column(titles[0], [row[0] for row in rows]),
            Column(titles[1], [r[1] for r in rows]),
        ]
        styles = ["bold green" if row in better else "" for row in range(len(rows))]
        columns += [
            Column(
                title,
                [row[at] for row in rows],
                KEPT if at < 4 else 20 - at,
                right=True,
                styles=styles if at == 2 else (),
            )
            for at, title in enumerate(titles)
            if at > 1
        ]
        yield from fit(columns, room).lines(gaps=[2] if len(rows) > 2 else [])

    def _settings(self, one: Tuning, room: int) -> Iterator[Text]:
        titles, rows = setting_rows(one, self._found.goal.metric)
        if rows:
            yield from _table(titles, rows, room, left=1)

    def _strategies(self, room: int) -> Iterator[Text]:
        titles, rows = strategy_rows(self._found)
        weights = (KEPT, KEPT, KEPT, 9, 8, KEPT, 7, 6, 5, 4)
        columns = [
            Column(
                title,
                [row[at] for row in rows],
                weights[at],
                right=0 < at < len(titles) - 1,
                shortest=12 if at in (0, len(titles) - 1) else 0,
            )
            for at, title in enumerate(titles)
        ]
        table = fit(columns, room)
        yield from table.lines()
        words = left_out_words(table.left_out, room, "a wider window or --format csv")
        if words:
            yield Text()
            yield Text(words)


def best_of(found: Tunings) -> Tuning:
    """The one to take: that with the best figure where it counts."""
    return min(found.tunings, key=lambda one: found.goal.key(one.judgement.tuned.values))


def ordered(found: Tunings) -> list[Tuning]:
    """The tunings, the best first."""
    return sorted(found.tunings, key=lambda one: found.goal.key(one.judgement.tuned.values))


def part_rows(one: Tuning, metric: Metric) -> tuple[list[str], list[list[str]], set[int]]:
    """Before and after on each part: heads, cells, and the rows that are better beyond doubt."""
    shown = [named(name) for name in FIGURES]
    if metric.name not in FIGURES:
        shown.insert(1, metric)
    titles = ["on", "with", shown[0].title, "likely", *(each.title for each in shown[1:])]
    rows: list[list[str]] = []
    better = set()
    parts = [("what it was tuned on", one.tuned_on)]
    if one.judged_on is not None:
        parts.append(("the rest", one.judged_on))
    for name, judgement in parts:
        results = [("default", judgement.default), ("tuned", judgement.tuned)]
        if judgement.verdict is Verdict.SAME:
            del results[1]
        for number, (what, result) in enumerate(results):
            rows.append([
                "" if number else name, what, shown[0].cell(result.value("score")),
                _likely(result, shown[0]),
                *(each.cell(result.value(each.name)) for each in shown[1:]),
            ])  # fmt: skip
        if judgement.verdict is Verdict.BETTER:
            better.add(len(rows) - 1)
    return titles, rows, better


def _likely(result: Result, metric: Metric) -> str:
    low, high = result.interval(metric.name)
    return "" if math.isnan(low) else f"{metric.cell(low)} to {metric.cell(high)}"


def setting_rows(one: Tuning, metric: Metric) -> tuple[list[str], list[list[str]]]:
    """Each setting: what it was and is, how far it may be moved, what its default would cost."""
    found = found_settings(one)
    near = "within 1 point" if metric.name == "score" else "within 2 %"
    titles = ["setting", "default", "tuned", near, "default costs", "note"]
    rows = []
    for each in one.influences:
        loss = "-" if each.name not in found else _loss(metric, each)
        at_end = each.bound and each.name in found and not each.flat
        rows.append(
            [
                each.name,
                written(each.default),
                written(each.tuned),
                _range(each),
                loss,
                f"{each.bound} end" if at_end else "",
            ]
        )
    return titles, rows


def _loss(metric: Metric, one: Influence) -> str:
    return "it fails" if not math.isfinite(one.loss) else points(metric, one.loss)


def _range(one: Influence) -> str:
    if one.flat:
        return "anything"
    parts = []
    if one.low is not None and one.high is not None:
        parts.append(
            f"{written(one.low)} to {written(one.high)}" if one.low < one.high else written(one.low)
        )
    return " or ".join([*parts, *one.words])


def strategy_rows(found: Tunings) -> tuple[list[str], list[list[str]]]:
    """A row for each strategy, the best first."""
    metric = found.goal.metric
    comparison = found.comparison
    assert comparison is not None
    standing = list(zip(found.tunings, comparison.results, strict=True))
    titles = ["strategy", "rank", metric.title, "likely", "default", "gain", "", "lag ms", "jumps"]
    titles += ["settings"]
    rows = []
    for one in ordered(found):
        judgement, tuned = one.judgement, one.judgement.tuned
        result = next(each for tuning, each in standing if tuning is one)
        gain = figure(metric, judgement.gain) if judgement.verdict is not Verdict.SAME else "0"
        sign = "+" if judgement.gain > 0 and gain != "0" else ""
        words = " ".join(f"{k}={written(v)}" for k, v in one.settings.items())
        rows.append([
            result.label,
            str(result.rank or "-"),
            metric.cell(tuned.value(metric.name)),
            _likely(result, metric),
            metric.cell(judgement.default.value(metric.name)),
            f"{sign}{gain}",
            VERDICTS[judgement.verdict],
            named("lag").cell(tuned.value("lag")),
            named("jumps").cell(tuned.value("jumps")),
            words or "the usual ones",
        ])  # fmt: skip
    return titles, rows


def notes(found: Tunings) -> list[str]:
    """What was tuned and judged on what, and what the comparison says of its figures."""
    comparison = found.comparison or found.tunings[0].judgement.comparison
    lines = story(found)
    if found.untuned:
        lines.append(f"Without settings worth tuning: {', '.join(found.untuned)}.")
    if found.unfit:
        lines.append(f"Left out, since there are no arrival times: {', '.join(found.unfit)}.")
    return lines + comparison_story(comparison, comparison.results)


def _to_copy(forms: Sequence[tuple[str, str]]) -> Iterator[Text]:
    """The settings as other places take them: each on one line, however long, to be copied."""
    left = max(len(name) for name, _ in forms)
    for name, text in forms:
        whole = Text(no_wrap=True, overflow="ignore")
        yield whole.append(pad(name, left + 2), "bold").append(text)


def _table(
    titles: Sequence[str], rows: Sequence[Sequence[str]], room: int, left: int
) -> Iterator[Text]:
    columns = [
        Column(
            title,
            [row[at] for row in rows],
            KEPT if at != 4 else 1,  # what its default costs is told in a sentence, too
            right=left <= at < len(titles) - 1,
            shortest=12 if at == len(titles) - 1 else 0,
        )
        for at, title in enumerate(titles)
    ]
    yield from fit(columns, room).lines()
