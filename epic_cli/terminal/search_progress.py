"""How far a search has come, with the best so far."""

from __future__ import annotations

import math
from types import TracebackType
from typing import TYPE_CHECKING

from epic_cli.terminal.progress import Progress

if TYPE_CHECKING:
    from epic_cli.analysis.metric import Metric
    from epic_cli.analysis.tuning.tune import Step


class SearchProgress:
    """A bar on stderr that names the strategy under way and the best figure so far."""

    def __init__(self, metric: Metric) -> None:
        self._metric = metric
        self._bar = Progress("tuning")

    def __enter__(self) -> SearchProgress:
        return self

    def __call__(self, step: Step) -> None:
        """A try more."""
        best = "" if math.isnan(step.best) else f", best {self._metric.format(step.best)}"
        of = f" ({step.number} of {step.strategies})" if step.strategies > 1 else ""
        done = (step.number - 1 + step.tries / step.most) / step.strategies
        self._bar.describe(f"{step.strategy}{of}{best}")
        self._bar(round(done * 1000), 1000)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._bar.__exit__(kind, error, traceback)
