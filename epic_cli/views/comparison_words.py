"""What a comparison has found, in words: the ranking, what it is based on, and its notes."""

from __future__ import annotations

import math
from collections.abc import Sequence

from epic_cli.analysis.certainty.bootstrap import DRAWS, FEWEST_UNITS
from epic_cli.analysis.certainty.uncertainty import Certainty, Unit
from epic_cli.analysis.compare import Comparison, Result
from epic_cli.analysis.conditions import Condition
from epic_cli.analysis.digits import three_digits
from epic_cli.analysis.notes import (
    Adjusted,
    AllAlike,
    Bridged,
    Cut,
    CutOut,
    Flaw,
    LeftOut,
    Note,
    NothingJudged,
    NotJudged,
    Outages,
    ResultNote,
    StatesLeftOut,
    TickHides,
    TruthNote,
    Unjudged,
    Unusable,
    VelocitiesReplaced,
)
from epic_cli.analysis.score import formula
from epic_cli.analysis.truth import Origin
from epic_cli.views.advice_words import Finding, ranking
from epic_cli.views.numbers import counted

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
    Flaw.NEEDS_ARRIVALS: "not ranked: needs arrival times, and there are none",
    Flaw.TRUTH_AT_REST: "no score and no lag: the truth does not move",
    Flaw.DIVERGED: "it diverges: it is drawn up to {beyond} outside of a movement that is {extent}"
    " across",
    Flaw.LAG_UNKNOWN: "the lag cannot be told, since no shift in time fits better than those around"
    " it: it counts as 5 s",
    Flaw.LAG_AMBIGUOUS: "the movement repeats itself: the lag may as well be {lags} ms",
    Flaw.UNDRAWN: "it draws nothing in {rows} of {judged} rows, which count as holding the last"
    " state received",
}

#: So many notes of single recordings are shown.
MOST_NOTES = 5

__all__ = ["Finding", "ranking"]

#: What stands behind a score, or a lag, that is to be read with care.
MARKS = {Flaw.DIVERGED: "!", Flaw.NEEDS_ARRIVALS: "!", Flaw.UNDRAWN: "!"}
LAG_MARKS = {Flaw.LAG_UNKNOWN: "?", Flaw.LAG_AMBIGUOUS: "?"}


# ---------------------------------------------------------------- notes


def note_words(note: Note) -> str:
    """A note about an entity, without a full stop."""
    match note:
        case NotJudged():
            return f"{_called(note.entity)}not judged: {why(note)}"
        case Outages():
            words = f"{counted(note.count, 'outage')} of the network ({note.seconds:.3g} s"
            words += f", the longest {note.longest:.3g} s)" if note.count > 1 else ")"
            end = "judged" if note.judged else "what was drawn meanwhile cannot be judged"
            return f"{_called(note.entity)}{words}: {end}" + (
                "" if note.judged else " without a given truth"
            )
        case TickHides():
            return (
                f"a row every {note.tick * 1000:.3g} ms hides what a player sees between packets"
                f" that come every {note.interval * 1000:.3g} ms; a screen has one every 16.7 ms"
            )
        case AllAlike():
            return (
                f"all {note.networks} networks came to the same, since nothing in them is random:"
                " one of them is judged"
            )
        case Adjusted():
            return _called(note.entity) + truth_words(note.what)


def truth_words(note: TruthNote) -> str:
    """What was done to a truth before it was used."""
    match note:
        case StatesLeftOut():
            return f"{counted(note.count, 'state')} left out: {_LEFT_OUT[note.reason]}"
        case CutOut():
            seconds = f" ({note.seconds:.3g} s)" if note.cut is Cut.GAP else ""
            return f"{counted(note.count, _CUTS[note.cut])} cut out{seconds}"
        case Bridged():
            return (
                f"{counted(note.count, 'longer interval')} ({note.seconds:.3g} s) bridged by the"
                " curve: what happened meanwhile cannot be seen"
            )
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
    return _FLAWS[note.flaw].format(
        rows=note.rows,
        judged=note.judged,
        error=note.error,
        beyond=three_digits(note.beyond),
        extent=three_digits(note.extent),
        lags=", ".join(f"{one * 1000:.0f}" for one in note.lags[:3]),
    )


