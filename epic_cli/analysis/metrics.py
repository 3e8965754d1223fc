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
    score       ``score.py``
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from epic_cli.analysis.digits import milliseconds, one_decimal, percent, three_digits, whole
from epic_cli.analysis.metric import Better, Metric, Section
from epic_cli.analysis.score import score
from epic_cli.engine.packets import Status

if TYPE_CHECKING:
    from epic_cli.analysis.measurement import Measurement


def _error95(measured: Measurement) -> float:
    from epic_cli.analysis.literature import quantile95  # help needs no numpy

    return quantile95(measured.errors)


def _jerk(measured: Measured) -> Any:
    """The jerk as a multiple of the truth's; as it is where the truth has none to speak of."""
    import numpy as np  # as above

    truth = measured.usual_jerk
    none = truth * measured.tick**2 <= 1e-6 * measured.speed
    return measured.jerk_rms / np.where(none, 1.0, truth)


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
        "how many rows count",
        lambda measured: len(measured.errors),
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
        lambda measured: float(measured.errors.max()),
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
        "held",
        "held",
        "0 to 1",
        Better.LOW,
        percent,
        "share of rows frozen for lack of data",
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
        "share of rows drawn beyond what was known",
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
        "share of rows before anything is drawn",
        lambda measured: measured.share(Status.NONE),
        weight=1,
        interval=True,
    ),
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
