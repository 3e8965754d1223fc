"""The report of a search: the decision in sentences, and the basis of the decision."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from epic_cli.engine.parameters import Value
from epic_cli.engine.replay.strategy_spec import write_spec as written_spec
from epic_cli.engine.text.widths import some
from epic_cli.jobs.compare import report as compared
from epic_cli.jobs.tune.run import (
    Evaluation,
    FrontPoint,
    GainKind,
    Influence,
    Tuning,
    Tunings,
    choose_points,
    compute_roughness,
    find_pareto,
    select_worthy,
)
from epic_cli.jobs.tune.trials import Divided
from epic_cli.metrics import find_metric
from epic_cli.metrics.comparison import Comparison, Result
from epic_cli.metrics.delays import LOST, BufferCure, BufferDelay, DelaysNeeded
from epic_cli.metrics.digits import (
    format_count,
    format_interval,
    format_one_decimal,
    format_percent,
    format_seconds,
    format_three_digits,
    join_words,
    replace_unknown,
)
from epic_cli.metrics.metric import Metric, Weights
from epic_cli.metrics.notes import NothingToDraw
from epic_cli.metrics.traffic import SHARES
from epic_cli.show.chart import Chart, ChartLine, make_chart_line
from epic_cli.show.plot import Curve, Dot, Plot
from epic_cli.show.report import KEPT, Column, Data, Figure, Part, Record, Report, Table, Usage
from epic_cli.show.styles import LineStyle, choose_line_styles

#: Most settings named in a sentence.
_NAMED = 4

#: A setting whose default costs more points than this, or this share of another metric, matters.
_MATTERS, _MATTERS_SHARE = 0.5, 0.01


def write_value(value: Value) -> str:
    """Return a setting's value as options are written."""
    return value if isinstance(value, str) else f"{value:.12g}"


def write_assignments(settings: Mapping[str, Value]) -> str:
    """Return settings as text: ``a=1 b=on``."""
    return " ".join(f"{name}={write_value(value)}" for name, value in settings.items())


def list_found_settings(one: Tuning) -> dict[str, Value]:
    """Return the settings that tuning changed."""
    return {name: value for name, value in one.settings.items() if name not in one.held}


def format_metric(metric: Metric, value: float) -> str:
    """Return a metric's value for a sentence: scores with one decimal, times in ms."""
    if math.isnan(value):
        return "unknown"
    if metric.name == "score":
        return format_one_decimal(value)
    if metric.unit == "s":
        return f"{value * 1000:.0f} ms"
    return metric.format(value)


def format_points(metric: Metric, value: float) -> str:
    """Return a difference of a metric as text: points of score, else in the metric's own format."""
    return (
        f"{format_one_decimal(value)} points"
        if metric.name == "score"
        else format_metric(metric, value)
    )


def name_metric(metric: Metric) -> str:
    """Return the name of a metric for a sentence: ``steps back``."""
    return metric.name.replace("_", " ")


def format_with_interval(metric: Metric, result: Result) -> str:
    """Return a metric's value with its interval: ``60.1 (58.0 to 61.2)``."""
    value = format_metric(metric, result.value(metric.name))
    return value + describe_interval(metric, *result.interval(metric.name))


def describe_interval(metric: Metric, low: float, high: float) -> str:
    """Return the interval in brackets, `` (58.0 to 61.2)``; empty if unknown."""
    between = format_interval(low, high, lambda value: format_metric(metric, value))
    return f" ({between})" if between else ""


# ---------------------------------------------------------------- one strategy


def write_verdict(found: Tunings) -> list[str]:
    """Return the sentences of the report, the decision first."""
    if found.comparison is not None:
        return _describe_ranking(found, found.comparison)
    (one,) = found.tunings
    sentences = [
        *compared.describe_doubts(one.evaluation.comparison),
        _describe_decision(one, found),
        _describe_harmless_settings(one, found.goal.metric),
        _describe_metrics(one, found),
        _describe_changes(one),
        _describe_influences(one, found.goal.metric),
        _describe_bounds(one),
        "Interrupted: more trials may find better settings." if one.interrupted else "",
    ]
    return list(filter(None, sentences))


