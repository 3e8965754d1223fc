"""Read chases from the steps of frames towards the newest state.

The steps give the share of the way that a chase goes in each frame, and the rule by which that is
steady.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.jobs.diagnose.mechanism.forces import read_forces
from epic_cli.jobs.diagnose.mechanism.glides import SEEN, goes_along, read_glides
from epic_cli.jobs.diagnose.mechanism.readings import (
    CLEARER,
    FEW,
    MOSTLY,
    PossibleReading,
    compute_robust_rms,
)
from epic_cli.jobs.diagnose.mechanism.ways import find_least_error_time, list_way_times
from epic_cli.metrics.arrays import compute_lengths

if TYPE_CHECKING:
    from epic_cli.jobs.diagnose.frames import Frames
    from epic_cli.metrics.arrays import Flags, Floats

#: The share of frames without a step from which one frame does not tell its share of the rest.
COARSE = 0.2

#: Fewest steps of a chase that are read.
FEWEST = 20

#: Shares of the rest that tell how they grow, and the least rest that does (usual steps).
GROWN, ALONE = (0.01, 0.95), 0.02

#: Speeds that differ by less, as a share, are even.
EVEN = 1e-3

#: A share of the rest that is not all of it.
ALL = 0.999

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
    found += _read_goals_since_frames(frames)
    for ahead, goal in _iterate_possible_goals(frames):
        left = goal[1:] - frames.drawn[:-1]
        step = np.diff(frames.drawn, axis=0)
        elapsed = np.diff(frames.times)
        later = frames.settled[1:]
        found += read_shares(frames.unit, ahead, left[later], step[later], elapsed[later])
        found += read_glides(frames, ahead, goal)
        moves, drifts = ahead.get("ahead") == "velocity", {**ahead, **DRIFTS}
        if moves or ahead.get("ahead") in (None, "arrival"):
            lasts = np.minimum(elapsed, since) if moves else elapsed
            along = frames.velocities[frames.newest[1:]] * lasts[:, None]
            left = left - along if moves else left
            found += read_shares(
                frames.unit, drifts, left[later], (step - along)[later], elapsed[later]
            )
        if moves:  # what moves along with its goal, so that the error fades
            found += read_glides(frames, drifts, goal)
        if not ahead and goes_along(frames):
            found += read_glides(frames, DRIFTS, goal)
        found += read_growing(frames, ahead, goal)
        found.append(_read_spring(frames, ahead, goal))
        found += read_forces(frames, ahead, goal)
    return found


def _read_goals_since_frames(frames: Frames) -> list[PossibleReading]:
    """Return chases of a goal that moves from a frame beside each arrival on, or along with it.

    As code that reads packets first, and then moves everything by the frame's duration, or that
    moves the goal behind its own step.
    """
    later, elapsed = frames.settled[1:], np.diff(frames.times)
    speed = frames.velocities[frames.newest]
    along = (speed[1:] * elapsed[:, None])[later]
    step, found = np.diff(frames.drawn, axis=0)[later], list[PossibleReading]()
    for start, taking in ("last", np.maximum(frames.taking - 1, 0)), ("frame", frames.taking):
        lasts = (frames.times - frames.times[taking])[:, None]
        goal = frames.positions[frames.newest] + speed * lasts
        left = (goal[1:] - frames.drawn[:-1])[later]
        ahead = {"start": start, "ahead": "velocity", "age": "arrival"}
        found += read_shares(frames.unit, ahead, left, step, elapsed[later])
        if start == "last":
            moved = left - along, step - along
            found += read_shares(frames.unit, {**ahead, **DRIFTS}, *moved, elapsed[later])
    return found


def _iterate_possible_goals(frames: Frames) -> Iterator[tuple[dict[str, Any], Floats]]:
    """Yield possible goals of a chase: its settings, and the goal in each frame."""
    newest = frames.newest
    aims = frames.positions
    yield {}, aims[newest]
    apart = frames.clock_offset
    words = {"age_offset": apart} if apart else {}
    ages = (frames.times - frames.stamps[newest] - apart)[:, None]
    old = (frames.arrivals - frames.stamps - apart)[:, None]
    aims = frames.positions + frames.velocities * old
    led = frames.positions[newest] + frames.velocities[newest] * ages
    yield {"ahead": "velocity", **words}, led
    yield {"ahead": "arrival", **words}, aims[newest]
    if old.min() < 0:  # clocks that agree but for less than the latency
        aims = frames.positions + frames.velocities * np.abs(old)
        yield {"ahead": "arrival", "age": "absolute"}, aims[newest]
    steps = np.diff(frames.positions, axis=0, prepend=frames.positions[:1])
    aims = frames.positions + steps * old
    yield {"ahead": "step", **words}, aims[newest]
    since = (frames.times - frames.arrivals[newest])[:, None]
    yield (
        {"ahead": "velocity", "age": "arrival"},
        frames.positions[newest] + frames.velocities[newest] * since,
    )


def read_shares(
    unit: float, ahead: dict[str, Any], left: Floats, step: Floats, elapsed: Floats
) -> list[PossibleReading]:
    """Return chases that go a share of the way each frame, or at a constant speed."""
    way, pace = compute_lengths(left), compute_lengths(step)
    far = way**2 > np.quantile(way**2, 0.5) * 0.1
    going = (pace > 0) & (way > pace + 2e-3 * unit)
    alone = (np.abs(step) > 0) & (np.abs(left) > np.abs(step) + 2e-3 * unit)
    each, most = _find_pace(np.abs(step), elapsed[:, None], alone)
    found = PossibleReading(
        float(compute_robust_rms(step - np.clip(left, -most, most))),
        StrategySpec("chase", {"how": "speed", **each, "axes": "each", **ahead}),
    )
    stands = pace == 0
    if stands[far].any() and (~stands).sum() >= FEWEST:
        nearest = np.quantile(way[~stands], 1 - MOSTLY)
        if np.quantile(way[far & stands], MOSTLY) < nearest:  # it stands near its goal alone
            far &= ~stands
    if far.sum() < FEWEST:
        return []
    share = np.clip((step * left).sum(axis=1)[far] / way[far] ** 2, 1e-6, 1 - 1e-9)
    if (pace[far] == 0).mean() > COARSE:  # whole pixels tell it together
        share = np.full(
            len(share),
            np.clip((step * left)[far].sum() / np.square(way[far]).sum(), 1e-6, 1 - 1e-9),
        )
    middle = float(np.median(share))
    # where most frames go all of the way, the others tell the time
    partly = share < ALL if (share < ALL).sum() >= FEW else np.full(len(share), True)
    lerp = float(np.median((elapsed[far] / share)[partly]))
    time = float(np.median(-elapsed[far] / np.log1p(-share)))
    speed, most = _find_pace(pace, elapsed, going)
    return [found] + [
        PossibleReading(
            float(compute_robust_rms(step - np.minimum(model, 1)[:, None] * left)),
            StrategySpec("chase", {"how": how, **settings, **ahead}),
        )
        for how, settings, model in (
            ("share", {"share": middle}, np.full(len(elapsed), middle)),
            ("lerp", {"time": lerp}, elapsed / lerp),
            ("exponential", {"time": time}, 1 - np.exp(-elapsed / time)),
            ("speed", speed, most / np.maximum(way, 1e-12)),
        )
    ]


def _find_pace(steps: Floats, elapsed: Floats, going: Flags) -> tuple[dict[str, float], Floats]:
    """Return the settings of a constant speed, or step a frame, and the step in each frame.

    It is a step a frame only if the lengths of ``steps`` that are ``going`` are clearly more even
    than their speeds.
    """
    elapsed = np.broadcast_to(elapsed, steps.shape)
    if not going.any():
        return {"speed": 0.0}, np.zeros(steps.shape)
    speeds = (steps / elapsed)[going]
    speed, step = float(np.median(speeds)), float(np.median(steps[going]))
    uneven = np.median(np.abs(speeds / speed - 1))
    if uneven > EVEN and np.median(np.abs(steps[going] / step - 1)) * CLEARER < uneven:
        return {"speed": step, "step_time": 1.0}, np.full(steps.shape, step)
    return {"speed": speed}, speed * elapsed


def read_growing(frames: Frames, ahead: dict[str, Any], goal: Floats) -> list[PossibleReading]:
    """Return chases by a share of the rest that grows from 0 to 1, by time or by frames."""
    left, step = goal[1:] - frames.drawn[:-1], np.diff(frames.drawn, axis=0)
    square, later = np.square(left).sum(axis=1), frames.settled[1:]
    share = (step * left).sum(axis=1) / np.maximum(square, 1e-300)
    partly = later & (share > GROWN[0]) & (share < GROWN[1]) & (square > (ALONE * frames.unit) ** 2)
    if partly.sum() < FEWEST:
        return []
    found = []
    for words, begun, unit in list_way_times(frames):
        since = (frames.times - begun)[1:]
        time = float(np.median(since[partly] / share[partly]))
        if time < SEEN * frames.frame:  # others draw the same in so few frames
            continue
        off = step - np.clip(since / time, 0, 1)[:, None] * left
        settings = {"how": "growing", "time": time / unit, **words, **ahead}
        error = float(compute_robust_rms(off[later]))
        found.append(PossibleReading(error, StrategySpec("chase", settings)))
    return sorted(found, key=lambda one: one.off)[:1]


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

    best, least = find_least_error_time(measure, 15, 10)
    return PossibleReading(
        least, StrategySpec("chase", {"how": "spring", "time": math.exp(best), **ahead})
    )
