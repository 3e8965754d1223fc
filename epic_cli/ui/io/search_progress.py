"""How far a search has come, with the best so far."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from epic_cli.ui.io.progress import Progress

if TYPE_CHECKING:
    from epic_cli.analysis.metrics.metric import Metric
    from epic_cli.analysis.tuning.tune import Step


class SearchProgress(Progress):
    """A bar on stderr that names the strategy under way and the best figure so far."""

    def __init__(self, metric: Metric) -> None:
        super().__init__("tuning")
        self._metric = metric

    def step(self, step: Step) -> None:
        """One more trial."""
        best = "" if math.isnan(step.best) else f", best {self._metric.format(step.best)}"
        of = f" ({step.number} of {step.strategies})" if step.strategies > 1 else ""
        done = (step.number - 1 + step.trials / step.most) / step.strategies
        self.describe(f"{step.strategy}{of}{best}")
        self(round(done * 1000), 1000)
