"""A strategy's settings as a search space of the settings that are declared worth tuning."""

from __future__ import annotations

import hashlib
import itertools
import math
import pickle
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import numpy as np

from epic_cli.engine.packets import PacketBlock
from epic_cli.engine.parameters import Choice, Number, Setting, Value
from epic_cli.engine.replay import TooManyRows
from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.engine.strategies import get_declaration
from epic_cli.metrics import METRICS
from epic_cli.metrics.arrays import ARRIVAL, TIME, make_packet_table
from epic_cli.metrics.comparison import Comparison, Result
from epic_cli.metrics.evaluation import (
    HELD_FOR_TRIALS,
    CompareSpec,
    JudgedEntities,
    Participant,
    Prepared,
    Run,
    compare_run,
    evaluate,
    pool_results,
    pool_runs,
    prepare,
)
from epic_cli.metrics.notes import Flaw, NotEnoughToSay, NothingJudged, NotJudged
from epic_cli.metrics.truth import sample_truth
from epic_cli.work.code import list_code
from epic_cli.work.journal import ResultJournal, compute_key
from epic_cli.work.runner import Failure, run_jobs

if TYPE_CHECKING:
    from epic_cli.jobs.tune.spec import Division, Goal
    from epic_cli.metrics.measurement import Entity
    from epic_cli.show.scene import Selection


#: Numbers are searched with this many digits: what is reported is what was evaluated.
DIGITS = 3

#: A word's place among an axis' words where the axis has a number instead.
NUMBER = 0


class Axis(NamedTuple):
    """The searched values of one setting: names (``words``) and a range of numbers.

    Numbers are from ``low`` to ``high``; ``low`` None: it takes no numbers. A place on the axis is
    a kind, 0 for the numbers if there are any and then one for each name, and a share, 0 to 1, of
    the way from ``low`` to ``high``. ``least`` and ``most`` limit the setting. Numbers with a
    ``suffix`` (``i``: send intervals) are written with it.
    """

    name: str
    default: Value
    words: tuple[str, ...] = ()
    low: float | None = None
    high: float = 0.0
    log: bool = False
    whole: bool = False
    least: float = -math.inf
    most: float = math.inf
    suffix: str = ""

    @property
    def numeric(self) -> bool:
        """True if the setting has numbers."""
        return self.low is not None

    @property
    def kinds(self) -> int:
        """The number of kinds: one for each name, and one for all numbers."""
        return len(self.words) + self.numeric

    def compute_value(self, kind: int, share: float) -> Value:
        """Return the setting's value at a place: a kind, and a share of the range."""
        if self.low is None:
            return self.words[kind]
        if kind != NUMBER:
            return self.words[kind - 1]
        share = min(max(share, 0.0), 1.0)
        if self.log:
            number = self.low * (self.high / self.low) ** share
        else:
            number = self.low + (self.high - self.low) * share
        if self.whole:
            return float(min(max(round(number), math.ceil(self.low)), math.floor(self.high)))
        return self._write_number(min(max(float(f"{number:.{DIGITS}g}"), self.low), self.high))

    def _write_number(self, number: float) -> Value:
        return f"{number:g}{self.suffix}" if self.suffix else number

    def _read_number(self, value: Value) -> float | None:
        """Return a value as a number; None for a word."""
        if not isinstance(value, str):
            return value
        ours = self.suffix and value.endswith(self.suffix)
        return float(value.removesuffix(self.suffix)) if ours else None

    def iterate_shorter(self, value: Value) -> list[Value]:
        """Yield roundings of a number within the searched range, the fewest digits first."""
        number = self._read_number(value)
        rounded = [] if number is None else [float(f"{number:.{count}g}") for count in (1, 2)]
        return [self._write_number(short) for short in rounded if self.is_in_range(short)]

    def find_place(self, value: Value) -> tuple[int, float]:
        """Return the place of a value; a number outside the range is at the nearer end."""
        number = self._read_number(value)
        if number is None:
            return self.words.index(str(value)) + self.numeric, 0.5
        value, low = number, self.low
        assert low is not None
        if self.log:
            share = math.log(max(value, low) / low) / math.log(self.high / low)
        else:
            share = (value - low) / (self.high - low)
        return NUMBER, min(max(share, 0.0), 1.0)

    def is_in_range(self, number: float) -> bool:
        """Return True if a number is within the searched range."""
        return self.low is not None and self.low <= number <= self.high

    def is_setting_bound(self, bound: str) -> bool:
        """Return True if this end of the searched range is also the limit of the setting."""
        return (bound == "low" and self.low == self.least) or (
            bound == "high" and self.high == self.most
        )

    def find_bound(self, value: Value) -> str:
        """Return the end of the searched range at which a value is: ``low``, ``high`` or ""."""
        if isinstance(value, str) or not self.numeric:
            return ""
        _, share = self.find_place(value)
        return "low" if share < 0.01 else "high" if share > 0.99 else ""


