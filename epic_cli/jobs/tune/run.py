"""The search: try points all over the space, then optimize from the best points.

Few choices are all tried. One number is searched on a grid, refined around its best point by the
golden section. Anything else uses CatCMA with margin (Hamano, Saito, Nomura, Uchida and Shirakawa
2025, "CatCMA with Margin"), which takes real and whole numbers and choices at once, from the
library ``cmaes``: it starts at the best point so far, and again elsewhere when it has settled.
"""

from __future__ import annotations

import contextlib
import enum
import math
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from epic_cli.engine.failures import Portable
from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.jobs.tune.trials import (
    KIND,
    NUMBER,
    Axis,
    Budget,
    BudgetSpent,
    Divided,
    EvaluationSet,
    MetricValues,
    Point,
    Space,
    Trial,
    Trials,
    divide,
    make_evaluation_set,
    make_space,
    spread,
)
from epic_cli.metrics import find_metric
from epic_cli.metrics.arrays import find_minimum
from epic_cli.metrics.certainty import RESOLUTION, CandidateSums, NetworkEvents, compute_difference
from epic_cli.metrics.delays import DelaysNeeded, adapt_to_clocks, find_needed_delays
from epic_cli.metrics.evaluation import Participant, Run, is_arrival_needed, make_piece, pool_runs
from epic_cli.metrics.inputs import RecordedRuns
from epic_cli.metrics.metric import Better, Weights, drop_turning
from epic_cli.metrics.notes import NotEnoughToSay
from epic_cli.metrics.tabular import Tabular
from epic_cli.recordings.opening import ReadingLog
from epic_cli.work.executors import InterruptibleThreads
from epic_cli.work.jobs import HERE, JobTally, Workers

if TYPE_CHECKING:
    from epic_cli.engine.parameters import Value
    from epic_cli.jobs.tune.spec import Goal, TuneJob, TuneSpec
    from epic_cli.metrics.comparison import Comparison, Result
    from epic_cli.recordings.opening import Logs
    from epic_cli.show.scene import Selection
    from epic_cli.work.journal import ResultJournal


#: The result of a search.
Found = TypeVar("Found")

#: Trials for each setting, and most trials in all.
TRIALS_EACH, MOST_TRIALS = 60, 400

#: Share of the trials that are spread over the whole space.
SPREAD = 0.3

#: Places at which one number is tried for each choice, and trials around the best place.
GRID, REFINED = 13, 12

#: Fewest places of a grid.
COARSEST = 4

#: Generations without a better result after which a population has settled.
PATIENCE = 10

#: Starts in a row without a new point after which nothing is left to try.
FRUITLESS = 5


def choose_default_trials(space: Space) -> int:
    """Return the default number of trials for a space."""
    if not space.axes:
        return 1
    if not space.numeric:
        return space.combinations + 1
    return min(TRIALS_EACH * len(space.axes), MOST_TRIALS)


