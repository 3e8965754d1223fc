"""Read glides: chases that go to each new state in a fixed time."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.engine.strategies.parts import compute_eases
from epic_cli.engine.strategies.parts.common_settings import EASE
from epic_cli.jobs.diagnose.mechanism.readings import (
    AGED,
    FEW,
    PossibleReading,
    compute_robust_root,
)
from epic_cli.metrics.arrays import choose_places, compute_lengths, find_minimum

if TYPE_CHECKING:
    from epic_cli.jobs.diagnose.frames import Frames
    from epic_cli.metrics.arrays import Floats

#: A step that is none, and a way that is left, in usual steps; the share of the frames that stand
#: so where a game leaves out the last step of each way.
STANDS, AWAY, SHORT = 1e-3, 0.05, 0.03

#: A step that is the velocity's (usual steps), and the least part of the frames with such steps.
ALONG, PART = 2e-3, 0.02

#: The fewest frames of a way that tell where it began, or how its share grows; and the largest
#: error (usual steps) of one that begins where the last one led.
SEEN, NEARLY = 2.5, 0.02

#: The least frames from packet to packet that tell a way of which the first is not known.
ENOUGH = 4

#: A start that leaves less than this share of another's error is the one.
CLEARLY = 0.6

#: Times that differ by less are the same (s).
SAME = 1e-9

#: The least time that is sought (s), the largest (s, or of send intervals, whichever is longer),
#: and how many of them are tried first.
LEAST, MOST, INTERVALS, TRIED = 0.02, 1.0, 1.5, 25

#: Of how many frames one is looked at first.
ROUGHLY = 3

#: The curves that most games have, and how many of all, the first of them, are read for goals ahead
#: of the newest state, too.
FIRST, USUAL = ("smoothstep", "in-out-sine", "out-quad", "out-cubic"), 5

#: Frames that differ by more of their length are not a count of time.
UNEVEN = 0.02

#: A curve that leaves this many times the least error is not fitted.
BEATEN = 3.0


#: Fractions of a way's duration between which the curves of eases are straight.
GRID = np.linspace(0, 1, 2001)


def _read_curve(eased: Floats, u: Floats) -> Floats:
    """Return a curve at some fractions of its duration."""
    return np.asarray(np.interp(u, GRID, eased))


def _iterate_eases() -> Iterator[tuple[str, Callable[[Floats], Floats]]]:
    """Yield the names of all curves, and the curves; those that most games have come first."""
    yield "linear", lambda u: u
    for name in sorted(EASE.choices, key=lambda name: name not in FIRST):
        eased = np.empty(len(GRID))
        compute_eases(EASE.convert(name), GRID, eased)
        yield name, partial(_read_curve, eased)


EASES: dict[str, Callable[[Floats], Floats]] = dict(_iterate_eases())


def read_glides(frames: Frames, ahead: dict[str, Any], goal: Floats) -> list[PossibleReading]:
    """Return chases that glide in a fixed time from the position at each arrival to the new state.

    Tweens count the time from the frame before the arrival, or after it. Some leave out the last
    step.
    """
    later = np.flatnonzero(frames.settled)
    at = later[choose_places(len(later), AGED)]
    ends: list[dict[str, Any]] = [{}, {"end": "short"}] if _stands_short(frames, goal) else [{}]
    goes_on = "drift" in ahead and "ahead" not in ahead
    if goes_on:
        ends = [{}, {"end": "short"}]
    eases = list(EASES)[: USUAL if ahead else None]
    if "drift" in ahead and not goes_on:
        eases = ["linear"]
    names = ("drawn", "frame", "last", "counted")
    ways = dict(zip(names, list_way_times(frames), strict=False))
    if ahead and "drift" not in ahead:
        ways.pop("counted", None)
    if not ahead and _moves_between_packets(frames):  # a page's transition goes on until then
        begins = "arrival" if _comes_at_frames(frames) else "transition"
        ways["on"] = {"start": begins}, frames.times[frames.taking], 1.0
    starts = {name: begun for name, (_, begun, _) in ways.items()}
    words_of = {name: words for name, (words, _, _) in ways.items()}
    longest = max(MOST, INTERVALS * frames.interval)
    tried = np.log(np.geomspace(LEAST, longest, TRIED))

    def make(ease: str, end: int, start: str, at: Any) -> Callable[[Floats], Floats]:
        # a count of frames begins with the arrival, as does the way of the velocity
        origin = starts["drawn" if start == "counted" else start]
        ways = starts[start], origin
        first = frames.taking if start == "on" else np.maximum(frames.taking - 1, 0)
        return _make_measure(frames, at, goal, ways, frames.drawn[first], EASES[ease], ends[end],
                             ahead)  # fmt: skip

    least = {
        way: float(make(*way, at[::ROUGHLY])(tried).min())
        for way in itertools.product(eases, range(len(ends)), starts)
        if not (way[1] and way[2] == "counted")
    }
    # what stands short of its goal is a step off at most, and so looks better than it is
    most = [
        BEATEN * min(off for way, off in least.items() if way[1] == end) for end in range(len(ends))
    ]
    found = []
    for ease, end in itertools.product(eases, range(len(ends))):
        usual = starts.keys() - {"on"}
        start = min(usual, key=lambda start: least.get((ease, end, start), math.inf))
        how = {"how": "linear"} if ease == "linear" else {"how": "eased", "ease": ease}
        usual_error = math.inf
        for begun in (start, *({"on"} & starts.keys())):
            if least[ease, end, begun] <= most[end] or ease == "linear":
                log, error = find_least_error_time(make(ease, end, begun, at), TRIED, 11, longest)
                few = math.exp(log) < SEEN * frames.frame  # in which others draw the same
                if few and (begun == "on" or ends[end]):
                    continue
                # of about the same error, the usual start
                if begun == "on" and error > min(NEARLY * frames.unit, CLEARLY * usual_error):
                    continue
                usual_error = error
                words = {**words_of[begun], **ends[end], **ahead}
                time = math.exp(log) / (frames.frame if begun == "counted" else 1)
                settings = {**how, "time": time, **words}
                found.append(PossibleReading(error, StrategySpec("chase", settings)))
    if "drift" not in ahead:
        # from the frame before it is an even pace to the goal, too
        log, error = find_least_error_time(make("linear", 0, "last", at), TRIED, 11, longest)
        even = {"how": "interval", **ahead}
        found.append(PossibleReading(error, StrategySpec("chase", even)))
        paced = StrategySpec("chase", {**even, "interval": math.exp(log)})
        found.append(PossibleReading(error * 1.01, paced))
    return found


def list_way_times(frames: Frames) -> list[tuple[dict[str, Any], Floats, float]]:
    """List when the way of each frame (m) began: settings, times (s), seconds of a unit of time."""
    taking = frames.taking
    starts: list[tuple[dict[str, Any], Floats, float]] = [
        ({}, frames.arrivals[frames.newest], 1.0),
        ({"start": "frame"}, frames.times[taking], 1.0),
        ({"start": "last"}, frames.times[np.maximum(taking - 1, 0)], 1.0),
    ]
    if np.ptp(np.diff(frames.times)) > UNEVEN * frames.frame:  # else that is the time
        counts = np.arange(len(frames.times)) - taking + 1
        counted = frames.times - counts * frames.frame
        starts.append(({"step_time": 1.0}, counted, frames.frame))
    return starts


def _moves_between_packets(frames: Frames) -> bool:
    """Return True if frames that take no packet move, too, and are enough to tell how."""
    if frames.interval < ENOUGH * frames.frame:
        return False
    step = compute_lengths(np.diff(frames.drawn, axis=0))
    others = frames.settled[1:] & (np.diff(frames.newest) == 0)
    return bool((step[others] > STANDS * frames.unit).sum() >= FEW)


def _comes_at_frames(frames: Frames) -> bool:
    """Return True if each packet's arrival is the time of the frame that takes it."""
    at = np.abs(frames.times[frames.taking] - frames.arrivals[frames.newest]) < SAME
    return bool(at[frames.settled].all())


