"""The share of recordings whose interval contains the figure of a hundred recordings together.

    python -m endurance.coverage [--runs RUNS] [--first SEED] [--only WORDS]

The movements and networks are those of ``bursty.py``, which shares nothing with ``epic simulate``.
A figure's true value is that of all runs of its kind together. An interval with one end is right
where that end is; "one end" is the share of these. Changes of the way once a minute are in some
recordings only: these have a row of their own. Prints the table of the guide (seven minutes);
``--runs 5`` is a quick one, ``--only "bursts of 8"`` are the rows with these words. Status 1 where
the share of a strategy's figure is below what is promised by more than three standard errors.
"""

from __future__ import annotations

import argparse
import itertools
import math
import sys
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from endurance.bursty import NETWORKS, recorded
from epic_cli.engine.replay.playback import SCREEN_TIMING
from epic_cli.engine.replay.strategy_spec import read_specs
from epic_cli.metrics.comparison import Comparison
from epic_cli.metrics.evaluation import CompareSpec, compare_run, pool_results, pool_runs

CANDIDATES = ("epic", "snapshot", "lerp", "dead-reckoning", "projective", "mirror")
FIGURES = ("score", "error", "residual", "jerk", "lag")
SECONDS = (20, 60)
RUNS, PROMISED = 100, 0.9

#: What this network does is in some recordings only.
RARE = "rare, strong changes"

#: Each network with somebody who runs and with a car, and what else is special.
ROWS = (
    *itertools.product(NETWORKS, ("stop and go", "wander")),
    ("2 % independent", "circle"),
    *itertools.product(("1 % independent", "trains of three", "sent on change"), ("rests",)),
)


class Covered(NamedTuple):
    """Counts of intervals that contain the value, by strategy and figure, and of all differences at
    once.

    ``open`` is the share of intervals with one end, whose differences are not judged; ``winners``
    counts wrong claims of "clearly best".
    """

    shares: Sequence[Sequence[float]]
    differences: float
    open: float
    winners: float

    @property
    def cells(self) -> list[str]:
        """Return the cells of the table.

        Each strategy's score, and the figure with the least share.
        """
        found = []
        for shares in self.shares:
            least = int(np.argmin(shares))
            worse = f" ({FIGURES[least]} {shares[least] * 100:.0f})" if least else ""
            found.append(f"{shares[0] * 100:.0f}{worse}")
        rest = (self.differences, self.open, self.winners)
        return found + ["" if math.isnan(share) else f"{share * 100:.0f}" for share in rest]


def compared(movement: str, network: str, seconds: float, seed: int) -> Comparison:
    """Compare one recording, as ``epic compare`` does alone."""
    run = recorded(movement, network, seconds, seed).run(str(seed))
    spec = CompareSpec(read_specs(CANDIDATES), SCREEN_TIMING, threads=1)
    return pool_runs([(run.name, compare_run(run, spec))], 0)


def covered(every: Sequence[Comparison], comparisons: Sequence[Comparison]) -> Covered:
    """Count how often the intervals of some recordings contain the value."""
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
    scores, best = true[:, 0], int(true[:, 0].argmax())
    wins = [[result.rank == 1 for result in comparison.results] for comparison in comparisons]
    few = [bool(one.certainty and one.certainty.rare.few) for one in comparisons]
    return Covered(
        (holds.sum(axis=0) / known.sum(axis=0)).tolist(),
        _mean(
            [_apart(one, scores) for one, open_ in zip(comparisons, few, strict=True) if not open_]
        ),
        _mean(few),
        _mean([sum(win) == 1 and not win[best] for win in wins]),
    )


def _apart(comparison: Comparison, scores: np.ndarray) -> bool:
    """Return whether all differences from the best lie within their intervals."""
    gaps = [result.standing.gap for result in comparison.results]
    ahead = scores[[gap is not None and gap.points == 0 for gap in gaps].index(True)]
    return all(
        gap.low <= ahead - score <= gap.high
        for gap, score in zip(gaps, scores, strict=True)
        if gap is not None and gap.points
    )


def _mean(values: Sequence[bool]) -> float:
    return float(np.mean(values)) if values else math.nan


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS, help="recordings a row")
    parser.add_argument("--first", type=int, default=0, help="the seed of the first one")
    parser.add_argument("--only", default="", help="networks with these words")
    given = parser.parse_args(arguments)
    seeds = range(given.first, given.first + given.runs)
    # the strategies of one recording are judged on the same packets, and count as one trial
    least = PROMISED - 3 * math.sqrt(PROMISED * (1 - PROMISED) / given.runs)
    bad = False
    names = [f"`{name}`" for name in CANDIDATES]
    titles = ("network", "movement", "s", *names, "differences", "one end", "wrong winner")
    print("| " + " | ".join(titles) + " |")
    print("| --- | --- |" + " ---: |" * (len(titles) - 2))
    for (network, movement), seconds in itertools.product(ROWS, SECONDS):
        if given.only not in network:
            continue
        every = [compared(movement, network, seconds, seed) for seed in seeds]
        parts = {network: every}
        if network == RARE:
            seen = [one for one in every if one.certainty and one.certainty.rare.events]
            parts[f"... in it ({len(seen)} of {len(every)})"] = seen
        for name, some in parts.items():
            if not some:
                continue
            found = covered(every, some)
            bad |= name != RARE and min(map(min, found.shares)) < least
            print(f"| {name} | {movement} | {seconds} | {' | '.join(found.cells)} |", flush=True)
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())
