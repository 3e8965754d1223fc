"""The path of the packets as a polyline, and drawn positions before a low-pass."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
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


def undo_low_pass(frames: Frames, low_pass: float) -> Floats:
    """Return the input of a low-pass with this time constant (s), frame by frame."""
    if not low_pass:
        return frames.drawn
    share = 1 - np.exp(-np.diff(frames.times) / low_pass)
    before = frames.drawn[:-1] + np.diff(frames.drawn, axis=0) / share[:, None]
    return np.concatenate((frames.drawn[:1], before))
