"""The metrics of a comparison, each declared once: adding one is adding an entry to ``METRICS``.

Tables, CSV, JSON lines, Markdown, the page, the session's ``:compare``, ``--sort`` and the help of
``epic compare`` all read this tuple. A metric is computed from what was accumulated over all rows
that count (``Measurement``), so that several entities together are measured as one is. With
p(i) what is drawn and x(i) the truth at row i of n, and T the tick:

    error       sqrt(mean |p(i) - x(i)|^2)
    lag         the shift s that minimises mean |p(t) - x(t - s)|^2 (``lag.py``)
    residual    the root of that minimum
    jump        max over i of |p(i) - p(i-1)| - the truth's longest step within 0.5 s
    jerk_rms    sqrt(mean |p(i) - 3 p(i-1) + 3 p(i-2) - p(i-3)|^2) / T^3
    truth_jerk  the same of x(i)
    jerk        jerk_rms / truth_jerk
    overshoot   max over i of the least (p(i) - x(j)) . u, u the direction of p(i) - p(i-1), over
                the rows j within 0.5 s of the one that is drawn, lag included
    recovery    ``recovery.py``
    score       ``score.py``
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from epic_cli.analysis.digits import milliseconds, one_decimal, percent, three_digits, whole
from epic_cli.analysis.metric import Better, Metric, Section
from epic_cli.analysis.score import COSTS, costs, score
from epic_cli.engine.packets import Status

if TYPE_CHECKING:
    from epic_cli.analysis.measured import Measured
    from epic_cli.analysis.measurement import Measurement


def _error95(measured: Measurement) -> float:
    from epic_cli.analysis.literature import quantile95  # help needs no numpy

    return quantile95(measured.errors)


def _jerk(measured: Measured) -> Any:
    """The jerk as a multiple of the truth's; as it is where the truth has none to speak of."""
    import numpy as np  # as above

    shown, truth, cube = measured.jerk_rms, measured.usual_jerk, measured.tick**3
    least = np.maximum(1e-6 * measured.speed * measured.tick, measured.resolution)
    some = truth * cube > least
    alone = np.where(shown * cube <= measured.resolution, 0.0, shown)
    return np.where(some, shown / np.where(some, truth, 1.0), alone)


def _each(seconds: float, count: int) -> float:
    return seconds / count if count else math.nan


def _cost(name: str) -> Metric:
    return Metric(
        f"{name}_cost",
        f"{name} cost",
        "",
        Better.LOW,
        three_digits,
        f"what the score counts: {COSTS[name]}",
        lambda measured: float(getattr(costs(measured), name)),
        Section.DATA,
    )


