"""Metrics for programs: what others are made of."""

from __future__ import annotations

from epic_cli.analysis.digits import whole
from epic_cli.analysis.metrics.metric import Better, Metric, Section
from epic_cli.analysis.metrics.score import COSTS, costs


def _cost(name: str) -> Metric:
    return Metric(
        f"{name}_cost",
        f"what the score counts: {COSTS[name]}",
        lambda measured: getattr(costs(measured), name),
        title=f"{name} cost",
        section=Section.DATA,
    )


METRICS = (
    Metric(
        "overshoot_rms",
        "RMS of how far it runs ahead, over all judged rows",
        lambda measured: measured.overshoot_rms,
        title="RMS overshoot",
        unit="length",
        section=Section.DATA,
    ),
    Metric(
        "teleports",
        "teleports after which recovery was measured",
        lambda measured: measured.recovery.teleports,
        better=Better.NEITHER,
        format=whole,
        section=Section.DATA,
    ),
    Metric(
        "outages",
        "outages of the network after which recovery was measured",
        lambda measured: measured.recovery.outages,
        better=Better.NEITHER,
        format=whole,
        section=Section.DATA,
    ),
    Metric(
        "beyond",
        "how far it is drawn outside of the box that the truth fills, at most",
        lambda measured: measured.beyond,
        unit="length",
        section=Section.DATA,
    ),
    *map(_cost, COSTS),
    Metric(
        "speed",
        "RMS speed of the truth",
        lambda measured: measured.speed,
        unit="length/s",
        better=Better.NEITHER,
        section=Section.DATA,
    ),
    Metric(
        "tick",
        "time from one row to the next",
        lambda measured: measured.tick,
        unit="s",
        better=Better.NEITHER,
        section=Section.DATA,
    ),
)
