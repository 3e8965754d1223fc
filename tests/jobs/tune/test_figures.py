"""Evaluation of settings in other processes, each of which receives its data once."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable, Mapping
from concurrent.futures import BrokenExecutor, Executor, Future
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest

from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.jobs.tune import trials as module
from epic_cli.jobs.tune.run import compute_slack
from epic_cli.jobs.tune.spec import Goal
from epic_cli.jobs.tune.trials import measure_candidates
from epic_cli.metrics import METRICS
from epic_cli.metrics.comparison import Result
from epic_cli.metrics.metric import Metric


class Summit(NamedTuple):
    """An evaluator whose result depends on one setting; 7 kills the process, 9 raises."""

    digest: str

    def evaluate(self, candidate: StrategySpec) -> Result:
        at = float(candidate.settings["at"])
        if at == 7:
            raise BrokenExecutor("it died")
        if at == 9:
            raise ArithmeticError("nine")
        score = math.nan if at < 0 else 100 - at
        return Result(candidate.label, None, MappingProxyType({"score": score}))


class Faraway(Executor):
    """Workers in turn, each with its own memory, reached only by pickled bytes."""

    def __init__(self, workers: int) -> None:
        self.memories: list[dict[str, Any]] = [{} for _ in range(workers)]
        self.sent: list[bytes] = []
        self.in_flight = 3

    def submit(self, fn: Callable[..., Any], /, *args: Any, **_: Any) -> Future[Any]:
        self.sent.append(pickle.dumps((fn, args)))
        done: Future[Any] = Future()
        work, jobs = pickle.loads(self.sent[-1])
        kept = module._kept.copy()
        module._kept.clear()
        module._kept.update(self.memories[len(self.sent) % len(self.memories)])
        try:
            done.set_result(pickle.loads(pickle.dumps(work(*jobs))))
        except Exception as error:
            done.set_exception(error)
        self.memories[len(self.sent) % len(self.memories)] = module._kept.copy()
        module._kept.clear()
        module._kept.update(kept)
        return done

    def renew(self) -> None:
        """Do nothing: these workers restart themselves."""


def asked(*places: float) -> list[StrategySpec]:
    return [StrategySpec("lerp", {"at": at}, f"c{at}") for at in places]


def ask(
    executor: Executor, *places: float, digest: str = "a"
) -> tuple[list[Mapping[str, float]], list[str]]:
    told: list[str] = []
    found = measure_candidates(
        Summit(digest), asked(*places), executor, lambda one, _: told.append(one.label)
    )
    return found, told


def test_a_worker_keeps_the_last_few() -> None:
    far = Faraway(1)
    for digest in "abc":
        ask(far, 1, digest=digest)
    assert list(far.memories[0]) == ["b", "c"]
    ask(far, 1, digest="b")
    ask(far, 1, digest="d")
    assert list(far.memories[0]) == ["b", "d"]


def test_what_a_worker_dies_of_has_no_figures_and_an_error_is_one() -> None:
    assert ask(Faraway(2), 1, 7, 3) == ([{"score": 99.0}, {}, {"score": 97.0}], ["c1", "c3"])
    with pytest.raises(ArithmeticError, match="nine"):
        ask(Faraway(1), 1, 9)


@pytest.mark.parametrize("metric", METRICS, ids=lambda one: one.name)
def test_a_rise_that_nobody_notices_is_in_points_of_score_or_a_share(metric: Metric) -> None:
    for cost in (-80.0, 0.0, 0.25, 3.0):
        wanted = 1.5 if metric.name == "score" else 0.02 * abs(cost)
        assert compute_slack(Goal(metric), cost, 1.5, 0.02) == pytest.approx(wanted)
    assert compute_slack(Goal(metric), math.inf, 1.5, 0.02) in (0.0, 1.5)
