"""What a comparison advises, in words: five sentences at most."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from epic_cli.analysis.advice import Advice, Verdict
from epic_cli.analysis.certainty.ranking import RESOLUTION
from epic_cli.analysis.certainty.uncertainty import Unit
from epic_cli.analysis.digits import one_decimal, three_digits
from epic_cli.analysis.drawn.shown import LABEL as DRAWN
from epic_cli.analysis.metrics import named
from epic_cli.analysis.notes import Flaw

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from epic_cli.analysis.advice import Result
    from epic_cli.analysis.compare import Comparison

#: So many of those that cannot be told apart are named.
_NAMED = 3

#: A jerk of more times the truth's says that this has hardly any.
_MANY = 1000

_DEAREST = {
    "accuracy": "what is left of the error without its lag, {off:.2g} s of movement",
    "smoothness": "its jerk{jerk}",
    "latency": "its lag",
    "recovery": "the time that it is wrong after teleports and outages",
    "overshoot": "its overshoot",
    "backward": "its steps back",
}

#: What a kind of game is called where it is not "a NAME game".
_GAMES = {"shooter": "a shooter", "observer": "an observer"}

_BAD = {
    "accuracy": "even the best one is {off:.2g} s of movement off when its lag is taken away",
    "smoothness": "even the best one does not move smoothly",
    "latency": "even the best one {lag}",
    "recovery": "even the best one is wrong for long after teleports or outages",
    "overshoot": "even the best one runs ahead of the truth",
    "backward": "even the best one goes backward",
}


class Finding(NamedTuple):
    """A sentence of the advice; a ``detail`` belongs to the one above it."""

    text: str
    detail: bool = False


def ranking(comparison: Comparison, settings: Mapping[str, str] | None = None) -> list[Finding]:
    """Which strategy, how surely, what it costs, and what would change the answer.

    ``settings`` are those of strategies by label, as they are written, where labels do not say.
    """
    found = comparison.advice
    if found.verdict is Verdict.NOTHING or found.best is None:
        return []
    sentences = [
        _verdict(found, found.best, settings or {}),
        _next(found),
        _costs(found, found.best, comparison.resolution),
        _worst(found, comparison),
        _change(found, comparison),
        _drawn(found.best, comparison),
    ]
    return [Finding(one, detail=bool(at)) for at, one in enumerate(filter(None, sentences))]


def _verdict(found: Advice, best: Result, settings: Mapping[str, str]) -> str:
    score = f"{one_decimal(best.value('score'))} of 100"
    low, high = best.interval("score")
    if not math.isnan(low):
        score += f" ({one_decimal(low)} to {one_decimal(high)})"
    match found.verdict:
        case Verdict.NONE_GOOD:
            return (
                f"None of these is good here: {_why_bad(found, best)}. {best.label} scores {score}."
            )
        case Verdict.TIE:
            several = _listed([best, *found.tied])
            return f"{several} cannot be told apart; {best.label} has the highest score, {score}."
        case Verdict.WINNER:
            if best.label == DRAWN:
                return f"Keep what the game drew: it scores {score}, beyond doubt the most."
            return f"Take {_named(best, settings)}: it scores {score}, beyond doubt the most."
        case Verdict.UNSURE:
            return f"Highest score: {best.label}, {score}; how sure that is cannot be told."
        case _:
            return f"{best.label} scores {score}."


def _drawn(best: Result, comparison: Comparison) -> str:
    """Where what the game drew stands, unless it is the best."""
    shown = next((one for one in comparison.results if one.label == DRAWN), None)
    if shown is None or best.label == DRAWN or not shown.ranked:
        return ""
    score = f"{one_decimal(shown.value('score'))}"
    if math.isnan(shown.value("score")):
        return ""
    rank = f", rank {shown.rank}" if shown.rank else ""
    return f"What the game drew scores {score}{rank}."


def _named(result: Result, settings: Mapping[str, str]) -> str:
    if settings.get(result.label):
        return f"{result.label} with {settings[result.label]}"
    return result.label if "+" in result.label else f"{result.label} with its usual settings"


def _listed(results: Sequence[Result]) -> str:
    names = [one.label for one in results]
    if len(names) > _NAMED + 1:
        names[_NAMED:] = [f"{len(names) - _NAMED} others"]
    return f"{', '.join(names[:-1])} and {names[-1]}"


def _next(found: Advice) -> str:
    after = found.next
    gap = after.standing.gap if after else None
    if after is None or gap is None:
        return ""
    words = "is" if found.verdict is Verdict.WINNER else "is the first that is surely"
    points = f"{one_decimal(gap.points)} points ({one_decimal(gap.low)} to {one_decimal(gap.high)})"
    if gap.low <= 0:  # told by another, not by the best itself
        return ""
    return f"{after.label} {words} behind, by {points}."


def _costs(found: Advice, best: Result, resolution: float) -> str:
    off = named("error").cell(best.value("error"), resolution)
    parts = [lag_words(best.value("lag")), "has no error" if off == "0" else f"is {off} off (RMS)"]
    jumps = best.value("jumps")
    if jumps > 0:
        parts.append(f"jumps {jumps:.0f} time{'' if jumps == 1 else 's'}")
    words = f"It {', '.join(parts[:-1])} and {parts[-1]}"
    if found.verdict is Verdict.NONE_GOOD or best.value("score") > 100 - RESOLUTION:
        return f"{words}."
    return f"{words}; what costs it most is {_filled(_DEAREST[found.weakest], best)}."


def _worst(found: Advice, comparison: Comparison) -> str:
    if found.worst is None:
        return ""
    score = one_decimal(found.worst.value("score"))
    count, what = len(comparison.recordings), comparison.runs_are
    return f"Its worst of {count} {what} is {found.worst.recording}: it scores {score} there."


def _change(found: Advice, comparison: Comparison) -> str:
    parts = []
    others: dict[str, list[str]] = {}
    for game, label in found.other_games:
        others.setdefault(label, []).append(game)
    if others:
        wins = [f"{label} leads for {_either(games)}" for label, games in others.items()]
        parts.append(f"With what matters in other games, {', '.join(wins)} (--game)")
    certainty = comparison.certainty
    if found.verdict in (Verdict.TIE, Verdict.UNSURE) and certainty is not None:
        more = "more seeds" if certainty.unit is Unit.RUN else "longer or more recordings"
        parts.append(f"{more} would tell more")
    return f"{'; '.join(parts)[:1].upper()}{'; '.join(parts)[1:]}." if parts else ""


def _either(games: Sequence[str]) -> str:
    return " or ".join(_GAMES.get(one, f"a {one} game") for one in games)


def _why_bad(found: Advice, best: Result) -> str:
    if best.has(Flaw.DIVERGED):
        return "each of them diverges"
    if found.weakest == "latency" and math.isnan(best.value("lag")):
        return "nobody can tell how late even the best one draws"
    return _filled(_BAD[found.weakest], best)


def _filled(words: str, best: Result) -> str:
    speed, jerk = best.value("speed"), best.value("jerk")
    return words.format(
        off=best.value("residual") / speed if speed else math.nan,
        # of a truth without any, it is no multiple that means something
        jerk=f", {three_digits(jerk)} times the truth's" if 1 < jerk < _MANY else "",
        lag=lag_words(best.value("lag")),
    )


def lag_words(seconds: float) -> str:
    """``draws 20 ms late``."""
    if math.isnan(seconds):
        return "has a lag that cannot be told"
    if abs(seconds) < 0.0005:
        return "draws without lag"
    return f"draws {abs(seconds) * 1000:.0f} ms {'late' if seconds > 0 else 'early'}"