def not_enough_words(error: ValueError) -> str:
    """Why nothing at all can be said."""
    if not isinstance(error, NothingJudged) or not error.notes:
        return str(error)
    return "; ".join(_called(note.entity) + why(note) for note in error.notes)


def _called(entity: str) -> str:
    return f"{entity}: " if entity else ""


# ---------------------------------------------------------------- story


def story(comparison: Comparison, results: Sequence[Result]) -> list[str]:
    """What was compared with what, what was left out, and how the score is made."""
    weights = ", ".join(
        f"{name} {value:g}" for name, value in comparison.weights._asdict().items() if value
    )
    rule = formula(comparison.weights)
    waits = [f"{wait:.3g}" for wait in (min(comparison.warm_ups), max(comparison.warm_ups))]
    lines = [
        f"Truth: {_ORIGINS[comparison.origin]}.",
        f"Rows: {comparison.rows} of {comparison.all_rows} are judged, one every"
        f" {three_digits(comparison.tick * 1000)} ms; the first"
        f" {' to '.join(dict.fromkeys(waits))} s of each unbroken movement do not count.",
        f"{rule[0].upper()}{rule[1:]}. Weights: {weights}.",
    ]
    lines += (
        [certainty_words(comparison.certainty, comparison.runs_are)] if comparison.certainty else []
    )
    lines += [f"Note: {note_words(note)}." for note in comparison.notes]
    lines += _of_recordings(comparison)
    noted: dict[str, list[str]] = {}
    for one in results:
        place = f" ({one.place})" if one.place else ""
        for note in one.notes:
            noted.setdefault(result_words(note), []).append(f"{one.label}{place}")
    lines += [f"Note: {', '.join(who)}: {words}." for words, who in noted.items()]
    return lines


def certainty_words(certainty: Certainty, runs_are: str) -> str:
    """What the intervals rest on."""
    if certainty.unit is Unit.NOTHING:
        return (
            f"No intervals: {counted(certainty.units, 'independent piece')} of the data, where"
            f" {FEWEST_UNITS} are needed; a longer recording, more of them, or --seeds would do."
        )
    pieces = {
        Unit.RUN: f"{certainty.units} {runs_are}",
        Unit.BLOCK: f"{certainty.units} blocks of {certainty.seconds:.2g} s",
        Unit.BLOCK_AND_ENTITY: f"{certainty.units} blocks of {certainty.seconds:.2g} s and of"
        f" {certainty.entities} entities",
    }[certainty.unit]
    return (
        f"Intervals: {certainty.confidence:.0%}, from {DRAWS} bootstrap draws of {pieces};"
        " differences are paired, and hold for all strategies at once. Rank: one more than how many"
        " are better beyond doubt.".replace("%,", " %,")
    )


def _of_recordings(comparison: Comparison) -> list[str]:
    """What is noted of some recordings only, and which are left out."""
    lines = [
        f"Left out: {one.recording}: {not_enough_words(one.error)}." for one in comparison.skipped
    ]
    notes = [f"Note: {name}: {note_words(note)}." for name, note in comparison.notes_of]
    if len(notes) > MOST_NOTES:
        more = f"Note: {len(notes) - MOST_NOTES} more of the kind."
        notes[MOST_NOTES:] = [more]
    return lines + notes


def failure_words(condition: Condition, result: Result) -> str:
    """Which figure makes a condition hold."""
    figures = result.figures()
    if not condition.known(figures):
        why = f": {result_words(result.notes[0])}" if result.notes else ""
        return (
            f"{result.label}: {condition.metric} cannot be told, which is no better than"
            f" {condition.text}{why}"
        )
    low, high = result.interval(condition.metric)
    between = "" if math.isnan(low) else f" ({three_digits(low)} to {three_digits(high)})"
    return (
        f"{result.label}: {condition.metric} is {three_digits(figures[condition.metric])}{between}:"
        f" {condition.text}"
    )
