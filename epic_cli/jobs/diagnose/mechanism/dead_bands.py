"""Read chases that drop packets near the last one that was taken, from where their steps lead."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.jobs.diagnose.mechanism.chases import read_chases
from epic_cli.jobs.diagnose.mechanism.readings import FEW, find_clear_limit
from epic_cli.metrics.arrays import compute_lengths

if TYPE_CHECKING:
    from epic_cli.jobs.diagnose.frames import Frames
    from epic_cli.jobs.diagnose.mechanism.state import SearchState
    from epic_cli.metrics.arrays import Floats

#: A step, and the distance of a packet from the one before, that tell something (usual steps).
STEPS, AWAY = 1e-3, 0.01

#: Readings that are drawn.
READ = 6


def look_at_dead_bands(search: SearchState) -> None:
    """Look at chases of goals that packets of small movements do not change."""
    frames = search.frames
    if not (band := _find_dead_band(frames)):
        return
    taken, known = [], None
    for place, position in enumerate(frames.positions.tolist()):
        if known is None or math.dist(position, known) >= band:
            taken.append(place)
            known = position
    changes = frames.select_packets(np.isin(np.arange(len(frames.stamps)), taken))
    readings = [reading.strategy.settings for reading in read_chases(changes)[:READ]]
    search.look_at([StrategySpec("chase", {**one, "dead_band": band}) for one in readings])


def _find_dead_band(frames: Frames) -> float:
    """Return the distance (length) within which a packet does not change the goal; 0: none."""
    far: dict[bool, list[float]] = {True: [], False: []}
    known = frames.positions[0].tolist()
    goals = _find_goals(frames)
    for place, position in enumerate(frames.positions.tolist()):
        way = math.dist(position, known)
        if way < AWAY * frames.unit or math.isnan(goals[place, 0]):
            continue
        takes = math.dist(goals[place], position) < math.dist(goals[place], known)
        far[takes].append(way)
        known = position if takes else known
    if min(len(far[True]), len(far[False])) < FEW:
        return 0.0
    # a packet that is as far as the band is taken
    return find_clear_limit(np.array(far[False]) * (1 + 1e-9), np.array(far[True]))


def _find_goals(frames: Frames) -> Floats:
    """Return where the steps behind each packet lead (n, 3), if they go an even share; else NaN."""
    step, elapsed = np.diff(frames.drawn, axis=0), np.diff(frames.times)
    goals = np.full(frames.positions.shape, np.nan)
    length = compute_lengths(step)
    moves = (length > STEPS * frames.unit) & frames.settled[1:]
    twice = np.flatnonzero(moves[1:] & moves[:-1] & (np.diff(frames.newest[1:]) == 0)) + 1
    ratio = (step[twice] * step[twice - 1]).sum(axis=1) / length[twice - 1] ** 2
    slows = (ratio > 0) & (ratio < 1)
    if slows.sum() < max(FEW, len(ratio) / 2):
        return goals
    rate = float(np.median(-np.log(ratio[slows]) / elapsed[twice][slows]))
    share = 1 - np.exp(-rate * elapsed)
    led = frames.drawn[:-1] + step / np.maximum(share, 1e-9)[:, None]
    at = np.flatnonzero(moves)  # the last frame of each packet counts
    goals[frames.newest[at + 1]] = led[at]
    return goals
