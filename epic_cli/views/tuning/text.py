"""What tuning has found for other programs and for documents: CSV, JSON lines, Markdown."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from epic_cli.analysis.digits import known
from epic_cli.views.documents import csv_table, markdown_table
from epic_cli.views.tuning import delays
from epic_cli.views.tuning.front import front_of, front_rows
from epic_cli.views.tuning.tables import notes, ordered, part_rows, setting_rows, strategy_rows
from epic_cli.views.tuning.words import findings, usage

if TYPE_CHECKING:
    from epic_cli.analysis.tuning.result import Judgement, Tuning, Tunings

_VERDICT = ("strategy", "settings", "verdict", "for", "default", "default_low", "default_high",
            "tuned", "tuned_low", "tuned_high", "gain", "gain_low", "gain_high")  # fmt: skip
_REST = ("score", "lag", "error", "residual", "jumps", "jerk", "held", "own_default", "own_tuned",
         "tries", "interrupted")  # fmt: skip


def record(one: Tuning, found: Tunings) -> dict[str, Any]:
    """What tuning comes to for one strategy; None: not enough to say.

    ``default``, ``tuned`` and the paired ``gain`` are of the figure that was tuned ``for``, with
    their intervals, where it was not tuned on; ``own_`` is where it was. The other figures are
    those of the tuned settings.
    """
    name, judgement = found.goal.metric.name, one.judgement
    values = {
        "strategy": one.strategy,
        "settings": dict(one.settings),
        "verdict": judgement.verdict.name.lower().replace("_", " "),
        "for": name,
        **_ends("default", judgement.default.value(name), judgement.default.interval(name)),
        **_ends("tuned", judgement.tuned.value(name), judgement.tuned.interval(name)),
        **_ends("gain", judgement.gain, (judgement.low, judgement.high)),
        **{figure: judgement.tuned.value(figure) for figure in _REST[:7]},
        **_own(one.tuned_on, name),
        "tries": one.tries,
        "interrupted": one.interrupted,
    }
    return {key: known(value) for key, value in values.items()}


def _ends(name: str, value: float, between: tuple[float, float]) -> dict[str, float]:
    return {name: value, f"{name}_low": between[0], f"{name}_high": between[1]}


def _own(judgement: Judgement, name: str) -> dict[str, float]:
    return {
        "own_default": judgement.default.value(name),
        "own_tuned": judgement.tuned.value(name),
    }


def records(found: Tunings) -> Iterator[dict[str, Any]]:
    """All of it, each with its ``kind``."""
    if found.delays is not None:
        yield from delays.records(found.delays)
    for tuning in ordered(found):
        yield {"kind": "tuning", **record(tuning, found)}
        for each in tuning.influences:
            values = {**each._asdict(), "words": list(each.words)}
            yield {
                "kind": "setting",
                "strategy": tuning.strategy,
                **{key: known(value) for key, value in values.items()},
            }
    for point in front_of(found):
        yield {"kind": "front", **point._asdict(), "settings": dict(point.settings)}


def as_jsonl(found: Tunings) -> str:
    """One JSON object a line; null: not enough to say."""
    return "".join(json.dumps(one, allow_nan=False) + "\n" for one in records(found))


def as_csv(found: Tunings) -> str:
    """A line for each strategy under a header, the best first; empty: not enough to say."""
    rows = (
        {**record(one, found), "settings": delays.set_words(one.strategy, one.settings)}
        for one in ordered(found)
    )
    return csv_table([*_VERDICT, *_REST], rows)


def as_markdown(found: Tunings) -> str:
    """The sentences, the tables, the settings in every form, and what it rests on."""
    lines = [" ".join(one.text for one in findings(found)), ""]
    if found.comparison is not None:
        titles, rows = strategy_rows(found)
        lines += [*markdown_table(titles, rows, 1), ""]
    for one in found.tunings if found.comparison is None else ():
        titles, rows, _ = part_rows(one, found.goal.metric)
        lines += [*markdown_table(titles, rows, 2), ""]
        titles, rows = setting_rows(one, found.goal.metric)
        if rows:
            lines += [*markdown_table(titles, rows, 1), ""]
    best = ordered(found)[0]
    if best.settings:
        lines += [f"- {where}: `{what}`" for where, what in usage(best.strategy, best.settings)]
        lines.append("")
    titles, rows = front_rows(found)
    if len(rows) > 1:
        lines += [*markdown_table(titles, rows, 0), ""]
    if found.delays is not None and found.delays.buffers:
        lines += [delays.as_markdown(found.delays)]
    lines += [f"- {line}" for line in notes(found)]
    return "\n".join(lines) + "\n"