class Point(NamedTuple):
    """A point of a search space: a place on each axis."""

    kinds: tuple[int, ...]
    shares: tuple[float, ...]


class Space(NamedTuple):
    """A search space: a strategy with ``held`` settings, and the axes of the searched settings."""

    strategy: str
    held: Mapping[str, Value]
    axes: tuple[Axis, ...]

    def make_settings(self, point: Point) -> dict[str, Value]:
        """Return the settings at a point.

        The held ones, and those that differ from their defaults.
        """
        found = dict(self.held)
        for axis, kind, share in zip(self.axes, point.kinds, point.shares, strict=True):
            value = axis.compute_value(kind, share)
            if value != axis.default:
                found[axis.name] = value
        return found

    def find_point(self, settings: Mapping[str, Value]) -> Point:
        """Return the point of these settings; settings that are left out have their defaults."""
        places = [axis.find_place(settings.get(axis.name, axis.default)) for axis in self.axes]
        return Point(tuple(kind for kind, _ in places), tuple(share for _, share in places))

    @property
    def numeric(self) -> list[int]:
        """The indices of the axes with numbers."""
        return [at for at, one in enumerate(self.axes) if one.numeric]

    @property
    def choices(self) -> list[int]:
        """The indices of the axes with more than one kind."""
        return [at for at, one in enumerate(self.axes) if one.kinds > 1]

    @property
    def combinations(self) -> int:
        """The number of combinations of choices."""
        return math.prod(axis.kinds for axis in self.axes)

    def iterate_choices(self) -> Iterator[tuple[int, ...]]:
        """Yield all combinations of the axes' choices."""
        return itertools.product(*(range(axis.kinds) for axis in self.axes))


def make_space(strategy: str, held: Mapping[str, object]) -> Space:
    """Return the search space of a strategy's settings, without the held ones.

    Raise ``SettingError``.
    """
    declared = get_declaration(strategy)
    values = declared.values(held)
    kept = {name: values[name] for name in held}
    axes = [_make_axis(setting) for setting in declared.settings if setting.name not in kept]
    return Space(strategy, kept, tuple(axis for axis in axes if axis is not None))


def _make_axis(setting: Setting) -> Axis | None:
    """Return the axis of a setting; None if the setting is not worth tuning."""
    if isinstance(setting, Number):
        if setting.tune is None:
            return None
        low, high = setting.tune
        return Axis(
            setting.name,
            setting.default,
            setting.choices,
            float(low),
            float(high),
            setting.scale == "log",
            setting.whole,
            setting.low,
            setting.high,
        )
    if isinstance(setting, Choice) and setting.tune:
        return Axis(setting.name, setting.default, setting.choices)
    return None


def spread(count: int, axes: Sequence[Axis], skip: int = 0) -> list[Point]:
    """Return ``count`` points spread evenly over the space: the R sequence of Roberts 2018.

    It covers a space of any dimension evenly from the first point on ("The Unreasonable
    Effectiveness of Quasirandom Sequences"). ``skip`` leaves out the first points.
    """
    size = 2 * len(axes)
    root = 2.0
    for _ in range(60):  # x^(size + 1) = x + 1
        root = (1 + root) ** (1 / (size + 1))
    found = []
    for number in range(skip + 1, skip + count + 1):
        place = [(0.5 + number * root ** -(index + 1)) % 1 for index in range(size)]
        kinds = tuple(int(place[2 * at + 1] * axis.kinds) for at, axis in enumerate(axes))
        found.append(Point(kinds, tuple(place[::2])))
    return found


