"""Marks of single parts: a grid, the oldest state, snaps, a dead zone, landings."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from epic_cli.jobs.diagnose.mechanism.readings import FEW, MOSTLY, find_clear_limit, find_limit
from epic_cli.metrics.arrays import compute_lengths

if TYPE_CHECKING:
    from epic_cli.jobs.diagnose.frames import Frames
    from epic_cli.jobs.diagnose.mechanism.clocks import TimeAxis
    from epic_cli.metrics.arrays import Flags, Floats

#: Places of a state, from the newest, that may be the oldest that is kept.
KEPT = range(4, 64)

#: The largest distance of a frame to the rounded state that it shows (usual steps), the least share
#: of such frames that are as near as rounding makes them, and the least grid (rounding errors).
NEAR_STATE, NEARLY_ALL, GRAINS = 0.3, 0.9, 20.0
#: The share of the frames on the finest grid that are on the one that it is.
MANY = 0.6

#: The states before the newest that a frame may show early, and the most that tell nothing.
SHOWN, FORGOTTEN = 10, 3
#: How unsure such an age is, where times are rounded (s).
UNSURE = 2e-4


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
    return grid if exact < grid / 3 and _are_on_grid(frames.drawn, grid, exact).all() else 0.0


#: Grids to which games round what they send: decimals, their halves and fourths, and binary ones.
GRIDS = sorted(
    {base * 10.0**power for base in (1, 2, 2.5, 5) for power in range(-3, 2)}
    | {2.0**-power for power in range(1, 11)},
    reverse=True,
)


def find_state_grid(frames: Frames, exact: float) -> dict[str, Any]:
    """Return how received states are rounded, by frames that are on them; empty if they are not.

    A difference up to ``exact`` is none (length).
    """
    states = frames.positions[frames.newest]
    off = frames.drawn - states
    near = compute_lengths(off) < NEAR_STATE * frames.unit
    near &= np.abs(off).max(axis=1) > 2 * exact
    _, first = np.unique(frames.drawn[near], axis=0, return_index=True)
    drawn, states, off = (each[near][first] for each in (frames.drawn, states, off))
    varying = np.ptp(frames.drawn, axis=0) > frames.unit
    counts: list[float] = []
    on: list[Flags] = []
    grids = [grid for grid in GRIDS if grid > GRAINS * exact]
    for grid in grids:
        on.append(_are_on_grid(drawn, grid, exact) & ~_are_on_grid(states, grid, exact))
        by_chance = (2 * exact / grid) ** varying.sum()
        counts.append(on[-1].sum() - by_chance * len(drawn))
    most = max(counts, default=0.0)
    place = next((at for at, count in enumerate(counts) if count > MANY * most), 0)
    if most < FEW:
        return {}
    grid, off = grids[place], off[on[place]]
    if (np.abs(off) <= grid / 2 + exact).mean() > NEARLY_ALL:
        return {"rounding": grid, "rounding_of": "states"}
    if ((off <= exact) & (off > -grid - exact)).mean() > NEARLY_ALL:
        return {"rounding": grid, "rounding_by": "down", "rounding_of": "states"}
    return {}


def round_states(frames: Frames, settings: Mapping[str, Any]) -> Frames:
    """Return the frames with states that are rounded as these settings say."""
    if not settings:
        return frames
    grid = settings["rounding"]
    half = 0.0 if "rounding_by" in settings else 0.5
    taken = frames.taken
    return frames._replace(
        positions=np.floor(frames.positions / grid + half) * grid,
        taken=None if taken is None else round_states(taken, settings),
    )


def _are_on_grid(places: Floats, grid: float, exact: float) -> Flags:
    """Return which places have multiples of a grid alone, up to ``exact`` (length)."""
    off = np.abs(places - np.round(places / grid) * grid)
    return np.asarray((off <= exact).all(axis=1))


def find_forgotten_age(frames: Frames, axis: TimeAxis, exact: float) -> float:
    """Return the age (s) from which on states are gone, so that the next is shown early; 0: none.

    It is by a buffer's clock. A difference up to ``exact`` is none (length).
    """
    stands = np.asarray((np.abs(np.diff(frames.drawn, axis=0)) <= exact).all(axis=1))
    begins = 1 + np.flatnonzero(stands[1:] & ~stands[:-1] & frames.settled[2:])
    ages = frames.times - axis.offsets[frames.newest]
    low, high = [], []
    for at in begins.tolist():
        newest = int(frames.newest[at])
        states = frames.positions[max(newest - SHOWN, 1) : newest]
        on = np.flatnonzero((np.abs(states - frames.drawn[at]) <= 2 * exact).all(axis=1))
        if len(on) != 1 or at < 2:
            continue
        place = max(newest - SHOWN, 1) + int(on[0])
        high.append(ages[at - 1] - axis.stamps[place - 1])
        if frames.newest[at - 2] > place:  # there was another state to keep
            low.append(ages[at - 2] - axis.stamps[place - 1])
    return find_limit(np.array(low), np.array(high), UNSURE) if len(high) > FORGOTTEN else 0.0


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


def find_least_leap(steps: Floats) -> float:
    """Return the least length of a teleport among steps from packet to packet.

    Those that go nowhere do not count; infinite if none goes anywhere.
    """
    moving = steps[steps > 0]
    return LEAP * float(np.quantile(moving, 0.9)) if len(moving) else math.inf


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
