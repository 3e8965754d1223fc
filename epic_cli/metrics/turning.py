"""The metrics of rotations, for recordings with rotations and strategies that draw rotations."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from epic_cli.metrics.digits import format_milliseconds, format_whole
from epic_cli.metrics.metric import Better, DrawnRows, Metric, MetricSection, divide_sums

if TYPE_CHECKING:
    from epic_cli.metrics.arrays import Floats
    from epic_cli.metrics.measurement import Measurement, Resampled

#: Least rate of turning (degrees a second) for the score: less is no movement to speak of.
SLOWEST = 10.0

#: An aim off by this share of its range costs 1: some 6 degrees.
AIM_SHARE = 0.1


def _sum_rotations(name: str) -> Callable[[DrawnRows], Floats]:
    """Return a function for one of the values of ``compute_rotation_sums``, by its name."""

    def sum_field(drawn: DrawnRows) -> Floats:
        from epic_cli.metrics.measurement import compute_rotation_sums

        return compute_rotation_sums(drawn)[name]

    return sum_field


def _make_root_mean_square(part: str) -> Callable[[Measurement | Resampled], Any]:
    return lambda measured: divide_sums(measured, part) ** 0.5


def _make_row_count(part: str) -> Callable[[Measurement | Resampled], Any]:
    return lambda measured: divide_sums(measured, part) * measured.mean("turn_rows") * measured.rows


def _compute_relative_jerk(measured: Measurement | Resampled) -> Any:
    """Return the angular jerk divided by the truth's angular jerk.

    In degrees/s^3 if the truth has hardly any angular jerk.
    """
    import numpy as np  # help needs none

    shown, truth = (
        divide_sums(measured, part, "turn_fours") for part in ("turn_third", "turn_third_of")
    )
    some = truth > 1e-12
    alone = np.where(shown > 1e-12, np.sqrt(shown) / measured.tick**3, 0.0 * shown)
    return np.where(some, np.sqrt(shown / np.where(some, truth, 1.0)), alone)


def compute_turning_cost(measured: Measurement | Resampled) -> Any:
    """Return the residual angle, in units of the truth's rotation in a tenth of a second."""
    import numpy as np  # help needs none

    rate = divide_sums(measured, "turn_rates") ** 0.5
    return measured.turn_lag.residual / (np.maximum(rate, SLOWEST) * 0.1)


def compute_aim_cost(measured: Measurement | Resampled) -> Any:
    """Return the aiming error at the drawn moment, in tenths of the aim range.

    A server that rewinds for a shot judges the aim at that moment.
    """
    return divide_sums(measured, "aim_shares") ** 0.5 / AIM_SHARE


METRICS = (
    Metric(
        "angle",
        "RMS angle between the drawn rotation and the true one at that time",
        _make_root_mean_square("angle_squares"),
        unit="deg",
        section=MetricSection.ACCURACY,
        weight=7,
        interval=True,
        sums={
            word: _sum_rotations(word)
            for word in ("turn_rows", "angle_squares", "turn_rates", "aim_shares")
        },
    ),
    Metric(
        "angle95",
        "angle that 95 % of the rows do not exceed",
        lambda measured: measured.turned.error95 if measured.turned else math.nan,
        title="angle 95 %",
        unit="deg",
        section=MetricSection.ACCURACY,
        weight=3,
    ),
    Metric(
        "angle_max",
        "largest angle between the drawn rotation and the true one",
        lambda measured: measured.turned.error_max if measured.turned else math.nan,
        title="angle max",
        unit="deg",
        section=MetricSection.ACCURACY,
        weight=4,
    ),
    Metric(
        "turn_lag",
        "shift in time that brings the rotation nearest to the true one",
        lambda measured: measured.turn_lag.seconds,
        title="turn lag ms",
        unit="s",
        better=Better.NEAR_ZERO,
        format=format_milliseconds,
        section=MetricSection.ACCURACY,
        weight=5,
        interval=True,
    ),
    Metric(
        "angle_residual",
        "RMS angle that is left with the lag of the rotation removed",
        lambda measured: measured.turn_lag.residual,
        title="angle resid.",
        unit="deg",
        section=MetricSection.ACCURACY,
        weight=5,
        interval=True,
    ),
    Metric(
        "aim",
        "RMS distance between the ends of a ray along its x axis and of the true ray (--weights"
        " aim_range=)",
        _make_root_mean_square("aim_squares"),
        unit="length",
        section=MetricSection.ACCURACY,
        weight=4,
        interval=True,
        sums={"aim_squares": _sum_rotations("aim_squares")},
    ),
    Metric(
        "long_way",
        "turns the long way round: it gains or loses a whole turn on the truth",
        _make_row_count("long_ways"),
        title="long way",
        format=format_whole,
        weight=6,
        interval=True,
        sums={"long_ways": _sum_rotations("long_ways")},
    ),
    Metric(
        "turn_jumps",
        "steps that turn more than 1.5 times as far as the truth's longest within half a second",
        _make_row_count("turn_jumps"),
        title="turn jumps",
        format=format_whole,
        weight=5,
        interval=True,
        sums={"turn_jumps": _sum_rotations("turn_jumps")},
    ),
    Metric(
        "turn_overshoot",
        "RMS angle by which it turns past everywhere the truth is within half a second",
        _make_root_mean_square("turn_overshoots"),
        title="turn over",
        unit="deg",
        weight=4,
        interval=True,
        sums={"turn_overshoots": _sum_rotations("turn_overshoots")},
    ),
    Metric(
        "turn_jerk",
        "RMS angular jerk as a multiple of the truth's, or as it is where the truth has none",
        _compute_relative_jerk,
        title="turn jerk",
        weight=4,
        interval=True,
        sums={word: _sum_rotations(word) for word in ("turn_fours", "turn_third", "turn_third_of")},
    ),
)