def _describe_decision(one: Tuning, found: Tunings) -> str:
    metric, evaluation = found.goal.metric, one.evaluation
    name, changed = one.strategy, write_assignments(list_found_settings(one))
    ends = describe_interval(metric, evaluation.low, evaluation.high)
    gain = format_points(metric, abs(evaluation.gain)) + ends
    sure = compared.describe_confidence(evaluation.comparison)
    match evaluation.kind:
        case GainKind.SAME:
            return f"Keep the defaults of {name}: none of {one.trials} tried settings is better."
        case GainKind.BETTER:
            words = f"Set {changed} for {name}: clearly better{sure}, by {gain}"
            return f"{words}, but it raises {_describe_rise(one)}." if one.worse else f"{words}."
        case GainKind.NO_BETTER:
            gain = format_points(metric, evaluation.gain) + ends
            return (
                f"Keep the defaults of {name}: the best settings found, {changed}, are"
                f" indistinguishable from them{sure}, gain {gain}."
            )
        case GainKind.WORSE:
            return (
                f"Keep the defaults of {name}: {changed} was best where it was tuned, and is"
                f" clearly worse{sure} {name_data(found.divided)}."
            )
        case GainKind.DOUBTFUL:
            return f"Best found for {name}: {changed}."
        case _:
            words = (
                f"Best found for {name}: {changed}; too little data to say whether that is better"
                " than the defaults."
            )
            if evaluation.keeps:
                words = (
                    f"Keep the defaults of {name}: {changed} was best where it was tuned, and is no"
                    f" better {name_data(found.divided)}; too little data to say how surely."
                )
            return words


def _describe_rise(one: Tuning) -> str:
    """Name the metrics that tuning makes worse, with both values: ``jumps from 148 to 223``."""
    return describe_worse(one.worse, one.evaluation.default, one.evaluation.tuned)


#: Nouns for metrics whose names are not nouns.
_RAISED = {"backward": "steps back", "held": "rows that stand still"}


def describe_worse(names: Sequence[str], before: Result, after: Result) -> str:
    """Name metrics that rise, with their values before and after."""
    words = []
    for metric in map(find_metric, names):
        ends = [format_metric(metric, abs(result.value(metric.name))) for result in (before, after)]
        words.append(f"{_RAISED.get(metric.name, name_metric(metric))} from {ends[0]} to {ends[1]}")
    return join_words(words)


def _describe_harmless_settings(one: Tuning, metric: Metric) -> str:
    """Describe the best settings that make no metric worse."""
    if not one.worse or one.evaluation.keeps:
        return ""
    words = ""
    if one.evaluation.kind is not GainKind.BETTER:
        words = f"It raises {_describe_rise(one)}. "
    if one.harmless is None:
        return f"{words}No settings that were tried are better and raise none of the metrics."
    settings = {k: value for k, value in one.harmless.settings.items() if k not in one.held}
    found = one.harmless.evaluation
    gain = format_points(metric, found.gain) + describe_interval(metric, found.low, found.high)
    sure = "clearly " if found.kind is GainKind.BETTER else ""
    return (
        f"{words}To raise none of the metrics, set {write_assignments(settings)}:"
        f" {sure}better by {gain}."
    )


def _describe_metrics(one: Tuning, found: Tunings) -> str:
    metric, evaluation = found.goal.metric, one.evaluation
    name, value, default = name_metric(metric), format_with_interval(metric, evaluation.tuned), ""
    if evaluation.kind is not GainKind.SAME:
        default = (
            f"; {format_metric(metric, evaluation.default.value(metric.name))} with the defaults"
        )
    return f"{name[0].upper()}{name[1:]} {value} {name_data(found.divided)}{default}."


def name_data(divided: Divided) -> str:
    """Name the data on which tuned settings were judged, for a sentence."""
    return {
        "time": "on the second half, which was not used for tuning",
        "recording": "on recordings that were not used for tuning",
        "none": "on the data that it was tuned on",
    }[divided.by]


def _describe_changes(one: Tuning) -> str:
    before, after = one.evaluation.default, one.evaluation.tuned
    if before is after:
        return ""
    parts = [f"RMS error {_write_cell(after, 'error')} instead of {_write_cell(before, 'error')}"]
    lags = [compared.describe_lag(each.value("lag")) for each in (after, before)]
    if lags[0] != lags[1] and lags[0].split()[-1] == lags[1].split()[-1]:
        lags[0] = lags[0].rpartition(" ")[0]  # "220 ms instead of 200 ms behind"
    parts.append(lags[0] if lags[0] == lags[1] else f"{lags[0]} instead of {lags[1]}")
    jumps = [each.value("jumps") for each in (after, before)]
    if any(jumps):
        parts.append(f"{jumps[0]:.0f} visible jumps instead of {jumps[1]:.0f}")
    return f"{'With those: ' if one.evaluation.keeps else ''}{', '.join(parts)}."


def _write_cell(result: Result, name: str) -> str:
    return find_metric(name).format_cell(result.value(name))


def _describe_influences(one: Tuning, metric: Metric) -> str:
    least = _MATTERS
    if metric.name != "score":
        least = _MATTERS_SHARE * abs(one.tuned_on.tuned.value(metric.name))
    found = list_found_settings(one)
    great = [each for each in one.influences if each.loss >= least and each.name in found]
    words = []
    if great:
        names = [f"{each.name} ({format_points(metric, each.loss)})" for each in great[:_NAMED]]
        words.append(f"{join_words(names)} {'matters' if len(great) == 1 else 'matter'} most")
    if flat := [each.name for each in one.influences if each.flat]:
        words.append(f"{join_words(flat)} {'makes' if len(flat) == 1 else 'make'} no difference")
    return f"{'; '.join(words)}." if words else ""


