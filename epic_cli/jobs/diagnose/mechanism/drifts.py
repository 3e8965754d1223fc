"""Read chases that also move by the velocity of the newest packet."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.jobs.diagnose.mechanism.readings import FEW, fit_factors
from epic_cli.jobs.diagnose.mechanism.velocities import read_packet_steps
from epic_cli.metrics.arrays import compute_lengths

if TYPE_CHECKING:
    from epic_cli.jobs.diagnose.frames import Frames
    from epic_cli.metrics.arrays import Floats

#: How much of the newest velocity each step takes over, in the code of games.
SHARES = (1.0, 0.5, 0.25, 0.1)

#: A larger share, or drift, is a prediction without smoothing.
NEARLY, MOST = 0.95, 1.5

#: Frames or ticks that differ by less are of one length (s).
EVEN = 1e-6

#: Steps of a constant time leave less than this share of the error of those by time.
EVENLY = 0.8

#: A time that differs from one of two digits by a smaller share is that.
ROUND = 1e-3

#: A way that tells its pace (usual steps), times that differ by less (share of them) are the same,
#: and the share of the frames that have to agree.
AWAY, ALIKE, MOSTLY = 0.05, 0.01, 0.8

#: A drift that leaves less than this share of the error is there.
CLEARLY = 0.6


def iterate_drifting_chases(frames: Frames) -> Iterator[StrategySpec]:
    """Yield chases that go a share of the way, or all of it in a time, and drift, if they do so."""
    yield from _iterate_even_drifts(frames)
    step, elapsed = np.diff(frames.drawn, axis=0), np.diff(frames.times)[:, None]
    left = frames.positions[frames.newest[1:]] - frames.drawn[:-1]
    speed = frames.velocities[frames.newest[1:]]
    later = frames.settled[1:]
    moves = later & (compute_lengths(speed) > 0)
    packet = read_packet_steps(frames)
    if packet is not None:
        yield packet
        return
    if moves.sum() < FEW:
        return
    _, plain = fit_factors(step[later], left[later, None])
    found = []
    for share in SHARES:
        known = _follow(speed, share) if share < 1 else speed
        parts = np.stack((left, known * elapsed), axis=1)[later]
        found.append((*fit_factors(step[later], parts), share))
    (ways, off, share) = min(found, key=lambda one: one[1])
    if off < CLEARLY * plain and 0 < ways[0] < NEARLY and 0 < ways[1] < MOST:
        time = -frames.frame / math.log1p(-ways[0])
        hows: list[dict[str, Any]] = [{"how": "share", "share": ways[0]}]
        if np.ptp(elapsed) > EVEN:  # which differ only where frames do
            hows += [{"how": how, "time": time} for how in ("exponential", "lerp")]
        follows = {"drift": ways[1], **({"drift_share": share} if share < 1 else {})}
        yield from (StrategySpec("chase", {**how, **follows}) for how in hows)
    # some take each frame for one of a constant time
    (way, drift), even = fit_factors(step[later], np.stack((left, speed), axis=1)[later])
    if not (even < EVENLY * off or np.ptp(elapsed) <= EVEN) or not (0 < way < NEARLY and drift > 0):
        return
    # a goal that far ahead, if that is a round number
    ahead = float(f"{drift / way:.2g}")
    if abs(ahead * way / drift - 1) < ROUND:
        fixed = {"how": "share", "share": way, "ahead": "fixed", "ahead_time": ahead}
        yield StrategySpec("chase", fixed)
    if even < EVENLY * off:
        counts = {"how": "share", "share": way, "drift": 1.0, "step_time": drift}
        yield StrategySpec("chase", counts)


def _iterate_even_drifts(frames: Frames) -> Iterator[StrategySpec]:
    """Yield chases that go at an even pace to each packet, and along its velocity besides."""
    step, elapsed = np.diff(frames.drawn, axis=0), np.diff(frames.times)
    apart = frames.clock_offset
    words = {"age_offset": apart} if apart else {}
    led = frames.velocities * (frames.arrivals - frames.stamps - apart)[:, None]
    goals: list[tuple[dict[str, Any], Floats]] = [
        ({}, frames.positions), ({"ahead": "arrival", **words}, frames.positions + led)
    ]  # fmt: skip
    speed = frames.velocities[frames.newest[1:]]
    pace = compute_lengths(step - speed * elapsed[:, None]) / elapsed
    for ahead, aims in goals:
        goal = aims[frames.newest]
        way = compute_lengths(goal - frames.drawn[np.maximum(frames.taking - 1, 0)])[1:]
        left = compute_lengths(goal[1:] - frames.drawn[:-1])
        going = frames.settled[1:] & (way > AWAY * frames.unit) & (left > pace * elapsed)
        going &= (pace > 0) & speed.any(axis=1)
        if going.sum() < FEW:
            continue
        times = way[going] / pace[going]
        time = float(np.median(times))
        if (np.abs(times / time - 1) < ALIKE).mean() > MOSTLY:
            yield StrategySpec(
                "chase", {"how": "interval", "interval": time, "drift": 1.0, **ahead}
            )


def _follow(speed: Floats, share: float) -> Floats:
    """Return a velocity that goes a share of the way to the newest in each step (n, 3)."""
    found, last = [], speed[0]
    for newest in speed:
        last = last + (newest - last) * share
        found.append(last)
    return np.array(found)
