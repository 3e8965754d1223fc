"""Draw strategies in the frames of a game, and fit their settings to what the game drew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from epic_cli.engine.failures import StrategyFailed
from epic_cli.engine.packets import PacketBlock, sort_by_arrival
from epic_cli.engine.parameters import Number
from epic_cli.engine.replay import TooManyRows, Trace, draw_frames
from epic_cli.engine.replay.playback import Timing, parse_tick
from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.engine.strategies import declaration
from epic_cli.metrics.arrays import choose_places, compute_lengths, find_minimum

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from epic_cli.metrics.arrays import Floats

#: Most frames before the drawn ones that have an effect on them.
MOST_BEFORE = 5000


class Redraw:
    """One entity's packets, ready to be drawn in given frames by any strategy.

    Packets reach a strategy when they arrived: before the first frame at or after that;
    ``by_frame``, as if they had arrived at that frame. Without arrival times they are paced as in
    the demo, and frames are those nearest to its ticks.
    """

    def __init__(self, packets: PacketBlock, by_frame: bool = False) -> None:
        self.by_frame = by_frame
        self.arrivals = packets.begins_with_arrival()
        #: Arrivals of the first packet, and of the last one (s).
        self.begins, self.ends = -np.inf, np.inf
        self._packets = packets
        #: The frames that were drawn last, and the same with those before them.
        self._frames: tuple[Floats, Floats] = np.empty(0), np.empty(0)
        if self.arrivals:
            self._packets, known = PacketBlock(), []
            for packet in map(packets.__getitem__, range(len(packets))):
                if packet.arrival is not None:
                    self._packets.append(packet)
                    known.append(packet.arrival)
            self._packets.connection = packets.connection
            sort_by_arrival(self._packets)
            self.begins, self.ends = min(known), max(known)

    def draw(self, spec: StrategySpec, times: Floats, shift: float = 0.0) -> Floats:
        """Return positions (n, 3) at ``times`` minus ``shift`` (s); NaN where nothing is drawn.

        Frames before the first one are drawn too, from one before the first packet: some strategies
        remember them. A strategy that fails draws nothing.
        """
        times = times - shift if shift else times
        try:
            if not self.arrivals:
                return self._draw_by_ticks(spec, times)
            if times is not self._frames[0]:
                self._frames = times, self._add_earlier(times)
            every = self._frames[1]
            drawn = np.empty((len(every), 3))
            draw_frames(spec.make_factory(), self._packets, every, drawn, self.by_frame)
            return drawn[len(every) - len(times) :]
        except (StrategyFailed, TooManyRows, ValueError):  # frames that are no ticks of a clock
            return np.full((len(times), 3), np.nan)

    def _add_earlier(self, times: Floats) -> Floats:
        """Return the frames with those before them, back to the first packet."""
        frame = float(np.median(np.diff(times)))
        earlier = np.ceil(min(max((times[0] - self.begins) / frame, 0.0), MOST_BEFORE))
        return np.concatenate((times[0] - frame * np.arange(earlier, 0, -1), times))

    def _draw_by_ticks(self, spec: StrategySpec, times: Floats) -> Floats:
        tick = parse_tick(float(f"{np.median(np.diff(times)):.4g}"))
        rows = np.asarray(Trace(spec.make_factory(), Timing(tick).resolve(False), self._packets))
        rows = rows[rows["status"] != 0]
        if len(rows) < 2:
            return np.full((len(times), 3), np.nan)
        return at_times(rows["time"], rows["position"], times)


def at_times(times: Floats, positions: Floats, wanted: Floats) -> Floats:
    """Interpolate positions (n, 3) linearly at the wanted times; NaN outside of the known times."""
    return np.stack(
        [np.interp(wanted, times, row, left=np.nan, right=np.nan) for row in positions.T], axis=1
    )


def low_pass(times: Floats, positions: Floats, constant: float) -> Floats:
    """Apply a first-order low-pass to positions (n, 3), frame by frame.

    y(n) = y(n-1) + (1 - exp(-dt/T)) (x(n) - y(n-1)), as ``lerp(y, x, rate * dt)`` in each frame:
    exponential smoothing, the step response of a first-order lag (A. V. Oppenheim, R. W. Schafer,
    "Discrete-Time Signal Processing"). It begins at the first position. Frames are combined in
    pairs, pairs of pairs, and so on (W. D. Hillis, G. L. Steele, "Data Parallel Algorithms", CACM
    29 (12), 1986), which takes log n steps.
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


