"""Findings in frames that no strategy draws: where they lie, how late they are, what is left."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from epic_cli.jobs.diagnose.mechanism.arrivals import is_moved_by_packets
from epic_cli.jobs.diagnose.mechanism.packet_path import find_nearest_places, make_path
from epic_cli.jobs.diagnose.mechanism.readings import FEW, MOSTLY
from epic_cli.metrics.arrays import choose_places, compute_lengths

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from epic_cli.jobs.diagnose.frames import Frames
    from epic_cli.metrics.arrays import Floats

#: The frames that are looked at for their kind, the pieces of the path about the newest state in
#: which a frame is sought, and the largest cosine of a step that leads elsewhere.
LOOKED, REACH, STRAIGHT = 600, 40, 0.9998

#: How near to it a frame is on a path (usual steps), and the bends that tell, as a multiple.
NEAR, CLEAR = 0.005, 20


#: The curves of a path, and the kinds of frames on them.
CURVES = {"linear": "path", "hermite": "hermite", "catmull-rom": "catmull-rom"}


def find_kind(frames: Frames, rounded: float, curves: Iterable[str] = CURVES) -> str:
    """Return the kind of nearly all frames, whose positions may be ``rounded`` by that length.

    ``two-states``: they lie on the line through the last two states; ``path``: on the straight
    lines between states; ``hermite``, ``catmull-rom``: on such curves, if they are ``curves`` that
    are sought; ``goal``: their steps lead straight to the newest one; empty: none. Nothing is said
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
        least = find_sent_times(frames, at, curve)[1]
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


def find_sent_times(frames: Frames, at: NDArray[np.int_], curve: str) -> tuple[Floats, Floats]:
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
    sent, least = find_sent_times(frames, at, curve)
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
