"""Teleports across which a game draws a movement."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.jobs.diagnose.mechanism.marks import find_least_leap
from epic_cli.jobs.diagnose.settings import compute_used_values
from epic_cli.metrics.arrays import compute_lengths

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from epic_cli.jobs.diagnose.frames import Frames
    from epic_cli.jobs.diagnose.mechanism import Mechanism
    from epic_cli.jobs.diagnose.remedies.recording import TrialRecording
    from epic_cli.metrics.arrays import Floats

#: A frame slides that is between both ends of a teleport, this share of the way from either, and as
#: near to the line between them.
BETWEEN, BESIDE = 0.1, 0.02

#: Send intervals before and after the lag in which a teleport is drawn.
SEEN = 1.5


class Slides(NamedTuple):
    """Teleports that a game slides across: how many, and a ``snap`` distance with which none is."""

    slides: int
    snap: float


def find_slides(recording: TrialRecording, frames: Frames, found: Mechanism) -> Slides | None:
    """Return the teleports that are drawn as movements; None if ``snap`` makes them no jumps."""
    truth, before = recording.truth, recording.before
    if truth is None or before is None or compute_used_values(found.strategy).get("snap") != 0:
        return None
    steps = compute_lengths(np.diff(frames.positions, axis=0))
    at = np.searchsorted(frames.stamps, truth.starts[truth.teleported])
    at = at[(at > 0) & (at < len(frames.stamps))]
    usual = find_least_leap(steps)
    at = at[steps[at - 1] > usual]
    count = _count_slides(frames, at, before.lag, frames.drawn)
    if not count:
        return None
    snap = float(f"{math.sqrt(usual * float(steps[at - 1].min())):.1g}")
    snapping = StrategySpec(found.strategy.name, {**found.strategy.settings, "snap": snap})
    drawn = recording.redraw.draw(snapping, frames.times)
    if _count_slides(frames, at, before.lag, drawn):
        return None
    return Slides(count, snap)


def _count_slides(frames: Frames, at: NDArray[np.int_], lag: float, drawn: Floats) -> int:
    """Count the teleports to the states ``at`` places that drawn positions (m, 3) slide across."""
    count = 0
    for place in at.tolist():
        begin, end = frames.positions[place - 1], frames.positions[place]
        way, since = end - begin, frames.times - frames.stamps[place] - lag
        off = drawn[np.abs(since) < SEEN * frames.interval] - begin
        share = off @ way / (way @ way)
        beside = compute_lengths(off - share[:, None] * way) < BESIDE * math.sqrt(way @ way)
        count += bool((beside & (np.abs(share - 0.5) < 0.5 - BETWEEN)).any())
    return count
