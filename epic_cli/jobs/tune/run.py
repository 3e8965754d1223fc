"""Good settings: searched for on one part of the recordings, evaluated on the other."""

from __future__ import annotations

import contextlib
import math
import os
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple

from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.jobs.tune.delays import DelaysNeeded, delays_needed
from epic_cli.jobs.tune.run import (
    KEPT,
    Tuning,
    Tunings,
    chosen,
    default_trials,
    evaluate,
    front,
    influences,
    pareto,
    plain,
    search,
    simplified,
    worth,
)
from epic_cli.jobs.tune.trials import Budget, Divided, Space, Trial, Trials, divide, space_of
from epic_cli.metrics.evaluation import needs_arrivals

if TYPE_CHECKING:
    from epic_cli.engine.parameter_base import Value
    from epic_cli.jobs.tune.run import FrontPoint, Influence
    from epic_cli.jobs.tune.spec import TuneSpec
    from epic_cli.metrics.evaluation import Run
    from epic_cli.work.journal import Journal

#: The settings are looked at one by one so often, at most, as long as that finds better ones.
SWEEPS = 3


class Step(NamedTuple):
    """How far a search has come: which strategy of how many, which trial, and the best so far."""

    strategy: str
    number: int
    strategies: int
    trials: int
    most: int
    best: float


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
    spec: TuneSpec,
    runs: Sequence[Run],
    *,
    executor: Executor | None = None,
    journal: Journal | None = None,
    progress: Callable[[Step], None] | None = None,
) -> Tunings:
    """Tunes the settings of each candidate that it does not give itself.

    Settings are evaluated by threads of this process, or by whatever the ``executor`` has. The same
    seed gives the same, whatever the number of either, unless a limit in seconds ends it.
    ``journal`` remembers trials. An interruption (``KeyboardInterrupt``) ends the search of the
    strategy that is under way, and of all that would come: the result is the best so far.

    Raises ``NotEnoughToSay``, ``TooManyRows``, ``NothingToTune`` for a single strategy without
    settings to tune, ``NeedsArrivals``, ``NothingTried``.
    """
    divided = divide(runs, spec.compare, spec.division)
    candidates, unfit = _fit(spec.strategies, divided)
    delays = delays_needed([one.packets for one in runs], candidates)
    hints = _hints(delays)
    begun = time.monotonic()
    found: list[Tuning] = []
    untuned = []
    with contextlib.ExitStack() as ending:
        if executor is None:
            threads = spec.compare.threads or os.cpu_count() or 1
            executor = ending.enter_context(ThreadPoolExecutor(threads, "tune"))
        for number, one in enumerate(candidates, 1):
            space = space_of(one.name, one.settings)
            if not space.axes:
                if len(candidates) == 1:
                    raise NothingToTune(one.name, list(space.held))
                untuned.append(one.label)
            until = math.inf
            if spec.seconds is not None:  # what is left is shared by those that are to come
                now = time.monotonic()
                left = max(begun + spec.seconds - now, 0.0)
                until = now + left / (len(candidates) - number + 1)
            budget = Budget(spec.trials or default_trials(space), until)
            trials = Trials(one.name, divided.tuned, spec.goal, budget, executor, journal)
            if progress is not None:
                trials.on_trial = _reporter(progress, trials, one.label, number, len(candidates))
            found.append(_tuning(space, trials, divided, hints.get(one.label, ())))
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
    )


def _fit(
    candidates: Sequence[StrategySpec], divided: Divided
) -> tuple[Sequence[StrategySpec], tuple[str, ...]]:
    """Those that mean something here, and the names of the others; raises ``NeedsArrivals``."""
    if all(one.by_arrival for one in divided.tuned.prepared):
        return candidates, ()
    fit = [one for one in candidates if not needs_arrivals(one.make())]
    unfit = tuple(one.label for one in candidates if one not in fit)
    if not fit:
        raise NeedsArrivals(unfit)
    return fit, unfit


def _tuning(
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
        search(space, trials, spec.seed, [{**one, **space.held} for one in hints])
        best = plain(space, trials)
        count = len(trials.made)
        important = influences(space, trials, best)
        for _ in range(SWEEPS):  # looking at each setting alone may have found something better
            again = plain(space, trials)
            if again.settings == best.settings:
                break
            best, important = again, influences(space, trials, again)
        points = chosen(worth(front(space.strategy, trials.made, spec.weights)), KEPT)
        points = simplified(points, trials, spec.weights, space.held)
        points = pareto([*points, *front(space.strategy, [best], spec.weights)])
    except KeyboardInterrupt:
        interrupted = True
        if not trials.made:
            raise NothingTried from None
        best = best or trials.best
        points = points or chosen(worth(front(space.strategy, trials.made, spec.weights)), KEPT)
    before = StrategySpec(space.strategy, space.held)
    after = StrategySpec(space.strategy, best.settings)
    on = divided.evaluated
    return Tuning(
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


def _hints(delays: DelaysNeeded | None) -> dict[str, list[Mapping[str, Value]]]:
    """The settings of the closed form, by label: a search may begin with them."""
    return {
        one.label: [cure.settings for cure in one.cures[0] if cure.settings is not None]
        for one in (delays.buffers if delays else ())
    }


def _reporter(
    progress: Callable[[Step], None], trials: Trials, label: str, number: int, strategies: int
) -> Callable[[Trial, int], None]:
    best = math.inf

    def report(one: Trial, count: int) -> None:
        nonlocal best
        best = min(best, trials.goal.cost(one.figures))
        shown = abs(best) if math.isfinite(best) else math.nan
        progress(Step(label, number, strategies, count, max(trials.budget.trials, count), shown))

    return report
