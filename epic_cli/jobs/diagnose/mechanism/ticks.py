"""Ticks below the frames: a path that moves, or bends, only at the ticks of a clock."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from epic_cli.jobs.diagnose.mechanism.readings import FEW, MOSTLY
from epic_cli.metrics.arrays import compute_lengths

if TYPE_CHECKING:
    from epic_cli.jobs.diagnose.frames import Frames
    from epic_cli.metrics.arrays import Floats

#: Lengths of ticks and of timers that games have (s).
TICKS = tuple(
    float(f"{1 / rate:.8g}") for rate in (10, 12, 12.5, 15, 20, 24, 25, 30, 40, 50, 60, 64, 128)
)

#: A step below this share of the usual one is none.
STANDS = 1e-3

#: Shorter ticks have this much more of it.
CLEARLY = 0.02

#: Most frames in which ticks are sought.
MOST = 3000


class Ticks(NamedTuple):
    """A clock under the frames: a tick each ``every`` seconds, one at ``phase`` (s).

    ``smooth``: frames lie on lines between ticks, a tick late; else they show the last tick.
    """

    every: float
    phase: float
    smooth: bool

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of a chase in these ticks."""
        between = {"between": "lerp"} if self.smooth else {}
        return {"every": self.every, "phase": self.phase, **between}


def find_ticks(frames: Frames, exact: float) -> Ticks | None:
    """Return the ticks at which the frames' path moves or bends; None if there are none.

    A difference up to ``exact`` is none (length).
    """
    times, step = frames.times[:MOST], np.diff(frames.drawn[:MOST], axis=0)
    pace = step / np.diff(times)[:, None]
    moved = compute_lengths(step)
    if (moved < STANDS * moved.mean()).mean() > 0.2:
        # it stands between two ticks: a step in a frame has a tick since the frame before
        return _select_ticks(times[:-1], times[1:], moved, smooth=False)
    bend = compute_lengths(np.diff(pace, axis=0))
    shorter = np.minimum(times[1:-1] - times[:-2], np.diff(times[1:]))
    bend = np.maximum(bend - 4 * exact / shorter, 0)
    return _select_ticks(times[:-2], times[2:], bend, smooth=True)


def _select_ticks(begins: Floats, ends: Floats, weight: Floats, *, smooth: bool) -> Ticks | None:
    """Return the ticks within the intervals that have nearly all of the weight, if any do."""
    frame = float(np.median(ends - begins))
    weight = np.minimum(weight, np.quantile(weight, 0.98))
    if (weight > 0).sum() < FEW:
        return None
    # longer ticks first: of shorter ones that divide them, every second one is empty
    best: tuple[float, Ticks | None] = MOSTLY - CLEARLY, None
    for every in TICKS:
        if every < 1.3 * frame:
            continue
        phases = np.arange(0, every, min(0.1 * frame, 0.001))
        # an interval holds a tick of a phase if the phase's number changes in it
        held = np.floor((ends - phases[:, None]) / every) > np.floor(
            (begins - phases[:, None]) / every
        )
        inside = held @ weight / weight.sum()
        good = inside > inside.max() - 0.002
        if inside.max() > best[0] + CLEARLY and held[good].mean() < 0.9:
            middle = float(np.angle(np.exp(2j * np.pi * phases[good] / every).mean()))
            phase = (middle / (2 * np.pi) % 1.0) * every
            best = float(inside.max()), Ticks(every, phase, smooth)
    return best[1]


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
    newest = frames.newest[np.minimum(runs, len(frames.times) - 1)]
    return frames._replace(times=times, drawn=drawn, newest=newest)
