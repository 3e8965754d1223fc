"""The search: known optima are found, and the same seed finds the same by any number of threads."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import pytest

from epic_cli.engine.parameters import Value
from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.engine.strategies import get_declaration
from epic_cli.jobs.tune.run import choose_default_trials, search
from epic_cli.jobs.tune.spec import find_goal
from epic_cli.jobs.tune.trials import BATCH, KIND, Budget, Space, Trials, make_space
from epic_cli.metrics import METRICS
from epic_cli.metrics.comparison import Result
from epic_cli.work.journal import ResultJournal


class Hill(NamedTuple):
    """An evaluator: 100 minus the squared distances of the settings from a summit."""

    summit: Mapping[str, Value]
    digest: str = "hill"

    def evaluate(self, candidate: StrategySpec) -> Result:
        settings = get_declaration(candidate.name).values(candidate.settings)
        score = 100.0
        for name, wanted in self.summit.items():
            here = settings[name]
            if isinstance(wanted, str) or isinstance(here, str):
                score -= 10.0 * (here != wanted)
            else:
                score -= min(30.0, 1000 * (here - wanted) ** 2)
        return Result(candidate.label, None, MappingProxyType({"score": score}))


def climb(
    space: Space, summit: Mapping[str, Value], tries: int = 0, threads: int = 1, seed: int = 0
) -> Trials:
    with ThreadPoolExecutor(threads) as executor:
        trials = Trials(
            space.strategy,
            Hill(summit),
            find_goal("score"),
            Budget(tries or choose_default_trials(space)),
            executor,
        )
        search(space, trials, seed)
    return trials


@pytest.mark.parametrize(
    ("strategy", "summit"),
    [
        ("lerp", {"lerp_time": 0.4}),
        ("geckos", {"interpolation_buffer": 0.23, "auto_correct_time_offset": "off"}),
        ("geckos", {"interpolation_buffer": "auto"}),
        ("epic", {"calc_ahead": 0.61, "display_behind": 0.07, "slop_time": 1.7}),
        ("dead-reckoning", {"correction": "spline", "correction_time": 0.33, "acceleration": "none",
                            "age": "rtt", "rtt": 0.4}),
        ("dis", {"model": "rvb", "age": "stamp"}),
    ],
)  # fmt: skip
def test_a_summit_is_found(strategy: str, summit: dict[str, Value]) -> None:
    best = climb(make_space(strategy, {}), summit).best
    assert best.metrics["score"] > 99.7
    assert (
        get_declaration(strategy).values(best.settings).items()
        >= {name: value for name, value in summit.items() if isinstance(value, str)}.items()
    )


@pytest.mark.parametrize("strategy", ["lerp", "geckos", "mirror", "alpha-beta", "dis"])
def test_the_same_seed_tries_the_same_by_any_number_of_threads(strategy: str) -> None:
    space = make_space(strategy, {})
    summit = {axis.name: axis.compute_value(0, 0.37) for axis in space.axes}
    alone, together = (climb(space, summit, 120, threads) for threads in (1, 3))
    assert alone.made == together.made
    assert len(alone.made) <= 120
    if strategy in ("mirror", "alpha-beta"):
        assert climb(space, summit, 120, seed=1).made != alone.made


def test_a_space_that_has_been_tried_out_ends_the_search() -> None:
    """``memory`` from 2 to 30, given twice so that the library's search runs, has few values."""
    space = make_space("alpha-beta", {"rule": "least-squares"})
    (memory,) = (axis for axis in space.axes if axis.name == "memory")
    trials = climb(space._replace(axes=(memory, memory)), {"memory": 7.0}, 100_000)
    assert trials.best.settings["memory"] == 7
    assert len(trials.made) <= 29


def test_the_defaults_come_first_and_nothing_is_tried_twice() -> None:
    trials = climb(make_space("snapshot", {"clock": "stamps"}), {"interpolation_time": 0.5}, 150)
    assert trials.made[0].settings == {"clock": "stamps"}
    keys = [tuple(sorted(trial.settings.items())) for trial in trials.made]
    assert len(set(keys)) == len(keys)


def test_what_a_journal_knows_is_not_evaluated_again(tmp_path: Path) -> None:
    class Once(NamedTuple):
        hill: Hill
        seen: set[str]
        digest: str = "once"

        def evaluate(self, candidate: StrategySpec) -> Result:
            assert candidate.label not in self.seen
            self.seen.add(candidate.label)
            figures = {metric.name: 0.0 for metric in METRICS}  # a journal without them is damaged
            figures["score"] = self.hill.evaluate(candidate).value("score")
            return Result(candidate.label, None, MappingProxyType(figures))

    space = make_space("epic", {})
    once = Once(Hill({"calc_ahead": 0.5}), set())
    made = []
    with ThreadPoolExecutor(2) as executor, ResultJournal(str(tmp_path / "j"), KIND) as journal:
        for tries in (40, 90):
            trials = Trials("epic", once, find_goal("score"), Budget(tries), executor, journal)
            search(space, trials, 3)
            made.append(len(trials.made))
    assert made == [40, 90]


def test_an_interruption_in_a_large_batch_keeps_what_has_been_judged() -> None:
    class Interrupted(NamedTuple):
        seen: list[str]
        digest: str = "interrupted"

        def evaluate(self, candidate: StrategySpec) -> Result:
            self.seen.append(candidate.label)
            if len(self.seen) > 100:
                raise KeyboardInterrupt
            return Hill({"calc_ahead": 0.5}).evaluate(candidate)

    space = make_space("epic", {})
    with ThreadPoolExecutor(1) as executor:
        trials = Trials("epic", Interrupted([]), find_goal("score"), Budget(10_000), executor)
        with pytest.raises(KeyboardInterrupt):
            search(space, trials, 3)
    assert 100 - BATCH <= len(trials.made) <= 100
