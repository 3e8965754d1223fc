"""What the truth does at the ticks of one entity: computed once, used for every strategy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epic_cli.metrics.arrays import lengths, root_mean_square
from epic_cli.metrics.turns import SampledTurns, TurnTruth, angles

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from epic_cli.metrics.arrays import Flags, Floats, Integers
    from epic_cli.metrics.truth import Truth

    Rows = NDArray[np.intp]

#: A step is a jump if it is longer than the truth's longest within this many seconds ...
JUMP_WINDOW = 0.5
#: ... by this factor, and by this share of the truth's usual step.
JUMP_FACTOR = 1.5
JUMP_FLOOR = 0.05

#: What is ahead of everywhere that the truth is within so many seconds overshoots.
OVERSHOOT_WINDOW = 0.5

#: What is slower than this share of the usual speed goes nowhere.
RESTING = 0.01

#: How long after the beginning of a movement, or after a cut, rows are not counted yet, unless
#: told otherwise: a second, or a tenth of the movement.
WARM_UP = 1.0
WARM_UP_SHARE = 0.1


#: The shifts in time (s) among which a lag is looked for: densely around 0, where it usually is.
SHIFTS = np.concatenate(
    (np.arange(-20, 40) * 0.025, np.arange(10, 20) * 0.1, np.arange(8, 21) * 0.25)
)

_ZERO = int(np.flatnonzero(np.abs(SHIFTS) < 1e-9)[0])

#: Where rows are few, so many later shifts are tried for each earlier one.
LATER = 3

#: So many rows are enough to see which shifts leave enough of them.
_SOME = 2000


class Window(NamedTuple):
    """Which ``shifts`` (s, a slice of ``SHIFTS``) are compared over which rows (their numbers).

    ``beginning`` are the rows in which the movement begins, ``first`` is the time (s) of the first
    state that anybody got to know.
    """

    shifts: slice
    rows: Rows
    beginning: slice = slice(0)
    first: float = -math.inf


@dataclass(frozen=True)
class SampledTruth:
    """One entity's truth at n ticks.

    ``times`` (n) in seconds; ``positions`` and ``velocities`` (n, 3); ``segments`` (n), -1 where
    a row does not count; ``begins`` (n) marks the first row of each segment; ``step_limit``
    (n - 1), the truth's longest step around each step; ``usual_step`` and ``usual_speed``, root
    mean squares over the rows that count, ``top_speed`` the largest there; ``low`` and ``high``
    (3), the corners of the box that encloses the movement; ``window``, the shifts in time that
    can be compared; ``turns``, how it is turned.
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
    turns: SampledTurns | None = None

    @property
    def counted(self) -> Flags:
        """Which rows are compared with the truth."""
        flags: Flags = self.segments >= 0
        return flags

    def squares_along(self, vectors: Floats, velocities: Floats) -> Floats:
        """The squared parts (n) of ``vectors`` in the direction of ``velocities``, (n, 3) each.

        Where these are at rest, they count as going on where they went before, and at first to
        where they will go; of what never moves no part is along anything.
        """
        speeds = lengths(velocities)
        moving = speeds > RESTING * self.usual_speed
        if moving.all():
            return np.asarray((np.einsum("ij,ij->i", vectors, velocities) / speeds) ** 2)
        if not moving.any():
            return np.zeros(len(vectors))
        rows = np.where(moving, np.arange(len(moving)), int(moving.argmax()))
        rows = np.maximum.accumulate(rows)
        return np.asarray((np.einsum("ij,ij->i", vectors, velocities[rows]) / speeds[rows]) ** 2)


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
        None if truth.turns is None else _sample_turns(truth.turns, times, segments, counted, tick),
    )


def _sample_turns(
    turns: TurnTruth, times: Floats, segments: Integers, counted: Flags, tick: float
) -> SampledTurns:
    rotations = turns.at(times)
    steps = np.nan_to_num(angles(rotations[1:], rotations[:-1]))
    steps[segments[1:] != segments[:-1]] = 0.0
    limit = sliding_maximum(steps, max(1, round(JUMP_WINDOW / tick)))
    usual = root_mean_square(steps[counted[1:] & counted[:-1]])
    return SampledTurns(turns, rotations, limit, usual)


def shift_window(
    truth: Truth | TurnTruth, times: Floats, segments: Integers, first: float = -math.inf
) -> Window:
    """The shifts that can be compared over the same rows: those that each leaves in its segment.

    ``times`` (n) in seconds, ``segments`` (n), -1 where a row does not count; ``first`` is the time
    (s) of the first state that was received. The window grows
    from 0 to both sides, faster to the later one, as long as half of the rows are left.
    """
    rows = np.flatnonzero(segments >= 0)
    inside = segments[rows]
    slack = 1e-9  # a time that was added up is not less than itself
    before = times[rows] - truth.starts[inside] + slack
    after = truth.ends[inside] - times[rows] + slack
    few = slice(None, None, max(1, len(rows) // _SOME))
    low = high = _ZERO

    def enough(low: int, high: int) -> bool:
        kept = (before[few] >= SHIFTS[high]) & (after[few] >= -SHIFTS[low])
        return bool(2 * np.count_nonzero(kept) >= len(kept))

    grown = True
    while grown:
        before_this = low, high
        for _ in range(LATER):
            high += high + 1 < len(SHIFTS) and enough(low, high + 1)
        low -= low > 0 and enough(low - 1, high)
        grown = (low, high) != before_this
    first = max(first, float(truth.starts[inside[0]])) if len(rows) else first
    return Window(
        slice(low, high + 1),
        rows[(before >= SHIFTS[high]) & (after >= -SHIFTS[low])],
        slice(int(np.searchsorted(times, first)), int(rows[0]) if len(rows) else 0),
        first,
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
