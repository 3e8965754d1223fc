"""The figures of settings, computed wherever an executor runs: here, in processes, on a cluster.

Another process is given the name (``digest``) of what to evaluate on, which depends on its content
alone. One that does not have it says so, gets it with its next job, and keeps it: a recording
travels to each worker once, and after that only settings and figures do.
"""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple, Protocol

from epic_cli.analysis.jobs.runner import Failure, run_jobs
from epic_cli.analysis.notes import Flaw

if TYPE_CHECKING:
    from epic_cli.analysis.compare.result import Result
    from epic_cli.engine.replay.strategy_spec import StrategySpec

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
