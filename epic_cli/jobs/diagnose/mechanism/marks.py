"""Marks of single parts: a grid, the oldest state, snaps, a dead zone, landings."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from epic_cli.jobs.diagnose.mechanism.readings import FEW, MOSTLY, find_clear_limit
from epic_cli.metrics.arrays import compute_lengths

if TYPE_CHECKING:
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
    return grid if off.max() <= exact < grid / 3 else 0.0


def has_parts_of_milliseconds(frames: Frames) -> bool:
    """Return True if frames or arrivals are at other times than whole milliseconds."""
    times = np.concatenate((frames.times, frames.arrivals)) * 1000
    return bool((np.abs(times - np.round(times)) > 0.01).any())


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
    return find_shortest_number(low, high)


#: A step that is none (usual steps).
STANDS = 1e-3


def find_dead_zone(frames: Frames, *, by_axes: bool = False) -> float:
    """Return the distance (length) to the newest state within which nothing moves; 0 for none.

    It is the shortest number between the distances of frames that stand and of those that move, of
    all axes or ``by_axes`` of each.
    """
    left, step = _measure_rest(frames, by_axes=by_axes)
    stands = step < STANDS * frames.unit
    away = stands & (left > LANDED * frames.unit)
    if away.sum() < FEW or stands.all():
        return 0.0
    low = float(np.quantile(left[away], MOSTLY))
    high = float(np.quantile(left[~stands], 1 - MOSTLY))
    tight = float(left[away].max()), float(left[~stands].min())
    if low > high:
        return 0.0
    low, high = tight if tight[0] < tight[1] else (low, high)
    return find_shortest_number(low, high)


def _measure_rest(frames: Frames, *, by_axes: bool) -> tuple[Floats, Floats]:
    """Return the way that is left to the newest state before each step, and the step (length)."""
    left = frames.positions[frames.newest[1:]] - frames.drawn[:-1]
    step = np.diff(frames.drawn, axis=0)
    if by_axes:
        return np.abs(left).ravel(), np.abs(step).ravel()
    return compute_lengths(left), compute_lengths(step)


#: A frame has landed within this distance of the newest state (usual steps), from that many times
#: as far; and the fewest that do.
THERE, FROM, LANDINGS = 1e-3, 10.0, 3


def find_landing(frames: Frames, *, by_axes: bool = False) -> float:
    """Return the distance (length) to the newest state within which frames land on it; 0 for none.

    It is the shortest number between the distances of frames that land, and of those that do not,
    of all axes or ``by_axes`` of each.
    """
    left, _ = _measure_rest(frames, by_axes=by_axes)
    after = frames.drawn[1:] - frames.positions[frames.newest[1:]]
    rest = np.abs(after).ravel() if by_axes else compute_lengths(after)
    away = left > FROM * THERE * frames.unit
    lands = rest < THERE * frames.unit
    below, above = left[away & lands], left[away & ~lands]
    if len(below) < LANDINGS or len(above) < max(FEW, len(below)):
        return 0.0
    return find_clear_limit(below, above)


def iterate_near_zones(frames: Frames) -> Iterator[dict[str, Any]]:
    """Yield the settings by which a chase lands near the newest state, or leaves axes alone."""
    for by_axes in (False, True):
        axes = {"axes": "each"} if by_axes else {}
        if near := find_landing(frames, by_axes=by_axes):
            yield {"snap_near": near, **axes}
        if by_axes and (stands := find_dead_zone(frames, by_axes=True)):
            yield {"dead_zone": stands, **axes}


def find_shortest_number(low: float, high: float) -> float:
    """Return the number with the fewest digits from ``low`` to below ``high``."""
    middle = (low + high) / 2
    shorter = (float(f"{middle:.{digits}g}") for digits in range(1, 6))
    return next((number for number in shorter if low <= number < high), middle)


#: A frame this near to the newest state (usual steps) has landed on it.
LANDS = 0.02

#: Least length of a teleport, as a multiple of the step that 90 % do not exceed.
LEAP = 4.0


def list_snap_distances(frames: Frames) -> list[float]:
    """Return distances beyond which the game may snap (length).

    One is between the usual steps and those of teleports; for a chase, one is between what is left
    to go in frames that do not land on the newest state, and more than that in those that do.
    """
    steps = compute_lengths(np.diff(frames.positions, axis=0))
    usual = LEAP * float(np.quantile(steps, 0.9))
    goal = frames.positions[frames.newest]
    left = compute_lengths(goal[1:] - frames.drawn[:-1])
    lands = compute_lengths(goal - frames.drawn)[1:] < LANDS * frames.unit
    way = float(left[~lands].max(initial=0.0))
    bounds = (usual, steps[steps > usual]), (way, left[lands & (left > way)])
    return [math.sqrt(low * float(above.min())) for low, above in bounds if low and len(above)]
