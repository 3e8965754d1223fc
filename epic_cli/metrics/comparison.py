"""What comes out of a comparison, as values."""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from epic_cli.metrics import METRICS
from epic_cli.metrics.certainty import RESOLUTION, UNKNOWN, Certainty, NetworkEvents, Standing
from epic_cli.metrics.metric import GAMES, Weights
from epic_cli.metrics.notes import UNRANKED, Flaw, Note, ResultNote
from epic_cli.metrics.score import COSTS, GOOD, score
from epic_cli.metrics.tabular import Tabular
from epic_cli.recordings.findings import RecordingFinding, doubts

if TYPE_CHECKING:
    from epic_cli.engine.refusals import Refusal
    from epic_cli.metrics.measurement import Grid, Measurement
    from epic_cli.metrics.truth import Origin


#: What several runs are: recordings of what happened, or simulated networks.
Runs = Literal["recordings", "networks"]


@dataclass(frozen=True)
class Result:
    """One line of the table: a participant's ``values`` by their names in ``--format csv``.

    ``entity`` None: all of them together. ``notes`` say why there are no values, or why a value is
    NaN, or to be read with care. ``recording`` is that of a line of its own, ``standing`` how
    sure the values are; ``waver`` (s) is by how much the lag may differ in another session.
    ``measured`` is what they are computed from.
    """

    label: str
    entity: str | None
    values: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[ResultNote, ...] = ()
    recording: str | None = None
    standing: Standing = UNKNOWN
    measured: Measurement | None = field(default=None, repr=False, compare=False)
    waver: float = 0.0

    def __post_init__(self) -> None:
        """Keeps plain numbers, and one and the same NaN, so that results can be equal."""
        plain = {
            name: math.nan if math.isnan(value) else float(value)
            for name, value in self.values.items()
        }
        object.__setattr__(self, "values", MappingProxyType(plain))

    def __reduce__(self) -> tuple[Any, ...]:
        """Goes to another process as its fields."""
        own = {each.name: getattr(self, each.name) for each in fields(self)}
        return Result, tuple({**own, "values": dict(self.values)}.values())

    @property
    def place(self) -> str:
        """The entity or recording that it is of; empty: all."""
        return self.entity or self.recording or ""

    @property
    def rank(self) -> int | None:
        """One more than how many others are clearly better by score; None: no score."""
        return self.standing.rank

    @property
    def note(self) -> ResultNote | None:
        """The gravest of the notes."""
        return self.notes[0] if self.notes else None

    def has(self, *flaws: Flaw) -> bool:
        """Whether one of these is noted."""
        return any(note.flaw in flaws for note in self.notes)

    @property
    def failed(self) -> bool:
        """Whether the strategy's own code failed."""
        return self.has(Flaw.FAILED)

    @property
    def ranked(self) -> bool:
        """Whether it can be called better or worse than others."""
        return bool(self.values) and not self.has(*UNRANKED)

    def value(self, name: str) -> float:
        """A metric by its name; NaN: not enough to say."""
        return self.values.get(name, math.nan)

    def figures(self) -> dict[str, float]:
        """All values by name, and the ends of their intervals, as ``metrics.figure_names``."""
        found = {}
        for metric in METRICS:
            found[metric.name] = self.value(metric.name)
            if metric.interval:
                ends = zip(metric.ends, self.interval(metric.name), strict=True)
                found.update(ends)
        return found

    def interval(self, name: str) -> tuple[float, float]:
        """From where to where a metric is likely to be; NaN: unknown."""
        return self.standing.intervals.get(name, (math.nan, math.nan))


class Skipped(NamedTuple):
    """A run that could not be compared, and why."""

    recording: str
    error: ValueError

    @property
    def why(self) -> str:
        """The reason, in words."""
        return getattr(self.error, "why", str(self.error))