def _describe_bounds(one: Tuning) -> str:
    found = list_found_settings(one)
    ends = [each for each in one.influences if each.bound and not each.flat and each.name in found]
    last = [f"{each.name} is as {each.bound} as it goes" for each in ends if each.last]
    tried = [f"{each.name}'s {each.bound} end" for each in ends if not each.last]
    words = [*filter(None, [join_words(last)])]
    if tried:
        words.append(f"{'nothing' if words else 'Nothing'} was tried beyond {join_words(tried)}")
    return f"{'; '.join(words)}." if words else ""


# ---------------------------------------------------------------- several strategies


def _describe_ranking(found: Tunings, comparison: Comparison) -> list[str]:
    """Return a comparison's verdict, with the settings of the best strategy."""
    labelled = zip(comparison.results, found.tunings, strict=True)
    settings = {result.label: write_assignments(one.settings) for result, one in labelled}
    sentences = compared.write_verdict(comparison, settings)
    if found.goal.metric.name != "score":
        by_score = [f"By the score: {' '.join(sentences)}"] if sentences else []
        return [
            _describe_best_strategy(found, comparison, settings),
            *by_score,
            *_describe_entities(found),
        ]
    best = comparison.advice.best
    if best is not None and settings[best.label] and settings[best.label] not in sentences[0]:
        sentences.insert(1, f"For {best.label}, set {settings[best.label]}.")
    best_tuning = dict(zip(settings, found.tunings, strict=True)).get(best.label if best else "")
    if best_tuning and best_tuning.worse and not best_tuning.evaluation.keeps:
        sentences.insert(1, f"Against its defaults, that raises {_describe_rise(best_tuning)}.")
    return [*sentences, *_describe_entities(found)]


def _describe_best_strategy(
    found: Tunings, comparison: Comparison, settings: Mapping[str, str]
) -> str:
    """Name the best strategy by the metric that was tuned for."""
    metric = found.goal.metric
    best = min(comparison.results, key=lambda one: found.goal.compute_key(one.values))
    words = settings[best.label] or "its defaults"
    value = format_with_interval(metric, best)
    return f"Tuned for {name_metric(metric)}, {best.label} is best with {words}: {value}."


def _describe_entities(found: Tunings) -> list[str]:
    groups: dict[GainKind, list[str]] = {}
    for tuning in found.tunings:
        groups.setdefault(tuning.evaluation.kind, []).append(tuning.strategy)
    words = []
    if better := groups.get(GainKind.BETTER, []):
        words.append(f"Tuning clearly helps {len(better)} of {len(found.tunings)}.")
    kept = (GainKind.NO_BETTER, GainKind.SAME, GainKind.WORSE)
    if keep := [name for verdict in kept for name in groups.get(verdict, [])]:
        names = join_words(keep if len(keep) <= _NAMED else [*keep[:_NAMED], "others"])
        words.append(f"No better than with their defaults: {names}.")
    if found.interrupted:
        words.append("Interrupted: more trials may find better settings.")
    return [" ".join(words)] if words else []


# ---------------------------------------------------------------- what it rests on


def describe_basis(found: Tunings) -> list[str]:
    """Return lines that name the data for tuning and judging, and the number of trials."""
    comparison = found.comparison or found.tunings[0].evaluation.comparison
    tried = format_count(sum(tuning.trials for tuning in found.tunings), "setting")
    lines = [] if found.divided.evaluated is None else [describe_division(found.divided)]
    lines += [
        f"Tuned for {name_metric(found.goal.metric)}: {tried} tried; the same --seed"
        f" ({found.spec.compare.seed}) finds the same.",
    ]
    return lines + compared.explain_method(comparison, comparison.results)


def find_notes(found: Tunings) -> list[str]:
    """Return the notes that limit the answer."""
    comparison = found.comparison or found.tunings[0].evaluation.comparison
    lines = [describe_division(found.divided)] if found.divided.evaluated is None else []
    if found.untuned:
        lines.append(f"Without settings worth tuning: {', '.join(found.untuned)}.")
    if found.unfit:
        lines.append(f"Left out, since there are no arrival times: {', '.join(found.unfit)}.")
    lines += [
        f"Note: {given} takes the receiver's clock for the sender's, which is another here: what is"
        f" tuned is {used}."
        for given, used in found.adapted
    ]
    return lines + compared.find_notes(comparison, comparison.results)