def _make_measure(
    frames: Frames, at: Any, goal: Floats, ways: tuple[Floats, Floats], start: Floats,
    shape: Callable[[Floats], Floats], end: dict[str, Any], ahead: dict[str, Any],
) -> Callable[[Floats], Floats]:  # fmt: skip
    """Return the function of the errors (...) of ways over times whose logarithms (...) are given.

    A way from a ``start`` to a ``goal`` (m, 3) begins at the first of two times (m, s), and the
    newest velocity counts from the second; frames ``at`` these places count.
    """
    begun, origin = ways
    start, drawn = start[at], frames.drawn[at]
    last, speed = frames.drawn[np.maximum(at - 1, 0)], frames.velocities[frames.newest][at]
    since = (frames.times - begun)[at]
    base, slope = start - drawn, goal[at] - start  # the error is base + slope * share
    if ahead.get("age") == "arrival":  # which counts from there, too
        slope = slope + speed * (frames.arrivals[frames.newest] - origin)[at][:, None]
    if "ahead" in ahead and "drift" in ahead:
        moved = speed * (frames.times - origin)[at][:, None]
        base, slope = base + moved, slope - moved
    squares = [(base * base).sum(1), 2 * (base * slope).sum(1), (slope * slope).sum(1)]
    elapsed = np.diff(frames.times, prepend=frames.times[0])[at]
    goes_on = "drift" in ahead and "ahead" not in ahead
    along = speed * elapsed[:, None] if goes_on else 0.0
    left = np.square(last + along - drawn).sum(axis=1)
    rest = goal[at] - drawn
    beyond = [(rest * rest).sum(1), 2 * (rest * speed).sum(1), (speed * speed).sum(1)]

    def measure(logs: Floats) -> Floats:
        lasts = np.exp(logs)[..., None]
        u = shape(np.clip(since / lasts, 0, 1))
        off = np.maximum((squares[2] * u + squares[1]) * u + squares[0], 0)
        if goes_on and not end:
            over = np.maximum(since - lasts, 0)
            left_over = np.maximum((beyond[2] * over + beyond[1]) * over + beyond[0], 0)
            off = np.where(over > 0, left_over, off)
        return compute_robust_root(np.where(since > lasts, left, off) if end else off)

    return measure


