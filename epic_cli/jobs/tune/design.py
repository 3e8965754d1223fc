"""The search for a composition of parts: tune each composition, and take the simplest good one.

A composition is a strategy with parts added to its plain form; their count is its complexity. The
search begins with the plain ones and goes on part by part: each of the best gets one more. A few
values of the numbers tell which are worth tuning (``search``); the others are dropped, and so is a
part without effect. Of the best with each number of parts, the simplest that is not clearly worse
than the best of all, on the part where both were tuned, is taken.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from epic_cli.engine.parameters import SettingError
from epic_cli.engine.replay.strategy_spec import StrategySpec, split
from epic_cli.engine.strategies import get_declaration
from epic_cli.jobs.tune.run import (
    KEPT,
    POINT,
    SHARE,
    FrontPoint,
    Gain,
    NothingTried,
    Paired,
    TuneStep,
    choose_points,
    compare_pairs,
    compute_slack,
    find_front,
    find_pareto,
    open_threads,
    search,
    select_worthy,
    simplify_best,
)
from epic_cli.jobs.tune.trials import (
    Axis,
    Budget,
    BudgetSpent,
    Divided,
    EvaluationSet,
    Point,
    Space,
    Trial,
    Trials,
    divide,
    make_space,
    spread,
)
from epic_cli.metrics.arrays import POSITION, make_packet_table
from epic_cli.metrics.certainty import STEADY
from epic_cli.metrics.comparison import Comparison, Result, list_causes
from epic_cli.metrics.tabular import Tabular
from epic_cli.metrics.traffic import make_traffic

if TYPE_CHECKING:
    from epic_cli.jobs.tune.spec import Goal, TuneSpec
    from epic_cli.metrics.evaluation import Participant, Run
    from epic_cli.metrics.metric import Weights
    from epic_cli.show.scene import Selection
    from epic_cli.work.journal import ResultJournal


class Part(NamedTuple):
    """One part of a composition: its settings, as ``-s`` takes them, and the ``numbers`` to tune.

    ``adds`` is its complexity. ``needs`` are conditions of the data: ``velocities``, ``arrivals``,
    ``jumps``, ... Names are separated by blanks.
    """

    words: str
    written: str
    tuned: str = ""
    adds: int = 1
    needs: str = ""

    @property
    def settings(self) -> dict[str, str]:
        """The settings as text."""
        return split(f"+{self.written}")[1] if self.written else {}

    @property
    def numbers(self) -> list[str]:
        """The names of axes: a setting, or a setting with its unit."""
        return self.tuned.split()

    @property
    def names(self) -> set[str]:
        """The names of the settings that the part sets."""
        return {*self.settings, *map(_get_axis_setting, self.numbers)}

    @property
    def slot(self) -> str:
        """The slot that the part fills; a composition has at most one part in each slot."""
        return next(iter([*self.numbers, *self.settings]), "")


def _get_axis_setting(number: str) -> str:
    """Return the setting of an axis."""
    return number.partition("/")[0]


class DesignKind(NamedTuple):
    """A strategy for compositions: one of its ``one`` parts, and any of its ``others``."""

    strategy: str
    one: tuple[Part, ...]
    others: tuple[Part, ...] = ()


#: A delay in send intervals, or in seconds, and when that is another thing.
INTERVALS, _SECONDS = ("delay/i", ""), ("delay", "unsteady")

#: The ways to find the sender's time, the usual ones first, and what they add. Not those whose
#: delay is that of one session: ``agree`` and ``first``.
_CLOCKS = {
    "clock=min": 0, "clock=min+clock_time=10": 0, "clock=min+clock_time=60": 0,
    "clock=median": 0, "clock=mean": 0,
    "clock=mean+clock_time=10": 0, "clock=max": 0, "clock=newest": 0, "stamps=arrival": 0,
    "clock=pll": 1, "stamps=ticks+clock=min": 1,
}  # fmt: skip
_SNAP = Part("a snap", "", "snap", needs="jumps")

#: All that can be composed. Predictors have parts of their own: by what, and how it is corrected.
KINDS = (
    DesignKind(
        "buffer",
        (
            *(
                Part(clock, clock, number, adds, f"arrivals {need}")
                for number, need in (INTERVALS, _SECONDS)
                for clock, adds in _CLOCKS.items()
            ),
            Part("clock=agree", "clock=agree", "delay/i", 0, "stamps"),
            Part("clock=agree", "clock=agree", "delay", 0, "stamps unsteady"),
        ),
        (
            Part("Hermite", "curve=hermite", needs="velocities"),
            Part("Catmull-Rom", "curve=catmull-rom"),
            Part("extrapolation", "", "beyond"),
            Part("extrapolation and back", "beyond_then=return", "beyond", 2),
            Part("extrapolation by velocity", "beyond_along=velocity", "beyond", 1, "velocities"),
            Part("a jitter margin", "", "jitter_margin", needs="arrivals"),
            Part("catching up at a rate", "catch_up=rate", "catch_up_rate"),
            Part("a low-pass", "", "low_pass"),
            Part("a spring", "follow=spring", "low_pass", 2),
            _SNAP,
        ),
    ),
    DesignKind(
        "chase",
        (
            Part("exponential", "how=exponential", "time", 0),
            Part("linear", "how=linear", "time", 0),
            Part("one interval", "how=interval", "", 0),
            Part("constant speed", "how=speed", "speed", 0),
            Part("a spring", "how=spring", "time"),
            Part("an ease", "how=eased", "time"),
            Part("an ease", "how=eased+ease=out-quad", "time"),
        ),
        (
            *(
                Part(f"prediction {words}", f"ahead={ahead}+age={age}", needs=needs)
                for ahead, words, needs in (
                    ("velocity", "by velocity", "velocities"),
                    ("arrival", "to the arrival", "velocities"),
                    ("step", "by the last step", ""),
                )
                for age in ("auto", "stamp")
            ),
            _SNAP,
        ),
    ),
    DesignKind(
        "dead-reckoning",
        tuple(
            Part(f"a {name} correction", f"correction={name}", number, adds, "velocities")
            for name, number, adds in (
                ("snap", "", 1),
                ("blend", "correction_time", 1),
                ("spline", "correction_time", 2),
                ("second-order", "correction_time", 2),
            )
        ),
        (Part("acceleration", "acceleration=estimated"),),
    ),
    DesignKind(
        "dis",
        tuple(
            Part(model, f"model={model}", "", adds, f"velocities {need}")
            for model, adds, need in (
                ("fpw", 1, ""), ("fvw", 2, ""), ("rpw", 2, "turns"), ("rvw", 3, "turns"),
            )
        ),
    ),
    DesignKind("epic", (Part("", "", "calc_ahead display_behind", 1, "velocities"),)),
    DesignKind(
        "kalman",
        (
            Part("velocities", "measures=both", "r_velocity q_variance", 2, "velocities"),
            Part("positions", "measures=position", "r_position q_variance", 2),
        ),
    ),
)  # fmt: skip

#: Compositions of more parts beside the plain ones are not tried.
MOST_PARTS = 4

#: Of those with one more part than others, this many are tuned, and this many are given another.
TUNED, GROWN = 16, 12

#: Trials for each number of a composition.
TRIALS_A_NUMBER = 30

#: Where a new number is tried first, and how far those known are moved to either side for it, as
#: shares of their ranges.
GLANCES, ASIDE = (0.15, 0.4, 0.75), 0.15

#: A score that is better by fewer points, or another metric by this share, is worth no digit and no
#: part.
WORTHLESS, WORTHLESS_SHARE = 0.2, 0.002

#: A point with less than this share of the best score of its complexity is not on the front.
USEFUL = 0.85

#: Two that differ by less than this (points of score; s) draw the same.
EQUAL, EQUAL_LAG = 0.002, 0.0002


class Composition(NamedTuple):
    """A strategy made of parts, the required one first."""

    strategy: str
    parts: tuple[Part, ...]

    @property
    def complexity(self) -> int:
        """The number of parts beyond the plain parts."""
        return sum(part.adds for part in self.parts)

    @property
    def key(self) -> tuple[object, ...]:
        """A key that does not depend on the order of the parts."""
        return self.strategy, frozenset((part.written, part.tuned) for part in self.parts)

    def grown(self, kinds: Iterable[DesignKind]) -> Iterator[Composition]:
        """Yield the composition with each further part that fits."""
        slots = {part.slot for part in self.parts}
        names = {name for part in self.parts for name in part.names}
        for kind in kinds:
            for part in kind.others if kind.strategy == self.strategy else ():
                if part.slot not in slots and names.isdisjoint(part.names):
                    yield self._replace(parts=(*self.parts, part))


def _make_part(found: StrategySpec) -> Part:
    """Return the composition that a game draws as one part, with its numbers to tune.

    Each of its words is as complex as a part.
    """
    words, numbers = dict[str, Any](), list[str]()
    tunable = {axis.name for axis in make_space(found.name, {}).axes}
    for name, value in found.settings.items():
        if name == "delay" and f"{value}".endswith("i"):
            numbers.append(INTERVALS[0])
        elif isinstance(value, float) and name in tunable:
            numbers.append(name)
        else:
            words[name] = value
    written = "+".join(f"{name}={value}" for name, value in words.items())
    return Part("what you draw, tuned", written, " ".join(numbers), len(words))


def _make_composition(found: StrategySpec) -> Composition:
    """Return the composition that a game draws."""
    return Composition(found.name, (_make_part(found),))


class Conditions(NamedTuple):
    """Properties of the data that decide which parts make sense.

    ``there`` are names that parts may need, ``period`` (s) is the usual send interval, and
    ``jumps`` (length) is the range of distances between two packets that may be jumps.
    """

    there: frozenset[str]
    period: float
    jumps: tuple[float, float]


#: Steps of the packets: what is this many times longer than nearly all of them may be a jump.
NEARLY_ALL, JUMP = 0.99, 3.0


def conditions(runs: Sequence[Run], by_arrival: bool) -> Conditions:
    """Return the conditions that hold for all recordings together."""
    blocks = [block for run in runs for block in run.packets.values()]
    there = {"arrivals" if by_arrival else "stamps"}
    if not any(block.lacks_velocity() for block in blocks):
        there.add("velocities")
    if any(block.turns() for block in blocks):
        there.add("turns")
    usual, largest, periods, steady = 0.0, 0.0, list[float](), True
    for run in runs:
        for block in run.packets.values():
            table = make_packet_table(block)
            steps = np.linalg.norm(np.diff(table[POSITION]), axis=0)
            usual = max(usual, float(np.quantile(steps, NEARLY_ALL)) if len(steps) else 0.0)
            largest = max(largest, float(steps.max(initial=0.0)))
        messages = make_traffic(run.packets).messages
        between = np.diff(np.sort(messages.sent)) if messages is not None else np.empty(0)
        between = between[between > 0]
        if len(between):
            periods.append(float(np.median(between)))
            steady &= float((np.abs(between / periods[-1] - 1) < 0.25).mean()) > STEADY
    if not steady or max(periods, default=1.0) > 1.1 * min(periods, default=1.0):
        there.add("unsteady")
    if largest > 2 * JUMP * usual > 0:
        there.add("jumps")
    return Conditions(
        frozenset(there), float(np.median(periods)) if periods else 0.05, (JUMP * usual, largest)
    )


def find_kinds(strategies: Sequence[StrategySpec], found: Conditions) -> list[DesignKind]:
    """Return the kinds of compositions to try (no strategies: all), with the settings to hold.

    Raises ``SettingError`` if there is nothing.
    """
    known = {kind.strategy: kind for kind in KINDS}
    kinds = []
    for spec in strategies or [StrategySpec(name) for name in known]:
        if spec.name not in known:
            names = ", ".join(known)
            raise SettingError(f"{spec.name} is not made of parts: --design composes {names}")
        kind, held = known[spec.name], make_space(spec.name, spec.settings).held
        one, others = (
            [part for part in parts if found.there.issuperset(part.needs.split())]
            for parts in (kind.one, kind.others)
        )
        words = [make_space(spec.name, part.settings).held for part in one]
        asked = {name: held[name] for name in held if any(name in own for own in words)}
        # what is given is one of these, or stands in the place of the first
        given = [part for part, own in zip(one, words, strict=True) if own.items() >= asked.items()]
        free = (
            part._replace(
                tuned=" ".join(n for n in part.numbers if _get_axis_setting(n) not in held)
            )
            for part in given or [part._replace(words="", written="") for part in one[:1]]
        )
        others = [part for part in others if held.keys().isdisjoint(part.names)]
        if one:
            kinds.append(DesignKind(spec.name, tuple(free), tuple(others)))
    if not kinds:
        names = ", ".join(spec.name for spec in strategies)
        raise SettingError(f"{names}: this strategy needs packets with velocities")
    return kinds


def collect_axes(strategy: str, found: Conditions) -> dict[str, Axis]:
    """Return the axes of compositions, by name."""
    axes = {axis.name: axis._replace(words=()) for axis in make_space(strategy, {}).axes}
    if "delay" in axes:
        period, low, high = found.period, *(axes["delay"].low or 0.0, axes["delay"].high)
        low, high = min(low / period, 0.5), max(high / period, 4.0)
        low = _round_up(low)  # a bound is a likely answer, and somebody writes it down
        axes[INTERVALS[0]] = axes["delay"]._replace(low=low, high=min(high, 100.0), suffix="i")
    axes["snap"] = Axis("snap", 0.0, (), *found.jumps, log=True)
    return axes


def _round_up(number: float) -> float:
    """Return the next number of two digits that is not smaller; 0 for 0."""
    size = 10.0 ** math.floor(math.log10(number) - 1) if number > 0 else 1.0
    return float(f"{math.ceil(number / size - 1e-6) * size:.2g}")


# ---------------------------------------------------------------- the search


@dataclass(eq=False)
class _TriedComposition:
    """A composition, its space, and its trials; ``tuned`` is the best trial after tuning.

    ``order`` is its place among all.
    """

    composition: Composition
    space: Space
    trials: Trials
    order: int
    tuned: Trial | None = None

    @property
    def best(self) -> Trial:
        """The best trial."""
        return self.tuned or self.trials.best

    @property
    def cost(self) -> float:
        """The cost of the best trial."""
        return self.trials.goal.compute_cost(self.best.metrics)

    @property
    def rank(self) -> tuple[float, int]:
        """The sort key: the lowest cost first; among equal costs, usual parts first."""
        return self.cost, self.order

    @property
    def sound(self) -> bool:
        """True if the composition was tuned, can be judged, and needs all its parts."""
        best = self.tuned.settings if self.tuned else {}
        on = all(axis.default != 0 or axis.name in best for axis in self.space.axes)
        return self.tuned is not None and math.isfinite(self.cost) and on

    @property
    def spec(self) -> StrategySpec:
        """The strategy as text needs it: no default words, but all numbers."""
        usual = get_declaration(self.space.strategy).values({})
        numbers = {axis.name: axis.default for axis in self.space.axes}
        given = {**numbers, **self.best.settings}
        names = [name for name in usual if name in given]
        kept = [name for name in names if name in numbers or given[name] != usual[name]]
        return StrategySpec(self.space.strategy, {name: given[name] for name in kept})


class _DesignSearch:
    """The search over compositions on one part of the data, with all compositions ``tried``."""

    def __init__(
        self,
        spec: TuneSpec,
        on: EvaluationSet,
        found: Conditions,
        executor: Executor,
        journal: ResultJournal | None,
        progress: Callable[[TuneStep], None] | None,
        begun: StrategySpec | None = None,
    ) -> None:
        self.kinds = find_kinds(spec.strategies, found)
        self._begun = begun
        self.tried: list[_TriedComposition] = []
        self._spec, self._on, self._workers = spec, on, (executor, journal)
        self._held = {row.name: make_space(row.name, row.settings).held for row in spec.strategies}
        self._axes = {kind.strategy: collect_axes(kind.strategy, found) for kind in self.kinds}
        self._until = math.inf if spec.seconds is None else time.monotonic() + spec.seconds
        self._progress = progress

    def run(self) -> None:
        """Search by number of parts, from few to many; raise ``BudgetSpent``."""
        wanted: dict[int, dict[object, tuple[Composition, _TriedComposition | None]]] = {}
        for kind in self.kinds:
            for part in kind.one:
                plain_one = Composition(kind.strategy, (part,))
                wanted.setdefault(part.adds, {})[plain_one.key] = (plain_one, None)
        if self._begun is not None and self._begun.name in self._axes:
            own = _make_composition(self._begun)
            wanted.setdefault(own.complexity, {})[own.key] = (own, None)
        starts, best = max(wanted), math.inf
        for count in range(MOST_PARTS + 1):
            looked = [self._try_briefly(*pair) for pair in wanted.get(count, {}).values()]
            kept = self._tune_best(_select_varied_compositions(looked, TUNED), count)
            for base in _select_varied_compositions(kept, GROWN):
                for more in base.composition.grown(self.kinds):
                    wanted.setdefault(more.complexity, {}).setdefault(more.key, (more, base))
            least = min((row.cost for row in kept), default=math.inf)
            if count >= starts and least > best - worthless(self._spec.goal, best):
                break
            best = min(best, least)

    def _try_briefly(
        self, composition: Composition, parent: _TriedComposition | None
    ) -> _TriedComposition:
        """Try a composition a few times, from the settings of one with a part less."""
        name, axes = composition.strategy, self._axes[composition.strategy]
        held = dict(self._held.get(name, {}))
        for part in composition.parts:
            held |= make_space(name, part.settings).held
        numbers = [axes[number] for part in composition.parts for number in part.numbers]
        space = Space(name, held, tuple(numbers))
        budget = Budget(1_000_000, self._until)
        executor, journal = self._workers
        trials = Trials(name, self._on, self._spec.goal, budget, executor, journal)
        one = _TriedComposition(composition, space, trials, len(self.tried))
        self.tried.append(one)
        points: Iterable[Point] = spread(max(6 * len(numbers), 1), space.axes)
        if parent is not None:
            points = _iterate_nearby_points(space, parent)
        elif self._begun is not None and composition == _make_composition(self._begun):
            points = itertools.chain([space.find_point(self._begun.settings)], points)
        trials.compute_costs([space.make_settings(point) for point in points])
        return one

    def _tune_best(self, tried: Sequence[_TriedComposition], count: int) -> list[_TriedComposition]:
        """Tune the best compositions with few digits; skip those that draw the same."""
        for done, one in enumerate(tried):
            self._report_progress(count + done / len(tried))
            most = self._spec.trials or TRIALS_A_NUMBER * len(one.space.axes)
            one.trials.budget = Budget(max(most, len(one.trials.made)), self._until)
            search(one.space, one.trials, self._spec.compare.seed)
            one.tuned = simplify_best(one.space, one.trials, WORTHLESS, WORTHLESS_SHARE)
            if time.monotonic() >= self._until:
                raise BudgetSpent
        found: list[_TriedComposition] = []
        for each in sorted(tried, key=lambda row: row.rank):
            if each.sound and not any(_has_same_figures(each, row) for row in found):
                found.append(each)
        return found

    def _report_progress(self, levels: float) -> None:
        """Report the progress, by the number of parts."""
        if self._progress is not None:
            share, most = round(1000 * levels / (MOST_PARTS + 1)), 1000
            costs = [row.cost for row in self.tried if row.sound]
            best = abs(min(costs, default=math.nan))
            self._progress(TuneStep(f"{levels:.0f} parts", 1, 1, share, most, best))


def worthless(goal: Goal, cost: float) -> float:
    """Return the rise in cost that does not justify another digit or part."""
    return compute_slack(goal, cost, WORTHLESS, WORTHLESS_SHARE)


def _select_varied_compositions(
    tried: Sequence[_TriedComposition], most: int
) -> list[_TriedComposition]:
    """Return the best composition of each strategy, then the best of the rest."""
    ranked = sorted(tried, key=lambda one: one.rank)
    first = {row.composition.strategy: row for row in reversed(ranked)}.values()
    return [*first, *(row for row in ranked if row not in first)][: max(most, len(first))]


def _iterate_nearby_points(space: Space, parent: _TriedComposition) -> Iterator[Point]:
    """Yield points around the parent's best point, with a few values of each new number."""
    known = {axis.name for axis in parent.space.axes}
    here = space.find_point(parent.best.settings)
    ways = [GLANCES if axis.name not in known else (None,) for axis in space.axes]
    for shares in itertools.product(*ways):
        for aside in (0.0, -ASIDE, ASIDE) if known else (0.0,):
            moved = [
                min(max(own + aside, 0.0), 1.0) if share is None else share
                for own, share in zip(here.shares, shares, strict=True)
            ]
            yield Point(here.kinds, tuple(moved))


