"""Tries judged wherever an executor carries them out: in this process, in others, on a cluster.

Another process is told the name of what to judge on, which depends on its content alone. One that
has not got it says so, is sent it with its next try, and keeps it: a recording travels to each
worker once, wherever it has come from, and then only settings and figures do.
"""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple, Protocol

from epic_cli.analysis.jobs.workers import Failure, run_jobs
from epic_cli.analysis.notes import Flaw

if TYPE_CHECKING:
    from epic_cli.analysis.compare import Result
    from epic_cli.engine.replay.strategy_spec import StrategySpec

#: The figures of one candidate by name; those of one that cannot be ranked are none.
Figures = Mapping[str, float]

#: So many things to judge on are kept by each process.
KEPT = 2


class Judge(Protocol):
    """What settings are judged on: a ``EvaluationSet``."""

    @property
    def digest(self) -> str:
        """A name that is equal if what it holds is."""

    def judge(self, candidate: StrategySpec) -> Result:
        """What a candidate comes to."""


class _Asked(NamedTuple):
    """``content`` is the judge itself for those that have not got it, pickled."""

    digest: str
    candidate: StrategySpec
    content: bytes | None = None


#: Those that this process has been sent, the latest one last.
_kept: dict[str, Judge] = {}
_keeping = threading.Lock()


def figures_of(result: Result) -> Figures:
    """The figures of a result that can be ranked and has not diverged; otherwise none."""
    return dict(result.values) if result.ranked and not result.has(Flaw.DIVERGED) else {}


def figures(
    judge: Judge,
    candidates: Sequence[StrategySpec],
    executor: Executor,
    arrived: Callable[[StrategySpec, Figures], None],
) -> list[Figures]:
    """What each of the candidates comes to, in their order.

    ``arrived`` is called with each as soon as it is there. One that a worker dies of has none.
    """
    if isinstance(executor, ThreadPoolExecutor):

        def here(candidate: StrategySpec) -> Figures:
            return figures_of(judge.judge(candidate))

        return [_of(one) or {} for _, one in run_jobs(here, candidates, executor, arrived)]

    def told(asked: _Asked, answer: Figures | None) -> None:
        if answer is not None:
            arrived(asked.candidate, answer)

    def carried_out(content: bytes | None, wanted: Iterable[StrategySpec]) -> list[Figures | None]:
        jobs = (_Asked(judge.digest, one, content) for one in wanted)
        return [_of(one) for _, one in run_jobs(_figures, jobs, executor, told)]

    found = carried_out(None, candidates)
    missing = [at for at, one in enumerate(found) if one is None]
    if missing:
        again = carried_out(pickle.dumps(judge), [candidates[at] for at in missing])
        for at, one in zip(missing, again, strict=True):
            found[at] = one
    return [one for one in found if one is not None]


def _of(outcome: Figures | Failure | None) -> Figures | None:
    if not isinstance(outcome, Failure):
        return outcome
    if outcome.died:
        return {}
    raise outcome.error


def _figures(asked: _Asked) -> Figures | None:
    """What another process does; None: it has not got what to judge on."""
    with _keeping:
        judge = _kept.pop(asked.digest, None)
        if judge is None and asked.content is not None:
            judge = pickle.loads(asked.content)  # noqa: S301 - from whom this one works for
        if judge is None:
            return None
        _kept[asked.digest] = judge
        while len(_kept) > KEPT:
            del _kept[next(iter(_kept))]
    return figures_of(judge.judge(asked.candidate))
