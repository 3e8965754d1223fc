"""The spec of a search: strategies, metric, judging, and duration."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from epic_cli.metrics import METRICS, find_metric
from epic_cli.metrics.metric import Better, Metric
from epic_cli.work.jobs import HERE, Workers

if TYPE_CHECKING:
    from epic_cli.engine.replay.strategy_spec import StrategySpec
    from epic_cli.metrics.evaluation import CompareSpec
    from epic_cli.metrics.inputs import RunInputs

#: The names of metrics that can be tuned for.
GOALS = tuple(metric.name for metric in METRICS if metric.better is not Better.NEITHER)

#: By ``time``: the first half is tuned on. By ``recording``: every other one. ``none``: all of it
#: is tuned and evaluated on.
Division = Literal["time", "recording", "none"]
DIVISIONS: tuple[Division, ...] = ("time", "recording", "none")


class Goal(NamedTuple):
    """A metric to optimize, as a cost to minimize."""

    metric: Metric

    def compute_cost(self, metrics: Mapping[str, float]) -> float:
        """Return the cost of a result with these metrics.

        Infinite if the goal's metric is unknown.
        """
        value = metrics.get(self.metric.name, math.nan)
        if math.isnan(value):
            return math.inf
        return self.metric.rank(value)[1]

    def compute_key(self, metrics: Mapping[str, float]) -> tuple[float, float]:
        """Return the cost, and the negative score to break ties, as a key for sorting."""
        return self.compute_cost(metrics), -metrics.get("score", -math.inf)


def find_goal(figure: str) -> Goal:
    """Return the goal of a metric by the metric's name; raise ``KeyError``."""
    return Goal(find_metric(figure))


@dataclass(frozen=True)
class TuneSpec:
    """The spec of a search: strategies, metric and limits.

    Settings that ``strategies`` set themselves are held. ``compare`` says how settings are
    evaluated, and has the seed; it needs no participants. ``division`` None: by recording if there
    are enough, else by time. ``trials`` is the number of trials per strategy (None: by default),
    ``seconds`` the time for all together. For a design, ``strategies`` are those to compose (none:
    all), and ``trials`` is per composition.
    """

    strategies: tuple[StrategySpec, ...]
    compare: CompareSpec
    figure: str = "score"
    division: Division | None = None
    trials: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        """Raise ``ValueError`` for an unknown metric or division."""
        if self.figure not in GOALS:
            known = ", ".join(GOALS)
            raise ValueError(f"there is no metric {self.figure!r} to tune for: choose from {known}")
        if self.division is not None and self.division not in DIVISIONS:
            known = ", ".join(DIVISIONS)
            raise ValueError(f"validate is {known} or None, not {self.division!r}")

    @property
    def goal(self) -> Goal:
        """The metric to tune for, as a cost to minimize."""
        return find_goal(self.figure)


@dataclass(frozen=True)
class TuneJob:
    """A search as a job: the ``runs``, the spec, and the workers."""

    runs: RunInputs
    how: TuneSpec
    workers: Workers = HERE