def describe_division(divided: Divided) -> str:
    """Name the data for tuning and the data for judging."""
    first = divided.tuned
    if divided.evaluated is None:
        names = _describe_recordings(first.names)
        return f"Tuned and judged on the same data ({names}): expect less on other data."
    if divided.by == "time":
        (begin, end), (middle, last) = first.find_span(), divided.evaluated.find_span()
        of = f" of {first.names[0]}" if len(first.names) == 1 and first.names[0] else ""
        if len(first.names) > 1:
            of = f" of each of {len(first.names)} recordings"
        return (
            f"Tuned on the first half{of} ({begin:.4g} to {end:.4g} s), as if it ended there;"
            f" judged on the rest ({middle:.4g} to {last:.4g} s)."
        )
    judged = _describe_recordings(divided.evaluated.names)
    return (
        f"Tuned on {_describe_recordings(first.names)}; judged on {judged}, which were kept apart."
    )


def _describe_recordings(names: Sequence[str]) -> str:
    listed = some(filter(None, names), 3)
    if not listed:
        return "one recording"
    return f"{len(names)} recordings ({listed})" if len(names) > 1 else listed


def list_usage(strategy: str, settings: Mapping[str, Value]) -> list[tuple[str, str]]:
    """Return the ways to use settings.

    As the command line, the configuration and Python write them.
    """
    option = written_spec(strategy, settings)
    python = "".join(
        f", {name}={write_value(value) if not isinstance(value, str) else repr(value)}"
        for name, value in settings.items()
    ).replace("'", '"')
    return [
        ("replay, compare", f"-s {option}"),
        ("config.toml", f'strategy = "{option}"'),
        ("Python", f'strategy("{strategy}"{python})'),
    ]


#: The share for which the delays with losses are shown beside each buffer.
_WITH_LOSSES = SHARES.index(0.99)

_CSV_FIELDS = (
    "strategy", "setting", "now", "delay", "in_time", "share", "lost", "seconds", "settings",
)  # fmt: skip

#: Weights of the buffers' columns; the smallest are left out first.
_WEIGHTS = (KEPT, 8, KEPT, 5, 7, 1, 4, KEPT, 3, 6, 2)

_LOST = ("no loss", "one lost", "two lost")

_MEANING = (
    "Needed: arrival(i) - sent(i - 1), and further back with losses, less the least delay: how far"
    " behind the fastest packet's state a buffer has to draw so that this share of the packets is"
    " there in time. That is the latency that it costs. delay: what it is now; in time: the share"
    " of packets that it is enough for. The numbers are those of the setting; with losses, for"
    " 99 %. Elsewhere a buffer needs, in send intervals for 99 %: 1.9 with 5 % of single losses, 5"
    " where they come in bursts of three, 3.7 with jitter of one interval. Where lag counts more"
    " than the path, as for vehicles, dead reckoning does better."
)


def make_delays_report(found: DelaysNeeded) -> Report:
    """Return a report of the delays needed, by losses and share, and of each buffer's setting."""
    alone, lost = found.needed[0], found.needed[1]
    parts: list[Part] = [_make_needed_table(found)]
    if found.buffers:
        parts.append(_make_buffers_table(found.buffers))
    return Report(
        verdict=[
            f"A delay of {format_seconds(alone[1])} is enough for 95 % of the packets,"
            f" {format_seconds(alone[2])}"
            f" for 99 %; {format_seconds(lost[2])} where the packet before is lost."
        ],
        parts=parts,
        notes=_list_buffer_notes(found.buffers),
        method=[_MEANING],
        data=Data(
            _CSV_FIELDS,
            lambda: _make_delay_records(found),
            lambda: list(iterate_delay_records(found)),
        ),
    )


def _make_needed_table(found: DelaysNeeded) -> Table:
    columns = [
        Column(
            _write_percent(share),
            [format_seconds(needed[at]) for needed in found.needed],
            right=True,
        )
        for at, share in enumerate(SHARES)
    ]
    return Table([Column("delay needed", _LOST), *columns], caption="The delay that packets need")


def _write_percent(share: float) -> str:
    return f"{share * 100:g} %"


def _make_buffers_table(buffers: Sequence[BufferDelay]) -> Table:
    titles = [
        "buffer",
        "setting",
        "now",
        "delay",
        "in time",
        *map(_write_percent, SHARES),
        *_LOST[1:],
    ]
    cells = zip(*map(_make_cells, buffers), strict=True)
    columns = [
        Column(title, column, weight, right=at > 1)
        for at, (title, column, weight) in enumerate(zip(titles, cells, _WEIGHTS, strict=True))
    ]
    return Table(columns, caption="What each buffer would have to be set to")


def _make_cells(one: BufferDelay) -> list[str]:
    def write_cell(cure: BufferCure) -> str:
        return "-" if cure.settings is None else write_value(cure.settings[one.setting])

    cures = [*one.cures[0], *(lost[_WITH_LOSSES] for lost in one.cures[1:])]
    now = [write_value(one.now), format_seconds(one.latency), format_percent(one.covers)]
    return [one.label, one.setting, *now, *map(write_cell, cures)]


