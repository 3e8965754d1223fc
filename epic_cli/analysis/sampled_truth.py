"""What the truth does at the ticks of one entity: computed once, used for every strategy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from epic_cli.analysis.lag import shift_window
from epic_cli.analysis.truth import lengths

if TYPE_CHECKING:
    from epic_cli.analysis.lag import Window
    from epic_cli.analysis.truth import Flags, Floats, Integers, Truth

#: A step is a jump if it is longer than the truth's longest within this many seconds ...
JUMP_WINDOW = 0.5
#: ... by this factor, and by this share of the truth's usual step.
JUMP_FACTOR = 1.5
JUMP_FLOOR = 0.05

#: How long after the beginning of a movement, or after a cut, rows are not counted yet, unless
#: somebody says otherwise: a second, or a tenth of the movement.
WARM_UP = 1.0
WARM_UP_SHARE = 0.1


@dataclass(frozen=True)
class SampledTruth:
    """One entity's truth at n ticks.

    ``times`` (n) in seconds; ``positions`` and ``velocities`` (n, 3); ``segments`` (n), -1 where
    a row does not count; ``begins`` (n) marks the first row of each segment; ``step_limit``
    (n - 1), the truth's longest step around each step; ``usual_step`` and ``usual_speed``, root
    mean squares over the rows that count, ``top_speed`` the largest there; ``low`` and ``high``
    (3), the corners of the box that encloses the movement; ``window``, the shifts in time that
    can be compared.
    """

    truth: Truth
    tick: float
    times: Floats
    positions: Floats
    velocities: Floats
    segments: Integers
    begins: Flags
    step_limit: Floats
    usual_step: float
    usual_speed: float
    top_speed: float
    low: Floats
    high: Floats
    window: Window

    @property
    def counted(self) -> Flags:
        """Which rows are compared with the truth."""
        flags: Flags = self.segments >= 0
        return flags


def default_warm_up(truth: Truth) -> float:
    """A second, or a tenth of the movement where that is less; in seconds."""
    return min(WARM_UP, WARM_UP_SHARE * truth.duration)


def sample_truth(
    truth: Truth,
    times: Floats,
    tick: float,
    warm_up: float | None = None,
    first: float = -math.inf,
    since: float = -math.inf,
) -> SampledTruth:
    """The truth at these ticks; ``first`` is the time (s) of the first state that was received.

    Rows count that are at least ``warm_up`` seconds into their segment of the truth, and after the
    first row: what a strategy draws while it gets to know a movement is judged by nobody. None
    counts before ``since`` (s).
    """
    wait = default_warm_up(truth) if warm_up is None else warm_up
    positions, velocities, segments = truth.at(times)
    known = segments >= 0
    begun = np.maximum(truth.starts, times[0] if len(times) else 0.0)
    counted = known & (times - begun[segments] >= wait) & (times >= since)
    steps = lengths(np.diff(positions, axis=0))
    steps[segments[1:] != segments[:-1]] = 0.0
    steps = np.nan_to_num(steps)
    pairs = counted[1:] & counted[:-1]
    speeds = lengths(velocities[counted])
    judged = np.where(counted, segments, -1).astype(np.int32)
    inside = [one[known] if not known.all() else one for one in positions.T]
    return SampledTruth(
        truth,
        tick,
        times,
        positions,
        velocities,
        judged,
        known & np.append(True, segments[1:] != segments[:-1])[: len(times)],
        sliding_maximum(steps, max(1, round(JUMP_WINDOW / tick))),
        root_mean_square(steps[pairs]),
        root_mean_square(speeds),
        float(speeds.max(initial=0.0)),
        np.array([one.min(initial=np.inf) for one in inside]),
        np.array([one.max(initial=-np.inf) for one in inside]),
        shift_window(truth, times, judged, first),
    )


def sliding_maximum(values: Floats, reach: int) -> Floats:
    """The largest value within ``reach`` places to either side of each, (n,).

    Windows are doubled until they are long enough, so a wide one costs little.
    """
    result, width, size = values, 1, 2 * reach + 1
    padded = np.concatenate((np.full(reach, -np.inf), result, np.full(reach, -np.inf)))
    while 2 * width <= size:
        padded = np.maximum(padded[:-width], padded[width:])
        width *= 2
    rest = size - width
    return np.maximum(padded[: len(padded) - rest], padded[rest:]) if rest else padded


def root_mean_square(values: Floats) -> float:
    """The root mean square; 0 of nothing."""
    return float(np.sqrt(np.mean(np.square(values)))) if len(values) else 0.0
