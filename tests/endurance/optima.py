"""Optima that are known, or plain: does ``epic tune`` find settings that are as good?

    python -m endurance.optima

A filter's gains against those that Kalata (1984) gives for white noise, and a composition that was
designed against plain ones where none was tuned. Status 1 where another is better.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from epic_cli.engine.contract import Packet
from epic_cli.engine.replay.playback import SCREEN_TIMING
from epic_cli.engine.replay.strategy_spec import StrategySpec, read_specs
from epic_cli.jobs.tune.design import design
from epic_cli.jobs.tune.run import tune
from epic_cli.jobs.tune.spec import TuneSpec
from epic_cli.jobs.tune.trials import make_evaluation_set
from epic_cli.metrics.evaluation import CompareSpec, Run, group_by_entity
from epic_cli.metrics.metric import Weighing
from epic_cli.metrics.truth import make_truths
from epic_cli.network.link import Link, LinkConditions
from epic_cli.network.movement import PathMovement
from epic_cli.network.paths import PATHS
from epic_cli.network.simulation import simulate

PERIOD, ACCELERATION, NOISE, COUNT = 0.05, 40.0, 0.15, 1000


def make_noisy_run() -> Run:
    """Return a recording with white noise of acceleration and of position, and its truth."""
    random = np.random.default_rng(5)
    pushes = random.normal(0, ACCELERATION, (COUNT, 3))
    speeds = np.cumsum(pushes * PERIOD, axis=0) * 0.999
    steps = np.vstack([np.zeros((1, 3)), speeds[:-1] * PERIOD + pushes[1:] * PERIOD**2 / 2])
    places = np.cumsum(steps, axis=0)
    measured = places + random.normal(0, NOISE, places.shape)

    def list_packets(positions: NDArray[np.float64]) -> list[Packet]:
        times = np.arange(COUNT) * PERIOD
        rows = zip(positions.tolist(), speeds.tolist(), times.tolist(), strict=True)
        return [Packet((x, y, z), (u, v, w), t, t) for (x, y, z), (u, v, w), t in rows]

    truths, _ = make_truths(group_by_entity(list_packets(places)), "given")
    return Run("", group_by_entity(list_packets(measured)), truths)


def judge_filter() -> bool:
    """Print a filter's error with the gains that were found and with those of the formula."""
    run, terms = make_noisy_run(), CompareSpec((), SCREEN_TIMING, threads=1)
    index = ACCELERATION * PERIOD**2 / NOISE
    r = (4 + index - math.sqrt(8 * index + index**2)) / 4
    g = 1 - r**2
    h = 2 * (2 - g) - 4 * math.sqrt(1 - g)
    given = "alpha-beta+rule=given+age=stamp"
    known = read_specs([f"{given}+g={g:.4f}+h={h:.4f}"])[0]
    spec = TuneSpec(tuple(read_specs([given])), terms, "error", "none", 90)
    (found,) = tune(spec, (run,)).tunings
    best = make_evaluation_set((run,), terms).evaluate(known).value("error")
    error = found.tuned_on.tuned.value("error")
    print(f"alpha-beta: error {error:.5g} with g={found.settings['g']}; {best:.5g} with g={g:.4f}")
    return 0.97 * best <= error <= 1.005 * best and abs(float(found.settings["g"]) - g) < 0.1


def judge_design() -> bool:
    """Print plain compositions that are clearly better than the designed one, untuned."""
    link = LinkConditions(latency=0.08, jitter=0.03, loss=0.03, distribution="uniform")
    movement = PathMovement(PATHS["strafe"](5.0, 5.0, 3))
    packets = simulate(movement, send_rate=20, duration=14.0, channel=Link(link, seed=3))
    how = CompareSpec((), SCREEN_TIMING, Weighing.parse("shooter").weights, threads=1)
    run = Run("", group_by_entity(packets))
    found = design(TuneSpec((), how, division="time", trials=8), (run,))
    assert found.divided.evaluated is not None
    assert found.taken.strategy is not None
    plain = [
        StrategySpec("buffer", {"clock": clock, "delay": f"{delay}i"})
        for clock in ("min", "mean", "median")
        for delay in (1, 1.5, 2, 3, 4)
    ]
    plain += [StrategySpec("chase", {"how": how}) for how in ("exponential", "linear", "interval")]
    # paired: rows that are clearly better than another have a smaller rank
    (first, *others) = found.divided.evaluated.compare([found.taken.strategy, *plain]).results
    better = [one.label for one in others if one.value("score") > first.value("score")]
    print(f"{first.label}: rank {first.rank}; higher scores: {', '.join(better) or 'none'}")
    return first.rank == 1


def main() -> bool:
    """Judge both; return status 1 if another is better."""
    return not all([judge_filter(), judge_design()])


if __name__ == "__main__":
    raise SystemExit(main())
