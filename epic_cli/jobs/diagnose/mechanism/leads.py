"""Read chases of a goal that a velocity leads by any factor, or for a fixed time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from epic_cli.jobs.diagnose.mechanism.chases import read_shares
from epic_cli.jobs.diagnose.mechanism.readings import FEW, PossibleReading, fit_factors
from epic_cli.jobs.diagnose.mechanism.velocities import LEFT, UNLIKE, iterate_velocities
from epic_cli.metrics.arrays import compute_lengths

if TYPE_CHECKING:
    from epic_cli.jobs.diagnose.frames import Frames

#: Least share of the rest in a frame, least lead (s), and least speed that tell a lead (usual
#: speeds).
GOES, LEADS, MOVES = 0.01, 0.01, 0.1


def read_leads(frames: Frames) -> list[PossibleReading]:
    """Return chases of goals that a velocity leads by its age, times a factor, or by a time."""
    newest, found = frames.newest, list[PossibleReading]()
    step, elapsed = np.diff(frames.drawn, axis=0), np.diff(frames.times)
    since = (frames.times - frames.arrivals[newest])[1:, None]
    rest = frames.positions[newest[1:]] - frames.drawn[:-1]
    for source, each in iterate_velocities(frames):
        speed = each[newest[1:]]
        moves = frames.settled[1:] & (compute_lengths(speed) > MOVES * frames.usual_speed)
        if moves.sum() < FEW:
            continue
        for led, read in (speed * since, _write_factor), (speed, _write_time):
            parts = np.stack((rest, led), axis=1)[moves]
            (share, more), off = fit_factors(step[moves], parts)
            if share < GOES or off > LEFT * frames.unit:
                continue
            for settings in read(more / share):
                left = rest + led * (more / share)
                later = frames.settled[1:]
                words = {**source, **settings}
                found += read_shares(frames.unit, words, left[later], step[later], elapsed[later])
    return sorted(found, key=lambda reading: reading.off)


def _write_factor(factor: float) -> Iterator[dict[str, Any]]:
    """Yield the settings for a lead by the age of a packet, times a factor."""
    if abs(factor) > UNLIKE and abs(factor - 1) > UNLIKE:
        moved = {"ahead": "velocity", "age": "arrival", "ahead_time": "unlimited"}
        yield {**moved, "velocity_factor": factor}


def _write_time(time: float) -> Iterator[dict[str, Any]]:
    """Yield the settings for a lead by a velocity over a fixed time (s), which may be negative."""
    if abs(time) > LEADS:
        back = {"velocity_factor": -1.0} if time < 0 else {}
        yield {"ahead": "fixed", "ahead_time": abs(time), **back}
