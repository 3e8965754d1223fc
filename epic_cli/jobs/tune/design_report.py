"""The report of a design: the composition to take, and the gains and costs of others."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import Any

from epic_cli.engine.replay.strategy_spec import write_spec as written_spec
from epic_cli.engine.strategies import get_declaration
from epic_cli.jobs.code.spec import strategies as written_in_code
from epic_cli.jobs.compare import report as compared
from epic_cli.jobs.tune.design import Composition, Design, DesignPoint, DesignRow
from epic_cli.jobs.tune.report import (
    TUNED,
    Fronts,
    describe_division,
    describe_interval,
    describe_marks,
    describe_worse,
    draw_front_picture,
    format_metric,
    format_points,
    format_with_interval,
    list_usage,
    list_with_ends,
    make_front_columns,
    make_front_figure,
    mark,
    name_data,
    name_metric,
    write_value,
)
from epic_cli.jobs.tune.run import POINT, find_worse
from epic_cli.metrics import find_metric
from epic_cli.metrics.digits import (
    format_count,
    format_one_decimal,
    format_seconds,
    join_words,
    replace_unknown,
)
from epic_cli.metrics.metric import GAMES
from epic_cli.show.report import Column, Data, Part, Record, Report, Table, Usage

#: A row of the table of the front is given to at most this many points of each complexity.
_LISTED = 3

#: A cause is the main one; others are named where they make at least this share of the gap.
_NAMED_SHARE = 0.25

_COMPLEXITY = (
    "Parts: what it has beside a plain composition, which is a buffer with one clock, a delay and"
    " straight lines that holds when it is empty, or a chase of the newest state. A curve,"
    " extrapolation, a margin for jitter, catching up at a rate, a low-pass, a snap, a spring, an"
    " ease, a prediction and a filter are one each. Taken is the fewest whose loss against the best"
    " is not clear, or less than one point (of another metric than the score: 2 %), where both were"
    " tuned."
)


def report(found: Design, details: bool = False) -> Report:
    """Return the report: sentences, a table by complexity, the front, and the commands to run next.

    ``details`` add nothing.
    """
    del details
    taken = found.taken.strategy
    assert taken is not None
    forms = [*list_usage(taken.name, taken.settings)]
    kept = found.drawn is not None and found.drawn.gain.gain >= 0
    if taken.name in written_in_code() and not kept:
        forms.append(("code", f"epic code {taken.label} --lang csharp -o Smoothing.cs"))
    parts: list[Part] = [
        _make_table(found),
        make_front_figure(
            "What smoothness costs in latency, by complexity", lambda: collect_fronts(found)
        ),
    ]
    if found.fronts:
        parts.append(_make_front_table(found))
    parts.append(Usage(forms, "To be copied"))
    return Report(
        verdict=verdict(found),
        parts=parts,
        notes=[
            *_explain_send_interval(found),
            *compared.find_notes(found.comparison, found.comparison.results),
        ],
        method=_explain_method(found),
        data=Data(_FIELDS, lambda: list(_make_rows(found)), lambda: list(_make_records(found))),
    )


# ---------------------------------------------------------------- sentences


def verdict(found: Design) -> list[str]:
    """Name the composition to take, the gain of more and fewer parts, and the game's drawing."""
    taken, at = found.taken, found.simplest.index(found.taken)
    metric = found.goal.metric
    ends, doubts = taken.result.interval(metric.name), compared.describe_doubts(found.comparison)
    if math.isnan(taken.result.value(metric.name)):
        return [
            *doubts,
            f"Nothing can be judged here: the {name_metric(metric)} of all is unknown.",
        ]
    sentences = [
        *doubts,
        _describe_answer(found),
        _describe_score(found),
        _NO_INTERVAL if any(map(math.isnan, ends)) else "",
        "" if found.divided.tuned.prepared[0].by_arrival else _NO_NETWORK,
        _describe_more_parts(found, more)
        if (more := found.simplest[at + 1 :])
        else _NOTHING_BETTER,
        _describe_fewer_parts(found, found.simplest[:at]) if at else "",
        _describe_game_drawing(found, found.drawn) if found.drawn else "",
        _describe_raised_metrics(found),
        "Interrupted: there may be better ones." if found.interrupted else "",
    ]
    return list(filter(None, sentences))


_NO_INTERVAL = "The data is too little for a range of the score; differences have theirs."
_NOTHING_BETTER = "Nothing more complex is better."
_NO_NETWORK = (
    "Without arrival times nothing is known of the network: record them, or simulate one"
    " (--movement truth=FILE --link 4g)."
)


