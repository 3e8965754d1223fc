"""A measurement drawn again and again: what metrics are computed from, for all draws at once."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epic_cli.analysis.cells import FIELDS

if TYPE_CHECKING:
    from epic_cli.analysis.truth import Floats
    from epic_cli.analysis.weights import Weights
    from epic_cli.engine.packets import Status

_PLACES = {name: place for place, name in enumerate(FIELDS)}


class ResampledLag(NamedTuple):
    """The lag in each draw, the residual, and what the lag counts as."""

    seconds: Floats
    residual: Floats
    charged: Floats


@dataclass(frozen=True)
class Resampled:
    """What ``Measurement`` has, as arrays over the draws, for metrics that have an interval.

    ``sums`` (draws, fields) are those of the cells that were drawn, ``total`` (fields) of all.
    """

    sums: Floats
    total: Floats
    resolution: float
    tick: float
    weights: Weights

    def _of(self, field: str) -> Floats:
        return np.asarray(self.sums[:, _PLACES[field]])

    def _mean(self, field: str, rows: str) -> Floats:
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(self._of(field) / self._of(rows))

    @property
    def error(self) -> Floats:
        """Root mean square distance from the truth."""
        return np.asarray(np.sqrt(self._mean("squares", "rows")))

    @property
    def speed(self) -> Floats:
        """Root mean square speed of the truth."""
        return np.asarray(np.sqrt(self._mean("speed_squares", "rows")))

    @property
    def rows(self) -> Floats:
        """How many rows count."""
        return self._of("rows")

    @property
    def lag(self) -> ResampledLag:
        """The lag, as the influence of each cell on it has it, and what it leaves."""
        return ResampledLag(
            self._mean("told_seconds", "told_rows"),
            np.asarray(np.sqrt(self._mean("lag_squares", "lag_rows"))),
            # what it counts as is a length of time, however far a draw moves it
            np.abs(self._mean("charged_seconds", "charged_rows")),
        )

    @property
    def jumps(self) -> Floats:
        """How many steps are jumps."""
        return self._of("jumps")

    @property
    def backward(self) -> Floats:
        """How many steps go backward."""
        return self._of("backward")

    @property
    def overshoot_rms(self) -> Floats:
        """Root mean square of how far it is ahead of the truth."""
        return np.asarray(np.sqrt(self._mean("overshoots", "rows")))

    @property
    def recoveries(self) -> Floats:
        """From how much there was to recover."""
        return self._of("recoveries")

    @property
    def recovery_seconds(self) -> Floats:
        """How long that took in all."""
        return self._of("recovery_seconds")

    @property
    def jerk_rms(self) -> Floats:
        """Root mean square jerk of what was drawn."""
        return np.asarray(np.sqrt(self._mean("third", "fours")) / self.tick**3)

    @property
    def truth_jerk(self) -> Floats:
        """Root mean square jerk of the truth in the same rows."""
        return np.asarray(np.sqrt(self._mean("truth_third", "fours")) / self.tick**3)

    @property
    def usual_jerk(self) -> float:
        """The truth's jerk in all rows: what jerk is measured in must not depend on the draw."""
        third, fours = (float(self.total[_PLACES[field]]) for field in ("truth_third", "fours"))
        return math.sqrt(third / fours) / self.tick**3 if fours else math.nan

    def share(self, status: Status) -> Floats:
        """Which share of the rows has this status."""
        return self._mean(f"status{int(status)}", "rows")