METRICS: tuple[Metric, ...] = (
    Metric(
        "score",
        "score",
        "",
        Better.HIGH,
        one_decimal,
        "overall, 0 to 100; the formula is under the table",
        score,
        Section.ACCURACY,
        weight=13,
        interval=True,
    ),
    Metric(
        "rows",
        "rows",
        "",
        Better.NEITHER,
        whole,
        "how many rows are judged",
        lambda measured: measured.rows,
        Section.DATA,
    ),
    Metric(
        "error",
        "error",
        "length",
        Better.LOW,
        three_digits,
        "RMS distance from the truth at the time it is drawn",
        lambda measured: measured.error,
        Section.ACCURACY,
        weight=12,
        interval=True,
    ),
    Metric(
        "error95",
        "95 %",
        "length",
        Better.LOW,
        three_digits,
        "the distance that 95 % of the rows do not exceed",
        _error95,
        Section.ACCURACY,
        weight=5,
    ),
    Metric(
        "error_max",
        "max",
        "length",
        Better.LOW,
        three_digits,
        "the largest distance",
        lambda measured: measured.error_max,
        Section.ACCURACY,
        weight=7,
    ),
    Metric(
        "lag",
        "lag ms",
        "s",
        Better.NEAR_ZERO,
        milliseconds,
        "the shift in time that brings it nearest to the truth",
        lambda measured: measured.lag.seconds,
        Section.ACCURACY,
        weight=11,
        interval=True,
    ),
    Metric(
        "residual",
        "residual",
        "length",
        Better.LOW,
        three_digits,
        "RMS distance that is left after that shift",
        lambda measured: measured.lag.residual,
        Section.ACCURACY,
        weight=4,
        interval=True,
    ),
    Metric(
        "largest_jump",
        "jump",
        "length",
        Better.LOW,
        three_digits,
        "how far the largest step goes beyond the truth's longest within half a second",
        lambda measured: measured.excess,
        weight=10,
    ),
    Metric(
        "jumps",
        "jumps",
        "",
        Better.LOW,
        whole,
        "steps more than 1.5 times as long as the truth's longest within half a second",
        lambda measured: measured.jumps,
        weight=8,
        interval=True,
    ),
    Metric(
        "jerk",
        "jerk",
        "",
        Better.LOW,
        three_digits,
        "RMS jerk as a multiple of the truth's, or as it is where the truth has none",
        _jerk,
        weight=9,
        interval=True,
    ),
    Metric(
        "jerk_rms",
        "RMS jerk",
        "length/s^3",
        Better.LOW,
        three_digits,
        "RMS jerk of what is drawn",
        lambda measured: measured.jerk_rms,
        Section.DATA,
        interval=True,
    ),
    Metric(
        "truth_jerk",
        "truth's jerk",
        "length/s^3",
        Better.NEITHER,
        three_digits,
        "RMS jerk of the truth in the same rows",
        lambda measured: measured.truth_jerk,
        Section.DATA,
    ),
    Metric(
        "overshoot",
        "over",
        "length",
        Better.LOW,
        three_digits,
        "how far it runs ahead of everywhere the truth is within half a second, at most",
        lambda measured: measured.overshoot,
        weight=5,
    ),
    Metric(
        "backward",
        "back",
        "",
        Better.LOW,
        whole,
        "steps against the truth's direction",
        lambda measured: measured.backward,
        weight=3,
    ),
    Metric(
        "after_teleport",
        "tele ms",
        "s",
        Better.LOW,
        milliseconds,
        "how long it is wrong after a teleport is known, beyond its lag; mean",
        lambda measured: _each(measured.recovery.teleport_seconds, measured.recovery.teleports),
        weight=6,
    ),
    Metric(
        "smeared",
        "smeared",
        "",
        Better.LOW,
        whole,
        "teleports that it draws as a movement",
        lambda measured: measured.recovery.smeared if measured.recovery.teleports else math.nan,
        weight=2,
    ),
    Metric(
        "after_outage",
        "gap ms",
        "s",
        Better.LOW,
        milliseconds,
        "how long it is wrong after packets come again, beyond its lag; mean",
        lambda measured: _each(measured.recovery.outage_seconds, measured.recovery.outages),
        weight=6,
    ),
    Metric(
        "held",
        "held",
        "0 to 1",
        Better.LOW,
        percent,
        "share of the judged rows that are frozen for lack of data",
        lambda measured: measured.share(Status.HELD),
        weight=6,
        interval=True,
    ),
    Metric(
        "extrapolated",
        "extrap.",
        "0 to 1",
        Better.NEITHER,
        percent,
        "share of the judged rows drawn beyond what was known",
        lambda measured: measured.share(Status.EXTRAPOLATED),
        weight=2,
        interval=True,
    ),
    Metric(
        "none",
        "none",
        "0 to 1",
        Better.LOW,
        percent,
        "share of the judged rows in which nothing is drawn; they count as holding",
        lambda measured: measured.share(Status.NONE),
        weight=1,
        interval=True,
    ),
    Metric(
        "overshoot_rms",
        "RMS overshoot",
        "length",
        Better.LOW,
        three_digits,
        "RMS of how far it runs ahead, over all judged rows",
        lambda measured: measured.overshoot_rms,
        Section.DATA,
    ),
    Metric(
        "teleports",
        "teleports",
        "",
        Better.NEITHER,
        whole,
        "teleports after which recovery was measured",
        lambda measured: measured.recovery.teleports,
        Section.DATA,
    ),
    Metric(
        "outages",
        "outages",
        "",
        Better.NEITHER,
        whole,
        "outages of the network after which recovery was measured",
        lambda measured: measured.recovery.outages,
        Section.DATA,
    ),
    Metric(
        "beyond",
        "beyond",
        "length",
        Better.LOW,
        three_digits,
        "how far it is drawn outside of the box that the truth fills, at most",
        lambda measured: measured.beyond,
        Section.DATA,
    ),
    *(_cost(name) for name in COSTS),
    Metric(
        "speed",
        "speed",
        "length/s",
        Better.NEITHER,
        three_digits,
        "RMS speed of the truth",
        lambda measured: measured.speed,
        Section.DATA,
    ),
    Metric(
        "tick",
        "tick",
        "s",
        Better.NEITHER,
        three_digits,
        "time from one row to the next",
        lambda measured: measured.tick,
        Section.DATA,
    ),
)


def shown_metrics() -> list[Metric]:
    """The metrics that people are shown."""
    return [one for one in METRICS if one.section is not Section.DATA]


def named(name: str) -> Metric:
    """The metric of this name; raises ``KeyError``."""
    return {one.name: one for one in METRICS}[name]


def figure_names() -> list[str]:
    """What CSV, JSON lines and conditions call the metrics, and the ends of their intervals."""
    return [name for one in METRICS for name in (one.name, *(one.ends if one.interval else ()))]
