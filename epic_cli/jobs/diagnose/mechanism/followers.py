"""Undo a follower behind the way between the two newest states."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from epic_cli.jobs.diagnose.mechanism.readings import FEW
from epic_cli.metrics.arrays import compute_lengths

if TYPE_CHECKING:
    from epic_cli.jobs.diagnose.frames import Frames

#: Steps go that far beside the line of the last two states, at least (usual steps).
BESIDE = 0.02

#: The least spread of a follower's steps, as a share of them, that is none.
EVEN = 0.1


def iterate_followed_lines(frames: Frames) -> Iterator[tuple[dict[str, Any], Frames]]:
    """Yield followers of a point on the line of the last two states, and the frames of that point.

    Where a frame goes a share of its way, each step beside the line is that share of what it was
    beside it.
    """
    end, before = frames.positions[frames.newest], frames.positions[frames.newest - 1]
    way = end - before
    along = way / np.maximum(compute_lengths(way), 1e-300)[:, None]
    step = np.diff(frames.drawn, axis=0)
    off = (end[1:] - frames.drawn[:-1], step)
    left, gone = (each - (each * along[1:]).sum(axis=1)[:, None] * along[1:] for each in off)
    told = compute_lengths(gone) > BESIDE * frames.unit
    told &= frames.settled[1:] & (compute_lengths(way[1:]) > 0.1 * frames.unit)
    if told.sum() < FEW:
        return
    elapsed = np.diff(frames.times)
    counts = (left[told] * gone[told]).sum(axis=1) / np.square(gone[told]).sum(axis=1)
    for follow, unit in (("share", np.ones(len(elapsed))), ("lerp", elapsed)):
        scaled = counts * unit[told]
        middle = float(np.median(scaled))
        spread = float(np.median(np.abs(scaled / middle - 1))) if middle > 0 else np.inf
        share = unit / middle if middle > 0 else unit
        if spread > EVEN or np.median(share) > 0.95:
            continue
        goal = frames.drawn[:-1] + step / np.minimum(share, 1.0)[:, None]
        drawn = np.concatenate((frames.drawn[:1], goal))
        part = {"follow_share": 1 / middle} if follow == "share" else {"low_pass": middle}
        yield {"follow": follow, **part}, frames._replace(drawn=drawn, taken=None)
