"""The notes of a comparison in words: what it rests on, was cut out, or cannot be judged."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, cast

from epic_cli.engine.text.widths import some
from epic_cli.metrics.certainty import DRAWS, FEWEST_UNITS, Certainty, Unit
from epic_cli.metrics.digits import counted, three_digits
from epic_cli.metrics.notes import (
    Adjusted,
    AllAlike,
    Bridged,
    Cut,
    CutOut,
    Excluded,
    Flaw,
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

#: So many notes of one kind are shown.
MOST_NOTES = 5

_CUTS = {
    Cut.MARKED_TELEPORT: "marked teleport",
    Cut.UNMARKED_TELEPORT: "unmarked teleport",
    Cut.GAP: "gap",
}

_LEFT_OUT = {
    Excluded.NOT_FINITE: "not finite",
    Excluded.SAME_TIME: "a later one has the same time",
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
    Flaw.LAG_UNKNOWN: "the lag is unknown, since no shift in time fits better than those around it:"
    " it counts as 5 s",
    Flaw.LAG_AMBIGUOUS: "the movement repeats itself: the lag may as well be {lags} ms",
    Flaw.UNDRAWN: "it draws nothing in {rows} of {judged} rows, which count as holding the last"
    " state received",
}

#: What stands behind a score, or a lag, that is to be read with care.
MARKS = {
    "score": {Flaw.DIVERGED: "!", Flaw.NEEDS_ARRIVALS: "!", Flaw.UNDRAWN: "!"},
    "lag": {Flaw.LAG_UNKNOWN: "?", Flaw.LAG_AMBIGUOUS: "?"},
}


def note_words(note: Note) -> str:
    """A note about an entity, without a full stop."""
    match note:
        case NotJudged():
            return f"{_called(note.entity)}not judged: {why(note)}"
        case Outages():
            words = f"{counted(note.count, 'outage')} without a packet ({note.seconds:.3g} s"
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
                f"all {note.networks} networks gave the same, since nothing in them is random:"
                " one of them is judged"
            )
        case Adjusted():
            return _called(note.entity) + truth_words(note.what)


def notes_words(notes: Sequence[Note]) -> list[str]:
    """The notes without full stops; what is true of several entities is said once."""
    noted: dict[str, list[str]] = {}
    for note in notes:
        entity = getattr(note, "entity", "")
        words = note_words(cast("Note", replace(cast("Any", note), entity="")) if entity else note)
        noted.setdefault(words, []).append(entity)
    return at_most(f"{_called(some(who))}{words}" for words, who in noted.items())


def at_most(notes: Iterable[str]) -> list[str]:
    """The first few of them, and how many others there are."""
    first, more = list(notes), 0
    first, more = first[:MOST_NOTES], len(first[MOST_NOTES:])
    return [*first, f"{more:,} more of this kind"] if more else first


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
            known = some(note.known)
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


def certainty_words(certainty: Certainty, runs_are: str) -> str:
    """What the intervals rest on."""
    if certainty.unit is Unit.NOTHING:
        return (
            f"No intervals: {counted(certainty.units, 'independent piece')} of data, and"
            f" {FEWEST_UNITS} are needed; use a longer recording, more of them, or --seeds."
        )
    kind = runs_are if certainty.unit is Unit.RUN else f"blocks of {certainty.seconds:.2g} s"
    both = certainty.unit is Unit.BLOCK_AND_ENTITY
    pieces = f"{certainty.units} {kind}{f' and of {certainty.entities} entities' if both else ''}"
    words = (
        f"Intervals: {certainty.confidence * 100:g} %, from {DRAWS} bootstrap draws of {pieces};"
        " differences are paired, and hold for all strategies at once. Rank: 1 + number clearly"
        " better."
    )
    if certainty.rare.few:
        words += f" One end is open, and nothing clearly best: {rare_words(certainty)}."
    return words


def rare_words(certainty: Certainty) -> str:
    """``only 3 bursts of losses and 2 changes of the delay in it``."""
    rare = certainty.rare
    if not rare.events:
        return f"no losses, but in {rare.watched:.2g} s only"
    bursts = rare.bursts if rare.linked else 0
    parts = ((bursts, "burst", "losses"), (rare.changes, "change", "the delay"))
    words = " and ".join(f"{counted(count, word)} of {of}" for count, word, of in parts if count)
    return f"only {words} in it"


def not_enough_words(error: ValueError) -> str:
    """Why nothing at all can be said."""
    if not isinstance(error, NothingJudged) or not error.notes:
        return str(error)
    reasons: dict[str, list[str]] = {}
    for note in error.notes:
        reasons.setdefault(why(note), []).append(note.entity)
    return "; ".join(at_most(_called(some(who)) + words for words, who in reasons.items()))


def _called(entity: str) -> str:
    return f"{entity}: " if entity else ""
