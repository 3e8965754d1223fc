"""What tuning has found, in sentences: the decision, and what it rests on."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from epic_cli.engine.parameter_base import Value
from epic_cli.engine.text.widths import some
from epic_cli.jobs.compare import sentences as compared
from epic_cli.jobs.tune.run import GainKind, Tuning, Tunings
from epic_cli.metrics import named
from epic_cli.metrics.comparison import Comparison, Result
from epic_cli.metrics.digits import counted, listed, one_decimal, reach
from epic_cli.metrics.metric import Metric

#: So many settings are named in a sentence.
_NAMED = 4

#: A setting whose default costs more points than this, or this share of another figure, matters.
_MATTERS, _MATTERS_SHARE = 0.5, 0.01


def written(value: Value) -> str:
    """A setting's value as options take it."""
    return value if isinstance(value, str) else f"{value:.12g}"


def assignments(settings: Mapping[str, Value]) -> str:
    """``a=1 b=on``."""
    return " ".join(f"{name}={written(value)}" for name, value in settings.items())


def set_words(strategy: str, settings: Mapping[str, Value]) -> str:
    """``--set`` with each setting of a strategy."""
    return " ".join(f"--set {strategy}.{name}={written(value)}" for name, value in settings.items())


def found_settings(one: Tuning) -> dict[str, Value]:
    """What tuning has changed."""
    return {name: value for name, value in one.settings.items() if name not in one.held}


def figure(metric: Metric, value: float) -> str:
    """A figure in a sentence: the score with one decimal, times in ms."""
    if math.isnan(value):
        return "unknown"
    if metric.name == "score":
        return one_decimal(value)
    if metric.unit == "s":
        return f"{value * 1000:.0f} ms"
    return metric.format(value)


def points(metric: Metric, value: float) -> str:
    """A difference of a figure: points of score, otherwise as the figure is written."""
    return f"{one_decimal(value)} points" if metric.name == "score" else figure(metric, value)


def called(metric: Metric) -> str:
    """The metric's name in a sentence."""
    return metric.name.replace("_", " ")


def _between(metric: Metric, low: float, high: float) -> str:
    """`` (58.0 to 61.2)``; empty: unknown."""
    between = reach(low, high, lambda value: figure(metric, value))
    return f" ({between})" if between else ""


# ---------------------------------------------------------------- one strategy


def verdict(found: Tunings) -> list[str]:
    """The sentences, the decision first."""
    if found.comparison is not None:
        return _ranked(found, found.comparison)
    (one,) = found.tunings
    sentences = [
        *compared.in_doubt(one.evaluation.comparison),
        _decision(one, found),
        _figures(one, found),
        _changes(one),
        _matters(one, found.goal.metric),
        _bounds(one),
        "Interrupted: more tries may find better settings." if one.interrupted else "",
    ]
    return list(filter(None, sentences))


def _decision(one: Tuning, found: Tunings) -> str:
    metric, evaluation = found.goal.metric, one.evaluation
    name, changed = one.strategy, assignments(found_settings(one))
    gain = points(metric, abs(evaluation.gain)) + _between(metric, evaluation.low, evaluation.high)
    sure = compared.confidence(evaluation.comparison)
    match evaluation.kind:
        case GainKind.SAME:
            return f"Keep the defaults of {name}: none of {one.trials} tried settings is better."
        case GainKind.BETTER:
            return f"Set {changed} for {name}: clearly better{sure}, by {gain}."
        case GainKind.NO_BETTER:
            gain = points(metric, evaluation.gain)
            gain += _between(metric, evaluation.low, evaluation.high)
            return (
                f"Keep the defaults of {name}: the best settings found, {changed}, are"
                f" indistinguishable from them{sure}, gain {gain}."
            )
        case GainKind.WORSE:
            return (
                f"Keep the defaults of {name}: {changed} was best where it was tuned, and is"
                f" clearly worse{sure} {_where(found)}."
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
                    f" better {_where(found)}; too little data to say how surely."
                )
            return words


def _figures(one: Tuning, found: Tunings) -> str:
    metric, evaluation = found.goal.metric, one.evaluation
    name, ends = called(metric), evaluation.tuned.interval(metric.name)
    value = figure(metric, evaluation.tuned.value(metric.name)) + _between(metric, *ends)
    default = ""
    if evaluation.kind is not GainKind.SAME:
        default = f"; {figure(metric, evaluation.default.value(metric.name))} with the defaults"
    return f"{name[0].upper()}{name[1:]} {value} {_where(found)}{default}."


def _where(found: Tunings) -> str:
    return {
        "time": "on the second half, which was not used for tuning",
        "recording": "on recordings that were not used for tuning",
        "none": "on the data that it was tuned on",
    }[found.divided.by]


def _changes(one: Tuning) -> str:
    before, after = one.evaluation.default, one.evaluation.tuned
    if before is after:
        return ""
    parts = [f"RMS error {_cell(after, 'error')} instead of {_cell(before, 'error')}"]
    lags = [compared.lag_words(each.value("lag")) for each in (after, before)]
    if lags[0] != lags[1] and lags[0].split()[-1] == lags[1].split()[-1]:
        lags[0] = lags[0].rpartition(" ")[0]  # "220 ms instead of 200 ms behind"
    parts.append(lags[0] if lags[0] == lags[1] else f"{lags[0]} instead of {lags[1]}")
    jumps = [each.value("jumps") for each in (after, before)]
    if any(jumps):
        parts.append(f"{jumps[0]:.0f} visible jumps instead of {jumps[1]:.0f}")
    return f"{'With those: ' if one.evaluation.keeps else ''}{', '.join(parts)}."


