"""The report of bytes against a metric: sentences, a table and a chart."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from epic_cli.jobs.compare import report as compared
from epic_cli.jobs.tune.bytes_front import BytesFound, BytesFronts, Limit
from epic_cli.jobs.tune.report import (
    draw_stairs,
    format_metric,
    format_points,
    format_with_interval,
    list_with_ends,
    name_metric,
)
from epic_cli.metrics import find_metric
from epic_cli.metrics.comparison import Result
from epic_cli.metrics.digits import (
    format_count,
    format_interval,
    format_percent,
    format_three_digits,
    replace_unknown,
)
from epic_cli.metrics.metric import Metric
from epic_cli.network.sender import SenderSpec
from epic_cli.show.chart import Chart, make_chart_line
from epic_cli.show.plot import Curve, Dot, Plot
from epic_cli.show.report import KEPT, Column, Data, Figure, Part, Record, Report, Table, Usage
from epic_cli.show.styles import choose_line_styles
from epic_cli.show.svg import draw_curves_picture

#: The metrics of a sender, beside the one that counts.
_METRICS = ("error", "lag", "jerk")

_FIELDS = (
    "strategy", "send", "chosen", "given", "updates", "update_bits", "bytes", "bytes_low",
    "bytes_high", "for", "figure", "figure_low", "figure_high", *_METRICS,
)  # fmt: skip


def report(found: BytesFronts, details: bool = False) -> Report:
    """Return the report of the Pareto fronts; ``details`` add nothing."""
    del details
    metric = found.spec.goal.metric
    verdict: list[str] = []
    parts: list[Part] = []
    if found.comparison is not None:
        limit = found.spec.limit
        verdict += [f"With {_describe_limit(limit)}:"] if limit else []
        verdict += compared.write_verdict(found.comparison)
        parts.append(replace(compared.report(found.comparison), verdict=()))
    for entry in found.found:
        verdict += _describe_front(entry, found, metric)
        parts.append(_make_table(entry, metric))
    if found.interrupted:
        verdict.append("Interrupted: other senders may be better.")
    words = f"{name_metric(metric)} over bytes a second"
    parts.append(
        Figure(words, lambda: _make_chart(found, metric), lambda width: draw_picture(found, width))
    )
    parts.append(
        Usage(
            [(entry.strategy.label, f"--send '{entry.chosen.write()}'") for entry in found.found],
            "senders, to be copied",
        )
    )
    return Report(
        verdict=verdict,
        parts=parts,
        method=_explain_method(found),
        data=Data(_FIELDS, lambda: list(_make_records(found)), lambda: list(_make_records(found))),
    )


def _describe_limit(limit: Limit) -> str:
    if limit.figure == "bytes":
        return f"at most {format_three_digits(limit.value)} bytes a second"
    metric = find_metric(limit.figure)
    return f"{name_metric(metric)} {metric.format_cell(limit.value)}"


def _describe_front(entry: BytesFound, found: BytesFronts, metric: Metric) -> list[str]:
    result, given = entry.result(entry.chosen), entry.result(entry.given)
    bytes_, usual = result.value("bytes"), given.value("bytes")
    sentences = [
        f"{entry.strategy.label}: send {entry.chosen.write()}: {format_three_digits(bytes_)}"
        " bytes a"
        f" second, {name_metric(metric)} {format_with_interval(metric, result)}, on data that it"
        " was not tuned on."
    ]
    if entry.given != entry.chosen:
        more = metric.compute_key(result.value(metric.name)) - metric.compute_key(
            given.value(metric.name)
        )
        sentences.append(
            f"That is {_describe_change(bytes_, usual, 'bytes')} than {entry.given.write()}"
            f" ({format_three_digits(usual)}), an error that is"
            f" {_describe_change(result.value('error'), given.value('error'), 'error')}, and"
            f" {format_points(metric, abs(more))} {'worse' if more > 0 else 'better'}."
        )
    limit = found.spec.limit
    if limit is not None and not entry.kept:
        sentences.append(
            f"Nothing that was tried keeps {_describe_limit(limit)}: this comes nearest."
        )
    elif limit is not None and not _is_within_limit(result, limit):
        sentences.append(f"It kept {_describe_limit(limit)} where it was tuned, not on the rest.")
    return [*sentences, *_describe_shares(entry)]


def _is_within_limit(result: Result, limit: Limit) -> bool:
    metric = find_metric(limit.figure)
    return bool(
        metric.compute_key(result.value(limit.figure))
        <= metric.compute_key(limit.value) * 1.02 + 1e-9
    )


def _describe_change(value: float, usual: float, what: str) -> str:
    share = value / usual - 1 if usual > 0 else math.nan
    less, more = ("fewer", "more") if what == "bytes" else ("smaller", "larger")
    noun = " bytes" if what == "bytes" else ""
    return f"{_format_percent(abs(share))} {more if share > 0 else less}{noun}"


def _format_percent(share: float) -> str:
    return format_percent(share) if share >= 0.005 else "less than 1 %"


def _describe_shares(entry: BytesFound) -> list[str]:
    """Return sentences on the shares of the squared error that rounding and threshold cause."""
    whole_error = entry.without["all"]
    parts = []
    for name, words in (("rounding", "rounding makes up"), ("threshold", "the threshold")):
        if name in entry.without and whole_error > 0:
            share = max(0.0, 1 - entry.without[name] / whole_error)
            parts.append(f"{words} {_format_percent(share)}")
    return [f"Of its squared error, {' and '.join(parts)}."] if parts else []


def _explain_method(found: BytesFronts) -> list[str]:
    seeds, recorded = len(found.spec.seeds), found.spec.simulation.recorded is not None
    half = ", the second half of the movement" if recorded else ""
    tried = format_count(sum(entry.tried for entry in found.found), "sender")
    return [
        f"{tried} tried on {format_count((seeds + 1) // 2, 'network')}, the front evaluated on"
        f" {format_count(seeds // 2, 'other network')}{half}. Bytes are those of each entity,"
        " with its"
        " part of the headers of IPv4 and UDP (28 bytes a packet) and of the packet's number, stamp"
        " and counts (some 9)."
    ]


def _make_table(entry: BytesFound, metric: Metric) -> Table:
    shown = _list_senders(entry)
    results = [entry.result(send) for send in shown]

    def make_column(name: str, weight: int = KEPT) -> Column:
        entry = find_metric(name)
        cells = [entry.format_cell(result.value(name)) for result in results]
        return Column(entry.title, cells, weight, right=True, meaning=entry.help)

    ends = [
        format_interval(
            *result.interval(metric.name), lambda value: format_metric(metric, value), "-"
        )
        for result in results
    ]
    marks = [
        "chosen" if send == entry.chosen else "as given" if send == entry.given else ""
        for send in shown
    ]
    others = [make_column(name, 5) for name in _METRICS if name != metric.name]
    return Table(
        [
            Column("send", [send.write() for send in shown], text=True),
            Column("", marks),
            make_column("updates", 6),
            make_column("update_bits", 5),
            make_column("bytes"),
            make_column(metric.name),
            Column("likely", ends, 7, right=True),
            *others,
        ],
        caption=entry.strategy.label,
    )


def _list_senders(entry: BytesFound) -> list[SenderSpec]:
    """Return the senders of the front and the original sender, fewest bytes first."""
    every = [*entry.shown, *([] if entry.given in entry.shown else [entry.given])]
    return sorted(every, key=lambda send: entry.result(send).value("bytes"))


def _make_curves(found: BytesFronts, metric: Metric) -> list[Curve]:
    curves, styles = [], choose_line_styles(entry.strategy.label for entry in found.found)
    for rank, entry in enumerate(found.found):
        results, label = map(entry.result, entry.shown), entry.strategy.label
        places = [(result.value("bytes"), result.value(metric.name)) for result in results]
        curves.append(draw_stairs(label, rank, places, styles[label]))
    return curves


def _make_chart(found: BytesFronts, metric: Metric) -> Chart | None:
    curves = [curve for curve in _make_curves(found, metric) if len(curve.times) > 2]
    if not curves:
        return None
    title = f"{name_metric(metric)} over bytes a second"
    lines = [make_chart_line(curve) for curve in curves]
    return Chart(lines, title, named=len(curves) > 1, height=12, width=160)


def draw_picture(found: BytesFronts, width: int | None = None) -> str:
    """Return the fronts as SVG text of this width (pixels); each point shows its sender."""
    metric = found.spec.goal.metric
    dots, styles = [], choose_line_styles(entry.strategy.label for entry in found.found)
    for entry in found.found:
        for send in _list_senders(entry):
            result = entry.result(send)
            value = result.value(metric.name)
            words = f"{entry.strategy.label}, {send.write()}: {format_metric(metric, value)}"
            marked = send in (entry.chosen, entry.given)
            style = None if marked else styles[entry.strategy.label]
            dots.append(Dot(result.value("bytes"), value, words, style, send == entry.chosen))
    better = "up" if metric.compute_key(1.0) < metric.compute_key(0.0) else "down"
    note = (
        f"{name_metric(metric)} over bytes a second; further {better} and to the left is better."
        " Hollow: as given, filled: chosen."
    )
    shown = Plot("What a better picture costs", _make_curves(found, metric))
    return draw_curves_picture(shown, dots, note, width)


def _make_records(found: BytesFronts) -> Iterator[Record]:
    metric = found.spec.goal.metric
    for entry in found.found:
        for send in _list_senders(entry):
            result = entry.result(send)
            record = {
                "strategy": entry.strategy.label,
                "send": send.write(),
                "chosen": send == entry.chosen,
                "given": send == entry.given,
                "for": metric.name,
                **{name: result.value(name) for name in ("updates", "update_bits", *_METRICS)},
                **list_with_ends("bytes", result.value("bytes"), result.interval("bytes")),
                **list_with_ends("figure", result.value(metric.name), result.interval(metric.name)),
            }
            yield {name: replace_unknown(record[name]) for name in _FIELDS}
