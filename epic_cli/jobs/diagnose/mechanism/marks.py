"""Marks of single parts: a grid, the oldest state, a snap after a silence, what is left."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from epic_cli.jobs.diagnose.mechanism.arrivals import is_moved_by_packets
from epic_cli.jobs.diagnose.mechanism.readings import FEW
from epic_cli.metrics.arrays import compute_lengths

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from epic_cli.jobs.diagnose.frames import Frames
    from epic_cli.metrics.arrays import Floats

#: Places of a state, from the newest, that may be the oldest that is kept.
KEPT = range(4, 64)


def find_grid(frames: Frames, exact: float) -> float:
    """Return the distance of which all coordinates are multiples; 0 if there is none.

    A difference up to ``exact`` is none (length).
    """
    values = np.unique(frames.drawn)
    gaps = np.diff(values)
    gaps = gaps[gaps > 3 * exact]
    if len(gaps) < FEW:
        return 0.0
    steps = np.round(values / gaps.min())
    grid = float(f"{(values @ steps) / (steps @ steps + 1e-300):.4g}") or np.inf
    off = np.abs(frames.drawn - np.round(frames.drawn / grid) * grid)
    return grid if off.max() <= exact < grid / 4 else 0.0


def find_oldest(frames: Frames) -> int:
    """Return how many states are kept where the oldest is shown; 0 if no frame shows it."""
    drawn, newest = frames.drawn, frames.newest
    gone = compute_lengths(frames.positions[newest] - drawn) > 2 * frames.unit
    counts = []
    for back in KEPT:
        places = newest - back
        off = compute_lengths(frames.positions[np.maximum(places, 0)] - drawn)
        counts.append(int((gone & (places >= 0) & (off < 0.002 * frames.unit)).sum()))
    best = int(np.argmax(counts))
    return KEPT[best] + 1 if counts[best] > 2 * np.median(counts) else 0


#: A frame has landed on the newest state within this distance, from farther than that (usual
#: steps).
LANDED, AWAY = 0.02, 0.06


def find_snap_time(frames: Frames) -> float:
    """Return the time without a packet (s) after which the newest state is drawn; 0 for none.

    It is the shortest number between the ages before and after such snaps.
    """
    ages = frames.times - frames.arrivals[frames.newest]
    left = compute_lengths(frames.positions[frames.newest] - frames.drawn) / frames.unit
    same = np.diff(frames.newest) == 0
    snaps = np.flatnonzero(same & (left[:-1] > AWAY) & (left[1:] < LANDED))
    if not len(snaps):
        return 0.0
    low, high = float(np.median(ages[snaps])), float(np.median(ages[snaps + 1]))
    tight = float(ages[snaps].max()), float(ages[snaps + 1].min())
    low, high = tight if tight[0] < tight[1] else (low, high)
    middle = (low + high) / 2
    shorter = (float(f"{middle:.{digits}g}") for digits in range(1, 6))
    return next((time for time in shorter if low <= time < high), middle)


#: What is left is explained by what has this share of its squares.
EXPLAINS = 0.5

#: Packets are seldom, compared with frames, if fewer of the frames have a new one.
SELDOM = 0.7


def explain_rest(frames: Frames, counted: NDArray[np.bool_], apart: Floats) -> str:
    """Return what the remaining difference goes with; empty if with nothing that is known.

    ``apart`` (k, 3) are the differences in the ``counted`` frames (m): ``velocity``: of the newest
    packet; ``age``: that times the time since it came; ``path``: the speed of what is drawn;
    ``packets``: frames without a new packet, in which nothing moves.
    """
    if np.mean(np.diff(frames.newest) > 0) < SELDOM and is_moved_by_packets(frames):
        return "packets"
    known = np.isfinite(apart[:, 0])
    speed = frames.velocities[frames.newest]
    since = (frames.times - frames.arrivals[frames.newest])[:, None]
    own = np.gradient(frames.drawn, frames.times, axis=0)
    rest = apart[known]
    whole = np.square(rest).sum()
    explained = {
        name: np.square((rest * of[counted][known]).sum())
        / (np.square(of[counted][known]).sum() * whole + 1e-300)
        for name, of in (("path", own), ("velocity", speed), ("age", speed * since))
    }
    best = max(explained, key=lambda name: float(explained[name]))
    return best if explained[best] > EXPLAINS else ""