#: Numbers with which a drawing leaps, so that slopes by them say nothing.
LEAPING = ("every", "rounding", "dead_zone", "snap_after")


class FittedStrategy(NamedTuple):
    """A strategy with a time ``shift`` (s) and a low-pass (time constant, s; 0: none).

    Its error is ``residual`` (RMS, length), and ``apart``, the mean of the distances, none of which
    counts for more than a usual step.
    """

    candidate: StrategySpec
    shift: float = 0.0
    constant: float = 0.0
    residual: float = np.inf
    apart: float = np.inf

    @property
    def numbers(self) -> dict[str, float]:
        """The numbers that can be fitted.

        Settings, also those in send intervals, shift and constant.
        """
        settings = self.candidate.settings
        found = {key: _parse_number(value) for key, value in settings.items()}
        if settings.get("clock") != "mean":  # a least offset or a median leaps with its time
            found.pop("clock_time", None)
        if settings.get("catch_up") in ("queue", "timer"):
            found.pop("interval", None)
        if "every" in settings and settings.get("between") != "lerp":
            found.pop("phase", None)
        for key in LEAPING:
            found.pop(key, None)
        found |= {"": self.shift or None, " ": self.constant or None}
        return {key: value for key, value in found.items() if value is not None}

    def changed(self, changes: Mapping[str, Any]) -> FittedStrategy:
        """Return a copy with other numbers or words; None restores a default."""
        settings = {**self.candidate.settings, **changes}
        shift, constant = settings.pop("", self.shift), settings.pop(" ", self.constant)
        for key, value in changes.items():
            if key.strip() and isinstance(value, float):
                before = self.candidate.settings.get(key)
                if isinstance(before, str) and _parse_number(before) is not None:
                    settings[key] = f"{value:.9g}i"
        kept = {key: value for key, value in settings.items() if value is not None}
        return FittedStrategy(StrategySpec(self.candidate.name, kept), shift, constant)


def _parse_number(value: object) -> float | None:
    """Return a number, also from a number of send intervals (``1.8i``)."""
    if isinstance(value, str) and value[:1].isdigit() and value.endswith("i"):
        return float(value[:-1])
    return value if isinstance(value, float) else None


#: The frames of a glance: at least that long (s), and that many; it is worthwhile where there are
#: this many times as many.
GLANCE, GLANCED, WORTHWHILE = 15.0, 1200, 1.5

#: Largest error of shorter numbers, as a multiple of the best: the mean or the RMS, and the other.
AS_GOOD, MUCH_WORSE = 1.05, 1.5


