"""How often the intervals of one recording contain what many recordings come to, by network.

    python -m endurance.coverage [RUNS]

The movements and networks are those of ``bursty.py``, which shares nothing with ``epic simulate``.
A figure's true value is that of all runs of its kind together. An interval with one end is right
where that end is; the share of these stands behind the figures. Changes of the way once a minute
are in some recordings only: these have a row of their own. Prints the table of the guide. Status
1 where a share of a network that shows what it does is below what is promised by more than three
standard errors.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from endurance.bursty import MOVEMENTS, NETWORKS, recorded
from epic_cli.engine.replay.playback import SCREEN_TIMING
from epic_cli.engine.replay.strategy_spec import read_specs
from epic_cli.metrics.comparison import Comparison
from epic_cli.metrics.evaluation import CompareSpec, compare_run, pool_results, pool_runs

CANDIDATES = read_specs(["epic", "snapshot", "lerp", "dead-reckoning", "projective", "mirror"])
FIGURES = ("error", "residual", "jerk", "lag", "score")
SECONDS = (30, 120)
RUNS, PROMISED = 150, 0.9

#: What this network does is in some recordings only.
RARE = "rare, strong changes"


class Covered(NamedTuple):
    """The share of intervals that contain the value, by figure; of those with one end; widths.

    ``winners`` is how often something was called clearly best though it is not. ``widths`` are the
    medians by strategy and figure.
    """

    shares: Sequence[float]
    open: float
    winners: float
    widths: Sequence[Sequence[float]]


def compared(movement: str, network: str, seconds: float, seed: int) -> Comparison:
    """One recording, as ``epic compare`` judges it alone."""
    run = recorded(movement, network, seconds, seed).run(str(seed))
    spec = CompareSpec(CANDIDATES, SCREEN_TIMING, threads=1)
    return pool_runs([(run.name, compare_run(run, spec))], 0)


def covered(every: Sequence[Comparison], comparisons: Sequence[Comparison]) -> Covered:
    """How often the intervals of some of them hold."""
    several = zip(*(comparison.results for comparison in every), strict=True)
    whole = [pool_results([item for item in own if item.values]) for own in several]
    true = np.array([[result.value(name) for name in FIGURES] for result in whole])
    ends = np.array(
        [
            [[result.interval(name) for name in FIGURES] for result in comparison.results]
            for comparison in comparisons
        ]
    )
    low, high = ends[..., 0], ends[..., 1]
    known = ~(np.isnan(low) & np.isnan(high))
    holds = known & ~(low > true) & ~(high < true)
    best = int(true[:, FIGURES.index("score")].argmax())
    wins = [[result.rank == 1 for result in comparison.results] for comparison in comparisons]
    wrong = [sum(win) == 1 and not win[best] for win in wins]
    return Covered(
        (holds.sum(axis=(0, 1)) / known.sum(axis=(0, 1))).tolist(),
        float(
            np.mean(
                [
                    comparison.certainty.rare.few
                    for comparison in comparisons
                    if comparison.certainty
                ]
            )
        ),
        float(np.mean(wrong)),
        np.nanmedian(high - low, axis=0).tolist(),
    )


def main(arguments: Sequence[str] = sys.argv[1:]) -> int:
    runs = int(arguments[0]) if arguments else RUNS
    # the strategies of one recording are judged on the same packets, and count as one trial
    least = PROMISED - 3 * math.sqrt(PROMISED * (1 - PROMISED) / runs)
    bad = False
    print("| network | movement | s | " + " | ".join(FIGURES) + " | one end | wrong winner |")
    print("| --- | --- | ---: | " + "---: | " * (len(FIGURES) + 2))
    for network in NETWORKS:
        for movement in MOVEMENTS:
            for seconds in SECONDS:
                every = [compared(movement, network, seconds, n) for n in range(runs)]
                parts = {network: every}
                if network == RARE:
                    seen = [
                        comparison
                        for comparison in every
                        if comparison.certainty and comparison.certainty.rare.events
                    ]
                    parts[f"... in it ({len(seen) / runs:.0%})".replace("%", " %")] = seen
                for name, some in parts.items():
                    found = covered(every, some)
                    bad |= name != RARE and min(found.shares) < least
                    cells = [f"{share:.0%}" for share in (*found.shares, found.open, found.winners)]
                    words = " | ".join(cells).replace("%", " %")
                    print(f"| {name} | {movement} | {seconds} | {words} |", flush=True)
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())
