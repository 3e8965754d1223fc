"""The quality and cost of a search: ours, random search and, where it is installed, Optuna.

    python tests/benchmarks/bench_tune.py [--trials 200] [--seeds 3] [--strategies kalman,mirror]

Each looks for the best score over the same packets, with as many trials and over the same
ranges. Prints, by strategy, the best score (the mean over the seeds), what the best of all of them
is, and how long each took: the searches' own time is what is more than that of random search.
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import random
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from epic_cli.engine.replay.playback import SCREEN_TIMING
from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.jobs.tune.run import search
from epic_cli.jobs.tune.spec import find_goal
from epic_cli.jobs.tune.trials import (
    Budget,
    EvaluationSet,
    Point,
    Space,
    Trials,
    make_evaluation_set,
    make_space,
)
from epic_cli.metrics.evaluation import CompareSpec, Run, group_by_entity
from epic_cli.network.link import Link, LinkConditions
from epic_cli.network.movement import PathMovement
from epic_cli.network.paths import PATHS
from epic_cli.network.simulation import simulate

STRATEGIES = (
    "snapshot,epic,dead-reckoning,mirror,unity-ngo,source,hermite,one-euro,alpha-beta,kalman"
)


def network_set(seconds: float) -> EvaluationSet:
    """Return a network to tune on."""
    link = LinkConditions(latency=0.08, jitter=0.03, loss=0.02)
    movement = PathMovement(PATHS["strafe"](5.0, 5.0, 1))
    packets = simulate(movement, send_rate=20, duration=seconds, channel=Link(link, seed=1))
    return make_evaluation_set([Run("", group_by_entity(packets))], CompareSpec((), SCREEN_TIMING))


def ours(space: Space, on: EvaluationSet, trials: int, seed: int) -> float:
    """Search as ``epic tune`` does, without the hints of the closed form."""
    with ThreadPoolExecutor(1) as executor:
        done = Trials(space.strategy, on, find_goal("score"), Budget(trials), executor)
        search(space, done, seed)
    return done.best.metrics["score"]


def at_random(space: Space, on: EvaluationSet, trials: int, seed: int) -> float:
    """Return random points of the whole space."""
    source = random.Random(seed)

    def score() -> float:
        kinds = tuple(source.randrange(axis.kinds) for axis in space.axes)
        return judged(space, on, Point(kinds, tuple(source.random() for _ in space.axes)))

    return max(score() for _ in range(trials))


def by_optuna(space: Space, on: EvaluationSet, trials: int, seed: int) -> float:
    """Search with Optuna's default sampler, TPE."""
    import optuna  # not everybody has it

    optuna.logging.set_verbosity(optuna.logging.ERROR)

    def score(trial: Any) -> float:
        kinds, shares = [], []
        for axis in space.axes:
            choices = list(range(axis.kinds))
            kinds.append(trial.suggest_categorical(f"{axis.name}?", choices))
            shares.append(trial.suggest_float(axis.name, 0, 1) if axis.numeric else 0.5)
        return judged(space, on, Point(tuple(kinds), tuple(shares)))

    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed))
    study.optimize(score, n_trials=trials)
    return float(study.best_value)


def judged(space: Space, on: EvaluationSet, point: Point) -> float:
    """Return the score at a point; 0 if the score is unknown."""
    score = on.evaluate(StrategySpec(space.strategy, space.make_settings(point))).value("score")
    return 0.0 if math.isnan(score) else score


def main() -> None:
    """Measure the searches, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--strategies", default=STRATEGIES)
    given = parser.parse_args()
    on = network_set(given.seconds)
    searches: dict[str, Callable[[Space, EvaluationSet, int, int], float]] = {
        "epic tune": ours,
        "random": at_random,
    }
    if importlib.util.find_spec("optuna"):
        searches["optuna"] = by_optuna
    else:
        print("not there: optuna: pip install optuna")
    heads = "".join(f"{name:>12}" for name in searches)
    print(f"{'score':16}{'settings':>9}{heads}{'best known':>12}")
    spent = dict.fromkeys(searches, 0.0)
    for strategy in given.strategies.split(","):
        space = make_space(strategy, {})
        means, best = [], 0.0
        for name, find in searches.items():
            begun = time.perf_counter()
            found = [find(space, on, given.trials, seed) for seed in range(given.seeds)]
            spent[name] += time.perf_counter() - begun
            means.append(sum(found) / len(found))
            best = max(best, *found)
        cells = "".join(f"{mean:12.2f}" for mean in means)
        print(f"{strategy:16}{len(space.axes):9}{cells}{best:12.2f}", flush=True)
    print(f"{'seconds':25}" + "".join(f"{value:12.1f}" for value in spent.values()))


if __name__ == "__main__":
    main()
