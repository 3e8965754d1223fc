"""What tuning has found, as a report: the decision, before and after, settings, trade-offs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from epic_cli.jobs.tune import delays_report as delays
from epic_cli.jobs.tune.report import (
    assignments,
    basis,
    figure,
    found_settings,
    front_chart,
    front_of,
    front_picture,
    points,
    set_words,
    usage,
    verdict,
    written,
)
from epic_cli.jobs.tune.run import Evaluation, GainKind, Influence, Tuning, Tunings, chosen
from epic_cli.metrics import named
from epic_cli.metrics.comparison import Result
from epic_cli.metrics.digits import known, one_decimal, reach, three_digits
from epic_cli.metrics.metric import Metric
from epic_cli.show.report import Column, Data, Figure, Part, Record, Report, Table, Usage

#: The figures that are shown before and after, beside the one that was tuned for.
FIGURES = ("score", "error", "lag", "residual", "jumps", "jerk", "held")

#: So many points of the front are listed.
_LISTED = 7

_DEFAULTS = "the defaults"

#: The kinds of gains as a table has them.
_GAINS = {
    GainKind.BETTER: "better",
    GainKind.NO_BETTER: "no better",
    GainKind.WORSE: "worse",
    GainKind.UNSURE: "unsure",
    GainKind.DOUBTFUL: "in doubt",
    GainKind.SAME: "unchanged",
}

#: The figures of the tuned settings in the data, and all fields of these.
_TUNED = ("score", "lag", "error", "residual", "jumps", "jerk", "held")
_FIELDS = (
    "strategy", "settings", "verdict", "for", "default", "default_low", "default_high",
    "tuned", "tuned_low", "tuned_high", "gain", "gain_low", "gain_high", *_TUNED,
    "own_default", "own_tuned", "tries", "interrupted",
)  # fmt: skip


def report(found: Tunings, details: bool = False) -> Report:
    """What was found; with ``details``, also those of the best of several strategies."""
    best, parts = best_of(found), list[Part]()
    if found.comparison is not None:
        parts.append(_strategies(found))
    if found.comparison is None or details:
        parts.append(_before_and_after(best, found.goal.metric))
        if best.influences:
            parts.append(_settings(best, found.goal.metric))
    if best.settings and not best.evaluation.keeps:
        forms = usage(best.strategy, best.settings)
        parts.append(Usage(forms, f"{best.strategy}'s settings, to be copied"))
    words = "What smoothness costs in latency, a line for each strategy"
    parts.append(Figure(words, lambda: front_chart(found), lambda: front_picture(found)))
    if len(front_of(found)) > 1:
        parts.append(_front(found))
    if found.delays is not None and found.delays.buffers:
        parts.append(delays.report(found.delays))
    return Report(
        verdict=verdict(found),
        parts=parts,
        notes=basis(found),
        data=Data(_FIELDS, lambda: _rows(found), lambda: list(_records(found))),
    )


def best_of(found: Tunings) -> Tuning:
    """The one to take: that with the best figure where it counts."""
    return ordered(found)[0]


def ordered(found: Tunings) -> list[Tuning]:
    """The tunings, the best first."""
    return sorted(found.tunings, key=lambda one: found.goal.key(one.evaluation.tuned.values))


# ---------------------------------------------------------------- tables


def _before_and_after(one: Tuning, metric: Metric) -> Table:
    """Default and tuned on each part of the data."""
    shown = [named(name) for name in FIGURES]
    if metric.name not in FIGURES:
        shown.insert(1, metric)
    parts = [("what it was tuned on", one.tuned_on)]
    if one.evaluated_on is not None:
        parts.append(("the rest", one.evaluated_on))
    names, kinds, results = list[str](), list[str](), list["Result"]()
    better = set()
    for name, evaluation in parts:
        both = [("default", evaluation.default), ("tuned", evaluation.tuned)]
        for kind, result in both[:1] if evaluation.kind is GainKind.SAME else both:
            names.append(name if kind == "default" else "")
            kinds.append(kind)
            results.append(result)
        if evaluation.kind is GainKind.BETTER:
            better.add(len(results) - 1)
    score = shown[0]
    scores = [score.cell(result.value(score.name)) for result in results]
    likely = [_likely(result, score) for result in results]
    columns = [
        Column("on", names),
        Column("with", kinds),
        Column(score.title, scores, right=True, best=better),
        Column("likely", likely, right=True),
    ]
    for at, each in enumerate(shown[1:]):
        cells = [each.cell(result.value(each.name)) for result in results]
        columns.append(Column(each.title, cells, 16 - at, right=True))
    gaps = [2] if len(results) > 2 else []
    return Table(columns, gaps, caption=f"{one.strategy} before and after")


def _likely(result: Result, metric: Metric) -> str:
    return reach(*result.interval(metric.name), metric.cell)


def _settings(one: Tuning, metric: Metric) -> Table:
    """Each setting: what it was and is, how far it may be moved, what its default would cost."""
    found, every = found_settings(one), one.influences
    near = "within 1 point" if metric.name == "score" else "within 2 %"
    losses = ["-" if each.name not in found else _loss(metric, each) for each in every]
    at_end = [each.bound and each.name in found and not each.flat for each in every]
    ends = [f"{each.bound} end" if end else "" for each, end in zip(every, at_end, strict=True)]
    return Table(
        [
            Column("setting", [each.name for each in every]),
            Column("default", [written(each.default) for each in every], right=True),
            Column("tuned", [written(each.tuned) for each in every], right=True),
            Column(near, list(map(_range, every)), right=True),
            # the first to go: what a default costs is said in a sentence, too
            Column("default costs", losses, 1, right=True),
            Column("note", ends, text=True),
        ],
        caption="Its settings",
    )


def _loss(metric: Metric, one: Influence) -> str:
    return "it fails" if not math.isfinite(one.loss) else points(metric, one.loss)


def _range(one: Influence) -> str:
    if one.flat:
        return "anything"
    parts = []
    if one.low is not None and one.high is not None:
        same = one.low == one.high
        parts.append(written(one.low) if same else f"{written(one.low)} to {written(one.high)}")
    return " or ".join([*parts, *one.words])


def _strategies(found: Tunings) -> Table:
    """A row for each strategy, the best first."""
    metric, comparison, tunings = found.goal.metric, found.comparison, ordered(found)
    assert comparison is not None
    of = {id(one): result for one, result in zip(found.tunings, comparison.results, strict=True)}
    tunings.sort(key=lambda one: of[id(one)].rank or math.inf)  # ranks go down the table
    results = [of[id(one)] for one in tunings]
    judged = [one.evaluation for one in tunings]
    tuned = [one.tuned for one in judged]

    def cells(name: str, of: Sequence[Result] = tuned) -> list[str]:
        return [named(name).cell(one.value(name)) for one in of]

    likely = [_likely(one, metric) for one in tuned]
    settings = [assignments(one.settings) or _DEFAULTS for one in tunings]
    return Table(
        [
            Column("strategy", [one.label for one in results], text=True),
            Column("rank", [str(one.rank or "-") for one in results], right=True),
            Column(metric.title, cells(metric.name), right=True),
            Column("likely", likely, 9, right=True),
            Column("default", cells(metric.name, [one.default for one in judged]), 8, right=True),
            Column("gain", [_gain(metric, one) for one in judged], right=True),
            Column("result", [_GAINS[one.kind] for one in judged], 7, right=True),
            Column("lag ms", cells("lag"), 6, right=True),
            Column("jumps", cells("jumps"), 5, right=True),
            Column("settings", settings, 4, text=True),
        ],
        caption="Every strategy tuned, the best first",
    )


def _gain(metric: Metric, evaluation: Evaluation) -> str:
    gain = "0" if evaluation.kind is GainKind.SAME else figure(metric, evaluation.gain)
    return f"+{gain}" if evaluation.gain > 0 and gain != "0" else gain


def _front(found: Tunings) -> Table:
    """Points of the front, evenly chosen."""
    shown, several = chosen(front_of(found), _LISTED), len(found.tunings) > 1
    settings = [
        " ".join(filter(None, [one.strategy if several else "", assignments(one.settings)]))
        for one in shown
    ]
    return Table(
        [
            Column("lag ms", [f"{one.latency * 1000:.0f}" for one in shown]),
            Column("roughness", [three_digits(one.roughness) for one in shown], right=True),
            Column("score", [one_decimal(one.score) for one in shown], right=True),
            Column("settings", [one or _DEFAULTS for one in settings], text=True),
        ],
        caption="What smoothness costs in latency",
    )


# ---------------------------------------------------------------- data


def _record(one: Tuning, found: Tunings) -> dict[str, Any]:
    """What tuning comes to for one strategy; None: not enough to say.

    ``default``, ``tuned`` and the paired ``gain`` are of the figure that was tuned ``for``, with
    their intervals, where it was not tuned on; ``own_`` is where it was. The other figures are
    those of the tuned settings.
    """
    name, evaluation = found.goal.metric.name, one.evaluation
    values = {
        "strategy": one.strategy,
        "settings": dict(one.settings),
        "verdict": evaluation.kind.name.lower().replace("_", " "),
        "for": name,
        **_ends("default", evaluation.default.value(name), evaluation.default.interval(name)),
        **_ends("tuned", evaluation.tuned.value(name), evaluation.tuned.interval(name)),
        **_ends("gain", evaluation.gain, (evaluation.low, evaluation.high)),
        **{each: evaluation.tuned.value(each) for each in _TUNED},
        "own_default": one.tuned_on.default.value(name),
        "own_tuned": one.tuned_on.tuned.value(name),
        "tries": one.trials,
        "interrupted": one.interrupted,
    }
    return {key: known(value) for key, value in values.items()}


def _ends(name: str, value: float, between: tuple[float, float]) -> dict[str, float]:
    return {name: value, f"{name}_low": between[0], f"{name}_high": between[1]}


def _rows(found: Tunings) -> list[Record]:
    """A row of CSV for each strategy, the best first."""
    return [
        {**_record(one, found), "settings": set_words(one.strategy, one.settings)}
        for one in ordered(found)
    ]


def _records(found: Tunings) -> Iterator[Record]:
    """All of it for JSON lines, each with its ``kind``."""
    if found.delays is not None:
        yield from delays.records(found.delays)
    for tuning in ordered(found):
        yield {"kind": "tuning", **_record(tuning, found)}
        for each in tuning.influences:
            values = {**each._asdict(), "words": list(each.words)}
            yield {
                "kind": "setting",
                "strategy": tuning.strategy,
                **{key: known(value) for key, value in values.items()},
            }
    for point in front_of(found):
        yield {"kind": "front", **point._asdict(), "settings": dict(point.settings)}