@dataclass(frozen=True)
class EvaluationSet:
    """A set of recordings, by name, on which settings are evaluated."""

    spec: CompareSpec
    names: tuple[str, ...]
    prepared: tuple[Prepared, ...]

    def evaluate(self, candidate: StrategySpec) -> Result:
        """Return a candidate's result over all recordings together."""
        results = [evaluate(prepared, candidate, self.spec.weights) for prepared in self.prepared]
        return results[0] if len(results) == 1 else pool_results(results)

    def compare_each(
        self, candidates: Sequence[Participant], selection: Selection | None = None
    ) -> list[tuple[str, Comparison]]:
        """Return a comparison for each recording, in the form that ``pool_runs`` takes.

        With a ``selection``, the first has scenes.
        """
        spec = replace(self.spec, participants=candidates, selection=selection)
        return [
            (name, compare_run(one, replace(spec, selection=None) if number else spec))
            for number, (name, one) in enumerate(zip(self.names, self.prepared, strict=True))
        ]

    def compare(
        self, candidates: Sequence[Participant], selection: Selection | None = None
    ) -> Comparison:
        """Return one comparison of all recordings, with intervals and ranks."""
        return pool_runs(self.compare_each(candidates, selection), self.spec.seed)

    @cached_property
    def digest(self) -> str:
        """A hexadecimal digest of the recordings and the judged rows, for the journal."""
        spec = self.spec
        counts = (spec.timing, spec.weights, spec.truth_offset, spec.warm_up)
        found = hashlib.sha256(repr(counts).encode())
        for prepared in self.prepared:
            found.update(repr((prepared.arrivals, prepared.offset)).encode())
            for entity in prepared.entities.judged:
                found.update(entity.name.encode("utf-8", "surrogatepass"))
                found.update(make_packet_table(entity.packets).tobytes())
                truth = entity.truth
                for part in (truth.times, truth.positions, truth.velocities, truth.segments):
                    found.update(np.ascontiguousarray(part).tobytes())
        return found.hexdigest()

    def find_span(self) -> tuple[float, float]:
        """Return the times (s) of the first and the last judged row in the first recording."""
        counted = [
            entity.truth.times[entity.truth.counted] for entity in self.prepared[0].entities.judged
        ]
        return min(float(each[0]) for each in counted), max(float(each[-1]) for each in counted)


def make_evaluation_set(runs: Sequence[Run], spec: CompareSpec) -> EvaluationSet:
    """Return the set of those runs that can be evaluated.

    Raise ``NothingJudged``, ``TooManyRows``.
    """
    names, prepared = [], []
    why: list[NotJudged] = []
    for run in runs:
        try:
            one = prepare(run, spec, HELD_FOR_TRIALS)
        except TooManyRows:
            if len(runs) == 1:
                raise
            continue
        except NothingJudged as error:
            why += error.notes
            continue
        names.append(run.name)
        prepared.append(one)
    if not prepared:
        raise NothingJudged(tuple(why))
    return EvaluationSet(spec, tuple(names), tuple(prepared))


#: Fewest recordings that are divided by recording, not by time.
ENOUGH_RECORDINGS = 4


class Divided(NamedTuple):
    """Recordings divided into a part to tune on and a part to judge on (None: the same part)."""

    tuned: EvaluationSet
    evaluated: EvaluationSet | None
    by: Division