@dataclass(frozen=True, repr=False)
class Comparison(Tabular):
    """What came out.

    ``results`` are by participant, ``by_entity`` by participant and entity. ``origin`` says which
    truth it was, ``notes`` what was cut out of it, and what cannot be measured. ``refused`` are
    packets that have no place on the clock. ``rows`` is how many rows count, of ``all_rows``;
    lengths that differ by less than ``resolution`` do not differ.
    ``tick`` is in seconds, and so are ``warm_ups``, one of each run. ``cells`` are those for
    which results keep sums, ``rare`` is what the network did now and then.

    ``certainty`` is what intervals rest on. Of several ``recordings``, ``results`` are those of
    all together, ``by_recording`` has each one's, ``scenes`` are of the first; ``skipped`` are
    those that could not be compared, ``notes_of`` notes that are not of all. ``findings`` are what
    was found wrong with the recordings themselves.
    """

    weights: Weights
    tick: float
    warm_ups: tuple[float, ...]
    rows: int = 0
    origin: Origin = "rebuilt"
    notes: tuple[Note, ...] = ()
    results: tuple[Result, ...] = ()
    by_entity: tuple[Result, ...] = ()
    scenes: tuple[Any, ...] = ()
    refused: tuple[Refusal, ...] = ()
    all_rows: int = 0
    resolution: float = 0.0
    cells: Grid | None = None
    certainty: Certainty | None = None
    recordings: tuple[str, ...] = ()
    by_recording: tuple[Result, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    notes_of: tuple[tuple[str, Note], ...] = ()
    runs_are: Runs = "recordings"
    rare: NetworkEvents = NetworkEvents()  # noqa: RUF009 - never changed
    findings: tuple[RecordingFinding, ...] = ()

    @property
    def doubts(self) -> tuple[str, ...]:
        """The codes of findings that make all of it doubtful."""
        return doubts(self.findings)

    @property
    def pictured(self) -> str:
        """Which of several recordings or networks scenes are of; empty: there is one."""
        count = len(self.recordings)
        return f"{self.recordings[0]}, one of {count} {self.runs_are}" if count > 1 else ""

    @property
    def turns(self) -> bool:
        """Whether the recording has rotation, and one of the strategies turns."""
        return any(not math.isnan(result.value("angle")) for result in self.results)

    @property
    def sent(self) -> bool:
        """Whether what was sent is known."""
        return any(not math.isnan(result.value("bytes")) for result in self.results)

    @property
    def advice(self) -> Advice:
        """What the results come to: which strategy, how surely, what it costs."""
        return advice(self.results, self.weights, self.by_recording, bool(self.doubts))


class Confidence(enum.Enum):
    """What a comparison comes to."""

    CLEAR = "one is clearly best"
    TIED = "too close to call"
    UNCERTAIN = "one scores highest, from too little data to say how surely"
    DOUBTFUL = "one scores highest, of an input that is in doubt"
    ALONE = "there is one only"
    NONE_GOOD = "none is good"
    NOTHING = "none can be ranked"


class Advice(NamedTuple):
    """The advice, in the order in which people want it.

    ``best`` has the highest score. ``tied`` are the others that are too close to it, ``next`` the
    first that is not. ``weakest`` is the cost, by its name among the weights, that takes most
    from the best one's score. ``other_games`` are kinds of games, each with the strategy that has
    the highest score under its weights where that is another one. ``worst`` is the recording in
    which the best one's score is lowest, None where it is no lower than that of all.
    """

    confidence: Confidence
    best: Result | None = None
    tied: tuple[Result, ...] = ()
    next: Result | None = None
    weakest: str = ""
    other_games: tuple[tuple[str, str], ...] = ()
    worst: Result | None = None


def advice(
    results: Sequence[Result],
    weights: Weights,
    by_recording: Sequence[Result] = (),
    doubtful: bool = False,
) -> Advice:
    """What these results come to; ``by_recording`` has one of each for each recording.

    ``doubtful``: it is uncertain whether the input is what it seems.
    """
    ranked = [each for each in results if each.ranked and not math.isnan(each.value("score"))]
    if not ranked:
        return Advice(Confidence.NOTHING)
    sound = [result for result in ranked if not result.has(Flaw.DIVERGED)]
    order = sorted(sound or ranked, key=lambda one: -one.value("score"))
    best, *others = order
    tied = tuple(other for other in others if best.rank is not None and other.rank == best.rank)
    after = next((other for other in others if other not in tied), None)
    if best.value("score") < GOOD or not sound:
        confidence = Confidence.NONE_GOOD
    elif not others:
        confidence = Confidence.ALONE
    elif doubtful:
        confidence = Confidence.DOUBTFUL
    elif best.standing.gap is None or math.isnan(best.standing.gap.low):
        confidence = Confidence.UNCERTAIN
    else:
        confidence = Confidence.TIED if tied else Confidence.CLEAR
    own = [
        packet
        for packet in by_recording
        if packet.label == best.label and not math.isnan(packet.value("score"))
    ]
    worst = min(own, key=lambda one: one.value("score"), default=best)
    return Advice(
        confidence,
        best,
        tied,
        after,
        weakest(best, weights),
        tuple(_other_games(order)),
        worst if worst.value("score") <= best.value("score") - RESOLUTION else None,
    )


def good(result: Result) -> bool:
    """Whether its score is one to be content with."""
    return result.value("score") >= GOOD and not result.has(Flaw.DIVERGED)


def best_for(results: Sequence[Result]) -> dict[str, list[str]]:
    """For which kinds of games each label has the highest score."""
    found: dict[str, list[str]] = {}
    for game, label in _winners(results):
        found.setdefault(label, []).append(game)
    return found


def _weighed(result: Result, weights: Weights, name: str) -> float:
    """A cost as the score counts it; 0: there is none."""
    cost = result.value(f"{name}_cost")
    return 0.0 if math.isnan(cost) else weights._asdict()[name] * cost


def weakest(result: Result, weights: Weights) -> str:
    """Return the cost, by its name among the weights, that takes most from a result's score."""
    return max(COSTS, key=lambda name: _weighed(result, weights, name))


def causes(better: Result, worse: Result, weights: Weights) -> tuple[tuple[str, float], ...]:
    """The costs by which one result scores below another, each with its share of the points.

    The main one comes first; where it is better after all, points are below 0. Together they are
    the difference of the scores. Nothing: one of them has none.
    """
    gap = better.value("score") - worse.value("score")
    apart = {
        name: _weighed(worse, weights, name) - _weighed(better, weights, name) for name in COSTS
    }
    whole = sum(apart.values())
    if not math.isfinite(gap) or not math.isfinite(whole) or whole == 0:
        return ()
    parts = [(name, gap * cost / whole) for name, cost in apart.items() if cost]
    return tuple(sorted(parts, key=lambda part: -part[1]))


def _other_games(order: Sequence[Result]) -> list[tuple[str, str]]:
    return [(game, label) for game, label in _winners(order) if label != order[0].label]


def _winners(results: Sequence[Result]) -> list[tuple[str, str]]:
    """Who has the highest score in each kind of game; of equals, who has it here."""
    found = []
    here = {result.label: result.value("score") for result in results}
    for game in GAMES:
        scores = {
            result.label: float(score(replace(result.measured, weights=game.weights)))
            for result in results
            if result.measured is not None and result.ranked and not result.has(Flaw.DIVERGED)
        }
        scores = {label: value for label, value in scores.items() if not math.isnan(value)}
        if scores:
            most = max(scores.values())
            equals = [label for label, value in scores.items() if value > most - RESOLUTION]
            found.append((game.name, max(equals, key=lambda label: here[label])))
    return found