def _describe_answer(found: Design) -> str:
    game = next((game.name for game in GAMES if game.weights == found.weights), "")
    words = f"{_describe_composition(found.taken, found)}."
    if found.goal.metric.name != "score":
        return f"For the best {name_metric(found.goal.metric)}, {words}"
    return (
        f"For {compared.describe_game(game)}, {words}" if game else f"{words[0].upper()}{words[1:]}"
    )


#: The curves in words; a buffer's settings that a sentence says otherwise.
_CURVES = {"linear": "linear", "hermite": "Hermite", "catmull-rom": "Catmull-Rom"}


def _describe_composition(row: DesignRow, found: Design) -> str:
    """Describe a composition in words.

    For example ``a buffer: linear, clock=min, delay=1.7i (85 ms), no extrapolation``.
    """
    spec = row.strategy
    assert spec is not None
    settings = {name: write_value(value) for name, value in spec.settings.items()}
    article = "an" if spec.name[0] in "aeiou" else "a"
    kind = f"{article} {spec.name}" if spec.name in ("buffer", "chase") else spec.name
    words = []
    if spec.name == "buffer":
        words.append(_CURVES[settings.pop("curve", "linear")])
    elif spec.name == "chase":
        words.append(settings.pop("how", "exponential"))
    for name, value in settings.items():
        meant = ""
        if value.endswith("i") and value[:-1].replace(".", "").isdigit():
            meant = f" ({format_seconds(float(value[:-1]) * found.period)})"
        words.append(f"{name}={value}{meant}")
    if spec.name == "buffer" and "beyond" not in settings:
        words.append("no extrapolation")
    return f"{kind}: {', '.join(words)}"


def _explain_send_interval(found: Design) -> list[str]:
    """Return a note on the unit ``i`` in ms, if a composition has a setting in send intervals."""
    labels = (row.strategy.label for row in found.simplest if row.strategy is not None)
    if not any(re.search(r"=[\d.]+i(?:\+|$)", label) for label in labels):
        return []
    period = format_seconds(found.period)
    return [f"1i, a send interval, is {period} here; a lag has the network's delay in it, too."]


def _describe_score(found: Design) -> str:
    metric, result = found.goal.metric, found.taken.result
    name = name_metric(metric)
    error = f"RMS error {find_metric('error').format_cell(result.value('error'))}"
    lag = compared.describe_lag(result.value("lag"))
    value = f"{name[0].upper()}{name[1:]} {format_with_interval(metric, result)}"
    words = f"{value} {name_data(found.divided)}; {error}, {lag}."
    strategy = found.taken.strategy
    needs = get_declaration(strategy.name).needs_words if strategy else ()
    if needs and result.label.partition("+")[0] not in ("buffer", "chase"):
        words += f" It needs {', '.join(needs)}."
    return words


def _describe_more_parts(found: Design, more: Sequence[DesignRow]) -> str:
    """Say what more parts would gain, by the best composition with more parts."""
    metric, best = found.goal.metric, max(more, key=lambda row: row.gain.gain)
    who, gain = _compare_parts(best.composition, found.taken.composition), best.gain
    ends = describe_interval(metric, gain.low, gain.high)
    if format_metric(metric, gain.gain) == format_metric(metric, 0.0):
        return f"{who} would be no better{ends}."
    if gain.gain < 0:
        return f"{who} was better on the half that was tuned on, and is not on the other{ends}."
    words = f"{who} would be {format_points(metric, gain.gain)} better{ends}"
    little = metric.name == "score" and gain.gain < POINT
    if gain.low <= 0:
        return f"{words}, {'too little to see here' if little else 'which may be chance'}."
    parts = format_count(_count_parts(best) - _count_parts(found.taken), "more part")
    return f"{words}{': little' if little else ','} for {parts}."


def _describe_fewer_parts(found: Design, simpler: Sequence[DesignRow]) -> str:
    """Say what fewer parts would cost, by the best composition with fewer parts."""
    metric, row = found.goal.metric, max(simpler, key=lambda row: row.gain.gain)
    who, gain = _compare_parts(row.composition, found.taken.composition), row.gain
    if gain.gain > 0:
        ends = describe_interval(metric, gain.low, gain.high)
        better = f"{format_points(metric, gain.gain)} better here{ends}"
        return f"{who} was worse where both were tuned, and is {better}."
    ends = describe_interval(metric, -gain.high, -gain.low)
    return f"{who} would be {format_points(metric, -gain.gain)} worse{ends}."


def _count_parts(row: DesignRow) -> int:
    return row.composition.complexity if row.composition else 0


