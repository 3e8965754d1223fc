"""How often the intervals of 20 simulated networks contain what 200 of them come to.

    python -m endurance.coverage

Each network's 200 seeds are judged as ten groups of 20, and all together. Prints, by figure, the
share of intervals that contain the value of all 200. Ends with status 1 where it is less than 95 %
by more than three standard errors of as many independent trials as there are groups and networks:
the strategies of one group are judged on the same packets, and count as one trial.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator

from epic_cli.analysis.certainty.bootstrap import CONFIDENCE
from epic_cli.analysis.compare.networks import Setting, simulated
from epic_cli.analysis.compare.pool import pool_runs
from epic_cli.analysis.compare.result import Comparison
from epic_cli.analysis.compare.run import compare_run
from epic_cli.analysis.compare.spec import CompareSpec
from epic_cli.engine.replay.playback import SCREEN_TIMING
from epic_cli.engine.replay.strategy_spec import read_specs
from epic_cli.network import Link, LinkConditions, PathMovement, Strafe
from epic_cli.network.loss import GilbertElliott

NETWORKS = {
    "wired": LinkConditions(0.03, 0.005, loss=0.002),
    "wireless": LinkConditions(0.06, 0.02, "gamma", loss=0.02),
    "jittery": LinkConditions(0.08, 0.03, loss=0.05),
    "bursts": LinkConditions(0.08, 0.01, loss=GilbertElliott(0.01, 0.3)),
}
CANDIDATES = read_specs(["epic", "dumb-terminal", "snapshot", "dis", "projective", "kalman"])
FIGURES = ("score", "error", "lag", "residual", "jerk", "jumps")
SEEDS, GROUP = 200, 20

#: What is ten times as many in ten times as many networks.
COUNTS = ("jumps",)


def compared(conditions: LinkConditions) -> list[tuple[str, Comparison]]:
    """What each seed comes to alone."""
    path = Strafe(5.0, 5.0, 1)
    setting = Setting(
        lambda _: PathMovement(path), lambda seed: Link(conditions, seed=seed), duration=8.0
    )
    return [
        (run.name, compare_run(run, CompareSpec(CANDIDATES, SCREEN_TIMING, threads=1)))
        for run in simulated(setting, range(SEEDS))
    ]


def trials() -> Iterator[tuple[str, bool]]:
    """Of each network, group, strategy and figure: whether the interval contains the value."""
    for conditions in NETWORKS.values():
        runs = compared(conditions)
        whole = pool_runs(runs, 0)
        for first in range(0, SEEDS, GROUP):
            part = pool_runs(runs[first : first + GROUP], first)
            for all_of_them, some in zip(whole.results, part.results, strict=True):
                for name in FIGURES:
                    low, high = some.interval(name)
                    value = all_of_them.value(name)
                    if name in COUNTS:
                        value *= GROUP / SEEDS
                    if not math.isnan(low):
                        yield name, low <= value <= high


def main() -> int:
    found = list(trials())
    independent = len(NETWORKS) * SEEDS // GROUP
    error = math.sqrt(CONFIDENCE * (1 - CONFIDENCE) / independent)
    bad = False
    for name in FIGURES:
        hits = [hit for figure, hit in found if figure == name]
        share = sum(hits) / len(hits)
        bad |= share < CONFIDENCE - 3 * error
        print(f"{name:10} {share:6.1%} of {len(hits)} intervals")
    share = sum(hit for _, hit in found) / len(found)
    print(f"{'all':10} {share:6.1%} of {len(found)}; one standard error is {error:.1%}")
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())
