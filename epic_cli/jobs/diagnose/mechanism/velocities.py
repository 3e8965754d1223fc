"""Read chases by velocities that a game makes itself, of its last packets or as a mean."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.jobs.diagnose.mechanism.chases import DRIFTS, read_shares
from epic_cli.jobs.diagnose.mechanism.readings import (
    FEW,
    MOSTLY,
    PossibleReading,
    compute_robust_rms,
    find_clear_limit,
    fit_factors,
)
from epic_cli.metrics.arrays import compute_lengths

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from epic_cli.jobs.diagnose.frames import Frames
    from epic_cli.metrics.arrays import Floats

#: How much of the newest velocity a packet adds to a mean, in the code of games.
SHARES = (1.0, 0.5, 0.3, 0.2, 0.1)

#: A step without a packet is the velocity's within this (usual steps).
ALONG = 0.003

#: The velocities between packets are understood if as much is left at most (usual steps).
LEFT = 0.05

#: The least difference from 1 of a factor by which velocities are multiplied.
UNLIKE = 0.05

#: Fewest packets that leave an error as it is.
SOME = 3

#: Least way to a packet (usual steps), and a share that is all of it, or none.
AWAY, WHOLE, NONE = 0.1, 0.99, 0.01


def iterate_velocities(frames: Frames) -> Iterator[tuple[dict[str, Any], Floats]]:
    """Yield the ways to tell a packet's velocity: the settings of a chase, and values (n, 3)."""
    yield {}, frames.velocities
    step = np.diff(frames.positions, axis=0, prepend=frames.positions[:1])
    for source, at in (("stamps", frames.stamps), ("arrivals", frames.arrivals)):
        elapsed = np.diff(at, prepend=-np.inf)
        known = np.maximum.accumulate(np.where(elapsed > 0, np.arange(len(at)), 0))
        yield {"velocity": source}, step[known] / elapsed[known][:, None]
    yield {"velocity": "interval"}, step / frames.interval


def find_velocity_factor(frames: Frames) -> float:
    """Return by how much velocities seem to be multiplied; 1 if nothing tells another number.

    Frames move by them while no packet comes, or go a share of the way to where they lead.
    """
    newest = frames.newest[1:]
    step, elapsed = np.diff(frames.drawn, axis=0), np.diff(frames.times)[:, None]
    speed, later = frames.velocities[newest], frames.settled[1:] & (np.diff(frames.newest) == 0)
    moves = later & (compute_lengths(speed) > AWAY * frames.usual_speed)
    if moves.sum() < FEW:
        return 1.0
    travel = speed * elapsed
    along = (step * travel).sum(axis=1)[moves] / np.square(travel).sum(axis=1)[moves]
    factor = float(np.median(along))
    if factor > 0 and (np.abs(along / factor - 1) < UNLIKE).mean() > 1 / 2:
        rest = (step - factor * travel)[moves]
        if np.median(compute_lengths(rest)) < ALONG * frames.unit:
            return factor if abs(factor - 1) > UNLIKE else 1.0
    left = frames.positions[newest] - frames.drawn[:-1]
    begun = frames.arrivals[newest], frames.stamps[newest], frames.times[frames.taking[1:]]
    for since in begun:
        led = speed * (frames.times[1:] - since)[:, None]
        (share, more), off = fit_factors(step[moves], np.stack((left, led), axis=1)[moves])
        if share > NONE and off < LEFT * frames.unit and abs(more / share - 1) > UNLIKE:
            return max(more / share, 0.0)
    return 1.0


