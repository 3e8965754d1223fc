"""What tuning has found, in words: five sentences for a decision, and what they rest on."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from epic_cli.analysis.digits import one_decimal
from epic_cli.analysis.metrics import named
from epic_cli.analysis.tuning.result import Verdict
from epic_cli.views.comparison.sentences import lag_words
from epic_cli.views.comparison.sentences import verdict as comparison_verdict
from epic_cli.views.tuning.delays import set_words, written

if TYPE_CHECKING:
    from epic_cli.analysis.compare import Comparison, Result
    from epic_cli.analysis.metric import Metric
    from epic_cli.analysis.tuning.result import Tuning, Tunings
    from epic_cli.engine.parameters import Value

#: So many settings are named in a sentence.
_NAMED = 4

#: A setting whose default costs more points than this, or this share of another figure, matters.
_MATTERS, _MATTERS_SHARE = 0.5, 0.01


class Finding(NamedTuple):
    """A sentence; a ``detail`` belongs to the one above it."""

    text: str
    detail: bool = False


def assignments(settings: Mapping[str, Value]) -> str:
    """``a=1 b=on``."""
    return " ".join(f"{name}={written(value)}" for name, value in settings.items())


def found_settings(one: Tuning) -> dict[str, Value]:
    """What tuning has changed."""
    return {name: value for name, value in one.settings.items() if name not in one.held}


def figure(metric: Metric, value: float) -> str:
    """A figure in a sentence: the score with one decimal, times in ms."""
    if math.isnan(value):
        return "nothing that can be told"
    if metric.name == "score":
        return one_decimal(value)
    if metric.unit == "s":
        return f"{value * 1000:.0f} ms"
    return metric.format(value)


def between(metric: Metric, low: float, high: float) -> str:
    """`` (58.0 to 61.2)``; empty: it cannot be told."""
    if math.isnan(low):
        return ""
    return f" ({figure(metric, low)} to {figure(metric, high)})"


def points(metric: Metric, value: float) -> str:
    """A difference of a figure: points of score, otherwise as the figure is written."""
    return f"{one_decimal(value)} points" if metric.name == "score" else figure(metric, value)


def findings(found: Tunings) -> list[Finding]:
    """The sentences, the decision first."""
    if found.comparison is not None:
        return _ranked(found, found.comparison)
    (one,) = found.tunings
    sentences = [
        _decision(one, found),
        _instead(one),
        _matters(one, found.goal.metric),
        _bounds(one),
        "It was interrupted: more tries may find better settings." if one.interrupted else "",
    ]
    return [Finding(text, detail=bool(at)) for at, text in enumerate(filter(None, sentences))]


def _where(found: Tunings) -> str:
    return {
        "time": "on the second half, which it was not tuned on",
        "recording": "on recordings that it was not tuned on",
        "none": "on what it was tuned on",
    }[found.divided.by]


def _decision(one: Tuning, found: Tunings) -> str:
    metric = found.goal.metric
    judgement = one.judgement
    name, changed = one.strategy, assignments(found_settings(one))
    means = "scores" if metric.name == "score" else f"comes to {_called(metric)} of"
    of = " of 100" if metric.name == "score" else ""
    tuned = f"{figure(metric, judgement.tuned.value(metric.name))}{of}" + between(
        metric, *judgement.tuned.interval(metric.name)
    )
    default = figure(metric, judgement.default.value(metric.name))
    gain = f"{points(metric, abs(judgement.gain))}"
    ends = between(metric, judgement.low, judgement.high)
    where = _where(found)
    match judgement.verdict:
        case Verdict.SAME:
            return (
                f"Leave {name} as it is: of {one.tries} settings that were tried none is better;"
                f" it {means} {tuned} {where}."
            )
        case Verdict.BETTER:
            return (
                f"Set {name}'s {changed}: it {means} {tuned} {where}, against {default} with its"
                f" usual settings; that is better by {gain}{ends}, beyond doubt."
            )
        case Verdict.NO_BETTER:
            return (
                f"Leave {name} as it is: the best that was found, {changed}, is no better than its"
                f" usual settings {where}: a gain of {points(metric, judgement.gain)}{ends} is"
                f" none, as far as the data tell."
            )
        case Verdict.WORSE:
            return (
                f"Leave {name} as it is: what was best where it was tuned, {changed}, is worse"
                f" {where}, by {gain}."
            )
        case _:
            return (
                f"{name} {means} {tuned} with {changed} {where}, against {default} with its usual"
                " settings; how sure that is cannot be told from so little."
            )


def _called(metric: Metric) -> str:
    return metric.name.replace("_", " ")


def _instead(one: Tuning) -> str:
    before, after = one.judgement.default, one.judgement.tuned
    if before is after:
        return ""
    parts = [
        f"{lag_words(after.value('lag'))} instead of {abs(before.value('lag')) * 1000:.0f} ms"
        if not math.isnan(before.value("lag"))
        else lag_words(after.value("lag")),
        f"is {_cell(after, 'error')} off (RMS) instead of {_cell(before, 'error')}",
    ]
    jumps = [one.value("jumps") for one in (after, before)]
    if any(jumps):
        times = "time" if jumps[0] == 1 else "times"
        parts.append(f"jumps {jumps[0]:.0f} {times} instead of {jumps[1]:.0f}")
    leave = one.judgement.verdict in (Verdict.NO_BETTER, Verdict.WORSE)
    with_that = f"With {assignments(found_settings(one))}" if leave else "With that"
    return f"{with_that} it {', '.join(parts[:-1])} and {parts[-1]}."


def _cell(result: Result, name: str) -> str:
    return named(name).cell(result.value(name))


def _matters(one: Tuning, metric: Metric) -> str:
    if not one.influences:
        return ""
    least = _MATTERS
    if metric.name != "score":
        least = _MATTERS_SHARE * abs(one.tuned_on.tuned.value(metric.name))
    found = found_settings(one)
    great = [each for each in one.influences if each.loss >= least and each.name in found]
    flat = [each.name for each in one.influences if each.flat]
    words = ""
    if great:
        listed = [f"{each.name} ({points(metric, each.loss)})" for each in great[:_NAMED]]
        verb = "matters" if len(great) == 1 else "matter"
        words = f"{_joined(listed)} {verb}"
    if flat:
        free = f"{_joined(flat)} may be anything"
        words = f"{words}; {free}" if words else free
    return f"{words}." if words else ""


def _bounds(one: Tuning) -> str:
    found = found_settings(one)
    ends = [each for each in one.influences if each.bound and not each.flat and each.name in found]
    last = [f"{each.name} is as {each.bound} as it goes" for each in ends if each.last]
    tried = [f"{each.name}'s {each.bound} end" for each in ends if not each.last]
    words = [_joined(last), f"what is beyond {_joined(tried)} was not tried" if tried else ""]
    text = "; ".join(filter(None, words))
    return f"{text[:1].upper()}{text[1:]}." if tried and not last else f"{text}." if text else ""


def _joined(words: Sequence[str]) -> str:
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def _ranked(found: Tunings, comparison: Comparison) -> list[Finding]:
    """The advice of a comparison, with the settings of the best one."""
    labelled = zip(comparison.results, found.tunings, strict=True)
    settings = {result.label: assignments(one.settings) for result, one in labelled}
    told = comparison_verdict(comparison, settings)
    sentences = [Finding(one, detail=bool(at)) for at, one in enumerate(told)]
    if found.goal.metric.name != "score":
        first = _best_figure(found, comparison, settings)
        return [first, *_by_score(sentences), *_several(found)]
    best = comparison.advice.best
    words = settings[best.label] if best is not None else ""
    if best is not None and words and words not in sentences[0].text:
        sentences.insert(1, Finding(f"For that, set {best.label}'s {words}.", detail=True))
    return [*sentences, *_several(found)]


def _best_figure(found: Tunings, comparison: Comparison, settings: Mapping[str, str]) -> Finding:
    """Which is best in what was tuned for."""
    metric = found.goal.metric
    best = min(comparison.results, key=lambda one: found.goal.key(one.values))
    value = figure(metric, best.value(metric.name)) + between(metric, *best.interval(metric.name))
    words = settings[best.label] or "its usual settings"
    return Finding(f"Tuned for {_called(metric)}, {best.label} is best with {words}: {value}.")


def _by_score(sentences: Sequence[Finding]) -> list[Finding]:
    told = [one.text for one in sentences]
    return [Finding(f"By the score: {' '.join(told)}", detail=True)] if told else []


def _several(found: Tunings) -> list[Finding]:
    groups: dict[Verdict, list[str]] = {}
    for one in found.tunings:
        groups.setdefault(one.judgement.verdict, []).append(one.strategy)
    words = []
    better, leave = groups.get(Verdict.BETTER, []), []
    for verdict in (Verdict.NO_BETTER, Verdict.SAME, Verdict.WORSE):
        leave += groups.get(verdict, [])
    if better:
        words.append(f"tuning helps {len(better)} of {len(found.tunings)} beyond doubt")
    if leave:
        names = _joined(leave if len(leave) <= _NAMED else [*leave[:_NAMED], "others"])
        words.append(f"no better than with their usual settings: {names}")
    if found.interrupted:
        words.append("it was interrupted: more tries may find better settings")
    text = "; ".join(words)
    return [Finding(f"{text[:1].upper()}{text[1:]}.", detail=True)] if text else []


def usage(strategy: str, settings: Mapping[str, Value]) -> list[tuple[str, str]]:
    """The settings in every form that takes them: where, and what to write there."""
    short = " ".join(f"--set {name}={written(value)}" for name, value in settings.items())
    listed = ", ".join(f'"{strategy}.{name}={written(value)}"' for name, value in settings.items())
    python = "".join(
        f", {name}={written(value) if not isinstance(value, str) else repr(value)}"
        for name, value in settings.items()
    ).replace("'", '"')
    return [
        ("replay", f"-s {strategy} {short}".rstrip()),
        ("compare", f"-s {strategy} {set_words(strategy, settings)}".rstrip()),
        ("config.toml", f"set = [{listed}]"),
        ("Python", f'strategy("{strategy}"{python})'),
    ]


def story(found: Tunings) -> list[str]:
    """What was tuned on what, judged on what, and how much was tried."""
    divided, tries = found.divided, sum(one.tries for one in found.tunings)
    first = divided.tuned
    if divided.by == "time":
        (begin, _), (middle, end) = first.span(), divided.judged.span()  # type: ignore[union-attr]
        of = f" of {first.names[0]}" if len(first.names) == 1 and first.names[0] else ""
        if len(first.names) > 1:
            of = f" of each of {len(first.names)} recordings"
        parts = (
            f"Tuned on the first half{of} ({begin:.4g} to {first.span()[1]:.4g} s), as if it had"
            f" ended there; judged on the rest ({middle:.4g} to {end:.4g} s)."
        )
    elif divided.judged is not None:
        parts = (
            f"Tuned on {_counted(first.names)}; judged on {_counted(divided.judged.names)}, which"
            " had no part in it."
        )
    else:
        parts = (
            f"Tuned and judged on the same ({_counted(first.names)}): on others the gain may be"
            " less."
        )
    return [
        parts,
        f"Tuned for {_called(found.goal.metric)}: {tries} settings were tried; the same --seed"
        f" ({found.seed}) finds the same.",
    ]


def _counted(names: Sequence[str]) -> str:
    listed = ", ".join(filter(None, names[:3]))
    if len(names) > 3:
        listed += ", ..."
    if not listed:
        return "one recording"
    return f"{len(names)} ({listed})" if len(names) > 1 else listed