def _has_same_figures(one: _TriedComposition, other: _TriedComposition) -> bool:
    """Return whether two results have the same values of all metrics."""
    mine, theirs = one.best.metrics, other.best.metrics
    return all(
        abs(mine.get(name, math.nan) - theirs.get(name, math.nan)) < most
        for name, most in (("score", EQUAL), ("lag", EQUAL_LAG))
    )


# ---------------------------------------------------------------- what came out


class DesignRow(NamedTuple):
    """A composition, its complexity, and its results.

    ``own`` is the result where it was tuned, ``result`` where it was not; ``gain`` is its lead
    there over the taken one. What the game drew has no ``composition``.
    """

    label: str
    own: Result
    result: Result
    gain: Gain
    composition: Composition | None = None
    strategy: StrategySpec | None = None


class DesignPoint(NamedTuple):
    """A point of the Pareto front over complexity and latency."""

    complexity: int
    point: FrontPoint


@dataclass(frozen=True, repr=False)
class Design(Tabular):
    """The result of a design: the ``taken`` row, and the others.

    ``simplest`` are the best by complexity, each better than all simpler ones where they were
    tuned, the last one best of all; ``others`` are the best of other strategies. ``drawn`` is the
    game's drawing, if known, and ``begun`` its composition, if understood; ``causes`` are the costs
    by which it differs from the taken one, in points of score, the main one first. ``comparison``
    has all of them on data they were not tuned on. ``fronts`` are, by complexity, the points that
    nothing with at most that many parts beats in latency and roughness. ``period`` (s) is the usual
    send interval.
    """

    spec: TuneSpec
    divided: Divided
    simplest: tuple[DesignRow, ...]
    others: tuple[DesignRow, ...]
    taken: DesignRow
    comparison: Comparison
    fronts: tuple[tuple[int, tuple[DesignPoint, ...]], ...]
    compositions: int
    trials: int
    period: float
    drawn: DesignRow | None
    causes: tuple[tuple[str, float], ...]
    participants: tuple[Participant, ...] = field(repr=False)
    interrupted: bool
    begun: StrategySpec | None

    @property
    def goal(self) -> Goal:
        """The goal of the search."""
        return self.spec.goal

    @property
    def weights(self) -> Weights:
        """The weights of the score."""
        return self.spec.compare.weights

    @property
    def rows(self) -> tuple[DesignRow, ...]:
        """All rows; what the game drew comes last."""
        return (*self.simplest, *self.others, *([self.drawn] if self.drawn else []))

    @property
    def tuned_drawing(self) -> DesignRow | None:
        """The game's composition with its numbers tuned, if it is understood."""
        composition = None if self.begun is None else _make_composition(self.begun)
        return next((row for row in self.rows if row.composition == composition), None)

    @property
    def failed(self) -> bool:
        """True if a custom strategy failed."""
        return self.taken.result.failed

    def compare_before_and_after(self, selection: Selection) -> Comparison:
        """Compare the taken composition with all others, on data not used for tuning."""
        on = self.divided.evaluated or self.divided.tuned
        return on.compare(self.participants, selection)

    @property
    def pictured(self) -> list[str]:
        """The labels that pictures show first."""
        others = [row.label for row in reversed(self.rows)]
        return list(dict.fromkeys([self.taken.label, *others]))[:2]


