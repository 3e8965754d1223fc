"""One number for a strategy: the score, from what it costs and what matters."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from epic_cli.analysis.weights import SCALE, Weights

if TYPE_CHECKING:
    from epic_cli.analysis.measurement import Measurement

#: A tenth of the time: so much of it spent recovering, or going backward, costs 1.
SHARE = 0.1

#: Below this nothing is good: what is drawn is off by 0.3 s of movement in everything that counts.
GOOD = 25.0

#: How each cost is made, by its name among the weights; V is the truth's RMS speed.
COSTS = {
    "accuracy": "residual / (V * 0.1 s)",
    "smoothness": "sqrt(jerk^2 - truth's jerk^2) * tick^2 / V, at least 0",
    "latency": "abs(lag) / 0.1 s, 50 where the lag cannot be told",
    "recovery": "share of the time spent recovering / 0.1, where there is anything to recover from",
    "overshoot": "RMS overshoot / (V * 0.1 s)",
    "backward": "share of backward steps / 0.1",
}


def formula(weights: Weights) -> str:
    """The score's formula, with the costs that these weights count."""
    used = [f"{name}: {COSTS[name]}" for name, weight in weights._asdict().items() if weight > 0]
    return (
        f"score = 100 / (1 + weighted mean of the costs); {'; '.join(used)};"
        " V: the truth's RMS speed"
    )


def costs(measured: Measurement) -> Weights:
    """The costs, NaN where there is not enough to say, or nothing to recover from."""
    if not measured.speed > 0:
        return Weights(*[math.nan] * len(Weights._fields))
    excess = max(0.0, measured.jerk_rms**2 - measured.truth_jerk**2)
    if math.isnan(measured.jerk_rms):
        excess = math.nan
    recovered = measured.recovery
    seconds = recovered.teleport_seconds + recovered.outage_seconds
    time = measured.rows * measured.tick
    movement = measured.speed * SCALE
    return Weights(
        measured.lag.residual / movement,
        math.sqrt(excess) * measured.tick**2 / measured.speed,
        measured.lag.charged / SCALE,
        seconds / (time + seconds) / SHARE if recovered.teleports + recovered.outages else math.nan,
        measured.overshoot_rms / movement,
        measured.backward / max(measured.rows, 1) / SHARE,
    )


def score(measured: Measurement) -> float:
    """From 0 to 100, which only the truth itself gets; NaN: not enough to say.

    It depends on nothing but what was measured of the candidate, and on the weights: adding others
    to a comparison does not change it.
    """
    found = costs(measured)
    weights = measured.weights
    if math.isnan(found.recovery):
        weights = weights._replace(recovery=0.0)
    parts = [(w, c) for w, c in zip(weights, found, strict=True) if w > 0]
    total = sum(w for w, _ in parts)
    return 100 / (1 + sum(w * c for w, c in parts) / total) if parts else math.nan
