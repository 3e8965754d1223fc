"""Read springs with a stiffness and a damping of their own from the steps of frames."""

from __future__ import annotations

import cmath
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.jobs.diagnose.mechanism.readings import FEW, PossibleReading, fit_factors

if TYPE_CHECKING:
    from epic_cli.jobs.diagnose.frames import Frames
    from epic_cli.metrics.arrays import Floats

#: A spring that is exact is looked at behind one by steps that is as near.
LESS_USUAL = 1.01

#: The largest damping, as a share of the speed that one step may take away.
MOST_DAMPED = 1.5

#: Where a step takes away all of the speed but this share, it goes a share of the way, and no more.
FORGETS = 0.05


def read_forces(frames: Frames, ahead: dict[str, Any], goal: Floats) -> list[PossibleReading]:
    """Return chases by a spring: each step differs from the one before by pull and damping.

    With v the speed, r the way that is left and dt the frame's duration, v changes by
    (stiffness r - damping v) dt, and the step is the new v times dt, or the old one; or all of it
    is counted by frames.
    """
    later = frames.settled[2:]
    if later.sum() < FEW:
        return []
    step, elapsed = np.diff(frames.drawn, axis=0), np.diff(frames.times)[:, None]
    left = goal[1:] - frames.drawn[:-1]
    before, after, ends = elapsed[:-1], elapsed[1:], step[:-1]
    ratio = after / before
    ways: list[tuple[dict[str, Any], Floats, Floats, Floats]] = [
        ({}, step[1:] - ends * ratio, left[1:] * after**2, ends * ratio * after),
        (
            {"integration": "explicit"},
            step[1:] - ends * ratio, left[:-1] * after * before, ends * after,
        ),
        ({"step_time": 1.0}, step[1:] - ends, left[1:], ends),
    ]  # fmt: skip
    found = []
    for words, change, pull, speed in ways:
        parts = np.stack((pull, -speed), axis=1)[later]
        (stiffness, damping), off = fit_factors(change[later], parts)
        settings = {"how": "force", "stiffness": stiffness, "damping": damping, **words, **ahead}
        lost = _measure_lost_share(settings, frames.frame)
        if stiffness <= 0 or not 0 < lost < MOST_DAMPED or goes_a_share(settings, frames.frame):
            continue
        found.append(PossibleReading(off, StrategySpec("chase", settings)))
        if not words:
            exact = {**settings, "integration": "exact"}
            found.append(PossibleReading(LESS_USUAL * off, StrategySpec("chase", exact)))
    still = later & (frames.newest[2:] == frames.newest[1:-1])
    if still.sum() >= FEW:
        parts = np.stack((left[1:], ends), axis=1)[still]
        (own_pull, kept), off = fit_factors(step[1:][still], parts)
        own = _solve_recurrence(own_pull, kept, frames.frame)
        if own:
            settings = {"how": "force", **own, "integration": "exact", **ahead}
            found.append(PossibleReading(LESS_USUAL * off, StrategySpec("chase", settings)))
    return found


def goes_a_share(settings: Mapping[str, Any], frame: float) -> bool:
    """Return True for a spring that forgets its speed in each ``frame`` (s): it goes a share."""
    is_force = settings.get("how") == "force"
    return is_force and abs(_measure_lost_share(settings, frame) - 1) < FORGETS


def _measure_lost_share(settings: Mapping[str, Any], frame: float) -> float:
    """Return the share of its speed that a spring loses to its damping in one step."""
    return float(settings["damping"] * (settings.get("step_time") or frame))


def _solve_recurrence(pull: float, kept: float, frame: float) -> dict[str, float]:
    """Return the spring whose steps are ``pull`` of the way left and ``kept`` of the step before.

    Its distance to a goal that stands has then the characteristic roots of a damped oscillation, of
    which each ``frame`` (s) shows one value. Nothing is returned where it is none.
    """
    if not 0 < kept < 1 or pull <= 0:
        return {}
    half = -math.log(kept) / (2 * frame)
    cosine = (1 + kept - pull) / (2 * math.sqrt(kept))
    if cosine <= -1:
        return {}
    # of two real roots, the angle is imaginary
    stiffness = half**2 + (cmath.acos(cosine) ** 2).real / frame**2
    return {"stiffness": stiffness, "damping": 2 * half} if stiffness > 0 else {}
