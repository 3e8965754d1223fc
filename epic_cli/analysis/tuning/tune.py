"""Good numbers for strategies: searched for on one part of the recordings, judged on the other."""

from __future__ import annotations

import contextlib
import math
import os
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from epic_cli.analysis.compare import needs_arrivals
from epic_cli.analysis.tuning.closed_form import DelaysNeeded, delays_needed
from epic_cli.analysis.tuning.front import (
    KEPT,
    FrontPoint,
    chosen,
    front,
    pareto,
    simplified,
    worth,
)
from epic_cli.analysis.tuning.goal import Goal
from epic_cli.analysis.tuning.influence import Influence, influences, plain
from epic_cli.analysis.tuning.memory import JournalMemory
from epic_cli.analysis.tuning.search import search, usual_tries
from epic_cli.analysis.tuning.space import Space, space_of
from epic_cli.analysis.tuning.tries import Budget, Memory, Trials, Try
from epic_cli.analysis.tuning.validation import Divided, Judgement, judged
from epic_cli.engine.replay.strategy_spec import StrategySpec

if TYPE_CHECKING:
    from epic_cli.analysis.compare import Comparison
    from epic_cli.analysis.jobs.journal import Journal
    from epic_cli.analysis.study import Run
    from epic_cli.analysis.weights import Weights
    from epic_cli.engine.settings import Value


class Limits(NamedTuple):
    """How long to search: so many ``tries`` (None: as suits each strategy), so many ``seconds``.

    The seconds are those of all strategies together.
    """

    tries: int | None = None
    seconds: float | None = None


class Step(NamedTuple):
    """How far a search has come: which strategy of how many, which try, and the best so far."""

    strategy: str
    number: int
    strategies: int
    tries: int
    most: int
    best: float


@dataclass(frozen=True)
class Tuning:
    """What came out for one strategy.

    ``settings`` are those that differ from the defaults, ``held`` those of them that were given.
    ``tuned_on`` and ``judged_on`` are both judged, before and after; the second is None where
    nothing was kept for it. ``influences`` say which settings matter, the ``front`` what smoothness
    costs in latency. ``tries`` is how many settings were tried. ``interrupted``: it could have
    found more.
    """

    strategy: str
    held: Mapping[str, Value]
    settings: Mapping[str, Value]
    tuned_on: Judgement
    judged_on: Judgement | None
    influences: tuple[Influence, ...]
    front: tuple[FrontPoint, ...]
    tries: int
    interrupted: bool = False

    @property
    def judgement(self) -> Judgement:
        """What counts: on what it was not tuned on, if there is any."""
        return self.judged_on or self.tuned_on


@dataclass(frozen=True)
class Tunings:
    """What came out, by strategy in the order given.

    ``goal`` is what was tuned for, ``delays`` what the closed form says of delay buffers.
    ``comparison`` is that of all tuned strategies with each other, on what they were not tuned on,
    under the names that were given; None of a single one. ``untuned`` are strategies without
    settings worth tuning, which take part in it as they are; ``unfit`` are those that need arrival
    times, where there are none.
    """

    goal: Goal
    weights: Weights
    divided: Divided
    seed: int
    tunings: tuple[Tuning, ...]
    comparison: Comparison | None
    delays: DelaysNeeded | None
    untuned: tuple[str, ...] = ()
    unfit: tuple[str, ...] = ()

    @property
    def interrupted(self) -> bool:
        """Whether there could have been more."""
        return any(one.interrupted for one in self.tunings)


#: So often the settings are looked at one by one, at most, as long as that finds better ones.
SWEEPS = 3


class NothingToTune(ValueError):
    """A strategy has no settings that are worth tuning, or all of them are held."""

    def __init__(self, strategy: str, held: Sequence[str]) -> None:
        given = f"; {', '.join(held)} {'is' if len(held) == 1 else 'are'} given" if held else ""
        super().__init__(f"{strategy} has no setting to tune{given}")
        self.strategy = strategy


class NeedsArrivals(ValueError):
    """None of the strategies means anything without arrival times, and there are none."""

    def __init__(self, strategies: Sequence[str]) -> None:
        need = "needs" if len(strategies) == 1 else "need"
        super().__init__(f"{', '.join(strategies)} {need} arrival times, and there are none")


class NothingTried(ValueError):
    """It was interrupted before anything had been tried."""


