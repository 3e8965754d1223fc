"""Read chases of states that have waited in a jitter buffer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.jobs.diagnose.mechanism.grown_shares import iterate_grown_shares
from epic_cli.jobs.diagnose.mechanism.readings import FEW, fit_factors
from epic_cli.metrics.arrays import compute_lengths

if TYPE_CHECKING:
    from epic_cli.jobs.diagnose.frames import Frames
    from epic_cli.metrics.arrays import Floats

#: The longest wait (s) that is tried, the most waits, and how many of them are tried within a step.
LONGEST, MOST, WITHIN = 0.3, 40, 6

#: The shares of Fiedler's article: of a small error, and of a large one.
TAUGHT = {"share": 0.05, "share_far": 0.15}

#: A wait that leaves less than this share of the error is there.
CLEARLY = 0.5


def iterate_held_chases(frames: Frames) -> Iterator[StrategySpec]:
    """Yield chases that go along with their velocities after a wait, if the frames do so."""
    if not frames.has_velocities or frames.settled.sum() < FEW:
        return
    step = max(frames.frame, LONGEST / MOST)
    wait, off = _find_wait(frames, np.arange(0.0, LONGEST, step))
    for _ in range(2):
        near = wait + step * np.arange(-WITHIN, WITHIN + 1) / WITHIN
        wait, off = _find_wait(frames, near[near > 0])
        step /= WITHIN
    if not off < CLEARLY * _fit_share(frames)[1]:
        return
    held = hold_packets(frames, wait)
    for spec in iterate_grown_shares(held):
        yield StrategySpec(spec.name, {**spec.settings, "playout_delay": wait})
    moves = {"how": "share", "start": "last", "ahead": "velocity", "age": "arrival", "drift": 1.0}
    for shares in ({"share": _fit_share(held)[0]}, TAUGHT):
        if 0 < shares["share"] < 1:
            yield StrategySpec("chase", {**moves, **shares, "playout_delay": wait})


def hold_packets(frames: Frames, wait: float) -> Frames:
    """Return the frames with packets that come ``wait`` (s) older than the first one was."""
    due = frames.stamps + (frames.arrivals[0] - frames.stamps[0]) + wait
    arrivals = np.append(frames.arrivals[:1], np.maximum(frames.arrivals, due)[1:])
    newest = np.maximum(np.searchsorted(arrivals, frames.times, side="right") - 1, 0)
    return frames._replace(arrivals=arrivals, newest=newest, taken=None)


def _find_wait(frames: Frames, waits: Floats) -> tuple[float, float]:
    """Return the wait that leaves the least error, and that; of equal ones, the middle one."""
    offs = np.array([_fit_share(hold_packets(frames, wait))[1] for wait in waits.tolist()])
    least = np.flatnonzero(offs <= offs.min() * (1 + 1e-9))
    return float(waits[least[len(least) // 2]]), float(offs.min())


def _fit_share(frames: Frames) -> tuple[float, float]:
    """Return the share of the error that fades in each frame, and the mean of what is left."""
    elapsed = np.diff(frames.times)[:, None]
    begun = frames.times[np.maximum(frames.taking - 1, 0)][:, None]
    newest, speed = frames.positions[frames.newest], frames.velocities[frames.newest]
    goal = newest + speed * (frames.times[:, None] - begun)
    along = speed[1:] * elapsed
    left = (goal[1:] - frames.drawn[:-1] - along)[frames.settled[1:]]
    step = (np.diff(frames.drawn, axis=0) - along)[frames.settled[1:]]
    (share,), _ = fit_factors(step, left[:, None])
    return share, float(compute_lengths(step - share * left).mean())