class FrameComparison:
    """A game's frames of one entity, to be compared with the drawings of strategies.

    ``counted`` are the frames that count; a difference below ``exact`` (length) is rounding;
    ``unit`` is a usual step.
    """

    def __init__(
        self, redraw: Redraw, times: Floats, drawn: Floats, counted: NDArray[np.bool_],
        exact: float, unit: float,
    ) -> None:  # fmt: skip
        self.redraw, self.times, self.drawn, self.counted = redraw, times, drawn, counted
        self.exact, self.unit = exact, unit
        self._known: dict[object, tuple[float, float]] = {}
        self._glance: FrameComparison | None = None
        self._last: tuple[object, Floats] = None, drawn
        #: Frames, spread over all, from which slopes are computed.
        self._some = choose_places(int(counted.sum()), 1500)

    def glance(self) -> FrameComparison:
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

    def apart(self, found: FittedStrategy) -> Floats:
        """Return the differences in the counted frames (n, 3); NaN where nothing is drawn."""
        key = found.candidate.label, found.shift, found.constant
        if self._last[0] != key:
            own = self.redraw.draw(found.candidate, self.times, found.shift)
            known = np.isfinite(own[:, 0])
            if found.constant and known.any():
                first = int(known.argmax())
                own[first:] = low_pass(self.times[first:], own[first:], found.constant)
            self._last = key, np.asarray(own - self.drawn)[self.counted]
        return self._last[1]

    def off(self, found: FittedStrategy) -> FittedStrategy:
        """Return a strategy with its error; infinite if a tenth of the frames is not drawn."""
        key = found.candidate.label, found.shift, found.constant
        if key not in self._known:
            apart = compute_lengths(self.apart(found))
            known = np.isfinite(apart)
            # what is not drawn must not make a strategy look better
            self._known[key] = np.inf, np.inf
            if known.mean() > 0.9:
                near = apart[known]
                least = float(np.minimum(near, self.unit).mean())
                with np.errstate(over="ignore"):
                    self._known[key] = float(np.sqrt(near @ near / len(near))), least
        residual, least = self._known[key]
        return found._replace(residual=residual, apart=least)

    def fit(
        self, found: FittedStrategy, rounds: int = 6, only: Sequence[str] = ()
    ) -> FittedStrategy:
        """Fit the numbers of a strategy (or ``only`` some) by damped least squares.

        K. Levenberg, "A Method for the Solution of Certain Non-Linear Problems in Least Squares",
        Quarterly of Applied Mathematics 2 (2), 1944; slopes are differences, and frames are
        weighted so that the sum of the distances becomes least (E. J. Schlossmacher, "An Iterative
        Technique for Absolute Deviations Curve Fitting", JASA 68, 1973).
        """
        best = self.off(found)
        for _ in range(rounds):
            numbers = {k: v for k, v in best.numbers.items() if not only or k in only}
            if not numbers or best.residual <= 0.8 * self.exact or best.apart == np.inf:
                break
            here = self.apart(best)[self._some]
            slopes = []
            for key, value in numbers.items():
                step = max(1e-3 * abs(value), 1e-5)
                beside = self.apart(best.changed({key: value + step}))[self._some]
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
                one = self.off(
                    best.changed(self._limit_numbers(best, numbers, part * change / scale))
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
        tried = [self.off(found.changed({key: value})) for value in values]
        place = min(range(len(tried)), key=lambda index: tried[index].apart)
        low, high = values[max(place - 1, 0)], values[min(place + 1, len(values) - 1)]

        def apart(value: float) -> float:
            tried.append(self.off(found.changed({key: value})))
            return tried[-1].apart

        find_minimum(apart, low, high, steps)
        return min([found, *tried], key=lambda one: one.apart)

    def _limit_numbers(
        self, found: FittedStrategy, numbers: dict[str, float], change: Floats
    ) -> dict[str, float]:
        """Return the numbers after a change, clamped to their ranges."""
        known = {row.name: row for row in declaration(found.candidate.name).settings}
        ranges = {key: (row.low, row.high) for key, row in known.items() if isinstance(row, Number)}
        ranges |= {"": (-2.0, 2.0), " ": (1e-4, 5.0)}
        return {
            key: float(min(max(value + step, ranges[key][0]), ranges[key][1]))
            for (key, value), step in zip(numbers.items(), change.tolist(), strict=True)
        }

    def short(self, found: FittedStrategy) -> FittedStrategy:
        """Return the strategy with the fewest digits that leave the error as small."""
        best = found = self.off(found)
        time = found.candidate.settings.get("clock_time")  # which is not fitted
        numbers = {**best.numbers, **({"clock_time": time} if isinstance(time, float) else {})}
        for key, number in numbers.items():
            for digits in range(1, 7):
                shorter = self.off(best.changed({key: float(f"{number:.{digits}g}")}))
                if self.is_as_good(shorter, found):
                    best = shorter
                    break
        return best

    def is_as_good(self, one: FittedStrategy, best: FittedStrategy) -> bool:
        """Return True if an error equals the least error, up to rounding and single frames."""
        apart, residual = one.apart / (best.apart + 1e-300), one.residual / (best.residual + 1e-300)
        near = min(apart, residual) <= AS_GOOD and max(apart, residual) <= MUCH_WORSE
        return near or one.residual <= self.exact