def _list_buffer_notes(buffers: Sequence[BufferDelay]) -> list[str]:
    """Return notes on other settings that a buffer's recommended setting needs."""
    lines = []
    for buffer in buffers:
        every = [cure.settings or {} for lost in buffer.cures for cure in lost]
        others = {name: value for each in every for name, value in each.items()}
        others.pop(buffer.setting, None)
        if others:
            words = " and ".join(f"{name}={write_value(value)}" for name, value in others.items())
            some = any(each and not others.keys() <= each.keys() for each in every)
            lines.append(f"{buffer.label}: with {words}{' where it is shorter' if some else ''}.")
    beyond = [
        buffer.label
        for buffer in buffers
        if any(cure.settings is None for lost in buffer.cures for cure in lost)
    ]
    if beyond:
        lines.append(f"-: out of range for {', '.join(beyond)}, or the clocks are too far apart.")
    return lines


def iterate_delay_records(found: DelaysNeeded) -> Iterator[dict[str, Any]]:
    """Yield a record for each delay needed, and for each buffer's setting; delays in seconds."""
    for lost, needed in zip(LOST, found.needed, strict=True):
        for share, delay in zip(SHARES, needed, strict=True):
            yield {"kind": "delay", "share": share, "lost": lost, "seconds": delay}
    for buffer in found.buffers:
        yield from iterate_buffer_records(buffer)


def iterate_buffer_records(one: BufferDelay) -> Iterator[dict[str, Any]]:
    """Yield records of the settings that one buffer would need; null if they are out of range."""
    for lost, cures in zip(LOST, one.cures, strict=True):
        for share, cure in zip(SHARES, cures, strict=True):
            yield {
                "kind": "buffer",
                "strategy": one.label,
                "setting": one.setting,
                "now": one.now,
                "delay": one.latency,
                "in_time": one.covers,
                "share": share,
                "lost": lost,
                "seconds": cure.latency,
                "settings": None if cure.settings is None else dict(cure.settings),
            }


def _make_delay_records(found: DelaysNeeded) -> list[Record]:
    """Return the buffers' records for CSV, with settings as ``-s`` takes them."""
    rows: list[Record] = []
    for buffer in found.buffers:
        for record in iterate_buffer_records(buffer):
            del record["kind"]
            if record["settings"] is not None:
                record["settings"] = written_spec(buffer.label, record["settings"])
            rows.append(record)
    return rows


#: Fewest points of a front that is shown.
FEWEST_POINTS = 3

#: Most strategies in the chart.
DRAWN = 6

#: The lines of the chart, and its width where no screen limits it.
_HEIGHT, _WIDTH = 12, 160

TITLE = "roughness (what the score counts beside latency) over latency (ms)"


#: Marks that are this many times further off than the fronts are not shown.
_FAR = 3.0


class Fronts(NamedTuple):
    """Pareto fronts by name, and single results to show beside them; ``words`` describe both.

    Charts show the ``marked`` results, too, each by the letter behind the comma.
    """

    lines: Mapping[str, Sequence[FrontPoint]]
    marks: Sequence[Dot]
    words: str
    marked: bool = True


def mark(name: str, result: Result, weights: Weights, full: bool) -> Dot:
    """Return a result as a point of the chart; None if its latency or roughness is NaN."""
    rough = compute_roughness(result.values, weights) if result.values else math.nan
    return Dot(abs(result.value("lag")) * 1000, rough, name, full=full)


def collect_fronts(found: Tunings) -> Fronts:
    """Return the Pareto fronts of the best strategies, with their default and tuned results."""
    fronts = {tuning.strategy: tuning.front for tuning in found.tunings}
    leading = list(dict.fromkeys(point.strategy for point in find_common_front(found)))[:DRAWN]
    marks = [
        mark(f"{each.strategy}, {kind}", result, found.weights, kind == "tuned")
        for each in found.tunings
        if each.strategy in leading
        for kind, result in (("default", each.tuned_on.default), ("tuned", each.tuned_on.tuned))
    ]
    lines = {name: fronts[name] for name in leading}
    words = f"Hollow: default, filled: tuned.{describe_marks(found.divided)}"
    return Fronts(lines, marks, words, len(fronts) == 1)


def describe_marks(divided: Divided) -> str:
    """Name the data of the fronts' and the marks' values; empty if both are of all data."""
    if divided.evaluated is None:
        return ""
    there = "the half" if divided.by == "time" else "the recordings"
    return f" All of it on {there} used for tuning; what is said of the result is of the rest."


def find_common_front(found: Tunings) -> tuple[FrontPoint, ...]:
    """Return the Pareto front of the points of all strategies."""
    return select_worthy(find_pareto(point for tuning in found.tunings for point in tuning.front))


