"""How long a step took by its displacement and velocity, whatever its stamps say."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epic_cli.analysis.diagnosis.robust import lattice
from epic_cli.analysis.truth import lengths

if TYPE_CHECKING:
    from epic_cli.analysis.diagnosis.traffic import Floats, Numbers, Stream

#: The velocity of a steady step changes by less than this share.
STEADY = 0.2

#: Fewer steady steps say nothing.
FEWEST = 20


class Elapsed(NamedTuple):
    """Steady steps: which they are, how many seconds each took, and what rounding adds (sigma)."""

    steps: Numbers
    took: Floats
    rounding: float


def elapsed(stream: Stream) -> Elapsed | None:
    """The steady steps of an entity; None: too few, or velocities that say something else."""
    if not stream.has_velocities:
        return None
    before, after = stream.velocities[:-1], stream.velocities[1:]
    mean = (before + after) / 2
    speed = lengths(mean)
    with np.errstate(invalid="ignore", divide="ignore"):
        steady = (lengths(after - before) < STEADY * speed) & ~stream.teleports[1:]
        along = (np.diff(stream.positions, axis=0) * mean).sum(axis=1) / speed
        # the way of the step is the way of the velocity
        steady &= (along >= 0.99 * stream.steps) & (stream.intervals < 3 * stream.period)
        took = along / speed
    steps = np.flatnonzero(steady & np.isfinite(took))
    if len(steps) < FEWEST:
        return None
    took = took[steps]
    # velocities of another scale are another cause's business
    ratio = float(np.sum(took) / np.sum(stream.intervals[steps]))
    if not 0.9 < ratio < 1.1:
        return None
    step = lattice(stream.positions[:, np.argmax(np.ptp(stream.positions, axis=0))])
    return Elapsed(steps, took, 0.41 * step / float(np.median(speed[steps])))
