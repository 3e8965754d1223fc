"""The front of latency against roughness: the search's, and that of 5,000 random points.

    python -m endurance.front [NAME...]     (in tests/; a minute)

Prints, for each strategy, the hypervolume (up to half a second of latency, and a roughness of 1) of
the front that the usual trials of ``epic tune`` leave, as a share of that of random points.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence

from endurance.ranges import network_set, search_of, within
from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.jobs.tune.run import FrontPoint, find_front
from epic_cli.jobs.tune.trials import Trial, collect_rankable_metrics
from epic_cli.metrics.metric import Weights

LATE, ROUGH = 0.5, 1.0

POINTS = 5000


def hypervolume(points: Sequence[FrontPoint]) -> float:
    """Return the area that a front dominates."""
    corners = sorted((min(point.latency, LATE), min(point.roughness, ROUGH)) for point in points)
    ends = [late for late, _ in corners[1:]] + [LATE]
    return sum((end - late) * (ROUGH - up) for (late, up), end in zip(corners, ends, strict=True))


def main() -> None:
    """Run the search, and print the figures."""
    on, weights = network_set("strafe", 10.0), Weights()
    for name in sys.argv[1:] or ["snapshot", "hermite", "source", "unity-ngo"]:
        made = search_of(on, name).made
        draw, source = within(name), random.Random(5)
        drawn = [draw(source) for _ in range(POINTS)]
        other = [
            Trial(point, collect_rankable_metrics(on.evaluate(StrategySpec(name, point))))
            for point in drawn
        ]
        ours, theirs = (hypervolume(find_front(name, row, weights)) for row in (made, other))
        print(f"{name}: {len(made)} trials, {ours / theirs:.1%}", flush=True)


if __name__ == "__main__":
    main()
