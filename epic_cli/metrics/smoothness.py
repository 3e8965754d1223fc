"""The metrics of smoothness: jumps, jerk, overshoot, recovery, rows without new data."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from epic_cli.engine.packets import Status
from epic_cli.metrics.digits import format_milliseconds, format_percent, format_whole
from epic_cli.metrics.metric import Better, DrawnRows, Metric

if TYPE_CHECKING:
    from epic_cli.metrics.arrays import Floats
    from epic_cli.metrics.measurement import Measurement, Resampled


def _compute_relative_jerk(measured: Measurement | Resampled) -> Any:
    """Return the jerk divided by the truth's jerk.

    In length/s^3 if the truth has hardly any jerk.
    """
    import numpy as np  # help needs none

    shown, truth, cube = measured.jerk_rms, measured.usual_jerk, measured.tick**3
    least = np.maximum(1e-6 * measured.speed * measured.tick, measured.resolution)
    some = truth * cube > least
    alone = np.where(shown * cube <= measured.resolution, 0.0, shown)
    return np.where(some, shown / np.where(some, truth, 1.0), alone)


def _compute_mean_recovery(seconds: float, count: int) -> float:
    return seconds / count if count else math.nan


def _has_status(status: Status) -> Callable[[DrawnRows], Floats]:
    """Return a function that marks each row with this status as 1, other rows as 0."""
    return lambda drawn: (drawn.status == int(status)).astype(float)


METRICS = (
    Metric(
        "largest_jump",
        "excess of the largest step over the truth's longest within half a second",
        lambda measured: measured.excess,
        title="jump",
        unit="length",
        weight=10,
    ),
    Metric(
        "jumps",
        "number of steps more than 1.5 times as long as the truth's longest within half a second",
        lambda measured: measured.jumps,
        format=format_whole,
        weight=8,
        interval=True,
    ),
    Metric(
        "jerk",
        "RMS jerk as a multiple of the truth's; in length/s^3 where the truth has none",
        _compute_relative_jerk,
        title="jerk x",
        unit="times the truth's",
        weight=9,
        interval=True,
    ),
    Metric(
        "jerk_rms",
        "RMS jerk of the drawn path",
        lambda measured: measured.jerk_rms,
        title="RMS jerk",
        unit="length/s^3",
        interval=True,
    ),
    Metric(
        "truth_jerk",
        "RMS jerk of the truth in the same rows",
        lambda measured: measured.truth_jerk,
        title="truth's jerk",
        unit="length/s^3",
        better=Better.NEITHER,
    ),
    Metric(
        "overshoot",
        "largest distance ahead of everywhere the truth is within half a second",
        lambda measured: measured.overshoot,
        title="over",
        unit="length",
        weight=5,
    ),
    Metric(
        "backward",
        "steps against the truth's direction",
        lambda measured: measured.backward,
        title="back",
        format=format_whole,
        weight=3,
    ),
    Metric(
        "after_teleport",
        "mean time until it is right again after a teleport arrives, beyond its lag",
        lambda measured: _compute_mean_recovery(
            measured.recovery.teleport_seconds, measured.recovery.teleports
        ),
        title="tele ms",
        unit="s",
        format=format_milliseconds,
        weight=6,
    ),
    Metric(
        "smeared",
        "teleports that it draws as a movement",
        lambda measured: measured.recovery.smeared if measured.recovery.teleports else math.nan,
        format=format_whole,
        weight=2,
    ),
    Metric(
        "after_outage",
        "mean time until it is right again after an outage ends, beyond its lag",
        lambda measured: _compute_mean_recovery(
            measured.recovery.outage_seconds, measured.recovery.outages
        ),
        title="gap ms",
        unit="s",
        format=format_milliseconds,
        weight=6,
    ),
    Metric(
        "settle",
        "mean time until it is right again after a correction of the predicted own player",
        lambda measured: _compute_mean_recovery(
            measured.recovery.correction_seconds, measured.recovery.corrections
        ),
        title="settle ms",
        unit="s",
        format=format_milliseconds,
        weight=6,
    ),
    Metric(
        "held",
        "share of the judged rows that are frozen for lack of data",
        lambda measured: measured.mean("held"),
        unit="0 to 1",
        format=format_percent,
        weight=6,
        interval=True,
        sums={"held": _has_status(Status.HELD)},
    ),
    Metric(
        "extrapolated",
        "share of the judged rows drawn beyond what was known",
        lambda measured: measured.mean("extrapolated"),
        title="extrap.",
        unit="0 to 1",
        better=Better.NEITHER,
        format=format_percent,
        weight=2,
        interval=True,
        sums={"extrapolated": _has_status(Status.EXTRAPOLATED)},
    ),
    Metric(
        "none",
        "share of the judged rows in which nothing is drawn; they count as holding",
        lambda measured: measured.mean("none"),
        unit="0 to 1",
        format=format_percent,
        weight=1,
        interval=True,
        sums={"none": _has_status(Status.NONE)},
    ),
)
