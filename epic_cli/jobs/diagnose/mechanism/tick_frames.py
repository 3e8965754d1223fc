"""Frames at the ticks below the frames, and the ticks that all frames tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from epic_cli.jobs.diagnose.mechanism.ticks import Ticks, center_phase
from epic_cli.metrics.arrays import compute_lengths

if TYPE_CHECKING:
    from epic_cli.jobs.diagnose.fitted import FittedStrategy
    from epic_cli.jobs.diagnose.frames import Frames
    from epic_cli.metrics.arrays import Floats


def center_found_phase(found: FittedStrategy, frames: Frames) -> FittedStrategy:
    """Return a result with the phase of its ticks that all of these frames tell.

    A chase that is drawn between its ticks is fitted instead; a buffer, unless it is a queue, too.
    """
    words = found.candidate.values
    queue = words.get("catch_up") == "dequeue" and isinstance(words["phase"], float)
    if not (queue or found.candidate.name == "chase") or words["between"] == "lerp":
        return found
    every = words["every"]
    if not isinstance(every, float) or every <= 0 or isinstance(words["phase"], str):
        return found
    moved = compute_lengths(np.diff(frames.drawn, axis=0)) > 0
    ticks = center_phase(Ticks(every, words["phase"], smooth=False), frames.times, moved)
    return found.change({"phase": ticks.phase})


def make_tick_frames(frames: Frames, ticks: Ticks) -> Frames:
    """Return what the ticks drew, as frames at the ticks.

    A tick runs in the first frame at or after it, with the packets that have come by then.
    """
    first = int(np.ceil((frames.times[0] - ticks.phase) / ticks.every))
    last = int(np.floor((frames.times[-1] - ticks.phase) / ticks.every)) - 1
    times: Floats = ticks.phase + np.arange(first, last + 1, dtype=float) * ticks.every
    shown = times + ticks.every if ticks.smooth else times
    runs = np.searchsorted(frames.times, times - 1e-9)
    drawn = frames.drawn[runs]
    if ticks.smooth:
        drawn = np.stack([np.interp(shown, frames.times, row) for row in frames.drawn.T], 1)
        # to the end of the tick on the line through its frames, where there are several
        begin, end = runs, np.searchsorted(frames.times, shown - 1e-9) - 1
        begin, end, lined = begin[end > begin], end[end > begin], end > begin
        pace = (frames.drawn[end] - frames.drawn[begin]) / (
            frames.times[end] - frames.times[begin]
        )[:, None]
        drawn[lined] = frames.drawn[end] + pace * (shown[lined] - frames.times[end])[:, None]
    newest = frames.newest[np.minimum(runs, len(frames.times) - 1)]
    taken = None if frames.taken is None else make_tick_frames(frames.taken, ticks)
    return frames._replace(times=times, drawn=drawn, newest=newest, taken=taken)
