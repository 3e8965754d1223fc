"""What tuning is for: the score, or a single figure, as a cost that is to be as small as can be."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from epic_cli.analysis.metric import Better, Metric
from epic_cli.analysis.metrics import METRICS, named

#: The names of figures that can be tuned for.
GOALS = tuple(one.name for one in METRICS if one.better is not Better.NEITHER)


class Goal(NamedTuple):
    """A figure that is to be as good as can be."""

    metric: Metric

    def cost(self, figures: Mapping[str, float]) -> float:
        """What is smaller, the better these figures are; infinite: there is none."""
        value = figures.get(self.metric.name, math.nan)
        if math.isnan(value):
            return math.inf
        return self.metric.rank(value)[1]

    def key(self, figures: Mapping[str, float]) -> tuple[float, float]:
        """The same; of those that are equally good the one with the best score comes first."""
        return self.cost(figures), -figures.get("score", -math.inf)


def goal(name: str) -> Goal:
    """The goal of this name; raises ``KeyError``."""
    return Goal(named(name))