def design(
    spec: TuneSpec,
    runs: Sequence[Run],
    *,
    executor: Executor | None = None,
    journal: ResultJournal | None = None,
    progress: Callable[[TuneStep], None] | None = None,
) -> Design:
    """Return the simplest composition that the data do not clearly rank below the best.

    ``spec.strategies`` are those to compose (none: all); their settings are held. Parameters and
    errors are those of ``tune``; raises ``SettingError`` for strategies of which nothing can be
    composed.
    """
    divided = divide(runs, spec.compare, spec.division)
    by_arrival = all(prepared.by_arrival for prepared in divided.tuned.prepared)
    there = conditions(runs, by_arrival)
    interrupted = False
    with open_threads(executor, spec) as workers:
        begun = _find_drawn_composition(runs[0]) if len(runs) == 1 else None
        seeking = _DesignSearch(spec, divided.tuned, there, workers, journal, progress, begun)
        try:
            seeking.run()
        except BudgetSpent:
            pass
        except KeyboardInterrupt:
            interrupted = True
    tried = [row for row in seeking.tried if row.trials.made]
    if not tried:
        raise NothingTried
    shown = runs[0].drawn if len(runs) == 1 else None
    simplest, others = _select_candidates([row for row in tried if row.sound] or tried, spec.goal)
    own = [row for row in tried if begun and row.composition == _make_composition(begun)]
    others += [row for row in own if row not in simplest and row not in others]
    made = [*simplest, *others]
    participants: tuple[Participant, ...] = tuple(row.spec for row in made)
    participants += (shown,) if shown else ()
    tuned = compare_pairs(divided.tuned, participants, spec.goal)
    judged, at = tuned, _choose_simplest_sufficient(simplest, tuned)
    if divided.evaluated:
        judged = compare_pairs(divided.evaluated, participants, spec.goal, tuned.runs)
    rows = [
        DesignRow(
            participant.label,
            tuned.comparison.results[row],
            judged.comparison.results[row],
            Gain(0.0, 0.0, 0.0) if row == at else judged.find_gain(at, row),
            made[row].composition if row < len(made) else None,
            made[row].spec if row < len(made) else None,
        )
        for row, participant in enumerate(participants)
    ]
    return Design(
        spec,
        divided,
        tuple(rows[: len(simplest)]),
        tuple(rows[len(simplest) : len(made)]),
        rows[at],
        judged.comparison,
        tuple(_find_fronts(tried, spec.compare.weights)),
        len(tried),
        sum(len(row.trials.made) for row in tried),
        there.period,
        rows[-1] if shown else None,
        list_causes(rows[at].result, rows[-1].result, spec.compare.weights) if shown else (),
        participants,
        interrupted,
        begun,
    )


