"""Read chases that also move by the velocity of the newest packet."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.jobs.diagnose.mechanism.readings import FEW, MOSTLY, fit_factors
from epic_cli.metrics.arrays import compute_lengths

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from epic_cli.jobs.diagnose.frames import Frames
    from epic_cli.metrics.arrays import Floats

#: How much of the newest velocity each step takes over, in the code of games.
SHARES = (1.0, 0.5, 0.25, 0.1)

#: A larger share, or drift, is a prediction without smoothing.
NEARLY, MOST = 0.95, 1.5

#: A step without a packet is the velocity's within this (usual steps).
ALONG = 0.003

#: Frames or ticks that differ by less are of one length (s).
EVEN = 1e-6

#: A drift that leaves less than this share of the error is there.
CLEARLY = 0.6


def iterate_drifting_chases(frames: Frames) -> Iterator[StrategySpec]:
    """Yield chases that go a share of the way and drift, if the frames do so."""
    step, elapsed = np.diff(frames.drawn, axis=0), np.diff(frames.times)[:, None]
    left = frames.positions[frames.newest[1:]] - frames.drawn[:-1]
    speed = frames.velocities[frames.newest[1:]]
    later = frames.settled[1:]
    came = np.diff(frames.newest)
    moves = later & (compute_lengths(speed) > 0)
    packet = _read_packet_steps(frames, step - speed * elapsed, left, came, moves)
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


def _read_packet_steps(
    frames: Frames,
    step: Floats,
    left: Floats,
    came: NDArray[np.int_],
    moves: NDArray[np.bool_],
) -> StrategySpec | None:
    """Return a chase that steps once a packet and drifts between; None if frames do otherwise.

    ``step`` is what the frames move beside the drift (m - 1, 3).
    """
    between, told = moves & (came == 0), moves & (came == 1)
    told &= compute_lengths(left) > 0.1 * frames.unit
    if told.sum() < FEW or between.sum() < FEW:
        return None
    if (compute_lengths(step[between]) < ALONG * frames.unit).mean() < MOSTLY:
        return None
    way = left[told]
    share = float(np.median((step[told] * way).sum(axis=1) / np.square(way).sum(axis=1)))
    if not 0.01 < share < 0.99:
        return None
    return StrategySpec("chase", {"how": "share", "share": share, "every": "packet", "drift": 1.0})


def _follow(speed: Floats, share: float) -> Floats:
    """Return a velocity that goes a share of the way to the newest in each step (n, 3)."""
    found, last = [], speed[0]
    for newest in speed:
        last = last + (newest - last) * share
        found.append(last)
    return np.array(found)
