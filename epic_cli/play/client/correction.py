"""Corrections of one's own player: of his remembered past, and smoothed away on the screen."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

from epic_cli.play.world.arena import Point

SmoothingCurve = Literal["linear", "exponential"]
SMOOTHING_CURVES: tuple[SmoothingCurve, ...] = ("linear", "exponential")

#: What an exponential curve leaves of a correction after its duration.
RATIO = 0.5


class Smoothing(NamedTuple):
    """How corrections are smoothed: over how many seconds, along which curve, which of them.

    Only those larger than ``smooth_above`` and up to ``snap_above`` (length units) are: smaller
    ones are not worth it, and over larger ones a player would be seen to glide through walls.
    """

    duration: float = 0.0
    curve: SmoothingCurve = "linear"
    smooth_above: float = 0.0
    snap_above: float = math.inf


class Correction:
    """A difference that fades: in equal steps until its time is over, or by half in that time.

    A new one is added to what is left of the old one, and the clock starts again. Source: Valve's
    Source SDK, cl_smooth and cl_smoothtime, which leaves errors below 0.5 and above 64 units alone
    (formula only); lightyear's prediction, which keeps ``exp(ln(0.5) / 0.2 dt)`` in each frame.
    """

    def __init__(self, smoothing: Smoothing) -> None:
        self.smoothing = smoothing
        self._offset: Point = (0.0, 0.0)
        self._started = 0.0

    def add(self, offset: Point, now: float) -> None:
        """Drawing goes on from here, which is ``offset`` away from the corrected position."""
        size = math.hypot(*offset)
        if size < self.smoothing.smooth_above:
            return
        left = (0.0, 0.0)
        if size <= self.smoothing.snap_above:
            left = self.left(now)
            left = (left[0] + offset[0], left[1] + offset[1])
        self._offset, self._started = left, now

    def left(self, now: float) -> Point:
        """The offset that is drawn now."""
        share = self._share(now - self._started)
        return (self._offset[0] * share, self._offset[1] * share)

    def _share(self, age: float) -> float:
        duration = self.smoothing.duration
        if not duration:
            return 0.0
        if self.smoothing.curve == "exponential":
            return decay(age, duration)
        return 0.0 if age >= duration else 1 - age / duration


def decay(seconds: float, period: float, ratio: float = RATIO) -> float:
    """What is left after this time, where ``ratio`` is left after every ``period`` seconds."""
    return math.exp(math.log(ratio) / period * seconds)


#: A state's numbers: position and velocity, or any others that change alike.
Values = tuple[float, ...]


class RecordedState(NamedTuple):
    """A state at a time (in any unit), and by how much it differs from the one before it."""

    time: float
    values: Values
    delta: Values


def correct_history(
    history: Sequence[RecordedState], time: float, values: Values
) -> list[RecordedState] | None:
    """The history, changed so that it passes through ``values`` at ``time``.

    The change of the first state after it is shortened to the part that lies after it, and every
    later state follows from the one before by its own change:

        after.delta *= (after.time - time) / (after.time - before.time)
        state.values = previous.values + state.delta

    The states before are left alone. None: the time is before the oldest state or after the
    newest, or there are fewer than two. Source: Mirror (MIT), Core/Prediction/Prediction.cs.
    """
    if len(history) < 2 or not history[0].time <= time <= history[-1].time:
        return None
    first = next(index for index, state in enumerate(history) if state.time >= time)
    after = history[first]
    share = 0.0
    if first and after.time > time:
        share = (after.time - time) / (after.time - history[first - 1].time)
    corrected = list(history[:first])
    previous = values
    for state in [after._replace(delta=_scaled(after.delta, share)), *history[first + 1 :]]:
        previous = tuple(one + change for one, change in zip(previous, state.delta, strict=True))
        corrected.append(state._replace(values=previous))
    return corrected


def _scaled(values: Values, share: float) -> Values:
    return tuple(value * share for value in values)