def _find_drawn_composition(run: Run) -> StrategySpec | None:
    """Return the composition that a game drew, if that is known and understood."""
    if run.drawn is None:
        return None
    from epic_cli.jobs.diagnose.drawn import match
    from epic_cli.metrics.drawn_path import UnusableDrawing

    try:
        found = match(run.packets, run.drawn.paths)
    except UnusableDrawing:
        return None
    understood = found.found or found.likely
    return found.mechanism.strategy if understood and found.mechanism is not None else None


def _select_candidates(
    tried: Sequence[_TriedComposition], goal: Goal
) -> tuple[list[_TriedComposition], list[_TriedComposition]]:
    """Return the best of each complexity that is worth its parts, and of other strategies."""
    simplest: list[_TriedComposition] = []
    for count in sorted({row.composition.complexity for row in tried}):
        alike = sorted(
            (row for row in tried if row.composition.complexity == count), key=lambda one: one.rank
        )
        near = alike[0].cost + worthless(goal, alike[0].cost)
        best = min(
            (row for row in alike if row.cost <= near),
            key=lambda one: (len(one.best.settings), len(str(one.best.settings)), one.order),
        )
        if not simplest or best.cost < simplest[-1].cost - worthless(goal, simplest[-1].cost):
            simplest.append(best)
    known = {row.composition.strategy for row in simplest}
    others: list[_TriedComposition] = []
    for each in sorted(tried, key=lambda each: each.rank):
        drawn = any(_has_same_figures(each, row) for row in (*simplest, *others))
        if each.composition.strategy not in known and not drawn:
            known.add(each.composition.strategy)
            others.append(each)
    return simplest, others


