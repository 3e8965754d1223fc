"""Read glides: chases that go to each new state in a fixed time."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.jobs.diagnose.mechanism.readings import AGED, FEW, PossibleReading
from epic_cli.jobs.diagnose.mechanism.ways import EASES, LEAST, MOST, WayErrors, list_way_times
from epic_cli.metrics.arrays import choose_places, compute_lengths, find_minimum

if TYPE_CHECKING:
    from numpy.typing import NDArray

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

#: The largest time that is sought (send intervals, or ``MOST``), and how many are tried first.
INTERVALS, TRIED = 1.5, 25

#: Of how many frames one is looked at first.
ROUGHLY = 3

#: How many curves, those that most games have, are read for goals ahead of the newest state, too.
USUAL = 5

#: A curve that leaves this many times the least error is not fitted; and how many are, at most.
BEATEN, FITTED = 3.0, 12

#: A way with the right curve, over about the right time, leaves a smaller error (usual steps).
HOPELESS = 0.25

#: The settings that say that the last step of a way is left out.
SHORT_END: dict[str, Any] = {"end": "short"}


def read_glides(frames: Frames, ahead: dict[str, Any], goal: Floats) -> list[PossibleReading]:
    """Return chases that glide in a fixed time from the position at each arrival to the new state.

    Tweens count the time from the frame before the arrival, or after it. Some leave out the last
    step.
    """
    drifts = "drift" in ahead
    eases = list(EASES)[: 1 if drifts and "ahead" in ahead else USUAL if ahead else None]
    reader = _GlideReader(frames, ahead, goal, eases)
    found = reader.read({})
    if (drifts and "ahead" not in ahead) or _stands_short(frames, goal):
        found += reader.read(SHORT_END)
    if not drifts:
        # from the frame before it is an even pace to the goal, too
        time, error = reader.fit("linear", "last", {})
        even = {"how": "interval", **ahead}
        found.append(PossibleReading(error, StrategySpec("chase", even)))
        paced = StrategySpec("chase", {**even, "interval": time})
        found.append(PossibleReading(error * 1.01, paced))
    return found


class _GlideReader:
    """A reader of ways to one ``goal`` (m, 3) on some ``eases``."""

    def __init__(
        self, frames: Frames, ahead: dict[str, Any], goal: Floats, eases: list[str]
    ) -> None:
        self.frames, self.ahead, self.goal, self.eases = frames, ahead, goal, eases
        later = np.flatnonzero(frames.settled)
        self.at = later[choose_places(len(later), AGED)]
        names = ("drawn", "frame", "last", "counted")
        self.starts = dict(zip(names, list_way_times(frames), strict=False))
        if ahead and "drift" not in ahead:
            self.starts.pop("counted", None)
        if not ahead and _moves_between_packets(frames):  # a page's transition goes on until then
            begins = "arrival" if _comes_at_frames(frames) else "transition"
            self.starts["on"] = {"start": begins}, frames.times[frames.taking], 1.0
        longest = max(MOST, INTERVALS * frames.interval)
        self.tried = np.log(np.geomspace(LEAST, longest, TRIED))
        self._errors: dict[tuple[str, bool], WayErrors] = {}

    def read(self, end: dict[str, Any]) -> list[PossibleReading]:
        """Return the nearest ways that end so."""
        starts = [start for start in self.starts if not (end and start == "counted")]
        least = {}
        for start in starts:
            rough = self._make_errors(start, end, self.at[::ROUGHLY])
            for ease in self.eases:
                least[ease, start] = float(rough.measure(EASES[ease], self.tried).min())
        errors = sorted(least.values())
        most = min(BEATEN * errors[0], errors[: FITTED * len(starts)][-1])
        hopeless = errors[0] > HOPELESS * self.frames.unit
        found = []
        for ease in self.eases:
            usual = min((one for one in starts if one != "on"), key=lambda one: least[ease, one])
            usual_error = math.inf
            for start in (usual, *({"on"} & set(starts))):
                if (least[ease, start] <= most and not hopeless) or ease == "linear":
                    time, error = self.fit(ease, start, end)
                    few = time < SEEN * self.frames.frame  # in which others draw the same
                    if few and (start == "on" or end):
                        continue
                    # of about the same error, the usual start
                    nearer = min(NEARLY * self.frames.unit, CLEARLY * usual_error)
                    if start == "on" and error > nearer:
                        continue
                    usual_error = error
                    found.append(PossibleReading(error, self._describe(ease, start, end, time)))
        return found

    def fit(self, ease: str, start: str, end: dict[str, Any]) -> tuple[float, float]:
        """Return the time (s) with the least error, and that error."""
        key = start, bool(end)
        if key not in self._errors:
            self._errors[key] = self._make_errors(start, end, self.at)
        errors = self._errors[key]
        place = int(errors.measure(EASES[ease], self.tried).argmin())
        low, high = self.tried[max(place - 1, 0)], self.tried[min(place + 1, TRIED - 1)]
        log, error = find_minimum(
            lambda log: float(errors.measure(EASES[ease], log)), low, high, 11
        )
        return math.exp(log), error

    def _describe(self, ease: str, start: str, end: dict[str, Any], time: float) -> StrategySpec:
        words, _, unit = self.starts[start]
        how = {"how": "linear"} if ease == "linear" else {"how": "eased", "ease": ease}
        return StrategySpec("chase", {**how, "time": time / unit, **words, **end, **self.ahead})

    def _make_errors(self, start: str, end: dict[str, Any], at: NDArray[np.intp]) -> WayErrors:
        frames = self.frames
        # a count of frames begins with the arrival, as does the way of the velocity
        times = self.starts[start][1], self.starts["drawn" if start == "counted" else start][1]
        first = frames.taking if start == "on" else np.maximum(frames.taking - 1, 0)
        return WayErrors(frames, at, self.goal, times, frames.drawn[first], end, self.ahead)


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
