"""A correction of one's own player that is not shown at once, but smoothed away."""

from __future__ import annotations

import math
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