def make_front_chart(fronts: Fronts) -> Chart | None:
    """Return the Pareto fronts and single results as a chart; None if there are too few points."""
    whole = select_worthy(find_pareto(point for line in fronts.lines.values() for point in line))
    if len(whole) < FEWEST_POINTS:
        return None
    several = len(fronts.lines) > 1
    styles = choose_line_styles(fronts.lines)
    lines = [
        make_chart_line(_make_curve(name if several else "front", rank, points, styles[name]))
        for rank, (name, points) in enumerate(fronts.lines.items())
    ]
    for dot in fronts.marks if fronts.marked else ():
        label = dot.words.rpartition(", ")[2]
        style, letter = "bold" if dot.full else "bright_black", label[0].upper()
        lines.append(ChartLine(label, [dot.across], [dot.up], style, letter, joined=False))
    # what is a second late, or useless, would leave no room for the others
    lines = [each for each in (_clip_line(line, whole) for line in lines) if _is_visible(each)]
    return Chart(lines, TITLE, named=several, height=_HEIGHT, width=_WIDTH)


def _make_curve(label: str, role: int, points: Sequence[FrontPoint], style: LineStyle) -> Curve:
    return draw_stairs(
        label, role, [(point.latency * 1000, point.roughness) for point in points], style
    )


def draw_stairs(
    label: str, role: int, points: Sequence[tuple[float, float]], style: LineStyle
) -> Curve:
    """Return a Pareto front as a curve of steps.

    Between two points only the worse one is reached.
    """
    across = [point[0] for point in points for _ in (0, 1)][1:]
    up = [point[1] for point in points for _ in (0, 1)][:-1]
    return Curve(label, role, np.array(across), np.column_stack((across, up)), style=style)


def _clip_line(line: ChartLine, whole: Sequence[FrontPoint]) -> ChartLine:
    """Return the part of a line that is near the common front."""
    latest = max(point.latency for point in whole) * 1000 * 1.5 + 1
    roughest = min(max(point.roughness for point in whole), 6 * whole[-1].roughness + 1)
    across, up = np.asarray(line.across, float), np.asarray(line.up, float)
    far = (across > latest) | (up > roughest)
    return line._replace(across=np.where(far, np.nan, across), up=np.where(far, np.nan, up))


def _is_visible(line: ChartLine) -> bool:
    return bool(np.isfinite(np.asarray(line.across, float)).any())


def make_front_figure(words: str, fronts: Callable[[], Fronts]) -> Figure:
    """Return latency against roughness as a chart and as a picture; empty if there is no front."""

    def write_svg(width: int) -> str:
        try:
            return draw_front_picture(fronts(), width)
        except NothingToDraw:
            return ""

    return Figure(words, lambda: make_front_chart(fronts()), write_svg)


def draw_picture(found: Tunings) -> str:
    """Return latency against roughness as SVG text; raise ``NothingToDraw``."""
    return draw_front_picture(collect_fronts(found))


def draw_front_picture(fronts: Fronts, width: int | None = None) -> str:
    """Return the Pareto fronts as SVG text of this width (pixels).

    Hovering a point shows its settings and score. Raises ``NothingToDraw`` if nothing was tried
    whose latency is known.
    """
    from epic_cli.show.svg import draw_curves_picture

    styles = choose_line_styles(fronts.lines)
    curves = [
        _make_curve(name, rank, line, styles[name])
        for rank, (name, line) in enumerate(fronts.lines.items())
    ]
    points = [
        _make_chart_dot(styles[name], point)
        for name, line in fronts.lines.items()
        for point in line
    ]
    late = max((point.across for point in points), default=0.0)
    rough = max((point.up for point in points), default=0.0)
    marks = [
        mark
        for mark in fronts.marks
        # what is far off would leave no room for the others
        if mark.across < _FAR * late + 1 and mark.up < _FAR * rough + 1
    ]
    note = (
        "Roughness (what the score counts beside latency) over latency in ms; further down and to"
        f" the left is better. {fronts.words}"
    )
    shown = Plot("What smoothness costs in latency", curves)
    return draw_curves_picture(shown, [*points, *marks], note, width)


def _make_chart_dot(style: LineStyle, point: FrontPoint) -> Dot:
    words = (
        f"{point.strategy} {write_assignments(point.settings) or 'the defaults'}:"
        f" {point.latency * 1000:.0f} ms, roughness {point.roughness:.3g}, score"
        f" {format_one_decimal(point.score)}"
    )
    return Dot(point.latency * 1000, point.roughness, words, style)


#: The metrics that are shown before and after, beside the one that was tuned for.
FIGURES = ("score", "error", "lag", "residual", "jumps", "jerk", "held")

#: Points of the front to list.
_LISTED = 7

_DEFAULTS = "the defaults"

#: Words for the kinds of gains in tables.
_GAINS = {
    GainKind.BETTER: "better",
    GainKind.NO_BETTER: "no better",
    GainKind.WORSE: "worse",
    GainKind.UNSURE: "unsure",
    GainKind.DOUBTFUL: "in doubt",
    GainKind.SAME: "unchanged",
}

