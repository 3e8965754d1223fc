"""Read chases from the steps of frames towards the newest state.

The steps give the share of the way that a chase goes in each frame, and the rule by which that is
steady.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.jobs.diagnose.mechanism.readings import (
    AGED,
    PossibleReading,
    compute_robust_rms,
    compute_robust_root,
)
from epic_cli.metrics.arrays import choose_places, compute_lengths, find_minimum

if TYPE_CHECKING:
    from epic_cli.jobs.diagnose.frames import Frames
    from epic_cli.metrics.arrays import Floats

#: A step that is none, and a way that is left, in usual steps; the share of the frames that stand
#: so where a game leaves out the last step of each way.
STANDS, AWAY, SHORT = 1e-3, 0.05, 0.03

#: The settings of a chase that takes late packets as new ones.
TAKES_LATE: dict[str, Any] = {"late": "take"}

#: Those of a chase that moves along with the newest velocity.
DRIFTS: dict[str, Any] = {"drift": 1.0}


def read_chases(frames: Frames) -> list[PossibleReading]:
    """Return possible chases, the nearest first: each frame's step goes towards the newest state.

    A late packet is dropped or taken as the newest.
    """
    found: list[PossibleReading] = []
    for takes_late, view in frames.iterate_views():
        readings = _read_view(view)
        if takes_late:
            readings = [
                PossibleReading(
                    reading.off, StrategySpec("chase", {**reading.strategy.settings, **TAKES_LATE})
                )
                for reading in readings
            ]
        found += readings
    return sorted(found, key=lambda reading: reading.off)


def _read_view(frames: Frames) -> list[PossibleReading]:
    """Return possible chases of the packets of some frames."""
    found: list[PossibleReading] = []
    since = (frames.times - frames.arrivals[frames.newest])[1:]
    for ahead, goal in _iterate_possible_goals(frames):
        left = goal[1:] - frames.drawn[:-1]
        step = np.diff(frames.drawn, axis=0)
        elapsed = np.diff(frames.times)
        later = frames.settled[1:]
        found += _read_shares(frames.unit, ahead, left[later], step[later], elapsed[later])
        found += _read_glides(frames, ahead, goal)
        moves, drifts = ahead.get("ahead") == "velocity", {**ahead, **DRIFTS}
        if moves or not ahead:
            lasts = np.minimum(elapsed, since) if moves else elapsed
            along = frames.velocities[frames.newest[1:]] * lasts[:, None]
            left = left - along if moves else left
            found += _read_shares(
                frames.unit, drifts, left[later], (step - along)[later], elapsed[later]
            )
        if moves:  # what moves along with its goal, so that the error fades
            found += _read_glides(frames, drifts, goal)
        found.append(_read_spring(frames, ahead, goal))
    return found


def _iterate_possible_goals(frames: Frames) -> Iterator[tuple[dict[str, Any], Floats]]:
    """Yield possible goals of a chase: its settings, and the goal in each frame."""
    newest = frames.newest
    aims = frames.positions
    yield {}, aims[newest]
    ages = (frames.times - frames.stamps[newest])[:, None]
    old = (frames.arrivals - frames.stamps)[:, None]
    if np.abs(old).max() < 2.0:
        aims = frames.positions + frames.velocities * old
        yield {"ahead": "velocity"}, frames.positions[newest] + frames.velocities[newest] * ages
        yield {"ahead": "arrival"}, aims[newest]
        steps = np.diff(frames.positions, axis=0, prepend=frames.positions[:1])
        aims = frames.positions + steps * old
        yield {"ahead": "step"}, aims[newest]
    since = (frames.times - frames.arrivals[newest])[:, None]
    yield (
        {"ahead": "velocity", "age": "arrival"},
        frames.positions[newest] + frames.velocities[newest] * since,
    )


def _read_shares(
    unit: float, ahead: dict[str, Any], left: Floats, step: Floats, elapsed: Floats
) -> list[PossibleReading]:
    """Return chases that go a share of the way each frame, or at a constant speed."""
    way, pace = compute_lengths(left), compute_lengths(step)
    far = way**2 > np.quantile(way**2, 0.5) * 0.1
    going = (pace > 0) & (way > pace + 2e-3 * unit)
    if far.sum() < 20:
        return []
    share = np.clip((step * left).sum(axis=1)[far] / way[far] ** 2, 1e-6, 1 - 1e-9)
    middle = float(np.median(share))
    lerp = float(np.median(elapsed[far] / share))
    time = float(np.median(-elapsed[far] / np.log1p(-share)))
    speed = float(np.median((pace / elapsed)[going])) if going.any() else 0.0
    return [
        PossibleReading(
            float(compute_robust_rms(step - np.minimum(model, 1)[:, None] * left)),
            StrategySpec("chase", {"how": how, setting: value, **ahead}),
        )
        for how, setting, value, model in (
            ("share", "share", middle, np.full(len(elapsed), middle)),
            ("lerp", "time", lerp, elapsed / lerp),
            ("exponential", "time", time, 1 - np.exp(-elapsed / time)),
            ("speed", "speed", speed, speed * elapsed / np.maximum(way, 1e-12)),
        )
    ]


def _read_glides(frames: Frames, ahead: dict[str, Any], goal: Floats) -> list[PossibleReading]:
    """Return chases that glide in a fixed time from the position at each arrival to the new state.

    Tweens count the time from the frame before the arrival, or after it. Some leave out the last
    step.
    """
    begins = frames.taking
    before = np.maximum(begins - 1, 0)
    later = np.flatnonzero(frames.settled)
    at = later[choose_places(len(later), AGED)]
    ends: list[dict[str, Any]] = [{}, {"end": "short"}] if _stands_short(frames, goal) else [{}]
    start, goal, drawn = frames.drawn[before][at], goal[at], frames.drawn[at]
    begins_off = start - drawn
    left = np.square(frames.drawn[np.maximum(at - 1, 0)] - drawn).sum(axis=1)
    found = []
    speed = frames.velocities[frames.newest][at]
    arrived = (frames.times - frames.arrivals[frames.newest])[at]
    drifting = speed if "drift" in ahead else None
    eases = list(EASES.items())[: None if drifting is None else 1]
    for (ease, shape), end in itertools.product(eases, ends):
        how = {"how": "linear"} if ease == "linear" else {"how": "eased", "ease": ease}
        starts = []
        for words, begun in (
            ({}, frames.arrivals[frames.newest]),
            ({"start": "frame"}, frames.times[begins]),
            ({"start": "last"}, frames.times[before]),
        ):
            since = (frames.times - begun)[at]
            base, slope = begins_off, goal - start  # the error is base + slope * share
            if "age" in ahead:  # which counts from there, too
                slope = slope + speed * (since - arrived)[:, None]
            if drifting is not None:
                moved = drifting * since[:, None]
                base, slope = base + moved, slope - moved
            squares = [(base * base).sum(1), 2 * (base * slope).sum(1), (slope * slope).sum(1)]

            def measure(
                logs: Floats, shape: Callable[[Floats], Floats] = shape, since: Floats = since,
                stops: bool = bool(end), squares: list[Floats] = squares,
            ) -> Floats:  # fmt: skip
                lasts = np.exp(logs)[..., None]
                u = shape(np.clip(since / lasts, 0, 1))
                off = np.maximum((squares[2] * u + squares[1]) * u + squares[0], 0)
                if stops:
                    off = np.where(since > lasts, left, off)
                return compute_robust_root(off)

            best, least = _find_least_error_time(measure, 25, 11)
            glide = StrategySpec("chase", {**how, "time": math.exp(best), **words, **end, **ahead})
            starts.append(PossibleReading(least, glide))
        found.append(min(starts, key=lambda reading: reading.off))
        # the last of them is an even pace to the goal, too
        if ease == "linear" and not end and drifting is None:
            last, interval = starts[-1].off, starts[-1].strategy.settings["time"]
            even = {"how": "interval", **ahead}
            found.append(PossibleReading(last, StrategySpec("chase", even)))
            found.append(
                PossibleReading(last * 1.01, StrategySpec("chase", {**even, "interval": interval}))
            )
    return found


def _stands_short(frames: Frames, goal: Floats) -> bool:
    """Return True if a good part of the frames stand away from the goal (m, 3)."""
    step = compute_lengths(np.diff(frames.drawn, axis=0))
    left = compute_lengths(goal - frames.drawn)[1:]
    stands = (step < STANDS * frames.unit) & (left > AWAY * frames.unit)
    return bool(stands[frames.settled[1:]].mean() > SHORT)


def _find_least_error_time(
    off: Callable[[Floats], Floats], count: int, steps: int
) -> tuple[float, float]:
    """Return the logarithm of the time (20 ms to 1 s) with the least error, and that error.

    ``off`` returns the errors (...) for logarithms (...).
    """
    tried = np.log(np.geomspace(0.02, 1.0, count))
    place = int(off(tried).argmin())

    def measure(log: float) -> float:
        return float(off(np.array(log)))

    return find_minimum(measure, tried[max(place - 1, 0)], tried[min(place + 1, count - 1)], steps)


EASES: dict[str, Callable[[Floats], Floats]] = {
    "linear": lambda u: u,
    "smoothstep": lambda u: u * u * (3 - 2 * u),
    "sine": lambda u: (1 - np.cos(np.pi * u)) / 2,
    "out-quad": lambda u: 1 - (1 - u) ** 2,
    "out-cubic": lambda u: 1 - (1 - u) ** 3,
}


def _read_spring(frames: Frames, ahead: dict[str, Any], goal: Floats) -> PossibleReading:
    """Return a chase by a critically damped spring, with the speed of the previous step."""
    elapsed, later = np.diff(frames.times), frames.settled[2:]

    def measure(logs: Floats) -> Floats:
        omega = (2 / np.exp(logs))[..., None, None]
        x = omega * elapsed[:, None]
        decay = 1 / (1 + x + 0.48 * x**2 + 0.235 * x**3)
        # position and speed after a step: g + (c + q) e, (v - w q) e, with q = (v + w c) dt
        moved = rest / decay - change
        speed = (moved / elapsed[:, None] - omega * change - omega * moved) * decay
        moved = (speed[..., :-1, :] + omega * after) * elapsed[1:, None]
        off = (after + moved) * decay[..., 1:, :] - rest[1:]
        return compute_robust_rms(off[..., later, :])

    rest, change = frames.drawn[1:] - goal[1:], frames.drawn[:-1] - goal[1:]
    after = change[1:]

    best, least = _find_least_error_time(measure, 15, 10)
    return PossibleReading(
        least, StrategySpec("chase", {"how": "spring", "time": math.exp(best), **ahead})
    )