def divide(runs: Sequence[Run], spec: CompareSpec, by: Division | None = None) -> Divided:
    """Return recordings divided ``by`` time or by recording; None chooses the suitable way.

    Raises ``NotEnoughToSay`` if a part has nothing to evaluate, ``TooManyRows``.
    """
    if by is None:
        by = "recording" if len(runs) >= ENOUGH_RECORDINGS else "time"
    if by == "none":
        return Divided(make_evaluation_set(runs, spec), None, by)
    if by == "recording":
        if len(runs) < 2:
            raise NotEnoughToSay(
                "tuning on some recordings and evaluating on others needs two: add a recording"
            )
        return Divided(
            make_evaluation_set(runs[::2], spec), make_evaluation_set(runs[1::2], spec), by
        )
    found = []
    for number, one in enumerate(runs, 1):
        try:
            found.append(split_halves(one, spec))
        except NotEnoughToSay:
            if number == len(runs) and not found:
                raise
    first, second = (
        EvaluationSet(
            spec,
            tuple(name for half in part for name in half.names),
            tuple(prepared for half in part for prepared in half.prepared),
        )
        for part in zip(*found, strict=True)
    )
    return Divided(first, second, by)


def split_halves(run: Run, spec: CompareSpec) -> tuple[EvaluationSet, EvaluationSet]:
    """Return the first half of a recording as if recording had ended there, and the second half.

    The rest is evaluated with everything before it known: strategies continue. Raises
    ``NotEnoughToSay`` if one of them has nothing to evaluate.
    """
    whole = make_evaluation_set([run], spec)
    spans = whole.prepared[0].entities.judged.extents
    start, end = min(each.begin for each in spans), max(each.end for each in spans)
    middle = start + 0.5 * (end - start)
    early = {name: _select_packets_before(block, middle) for name, block in run.packets.items()}
    first = run._replace(packets={name: block for name, block in early.items() if len(block)})
    before = make_evaluation_set([first], spec)
    return before, EvaluationSet(
        spec, whole.names, (_cut_prepared_data(whole.prepared[0], middle),)
    )


def _select_packets_before(block: PacketBlock, end: float) -> PacketBlock:
    """Return the packets that had arrived by the time ``end`` (s)."""
    table = make_packet_table(block)
    arrivals = np.where(np.isfinite(table[ARRIVAL]), table[ARRIVAL], table[TIME])
    early = np.flatnonzero(arrivals < end)
    if len(early) == (early[-1] + 1 if len(early) else 0):
        return block.part(0, len(early))
    found = PacketBlock(block.entities)
    for index in early.tolist():
        found.append(block[index])
    return found


def _cut_prepared_data(prepared: Prepared, begin: float) -> Prepared:
    entities = prepared.entities
    cut = (_cut_entity(entity, entities.warm_up, begin) for entity in entities.judged)
    kept = JudgedEntities.hold(entity for entity in cut if entity.truth.counted.any())
    if not kept:
        raise NotEnoughToSay(
            "nothing in the second half of the recording can be evaluated: use a longer one"
        )
    return replace(prepared, entities=replace(entities, judged=kept))


def _cut_entity(entity: Entity, warm_up: float, begin: float) -> Entity:
    old, events = entity.truth, entity.events
    sampled = sample_truth(old.truth, old.times, old.tick, warm_up, events.first, since=begin)
    late = events.arrivals >= begin
    return replace(
        entity,
        truth=sampled,
        events=events._replace(
            arrivals=events.arrivals[late],
            stamps=events.stamps[late],
            teleports=events.teleports[late],
            corrections=events.corrections[late],
            silences=events.silences[late],
        ),
    )


#: The metrics of one candidate by name; empty for one that cannot be ranked.
MetricValues = Mapping[str, float]

#: Evaluators that each process keeps.
KEPT = 2


#: A candidate of an evaluator, such as a ``StrategySpec``.
Candidate = TypeVar("Candidate")
Candidate_contra = TypeVar("Candidate_contra", contravariant=True)


class Evaluator(Protocol[Candidate_contra]):
    """The interface of data on which settings are evaluated, such as an ``EvaluationSet``."""

    @property
    def digest(self) -> str:
        """A digest that is equal for equal content."""

    def evaluate(self, candidate: Candidate_contra) -> Result:
        """Return a candidate's result; may raise ``NotEnoughToSay``."""