def _cell(result: Result, name: str) -> str:
    return named(name).cell(result.value(name))


def _matters(one: Tuning, metric: Metric) -> str:
    least = _MATTERS
    if metric.name != "score":
        least = _MATTERS_SHARE * abs(one.tuned_on.tuned.value(metric.name))
    found = found_settings(one)
    great = [each for each in one.influences if each.loss >= least and each.name in found]
    words = []
    if great:
        names = [f"{each.name} ({points(metric, each.loss)})" for each in great[:_NAMED]]
        words.append(f"{listed(names)} {'matters' if len(great) == 1 else 'matter'} most")
    if flat := [each.name for each in one.influences if each.flat]:
        words.append(f"{listed(flat)} {'makes' if len(flat) == 1 else 'make'} no difference")
    return f"{'; '.join(words)}." if words else ""


def _bounds(one: Tuning) -> str:
    found = found_settings(one)
    ends = [each for each in one.influences if each.bound and not each.flat and each.name in found]
    last = [f"{each.name} is as {each.bound} as it goes" for each in ends if each.last]
    tried = [f"{each.name}'s {each.bound} end" for each in ends if not each.last]
    words = [*filter(None, [listed(last)])]
    if tried:
        words.append(f"nothing was tried beyond {listed(tried)}")
    return f"{'; '.join(words)}." if words else ""


# ---------------------------------------------------------------- several strategies


def _ranked(found: Tunings, comparison: Comparison) -> list[str]:
    """The verdict of a comparison, with the settings of the best one."""
    labelled = zip(comparison.results, found.tunings, strict=True)
    settings = {result.label: assignments(one.settings) for result, one in labelled}
    sentences = compared.verdict(comparison, settings)
    if found.goal.metric.name != "score":
        by_score = [f"By the score: {' '.join(sentences)}"] if sentences else []
        return [_best_figure(found, comparison, settings), *by_score, *_several(found)]
    best = comparison.advice.best
    if best is not None and settings[best.label] and settings[best.label] not in sentences[0]:
        sentences.insert(1, f"For {best.label}, set {settings[best.label]}.")
    return [*sentences, *_several(found)]


def _best_figure(found: Tunings, comparison: Comparison, settings: Mapping[str, str]) -> str:
    """Which is best in what was tuned for."""
    metric = found.goal.metric
    best = min(comparison.results, key=lambda one: found.goal.key(one.values))
    value = figure(metric, best.value(metric.name)) + _between(metric, *best.interval(metric.name))
    words = settings[best.label] or "its defaults"
    return f"Tuned for {called(metric)}, {best.label} is best with {words}: {value}."


def _several(found: Tunings) -> list[str]:
    groups: dict[GainKind, list[str]] = {}
    for one in found.tunings:
        groups.setdefault(one.evaluation.kind, []).append(one.strategy)
    words = []
    if better := groups.get(GainKind.BETTER, []):
        words.append(f"Tuning clearly helps {len(better)} of {len(found.tunings)}.")
    kept = (GainKind.NO_BETTER, GainKind.SAME, GainKind.WORSE)
    if keep := [name for verdict in kept for name in groups.get(verdict, [])]:
        names = listed(keep if len(keep) <= _NAMED else [*keep[:_NAMED], "others"])
        words.append(f"No better than with their defaults: {names}.")
    if found.interrupted:
        words.append("Interrupted: more tries may find better settings.")
    return [" ".join(words)] if words else []


# ---------------------------------------------------------------- what it rests on


def basis(found: Tunings) -> list[str]:
    """What was tuned on what, judged on what, and how much was tried."""
    comparison = found.comparison or found.tunings[0].evaluation.comparison
    tries = sum(one.trials for one in found.tunings)
    lines = [
        _parts(found),
        f"Tuned for {called(found.goal.metric)}: {counted(tries, 'setting')} tried; the same --seed"
        f" ({found.spec.compare.seed}) finds the same.",
    ]
    if found.untuned:
        lines.append(f"Without settings worth tuning: {', '.join(found.untuned)}.")
    if found.unfit:
        lines.append(f"Left out, since there are no arrival times: {', '.join(found.unfit)}.")
    return lines + compared.basis(comparison, comparison.results)


def _parts(found: Tunings) -> str:
    divided = found.divided
    first = divided.tuned
    if divided.evaluated is None:
        return f"Tuned and judged on the same ({_recordings(first.names)}): expect less on others."
    if divided.by == "time":
        (begin, end), (middle, last) = first.span(), divided.evaluated.span()
        of = f" of {first.names[0]}" if len(first.names) == 1 and first.names[0] else ""
        if len(first.names) > 1:
            of = f" of each of {len(first.names)} recordings"
        return (
            f"Tuned on the first half{of} ({begin:.4g} to {end:.4g} s), as if it ended there;"
            f" judged on the rest ({middle:.4g} to {last:.4g} s)."
        )
    judged = _recordings(divided.evaluated.names)
    return f"Tuned on {_recordings(first.names)}; judged on {judged}, which were kept apart."


def _recordings(names: Sequence[str]) -> str:
    listed = some(filter(None, names), 3)
    if not listed:
        return "one recording"
    return f"{len(names)} recordings ({listed})" if len(names) > 1 else listed


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
