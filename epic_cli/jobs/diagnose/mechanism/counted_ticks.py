"""Count the ticks in frames, by the share of the rest that each goes, or by what stands still."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.jobs.diagnose.mechanism.readings import FEW
from epic_cli.jobs.diagnose.mechanism.ticks import TICKS
from epic_cli.metrics.arrays import choose_places, compute_lengths

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from epic_cli.jobs.diagnose.frames import Frames
    from epic_cli.metrics.arrays import Floats

#: A way that is left (usual steps), and how far from it a step may end, as a share of the step.
AWAY, BESIDE = 0.05, 0.02

#: The least sine of the angle between a step and the velocity that tells how far that leads, and
#: the difference of two such times that are the same, as a share.
TURNS, ALIKE = 0.01, 0.05

#: Frames whose ticks are counted first, and phases that are tried for each length of ticks.
COUNTED, PHASES = 200, 50

#: The shortest ticks (frames), the longest, and the largest error of a count that is right.
FINEST, COARSEST, WRONG = 0.2, 1.5, 0.1

#: Ticks of physics that frames may not show.
USUAL_TICKS: list[dict[str, Any]] = [{"every": 1 / rate, "tick_time": "own"} for rate in (50, 60)]

#: The least step that is none (usual steps), and ticks by which frames stand (frames).
STANDS, LONGER, LONGEST = 1e-3, 0.9, 4

#: Least share of the frames whose counts are right, and number of those with fewer or more ticks.
RIGHT, OTHERS = 0.9, 3

#: Least share of the frames that has to tell the ticks.
LEAST = 0.05


def iterate_counted_ticks(frames: Frames) -> Iterator[StrategySpec]:
    """Yield chases that go a share of the rest, or a distance, in each tick, if whole ticks fit."""
    newest = frames.newest[1:]
    step = np.diff(frames.drawn, axis=0)
    goals: list[tuple[dict[str, Any], Floats]] = [({}, frames.positions[newest])]
    if time := _find_fixed_lead(frames, step, goals[0][1] - frames.drawn[:-1]):
        led = goals[0][1] + time * frames.velocities[newest]
        goals.append(({"ahead": "fixed", "ahead_time": time}, led))
    for ahead, goal in goals:
        left = goal - frames.drawn[:-1]
        way, pace = compute_lengths(left), compute_lengths(step)
        share = (step * left).sum(axis=1) / np.maximum(way**2, 1e-300)
        on = compute_lengths(step - share[:, None] * left) <= BESIDE * pace
        told = frames.settled[1:] & on & (way > AWAY * frames.unit) & (share >= 0)
        for how, some, grown in (
            ("share", told & (share < 0.999), -np.log1p(-np.minimum(share, 0.9999))),
            ("speed", told & (way > pace + AWAY * frames.unit), pace),
        ):
            ticks = _fit_ticks(frames, np.flatnonzero(some), grown)
            if ticks is not None:
                each, every, phase = ticks
                value = 1 - math.exp(-each) if how == "share" else each / every
                settings = {"how": how, how: value, "every": every, "phase": phase % every}
                yield StrategySpec("chase", {**settings, **ahead})


def _find_fixed_lead(frames: Frames, step: Floats, left: Floats) -> float:
    """Return the time (s) for which velocities lead to where the steps go; 0: for none.

    ``step`` and ``left`` (m - 1, 3) are the steps and the ways to the newest state. Each step that
    is not along the velocity tells the time.
    """
    speed = frames.velocities[frames.newest[1:]]
    across, beside = np.cross(step, speed), np.cross(step, left)
    weight = np.square(across).sum(axis=1)
    turns = weight > (TURNS * compute_lengths(step) * compute_lengths(speed)) ** 2
    told = frames.settled[1:] & turns & (compute_lengths(step) > AWAY * frames.unit)
    if told.sum() < FEW:
        return 0.0
    times = -(across * beside).sum(axis=1)[told] / weight[told]
    time = float(np.median(times))
    near = np.abs(times - time) < ALIKE * abs(time)
    return time if ALIKE * frames.frame < time < frames.interval and near.mean() > 1 / 2 else 0.0


def _fit_ticks(
    frames: Frames, told: NDArray[np.int_], grown: Floats
) -> tuple[float, float, float] | None:
    """Return how much each tick grows, and its length and phase (s), if whole ticks fit.

    ``grown`` (m - 1) is in proportion to the ticks in each frame; the ``told`` frames count.
    """
    if len(told) < FEW or len(told) < LEAST * len(grown):
        return None
    begins, ends, grown = frames.times[told], frames.times[told + 1], grown[told]
    some = choose_places(len(told), COUNTED)
    found = []
    for every in TICKS:
        if FINEST * frames.frame < every < COARSEST * frames.frame:
            phases = np.linspace(0, every, PHASES, endpoint=False)
            apart, _, phase = _find_phase(begins[some], ends[some], grown[some], every, phases)
            found.append((apart, every, phase))
    if not found:
        return None
    _, every, phase = min(found)
    near = np.append(phase + np.linspace(-every, every, 2 * PHASES + 1) / PHASES, 0.0)
    _, each, phase = _find_phase(begins, ends, grown, every, near)
    counts = _count_ticks(begins, ends, every, np.array([phase]))[0]
    right = np.abs(grown - counts * each) < WRONG * each
    fits = right.mean() > RIGHT and (counts[right] != np.median(counts)).sum() >= OTHERS
    return (each, every, phase) if fits else None


def list_standing_ticks(frames: Frames) -> list[dict[str, Any]]:
    """List the settings of ticks by either time, if frames without one stand, and no others do.

    No tick is longer than a few frames.
    """
    moved = compute_lengths(np.diff(frames.drawn, axis=0)) > STANDS * frames.unit
    before = np.maximum.accumulate(np.where(moved, np.arange(len(moved)), -LONGEST))
    after = (
        len(moved)
        - 1
        - np.maximum.accumulate(np.where(moved[::-1], np.arange(len(moved)), -LONGEST))
    )
    told = np.flatnonzero(after[::-1] - before <= LONGEST)
    moved = moved[told]
    stands = int((~moved).sum())
    if stands < FEW:
        return []
    begins, ends = frames.times[told], frames.times[told + 1]
    found = []
    for every in TICKS:
        if LONGER * frames.frame < every < LONGEST * frames.frame:
            phases = np.linspace(0, every, PHASES, endpoint=False)
            for _ in range(2):
                wrong = ((_count_ticks(begins, ends, every, phases) > 0) != moved).sum(axis=1)
                good = np.flatnonzero(wrong == wrong.min())
                phase = float(phases[good[len(good) // 2]])
                found.append((int(wrong.min()), every, phase % every))
                phases = phase + np.linspace(-every, every, PHASES + 1) / PHASES
    wrong, every, phase = min(found, default=(stands, 0.0, 0.0))
    # what moves once a packet does so without ticks
    packets = every > COARSEST * frames.frame and abs(every / frames.interval - 1) < WRONG
    if wrong >= WRONG * stands or packets:
        return []
    return [{"every": every, "phase": phase, **own} for own in ({}, {"tick_time": "own"})]


def select_tick_frames(
    frames: Frames, every: float, phase: float, tick_time: str = "frame"
) -> Frames:
    """Return the frames in which a tick fell, at their times or at those of the ticks."""
    number = _count_ticks(np.full(len(frames.times), phase), frames.times, every, np.array([phase]))
    fell = np.append(True, np.diff(number[0]) > 0)
    times = frames.times if tick_time == "frame" else phase + number[0] * every
    taken = frames.taken
    if taken is not None:
        taken = select_tick_frames(taken, every, phase, tick_time)
    return frames._replace(
        times=times[fell], drawn=frames.drawn[fell], newest=frames.newest[fell], taken=taken
    )


def _find_phase(
    begins: Floats, ends: Floats, grown: Floats, every: float, phases: Floats
) -> tuple[float, float, float]:
    """Return how far counts of ticks are off, how much each tick grows, and the best phase (s).

    ``grown`` (n) is in proportion to the ticks between ``begins`` and ``ends`` (n, s).
    """
    counts = _count_ticks(begins, ends, every, phases)
    each = (counts @ grown) / np.maximum(np.square(counts).sum(axis=1), 1)
    off = np.abs(grown / np.maximum(each, 1e-300)[:, None] - counts)
    apart = np.minimum(off, 0.5).mean(axis=1)
    good = np.flatnonzero(apart <= apart.min() + 1e-3)
    # of the same, a game's own time is likely to begin with a tick
    zero = good[phases[good] == 0]
    best = int(zero[0] if len(zero) else good[len(good) // 2])
    return float(apart[best]), float(each[best]), float(phases[best])


def _count_ticks(begins: Floats, ends: Floats, every: float, phases: Floats) -> Floats:
    """Return how many ticks each time holds (p, n)."""
    late = phases[:, None] - 1e-9 * every
    return np.asarray(np.floor((ends - late) / every) - np.floor((begins - late) / every))
