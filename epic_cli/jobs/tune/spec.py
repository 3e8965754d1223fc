"""What to tune: strategies, for which figure, evaluated how, and how long to search."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from epic_cli.metrics import METRICS, named
from epic_cli.metrics.metric import Better, Metric
from epic_cli.work.jobs import HERE, Workers

if TYPE_CHECKING:
    from epic_cli.engine.replay.strategy_spec import StrategySpec
    from epic_cli.metrics.evaluation import CompareSpec
    from epic_cli.metrics.inputs import RunInputs

#: The names of figures that can be tuned for.
GOALS = tuple(metric.name for metric in METRICS if metric.better is not Better.NEITHER)

#: By ``time``: the first half is tuned on. By ``recording``: every other one. ``none``: all of it
#: is tuned and evaluated on.
Division = Literal["time", "recording", "none"]
DIVISIONS: tuple[Division, ...] = ("time", "recording", "none")


class Goal(NamedTuple):
    """A figure that is to be as good as can be, as a cost that is to be small."""

    metric: Metric

    def cost(self, figures: Mapping[str, float]) -> float:
        """The smaller, the better these figures are; infinite: there is none."""
        value = figures.get(self.metric.name, math.nan)
        if math.isnan(value):
            return math.inf
        return self.metric.rank(value)[1]

    def key(self, figures: Mapping[str, float]) -> tuple[float, float]:
        """The cost; of those that are equally good the one with the best score comes first."""
        return self.cost(figures), -figures.get("score", -math.inf)


def goal(figure: str) -> Goal:
    """The goal of this name; raises ``KeyError``."""
    return Goal(named(figure))


@dataclass(frozen=True)
class TuneSpec:
    """A whole search, as ``tune`` takes it.

    Settings that ``strategies`` give themselves are held. ``compare`` says how settings are
    evaluated, and has the seed; it needs no participants. ``division`` None: by recording where
    there are enough of them, else by time. ``trials`` is how many settings to try for each strategy
    (None: as suits it), ``seconds`` how long to search for all of them together. For a design,
    ``strategies`` are those that are composed (none: all that can be), and ``trials`` is for each
    composition.
    """

    strategies: tuple[StrategySpec, ...]
    compare: CompareSpec
    figure: str = "score"
    division: Division | None = None
    trials: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        """Raises ``ValueError`` for a figure or a division that does not exist."""
        if self.figure not in GOALS:
            known = ", ".join(GOALS)
            raise ValueError(f"there is no figure {self.figure!r} to tune for: they are {known}")
        if self.division is not None and self.division not in DIVISIONS:
            known = ", ".join(DIVISIONS)
            raise ValueError(f"validate is {known} or None, not {self.division!r}")

    @property
    def goal(self) -> Goal:
        """The figure as a cost."""
        return goal(self.figure)


@dataclass(frozen=True)
class TuneJob:
    """A whole search: over the ``runs``, how, and who does the work."""

    runs: RunInputs
    how: TuneSpec
    workers: Workers = HERE
