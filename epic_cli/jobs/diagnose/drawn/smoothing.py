"""What is on top of a drawing: a delay, and a first-order low-pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from epic_cli.jobs.diagnose.drawn.redraw import at_times
from epic_cli.metrics.minimum import minimum

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from epic_cli.metrics.arrays import Floats

#: Seconds: later than a strategy, or earlier, that a game may be.
EARLIEST, LATEST = -0.5, 1.0

#: Seconds: time constants that are looked for.
SHORTEST, LONGEST = 0.002, 2.0

#: Those that a first look tries.
SCANNED = (0.0, 0.02, 0.05, 0.1, 0.2, 0.4)


class Smoothing(NamedTuple):
    """So much later (``shift``, s), with this time constant (s; 0: none), so far off (RMS)."""

    shift: float
    constant: float
    residual: float


def low_pass(times: Floats, positions: Floats, constant: float) -> Floats:
    """What a first-order low-pass makes of positions (n, 3), from frame to frame.

    y(n) = y(n-1) + (1 - exp(-dt/T)) (x(n) - y(n-1)), which is what ``lerp(y, x, rate * dt)`` in
    each frame comes to: exponential smoothing, the step response of a first-order lag (A. V.
    Oppenheim, R. W. Schafer, "Discrete-Time Signal Processing"). It begins at the first position.
    Frames are combined in pairs, pairs of pairs, and so on
    (W. D. Hillis, G. L. Steele, "Data Parallel Algorithms", CACM 29 (12), 1986), which gives all
    of them in log n steps.
    """
    if not constant:
        return positions
    keep = np.exp(-np.diff(times, prepend=times[0]) / constant)
    keep[0] = 0.0
    found = (1 - keep)[:, None] * positions
    reach = 1
    while reach < len(times) and keep.max() > 1e-12:
        found[reach:] += keep[reach:, None] * found[:-reach].copy()
        keep[reach:] = keep[reach:] * keep[:-reach].copy()
        reach *= 2
    return found


def rms(apart: Floats, counted: NDArray[np.bool_]) -> float:
    """The root mean square distance of the rows that count; infinite: none of them is known."""
    squares = np.square(apart[counted]).sum(axis=1)
    known = np.isfinite(squares)
    # what is not drawn must not make a strategy look better
    return float(np.sqrt(squares[known].mean())) if known.mean() > 0.9 else np.inf


class Fit:
    """What was drawn against what a strategy draws, both at the same ``times``.

    ``counted`` are the frames that count. A frame in which a strategy draws nothing is filled with
    the next one that it draws.
    """

    def __init__(self, times: Floats, drawn: Floats, counted: NDArray[np.bool_]) -> None:
        self._times = times
        self._drawn = drawn
        self.counted = counted

    def residual(self, own: Floats, shift: float = 0.0, constant: float = 0.0) -> float:
        """How far off it is (RMS) that much later, and with that time constant."""
        known = np.isfinite(own).all(axis=1)
        if not known.any():
            return np.inf
        first = int(known.argmax())
        own = low_pass(self._times[first:], own[first:], constant)
        if shift:
            shown = at_times(self._times[first:], own, self._times - shift)
            # how it began before what is known: nothing is said of that
            counted = self.counted & (self._times - shift >= self._times[first])
            counted &= self._times - shift <= self._times[-1]
            if counted.sum() < 0.5 * self.counted.sum():
                return np.inf
        else:
            shown = np.concatenate((np.full((first, 3), np.nan), own))
            counted = self.counted
        return rms(shown - self._drawn, counted)

    def scan(self, own: Floats) -> tuple[Smoothing, Smoothing]:
        """The best shift without a low-pass, and with the best of some time constants, about.

        Shifts are whole frames: the mean square distance of all of them comes from one
        cross-correlation, |a - b|^2 = |a|^2 + |b|^2 - 2 a b.
        """
        fits = [self._scanned(own, constant) for constant in SCANNED]
        return fits[0], min(fits, key=lambda one: one.residual)

    def _scanned(self, own: Floats, constant: float) -> Smoothing:
        known: NDArray[np.bool_] = np.all(np.isfinite(own), axis=1)
        if not known.any():
            return Smoothing(0.0, constant, np.inf)
        own = _filled(own, known)
        frame = float(np.median(np.diff(self._times)))
        before, after = round(LATEST / frame), round(-EARLIEST / frame)
        inner = slice(before, len(own) - after)
        counted = self.counted[inner]
        if counted.sum() < 0.5 * self.counted.sum():
            return Smoothing(0.0, constant, self.residual(own, 0.0, constant))
        middle = own.mean(axis=0)
        shown = low_pass(self._times, own, constant) - middle
        drawn = (self._drawn[inner] - middle)[counted]
        squares = np.full(before + after + 1, np.square(drawn).sum())
        for axis in range(3):
            windows = sliding_window_view(shown[:, axis], before + after + 1)[counted]
            squares += np.square(windows).sum(axis=0) - 2 * drawn[:, axis] @ windows
        best = int(squares.argmin())
        residual = float(np.sqrt(max(squares[best], 0.0) / len(drawn)))
        return Smoothing((before - best) * frame, constant, residual)

    def shift(self, own: Floats) -> Smoothing:
        """The best shift."""
        return self.nearby(own, self._scanned(own, 0.0))

    def constant(self, own: Floats, shift: float = 0.0) -> Smoothing:
        """The best time constant for a shift."""
        tries = np.geomspace(SHORTEST, LONGEST, 13)
        found = [self.residual(own, shift, float(one)) for one in tries]
        place = int(np.argmin(found))
        low, high = np.log(tries[max(place - 1, 0)]), np.log(tries[min(place + 1, len(tries) - 1)])
        best, least = minimum(lambda x: self.residual(own, shift, float(np.exp(x))), low, high)
        return Smoothing(shift, float(np.exp(best)), least)

    def likely_constant(self, own: Floats) -> Smoothing:
        """About the best time constant, by least squares of each frame's step on what it closes.

        y(n) - y(n-1) = a (x(n) - y(n-1)): the equation's error, not that of what comes out (L.
        Ljung, "System Identification", 7.3).
        """
        ahead = own[1:] - self._drawn[:-1]
        known = self.counted[1:] & np.isfinite(ahead).all(axis=1)
        ahead, steps = ahead[known], np.diff(self._drawn, axis=0)[known]
        part = float((ahead * steps).sum() / max(np.square(ahead).sum(), 1e-300))
        if not 0 < part < 1:
            return Smoothing(0.0, 0.0, self.residual(own))
        constant = float(-np.median(np.diff(self._times)) / np.log1p(-part))
        constant = min(max(constant, SHORTEST), LONGEST)
        return Smoothing(0.0, constant, self.residual(own, 0.0, constant))

    def both(self, own: Floats) -> Smoothing:
        """The best shift and time constant together."""
        best = self.scan(own)[1]
        for _ in range(3 if best.constant else 0):
            best = self.constant(own, self.nearby(own, best).shift)
        return best

    def nearby(self, own: Floats, about: Smoothing) -> Smoothing:
        """The best shift near one that is known to a frame."""
        frame = float(np.median(np.diff(self._times)))
        shift, least = minimum(
            lambda one: self.residual(own, one, about.constant),
            about.shift - 1.2 * frame,
            about.shift + 1.2 * frame,
        )
        return Smoothing(shift, about.constant, least)


def _filled(own: Floats, known: NDArray[np.bool_]) -> Floats:
    """The drawing with its last frame before each in which nothing is drawn, or the first one."""
    places = np.maximum.accumulate(np.where(known, np.arange(len(own)), 0))
    return own[np.maximum(places, int(known.argmax()))]