def search(
    space: Space, trials: Trials, seed: int, hints: Sequence[Mapping[str, Value]] = ()
) -> None:
    """Try settings until nothing is left to try; add them to ``trials``; raise ``BudgetSpent``.

    ``hints`` are settings that the closed form recommends. The defaults come first.
    """
    places = min(GRID, trials.budget.trials // space.combinations)
    grid = len(space.numeric) == 1 and places >= COARSEST
    try:
        trials.compute_costs([dict(space.held)], beyond=True)
        trials.compute_costs(hints)
        if grid:
            _search_one_number(space, trials, places)
        elif space.numeric:
            _search_several_numbers(space, trials, seed)
        elif space.axes:
            _try_choices(space, trials)
    except BudgetSpent:
        pass


def _try_choices(space: Space, trials: Trials) -> None:
    """Try all combinations of choices or, if there are too many, an even selection of them."""
    halfway = tuple(0.5 for _ in space.axes)
    if space.combinations <= trials.budget.trials:
        trials.compute_costs(
            [space.make_settings(Point(kinds, halfway)) for kinds in space.iterate_choices()]
        )
        return
    trials.compute_costs(
        [space.make_settings(point) for point in spread(trials.budget.trials, space.axes)]
    )


def _search_one_number(space: Space, trials: Trials, places: int) -> None:
    (at,) = space.numeric

    def make_settings(kinds: tuple[int, ...], share: float) -> dict[str, Value]:
        shares = tuple(share if index == at else 0.5 for index in range(len(space.axes)))
        return space.make_settings(Point(kinds, shares))

    shares = np.linspace(0, 1, places).tolist()
    asked = [(kinds, share) for kinds in space.iterate_choices() for share in shares]
    costs = trials.compute_costs([make_settings(*point) for point in asked])
    kinds, share = asked[int(np.argmin(costs))]
    if kinds[at] != NUMBER:
        return
    step = 1 / (places - 1)
    low, high = max(share - step, 0.0), min(share + step, 1.0)
    find_minimum(lambda x: trials.compute_costs([make_settings(kinds, x)])[0], low, high, REFINED)


def _search_several_numbers(space: Space, trials: Trials, seed: int) -> None:
    count = max(round(SPREAD * trials.budget.trials), 4)
    points = spread(count, space.axes)
    trials.compute_costs([space.make_settings(point) for point in points])
    tried = sorted(trials.made, key=lambda one: trials.goal.compute_key(one.metrics))
    starts = [space.find_point(trial.settings) for trial in tried]
    best = math.inf
    number = fruitless = 0
    while fruitless < FRUITLESS:
        made = len(trials.made)
        # from the best, and from the next ones that are not where it has been
        start = starts[pow(2, number, len(starts)) if number else 0]
        optimizer = _Optimizer(space, start, seed * 1000 + number, 0.2 if number == 0 else 0.3)
        number += 1
        idle = 0
        while idle < PATIENCE:
            asked = optimizer.ask()
            costs = trials.compute_costs([space.make_settings(point) for point in asked])
            optimizer.tell(costs)
            idle = (
                0 if min(costs) < best - 1e-9 * abs(best) or not math.isfinite(best) else idle + 1
            )
            best = min(best, *costs)
        fruitless = 0 if len(trials.made) > made else fruitless + 1


class _Optimizer:
    """An optimizer of the library ``cmaes`` over the points of a space."""

    def __init__(self, space: Space, start: Point, seed: int, sigma: float) -> None:
        from cmaes import CatCMAwM  # which takes a second to load where SciPy is installed

        self._space = space
        self._real = [at for at in space.numeric if not space.axes[at].whole]
        self._whole = [at for at in space.numeric if space.axes[at].whole]
        self._choices = space.choices
        options: dict[str, Any] = {}
        if self._real:
            options["x_space"] = [[0.0, 1.0]] * len(self._real)
        if self._whole:
            spans = [space.axes[at].high - (space.axes[at].low or 0.0) for at in self._whole]
            options["z_space"] = [np.linspace(0, 1, round(span) + 1).tolist() for span in spans]
        if self._choices:
            options["c_space"] = [space.axes[at].kinds for at in self._choices]
            options["cat_param"] = self._compute_initial_probabilities(start)
        numbers = [*self._real, *self._whole]
        if numbers:
            options["mean"] = np.array([start.shares[at] for at in numbers])
            options["sigma"] = sigma
            # the library's own goes to zero where the start is at a bound
            options["cov"] = np.eye(len(numbers))
        self._optimizer = CatCMAwM(seed=seed, **options)
        self._asked: list[Any] = []

    def _compute_initial_probabilities(self, start: Point) -> Any:
        """Return initial probabilities of choices: half is the start's, half is spread evenly."""
        most = max(self._space.axes[at].kinds for at in self._choices)
        chances = np.zeros((len(self._choices), most))
        for row, at in enumerate(self._choices):
            kinds = self._space.axes[at].kinds
            chances[row, :kinds] = 0.5 / kinds
            chances[row, start.kinds[at]] += 0.5
        return chances

    def ask(self) -> list[Point]:
        """Return the next points to try."""
        self._asked = [self._optimizer.ask() for _ in range(self._optimizer.population_size)]
        return [self._convert_solution(item) for item in self._asked]

    def tell(self, costs: Sequence[float]) -> None:
        """Tell the optimizer the cost of each point, in order."""
        # places, not costs: what handles bounds in the library computes with differences, which
        # equal costs, and infinite ones, do not have
        places = np.argsort(np.argsort(costs, kind="stable"), kind="stable").tolist()
        self._optimizer.tell(list(zip(self._asked, map(float, places), strict=True)))

    def _convert_solution(self, solution: Any) -> Point:
        axes = self._space.axes
        kinds, shares = [0] * len(axes), [0.5] * len(axes)
        for at, share in zip(self._real, solution.x if self._real else (), strict=True):
            shares[at] = float(share)
        for at, share in zip(self._whole, solution.z if self._whole else (), strict=True):
            shares[at] = float(share)
        for at, chosen in zip(self._choices, solution.c if self._choices else (), strict=True):
            kinds[at] = int(np.argmax(chosen))
        return Point(tuple(kinds), tuple(shares))


#: Places from end to end at which each number is tried, with the others as tuned.
PLACES = 9

#: A score that is less than a point worse, or another metric by less than this share, is as good.
POINT, SHARE = 1.0, 0.02

#: A metric other than the score that differs by less than this share does not differ.
SAME = 0.001


class Influence(NamedTuple):
    """The influence of one setting on the cost, with its default and its tuned value.

    ``loss`` is how much worse the metric is with this setting at its default and the others as
    tuned. From ``low`` to ``high``, and with these ``words``, it is as good as tuned (``POINT``,
    ``SHARE``). ``flat``: it is so everywhere. ``bound`` is the end of the range worth tuning at
    which it stands (``low``, ``high``, or empty); ``last``: the setting takes nothing beyond.
    """

    name: str
    default: Value
    tuned: Value
    loss: float
    low: float | None
    high: float | None
    words: tuple[str, ...]
    flat: bool
    bound: str
    last: bool = False


def simplify_best(
    space: Space,
    trials: Trials,
    points: float = RESOLUTION,
    share: float = SAME,
    best: Trial | None = None,
    accept: Callable[[MetricValues], bool] = bool,
) -> Trial:
    """Return the best settings without those that have no effect, with the fewest digits.

    Scores within ``points``, and other metrics within this ``share``, count as equal to those of
    ``best``; ``accept`` refuses metrics. ``trials`` has the defaults, and gets a few more trials.
    """
    best = best or trials.best
    cost = trials.goal.compute_cost(best.metrics)
    limit = cost + compute_slack(trials.goal, cost, points, share)
    least = best.metrics.get("score", -math.inf) - points
    for axis in space.axes:
        value = best.settings.get(axis.name, axis.default)
        if value == axis.default:
            continue
        without = {name: one for name, one in best.settings.items() if name != axis.name}
        shorter = [{**best.settings, axis.name: fewer} for fewer in axis.iterate_shorter(value)]
        for settings in [without, *shorter]:
            cost = trials.compute_costs([settings], beyond=True)[0]
            one = trials.find_trial(settings)
            # of settings that are equally good the best score was chosen: that stays, too
            as_good = cost <= limit and one.metrics.get("score", -math.inf) >= least
            if as_good and accept(one.metrics):
                best = one
                break
    return best


def measure_influences(space: Space, trials: Trials, tuned: Trial) -> tuple[Influence, ...]:
    """Return the influence of each tuned setting, the largest first."""
    found = [_measure_influence(space, at, trials, tuned) for at in range(len(space.axes))]
    return tuple(sorted(found, key=lambda one: -one.loss))


def _measure_influence(space: Space, at: int, trials: Trials, tuned: Trial) -> Influence:
    axis = space.axes[at]
    here = space.find_point(tuned.settings)
    value = tuned.settings.get(axis.name, axis.default)
    cost = trials.goal.compute_cost(tuned.metrics)
    near = cost + compute_slack(trials.goal, cost, POINT, SHARE)
    default = {name: one for name, one in tuned.settings.items() if name != axis.name}
    (at_default,) = trials.compute_costs([default], beyond=True)
    shares = sorted({*np.linspace(0, 1, PLACES).tolist(), here.shares[at]}) if axis.numeric else []
    points = [_move_point(here, at, NUMBER, share) for share in shares]
    costs = trials.compute_costs([space.make_settings(point) for point in points], beyond=True)
    others = range(int(axis.numeric), axis.kinds)
    words = [_move_point(here, at, kind, 0.5) for kind in others]
    word_costs = trials.compute_costs([space.make_settings(word) for word in words], beyond=True)
    good = [cost <= near for cost in costs]
    low, high = _find_good_range(axis, shares, good, here.shares[at])
    bound = axis.find_bound(value)
    return Influence(
        axis.name,
        axis.default,
        value,
        at_default - cost,
        low,
        high,
        tuple(
            str(axis.compute_value(kind, 0.5))
            for kind, one in zip(others, word_costs, strict=True)
            if one <= near
        ),
        all(good) and all(cost <= near for cost in word_costs),
        bound,
        axis.is_setting_bound(bound),
    )


def _move_point(point: Point, at: int, kind: int, share: float) -> Point:
    kinds, shares = list(point.kinds), list(point.shares)
    kinds[at], shares[at] = kind, share
    return Point(tuple(kinds), tuple(shares))


def _find_good_range(
    axis: Axis, shares: list[float], good: list[bool], here: float
) -> tuple[float | None, float | None]:
    """Return the unbroken range around the tuned value in which the cost stays as low."""
    if not shares:
        return None, None
    first = last = shares.index(here)
    if not good[first]:
        return None, None  # a word is better than any number
    while first > 0 and good[first - 1]:
        first -= 1
    while last < len(shares) - 1 and good[last + 1]:
        last += 1
    low, high = axis.compute_value(NUMBER, shares[first]), axis.compute_value(NUMBER, shares[last])
    return float(low), float(high)


def compute_slack(goal: Goal, cost: float, points: float, share: float) -> float:
    """Return the largest rise of a goal's cost that counts as none.

    Points of score, else a share.
    """
    if goal.metric.name == "score":
        return points
    return share * abs(cost) if math.isfinite(cost) else 0.0


#: Latencies (s) that differ by less are the same to a player.
SAME_LATENCY = 0.0005

#: Share by which roughness may be larger and count as equal.
SAME_ROUGHNESS = 0.01

#: Least score of a useful point, as a share of the best.
WORTH = 0.75

#: Points of each strategy's front that are kept.
KEPT = 12


#: The metrics that are reported if tuning for another one makes them worse ...
WATCHED = ("error", "lag", "residual", "jumps", "jerk", "backward", "held")

#: ... by this share of what they were, and by more than players overlook: of lengths, this many
#: seconds of movement.
WORSE_SHARE, UNSEEN_SECONDS = 0.05, 0.001
_UNSEEN = {"lag": 0.001, "jumps": 1.0, "jerk": 0.1, "backward": 1.0, "held": 0.002}


def find_worse(before: MetricValues, after: MetricValues) -> tuple[str, ...]:
    """Return the names of the metrics that are noticeably worse than ``before``."""
    found = []
    for name in WATCHED:
        values = before.get(name, math.nan), after.get(name, math.nan)
        if any(map(math.isnan, values)):
            continue
        least = _UNSEEN.get(name, UNSEEN_SECONDS * before.get("speed", 0.0))
        was, now = (float(find_metric(name).compute_key(value)) for value in values)
        if now > was * (1 + WORSE_SHARE) + least:
            found.append(name)
    return tuple(found)


class FrontPoint(NamedTuple):
    """A point of the Pareto front: settings that no trial beats in ``latency`` and ``roughness``.

    ``latency`` is in seconds. Roughness is what the ``score`` counts besides latency: jerk, error,
    slow recovery. Whatever latency weighs, the best settings are on the front.
    """

    strategy: str
    settings: Mapping[str, Value]
    latency: float
    roughness: float
    score: float


def find_front(strategy: str, trials: Iterable[Trial], weights: Weights) -> tuple[FrontPoint, ...]:
    """Return the Pareto front of these trials, the lowest latency first."""
    points = [
        FrontPoint(
            strategy,
            trial.settings,
            abs(trial.metrics["lag"]),
            compute_roughness(trial.metrics, weights),
            trial.metrics["score"],
        )
        for trial in trials
        if trial.metrics and not math.isnan(trial.metrics["lag"])
    ]
    return find_pareto(point for point in points if not math.isnan(point.roughness))


def choose_points(points: Sequence[FrontPoint], most: int) -> tuple[FrontPoint, ...]:
    """Return up to ``most`` points of a Pareto front, both ends and evenly over log(roughness)."""
    if len(points) <= most:
        return tuple(points)
    levels = [math.log(max(point.roughness, 1e-9)) for point in points]
    wanted = [levels[0] + (levels[-1] - levels[0]) * at / (most - 1) for at in range(most)]
    nearest = {min(range(len(points)), key=lambda at: abs(levels[at] - level)) for level in wanted}
    return tuple(points[at] for at in sorted(nearest))


def select_worthy(points: Sequence[FrontPoint], share: float = WORTH) -> tuple[FrontPoint, ...]:
    """Return the points whose score is close to the best; the far ends of a front are useless."""
    least = share * max((point.score for point in points), default=0.0)
    return tuple(point for point in points if point.score >= least)


def simplify_front(
    points: Sequence[FrontPoint], trials: Trials, weights: Weights, held: Mapping[str, Value]
) -> tuple[FrontPoint, ...]:
    """Return the Pareto front with points freed of settings that have no effect.

    Settings that are ``held`` stay. A few trials are added to ``trials``.
    """
    found = []
    for point in points:
        settings = dict(point.settings)
        for name in [setting for setting in point.settings if setting not in held]:
            fewer = {key: value for key, value in settings.items() if key != name}
            trials.compute_costs([fewer], beyond=True)
            metrics = trials.find_trial(fewer).metrics
            if not metrics or math.isnan(metrics["lag"]):
                continue
            if abs(abs(metrics["lag"]) - point.latency) < SAME_LATENCY and compute_roughness(
                metrics, weights
            ) <= point.roughness * (1 + SAME_ROUGHNESS):
                settings = fewer
        found.append(trials.find_trial(settings))
    return find_front(trials.strategy, found, weights)


def find_pareto(points: Iterable[FrontPoint]) -> tuple[FrontPoint, ...]:
    """Return the points that no other point beats in both latency and roughness, by latency."""
    found: list[FrontPoint] = []
    for point in sorted(points, key=lambda point: (point.latency, point.roughness)):
        if found and point.roughness >= found[-1].roughness:
            continue
        if found and point.latency - found[-1].latency < SAME_LATENCY:
            found.pop()
        found.append(point)
    return tuple(found)


def compute_roughness(metrics: MetricValues, weights: Weights) -> float:
    """Return the score's costs without latency; NaN if they are unknown."""
    others = weights._replace(latency=0.0)
    if not any(others):
        others = others._replace(accuracy=1.0, smoothness=1.0)
    if math.isnan(metrics.get("angle", math.nan)):
        others = drop_turning(others)
    found = {name: metrics[f"{name}_cost"] for name in others._fields}
    if math.isnan(found["recovery"]):  # there is nothing to recover from
        found["recovery"] = 0.0
    total = sum(others._replace(recovery=0.0)) or others.recovery
    return (
        math.fsum(weight * found[name] for name, weight in others._asdict().items() if weight)
        / total
    )


#: The first packets of a session do much the same to two settings of one strategy; so much of what
#: they do to lags is each one's own. Found_co by trial, on fresh sessions.
OWN = 0.5


class GainKind(enum.Enum):
    """Kinds of gains of tuned settings over the defaults."""

    BETTER = "it is clearly better"
    NO_BETTER = "it is no better than the default as far as the data tell"
    WORSE = "it is clearly worse"
    UNSURE = "there is too little data to say how sure the difference is"
    DOUBTFUL = "the input is in doubt"
    SAME = "the default is the best that was found"


class Evaluation(NamedTuple):
    """A comparison of default and tuned settings on one part; ``gain`` is in ``low`` to ``high``.

    A gain above 0 improves the metric that was tuned for, in its unit; unknown ends are NaN.
    ``comparison`` has both.
    """

    default: Result
    tuned: Result
    gain: float
    low: float
    high: float
    comparison: Comparison

    @property
    def kind(self) -> GainKind:
        """The kind of the gain.

        Better, worse, no better, unsure, doubtful, or the same settings.
        """
        if self.default is self.tuned:
            return GainKind.SAME
        if math.isnan(self.low) or math.isnan(self.gain):
            return GainKind.UNSURE
        if self.comparison.doubts:
            return GainKind.DOUBTFUL
        if self.low > 0:
            return GainKind.BETTER
        return GainKind.WORSE if self.high < 0 else GainKind.NO_BETTER

    @property
    def keeps(self) -> bool:
        """True if the advice is to keep the defaults: the tuned settings are no better."""
        return self.kind in (GainKind.SAME, GainKind.NO_BETTER, GainKind.WORSE) or self.gain <= 0


class Harmless(NamedTuple):
    """The best settings that make no metric worse, and their evaluation."""

    settings: Mapping[str, Value]
    evaluation: Evaluation


@dataclass(frozen=True)
class Tuning:
    """The result of tuning one strategy.

    ``settings`` differ from the defaults, and the ``held`` ones were given. ``tuned_on`` and
    ``evaluated_on`` compare before and after, each on one part; the second is None if nothing was
    kept back. ``influences`` tell which settings matter, ``front`` what smoothness costs in
    latency. ``trials`` is the number of tried settings. ``interrupted``: more could have been
    found. ``harmless`` are better settings that make nothing worse, if the best make a metric
    ``worse``.
    """

    strategy: str
    held: Mapping[str, Value]
    settings: Mapping[str, Value]
    tuned_on: Evaluation
    evaluated_on: Evaluation | None
    influences: tuple[Influence, ...]
    front: tuple[FrontPoint, ...]
    trials: int
    interrupted: bool = False
    harmless: Harmless | None = None

    @property
    def worse(self) -> tuple[str, ...]:
        """The metrics that are worse than with the defaults, by name."""
        return find_worse(self.evaluation.default.values, self.evaluation.tuned.values)

    @property
    def evaluation(self) -> Evaluation:
        """The evaluation that decides: on data not used for tuning, if there are any."""
        return self.evaluated_on or self.tuned_on


@dataclass(frozen=True, repr=False)
class Tunings(Tabular):
    """The results of tuning strategies, in their given order.

    ``delays`` is the closed form for delay buffers. ``comparison`` compares all tuned strategies on
    untuned data, under their given names; None for a single one. ``untuned`` strategies have no
    settings worth tuning and take part as they are; ``unfit`` ones need arrival times, which are
    missing; ``adapted`` ones take two clocks for one, and what is tuned instead.
    """

    spec: TuneSpec
    divided: Divided
    tunings: tuple[Tuning, ...]
    comparison: Comparison | None
    delays: DelaysNeeded | None
    untuned: tuple[str, ...] = ()
    unfit: tuple[str, ...] = ()
    adapted: tuple[tuple[str, str], ...] = ()

    @property
    def goal(self) -> Goal:
        """The metric that settings were tuned for, as a cost."""
        return self.spec.goal

    @property
    def weights(self) -> Weights:
        """The weights of the score that settings were tuned by."""
        return self.spec.compare.weights

    @property
    def failed(self) -> bool:
        """True if a custom strategy failed."""
        return any(tuning.evaluation.tuned.failed for tuning in self.tunings)

    @property
    def interrupted(self) -> bool:
        """True if the search was interrupted."""
        return any(tuning.interrupted for tuning in self.tunings)

    def compare_before_and_after(self, selection: Selection) -> Comparison:
        """Compare all strategies, with tuned and with original settings, on data not tuned on."""
        taking_part = {
            row.label: row
            for each in self.tunings
            for row in (
                StrategySpec(each.strategy, each.settings),
                StrategySpec(each.strategy, each.held),
            )
        }
        on = self.divided.evaluated or self.divided.tuned
        return on.compare(list(taking_part.values()), selection)

    @property
    def best(self) -> Tuning:
        """The tuning of the strategy with the best value of the metric on data not tuned on."""
        return self.ordered[0]

    @property
    def ordered(self) -> list[Tuning]:
        """The tunings, the best first."""
        return sorted(
            self.tunings, key=lambda one: self.goal.compute_key(one.evaluation.tuned.values)
        )

    @property
    def pictured(self) -> list[str]:
        """The labels that pictures show by default: the best strategy, tuned and original."""
        best = self.best.evaluation
        return list(dict.fromkeys([best.tuned.label, best.default.label]))


class Gain(NamedTuple):
    """The improvement of a metric, in its unit, with its interval ``low`` to ``high``.

    NaN if unknown.
    """

    gain: float
    low: float
    high: float


class Paired(NamedTuple):
    """Comparisons of participants on the same data, so that their differences are paired.

    ``runs`` are the comparisons of each recording, ``comparison`` all of them; ``beside`` are those
    of other parts, whose events may happen here another time.
    """

    runs: Sequence[tuple[str, Comparison]]
    comparison: Comparison
    beside: Sequence[tuple[str, Comparison]]
    goal: Goal
    seed: int

    def find_gain(self, before: int, after: int) -> Gain:
        """Return the gain of the participant at ``after`` over the participant at ``before``."""
        metric, comparison = self.goal.metric, self.comparison
        results = [comparison.results[index] for index in (before, after)]

        def compute_merit(value: Any) -> Any:
            """Return a metric with a sign such that larger is better."""
            if metric.better is Better.HIGH:
                return value
            return -np.abs(value) if metric.better is Better.NEAR_ZERO else -value

        one, other = (float(compute_merit(result.value(metric.name))) for result in results)
        gain, ends = other - one, None
        if metric.interval and all(result.values for result in results):
            ends = compute_difference(
                self._collect_paired_values(before),
                self._collect_paired_values(after),
                lambda drawn: compute_merit(metric.value(drawn)),
                comparison.tick,
                comparison.weights,
                comparison.resolution,
                self.seed,
                comparison.certainty.rare if comparison.certainty else NetworkEvents(),
            )
        low, high = ends or (math.nan, math.nan)
        # what is drawn is skewed; a metric is never outside its own interval
        return Gain(gain, min(low, gain), max(high, gain))

    def _collect_paired_values(self, index: int) -> CandidateSums:
        runs, values = self.runs, self.comparison.results[index].values
        wavers = max(each.results[index].waver for _, each in runs) / math.sqrt(len(runs))
        others = [make_piece(each, index) for _, each in self.beside if each.results[index].values]
        return CandidateSums(
            values, [make_piece(each, index) for _, each in runs], OWN * wavers, others
        )


def compare_pairs(
    on: EvaluationSet,
    participants: Sequence[Participant],
    goal: Goal,
    beside: Sequence[tuple[str, Comparison]] = (),
) -> Paired:
    """Compare participants on one part of the data; the other part adds its rare network events."""
    runs, seed = on.compare_each(participants), on.spec.seed
    return Paired(runs, pool_runs(runs, seed), beside, goal, seed)


def evaluate(
    on: EvaluationSet,
    default: StrategySpec,
    tuned: StrategySpec,
    goal: Goal,
    beside: EvaluationSet | None = None,
) -> Evaluation:
    """Compare default and tuned settings on one part.

    The other part adds its rare network events.
    """
    if default.settings == tuned.settings:
        comparison = on.compare([default])
        (only,) = comparison.results
        return Evaluation(only, only, 0.0, 0.0, 0.0, comparison)
    both = compare_pairs(
        on, [default, tuned], goal, beside.compare_each([default, tuned]) if beside else ()
    )
    before, after = both.comparison.results
    return Evaluation(before, after, *both.find_gain(0, 1), both.comparison)


#: Most rounds in which settings are simplified one by one.
SWEEPS = 3


class TuneStep(NamedTuple):
    """The progress of a search: the strategy, its number, the count of trials, the best result."""

    strategy: str
    number: int
    strategies: int
    trials: int
    most: int
    best: float


class NothingToTune(Portable, ValueError):
    """An error: a strategy has no settings worth tuning, or all of them are held."""

    def __init__(self, strategy: str, held: Sequence[str]) -> None:
        given = f"; {', '.join(held)} {'is' if len(held) == 1 else 'are'} given" if held else ""
        super().__init__(f"{strategy} has no setting to tune{given}")
        self.strategy = strategy


class NeedsArrivals(Portable, ValueError):
    """An error: all strategies need arrival times, and the recording has none."""

    def __init__(self, strategies: Sequence[str]) -> None:
        need = "needs" if len(strategies) == 1 else "need"
        super().__init__(f"{', '.join(strategies)} {need} arrival times, and there are none")


class NothingTried(KeyboardInterrupt):
    """An error: an interrupt ended a search before its first trial."""


class DividedTooSmall(NotEnoughToSay):
    """An error: part of the recordings is too small to judge, though all together are not."""


def run(
    seek: Callable[..., Found],
    job: TuneJob,
    log: Logs = ReadingLog,
    tally: JobTally | None = None,
    *,
    progress: Callable[[TuneStep], None] | None = None,
) -> Found:
    """Run a search, ``tune`` or ``design``, over all runs together, with any workers.

    ``log`` makes the log of each recording. An unusable recording among several is left out and
    reported to the ``tally``. Raises what the search raises, ``UNUSABLE`` if the only recording,
    the truth or the workers are unusable, ``UnusableJournal``, ``DividedTooSmall``, and
    ``SettingError`` for contradictions.
    """
    given, spec = job.runs, job.how
    if isinstance(given, RecordedRuns):
        given.check(HERE)  # recordings are read here, whoever does the work
    tally = JobTally() if tally is None else tally
    runs = given.load_runs(log, tally, spec.compare.truth_offset)
    with open_workers(job.workers, tally) as (executor, journal):
        try:
            return seek(spec, runs, executor=executor, journal=journal, progress=progress)
        except NotEnoughToSay as error:
            if spec.division != "none" and _is_enough_undivided(spec, runs):
                raise DividedTooSmall(error.why) from error
            raise


@contextlib.contextmanager
def open_workers(
    workers: Workers, tally: JobTally
) -> Iterator[tuple[Executor | None, ResultJournal | None]]:
    """Yield an executor of trials in other processes, and a journal; None where none is asked for.

    Raises ``UnusableJournal``, ``CannotAccess``.
    """
    with contextlib.ExitStack() as opened:
        journal = opened.enter_context(workers.open_journal(KIND, tally))
        known = len(journal) if journal is not None else 0
        yield opened.enter_context(workers.open()) if workers.remote else None, journal
    if journal is not None and known:
        new = len(journal) - known
        trials = f"{new} new trial{'' if new == 1 else 's'}"
        tally.report_resumed(f"{trials} in {journal.path}, {known} known before")


def open_threads(
    executor: Executor | None, spec: TuneSpec
) -> contextlib.AbstractContextManager[Executor]:
    """Return the ``executor`` as a context or, without one, threads of this process."""
    if executor is not None:
        return contextlib.nullcontext(executor)
    return InterruptibleThreads(spec.compare.threads or os.cpu_count() or 1, "tune")


def _is_enough_undivided(spec: TuneSpec, runs: Sequence[Run]) -> bool:
    """Return True if all recordings together, undivided, are enough to judge strategies by."""
    try:
        make_evaluation_set(runs, spec.compare)
    except NotEnoughToSay:
        return False
    return True


def tune(
    spec: TuneSpec,
    runs: Sequence[Run],
    *,
    executor: Executor | None = None,
    journal: ResultJournal | None = None,
    progress: Callable[[TuneStep], None] | None = None,
) -> Tunings:
    """Tune the settings of each candidate, except those that the candidate sets.

    Threads of this process, or the ``executor``, evaluate settings. The same seed gives the same
    result with any number of them, unless a limit in seconds ends the search. ``journal`` saves
    trials. An interrupt (``KeyboardInterrupt``) ends the search of this strategy and all that
    follow: the result is the best so far.

    Raises ``NotEnoughToSay``, ``TooManyRows``, ``NothingToTune`` for a single strategy without
    settings to tune, ``NeedsArrivals``, ``NothingTried``.
    """
    divided = divide(runs, spec.compare, spec.division)
    candidates, unfit = _select_tunable_candidates(spec.strategies, divided)
    delays = find_needed_delays([run.packets for run in runs], candidates)
    adapted: tuple[tuple[str, str], ...] = ()
    if delays is not None:
        given = candidates
        candidates = [adapt_to_clocks(one, delays.least, delays.period) for one in given]
        adapted = tuple(
            (one.label, other.label)
            for one, other in zip(given, candidates, strict=True)
            if one is not other
        )
    hints = _collect_hints(delays)
    begun = time.monotonic()
    found: list[Tuning] = []
    untuned = []
    with open_threads(executor, spec) as workers:
        for number, one in enumerate(candidates, 1):
            space = make_space(one.name, one.settings)
            if not space.axes:
                if len(candidates) == 1:
                    raise NothingToTune(one.name, list(space.held))
                untuned.append(one.label)
            until = math.inf
            if spec.seconds is not None:  # what is left is shared by those that are to come
                now = time.monotonic()
                left = max(begun + spec.seconds - now, 0.0)
                until = now + left / (len(candidates) - number + 1)
            budget = Budget(spec.trials or choose_default_trials(space), until)
            trials = Trials(one.name, divided.tuned, spec.goal, budget, workers, journal)
            if progress is not None:
                trials.on_trial = _make_reporter(
                    progress, trials, one.label, number, len(candidates)
                )
            found.append(_make_tuning(space, trials, divided, hints.get(one.label, ())))
            if found[-1].interrupted:
                break
    on = divided.evaluated or divided.tuned
    tuned = [
        StrategySpec(one.strategy, one.settings, given.label)
        for one, given in zip(found, candidates, strict=False)
    ]
    return Tunings(
        spec,
        divided,
        tuple(found),
        on.compare(tuned) if len(tuned) > 1 else None,
        delays,
        tuple(untuned),
        unfit,
        adapted,
    )


def _select_tunable_candidates(
    candidates: Sequence[StrategySpec], divided: Divided
) -> tuple[Sequence[StrategySpec], tuple[str, ...]]:
    """Return the candidates that can be tuned on this data, and the names of the others.

    Raises ``NeedsArrivals``.
    """
    if all(prepared.by_arrival for prepared in divided.tuned.prepared):
        return candidates, ()
    fit = [candidate for candidate in candidates if not is_arrival_needed(candidate.make())]
    unfit = tuple(candidate.label for candidate in candidates if candidate not in fit)
    if not fit:
        raise NeedsArrivals(unfit)
    return fit, unfit


def _make_tuning(
    space: Space,
    trials: Trials,
    divided: Divided,
    hints: Sequence[Mapping[str, Value]],
) -> Tuning:
    goal, spec = trials.goal, divided.tuned.spec
    best: Trial | None = None
    important: tuple[Influence, ...] = ()
    points: Sequence[FrontPoint] = ()
    count, interrupted = 0, False
    try:
        search(space, trials, spec.seed, [{**hint, **space.held} for hint in hints])
        best = simplify_best(space, trials)
        count = len(trials.made)
        important = measure_influences(space, trials, best)
        for _ in range(SWEEPS):  # looking at each setting alone may have found something better
            again = simplify_best(space, trials)
            if again.settings == best.settings:
                break
            best, important = again, measure_influences(space, trials, again)
        points = choose_points(
            select_worthy(find_front(space.strategy, trials.made, spec.weights)), KEPT
        )
        points = simplify_front(points, trials, spec.weights, space.held)
        points = find_pareto([*points, *find_front(space.strategy, [best], spec.weights)])
    except KeyboardInterrupt:
        interrupted = True
        if not trials.made:
            raise NothingTried from None
        best = best or trials.best
        points = points or choose_points(
            select_worthy(find_front(space.strategy, trials.made, spec.weights)), KEPT
        )
    before = StrategySpec(space.strategy, space.held)
    after = StrategySpec(space.strategy, best.settings)
    on = divided.evaluated
    tuning = Tuning(
        space.strategy,
        space.held,
        best.settings,
        evaluate(divided.tuned, before, after, goal),
        evaluate(on, before, after, goal, divided.tuned) if on else None,
        important,
        tuple(points),
        count or len(trials.made),
        interrupted,
    )
    if interrupted or tuning.evaluation.keeps or not tuning.worse:
        return tuning
    return replace(tuning, harmless=_find_harmless_settings(space, trials, divided))


def _find_harmless_settings(space: Space, trials: Trials, divided: Divided) -> Harmless | None:
    """Return the best settings that make no metric worse on either part of the data."""
    goal, default = trials.goal, trials.find_trial(dict(space.held))

    def accept(metrics: MetricValues) -> bool:
        return bool(metrics) and not find_worse(default.metrics, metrics)

    some = [trial for trial in trials.made if accept(trial.metrics)]
    best = min(some, key=lambda trial: goal.compute_key(trial.metrics), default=default)
    if goal.compute_cost(best.metrics) >= goal.compute_cost(default.metrics):
        return None
    best = simplify_best(space, trials, best=best, accept=accept)
    before, after = (StrategySpec(space.strategy, row.settings) for row in (default, best))
    judged = divided.evaluated
    found = (
        evaluate(judged, before, after, goal, divided.tuned)
        if judged
        else evaluate(divided.tuned, before, after, goal)
    )
    if found.keeps or find_worse(found.default.values, found.tuned.values):
        return None
    return Harmless(best.settings, found)


def _collect_hints(delays: DelaysNeeded | None) -> dict[str, list[Mapping[str, Value]]]:
    """Return the settings that the closed form of delays recommends, by strategy label."""
    return {
        buffer.label: [cure.settings for cure in buffer.cures[0] if cure.settings is not None]
        for buffer in (delays.buffers if delays else ())
    }


def _make_reporter(
    progress: Callable[[TuneStep], None], trials: Trials, label: str, number: int, strategies: int
) -> Callable[[Trial, int], None]:
    best = math.inf

    def report(one: Trial, count: int) -> None:
        nonlocal best
        best = min(best, trials.goal.compute_cost(one.metrics))
        shown = abs(best) if math.isfinite(best) else math.nan
        progress(
            TuneStep(label, number, strategies, count, max(trials.budget.trials, count), shown)
        )

    return report
