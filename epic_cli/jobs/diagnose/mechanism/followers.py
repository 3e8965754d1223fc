"""Undo a follower behind the way between the two newest states, or behind all lines."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from epic_cli.jobs.diagnose.mechanism.packet_path import find_nearest_places
from epic_cli.jobs.diagnose.mechanism.readings import FEW
from epic_cli.metrics.arrays import choose_places, compute_lengths, find_minimum

if TYPE_CHECKING:
    from epic_cli.jobs.diagnose.frames import Frames
    from epic_cli.metrics.arrays import Floats

#: Steps go that far beside the line of the last two states, at least (usual steps).
BESIDE = 0.02

#: The least spread of a follower's steps, as a share of them, that is none.
EVEN = 0.1

#: Least distance (usual steps) to the lines of frames that cut a corner, the most of them that are
#: looked at, and the pieces of the path before the newest state in which their goal is sought.
CUTS, LOOKED, REACH = 1e-4, 120, 16

#: Frames to a goal that are tried; the most of the distance to the lines that may be left.
COUNTS, LEFT = np.geomspace(1.02, 20, 16).tolist(), 0.1


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


def iterate_followed_paths(frames: Frames, exact: float) -> Iterator[tuple[dict[str, Any], Frames]]:
    """Yield followers of a point on the lines between states, and the frames of that point.

    Their share of the way is the one that leads from each frame back to the lines. A difference up
    to ``exact`` (length) is rounding.
    """
    path, step, elapsed = frames.positions, np.diff(frames.drawn, axis=0), np.diff(frames.times)
    near = range(0, -REACH, -1)
    later = np.flatnonzero(frames.settled[1:] & step.any(axis=1))
    at = later[choose_places(len(later), 4 * LOOKED)]
    _, beside = find_nearest_places(path, frames.drawn[at + 1], frames.newest[at + 1] - 1, near)
    at = at[beside > max(CUTS * frames.unit, 3 * exact)]
    if len(at) < FEW:
        return
    at = at[choose_places(len(at), LOOKED)]
    begin, way, newest = frames.drawn[at], step[at], frames.newest[at + 1] - 1

    def measure(unit: Floats, count: float) -> float:
        goals = begin + way * np.maximum(count * unit[at], 1.0)[:, None]
        return float(np.median(find_nearest_places(path, goals, newest, near)[1]))

    plain, found = measure(np.ones(len(step)), 1.0), []
    for follow, unit in (("share", np.ones(len(step))), ("lerp", frames.frame / elapsed)):
        place = int(np.argmin([measure(unit, count) for count in COUNTS]))
        low, high = COUNTS[max(place - 1, 0)], COUNTS[min(place + 1, len(COUNTS) - 1)]
        count, left = find_minimum(partial(measure, unit), low, high, 14)
        found.append((left, follow, count, unit))
    left, follow, count, unit = min(found, key=lambda one: one[0])
    if left > LEFT * plain:
        return
    goals = frames.drawn[:-1] + step * np.maximum(count * unit, 1.0)[:, None]
    part = {"follow_share": 1 / count} if follow == "share" else {"low_pass": count * frames.frame}
    drawn = np.concatenate((frames.drawn[:1], goals))
    yield {"follow": follow, **part}, frames._replace(drawn=drawn, taken=None)
