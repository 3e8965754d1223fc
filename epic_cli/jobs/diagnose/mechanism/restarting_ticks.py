"""Find ticks that are counted from the frame of the last one, as of a timer that is set to 0."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from epic_cli.jobs.diagnose.mechanism.readings import FEW, find_limit, separate
from epic_cli.jobs.diagnose.mechanism.ticks import TICKS
from epic_cli.metrics.arrays import compute_lengths

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from epic_cli.jobs.diagnose.frames import Frames

#: The least step that is none (usual steps), and the shortest ticks (frames).
STANDS, SHORTEST = 1e-3, 1.2

#: What stands for more of the usual ticks had nothing to move to.
IDLE = 1.5

#: Fewest frames that are too early for the next tick.
SOME = 3

#: The largest share of the ticks that are shorter, or of frames that are later, than one length.
WRONG = 0.03


def find_restarting_tick(frames: Frames, able: NDArray[np.bool_]) -> float:
    """Return the length (s) of ticks of which each begins with a frame that moves; 0 for none.

    The next one moves the first frame that is so long after it, and ``able`` (m) to move.
    """
    moved = np.flatnonzero(compute_lengths(np.diff(frames.drawn, axis=0)) > STANDS * frames.unit)
    last, at = frames.times[moved[:-1] + 1], moved[1:]
    since, before = frames.times[at + 1] - last, frames.times[at] - last
    if len(at) < FEW or np.median(since) < SHORTEST * frames.frame:
        return 0.0
    before, since = before[able[at]], since[since < IDLE * np.median(since)]
    every, wrong = separate(before, since)
    if wrong > WRONG or len(before) < SOME:
        return 0.0
    for tick in sorted(TICKS, key=lambda tick: abs(tick - every)):
        if np.mean(before >= tick) + np.mean(since < tick * (1 - 1e-9)) <= 2 * wrong:
            return tick
    return find_limit(before, since)
