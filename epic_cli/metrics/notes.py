"""Notes on a comparison, as values, and their wording."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from epic_cli.engine.failures import Portable
from epic_cli.engine.text.widths import some
from epic_cli.metrics.digits import format_count, format_three_digits

# ---------------------------------------------------------------- of a truth


class Excluded(enum.Enum):
    """The reason why recorded states were left out of a truth."""

    NOT_FINITE = "not finite"
    SAME_TIME = "a later one has the same time"


@dataclass(frozen=True)
class StatesLeftOut:
    """A note: ``count`` states were left out of the truth.

    Of states with the same time, all but the last are left out.
    """

    count: int
    reason: Excluded


class Cut(enum.Enum):
    """The reason why a truth is cut between two states."""

    MARKED_TELEPORT = "marked teleport"
    UNMARKED_TELEPORT = "unmarked teleport"
    GAP = "gap"


@dataclass(frozen=True)
class CutOut:
    """A note: ``count`` intervals between states, ``seconds`` in all, are not interpolated."""

    count: int
    cut: Cut
    seconds: float


class Unusable(enum.Enum):
    """The reason why recorded velocities cannot be right."""

    ABSENT = "some packets have none"
    NOT_FINITE = "some are not finite"
    ALL_ZERO = "all are zero"
    MISMATCH = "they differ from these by {:.0%} (median)"


@dataclass(frozen=True)
class VelocitiesReplaced:
    """A note: recorded velocities were replaced by those computed from the positions.

    ``mismatch`` is the median difference of the recorded velocities, as a share of the usual speed.
    """

    reason: Unusable
    mismatch: float = 0.0


@dataclass(frozen=True)
class Bridged:
    """A note: ``count`` long intervals, ``seconds`` in all, are interpolated by a curve.

    In a truth rebuilt from packets, the movement inside is unknown.
    """

    count: int
    seconds: float


@dataclass(frozen=True)
class Rested:
    """A note: ``count`` rests, ``seconds`` in all, in which a sender of changes sent nothing."""

    count: int
    seconds: float


TruthNote = StatesLeftOut | CutOut | VelocitiesReplaced | Bridged | Rested


# ---------------------------------------------------------------- of an entity


class ExclusionReason(enum.Enum):
    """The reason why an entity cannot be judged."""

    TOO_FEW_STATES = "its truth has fewer than two usable states"
    NOT_IN_TRUTH = "it is not in the truth"
    NO_ROWS = "none of its packets has a place on the clock"
    NO_OVERLAP = "its rows and its truth do not overlap in time"
    WARM_UP = "none of its rows is past the warm-up"


@dataclass(frozen=True)
class NotJudged:
    """A note: an entity (its name may be empty) cannot be judged; with the reason, and its numbers.

    ``states`` counts the usable states of its truth, ``known`` are the names of the entities in the
    truth. ``rows`` and ``truth`` are the first and the last time of the drawn rows and of the
    truth, and in ``warm_up`` from the start rows do not count; all in seconds.
    """

    entity: str
    reason: ExclusionReason
    states: int = 0
    known: tuple[str, ...] = ()
    rows: tuple[float, float] = (0.0, 0.0)
    truth: tuple[float, float] = (0.0, 0.0)
    warm_up: float = 0.0


@dataclass(frozen=True)
class Adjusted:
    """A note: the recorded truth of an entity was changed."""

    entity: str
    what: TruthNote


@dataclass(frozen=True)
class Outages:
    """A note: ``count`` outages, ``seconds`` in all, of a moving entity; the ``longest`` (s).

    ``judged``: the truth is known during outages, so that what was drawn counts.
    """

    entity: str
    count: int
    seconds: float
    longest: float
    judged: bool


@dataclass(frozen=True)
class TickHides:
    """A note: rows every ``tick`` (s) hide movement between packets every ``interval`` (s)."""

    tick: float
    interval: float


@dataclass(frozen=True)
class AllAlike:
    """A note: ``networks`` simulated networks are equal, because nothing in them is random.

    Only one of them is judged: copies are no evidence.
    """

    networks: int


@dataclass(frozen=True)
class ClocksDiffer:
    """A note: the receiver's clock is ``offset`` (s) ahead of the sender's (fastest packet)."""

    offset: float


Note = NotJudged | Adjusted | Outages | TickHides | AllAlike | ClocksDiffer


# ---------------------------------------------------------------- of a result


class Flaw(enum.Enum):
    """The reason why a candidate lacks metric values, or has values that need care."""

    FAILED = "it failed {error}"
    STOPPED = "stopped"
    NOT_FINITE = "it draws numbers that are not finite in {rows} of the rows that count"
    NOTHING_DRAWN = "it draws nothing in the rows that count"
    NEEDS_ARRIVALS = "not ranked: needs arrival times, and there are none"
    ONE_CLOCK = "it takes the receiver's clock for the sender's, which is another here: {instead}"
    TRUTH_AT_REST = "no score and no lag: the truth does not move"
    DIVERGED = (
        "it diverges: it is drawn up to {beyond} outside of a movement that is {extent} across"
    )
    LAG_UNKNOWN = (
        "the lag is unknown, since no shift in time fits better than those around it:"
        " it counts as 5 s"
    )
    LAG_AMBIGUOUS = "the movement repeats itself: the lag may as well be {lags} ms"
    LEAPS = (
        "in {rows} of {judged} outages it ends in one leap, which costs smoothness: a longer one,"
        " after which it draws the way there in some rows, may cost less"
    )
    UNDRAWN = (
        "it draws nothing in {rows} of {judged} rows, which count as holding the last"
        " state received"
    )


#: Flaws of candidates that are not ranked.
UNRANKED = frozenset(
    (Flaw.FAILED, Flaw.STOPPED, Flaw.NOT_FINITE, Flaw.NOTHING_DRAWN, Flaw.NEEDS_ARRIVALS)
)


@dataclass(frozen=True)
class ResultNote:
    """A flaw of a result, with its numbers.

    ``rows`` of the ``judged`` rows are concerned; ``error`` says when and how the strategy failed;
    the path was drawn up to ``beyond`` outside of a movement that is ``extent`` across; ``lags``
    (s) are as plausible as the one that is reported; ``instead`` says what to do about a clock.
    """

    flaw: Flaw
    rows: int = 0
    error: str = ""
    judged: int = 0
    beyond: float = 0.0
    extent: float = 0.0
    lags: tuple[float, ...] = ()
    instead: str = ""


# ---------------------------------------------------------------- in words

#: Most notes of one kind that are shown.
MOST_NOTES = 5


#: Marks behind a score or a lag that needs care.
MARKS = {
    "score": {Flaw.ONE_CLOCK: "!", Flaw.DIVERGED: "!", Flaw.NEEDS_ARRIVALS: "!", Flaw.UNDRAWN: "!"},
    "lag": {Flaw.LAG_UNKNOWN: "?", Flaw.LAG_AMBIGUOUS: "?"},
}


def describe_note(note: Note) -> str:
    """Return a note about an entity in words, without a full stop."""
    match note:
        case NotJudged():
            return f"{_format_name_prefix(note.entity)}not judged: {explain_exclusion(note)}"
        case Outages():
            words = f"{format_count(note.count, 'outage')} without a packet ({note.seconds:.3g} s"
            words += f", the longest {note.longest:.3g} s)" if note.count > 1 else ")"
            end = "judged" if note.judged else "what was drawn meanwhile cannot be judged"
            return f"{_format_name_prefix(note.entity)}{words}: {end}" + (
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
        case ClocksDiffer():
            return (
                "the receiver's clock is not the sender's: lags count from the fastest packet, as"
                " if that had taken no time (so does a given truth with --truth"
                f" FILE,offset={note.offset:.6f})"
            )
        case Adjusted():
            return _format_name_prefix(note.entity) + describe_truth_change(note.what)


def describe_notes(notes: Sequence[Note]) -> list[str]:
    """Return notes in words, without full stops; a note that several entities share occurs once."""
    noted: dict[str, list[str]] = {}
    for note in notes:
        entity = getattr(note, "entity", "")
        words = describe_note(
            cast("Note", replace(cast("Any", note), entity="")) if entity else note
        )
        noted.setdefault(words, []).append(entity)
    return shorten_notes(f"{_format_name_prefix(some(who))}{words}" for words, who in noted.items())


def shorten_notes(notes: Iterable[str]) -> list[str]:
    """Return the first few notes, followed by the number of the others."""
    every = list(notes)
    more = len(every) - MOST_NOTES
    return [*every[:MOST_NOTES], f"{more:,} more of this kind"] if more > 0 else every


def describe_truth_change(note: TruthNote) -> str:
    """Return a change to a truth in words."""
    match note:
        case StatesLeftOut():
            return f"{format_count(note.count, 'state')} left out: {note.reason.value}"
        case CutOut():
            seconds = f" ({note.seconds:.3g} s)" if note.cut is Cut.GAP else ""
            return f"{format_count(note.count, note.cut.value)} cut out{seconds}"
        case Bridged():
            in_all = " in all" if note.count > 1 else ""
            return (
                f"{format_count(note.count, 'longer interval')} ({note.seconds:.3g} s{in_all})"
                " bridged by the curve: what happened there cannot be seen"
            )
        case Rested():
            times = format_count(note.count, "time")
            return f"{times} ({note.seconds:.3g} s) nothing is sent while it rests, and it stands"
        case VelocitiesReplaced():
            reason = note.reason.value.format(note.mismatch)
            return f"velocities taken from the positions: {reason}"


def explain_exclusion(note: NotJudged) -> str:
    """Return in words why an entity cannot be judged, with the numbers behind the reason."""
    rows = "its rows go from {:.3f} to {:.3f} s".format(*note.rows)
    match note.reason:
        case ExclusionReason.TOO_FEW_STATES:
            return f"{'one' if note.states else 'no'} usable state: a movement needs two"
        case ExclusionReason.NOT_IN_TRUTH:
            known = some(note.known)
            return "it is not in the truth, " + (
                f"whose entities are {known}" if known else "which names no entity"
            )
        case ExclusionReason.NO_ROWS:
            return "no packet has a place on the clock"
        case ExclusionReason.NO_OVERLAP:
            truth = "the truth from {:.3f} to {:.3f} s".format(*note.truth)
            return f"{rows}, {truth}: they do not overlap"
        case ExclusionReason.WARM_UP:
            return (
                f"{rows}, and none of them is {note.warm_up:g} s or more into an unbroken movement"
                " of the truth ({:.3f} to {:.3f} s)".format(*note.truth)
            )


def describe_flaw(note: ResultNote) -> str:
    """Return a flaw of a candidate's result in words."""
    return note.flaw.value.format(
        rows=note.rows,
        judged=note.judged,
        error=note.error,
        beyond=format_three_digits(note.beyond),
        extent=format_three_digits(note.extent),
        instead=note.instead,
        lags=", ".join(f"{lag * 1000:.0f}" for lag in note.lags[:3]),
    )


