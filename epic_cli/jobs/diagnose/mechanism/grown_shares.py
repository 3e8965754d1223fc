"""Read chases whose share of the rest grows with the distance, and those of a mean of states."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.jobs.diagnose.mechanism.chases import read_shares
from epic_cli.jobs.diagnose.mechanism.readings import (
    AGED,
    FEW,
    compute_robust_rms,
    find_limit,
    fit_factors,
)
from epic_cli.metrics.arrays import choose_places, compute_lengths

if TYPE_CHECKING:
    from epic_cli.jobs.diagnose.frames import Frames
    from epic_cli.metrics.arrays import Floats

#: Places between which a share may grow, as quantiles of the distances; and the usual ones, from
#: the article that teaches it (length units).
PLACES, USUAL = (0.1, 0.25, 0.4, 0.55, 0.7, 0.85, 0.95), (0.25, 1.0)

#: What leaves less than this share of the error is there.
CLEARLY = 0.6

#: Two shares that differ by less are one.
UNLIKE = 0.02

#: An error below this share of a usual step may be rounding.
ROUNDED = 1e-5

#: Numbers of states whose mean is tried.
COUNTS = (*range(2, 13), 15, 16, 20)


def iterate_grown_shares(frames: Frames) -> Iterator[StrategySpec]:
    """Yield chases that go a larger share of a longer way, if the frames do so."""
    step, elapsed = np.diff(frames.drawn, axis=0), np.diff(frames.times)[:, None]
    begun = frames.times[np.maximum(frames.taking - 1, 0)]
    speed, newest = frames.velocities[frames.newest], frames.positions[frames.newest]
    since = {"drawn": frames.arrivals[frames.newest], "last": begun}
    yield from _fit_grown_share(frames, {}, (newest[1:] - frames.drawn[:-1]), step)
    for start, begins in since.items():
        lasts = np.minimum(elapsed, (frames.times - begins)[1:, None])
        goal = newest + speed * (frames.times - begins)[:, None]
        along = speed[1:] * lasts
        moves: dict[str, Any] = {"ahead": "velocity", "age": "arrival"}
        if start == "last":
            moves = {"start": start, **moves}
        left = goal[1:] - frames.drawn[:-1]
        yield from _fit_grown_share(frames, moves, left, step)
        yield from _fit_grown_share(frames, {**moves, "drift": 1.0}, left - along, step - along)


def _fit_grown_share(
    frames: Frames, words: dict[str, Any], left: Floats, step: Floats
) -> Iterator[StrategySpec]:
    """Yield a chase whose share grows between two distances, if that is clearly nearer."""
    later = frames.settled[1:]
    left, step = left[later], step[later]
    some = choose_places(len(step), AGED)
    left, step = left[some], step[some]
    way = compute_lengths(left)
    if (way > 0).sum() < FEW:
        return
    (share,), plain = fit_factors(step, left[:, None])
    if not 0 < share < 1:
        return
    found = []
    pairs = itertools.combinations(np.quantile(way[way > 0], PLACES).tolist(), 2)
    for near, far in (USUAL, *pairs):
        grown = np.clip((way - near) / max(far - near, 1e-12), 0, 1)[:, None]
        (low, more), off = fit_factors(step, np.stack((left, grown * left), axis=1))
        found.append((off, low, low + more, near, far))
    off, low, high, near, far = min(found)
    found = [(off, low, high, near, far)]
    for limit in np.quantile(way[way > 0], PLACES).tolist():
        found.append(_fit_two_shares(step, left, way, limit))
    off, low, high, near, far = min(found, key=lambda one: max(one[0], ROUNDED * frames.unit))
    if off < CLEARLY * plain and 0 <= low <= 1 and 0 <= high <= 1:
        shares = {"share": low, "share_far": high, "far_from": near, "far_at": far}
        if near == far and low < UNLIKE:  # it stands
            shares = {"share": high, "dead_zone": near}
        yield StrategySpec("chase", {"how": "share", **shares, **words})


def _fit_two_shares(
    step: Floats, left: Floats, way: Floats, limit: float
) -> tuple[float, float, float, float, float]:
    """Return the error, the shares near and far, and the distance, twice, from which one is far."""
    for _ in range(2):
        is_far = (way > limit)[:, None]
        (low, more), off = fit_factors(step, np.stack((left, is_far * left), axis=1))
        shares = (step * left).sum(axis=1) / np.maximum(way**2, 1e-300)
        nearer = np.abs(shares - low) < np.abs(shares - low - more)
        if abs(more) < UNLIKE or not nearer.any() or nearer.all():
            return np.inf, 0.0, 0.0, limit, limit
        limit = find_limit(way[nearer], way[~nearer])
    return off, low, low + more, limit, limit


def iterate_chases_of_means(frames: Frames) -> Iterator[StrategySpec]:
    """Yield the chase of a mean of the last states that is clearly nearer than of the newest."""
    later, step = frames.settled[1:], np.diff(frames.drawn, axis=0)
    total, elapsed = np.cumsum(frames.positions, axis=0), np.diff(frames.times)[later]
    found = []
    for count in (1, *COUNTS):
        before = np.concatenate((np.zeros((count, 3)), total))[: len(total)]
        known = np.minimum(np.arange(1, len(total) + 1), count)[:, None]
        left = ((total - before) / known)[frames.newest[1:]] - frames.drawn[:-1]
        shown = float(compute_robust_rms((step - left)[later]))
        chases = [(shown, count, {"how": "share", "share": 1.0})]
        for one in read_shares(frames.unit, {}, left[later], step[later], elapsed):
            chases.append((one.off, count, dict(one.strategy.settings)))
        # of what draws it up to rounding, the first
        found.append(min(chases, key=lambda each: max(each[0], ROUNDED * frames.unit)))
    off, count, settings = min(found, key=lambda each: each[0])
    if off < CLEARLY * found[0][0]:
        yield StrategySpec("chase", {**settings, "mean_of": count})
