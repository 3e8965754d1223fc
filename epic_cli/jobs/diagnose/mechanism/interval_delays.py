"""Read delays that are a multiple of the mean of the last few intervals between packets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from epic_cli.jobs.diagnose.mechanism.compositions import INSERTS_LATE
from epic_cli.jobs.diagnose.mechanism.measured_intervals import (
    LEAST_PERIOD,
    SHARES,
    compute_intervals,
)

if TYPE_CHECKING:
    from epic_cli.jobs.diagnose.frames import Frames
    from epic_cli.metrics.arrays import Floats

#: How many of the last intervals games average.
COUNTS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 16, 20, 24, 25, 30, 32)


class IntervalDelay(NamedTuple):
    """A delay of ``factor`` mean intervals, as ``settings``, and the error ``off`` left (s)."""

    off: float
    factor: float
    settings: dict[str, Any]


def find_interval_delay(
    frames: Frames, times: Floats, ages: Floats, beside: Floats, astray: float
) -> IntervalDelay:
    """Return the delay of some mean interval that fits ages (m; s) at ``times`` (m; s) best.

    ``beside`` (m; s) is what is off the path; a frame counts as ``astray`` (s) at most.
    """
    found = []
    for takes_late, view in frames.iterate_views():
        late = INSERTS_LATE if takes_late else {}
        newest = np.searchsorted(view.arrivals, times, side="right") - 1
        for settings, means in _iterate_means(view):
            unit = np.maximum(means[newest], LEAST_PERIOD)
            factor = float(np.median(ages / unit))
            off = float(np.minimum(np.abs(ages - factor * unit) + beside, astray).mean())
            found.append(IntervalDelay(off, factor, {**settings, **late}))
    return min(found, key=lambda each: each.off)


def _iterate_means(frames: Frames) -> Iterator[tuple[dict[str, Any], Floats]]:
    """Yield means (n; s) of the last intervals at each packet, and their settings."""
    for measure, at in (("arrivals", frames.arrivals), ("stamps", frames.stamps)):
        for count in COUNTS:
            begins = np.maximum(np.arange(len(at)) - count, 0)
            means = (at - at[begins]) / np.maximum(np.arange(len(at)) - begins, 1)
            several = {"interval_count": count} if count > 1 else {}
            yield {"interval": measure, **several}, means
        differences = np.diff(at, prepend=at[0])
        for share in SHARES:
            settings = {"interval": measure, "interval_share": share}
            yield settings, compute_intervals(differences, settings)
