"""Read glides: chases that go to each new state in a fixed time."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.jobs.diagnose.mechanism.readings import AGED, PossibleReading, compute_robust_root
from epic_cli.metrics.arrays import choose_places, compute_lengths, find_minimum

if TYPE_CHECKING:
    from epic_cli.jobs.diagnose.frames import Frames
    from epic_cli.metrics.arrays import Floats

#: A step that is none, and a way that is left, in usual steps; the share of the frames that stand
#: so where a game leaves out the last step of each way.
STANDS, AWAY, SHORT = 1e-3, 0.05, 0.03

#: Times that are sought (s), and how many of them are tried first.
TIMES, TRIED = (0.02, 1.0), 25

#: Of how many frames one is looked at first.
ROUGHLY = 3

#: A curve that leaves this many times the least error is not fitted.
BEATEN = 3.0

EASES: dict[str, Callable[[Floats], Floats]] = {
    "linear": lambda u: u,
    "smoothstep": lambda u: u * u * (3 - 2 * u),
    "sine": lambda u: (1 - np.cos(np.pi * u)) / 2,
    "out-quad": lambda u: 1 - (1 - u) ** 2,
    "out-cubic": lambda u: 1 - (1 - u) ** 3,
}


def read_glides(frames: Frames, ahead: dict[str, Any], goal: Floats) -> list[PossibleReading]:
    """Return chases that glide in a fixed time from the position at each arrival to the new state.

    Tweens count the time from the frame before the arrival, or after it. Some leave out the last
    step.
    """
    before, later = np.maximum(frames.taking - 1, 0), np.flatnonzero(frames.settled)
    at = later[choose_places(len(later), AGED)]
    ends: list[dict[str, Any]] = [{}, {"end": "short"}] if _stands_short(frames, goal) else [{}]
    eases = ["linear"] if "drift" in ahead else list(EASES)
    starts: dict[str, Floats] = {
        "drawn": frames.arrivals[frames.newest],
        "frame": frames.times[frames.taking],
        "last": frames.times[before],
    }
    tried = np.log(np.geomspace(*TIMES, TRIED))

    def make(ease: str, end: int, start: str, at: Any) -> Callable[[Floats], Floats]:
        return _make_measure(frames, at, goal, starts[start], EASES[ease], ends[end], ahead)

    least = {
        way: float(make(*way, at[::ROUGHLY])(tried).min())
        for way in itertools.product(eases, range(len(ends)), starts)
    }
    most, found = BEATEN * min(least.values()), []
    for ease, end in itertools.product(eases, range(len(ends))):
        start = min(starts, key=lambda start: least[ease, end, start])
        how = {"how": "linear"} if ease == "linear" else {"how": "eased", "ease": ease}
        words = {**({"start": start} if start != "drawn" else {}), **ends[end], **ahead}
        if least[ease, end, start] <= most or ease == "linear":
            log, error = find_least_error_time(make(ease, end, start, at), TRIED, 11)
            settings = {**how, "time": math.exp(log), **words}
            found.append(PossibleReading(error, StrategySpec("chase", settings)))
    if "drift" not in ahead:
        # from the frame before it is an even pace to the goal, too
        log, error = find_least_error_time(make("linear", 0, "last", at), TRIED, 11)
        even = {"how": "interval", **ahead}
        found.append(PossibleReading(error, StrategySpec("chase", even)))
        paced = StrategySpec("chase", {**even, "interval": math.exp(log)})
        found.append(PossibleReading(error * 1.01, paced))
    return found


def _make_measure(
    frames: Frames, at: Any, goal: Floats, begun: Floats, shape: Callable[[Floats], Floats],
    end: dict[str, Any], ahead: dict[str, Any],
) -> Callable[[Floats], Floats]:  # fmt: skip
    """Return the function of the errors (...) of ways over times whose logarithms (...) are given.

    A way to a ``goal`` (m, 3) is ``begun`` (m, s); frames ``at`` these places count.
    """
    start, drawn = frames.drawn[np.maximum(frames.taking - 1, 0)][at], frames.drawn[at]
    last, speed = frames.drawn[np.maximum(at - 1, 0)], frames.velocities[frames.newest][at]
    since = (frames.times - begun)[at]
    base, slope = start - drawn, goal[at] - start  # the error is base + slope * share
    if ahead.get("age") == "arrival":  # which counts from there, too
        slope = slope + speed * (frames.arrivals[frames.newest] - begun)[at][:, None]
    if "drift" in ahead:
        moved = speed * since[:, None]
        base, slope = base + moved, slope - moved
    squares = [(base * base).sum(1), 2 * (base * slope).sum(1), (slope * slope).sum(1)]
    left = np.square(last - drawn).sum(axis=1)

    def measure(logs: Floats) -> Floats:
        lasts = np.exp(logs)[..., None]
        u = shape(np.clip(since / lasts, 0, 1))
        off = np.maximum((squares[2] * u + squares[1]) * u + squares[0], 0)
        return compute_robust_root(np.where(since > lasts, left, off) if end else off)

    return measure


def _stands_short(frames: Frames, goal: Floats) -> bool:
    """Return True if a good part of the frames stand away from the goal (m, 3)."""
    step = compute_lengths(np.diff(frames.drawn, axis=0))
    left = compute_lengths(goal - frames.drawn)[1:]
    stands = (step < STANDS * frames.unit) & (left > AWAY * frames.unit)
    return bool(stands[frames.settled[1:]].mean() > SHORT)


def find_least_error_time(
    off: Callable[[Floats], Floats], count: int, steps: int
) -> tuple[float, float]:
    """Return the logarithm of the time (20 ms to 1 s) with the least error, and that error.

    ``off`` returns the errors (...) for logarithms (...).
    """
    tried = np.log(np.geomspace(*TIMES, count))
    place = int(off(tried).argmin())

    def measure(log: float) -> float:
        return float(off(np.array(log)))

    return find_minimum(measure, tried[max(place - 1, 0)], tried[min(place + 1, count - 1)], steps)