def _compare_parts(one: Composition | None, other: Composition | None) -> str:
    """Begin a sentence with the parts that one composition has more or less than another."""
    assert one is not None
    assert other is not None
    own, others = (
        {part.written + part.tuned: part.words for part in each.parts if part.adds}
        for each in (one, other)
    )
    more = [words for key, words in own.items() if key not in others]
    less = [words for key, words in others.items() if key not in own]
    if one.strategy != other.strategy or (more and less):
        parts = list(filter(None, own.values()))
        words = f"a {one.strategy}" if one.strategy in ("buffer", "chase") else one.strategy
        words += f" with {join_words(parts)}" if parts else ""
        words = words if parts else words.replace("a ", "a plain ")
    else:
        words = join_words(more) if more else f"without {join_words(less)}, it"
    return f"{words[0].upper()}{words[1:]}"


def _describe_game_drawing(found: Design, drawn: DesignRow) -> str:
    """Say how far off the game's own drawing is, and name its main cost."""
    metric, gain = found.goal.metric, drawn.gain
    ends = describe_interval(metric, -gain.high, -gain.low)
    if math.isnan(gain.gain):
        return "What you draw now (--drawn) cannot be judged here."
    if gain.gain >= 0:
        ends = describe_interval(metric, gain.low, gain.high)
        return (
            f"What you draw now (--drawn) is {format_points(metric, gain.gain)}"
            f" better{ends}: keep it."
        )
    words = f"What you draw now (--drawn) is {format_points(metric, -gain.gain)} lower{ends}"
    whole = sum(part for _, part in found.causes)
    great = [
        f"{compared.describe_cost(name)} ({format_one_decimal(part)} points)"
        for at, (name, part) in enumerate(found.causes)
        if part > 0 and (at == 0 or part > _NAMED_SHARE * whole)
    ]
    words = f"{words}, mostly by {join_words(great)}." if great else f"{words}."
    return f"{words} {_describe_tuned_drawing(found)}".strip()


def _describe_tuned_drawing(found: Design) -> str:
    """Say which composition the game draws, and what its numbers alone bring once tuned."""
    row = found.tuned_drawing
    if row is None or found.begun is None or found.drawn is None:
        return ""
    gain, metric = row.gain.gain - found.drawn.gain.gain, found.goal.metric
    if math.isnan(gain) or row is found.taken:
        return ""
    if gain <= POINT:
        return f"It is {found.begun.label}; no other numbers make it better."
    return (
        f"It is {found.begun.label}; with other numbers, {row.label}, it is"
        f" {format_points(metric, gain)} better."
    )


#: What players see as faults, whatever they are for.
_SEEN = ("jumps", "backward", "held")


def _describe_raised_metrics(found: Design) -> str:
    """Name the metrics that the composition raises, and the best composition that raises none.

    They are compared with what the game draws, or with the plainest composition.
    """
    before, taken = found.drawn or found.simplest[0], found.taken
    worse = find_worse(before.result.values, taken.result.values)
    if found.drawn is None:  # other metrics are what a composition is chosen for
        worse = tuple(name for name in worse if name in _SEEN)
    if before is taken or not worse or not taken.gain.gain - before.gain.gain > 0:
        return ""
    who = "what you draw now" if found.drawn else f"{before.label}"
    words = f"Against {who}, it raises {describe_worse(worse, before.result, taken.result)}"
    tunable = [name for name in worse if name != found.goal.metric.name]
    ways = [f"--for {tunable[0]} tunes for that"] if tunable else []
    ways += ["epic diagnose --drawn advises only what hardly raises any"] if found.drawn else []
    words += f" ({'; '.join(ways)})." if ways else "."
    others = [
        row
        for row in (*found.simplest, *found.others)
        if row.gain.gain > before.gain.gain
        and row is not before
        and not find_worse(before.result.values, row.result.values)
    ]
    if not others:
        return f"{words} No other composition here is better and raises none of the metrics."
    best = max(others, key=lambda row: row.gain.gain)
    more = format_points(found.goal.metric, best.gain.gain - before.gain.gain)
    return f"{words} {best.label} raises none of the metrics and is {more} better."


def _explain_method(found: Design) -> list[str]:
    comparison = found.comparison
    return [
        describe_division(found.divided),
        f"Tuned for {name_metric(found.goal.metric)}: {found.trials} settings of"
        f" {format_count(found.compositions, 'composition')} tried; the same --seed"
        f" ({found.spec.compare.seed}) finds the same.",
        _COMPLEXITY,
        *compared.explain_method(comparison, comparison.results),
    ]


# ---------------------------------------------------------------- tables