def tune(
    runs: Sequence[Run],
    candidates: Sequence[StrategySpec],
    divided: Divided,
    goal: Goal,
    *,
    limits: Limits = Limits(),  # noqa: B008 - a value
    seed: int = 0,
    threads: int | None = None,
    executor: Executor | None = None,
    journal: Journal | None = None,
    progress: Callable[[Step], None] | None = None,
) -> Tunings:
    """Tunes the settings of each candidate that it does not give itself.

    ``divided`` is what the ``runs`` have been divided into. Tries are judged by ``threads`` of this
    process, or by whatever the ``executor`` has. The same ``seed`` gives the same, whatever the
    number of either, unless a limit in seconds ends it. ``journal`` remembers tries. An
    interruption (``KeyboardInterrupt``) ends the search of the strategy that is under way, and of
    all that would come: the answer is the best so far.

    Raises ``NothingToTune`` for a single strategy without settings to tune, ``NeedsArrivals``,
    ``NothingTried``.
    """
    unfit: list[str] = []
    if not all(one.by_arrival for one in divided.tuned.prepared):
        unfit = [one.label for one in candidates if needs_arrivals(one.make())]
        candidates = [one for one in candidates if one.label not in unfit]
        if not candidates:
            raise NeedsArrivals(unfit)
    delays = delays_needed([one.packets for one in runs], candidates)
    hints = _hints(delays)
    memory = JournalMemory(journal, divided.tuned) if journal is not None else Memory()
    begun = time.monotonic()
    found: list[Tuning] = []
    untuned = []
    workers = threads or os.cpu_count() or 1
    with contextlib.ExitStack() as ending:
        if executor is None:
            executor = ending.enter_context(ThreadPoolExecutor(workers, "tune"))
        for number, one in enumerate(candidates, 1):
            space = space_of(one.name, one.settings)
            if not space.axes:
                if len(candidates) == 1:
                    raise NothingToTune(one.name, list(space.held))
                untuned.append(one.label)
            until = math.inf
            if limits.seconds is not None:  # what is left is shared by those that are to come
                now = time.monotonic()
                left = max(begun + limits.seconds - now, 0.0)
                until = now + left / (len(candidates) - number + 1)
            trials = Trials(
                one.name,
                divided.tuned,
                goal,
                Budget(limits.tries or usual_tries(space), until),
                executor,
                memory,
            )
            if progress is not None:
                trials.told = _teller(progress, trials, one.label, number, len(candidates))
            found.append(_tuning(space, trials, divided, seed, workers, hints.get(one.label, ())))
            if found[-1].interrupted:
                break
    on = divided.judged or divided.tuned
    tuned = [
        StrategySpec(one.strategy, one.settings, given.label)
        for one, given in zip(found, candidates, strict=False)
    ]
    comparison = on.compare(tuned, seed, workers) if len(tuned) > 1 else None
    return Tunings(
        goal,
        divided.tuned.ground.weights,
        divided,
        seed,
        tuple(found),
        comparison,
        delays,
        tuple(untuned),
        tuple(unfit),
    )


def _tuning(
    space: Space,
    trials: Trials,
    divided: Divided,
    seed: int,
    threads: int,
    hints: Sequence[Mapping[str, Value]],
) -> Tuning:
    goal, weights = trials.goal, divided.tuned.ground.weights
    best: Try | None = None
    important: tuple[Influence, ...] = ()
    points: Sequence[FrontPoint] = ()
    tries, interrupted = 0, False
    try:
        search(space, trials, seed, [{**one, **space.held} for one in hints])
        best = plain(space, trials)
        tries = len(trials.made)
        important = influences(space, trials, best)
        for _ in range(SWEEPS):  # looking at each setting alone may have found something better
            again = plain(space, trials)
            if again.settings == best.settings:
                break
            best, important = again, influences(space, trials, again)
        points = chosen(worth(front(space.strategy, trials.made, weights)), KEPT)
        points = simplified(points, trials, weights, space.held)
        points = pareto([*points, *front(space.strategy, [best], weights)])
    except KeyboardInterrupt:
        interrupted = True
        if not trials.made:
            raise NothingTried from None
        best = best or trials.best
        points = points or chosen(worth(front(space.strategy, trials.made, weights)), KEPT)
    before = StrategySpec(space.strategy, space.held)
    after = StrategySpec(space.strategy, best.settings)
    on = divided.judged
    return Tuning(
        space.strategy,
        space.held,
        best.settings,
        judged(divided.tuned, before, after, goal, seed, threads),
        judged(on, before, after, goal, seed, threads) if on else None,
        important,
        tuple(points),
        tries or len(trials.made),
        interrupted,
    )


def _hints(delays: DelaysNeeded | None) -> dict[str, list[Mapping[str, Value]]]:
    """The settings of the closed form, by label: a search may begin with them."""
    if delays is None:
        return {}
    return {
        one.label: [cure.settings for cure in one.cures[0] if cure.settings is not None]
        for one in delays.buffers
    }


def _teller(
    progress: Callable[[Step], None], trials: Trials, label: str, number: int, strategies: int
) -> Callable[[Try, int], None]:
    best = math.inf

    def tell(one: Try, count: int) -> None:
        nonlocal best
        best = min(best, trials.goal.cost(one.figures))
        shown = abs(best) if math.isfinite(best) else math.nan
        progress(Step(label, number, strategies, count, max(trials.budget.tries, count), shown))

    return tell