def read_moved_goals(frames: Frames) -> list[PossibleReading]:
    """Return chases of a goal that velocities move, or that move along with those."""
    found: list[PossibleReading] = []
    newest, later = frames.newest, frames.settled[1:]
    since = (frames.times - frames.arrivals[newest])[:, None]
    step, elapsed = np.diff(frames.drawn, axis=0), np.diff(frames.times)[:, None]
    lasts = np.minimum(elapsed, since[1:])
    for source, each in iterate_velocities(frames):
        for share in SHARES:
            if share == 1 and not source:  # which is read as the others are
                continue
            speed = _follow(each, share)[newest]
            goal = frames.positions[newest] + speed * since
            left, along = goal[1:] - frames.drawn[:-1], speed[1:] * lasts
            words = {**source, **({"velocity_share": share} if share < 1 else {})}
            moved = {"ahead": "velocity", "age": "arrival", "ahead_time": "unlimited", **words}
            plain = frames.positions[newest[1:]] - frames.drawn[:-1]
            for settings, way, own in (
                (moved, left, step),
                ({**moved, **DRIFTS}, left - along, step - along),
                ({**words, **DRIFTS, "ahead_time": "unlimited"}, plain, step - speed[1:] * elapsed),
            ):
                found += read_shares(
                    frames.unit, settings, way[later], own[later], elapsed[later, 0]
                )
    return sorted(found, key=lambda reading: reading.off)


def read_packet_steps(frames: Frames) -> StrategySpec | None:
    """Return a chase that steps once a packet and goes on at a constant velocity between.

    None if frames do otherwise.
    """
    step, elapsed = np.diff(frames.drawn, axis=0), np.diff(frames.times)[:, None]
    came, packet = np.diff(frames.newest), frames.newest[1:]
    between = frames.settled[1:] & (came == 0)
    own, known = _measure_speeds(step / elapsed, between, packet, len(frames.stamps))
    rest = step - own[packet] * elapsed
    still = between & known[packet]
    if still.sum() < FEW or not _is_along(frames, rest[still]):
        return None
    left = frames.positions[packet] - frames.drawn[:-1]
    told = frames.settled[1:] & (came == 1) & known[packet]
    told &= compute_lengths(left) > AWAY * frames.unit
    if told.sum() < FEW:
        return None
    moves = told & (compute_lengths(rest) > ALONG * frames.unit)
    zone: dict[str, Any] = {}
    if moves.any() and (told & ~moves).sum() >= SOME:  # small errors stay as they are
        far = compute_lengths(left)
        if limit := find_clear_limit(far[told & ~moves], far[moves]):
            zone, told = {"dead_zone": limit}, moves
    way = left[told]
    share = float(np.median((rest[told] * way).sum(axis=1) / np.square(way).sum(axis=1)))
    words = _find_velocity(frames, own, np.flatnonzero(known[1:] & known[:-1]) + 1)
    if words is None or share < NONE:
        return None
    settings = {"how": "share", "share": min(share, 1.0) if share < WHOLE else 1.0}
    steps = {"every": "packet", "drift": 1.0, "ahead_time": "unlimited"}
    return StrategySpec("chase", {**settings, **steps, **words, **zone})


def _is_along(frames: Frames, rest: Floats) -> bool:
    return bool((compute_lengths(rest) < ALONG * frames.unit).mean() > MOSTLY)


def _measure_speeds(
    pace: Floats, between: NDArray[np.bool_], packet: NDArray[np.int64], count: int
) -> tuple[Floats, NDArray[np.bool_]]:
    """Return the mean velocity of the frames behind each packet (n, 3), and where there are any."""
    totals, frames = np.zeros((count, 3)), np.bincount(packet[between], minlength=count)
    np.add.at(totals, packet[between], pace[between])
    return totals / np.maximum(frames, 1)[:, None], frames > 0


def _find_velocity(frames: Frames, own: Floats, told: NDArray[np.int_]) -> dict[str, Any] | None:
    """Return the settings for the velocities (n, 3) behind the ``told`` packets; None for none."""
    if len(told) < FEW:
        return None
    change = own[told] - own[told - 1]
    found = []
    for words, each in iterate_velocities(frames):
        way = each[told] - own[told - 1]
        share = float((change * way).sum() / max(np.square(way).sum(), 1e-300))
        share = min(max(share, 0.001), 1.0)
        off = float(compute_robust_rms(change - share * way))
        mean = {"velocity_share": share} if share < WHOLE else {}
        found.append((off, {**words, **mean}))
    off, words = min(found, key=lambda one: one[0])
    return words if off * frames.interval < LEFT * frames.unit else None


def _follow(each: Floats, share: float) -> Floats:
    """Return a mean that goes a share of the way to each velocity (n, 3)."""
    if share == 1:
        return each
    found, last = [], each[0]
    for newest in each:
        last = last + (newest - last) * share
        found.append(last)
    return np.array(found)