def _make_table(found: Design) -> Table:
    """Return a row for each complexity, each other strategy, and the game's drawing."""
    rows, metric = found.rows, found.goal.metric

    def cells(name: str) -> list[str]:
        return [find_metric(name).format_cell(row.result.value(name)) for row in rows]

    gains = ["" if row is found.taken else format_metric(metric, row.gain.gain) for row in rows]
    gains = [f"+{gain}" if gain and gain[0] not in "-+u" else gain for gain in gains]
    ends = [
        "" if row is found.taken else describe_interval(metric, row.gain.low, row.gain.high)[2:-1]
        for row in rows
    ]
    shown = [find_metric(name) for name in ("score", "lag", "error", "residual", "jumps", "jerk")]
    if metric.name not in [each.name for each in shown]:
        shown.insert(1, metric)
    gaps = [len(found.simplest), len(rows) - 1] if found.drawn else [len(found.simplest)]
    return Table(
        [
            Column(
                "parts", [str(_count_parts(row)) if row.composition else "-" for row in rows]
            ),
            *(
                Column(each.title, cells(each.name), weight, right=True,
                       best={rows.index(found.taken)} if each is metric else None)
                for weight, each in zip((1000, 9, 7, 4, 3, 2, 1), shown, strict=False)
            ),
            Column("gain", gains, right=True),
            Column("likely", ends, 8, right=True),
            Column("composition", [row.label for row in rows], text=True),
        ],
        [gap for gap in gaps if 0 < gap < len(rows)],
        caption="The best by complexity, then of other strategies",
    )  # fmt: skip


def collect_fronts(found: Design) -> Fronts:
    """Return a front for each complexity, beside the taken composition and the game's drawing."""
    marks = [mark(f"{found.taken.label}, taken", found.taken.own, found.weights, True)]
    if found.drawn is not None:
        marks.append(mark("what you draw, drawn", found.drawn.own, found.weights, False))
    # the simpler ones last, on top: what others have to show is what parts bring
    ranked = reversed(found.fronts)
    lines = {_format_line_name(count): [each.point for each in line] for count, line in ranked}
    words = "Filled: taken" + (", hollow: drawn." if found.drawn else ".")
    return Fronts(lines, marks, words + describe_marks(found.divided))


def draw_picture(found: Design) -> str:
    """Draw the cost of smoothness by complexity; raise ``NothingToDraw``."""
    return draw_front_picture(collect_fronts(found))


def _format_line_name(count: int) -> str:
    return "plain" if count == 0 else format_count(count, "part")


def _list_points(found: Design) -> list[DesignPoint]:
    """Return points of each complexity that no simpler point equals, evenly chosen."""
    listed_points: list[DesignPoint] = []
    for count, line in found.fronts:
        own = [each for each in line if each.complexity == count]
        step = max(len(own) / _LISTED, 1.0)
        chosen = {int((at + 0.5) * step) for at in range(_LISTED)}
        listed_points += [each for at, each in enumerate(own) if at in chosen]
    return listed_points


def _make_front_table(found: Design) -> Table:
    shown = _list_points(found)
    return Table(
        [
            Column("parts", [str(each.complexity) for each in shown]),
            *make_front_columns([each.point for each in shown], right=True),
            Column(
                "composition",
                [written_spec(each.point.strategy, each.point.settings) for each in shown],
                text=True,
            ),
        ],
        [at for at in range(1, len(shown)) if shown[at].complexity != shown[at - 1].complexity],
        caption="What smoothness costs in latency, by complexity",
    )


# ---------------------------------------------------------------- data

_FIELDS = (
    "strategy", "parts", "taken", "for", "value", "low", "high", "gain", "gain_low", "gain_high",
    "own", *TUNED,
)  # fmt: skip


def _make_rows(found: Design) -> Iterator[Record]:
    """Return a row for each composition as ``-s`` takes it, then ``drawn``.

    ``value`` is the metric tuned ``for`` on untuned data, ``own`` on the tuned part; the paired
    ``gain`` is over the taken one.
    """
    name = found.goal.metric.name
    for row in found.rows:
        values: dict[str, Any] = {
            "strategy": row.label,
            "parts": row.composition.complexity if row.composition else None,
            "taken": row is found.taken,
            "for": name,
            "value": row.result.value(name),
            **dict(zip(("low", "high"), row.result.interval(name), strict=True)),
            **list_with_ends("gain", row.gain.gain, row.gain[1:]),
            "own": row.own.value(name),
            **{each: row.result.value(each) for each in TUNED},
        }
        yield {key: replace_unknown(value) for key, value in values.items()}


def _make_records(found: Design) -> Iterator[Record]:
    """Return all rows, causes and fronts as records for JSON lines, each with its ``kind``."""
    for row, record in zip(found.rows, _make_rows(found), strict=True):
        settings = dict(row.strategy.settings) if row.strategy else {}
        words = [part.words for part in row.composition.parts] if row.composition else []
        yield {"kind": "design", **record, "settings": settings, "made_of": words}
    for cost, part in found.causes:
        yield {"kind": "cause", "cost": cost, "points": part}
    for count, line in found.fronts:
        for each in line:
            point = {**each.point._asdict(), "settings": dict(each.point.settings)}
            yield {"kind": "front", "at_most": count, "parts": each.complexity, **point}