#: Where there is too little data to say what is clear, this many times as much is.
UNKNOWN = 5


def _choose_simplest_sufficient(simplest: Sequence[_TriedComposition], judged: Paired) -> int:
    """Return the index of the first candidate that is about as good as the best one.

    The best one does not clearly and noticeably beat that candidate.
    """
    best = len(simplest) - 1
    enough = compute_slack(judged.goal, simplest[best].cost, POINT, SHARE)
    for at in range(best):
        gain = judged.find_gain(at, best)
        known = not math.isnan(gain.low)
        if gain.gain <= (enough if known else UNKNOWN * enough) or gain.low <= 0:
            return at
    return best


def _find_fronts(
    tried: Sequence[_TriedComposition], weights: Weights
) -> Iterator[tuple[int, tuple[DesignPoint, ...]]]:
    """Return, for each useful complexity, the front of compositions up to that complexity."""
    points: dict[int, list[FrontPoint]] = {}
    for each in tried:
        found = find_front(each.composition.strategy, each.trials.made, weights)
        points.setdefault(each.composition.complexity, []).extend(found)
    whole: list[DesignPoint] = []
    for complexity in sorted(points):
        own = choose_points(select_worthy(find_pareto(points[complexity]), USEFUL), KEPT)
        more = [point for point in own if _is_worthwhile_point(point, whole)]
        of = {id(each.point): each for each in whole}
        best = find_pareto([*(each.point for each in whole), *more])
        whole = [of.get(id(point)) or DesignPoint(complexity, point) for point in best]
        if more:
            yield complexity, tuple(whole)


def _is_worthwhile_point(point: FrontPoint, simpler: Iterable[DesignPoint]) -> bool:
    """Return whether a point is smoother, by the value of a part, than simpler points no later."""
    rough = (each.point.roughness for each in simpler if each.point.latency <= point.latency)
    # the score is 100 / (1 + costs), of which roughness is one
    worth_it = 100 * WORTHLESS / max(point.score, 1.0) ** 2
    return point.roughness < min(rough, default=math.inf) - worth_it
