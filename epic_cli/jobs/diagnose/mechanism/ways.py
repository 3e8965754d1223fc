"""Ways of chases: when each begins, how it is eased, and the errors of ways of any duration."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from epic_cli.engine.strategies.parts import compute_eases
from epic_cli.engine.strategies.parts.common_settings import EASE
from epic_cli.jobs.diagnose.mechanism.readings import compute_robust_root
from epic_cli.metrics.arrays import find_minimum

if TYPE_CHECKING:
    from epic_cli.jobs.diagnose.frames import Frames
    from epic_cli.metrics.arrays import Floats

#: Frames whose durations differ by less of it are even.
UNEVEN = 0.02

#: The least time that is sought, and the largest (s).
LEAST, MOST = 0.02, 1.0

#: The curves that most games have.
FIRST = ("smoothstep", "in-out-sine", "out-quad", "out-cubic")

#: Curves are straight between this many fractions of a way's duration.
PIECES = 2000


def _compute_curve(name: str) -> Floats:
    """Return an ease at the fractions of its duration, and once more at its end."""
    fractions = np.minimum(np.arange(PIECES + 2) / PIECES, 1.0)
    if name == "linear":
        return fractions
    eased = np.empty(len(fractions))
    compute_eases(EASE.convert(name), fractions, eased)
    return eased


#: The curves of ways; those that most games have come first.
EASES: dict[str, Floats] = {
    name: _compute_curve(name)
    for name in ("linear", *sorted(EASE.choices, key=lambda name: name not in FIRST))
}


def read_curve(eased: Floats, u: Floats) -> Floats:
    """Return a curve at some fractions of its duration."""
    part = u * PIECES
    piece = part.astype(np.intp)
    share = eased[piece]
    return np.asarray(share + (part - piece) * (eased[piece + 1] - share))


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


class WayErrors:
    """The errors of ways from ``start`` to ``goal`` (m, 3), whatever their ease and duration.

    They begin at the first of two ``times`` (m, s), and the newest velocity counts from the second;
    frames ``at`` these places count.
    """

    def __init__(
        self, frames: Frames, at: Any, goal: Floats, times: tuple[Floats, Floats], start: Floats,
        end: dict[str, Any], ahead: dict[str, Any],
    ) -> None:  # fmt: skip
        begun, origin = times
        start, drawn = start[at], frames.drawn[at]
        newest, now, self.stops_short = frames.newest[at], frames.times[at], bool(end)
        last, speed = frames.drawn[np.maximum(at - 1, 0)], frames.velocities[newest]
        self.since = now - begun[at]
        base, slope = start - drawn, goal[at] - start  # the error is base + slope * share
        if ahead.get("age") == "arrival":  # which counts from there, too
            slope = slope + speed * (frames.arrivals[newest] - origin[at])[:, None]
        if "ahead" in ahead and "drift" in ahead:
            moved = speed * (now - origin[at])[:, None]
            base, slope = base + moved, slope - moved
        self.squares = (base * base).sum(1), 2 * (base * slope).sum(1), (slope * slope).sum(1)
        self.goes_on = "drift" in ahead and "ahead" not in ahead
        elapsed = np.diff(frames.times, prepend=frames.times[0])[at]
        along = speed * elapsed[:, None] if self.goes_on else 0.0
        self.left = np.square(last + along - drawn).sum(axis=1)
        rest = goal[at] - drawn
        self.beyond = (rest * rest).sum(1), 2 * (rest * speed).sum(1), (speed * speed).sum(1)

    def measure(self, eased: Floats, logs: Floats | float) -> Floats:
        """Return the errors (...) of a curve over times whose logarithms (...) are given."""
        lasts = np.exp(np.asarray(logs))[..., None]
        share = read_curve(eased, np.clip(self.since / lasts, 0, 1))
        off = np.maximum((self.squares[2] * share + self.squares[1]) * share + self.squares[0], 0)
        if self.goes_on and not self.stops_short:
            over = np.maximum(self.since - lasts, 0)
            left_over = (self.beyond[2] * over + self.beyond[1]) * over + self.beyond[0]
            off = np.where(over > 0, np.maximum(left_over, 0), off)
        return compute_robust_root(np.where(self.since > lasts, self.left, off)
                                   if self.stops_short else off)  # fmt: skip


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
