"""The path of the packets as a polyline, and drawn positions before a low-pass."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from epic_cli.jobs.diagnose.frames import Frames
    from epic_cli.metrics.arrays import Floats

#: Seconds of a piece of a curve, and the most pieces from state to state.
PIECE, PIECES = 0.008, 12


def make_path(frames: Frames, curve: str) -> tuple[Floats, int]:
    """Return the packets' path as a polyline, and the number of its pieces between two states."""
    states = frames.positions
    if curve == "linear":
        return states, 1
    times = np.diff(frames.stamps)[:, None]
    rates = frames.velocities
    if curve == "catmull-rom":
        rates = np.gradient(states, axis=0)
        rates[1:-1] = (states[2:] - states[:-2]) / (times[1:] + times[:-1])
        rates[[0, -1]] /= times[[0, -1]]
    pieces = min(max(math.ceil(float(np.median(times)) / PIECE), 1), PIECES)
    u = (np.arange(pieces) / pieces)[:, None]
    start, end = states[:-1, None], states[1:, None]
    leaves, comes = (rates[:-1] * times)[:, None], (rates[1:] * times)[:, None]
    bent = (
        (2 * u**3 - 3 * u**2 + 1) * start + (u**3 - 2 * u**2 + u) * leaves
        + (3 * u**2 - 2 * u**3) * end + (u**3 - u**2) * comes
    )  # fmt: skip
    return np.concatenate((bent.reshape(-1, 3), states[-1:])), pieces


def find_nearest_places(
    path: Floats, points: Floats, begin: NDArray[np.int_], away: Iterable[int]
) -> tuple[Floats, Floats]:
    """Return the place on a path that is nearest to each point (m, 3), in pieces, and its distance.

    Pieces are tried as far ``away`` from that where each point is thought to be (``begin``, m): a
    later one must be clearly nearer.
    """
    pieces = np.diff(path, axis=0)
    squares = np.maximum(np.square(pieces).sum(axis=1), 1e-18)
    places, least = np.zeros(len(begin)), np.full(len(begin), np.inf)
    for far in away:
        piece = np.clip(begin + far, 0, len(pieces) - 1)
        off = points - path[piece]
        part = np.clip((off * pieces[piece]).sum(axis=1) / squares[piece], 0, 1)
        apart = np.square(off - part[:, None] * pieces[piece]).sum(axis=1)
        nearer = apart < 0.9 * least - 1e-12
        places = np.where(nearer, piece + part, places)
        least = np.where(nearer, apart, least)
    return places, np.sqrt(least)


def undo_low_pass(frames: Frames, low_pass: float) -> Floats:
    """Return the input of a low-pass with this time constant (s), frame by frame."""
    if not low_pass:
        return frames.drawn
    share = 1 - np.exp(-np.diff(frames.times) / low_pass)
    before = frames.drawn[:-1] + np.diff(frames.drawn, axis=0) / share[:, None]
    return np.concatenate((frames.drawn[:1], before))
