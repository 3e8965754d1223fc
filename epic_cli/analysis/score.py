"""One number for a strategy: the score, from what it costs and what matters."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from epic_cli.analysis.weights import Weights

if TYPE_CHECKING:
    from epic_cli.analysis.measurement import Measurement

#: A tenth of a second: the lag, and the error in seconds of movement, that cost 1.
SCALE = 0.1


FORMULA = (
    "score = 100 / (1 + weighted mean of three costs);"
    " accuracy: residual / (V * 0.1 s); smoothness: sqrt(jerk^2 - truth's jerk^2) * tick^2 / V,"
    " at least 0; latency: |lag| / 0.1 s; V: the truth's RMS speed"
)


def costs(measured: Measurement) -> Weights:
    """The three costs, NaN where there is not enough to say."""
    import numpy as np  # help needs none

    speed = np.where(measured.speed > 0, measured.speed, math.nan)
    excess = np.maximum(0.0, measured.jerk_rms**2 - measured.truth_jerk**2)
    return Weights(
        measured.lag.residual / (speed * SCALE),
        np.sqrt(excess) * measured.tick**2 / speed,
        abs(measured.lag.seconds) / SCALE,
    )


def score(measured: Measurement) -> float:
    """From 0 to 100, which only the truth itself gets; NaN: not enough to say.

    It depends on nothing but what was measured of the candidate, and on the weights: adding others
    to a comparison does not change it.
    """
    parts = [(w, c) for w, c in zip(measured.weights, costs(measured), strict=True) if w > 0]
    mean = sum(w * c for w, c in parts) / sum(w for w, _ in parts)
    return 100 / (1 + mean)
