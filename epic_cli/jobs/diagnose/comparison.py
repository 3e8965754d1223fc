"""Compare strategies with what a game drew, and fit their settings to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from epic_cli.engine.parameters import Number
from epic_cli.engine.strategies import get_declaration
from epic_cli.jobs.diagnose.fitted import MOST, FittedStrategy
from epic_cli.jobs.diagnose.redraw import Redraw, apply_low_pass
from epic_cli.metrics.arrays import choose_places, compute_lengths, find_minimum

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from epic_cli.metrics.arrays import Floats

#: The frames of a glance: at least that long (s), and that many; it is worthwhile where there are
#: this many times as many.
GLANCE, GLANCED, WORTHWHILE = 15.0, 1200, 1.5

#: A difference below this share of a usual step, or that many times rounding, is none; a frame
#: moves that goes farther.
SAME, ROUNDED = 2e-4, 2.0

#: Changes of settings from which slopes are computed, where it is not a share of them.
STEPS = {"age_offset": 1e-3}

#: The share of the exact frames that shorter numbers keep.
KEPT = 0.99

#: Largest error of shorter numbers, as a multiple of the best: the mean or the RMS, and the other.
AS_GOOD, MUCH_WORSE = 1.05, 1.5


class FrameComparison:
    """A game's frames of one entity, to be compared with what strategies draw.

    ``counted`` are the frames that count; a difference below ``exact`` (length) is rounding;
    ``unit`` is a usual step.
    """

    def __init__(
        self, redraw: Redraw, times: Floats, drawn: Floats, counted: NDArray[np.bool_],
        exact: float, unit: float,
    ) -> None:  # fmt: skip
        self.redraw, self.times, self.drawn, self.counted = redraw, times, drawn, counted
        self.exact, self.unit = exact, unit
        self._known: dict[object, tuple[float, float, float]] = {}
        self.same = max(SAME * unit, ROUNDED * exact)
        moved = compute_lengths(np.diff(drawn, axis=0, prepend=drawn[:1])) > self.same
        self._moving = moved[counted]
        self._glance: FrameComparison | None = None
        self._last: tuple[object, Floats] = None, drawn
        #: Frames, spread over all, from which slopes are computed.
        self._some = choose_places(int(counted.sum()), 1500)

    def select_glance(self) -> FrameComparison:
        """Return a comparison of the first frames, which tell as much in less time.

        It is this one where they are few, or move less than the others.
        """
        times = self.times
        count = max(GLANCED, int(np.searchsorted(times, times[0] + GLANCE)))
        if WORTHWHILE * count > len(times):
            return self
        steps = compute_lengths(np.diff(self.drawn, axis=0))
        if steps[:count].mean() < 0.5 * steps.mean():
            return self
        if self._glance is None:
            self._glance = FrameComparison(
                self.redraw, times[:count], self.drawn[:count], self.counted[:count],
                self.exact, self.unit,
            )  # fmt: skip
        return self._glance

    def compute_differences(self, found: FittedStrategy) -> Floats:
        """Return the differences in the counted frames (n, 3); NaN where nothing is drawn."""
        key = found.candidate.label, found.shift, found.constant
        if self._last[0] != key:
            own = self.redraw.draw(found.candidate, self.times, found.shift)
            known = np.isfinite(own[:, 0])
            if found.constant and known.any():
                first = int(known.argmax())
                own[first:] = apply_low_pass(self.times[first:], own[first:], found.constant)
            self._last = key, np.asarray(own - self.drawn)[self.counted]
        return self._last[1]

    def measure_error(self, found: FittedStrategy) -> FittedStrategy:
        """Return a strategy with its error; infinite if a tenth of the frames is not drawn."""
        key = found.candidate.label, found.shift, found.constant
        if key not in self._known:
            apart = compute_lengths(self.compute_differences(found))
            known = np.isfinite(apart)
            # what is not drawn must not make a strategy look better
            self._known[key] = np.inf, np.inf, 0.0
            if known.mean() > 0.9:
                near = apart[known]
                least = float(np.minimum(near, self.unit).mean())
                with np.errstate(over="ignore"):
                    residual = float(np.sqrt(near @ near / len(near)))
                self._known[key] = residual, least, self._measure_share(found, apart)
        residual, least, share = self._known[key]
        return found._replace(residual=residual, apart=least, share=share)

    def _measure_share(self, found: FittedStrategy, apart: Floats) -> float:
        """Return the share of the frames without an error, of those in which anything moves."""
        same = apart <= self.same
        share = float(same[self._moving].mean()) if self._moving.any() else 0.0
        if share < MOST:
            return share
        # what moves while the frames stand is off there, too
        own = self.drawn[self.counted] + self.compute_differences(found)
        moves = compute_lengths(np.diff(own, axis=0, prepend=own[:1])) > self.same
        return float(same[self._moving | moves].mean())

    def fit(
        self, found: FittedStrategy, rounds: int = 6, only: Sequence[str] = ()
    ) -> FittedStrategy:
        """Fit the numbers of a strategy (or ``only`` some) by damped least squares.

        K. Levenberg, "A Method for the Solution of Certain Non-Linear Problems in Least Squares",
        Quarterly of Applied Mathematics 2 (2), 1944; slopes are differences, and frames are
        weighted so that the sum of the distances becomes least (E. J. Schlossmacher, "An Iterative
        Technique for Absolute Deviations Curve Fitting", JASA 68, 1973).
        """
        best = self.measure_error(found)
        for _ in range(rounds):
            numbers = {k: v for k, v in best.numbers.items() if not only or k in only}
            if not numbers or best.residual <= 0.8 * self.exact or best.apart == np.inf:
                break
            here = self.compute_differences(best)[self._some]
            slopes = []
            for key, value in numbers.items():
                step = STEPS.get(key, max(1e-3 * abs(value), 1e-5))
                beside = self.compute_differences(best.change({key: value + step}))[self._some]
                slopes.append((beside - here) / step)
            known = np.isfinite(here[:, 0]) & np.isfinite([s[:, 0] for s in slopes]).all(axis=0)
            if not known.any():
                break
            far = compute_lengths(here[known])
            floor = max(float(np.median(far)), self.exact)
            weights = np.repeat(1 / np.sqrt(np.maximum(far, floor)), 3)
            of = np.stack([slope[known].ravel() * weights for slope in slopes], axis=1)
            scale = np.sqrt(np.square(of).sum(axis=0)) + 1e-300
            change = np.linalg.lstsq(of / scale, -here[known].ravel() * weights, rcond=1e-6)[0]
            before = best.apart
            for part in (1.0, 0.3, 0.08):
                one = self.measure_error(
                    best.change(self._limit_numbers(best, numbers, part * change / scale))
                )
                if one.apart < best.apart:
                    best = one
                    break
            if best.apart > 0.995 * before:
                break
        return best

    def search(
        self, found: FittedStrategy, key: str, values: Sequence[float], steps: int = 6
    ) -> FittedStrategy:
        """Return the strategy with the best of these numbers, or a better number between them."""
        tried = [self.measure_error(found.change({key: value})) for value in values]
        place = min(range(len(tried)), key=lambda index: tried[index].apart)
        low, high = values[max(place - 1, 0)], values[min(place + 1, len(values) - 1)]

        def measure(value: float) -> float:
            tried.append(self.measure_error(found.change({key: value})))
            return tried[-1].apart

        find_minimum(measure, low, high, steps)
        return min([found, *tried], key=lambda one: one.apart)

    def _limit_numbers(
        self, found: FittedStrategy, numbers: dict[str, float], change: Floats
    ) -> dict[str, float]:
        """Return the numbers after a change, clamped to their ranges."""
        known = {row.name: row for row in get_declaration(found.candidate.name).settings}
        ranges = {key: (row.low, row.high) for key, row in known.items() if isinstance(row, Number)}
        ranges |= {"": (-2.0, 2.0), " ": (1e-4, 5.0)}
        return {
            key: float(min(max(value + step, ranges[key][0]), ranges[key][1]))
            for (key, value), step in zip(numbers.items(), change.tolist(), strict=True)
        }

    def shorten_numbers(self, found: FittedStrategy) -> FittedStrategy:
        """Return the strategy with the fewest digits that leave the error as small."""
        best = found = self.measure_error(found)
        time = found.candidate.settings.get("clock_time")  # which is not fitted
        numbers = {**best.numbers, **({"clock_time": time} if isinstance(time, float) else {})}
        for key, number in numbers.items():
            for digits in range(1, 7):
                shorter = self.measure_error(best.change({key: float(f"{number:.{digits}g}")}))
                if self.is_as_good(shorter, found):
                    best = shorter
                    break
        return best

    def is_as_good(self, one: FittedStrategy, best: FittedStrategy) -> bool:
        """Return True if an error equals the least error, up to rounding and single frames."""
        apart, residual = one.apart / (best.apart + 1e-300), one.residual / (best.residual + 1e-300)
        near = min(apart, residual) <= AS_GOOD and max(apart, residual) <= MUCH_WORSE
        near &= not best.draws_most or one.share >= KEPT * best.share
        return near or one.residual <= self.exact