class _TrialJob(NamedTuple):
    """A trial for a worker; ``content`` is the pickled evaluator, for workers without it."""

    digest: str
    candidate: Any
    content: bytes | None = None


#: The evaluators that this process has been sent, the latest one last.
_kept: dict[str, Evaluator[Any]] = {}
_keeping = threading.Lock()


def collect_rankable_metrics(result: Result) -> MetricValues:
    """Return the metrics of a result by name; empty if it cannot be ranked, or has diverged."""
    return dict(result.values) if result.ranked and not result.has(Flaw.DIVERGED) else {}


def _judge_candidate(on: Evaluator[Candidate], candidate: Candidate) -> MetricValues:
    try:
        return collect_rankable_metrics(on.evaluate(candidate))
    except NotEnoughToSay:
        return {}


def measure_candidates(
    on: Evaluator[Candidate],
    candidates: Sequence[Candidate],
    executor: Executor,
    on_result: Callable[[Candidate, MetricValues], None],
    journal: ResultJournal | None = None,
    name: Callable[[Candidate], str] = str,
) -> list[MetricValues]:
    """Return the metrics of each candidate, in order, from the ``journal`` or by evaluation.

    ``on_result`` is called with each as soon as it is there, when new ones are saved under their
    ``name``. A candidate whose worker dies has no metrics.
    """
    if journal is None:
        return _evaluate_candidates(on, candidates, executor, on_result)

    def keep(candidate: Candidate, values: MetricValues) -> None:
        journal.add(name(candidate), dict(values))
        on_result(candidate, values)

    found = [journal.find(name(candidate)) for candidate in candidates]
    known = [values if _is_metric_table(values) else None for values in found]
    unknown = []
    for candidate, values in zip(candidates, known, strict=True):
        if values is None:
            unknown.append(candidate)
        else:
            on_result(candidate, values)
    new = iter(_evaluate_candidates(on, unknown, executor, keep))
    return [next(new) if values is None else values for values in known]


#: The names of the metrics of a candidate that can be ranked.
_NAMES = frozenset(metric.name for metric in METRICS)


def _is_metric_table(values: Any) -> bool:
    """Return True if a journal's value is a table of metrics: other programs may write there."""
    if not isinstance(values, dict) or (values and not values.keys() >= _NAMES):
        return False
    return all(
        isinstance(value, int | float) and not isinstance(value, bool) for value in values.values()
    )


def _evaluate_candidates(
    on: Evaluator[Candidate],
    candidates: Sequence[Candidate],
    executor: Executor,
    on_result: Callable[[Candidate, MetricValues], None],
) -> list[MetricValues]:
    if isinstance(executor, ThreadPoolExecutor):
        here = partial(_judge_candidate, on)
        return [
            _unwrap_outcome(one) or {} for _, one in run_jobs(here, candidates, executor, on_result)
        ]

    def report(job: _TrialJob, answer: MetricValues | None) -> None:
        if answer is not None:
            on_result(job.candidate, answer)

    def run(content: bytes | None, wanted: Iterable[Candidate]) -> list[MetricValues | None]:
        jobs = (_TrialJob(on.digest, wanted_name, content) for wanted_name in wanted)
        return [_unwrap_outcome(one) for _, one in run_jobs(_evaluate_job, jobs, executor, report)]

    found = run(None, candidates)
    missing = [at for at, one in enumerate(found) if one is None]
    if missing:
        again = run(pickle.dumps(on), [candidates[at] for at in missing])
        for at, one in zip(missing, again, strict=True):
            found[at] = one
    return [record for record in found if record is not None]


def _unwrap_outcome(outcome: MetricValues | Failure | None) -> MetricValues | None:
    if not isinstance(outcome, Failure):
        return outcome
    if outcome.died:
        return {}
    raise outcome.error


def _evaluate_job(job: _TrialJob) -> MetricValues | None:
    """Evaluate a trial in a worker process; return None if that process lacks the data."""
    with _keeping:
        on = _kept.pop(job.digest, None)
        if on is None and job.content is not None:
            on = pickle.loads(job.content)  # noqa: S301 - from whom this one works for
        if on is None:
            return None
        _kept[job.digest] = on
        while len(_kept) > KEPT:
            del _kept[next(iter(_kept))]
    return _judge_candidate(on, job.candidate)