#: The metrics of the tuned settings in the data, and all fields of these.
TUNED = ("score", "lag", "error", "residual", "jumps", "jerk", "held")
_FIELDS = (
    "strategy", "settings", "verdict", "for", "default", "default_low", "default_high",
    "tuned", "tuned_low", "tuned_high", "gain", "gain_low", "gain_high", *TUNED,
    "worse", "harmless", "own_default", "own_tuned", "trials", "interrupted",
)  # fmt: skip


def report(found: Tunings, details: bool = False) -> Report:
    """Return the report of tuned settings.

    ``details`` add the tables of several strategies' best.
    """
    best, parts = found.best, list[Part]()
    if found.comparison is not None:
        parts.append(_make_strategies_table(found))
    if found.comparison is None or details:
        parts.append(_make_comparison_table(best, found.goal.metric))
        if best.influences:
            parts.append(_make_settings_table(best, found.goal.metric))
    if best.settings and not best.evaluation.keeps:
        forms = list_usage(best.strategy, best.settings)
        parts.append(Usage(forms, f"{best.strategy}'s settings, to be copied"))
    words = "What smoothness costs in latency, a line for each strategy"
    parts.append(make_front_figure(words, lambda: collect_fronts(found)))
    if len(find_common_front(found)) > 1:
        parts.append(_make_front_table(found))
    if found.delays is not None and found.delays.buffers:
        parts.append(make_delays_report(found.delays))
    return Report(
        verdict=write_verdict(found),
        parts=parts,
        notes=find_notes(found),
        method=describe_basis(found),
        data=Data(_FIELDS, lambda: _make_rows(found), lambda: list(_make_records(found))),
    )


# ---------------------------------------------------------------- tables


def _make_comparison_table(one: Tuning, metric: Metric) -> Table:
    """Return a table of default and tuned settings on each part of the data."""
    shown = [find_metric(name) for name in FIGURES]
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
    scores = [score.format_cell(result.value(score.name)) for result in results]
    ends = [format_interval_cell(result, score) for result in results]
    columns = [
        Column("on", names),
        Column("with", kinds),
        Column(score.title, scores, right=True, best=better),
        Column("likely", ends, right=True),
    ]
    for at, each in enumerate(shown[1:]):
        cells = [each.format_cell(result.value(each.name)) for result in results]
        columns.append(Column(each.title, cells, 16 - at, right=True))
    gaps = [2] if len(results) > 2 else []
    return Table(columns, gaps, caption=f"{one.strategy} before and after")


def format_interval_cell(result: Result, metric: Metric) -> str:
    """Return the interval of a result's metric as a table's cell."""
    return format_interval(*result.interval(metric.name), metric.format_cell)


def _make_settings_table(one: Tuning, metric: Metric) -> Table:
    """Return a table of the settings.

    Default, tuned value, range as good, and the default's cost.
    """
    found, every = list_found_settings(one), one.influences
    near = "within 1 point" if metric.name == "score" else "within 2 %"
    losses = [
        "-" if each.name not in found else _write_default_cost(metric, each) for each in every
    ]
    at_end = [each.bound and each.name in found and not each.flat for each in every]
    ends = [f"{each.bound} end" if end else "" for each, end in zip(every, at_end, strict=True)]
    return Table(
        [
            Column("setting", [each.name for each in every]),
            Column("default", [write_value(each.default) for each in every], right=True),
            Column("tuned", [write_value(each.tuned) for each in every], right=True),
            Column(near, list(map(_write_range, every)), right=True),
            # the first to go: what a default costs is said in a sentence, too
            Column("default costs", losses, 1, right=True),
            Column("note", ends, text=True),
        ],
        caption="Its settings",
    )


def _write_default_cost(metric: Metric, one: Influence) -> str:
    return "it fails" if not math.isfinite(one.loss) else format_points(metric, one.loss)


def _write_range(one: Influence) -> str:
    if one.flat:
        return "anything"
    parts = []
    if one.low is not None and one.high is not None:
        same = one.low == one.high
        parts.append(
            write_value(one.low) if same else f"{write_value(one.low)} to {write_value(one.high)}"
        )
    return " or ".join([*parts, *one.words])


