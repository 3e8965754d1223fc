"""The score, one number from 0 to 100 for a strategy, and the costs that lower it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from epic_cli.metrics.digits import format_whole
from epic_cli.metrics.metric import SCALE, Better, Metric, Weights, drop_turning
from epic_cli.metrics.turning import compute_aim_cost, compute_turning_cost

if TYPE_CHECKING:
    from epic_cli.metrics.measurement import Measurement, Resampled


#: Costs 1: this share of the time spent recovering, or of the steps going backward.
SHARE = 0.1

#: Least good score: an error of 0.3 s of movement in everything that counts.
GOOD = 25.0

#: The formula of each cost, by its name among the weights; V is the truth's RMS speed.
COSTS = {
    "accuracy": "residual / (V * 0.1 s)",
    "smoothness": "sqrt(jerk^2 - truth's jerk^2) * tick^2 / V, at least 0",
    "latency": "abs(lag) / 0.1 s, 50 where the lag is unknown",
    "recovery": "share of the time spent recovering / 0.1, on top of the mean of the others",
    "overshoot": "RMS overshoot / (V * 0.1 s)",
    "backward": "share of backward steps / 0.1",
    "across": "residual across the movement / (V * 0.1 s)",
    "turning": "residual angle / (0.1 s of the truth's RMS turning, 10 deg/s at least)",
    "aim": "distance by which the aim is off, as late as it is drawn, / (aim range * 0.1)",
}


def write_formula(weights: Weights) -> str:
    """Return the score's formula as text, with the costs that these weights count."""
    used = [f"{name}: {COSTS[name]}" for name, weight in weights._asdict().items() if weight > 0]
    return (
        "score = 100 / (1 + weighted sum of the costs / sum of the weights but recovery's);"
        f" {'; '.join(used)}; V: the truth's RMS speed"
    )


def read_residual_part(measured: Measurement | Resampled, part: str) -> Any:
    """Return the residual along (``late_along``) or across (``late_across``) the movement."""
    import numpy as np  # help needs none

    both = measured.mean("late_along") + measured.mean("late_across")
    share = measured.mean(part) / np.where(both > 0, both, 1.0)  # nothing has no parts
    return measured.lag.residual * np.sqrt(share)


def compute_costs(measured: Measurement | Resampled) -> Any:
    """Return the score's costs in the form of ``Weights`` (of arrays for draws).

    The costs are computed once. NaN where there is not enough to say, or nothing to recover from.
    """
    kept = measured.__dict__
    if "_costs" not in kept:
        import numpy as np  # help needs none

        with np.errstate(all="ignore"):  # what has diverged costs infinitely much
            kept["_costs"] = _compute_costs(measured)
    return kept["_costs"]


def _compute_costs(measured: Measurement | Resampled) -> Any:
    import numpy as np  # help needs none

    speed = np.where(measured.speed > 0, measured.speed, math.nan)
    excess = np.maximum(0.0, np.square(measured.jerk_rms) - np.square(measured.truth_jerk))
    seconds = measured.recovery_seconds
    time = measured.rows * measured.tick
    movement = speed * SCALE
    known = speed / speed
    made: Any = Weights  # of arrays, where there are several draws
    recovered = np.where(measured.recoveries > 0, known, math.nan)
    return made(
        measured.lag.residual / movement,
        np.sqrt(excess) * measured.tick**2 / speed,
        measured.lag.charged / SCALE * known,
        seconds / (time + seconds) / SHARE * recovered,
        measured.overshoot_rms / movement,
        measured.backward / np.maximum(measured.rows, 1) / SHARE * known,
        read_residual_part(measured, "late_across") / movement,
        compute_turning_cost(measured),
        compute_aim_cost(measured),
    )


def compute_score(measured: Measurement | Resampled) -> Any:
    """Return the score, 100 for the truth itself and 0 at worst; NaN if unknown.

    It depends only on the candidate's measurement and on the weights: other participants do not
    change it.
    """
    import numpy as np  # help needs none

    weights, found = measured.weights, compute_costs(measured)
    # on top of the mean of the others: as a part of it, an outage would water these down
    found = found._replace(recovery=np.where(np.isnan(found.recovery), 0.0, found.recovery))
    if np.isnan(found.turning).all() and np.isnan(found.aim).all():
        weights = drop_turning(weights)
    parts = [weight * cost for weight, cost in zip(weights, found, strict=True) if weight > 0]
    with np.errstate(invalid="ignore", over="ignore"):
        return 100 / (1 + sum(parts) / sum(weights._replace(recovery=0.0)))


def _make_cost_metric(name: str) -> Metric:
    return Metric(
        f"{name}_cost",
        f"cost that the score counts: {COSTS[name]}",
        lambda measured: getattr(compute_costs(measured), name),
        title=f"{name} cost",
    )


#: Metrics for programs, of which other metrics are made.
METRICS = (
    Metric(
        "overshoot_rms",
        "RMS distance ahead of the truth, over all judged rows",
        lambda measured: measured.overshoot_rms,
        title="RMS overshoot",
        unit="length",
    ),
    Metric(
        "teleports",
        "teleports after which recovery was measured",
        lambda measured: measured.recovery.teleports,
        better=Better.NEITHER,
        format=format_whole,
    ),
    Metric(
        "outages",
        "outages without a packet after which recovery was measured",
        lambda measured: measured.recovery.outages,
        better=Better.NEITHER,
        format=format_whole,
    ),
    Metric(
        "beyond",
        "largest distance outside of the box that the truth fills",
        lambda measured: measured.beyond,
        unit="length",
    ),
    *map(_make_cost_metric, COSTS),
    Metric(
        "speed",
        "RMS speed of the truth",
        lambda measured: measured.speed,
        unit="length/s",
        better=Better.NEITHER,
    ),
    Metric(
        "tick",
        "time from one row to the next",
        lambda measured: measured.tick,
        unit="s",
        better=Better.NEITHER,
    ),
)