#: Most settings evaluated between two checks of the time, or lost by an interruption.
BATCH = 32

#: The kind of a journal of trials.
KIND = "tune"


class Trial(NamedTuple):
    """The settings that differ from their defaults, and the metrics measured with them."""

    settings: Mapping[str, Value]
    metrics: MetricValues


class BudgetSpent(Exception):
    """An error: the allowed trials, or the allowed time, are used up."""


@dataclass
class Budget:
    """The limits of a search: a number of trials, and an end time (``time.monotonic``)."""

    trials: int
    until: float = math.inf

    def count_left(self, taken: int) -> int:
        """Return the number of trials left."""
        return 0 if time.monotonic() >= self.until else max(self.trials - taken, 0)


@dataclass
class Trials:
    """The trials of one strategy, in order.

    A ``journal`` has trials of earlier runs, and saves these. ``on_trial`` is called with each new
    trial and the count of trials.
    """

    strategy: str
    on: Evaluator[StrategySpec]
    goal: Goal
    budget: Budget
    executor: Executor
    journal: ResultJournal | None = None
    on_trial: Callable[[Trial, int], None] | None = None
    made: list[Trial] = field(default_factory=list)
    _told: int = 0
    _known: dict[tuple[tuple[str, Value], ...], Trial] = field(default_factory=dict)

    def compute_costs(
        self, wanted: Sequence[Mapping[str, Value]], beyond: bool = False
    ) -> list[float]:
        """Return the cost of each of these settings; evaluate those that are new.

        Raises ``BudgetSpent`` if the budget is too small for all, unless ``beyond`` it; the trials
        within the budget have been made then.
        """
        new = {
            _make_settings_key(record): record
            for record in wanted
            if _make_settings_key(record) not in self._known
        }
        left = list(new.values())
        while left:
            room = len(left) if beyond else self.budget.count_left(len(self.made))
            if not room:
                raise BudgetSpent
            count = min(room, BATCH)
            self._evaluate_batch(left[:count])
            left = left[count:]
        return [
            self.goal.compute_cost(self.find_trial(wanted_name).metrics) for wanted_name in wanted
        ]

    def find_trial(self, settings: Mapping[str, Value]) -> Trial:
        """Return the trial of settings that were tried before."""
        return self._known[_make_settings_key(settings)]

    @property
    def best(self) -> Trial:
        """The best trial so far; ties go to the fewest changed settings."""
        return min(
            self.made, key=lambda one: (*self.goal.compute_key(one.metrics), len(one.settings))
        )

    def _evaluate_batch(self, batch: Sequence[Mapping[str, Value]]) -> None:
        specs = [StrategySpec(self.strategy, settings) for settings in batch]
        found = measure_candidates(
            self.on, specs, self.executor, self._report_trial, self.journal, self._make_journal_key
        )
        for settings, values in zip(batch, found, strict=True):
            one = Trial(settings, values)
            self._known[_make_settings_key(settings)] = one
            self.made.append(one)

    def _report_trial(self, evaluated: StrategySpec, found: MetricValues) -> None:
        self._told += 1
        if self.on_trial is not None:
            self.on_trial(Trial(evaluated.settings, found), self._told)

    @cached_property
    def _code_texts(self) -> list[str]:
        return list_code(self.strategy)

    def _make_journal_key(self, evaluated: StrategySpec) -> str:
        """Return the part of a trial's journal key that names the data and the method."""
        plain = {
            name: value if isinstance(value, str) else float(value)
            for name, value in evaluated.settings.items()
        }
        return compute_key(
            bench=self.on.digest, strategy=[self.strategy, *self._code_texts], settings=plain
        )


def _make_settings_key(settings: Mapping[str, Value]) -> tuple[tuple[str, Value], ...]:
    return tuple(sorted(settings.items()))
