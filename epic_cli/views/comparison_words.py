"""What a comparison has found, in words: the ranking, what it is based on, and its notes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from epic_cli.analysis.compare import Comparison, Result
from epic_cli.analysis.digits import one_decimal, three_digits
from epic_cli.analysis.notes import (
    Cut,
    CutOut,
    Flaw,
    LeftOut,
    Note,
    NothingJudged,
    NotJudged,
    ResultNote,
    StatesLeftOut,
    TruthNote,
    Unjudged,
    Unusable,
    VelocitiesReplaced,
)
from epic_cli.analysis.score import FORMULA
from epic_cli.analysis.truth import Origin

_ORIGINS: dict[Origin, str] = {
    "given": "given",
    "rebuilt": "rebuilt with hindsight from the packets themselves: cubic Hermite through"
    " positions and velocities",
}

_CUTS = {
    Cut.MARKED_TELEPORT: "marked teleport",
    Cut.UNMARKED_TELEPORT: "unmarked teleport",
    Cut.GAP: "gap",
}

_LEFT_OUT = {
    LeftOut.NOT_FINITE: "not finite",
    LeftOut.SAME_TIME: "a later one has the same time",
}

_UNUSABLE = {
    Unusable.ABSENT: "some packets have none",
    Unusable.NOT_FINITE: "some are not finite",
    Unusable.ALL_ZERO: "all are zero",
    Unusable.MISMATCH: "they differ from these by {:.0%} (median)",
}

_FLAWS = {
    Flaw.FAILED: "it failed {error}",
    Flaw.STOPPED: "stopped",
    Flaw.NOT_FINITE: "it draws numbers that are not finite in {rows} of the rows that count",
    Flaw.NOTHING_DRAWN: "it draws nothing in the rows that count",
    Flaw.TRUTH_AT_REST: "no score and no lag: the truth does not move",
    Flaw.LAG_UNKNOWN: "no score: the lag is unknown, no shift in time fits better than the others",
}


# ---------------------------------------------------------------- notes


def note_words(note: Note) -> str:
    """A note about an entity, without a full stop."""
    words = f"not judged: {why(note)}" if isinstance(note, NotJudged) else truth_words(note.what)
    return _called(note.entity) + words


def truth_words(note: TruthNote) -> str:
    """What was done to a truth before it was used."""
    match note:
        case StatesLeftOut():
            return f"{_count(note.count, 'state')} left out: {_LEFT_OUT[note.reason]}"
        case CutOut():
            seconds = f" ({note.seconds:.3g} s)" if note.cut is Cut.GAP else ""
            return f"{_count(note.count, _CUTS[note.cut])} cut out{seconds}"
        case VelocitiesReplaced():
            reason = _UNUSABLE[note.reason].format(note.mismatch)
            return f"velocities taken from the positions: {reason}"


def why(note: NotJudged) -> str:
    """Why an entity cannot be judged, with the numbers that say so."""
    rows = "its rows go from {:.3f} to {:.3f} s".format(*note.rows)
    match note.reason:
        case Unjudged.TOO_FEW_STATES:
            return f"{'one' if note.states else 'no'} usable state: a movement needs two"
        case Unjudged.NOT_IN_TRUTH:
            known = ", ".join(note.known[:5])
            return "it is not in the truth, " + (
                f"whose entities are {known}" if known else "which names no entity"
            )
        case Unjudged.NO_ROWS:
            return "no packet has a place on the clock"
        case Unjudged.NO_OVERLAP:
            truth = "the truth from {:.3f} to {:.3f} s".format(*note.truth)
            return f"{rows}, {truth}: they do not overlap"
        case Unjudged.WARM_UP:
            return (
                f"{rows}, and none of them is {note.warm_up:g} s or more into an unbroken movement"
                " of the truth ({:.3f} to {:.3f} s)".format(*note.truth)
            )


def result_words(note: ResultNote) -> str:
    """What is wrong with one candidate's result."""
    return _FLAWS[note.flaw].format(rows=note.rows, error=note.error)


def not_enough_words(error: ValueError) -> str:
    """Why nothing at all can be said."""
    if not isinstance(error, NothingJudged) or not error.notes:
        return str(error)
    return "; ".join(_called(note.entity) + why(note) for note in error.notes)


def _called(entity: str) -> str:
    return f"{entity}: " if entity else ""


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


# ---------------------------------------------------------------- ranking and story


class Finding(NamedTuple):
    """A sentence of the ranking; a ``detail`` belongs to the one above it."""

    text: str
    detail: bool = False


def ranking(comparison: Comparison) -> list[Finding]:
    """Who is best, and how much worse the others are, in words."""
    judged = [one for one in comparison.results if one.values]
    if not judged:
        return []
    found: list[Finding] = []
    scored = [one for one in judged if not math.isnan(one.value("score"))]
    if scored:
        best = max(scored, key=lambda one: one.value("score"))
        score = one_decimal(best.value("score"))
        lag = _lag(best.value("lag"))
        found.append(Finding(f"Best score: {best.label}, {score} of 100; {lag}"))
    judged.sort(key=lambda one: one.value("error"))
    least = judged[0].value("error")
    found.append(Finding(f"Smallest error: {judged[0].label}, {three_digits(least)} (RMS)"))
    for one in judged[1:]:
        error = one.value("error")
        if least > 0:
            words = f"{_times(error / least)} the error of the best"
        else:
            words = f"{three_digits(error)}, the best is exact"
        found.append(Finding(f"{one.label}: {words}", detail=True))
    return found


def _times(ratio: float) -> str:
    digits = 0 if ratio >= 100 else 2 if ratio < 1.095 else 1
    return f"{ratio:.{digits}f} times"


def _lag(seconds: float) -> str:
    if math.isnan(seconds):
        return "its lag is unknown"
    if abs(seconds) < 0.0005:
        return "it draws without lag"
    return f"it draws {abs(seconds) * 1000:.0f} ms {'late' if seconds > 0 else 'early'}"


def story(comparison: Comparison, results: Sequence[Result]) -> list[str]:
    """What was compared with what, what was left out, and how the score is made."""
    weights = ", ".join(f"{name} {value:g}" for name, value in comparison.weights._asdict().items())
    lines = [
        f"Truth: {_ORIGINS[comparison.origin]}.",
        f"Rows: {comparison.rows}, one every {three_digits(comparison.tick * 1000)} ms; the first"
        f" {comparison.warm_up:.3g} s of each unbroken movement do not count.",
        f"{FORMULA[0].upper()}{FORMULA[1:]}. Weights: {weights}.",
    ]
    lines += [f"Note: {note_words(note)}." for note in comparison.notes]
    for one in results:
        if one.note:
            place = f" ({one.entity})" if one.entity else ""
            lines.append(f"Note: {one.label}{place}: {result_words(one.note)}.")
    return lines