def goes_along(frames: Frames) -> bool:
    """Return True if a good part of the frames move as the newest velocity does, and others not."""
    step, elapsed = np.diff(frames.drawn, axis=0), np.diff(frames.times)[:, None]
    travel = frames.velocities[frames.newest[1:]] * elapsed
    moves = frames.settled[1:] & (compute_lengths(travel) > 0)
    along = compute_lengths(step - travel)[moves] < ALONG * frames.unit
    return bool(len(along) and PART < along.mean() < 1 - PART)


def _stands_short(frames: Frames, goal: Floats) -> bool:
    """Return True if a good part of the frames stand away from the goal (m, 3)."""
    step = compute_lengths(np.diff(frames.drawn, axis=0))
    left = compute_lengths(goal - frames.drawn)[1:]
    stands = (step < STANDS * frames.unit) & (left > AWAY * frames.unit)
    return bool(stands[frames.settled[1:]].mean() > SHORT)


def find_least_error_time(
    off: Callable[[Floats], Floats], count: int, steps: int, longest: float = MOST
) -> tuple[float, float]:
    """Return the logarithm of the time (20 ms to ``longest``) with the least error, and that error.

    ``off`` returns the errors (...) for logarithms (...).
    """
    tried = np.log(np.geomspace(LEAST, longest, count))
    place = int(off(tried).argmin())

    def measure(log: float) -> float:
        return float(off(np.array(log)))

    return find_minimum(measure, tried[max(place - 1, 0)], tried[min(place + 1, count - 1)], steps)