def _make_strategies_table(found: Tunings) -> Table:
    """Return a table with a row for each strategy, the best first."""
    metric, comparison, tunings = found.goal.metric, found.comparison, found.ordered
    assert comparison is not None
    of = {id(one): result for one, result in zip(found.tunings, comparison.results, strict=True)}
    tunings.sort(key=lambda one: of[id(one)].rank or math.inf)  # ranks go down the table
    results = [of[id(tuning)] for tuning in tunings]
    judged = [tuning.evaluation for tuning in tunings]
    tuned = [evaluation.tuned for evaluation in judged]

    def make_cells(name: str, of: Sequence[Result] = tuned) -> list[str]:
        return [find_metric(name).format_cell(result.value(name)) for result in of]

    ends = [format_interval_cell(result, metric) for result in tuned]
    settings = [write_assignments(tuning.settings) or _DEFAULTS for tuning in tunings]
    return Table(
        [
            Column("strategy", [result.label for result in results], text=True),
            Column("rank", [str(result.rank or "-") for result in results], right=True),
            Column(metric.title, make_cells(metric.name), right=True),
            Column("likely", ends, 9, right=True),
            Column(
                "default", make_cells(metric.name, [each.default for each in judged]), 8, right=True
            ),
            Column("gain", [_write_gain(metric, evaluation) for evaluation in judged], right=True),
            Column("result", [_GAINS[evaluation.kind] for evaluation in judged], 7, right=True),
            Column("lag ms", make_cells("lag"), 6, right=True),
            Column("jumps", make_cells("jumps"), 5, right=True),
            Column("settings", settings, 4, text=True),
        ],
        caption="Every strategy tuned, the best first",
    )


def _write_gain(metric: Metric, evaluation: Evaluation) -> str:
    gain = "0" if evaluation.kind is GainKind.SAME else format_metric(metric, evaluation.gain)
    return f"+{gain}" if evaluation.gain > 0 and gain != "0" else gain


def _make_front_table(found: Tunings) -> Table:
    """Return a table of points of the Pareto front, at even distances."""
    shown, several = choose_points(find_common_front(found), _LISTED), len(found.tunings) > 1
    settings = [
        " ".join(filter(None, [row.strategy if several else "", write_assignments(row.settings)]))
        for row in shown
    ]
    words = Column("settings", [setting or _DEFAULTS for setting in settings], text=True)
    return Table([*make_front_columns(shown), words], caption="What smoothness costs in latency")


def make_front_columns(shown: Sequence[FrontPoint], right: bool = False) -> list[Column]:
    """Return columns of the points' latency, roughness and score.

    They are right-aligned (``right``) if other columns come before.
    """
    return [
        Column("lag ms", [f"{row.latency * 1000:.0f}" for row in shown], right=right),
        Column("roughness", [format_three_digits(row.roughness) for row in shown], right=True),
        Column("score", [format_one_decimal(row.score) for row in shown], right=True),
    ]


# ---------------------------------------------------------------- data


def _make_record(one: Tuning, found: Tunings) -> dict[str, Any]:
    """Return the result for one strategy as a record; None for unknown values.

    ``default``, ``tuned`` and the paired ``gain`` are the metric tuned ``for``, with intervals, on
    untuned data; ``own_`` is on the tuned part. The other metrics are those of the tuned settings.
    """
    name, evaluation = found.goal.metric.name, one.evaluation
    values = {
        "strategy": one.strategy,
        "settings": dict(one.settings),
        "verdict": evaluation.kind.name.lower().replace("_", " "),
        "for": name,
        **list_with_ends(
            "default", evaluation.default.value(name), evaluation.default.interval(name)
        ),
        **list_with_ends("tuned", evaluation.tuned.value(name), evaluation.tuned.interval(name)),
        **list_with_ends("gain", evaluation.gain, (evaluation.low, evaluation.high)),
        **{each: evaluation.tuned.value(each) for each in TUNED},
        "worse": list(one.worse),
        "harmless": None if one.harmless is None else dict(one.harmless.settings),
        "own_default": one.tuned_on.default.value(name),
        "own_tuned": one.tuned_on.tuned.value(name),
        "trials": one.trials,
        "interrupted": one.interrupted,
    }
    return {key: replace_unknown(value) for key, value in values.items()}


def list_with_ends(name: str, value: float, between: tuple[float, float]) -> dict[str, float]:
    """Return a metric's value and the ends of its interval, by the names in data formats."""
    return {name: value, f"{name}_low": between[0], f"{name}_high": between[1]}


def _make_rows(found: Tunings) -> list[Record]:
    """Return a record of CSV for each strategy, the best first."""
    return [
        {
            **_make_record(tuning, found),
            "settings": written_spec(tuning.strategy, tuning.settings),
            "worse": " ".join(tuning.worse),
            "harmless": written_spec(tuning.strategy, tuning.harmless.settings)
            if tuning.harmless
            else None,
        }
        for tuning in found.ordered
    ]


def _make_records(found: Tunings) -> Iterator[Record]:
    """Yield all results for JSON lines; each record has its ``kind``."""
    if found.delays is not None:
        yield from iterate_delay_records(found.delays)
    for tuning in found.ordered:
        yield {"kind": "tuning", **_make_record(tuning, found)}
        for each in tuning.influences:
            values = {**each._asdict(), "words": list(each.words)}
            yield {
                "kind": "setting",
                "strategy": tuning.strategy,
                **{key: replace_unknown(value) for key, value in values.items()},
            }
    for point in find_common_front(found):
        yield {"kind": "front", **point._asdict(), "settings": dict(point.settings)}
