"""Random searches beyond the declared tuning ranges of strategies: do these exclude the best?

    python -m endurance.ranges [--trials 2000] [NAME...]     (in tests/; half an hour)

Every strategy is tuned on two simulated networks, as ``epic tune`` does it, and then tried at
random beyond its ranges worth tuning: each number half of the time on a logarithmic scale all over
what its setting takes, and settings that are not worth tuning half of the time, too. Prints a table
of the best scores, and for what is better by more than half a point beyond the ranges, the settings
that are beyond them. Settings that say what a recording is of, and the originals' mistakes, stay.
"""

from __future__ import annotations

import argparse
import math
import random
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from typing import NamedTuple

from epic_cli.engine.parameters import Number, Setting, Value
from epic_cli.engine.replay.playback import SCREEN_TIMING
from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.engine.strategies import get_declaration, list_names
from epic_cli.jobs.tune.run import choose_default_trials, search
from epic_cli.jobs.tune.spec import find_goal
from epic_cli.jobs.tune.trials import (
    Budget,
    EvaluationSet,
    Point,
    Trials,
    make_evaluation_set,
    make_space,
)
from epic_cli.metrics.evaluation import CompareSpec, Run, group_by_entity
from epic_cli.network.link import Link, LinkConditions
from epic_cli.network.movement import PathMovement
from epic_cli.network.paths import PATHS
from epic_cli.network.simulation import simulate

#: What a recording is of, which no network makes better, and what hides what is drawn.
FACTS = {
    "send_interval", "server_fps", "tick_rate", "latency", "tick_interval", "freq", "server_step",
    "cl_updaterate", "step", "snap_distance", "rtt", "sync_interval", "sync_distance",
}  # fmt: skip

#: A gain that counts, in points of score.
GAP = 0.5

#: By name: the path, its send rate (Hz), the network.
NETWORKS = {
    "strafe": ("strafe", 20, LinkConditions(latency=0.08, jitter=0.03, loss=0.02)),
    "bad": ("figure-eight", 10, LinkConditions(latency=0.12, jitter=0.05, loss=0.08)),
}

Draw = Callable[[random.Random], dict[str, Value]]


class Best(NamedTuple):
    """The best score of a random search, and its settings."""

    score: float
    settings: dict[str, Value]


def network_set(network: str, seconds: float) -> EvaluationSet:
    """Return a recording of this network."""
    path, rate, link = NETWORKS[network]
    movement = PathMovement(PATHS[path](5.0, 5.0, 1))
    packets = simulate(movement, send_rate=rate, duration=seconds, channel=Link(link, seed=1))
    return make_evaluation_set([Run("", group_by_entity(packets))], CompareSpec((), SCREEN_TIMING))


def within(strategy: str) -> Draw:
    """Return a random point of the ranges worth tuning."""
    space = make_space(strategy, {})

    def draw(source: random.Random) -> dict[str, Value]:
        kinds = tuple(source.randrange(axis.kinds) for axis in space.axes)
        return space.make_settings(Point(kinds, tuple(source.random() for _ in space.axes)))

    return draw


def beyond(strategy: str) -> Draw:
    """Return a random point, of which half of the numbers ignore the ranges worth tuning.

    Half of the settings that are not worth tuning are changed, too.
    """
    usual = within(strategy)
    numbers = [setting for setting in get_declaration(strategy).settings if _free(setting)]

    def draw(source: random.Random) -> dict[str, Value]:
        found = usual(source)
        for number in numbers:
            if source.random() < 0.5:
                found[number.name] = anywhere(number, source)
        return found

    return draw


def _free(one: Setting) -> bool:
    return isinstance(one, Number) and one.name not in FACTS


def anywhere(one: Setting, source: random.Random) -> Value:
    """Return any accepted number.

    An end of the range, or one on a logarithmic scale of either sign.
    """
    assert isinstance(one, Number)
    ends = [end for end in (one.low, one.high) if abs(end) <= 1e3]
    if ends and source.random() < 0.1:
        return source.choice(ends)
    while True:
        size = 10 ** source.uniform(-5, 3)
        number = size if one.low >= 0 or source.random() < 0.5 else -size
        number = float(round(number) if one.whole else f"{number:.3g}")
        if one.low <= number <= one.high:
            return number


def search_of(on: EvaluationSet, strategy: str) -> Trials:
    """Search the ranges worth tuning, without hints from the closed form."""
    space = make_space(strategy, {})
    with ThreadPoolExecutor(1) as executor:
        budget = Budget(choose_default_trials(space))
        trials = Trials(strategy, on, find_goal("score"), budget, executor)
        search(space, trials, 0)
    return trials


def tuned(on: EvaluationSet, strategy: str) -> Best:
    """Return what the search finds."""
    best = search_of(on, strategy).best
    return Best(best.metrics["score"], dict(best.settings))


def best_of(on: EvaluationSet, strategy: str, draw: Draw, trials: int, seed: int) -> Best:
    """Return the best of this many random trials."""
    source, best = random.Random(seed), Best(-math.inf, {})
    for _ in range(trials):
        settings = draw(source)
        score = on.evaluate(StrategySpec(strategy, settings)).value("score")
        if score > best.score:
            best = Best(score, settings)
    return best


def outside(strategy: str, settings: dict[str, Value]) -> dict[str, Value]:
    """Return the settings outside of the ranges worth tuning."""
    found: dict[str, Value] = {}
    for setting in get_declaration(strategy).settings:
        value = settings.get(setting.name)
        if isinstance(setting, Number) and isinstance(value, float | int):
            low, high = setting.tune or (math.inf, -math.inf)
            if not low <= value <= high:
                found[setting.name] = value
    return found


def needed(on: EvaluationSet, strategy: str, best: Best) -> dict[str, Value]:
    """Return the outside settings without which the score falls by a tenth of the least gap."""
    settings = dict(best.settings)
    for name in outside(strategy, best.settings):
        fewer = {key: value for key, value in settings.items() if key != name}
        if on.evaluate(StrategySpec(strategy, fewer)).value("score") > best.score - GAP / 10:
            settings = fewer
    return outside(strategy, settings)


def row(network: str, strategy: str, trials: int, seconds: float) -> tuple[str, float, float, str]:
    """Return a strategy, the best scores inside and outside of its ranges, and the outside
    settings.
    """
    on = network_set(network, seconds)
    inner = tuned(on, strategy)
    outer = best_of(on, strategy, beyond(strategy), trials, 2)
    words = ""
    if outer.score > inner.score + GAP:
        words = " ".join(f"{k}={v:.3g}" for k, v in needed(on, strategy, outer).items())
        words = words or "found by chance"
    return strategy, inner.score, outer.score, words


def main() -> None:
    """Run the searches, and print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("strategies", nargs="*")
    parser.add_argument("--trials", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=12.0)
    parser.add_argument("--processes", type=int, default=2)
    given = parser.parse_args()
    chosen = given.strategies or list_names()
    print("| network | strategy | tuned | beyond | what is beyond |")
    print("| :--- | :--- | ---: | ---: | :--- |")
    with ProcessPoolExecutor(given.processes) as executor:
        jobs = [
            (name, executor.submit(row, name, word, given.trials, given.seconds))
            for word in chosen
            for name in NETWORKS
        ]
        for name, job in jobs:
            strategy, inner, outer, words = job.result()
            print(f"| {name} | {strategy} | {inner:.1f} | {outer:.1f} | {words} |", flush=True)


if __name__ == "__main__":
    main()