def _format_name_prefix(entity: str) -> str:
    return f"{entity}: " if entity else ""


# ---------------------------------------------------------------- errors


class NotEnoughToSay(Portable, ValueError):
    """An error: the data do not decide the question, for the reason ``why``.

    No number is better than a guess.
    """

    def __init__(self, why: object) -> None:
        super().__init__(f"not enough to say: {why}")
        self.why = str(why)


class TooFewStates(NotEnoughToSay):
    """An error: a truth needs two usable states, and only ``usable`` are left."""

    def __init__(self, usable: int) -> None:
        had = "one usable state" if usable else "no usable state"
        super().__init__(f"{had}: a movement needs two")
        self.usable = usable


class NothingJudged(NotEnoughToSay):
    """An error: no entity can be judged; ``notes`` give the reason for each entity.

    Without notes there are no packets.
    """

    def __init__(self, notes: tuple[NotJudged, ...]) -> None:
        reasons: dict[str, list[str]] = {}
        for note in notes:
            reasons.setdefault(explain_exclusion(note), []).append(note.entity)
        words = shorten_notes(
            _format_name_prefix(some(who)) + reason for reason, who in reasons.items()
        )
        super().__init__("; ".join(words) or "there are no packets")
        self.notes = notes


class NothingToDraw(NotEnoughToSay):
    """An error: the chosen time span has nothing to draw."""

    def __init__(
        self, why: str = "there is nothing to draw in this span: choose another one"
    ) -> None:
        super().__init__(why)
