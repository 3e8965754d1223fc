"""What has been tried: each setting once, in batches whose size depends on nothing but the search.

That makes a search repeatable: a batch is given out as a whole, evaluated in any order by any
number of workers, and reported in the order in which it was given out.

Figures are computed wherever an executor runs: here, in processes, on a cluster. Another process is
given the name (``digest``) of what to evaluate on, which depends on its content alone. One that
does not have it says so, gets it with its next job, and keeps it: a recording travels to each
worker once, and after that only settings and figures do.
"""

from __future__ import annotations

import math
import pickle
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol

from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.metrics.notes import Flaw
from epic_cli.work.code import code_of
from epic_cli.work.journal import Journal, key
from epic_cli.work.runner import Failure, run_jobs

if TYPE_CHECKING:
    from epic_cli.engine.parameter_base import Value
    from epic_cli.engine.replay.strategy_spec import StrategySpec
    from epic_cli.jobs.tune.spec import Goal
    from epic_cli.metrics.comparison import Result

#: The figures of one candidate by name; empty for one that cannot be ranked.
Figures = Mapping[str, float]

#: How many things to evaluate on each process keeps.
KEPT = 2


class Evaluator(Protocol):
    """What settings are evaluated on: an ``EvaluationSet``."""

    @property
    def digest(self) -> str:
        """A name that is equal if its content is."""

    def evaluate(self, candidate: StrategySpec) -> Result:
        """What a candidate comes to."""


class _Job(NamedTuple):
    """``content`` is the evaluator itself for workers that do not have it, pickled."""

    digest: str
    candidate: StrategySpec
    content: bytes | None = None


#: The evaluators that this process has been sent, the latest one last.
_kept: dict[str, Evaluator] = {}
_keeping = threading.Lock()


def figures_of(result: Result) -> Figures:
    """The figures of a result that can be ranked and has not diverged; otherwise none."""
    return dict(result.values) if result.ranked and not result.has(Flaw.DIVERGED) else {}


def figures(
    on: Evaluator,
    candidates: Sequence[StrategySpec],
    executor: Executor,
    on_result: Callable[[StrategySpec, Figures], None],
) -> list[Figures]:
    """The figures of each of the candidates, in their order.

    ``on_result`` is called with each as soon as it is there. One that a worker dies of has none.
    """
    if isinstance(executor, ThreadPoolExecutor):

        def here(candidate: StrategySpec) -> Figures:
            return figures_of(on.evaluate(candidate))

        return [_of(one) or {} for _, one in run_jobs(here, candidates, executor, on_result)]

    def report(job: _Job, answer: Figures | None) -> None:
        if answer is not None:
            on_result(job.candidate, answer)

    def run(content: bytes | None, wanted: Iterable[StrategySpec]) -> list[Figures | None]:
        jobs = (_Job(on.digest, one, content) for one in wanted)
        return [_of(one) for _, one in run_jobs(_evaluate, jobs, executor, report)]

    found = run(None, candidates)
    missing = [at for at, one in enumerate(found) if one is None]
    if missing:
        again = run(pickle.dumps(on), [candidates[at] for at in missing])
        for at, one in zip(missing, again, strict=True):
            found[at] = one
    return [one for one in found if one is not None]


def _of(outcome: Figures | Failure | None) -> Figures | None:
    if not isinstance(outcome, Failure):
        return outcome
    if outcome.died:
        return {}
    raise outcome.error


def _evaluate(job: _Job) -> Figures | None:
    """What another process does; None: it does not have what to evaluate on."""
    with _keeping:
        on = _kept.pop(job.digest, None)
        if on is None and job.content is not None:
            on = pickle.loads(job.content)  # noqa: S301 - from whom this one works for
        if on is None:
            return None
        _kept[job.digest] = on
        while len(_kept) > KEPT:
            del _kept[next(iter(_kept))]
    return figures_of(on.evaluate(job.candidate))


