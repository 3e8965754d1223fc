"""A constant offset between positions in packets and in frames, as of an eye height or a pivot."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from epic_cli.metrics.arrays import (
    ARRIVAL,
    POSITION,
    TIME,
    compute_lengths,
    compute_positive_median,
)
from epic_cli.metrics.drawn_path import FEWEST_FRAMES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from epic_cli.metrics.arrays import Floats
    from epic_cli.metrics.drawn_path import DrawnPath

#: Seconds without a change in packets after which what is drawn has come to rest, and the number
#: of different places of rest that tell an offset of an axis that moves.
RESTS, PLACES = 1.0, 3

#: The least offset (usual steps), and the most that it differs (usual steps) in most of the frames.
LEAST, SAME, MOST = 0.05, 2e-3, 0.9


def find_position_offset(table: Floats, path: DrawnPath) -> Floats:
    """Return the constant offset of the drawn positions (3); 0 for an axis that tells none.

    ``table`` are the packets. An axis tells it where it never changes, or where it rests.
    """
    known = table[:, np.isfinite(table[ARRIVAL])] if np.isfinite(table[ARRIVAL]).any() else table
    arrivals = known[ARRIVAL] if np.isfinite(known[ARRIVAL]).all() else known[TIME]
    order = np.argsort(arrivals, kind="stable")
    arrivals, positions = arrivals[order], known[POSITION].T[order]
    offset = np.zeros(3)
    if len(arrivals) < 2 or not len(path.times):
        return offset
    steps = compute_lengths(np.diff(positions, axis=0))
    step = compute_positive_median(steps, 0.0)
    newest = np.searchsorted(arrivals, path.times, side="right") - 1
    for axis in range(3):
        off = _find_axis_offset(arrivals, positions[:, axis], newest, path, axis, step)
        offset[axis] = off if abs(off) > max(LEAST * step, 5 * path.resolution) else 0.0
    return offset


def _find_axis_offset(
    arrivals: Floats, places: Floats, newest: NDArray[np.int_], path: DrawnPath, axis: int,
    step: float,
) -> float:  # fmt: skip
    """Return the offset of one axis, by the ``newest`` packet of each frame; 0 if none is told."""
    changes = np.append(True, np.diff(places) != 0)
    since = arrivals[np.maximum.accumulate(np.where(changes, np.arange(len(places)), 0))]
    still = (newest >= 0) & (path.times - since[newest] > RESTS)
    if still.sum() < FEWEST_FRAMES:
        return 0.0
    at = places[newest[still]]
    if changes.sum() > 1 and len(np.unique(at)) < PLACES:
        return 0.0
    apart = path.positions[still, axis] - at
    middle = float(np.median(apart))
    near = np.abs(apart - middle) <= max(SAME * step, 2 * path.resolution)
    return round(middle, 9) if near.mean() > MOST else 0.0
