"""The results of a comparison, and the advice drawn from them."""

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
from epic_cli.metrics.score import COSTS, GOOD, compute_score
from epic_cli.metrics.tabular import Tabular
from epic_cli.recordings.findings import RecordingFinding, list_doubts

if TYPE_CHECKING:
    from epic_cli.engine.refusals import Refusal
    from epic_cli.metrics.measurement import Grid, Measurement
    from epic_cli.metrics.truth import Origin


#: The kind of several runs: recordings, or simulated networks.
Runs = Literal["recordings", "networks"]


@dataclass(frozen=True)
class Result:
    """A participant's ``values`` by metric name, overall or for one entity or recording.

    ``entity`` None: all entities. ``recording`` is that of a result of one recording. ``notes`` say
    why there are no values, why a value is NaN, or why it needs care. ``standing`` has intervals
    and rank; ``waver`` (s) is the likely difference of the lag in another session. ``measured`` is
    what the values are computed from.
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
        """Convert values to plain floats with a single NaN object, so that results can be equal."""
        plain = {
            name: math.nan if math.isnan(value) else float(value)
            for name, value in self.values.items()
        }
        object.__setattr__(self, "values", MappingProxyType(plain))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the result as its fields."""
        own = {each.name: getattr(self, each.name) for each in fields(self)}
        return Result, tuple({**own, "values": dict(self.values)}.values())

    @property
    def place(self) -> str:
        """The entity or recording that the result belongs to; empty for all together."""
        return self.entity or self.recording or ""

    @property
    def rank(self) -> int | None:
        """One more than the number of clearly better scores; None without a score."""
        return self.standing.rank

    @property
    def note(self) -> ResultNote | None:
        """The gravest note, or None."""
        return self.notes[0] if self.notes else None

    def has(self, *flaws: Flaw) -> bool:
        """Return True if the result's notes include one of these flaws."""
        return any(note.flaw in flaws for note in self.notes)

    @property
    def failed(self) -> bool:
        """True if the strategy's own code failed."""
        return self.has(Flaw.FAILED)

    @property
    def ranked(self) -> bool:
        """True if the result can be compared with others."""
        return bool(self.values) and not self.has(*UNRANKED)

    def value(self, name: str) -> float:
        """Return the value of the metric with this name; NaN if unknown."""
        return self.values.get(name, math.nan)

    def list_values(self) -> dict[str, float]:
        """Return the values of all metrics and of their intervals' ends, by name."""
        found = {}
        for metric in METRICS:
            found[metric.name] = self.value(metric.name)
            if metric.interval:
                ends = zip(metric.ends, self.interval(metric.name), strict=True)
                found.update(ends)
        return found

    def interval(self, name: str) -> tuple[float, float]:
        """Return both ends of a metric's interval; NaN if unknown."""
        return self.standing.intervals.get(name, (math.nan, math.nan))


class Skipped(NamedTuple):
    """A run that could not be compared, and the reason."""

    recording: str
    error: ValueError

    @property
    def why(self) -> str:
        """The reason in words."""
        return getattr(self.error, "why", str(self.error))


@dataclass(frozen=True, repr=False)
class Comparison(Tabular):
    """All results of a comparison, and the data behind them.

    ``results`` are by participant, ``by_entity`` by participant and entity. ``origin`` is the kind
    of truth; ``notes`` say what was cut out of it, and what cannot be measured. ``refused`` are
    packets that have no place on the clock. ``rows`` of ``all_rows`` were judged; lengths that
    differ by less than ``resolution`` are equal. ``tick`` and ``warm_ups`` (one for each run) are
    in seconds. ``cells`` are those for which results keep sums, ``rare`` the network's rare events.
    ``certainty`` describes the data behind intervals. Of several ``recordings``, ``results`` are
    those of all together, ``by_recording`` those of each, ``scenes`` those of the first;
    ``skipped`` could not be compared, ``notes_of`` are notes on single recordings. ``findings``
    concern the recordings themselves.
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
        """Codes of the findings that make all results doubtful."""
        return list_doubts(self.findings)

    @property
    def pictured(self) -> str:
        """The recording or network that the scenes show, in words; empty if there is only one."""
        count = len(self.recordings)
        return f"{self.recordings[0]}, one of {count} {self.runs_are}" if count > 1 else ""

    @property
    def turns(self) -> bool:
        """True if the recording has rotations and a strategy draws rotations."""
        return any(not math.isnan(result.value("angle")) for result in self.results)

    @property
    def sent(self) -> bool:
        """True if the states that the sender sent are known."""
        return any(not math.isnan(result.value("bytes")) for result in self.results)

    @property
    def advice(self) -> Advice:
        """The best strategy, how certain that is, and the strategy's costs."""
        return derive_advice(self.results, self.weights, self.by_recording, bool(self.doubts))