#: No more settings are evaluated between two looks at the time, or lost by an interruption.
BATCH = 32

#: The kind of a journal of trials.
KIND = "tune"


class Trial(NamedTuple):
    """Settings that differ from their defaults, and their figures."""

    settings: Mapping[str, Value]
    figures: Figures


class BudgetSpent(Exception):
    """The trials or the time are used up."""


@dataclass
class Budget:
    """How many trials a search may take, and until when (``time.monotonic``)."""

    trials: int
    until: float = math.inf

    def left(self, taken: int) -> int:
        """How many trials are left."""
        return 0 if time.monotonic() >= self.until else max(self.trials - taken, 0)


@dataclass
class Trials:
    """All trials of one strategy, in the order in which they were given out.

    A ``journal`` has trials of earlier runs, and keeps these. ``on_trial`` is called with each new
    trial, and how many there have been.
    """

    strategy: str
    on: Evaluator
    goal: Goal
    budget: Budget
    executor: Executor
    journal: Journal | None = None
    on_trial: Callable[[Trial, int], None] | None = None
    made: list[Trial] = field(default_factory=list)
    _code: list[str] | None = None
    _known: dict[tuple[tuple[str, Value], ...], Trial] = field(default_factory=dict)

    def costs(self, wanted: Sequence[Mapping[str, Value]], beyond: bool = False) -> list[float]:
        """The cost of each of these settings; those that are new are evaluated.

        Raises ``BudgetSpent`` where there is no budget for all of them, unless ``beyond`` it; the
        trials that there was room for have been made then.
        """
        new = {_key(one): one for one in wanted if _key(one) not in self._known}
        left = list(new.values())
        while left:
            room = len(left) if beyond else self.budget.left(len(self.made))
            if not room:
                raise BudgetSpent
            count = min(room, BATCH)
            self._evaluate(left[:count])
            left = left[count:]
        return [self.goal.cost(self.of(one).figures) for one in wanted]

    def of(self, settings: Mapping[str, Value]) -> Trial:
        """The trial of settings that have been tried."""
        return self._known[_key(settings)]

    @property
    def best(self) -> Trial:
        """The best so far; of equals the one with the fewest settings that differ."""
        return min(self.made, key=lambda one: (*self.goal.key(one.figures), len(one.settings)))

    def _evaluate(self, batch: Sequence[Mapping[str, Value]]) -> None:
        known = [self._from_journal(one) for one in batch]
        unknown = [
            StrategySpec(self.strategy, one)
            for one, found in zip(batch, known, strict=True)
            if found is None
        ]
        new = iter(figures(self.on, unknown, self.executor, self._keep))
        for settings, found in zip(batch, known, strict=True):
            one = Trial(settings, next(new) if found is None else found)
            self._known[_key(settings)] = one
            self.made.append(one)
            if self.on_trial is not None:
                self.on_trial(one, len(self.made))

    def _from_journal(self, settings: Mapping[str, Value]) -> Figures | None:
        if self.journal is None:
            return None
        found = self.journal.find(self._journal_key(settings))
        return found if isinstance(found, dict) else None

    def _keep(self, evaluated: StrategySpec, found: Figures) -> None:
        """Keeps it; it is on its way to the disk when this returns."""
        if self.journal is not None:
            self.journal.add(self._journal_key(evaluated.settings), dict(found))

    def _journal_key(self, settings: Mapping[str, Value]) -> str:
        """What is evaluated on, and how, is part of each one's key."""
        plain = {
            name: value if isinstance(value, str) else float(value)
            for name, value in settings.items()
        }
        if self._code is None:
            self._code = code_of(self.strategy)
        return key(bench=self.on.digest, strategy=[self.strategy, *self._code], settings=plain)


def _key(settings: Mapping[str, Value]) -> tuple[tuple[str, Value], ...]:
    return tuple(sorted(settings.items()))
