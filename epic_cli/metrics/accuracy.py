"""The metrics of error and lag."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from epic_cli.metrics.digits import format_milliseconds, format_one_decimal, format_whole
from epic_cli.metrics.metric import Better, Metric, MetricSection
from epic_cli.metrics.score import compute_score, read_residual_part

if TYPE_CHECKING:
    from epic_cli.metrics.measurement import Measurement, Resampled


def _compute_error_across_movement(measured: Measurement | Resampled) -> Any:
    import numpy as np  # help needs none

    return np.sqrt(np.maximum(np.square(measured.error) - measured.mean("along"), 0.0))


METRICS = (
    Metric(
        "score",
        "overall score, 0 to 100; --explain has the formula",
        compute_score,
        better=Better.HIGH,
        format=format_one_decimal,
        section=MetricSection.ACCURACY,
        weight=13,
        interval=True,
    ),
    Metric(
        "rows",
        "number of judged rows",
        lambda measured: measured.rows,
        better=Better.NEITHER,
        format=format_whole,
    ),
    Metric(
        "error",
        "RMS distance from the truth at the time it is drawn",
        lambda measured: measured.error,
        unit="length",
        section=MetricSection.ACCURACY,
        weight=12,
        interval=True,
    ),
    Metric(
        "error95",
        "distance from the truth that 95 % of the rows do not exceed",
        lambda measured: measured.error95,
        title="95 %",
        unit="length",
        section=MetricSection.ACCURACY,
        weight=5,
    ),
    Metric(
        "error_max",
        "largest distance from the truth",
        lambda measured: measured.error_max,
        title="max",
        unit="length",
        section=MetricSection.ACCURACY,
        weight=7,
    ),
    Metric(
        "lag",
        "shift in time that brings the drawn path nearest to the truth",
        lambda measured: measured.lag.seconds,
        title="lag ms",
        unit="s",
        better=Better.NEAR_ZERO,
        format=format_milliseconds,
        section=MetricSection.ACCURACY,
        weight=11,
        interval=True,
    ),
    Metric(
        "residual",
        "RMS distance from the truth that is left with the lag removed",
        lambda measured: measured.lag.residual,
        unit="length",
        section=MetricSection.ACCURACY,
        weight=4,
        interval=True,
    ),
    Metric(
        "residual_across",
        "part of the residual across the movement, which no lag explains: a wrong curve",
        lambda measured: read_residual_part(measured, "late_across"),
        title="across",
        unit="length",
        section=MetricSection.ACCURACY,
        weight=3,
        interval=True,
        sums={"late_across": lambda drawn: drawn.late.across},
    ),
    Metric(
        "residual_along",
        "part of the residual along the movement: too early here, too late there",
        lambda measured: read_residual_part(measured, "late_along"),
        unit="length",
        interval=True,
        sums={"late_along": lambda drawn: drawn.late.along},
    ),
    Metric(
        "error_across",
        "part of the error across the truth's movement",
        _compute_error_across_movement,
        unit="length",
        interval=True,
    ),
    Metric(
        "error_along",
        "part of the error along the truth's movement, lag included",
        lambda measured: measured.mean("along") ** 0.5,
        unit="length",
        interval=True,
        sums={"along": lambda drawn: drawn.along},
    ),
)