class Confidence(enum.Enum):
    """The certainty with which a comparison names its best strategy."""

    CLEAR = "one is clearly best"
    TIED = "too close to call"
    UNCERTAIN = "one scores highest, from too little data to say how surely"
    DOUBTFUL = "one scores highest, of an input that is in doubt"
    ALONE = "there is one only"
    NONE_GOOD = "none is good"
    NOTHING = "none can be ranked"


class Advice(NamedTuple):
    """The advice of a comparison, its parts in the order of importance to readers.

    ``best`` has the highest score. ``tied`` are the others that are not clearly worse, ``next`` is
    the first that is. ``weakest`` is the cost, by its name among the weights, that takes most from
    the best result's score. ``other_games`` are kinds of games in which another strategy has the
    highest score, each with that strategy. ``worst`` is the recording with the best strategy's
    lowest score, None if that is no lower than the score of all.
    """

    confidence: Confidence
    best: Result | None = None
    tied: tuple[Result, ...] = ()
    next: Result | None = None
    weakest: str = ""
    other_games: tuple[tuple[str, str], ...] = ()
    worst: Result | None = None


def derive_advice(
    results: Sequence[Result],
    weights: Weights,
    by_recording: Sequence[Result] = (),
    doubtful: bool = False,
) -> Advice:
    """Derive the advice from results; ``by_recording`` has a result for each recording.

    ``doubtful`` is True if errors were found in the input.
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
        find_weakest_cost(best, weights),
        tuple(_find_games_won_by_others(order)),
        worst if worst.value("score") <= best.value("score") - RESOLUTION else None,
    )


def is_good(result: Result) -> bool:
    """Return True if the result's score is high enough for players to be content."""
    return result.value("score") >= GOOD and not result.has(Flaw.DIVERGED)


def find_best_games(results: Sequence[Result]) -> dict[str, list[str]]:
    """Return, by label, the kinds of games in which that result has the highest score."""
    found: dict[str, list[str]] = {}
    for game, label in _find_winners(results):
        found.setdefault(label, []).append(game)
    return found


def _weigh_cost(result: Result, weights: Weights, name: str) -> float:
    """Return a cost of the result, times its weight in the score; 0 if unknown."""
    cost = result.value(f"{name}_cost")
    return 0.0 if math.isnan(cost) else weights._asdict()[name] * cost


def find_weakest_cost(result: Result, weights: Weights) -> str:
    """Return the name of the cost that takes most from a result's score."""
    return max(COSTS, key=lambda name: _weigh_cost(result, weights, name))


def list_causes(better: Result, worse: Result, weights: Weights) -> tuple[tuple[str, float], ...]:
    """Return the costs that put one result's score below another's, with the points of each.

    The main cost comes first; points are below 0 where the worse result is better. The points add
    up to the difference of the scores. Empty if one of the two has no score.
    """
    gap = better.value("score") - worse.value("score")
    apart = {
        name: _weigh_cost(worse, weights, name) - _weigh_cost(better, weights, name)
        for name in COSTS
    }
    whole = sum(apart.values())
    if not math.isfinite(gap) or not math.isfinite(whole) or whole == 0:
        return ()
    parts = [(name, gap * cost / whole) for name, cost in apart.items() if cost]
    return tuple(sorted(parts, key=lambda part: -part[1]))


def _find_games_won_by_others(order: Sequence[Result]) -> list[tuple[str, str]]:
    return [(game, label) for game, label in _find_winners(order) if label != order[0].label]


def _find_winners(results: Sequence[Result]) -> list[tuple[str, str]]:
    """Return each kind of game with the label of its highest score.

    Ties go to the earlier result.
    """
    found = []
    here = {result.label: result.value("score") for result in results}
    for game in GAMES:
        scores = {
            result.label: float(compute_score(replace(result.measured, weights=game.weights)))
            for result in results
            if result.measured is not None and result.ranked and not result.has(Flaw.DIVERGED)
        }
        scores = {label: value for label, value in scores.items() if not math.isnan(value)}
        if scores:
            most = max(scores.values())
            equals = [label for label, value in scores.items() if value > most - RESOLUTION]
            found.append((game.name, max(equals, key=lambda label: here[label])))
    return found
