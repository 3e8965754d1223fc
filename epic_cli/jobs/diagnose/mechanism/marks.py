"""Marks of single parts: a grid, the oldest state, a snap after a silence, what is left."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from epic_cli.jobs.diagnose.mechanism.arrivals import is_moved_by_packets
from epic_cli.jobs.diagnose.mechanism.packet_path import find_nearest_places, make_path
from epic_cli.jobs.diagnose.mechanism.readings import FEW, MOSTLY, find_limit, separate
from epic_cli.metrics.arrays import choose_places, compute_lengths

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
#: as far; the fewest that do, and the share of the frames that may do otherwise.
THERE, FROM, LANDINGS, OTHERWISE = 1e-3, 10.0, 3, 0.02


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
    return find_limit(below, above) if separate(below, above)[1] < OTHERWISE else 0.0


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


#: The frames that are looked at for their kind, the pieces of the path about the newest state in
#: which a frame is sought, and the largest cosine of a step that leads elsewhere.
LOOKED, REACH, STRAIGHT = 600, 40, 0.999

#: How near to it a frame is on a path (usual steps), and the bends that tell, as a multiple.
NEAR, CLEAR = 0.005, 20


#: The curves of a path, and the kinds of frames on them.
CURVES = {"linear": "path", "hermite": "hermite", "catmull-rom": "catmull-rom"}


def find_kind(frames: Frames, rounded: float, curves: Iterable[str] = CURVES) -> str:
    """Return the kind of nearly all frames, whose positions may be ``rounded`` by that length.

    ``two-states``: they lie on the line through the last two states; ``path``: on the straight
    lines between states; ``hermite``, ``catmull-rom``: on such curves, if they are ``curves`` that
    are sought; ``goal``: each step leads straight to the newest one; empty: none. Nothing is said
    of frames that show only straight movement.
    """
    newest, drawn = frames.newest, frames.drawn
    at = np.flatnonzero(frames.settled & (newest > 1))
    at = at[choose_places(len(at), LOOKED)]
    ways = np.diff(frames.positions, axis=0)
    end, way = frames.positions[newest[at]], ways[newest[at] - 1]
    bends = compute_lengths(way - ways[newest[at] - 2])
    moves = compute_lengths(way) > 0.1 * frames.unit
    # the bends of smooth movement are small
    usual = float(np.quantile(bends[moves], 0.9)) if moves.any() else 0.0
    moves &= bends > min(usual / 2, 0.1 * frames.unit)
    if moves.sum() < FEW or usual < CLEAR * rounded:
        return ""
    near = max(min(NEAR * frames.unit, usual / CLEAR), rounded)
    off = drawn[at] - end
    share = (off * way).sum(axis=1) / np.maximum(np.square(way).sum(axis=1), 1e-300)
    beside = compute_lengths(off - share[:, None] * way)
    if (beside[moves] < near).mean() > MOSTLY:
        return "two-states"
    for curve in curves:
        least = _find_sent_times(frames, at, curve)[1]
        if (least[moves] < near).mean() > MOSTLY:
            return CURVES[curve]
    step, left = np.diff(drawn, axis=0), frames.positions[newest[1:]] - drawn[:-1]
    told = (compute_lengths(step) > 4 * near) & (compute_lengths(left) > 0.1 * frames.unit)
    turns = told & frames.settled[1:]
    if turns.sum() < FEW:
        return ""
    step, left = step[turns], left[turns]
    along = (step * left).sum(axis=1) / (compute_lengths(step) * compute_lengths(left))
    return "goal" if (along > STRAIGHT).mean() > MOSTLY else ""


def _find_sent_times(frames: Frames, at: NDArray[np.int_], curve: str) -> tuple[Floats, Floats]:
    """Return when the states that frames ``at`` places show were sent (k; s), and how far off."""
    path, pieces = make_path(frames, curve)
    begin = frames.newest[at] * pieces - 1
    places, least = find_nearest_places(
        path, frames.drawn[at], begin, range(0, -REACH * pieces, -1)
    )
    return np.interp(places / pieces, np.arange(len(frames.stamps)), frames.stamps), least


def measure_path_delays(frames: Frames, kind: str) -> tuple[float, float] | None:
    """Return how far behind the fastest packets' clock frames on a path are, 5 and 95 % (s).

    None for frames of another ``kind``, or if fewer than ten of them move.
    """
    curve = next((curve for curve, name in CURVES.items() if name == kind), "")
    moves = compute_lengths(np.diff(frames.positions, axis=0)) > 0.3 * frames.unit
    at = np.flatnonzero(frames.settled & (frames.newest > 1) & moves[frames.newest - 1])
    at = at[choose_places(len(at), LOOKED)]
    if not curve or len(at) < FEW:
        return None
    sent, least = _find_sent_times(frames, at, curve)
    late = frames.times[at] - sent - float((frames.arrivals - frames.stamps).min())
    low, high = np.quantile(late[least < NEAR * frames.unit], (0.05, 0.95)).tolist()
    return low, high


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
