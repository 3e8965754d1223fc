"""Fit a delay, and a margin for jitter, to the ages of what frames show."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from epic_cli.jobs.diagnose.mechanism.readings import CLEARER

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from epic_cli.metrics.arrays import Floats

#: The most that a frame counts as off (s).
ASTRAY = 0.05


def fit_delays(
    ages: Floats, jitter: Floats, beside: Floats, ends: NDArray[np.bool_]
) -> tuple[Floats, Floats, Floats]:
    """Return the delays (s) and jitter margins that fit the ages (n, m) best, and the errors left.

    Frames without a newer state (``ends``) may be older than that. The sum of the distances becomes
    least, as in ``FrameComparison.fit``.
    """
    if not ages.shape[1] or ends.all():
        none = np.zeros(len(ages))
        return none, none, np.full(len(ages), np.inf)

    def measure(left: Floats) -> Floats:
        return np.minimum(np.where(ends & (left > 0), 0.0, np.abs(left)) + beside, ASTRAY)

    delays = np.median(ages[:, ~ends], axis=1)[:, None]
    left = ages - delays
    plain = measure(left).mean(axis=1)
    margins = np.zeros_like(delays)
    with_margin = delays
    for _ in range(5):
        far = measure(left)
        weights = 1 / np.maximum(far, 0.1 * far.mean(axis=1, keepdims=True) + 1e-7)
        weights[(ends & (left > 0)) | (far >= ASTRAY)] = 0.0
        total = weights.sum(axis=1, keepdims=True) + 1e-300
        middle = (weights * jitter).sum(axis=1, keepdims=True) / total
        around = weights * (jitter - middle)
        margins = (around * ages).sum(axis=1, keepdims=True) / (
            (around * jitter).sum(axis=1, keepdims=True) + 1e-300
        )
        margins = np.clip(margins, 0.0, 10.0)
        with_margin = (weights * (ages - margins * jitter)).sum(axis=1, keepdims=True) / total
        left = ages - with_margin - margins * jitter
    unsteady = measure(left).mean(axis=1)
    margined = CLEARER * unsteady < plain
    return (
        np.where(margined, with_margin[:, 0], delays[:, 0]),
        np.where(margined, margins[:, 0], 0.0),
        np.where(margined, unsteady, plain),
    )
