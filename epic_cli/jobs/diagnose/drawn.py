"""Which strategy draws what a game really drew, with which settings, and what is on top of it.

A strategy is drawn again in the frames of the game (``Redraw``), a delay and a first-order low-pass
are fitted (``SmoothingFit``), settings are searched (``Search``), and the best of all is a
``DrawnMatch``.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from epic_cli.engine.parameters import Choice, Number, Value
from epic_cli.engine.replay.strategy_spec import StrategySpec, read_specs
from epic_cli.engine.strategies import declaration, names
from epic_cli.jobs.diagnose.mechanism import Mechanism, frames_of, mechanism
from epic_cli.jobs.diagnose.redraw import Comparison, Redraw, at_times, low_pass
from epic_cli.metrics.arrays import (
    ARRIVAL,
    LARGEST,
    POSITION,
    TIME,
    VELOCITY,
    minimum,
    packet_table,
)
from epic_cli.metrics.drawn_path import FEWEST_FRAMES, DrawnPath, UnusableDrawing, drawn_at_ticks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from epic_cli.engine.packets import PacketBlock
    from epic_cli.metrics.arrays import Floats


#: Seconds: later than a strategy, or earlier, that a game may be.
EARLIEST, LATEST = -0.5, 1.0

#: Seconds: time constants that are looked for.
SHORTEST, LONGEST = 0.002, 2.0

#: Those that a first look tries.
SCANNED = (0.0, 0.02, 0.05, 0.1, 0.2, 0.4)


class MatchedSmoothing(NamedTuple):
    """So much later (``shift``, s), with this time constant (s; 0: none), so far off (RMS)."""

    shift: float
    constant: float
    residual: float


def rms(apart: Floats, counted: NDArray[np.bool_]) -> float:
    """The root mean square distance of the rows that count; infinite: none of them is known."""
    squares = np.square(apart[counted]).sum(axis=1)
    known = np.isfinite(squares)
    # what is not drawn must not make a strategy look better
    return float(np.sqrt(squares[known].mean())) if known.mean() > 0.9 else np.inf


class SmoothingFit:
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

    def scan(self, own: Floats) -> tuple[MatchedSmoothing, MatchedSmoothing]:
        """The best shift without a low-pass, and with the best of some time constants, about.

        Shifts are whole frames: the mean square distance of all of them comes from one
        cross-correlation, |a - b|^2 = |a|^2 + |b|^2 - 2 a b.
        """
        fits = [self._scanned(own, constant) for constant in SCANNED]
        return fits[0], min(fits, key=lambda one: one.residual)

    def _scanned(self, own: Floats, constant: float) -> MatchedSmoothing:
        known: NDArray[np.bool_] = np.all(np.isfinite(own), axis=1)
        if not known.any():
            return MatchedSmoothing(0.0, constant, np.inf)
        own = _filled(own, known)
        frame = float(np.median(np.diff(self._times)))
        before, after = round(LATEST / frame), round(-EARLIEST / frame)
        inner = slice(before, len(own) - after)
        counted = self.counted[inner]
        if counted.sum() < 0.5 * self.counted.sum():
            return MatchedSmoothing(0.0, constant, self.residual(own, 0.0, constant))
        middle = own.mean(axis=0)
        shown = low_pass(self._times, own, constant) - middle
        drawn = (self._drawn[inner] - middle)[counted]
        squares = np.full(before + after + 1, np.square(drawn).sum())
        for axis in range(3):
            windows = sliding_window_view(shown[:, axis], before + after + 1)[counted]
            squares += np.square(windows).sum(axis=0) - 2 * drawn[:, axis] @ windows
        best = int(squares.argmin())
        residual = float(np.sqrt(max(squares[best], 0.0) / len(drawn)))
        return MatchedSmoothing((before - best) * frame, constant, residual)

    def shift(self, own: Floats) -> MatchedSmoothing:
        """The best shift."""
        return self.nearby(own, self._scanned(own, 0.0))

    def constant(self, own: Floats, shift: float = 0.0) -> MatchedSmoothing:
        """The best time constant for a shift."""
        tries = np.geomspace(SHORTEST, LONGEST, 13)
        found = [self.residual(own, shift, float(row)) for row in tries]
        place = int(np.argmin(found))
        low, high = np.log(tries[max(place - 1, 0)]), np.log(tries[min(place + 1, len(tries) - 1)])
        best, least = minimum(lambda x: self.residual(own, shift, float(np.exp(x))), low, high)
        return MatchedSmoothing(shift, float(np.exp(best)), least)

    def likely_constant(self, own: Floats) -> MatchedSmoothing:
        """About the best time constant, by least squares of each frame's step on what it closes.

        y(n) - y(n-1) = a (x(n) - y(n-1)): the equation's error, not that of what comes out (L.
        Ljung, "System Identification", 7.3).
        """
        ahead = own[1:] - self._drawn[:-1]
        known = self.counted[1:] & np.isfinite(ahead).all(axis=1)
        ahead, steps = ahead[known], np.diff(self._drawn, axis=0)[known]
        part = float((ahead * steps).sum() / max(np.square(ahead).sum(), 1e-300))
        if not 0 < part < 1:
            return MatchedSmoothing(0.0, 0.0, self.residual(own))
        constant = float(-np.median(np.diff(self._times)) / np.log1p(-part))
        constant = min(max(constant, SHORTEST), LONGEST)
        return MatchedSmoothing(0.0, constant, self.residual(own, 0.0, constant))

    def both(self, own: Floats) -> MatchedSmoothing:
        """The best shift and time constant together."""
        best = self.scan(own)[1]
        for _ in range(3 if best.constant else 0):
            best = self.constant(own, self.nearby(own, best).shift)
        return best

    def nearby(self, own: Floats, about: MatchedSmoothing) -> MatchedSmoothing:
        """The best shift near one that is known to a frame."""
        frame = float(np.median(np.diff(self._times)))
        shift, least = minimum(
            lambda one: self.residual(own, one, about.constant),
            about.shift - 1.2 * frame,
            about.shift + 1.2 * frame,
        )
        return MatchedSmoothing(shift, about.constant, least)


def _filled(own: Floats, known: NDArray[np.bool_]) -> Floats:
    """The drawing with its last frame before each in which nothing is drawn, or the first one."""
    places = np.maximum.accumulate(np.where(known, np.arange(len(own)), 0))
    return own[np.maximum(places, int(known.argmax()))]


#: Several settings together, and a low-pass, are sought of this many strategies: the nearest.
FINALISTS = 4

#: Values of a setting that are tried, or all whole numbers up to this many; and in the descent.
VALUES, WHOLE, FEWER = 13, 48, 7

#: This many of all settings, the nearest, are looked at closer; of these, this many are sought to
#: the last digit.
CLOSER, SHARPENED = 40, 14

#: This many of these, the nearest, have this many values tried where that does not find it: near
#: the right one some leap.
DENSE, DENSELY = 4, 97

#: How often all settings of a strategy are gone through.
ROUNDS = 2

#: A simpler explanation is taken where it is off by no more than this many times as much.
AS_GOOD = 1.1


class FittedStrategy(NamedTuple):
    """A strategy, drawn so much later (``shift``, s), behind a low-pass (``constant``, s; 0: none).

    ``residual`` is how far off that is (RMS, length).
    """

    candidate: StrategySpec
    shift: float
    constant: float
    residual: float


class _Scan(NamedTuple):
    """A setting's values, how far off each is, and the nearest."""

    setting: Number
    values: list[float]
    found: list[FittedStrategy]
    best: FittedStrategy


class Search(NamedTuple):
    """One entity: its frames, what strategies draw in them, and what is nearest to the drawn.

    ``enough`` (length): what is no further off is the same; ``exact``: but for rounding. What is
    within ``matters`` has nothing on top of it that anybody sees.
    """

    redraw: Redraw
    fit: SmoothingFit
    times: Floats
    enough: float
    exact: float
    matters: float

    def explanations(
        self, candidates: Sequence[StrategySpec], thorough: bool = True
    ) -> list[FittedStrategy]:
        """The best of them, without a low-pass and with one, each the simplest that is as good.

        Several settings together, other clocks and low-passes only if it is to be ``thorough``.
        """
        drawings = [(candidate, self._draw(candidate)) for candidate in candidates]
        plain = [FittedStrategy(spec, 0.0, 0.0, self.fit.residual(own)) for spec, own in drawings]
        if _least(plain).residual <= self.enough:
            return [_least(plain)]
        singles, scans = list(plain), []
        for spec in candidates:
            singles += [self._explained(spec, changed) for changed in _options(spec)]
            scans += [self._scan(spec, setting, VALUES) for setting in _tunable(spec)]
        scans.sort(key=lambda scan: scan.best.residual)
        scans = sorted(map(self._closer, scans[:CLOSER]), key=lambda scan: scan.best.residual)
        singles += [scan.best for scan in scans]
        singles += self._sought(scans[:SHARPENED])
        if singles[-1].residual <= self.exact:
            return [singles[-1]]
        if _least(singles).residual <= self.enough or not thorough:
            return [_simplest(singles, self.enough)]
        plain = singles
        near: dict[str, FittedStrategy] = {}
        for found in sorted(singles, key=lambda spec: spec.residual):
            near.setdefault(found.candidate.name, found)
        for found in list(near.values())[:FINALISTS]:
            plain.append(self._descended(found))
            if plain[-1].residual <= self.enough:
                return [plain[-1]]
        looks = [(spec, own, *self.fit.scan(own)) for spec, own in drawings]
        plain += [
            self._redrawn(spec)
            for spec in _nearest(
                (self.fit.nearby(own, fit).residual, spec) for spec, own, fit, _ in looks
            )
        ]
        without = _simplest(plain, self.enough)
        if _least(plain).residual <= self.matters:
            return [without]
        likely = [FittedStrategy(spec, *self.fit.likely_constant(own)) for spec, own in drawings]
        likely.sort(key=lambda spec: spec.residual)
        smooth = [self._refined(strategy) for strategy in likely[:FINALISTS]]
        if _least(smooth).residual > self.enough:
            for spec in _nearest((fit.residual, spec) for spec, _, _, fit in looks):
                smooth.append(FittedStrategy(spec, *self.fit.both(self._draw(spec))))
                smooth.append(self._refined(self._descended(FittedStrategy(spec, 0, 0, 0), True)))
                if smooth[-1].residual <= self.enough:
                    break
        return [without, _simplest(smooth, self.enough)]

    def _sought(self, scans: Sequence[_Scan]) -> list[FittedStrategy]:
        """The best values of settings to the last digit; the last one is exact, if one is."""
        found: list[FittedStrategy] = []
        for scan in scans:
            found.append(self._sharpened(scan))
            if found[-1].residual <= self.exact:
                return [*found, self._listed_first(found[-1], scans)]
        order = sorted(range(len(scans)), key=lambda place: found[place].residual)
        for place in order[:DENSE]:
            scan = scans[place]
            found.append(self._sharpened(self._scan(scan.best.candidate, scan.setting, DENSELY)))
            if found[-1].residual <= self.exact:
                break
        return found

    def _listed_first(self, exact: FittedStrategy, scans: Sequence[_Scan]) -> FittedStrategy:
        """The same, or what is exact too and lists name before it: ``lerp``, not ``luanti``."""
        before = [*takewhile(lambda name: name != exact.candidate.name, names())]
        for scan in scans:
            if scan.best.candidate.name in before:
                other = self._sharpened(scan)
                if other.residual <= self.exact:
                    return other
        return exact

    def _explained(
        self, candidate: StrategySpec, changed: dict[str, Value], smooth: bool = False
    ) -> FittedStrategy:
        """How near a strategy comes with some settings changed."""
        other = StrategySpec(candidate.name, {**candidate.settings, **changed})
        own = self._draw(other)
        if smooth:
            return FittedStrategy(other, *self.fit.likely_constant(own))
        return FittedStrategy(other, 0.0, 0.0, self.fit.residual(own))

    def _draw(self, candidate: StrategySpec, shift: float = 0.0) -> Floats:
        return self.redraw.draw(candidate, self.times, shift)

    def _redrawn(self, candidate: StrategySpec) -> FittedStrategy:
        """The best shift, each drawn again."""
        near = self.fit.shift(self._draw(candidate)).shift
        shift, residual = minimum(
            lambda one: self.fit.residual(self._draw(candidate, one)), near - 0.02, near + 0.02
        )
        return FittedStrategy(candidate, shift, 0.0, residual)

    def _refined(self, found: FittedStrategy) -> FittedStrategy:
        """The same with the best time constant."""
        if not found.constant:
            return found
        own = self._draw(found.candidate)
        return found._replace(**self.fit.constant(own, found.shift)._asdict())

    def _scan(
        self, candidate: StrategySpec, setting: Number, values: int, smooth: bool = False
    ) -> _Scan:
        """Values all over the range of a setting, the others as they are."""
        steps = list(_steps(setting, values))
        found = [self._explained(candidate, {setting.name: step}, smooth) for step in steps]
        return _Scan(setting, steps, found, _least(found))

    def _closer(self, scan: _Scan) -> _Scan:
        """The same with two more values on each side of the nearest."""
        place, values = scan.found.index(scan.best), scan.values
        if scan.setting.whole or len(values) < 2:
            return scan
        ends = values[max(place - 1, 0)], values[min(place + 1, len(values) - 1)]
        tried = dict(zip(values, scan.found, strict=True))
        for end in ends:
            for part in (1 / 3, 2 / 3):
                value = _short(values[place] + part * (end - values[place]))
                if value not in tried:
                    changed: dict[str, Value] = {scan.setting.name: value}
                    tried[value] = self._explained(scan.best.candidate, changed)
        steps = sorted(tried)
        return _Scan(scan.setting, steps, [tried[step] for step in steps], _least(tried.values()))

    def _sharpened(self, scan: _Scan, smooth: bool = False, zooms: int = 3) -> FittedStrategy:
        """The best value near the nearest of a scan."""
        setting, best = scan.setting, scan.best
        if setting.whole:
            return best
        place = scan.found.index(best)
        last = len(scan.values) - 1
        low, high = scan.values[max(place - 1, 0)], scan.values[min(place + 1, last)]
        tried = [best]

        def off(value: float) -> float:
            changed: dict[str, Value] = {setting.name: value}
            tried.append(self._explained(best.candidate, changed, smooth))
            return tried[-1].residual

        for _ in range(zooms):
            before = best.residual
            minimum(off, low, high, 9)
            best = _least(tried)
            value = best.candidate.settings.get(setting.name)
            if not isinstance(value, float):
                break
            for digits in (1, 2, 3):  # as people write numbers
                off(float(f"{value:.{digits}g}"))
            best = _least(tried)
            if best.residual <= self.exact or best.residual > 0.98 * before:
                break
            reach = 0.04 * (high - low)
            low, high = max(low, value - reach), min(high, value + reach)
        value = best.candidate.settings.get(setting.name)
        if isinstance(value, float):  # no more digits than it needs
            off(_short(value))
            if tried[-1].residual <= max(AS_GOOD * best.residual, self.exact):
                best = tried[-1]
        return best

    def _descended(self, best: FittedStrategy, smooth: bool = False) -> FittedStrategy:
        """The best settings that the declaration says are worth tuning, one after the other."""
        candidate = best.candidate
        best = self._explained(candidate, {}, smooth)
        for _ in range(ROUNDS):
            before = best.residual
            tried = [best]
            tried += [self._explained(best.candidate, each, smooth) for each in _options(candidate)]
            best = _least(tried)
            for setting in _tunable(candidate):
                scan = self._scan(best.candidate, setting, FEWER, smooth)
                if scan.best.residual <= 2 * best.residual:
                    best = _least([best, self._sharpened(scan, smooth, 1)])
                if best.residual <= self.enough:
                    return best
            if best.residual > 0.9 * before:
                break
        return best


def _nearest(found: Iterable[tuple[float, StrategySpec]]) -> list[StrategySpec]:
    """Those that come nearest, each with how far off it is."""
    return [one for _, one in sorted(found, key=lambda one: one[0])[:FINALISTS]]


def _tunable(candidate: StrategySpec) -> list[Number]:
    """Settings worth tuning, times first."""
    settings = declaration(candidate.name).settings
    found = [
        setting for setting in settings if isinstance(setting, Number) and setting.tune is not None
    ]
    return sorted(found, key=lambda one: one.unit != "s")


def _options(candidate: StrategySpec) -> list[dict[str, Value]]:
    """Each other word of each choice and switch that is worth trying."""
    known = declaration(candidate.name)
    usual = known.values(candidate.settings)
    return [
        {setting.name: word}
        for setting in known.settings
        if isinstance(setting, Choice) and setting.tune
        for word in setting.choices
        if setting.convert(word) != usual[setting.name]
    ]


def _steps(setting: Number, values: int) -> Iterator[float]:
    low, high = setting.tune or (setting.low, setting.high)
    if setting.whole and high - low < WHOLE:
        yield from (float(index) for index in range(round(low), round(high) + 1))
        return
    space = np.geomspace if setting.scale == "log" else np.linspace
    for row in space(low, high, values):
        yield float(round(row)) if setting.whole else _short(float(row))


def _short(value: float) -> float:
    return float(f"{value:.4g}")


def _least(found: Collection[FittedStrategy]) -> FittedStrategy:
    return min(found, key=lambda one: one.residual)


def _simplest(found: Sequence[FittedStrategy], enough: float) -> FittedStrategy:
    """Of those that are about as good as the best: usual settings first, then the same clock."""
    most = max(AS_GOOD * _least(found).residual, enough)
    good = [strategy for strategy in found if strategy.residual <= most]
    return min(
        good, key=lambda one: (len(one.candidate.settings) + 2 * bool(one.shift), one.residual)
    )


#: Frames that are looked at, those in which it moves the most.
MOST_FRAMES = 1200

#: Entities that are looked at: those that move the most.
MOST_ENTITIES = 8

#: Seconds, or a tenth of the frames where that is less: until then strategies begin.
WARM_UP = 1.0

#: Seconds after the last packet for which frames are looked at.
AFTER = 2.0

#: Shares of the usual step from packet to packet: no further off, it is the same, like it, ...
SAME, ALIKE, LIKE = 2e-4, 0.05, 0.2

#: A step this many times as long as nine in ten of the moving ones is a teleport.
LEAP = 4.0

#: This many times the resolution are the same, too.
ROUNDED = 2.5

#: This many times the resolution are its rounding alone.
EXACT = 1.25

#: A share of the usual step that no one sees: what is left below it needs no low-pass.
MATTERS = 0.02

#: A low-pass is there if without it what is left is this many times as much.
CLEARER = 2.0


#: How many digits settings are written with, and how many strategies are drawn again at most before
#: one is named: what a replay draws otherwise is left out.
DIGITS, NAMED = 4, 3


class EntityMatch(NamedTuple):
    """The same strategy and one entity.

    Times in seconds: ``lag`` behind the packets' stamps, ``shift`` behind the strategy, time
    ``constant`` of a low-pass on top of it (0: none). ``residual`` is what is left (RMS, length).
    """

    entity: str
    residual: float
    lag: float
    shift: float
    constant: float


class DrawnMatch(NamedTuple):
    """What explains best what was drawn.

    ``best`` is the strategy; ``without`` is the best one without a low-pass. ``step`` is how far
    it usually is from packet to packet (RMS), ``enough`` a distance that is none. ``smoothed``:
    there is a second smoothing. ``tick`` (s) is how often it changes, if not in each ``frame``.
    ``mechanism`` is how it draws in parts, where that explains it no worse than a strategy;
    ``same_as`` are engines' strategies, and other parts, that draw the same.
    """

    best: FittedStrategy
    without: FittedStrategy
    step: float
    enough: float
    smoothed: bool
    lag: float
    frame: float
    tick: float
    entities: tuple[EntityMatch, ...]
    mechanism: Mechanism | None = None
    same_as: tuple[StrategySpec, ...] = ()

    @property
    def off(self) -> float:
        """What is left, as a share of the usual step."""
        return self.best.residual / self.step

    @property
    def found(self) -> bool:
        """Whether that is the strategy, or one that draws as it does."""
        return self.best.residual <= max(self.enough, ALIKE * self.step)

    @property
    def like(self) -> bool:
        """Whether it is something like it."""
        return self.best.residual <= max(self.enough, LIKE * self.step)


class _Entity:
    """One entity's frames, those that are looked at, and its packets."""

    def __init__(self, name: str, path: DrawnPath, packets: PacketBlock) -> None:
        self.name = name
        columns = packet_table(packets)
        order = np.argsort(columns[TIME], kind="stable")
        stamps, positions = columns[TIME][order], columns[POSITION].T[order]
        with np.errstate(invalid="ignore"):
            finite = np.isfinite(stamps) & (np.abs(positions) < LARGEST).all(axis=1)
        self.stamps, self.positions = stamps[finite], positions[finite]
        if len(self.stamps) < FEWEST_FRAMES:
            raise UnusableDrawing(f"there are {len(self.stamps)} packets that can be used")
        self.redraw = Redraw(packets)
        self.path = path = self._excerpt(path)
        self.frame, self.tick = path.frame, 0.0
        self.fit = self._fitted(path)
        self.moved = float(np.linalg.norm(np.diff(path.positions, axis=0), axis=1).sum())
        steps = np.linalg.norm(np.diff(self.positions, axis=0), axis=1)
        self.step = float(np.sqrt(np.square(steps[steps > 0]).mean())) if steps.any() else 0.0
        self.enough = max(SAME * self.step, ROUNDED * path.resolution)

    def _fitted(self, path: DrawnPath) -> SmoothingFit:
        wait = min(WARM_UP, 0.1 * float(path.times[-1] - path.times[0])) if len(path.times) else 0
        counted = path.times >= max(path.times[0], self.redraw.begins) + wait
        return SmoothingFit(path.times, path.positions, counted)

    def at_ticks(self) -> bool:
        """Goes by the ticks at which it is drawn, if it is not in each frame."""
        ticks = drawn_at_ticks(self.path)
        if ticks is not None:
            self.path, self.fit, self.tick = ticks, self._fitted(ticks), ticks.frame
        return ticks is not None

    def search(self) -> Search:
        """The search for what draws it."""
        exact = min(EXACT * self.path.resolution, self.enough)
        matters = max(MATTERS * self.step, self.enough)
        return Search(self.redraw, self.fit, self.path.times, self.enough, exact, matters)

    def _excerpt(self, path: DrawnPath) -> DrawnPath:
        begins, ends = self.stamps[[0, -1]]
        if self.redraw.arrivals:
            begins, ends = self.redraw.begins, self.redraw.ends
        there = (path.times >= begins) & (path.times <= ends + AFTER)
        if there.sum() < FEWEST_FRAMES:
            raise UnusableDrawing(
                f"its times are others than those of the packets: {path.times[0]:.6g} to"
                f" {path.times[-1]:.6g} s, which came in {begins:.6g} to {ends:.6g} s"
            )
        path = path._replace(times=path.times[there], positions=path.positions[there])
        count = len(path.times)
        if count > MOST_FRAMES:
            travelled = np.cumsum(np.linalg.norm(np.diff(path.positions, axis=0), axis=1))
            begin = int((travelled[MOST_FRAMES:] - travelled[:-MOST_FRAMES]).argmax())
            part = slice(begin, begin + MOST_FRAMES)
            path = path._replace(times=path.times[part], positions=path.positions[part])
        return path

    def lag(self) -> float:
        """How far it is behind the line through the packets, by their stamps (s).

        NaN: further than that is looked for, as where the sender has another clock.
        """
        times = self.path.times
        own = at_times(self.stamps, self.positions, times)
        steps = np.linalg.norm(np.diff(self.positions, axis=0), axis=1)
        calm = self.fit.counted.copy()
        for leap in np.flatnonzero(steps > LEAP * np.quantile(steps[steps > 0], 0.9)):
            # frames that show it, however late they are: nothing was on the way
            before, after = self.stamps[[leap, leap + 1]]
            calm &= (times < before + EARLIEST) | (times > after + LATEST)
        if calm.sum() < FEWEST_FRAMES:
            return math.nan
        found = SmoothingFit(times, self.path.positions, calm).shift(own)
        far = not EARLIEST + 0.01 < found.shift < LATEST - 0.01
        return math.nan if far or not math.isfinite(found.residual) else found.shift


def match(
    packets: Mapping[str, PacketBlock],
    paths: Mapping[str, DrawnPath],
    candidates: Sequence[StrategySpec] = (),
) -> DrawnMatch:
    """Which of the strategies (none given: all) draws the packets as the game did.

    The frames' times are taken for the receiver's clock, that of the arrivals; without arrival
    times, for the sender's. Raises ``UnusableDrawing`` where nothing can be compared.
    """
    shared: list[_Entity] = []
    reasons = [UnusableDrawing("there is nothing in it")]
    for name in (packet for packet in packets if packet in paths):
        try:
            shared.append(_Entity(name, paths[name], packets[name]))
        except UnusableDrawing as error:
            reasons.append(error)
    if not shared:
        raise reasons[-1]
    moving = sorted(
        (entity for entity in shared if entity.step and entity.moved), key=lambda one: -one.moved
    )
    if not moving:
        raise UnusableDrawing("nothing moves in it, or in the packets of these times")
    moving = moving[:MOST_ENTITIES]
    first = moving[0]
    parts, found, engines = None, [], []
    if not candidates:
        engines = _usual(first, paths[first.name])
        parts = _mechanism(first, paths[first.name], packets[first.name])
        if parts is not None and parts.exact:
            found = _in_parts(first, parts)
        elif engines:
            parts, found = None, engines[:1]
    if found:
        best, without = found[-1], found[0]
        smoothed = _is_smoothed(first, best, without)
    else:
        best, without, smoothed = _searched(moving, packets, paths, candidates)
        if parts is not None and parts.residual < best.residual:
            without, best = (found := _in_parts(first, parts))[0], found[-1]
            smoothed = _is_smoothed(first, best, without)
        else:
            parts = None
    return DrawnMatch(
        best,
        without,
        first.step,
        first.enough,
        smoothed,
        first.lag(),
        first.frame,
        first.tick,
        tuple(_of_entity(entity, best) for entity in moving),
        parts,
        tuple(engine.candidate for engine in engines[parts is None :])
        + (() if parts is None else parts.same_as),
    )


#: The strategies of parts draw what many others do, by numbers that are fitted.
PARTS = ("buffer", "chase")

#: A game's frames from its first on are drawn again, as clocks and buffers remember: this many.
WHOLE_DRAWING = 20_000


def _is_smoothed(first: _Entity, best: FittedStrategy, without: FittedStrategy) -> bool:
    """Whether there is a second smoothing."""
    return (
        bool(best.constant)
        and max(CLEARER * max(best.residual, first.enough), MATTERS * first.step) < without.residual
        and best.residual <= max(first.enough, ALIKE * first.step)
    )


def _searched(
    moving: Sequence[_Entity],
    packets: Mapping[str, PacketBlock],
    paths: Mapping[str, DrawnPath],
    candidates: Sequence[StrategySpec],
) -> tuple[FittedStrategy, FittedStrategy, bool]:
    """The best strategy with the settings that fit best, without a low-pass, and if it has one."""
    first = moving[0]
    wanted = candidates or [spec for spec in read_specs() if spec.name not in PARTS]
    found = first.search().explanations(wanted, drawn_at_ticks(first.path) is None)
    # some strategies stand until the next packet by themselves
    if found[0].residual > first.enough and first.at_ticks():
        for entity in moving[1:]:
            entity.at_ticks()
        found = first.search().explanations(wanted)
    ended, redraw = [], Redraw(packets[first.name])
    for _ in range(NAMED):
        without, best = found[0], found[-1]
        smoothed = _is_smoothed(first, best, without)
        if not smoothed:
            best = without
        own = _again(first, redraw, paths[first.name], best)
        ended.append((own, without, smoothed))
        wanted = [spec for spec in wanted if spec.name != best.candidate.name]
        if own.residual <= max(first.enough, AS_GOOD * best.residual) or not wanted:
            break
        found = first.search().explanations(wanted, not first.tick)
    return min(ended, key=lambda ending: ending[0].residual)


def _usual(entity: _Entity, path: DrawnPath) -> list[FittedStrategy]:
    """The strategies that draw all of it as they are."""
    whole = path.times <= path.times[:WHOLE_DRAWING][-1]
    whole &= (path.times >= entity.redraw.begins) & (path.times <= entity.redraw.ends + AFTER)
    times = path.times[whole]
    wait = min(WARM_UP, 0.1 * float(times[-1] - times[0]))
    fit = SmoothingFit(times, path.positions[whole], times >= times[0] + wait)
    found = [
        FittedStrategy(spec, 0.0, 0.0, fit.residual(entity.redraw.draw(spec, times)))
        for spec in read_specs()
        if spec.name not in PARTS
    ]
    return [engine for engine in found if engine.residual <= entity.enough]


def _in_parts(entity: _Entity, parts: Mechanism) -> list[FittedStrategy]:
    """The same as a strategy, without its low-pass and with it."""
    settings = dict(parts.strategy.settings)
    constant = float(settings.pop("low_pass", 0.0))
    spec = StrategySpec(parts.strategy.name, settings)
    plain = entity.fit.residual(entity.redraw.draw(spec, entity.path.times))
    with_it = FittedStrategy(spec, 0.0, constant, parts.residual)
    return [FittedStrategy(spec, 0.0, 0.0, plain), with_it] if constant else [with_it]


def _mechanism(entity: _Entity, path: DrawnPath, packets: PacketBlock) -> Mechanism | None:
    """How it draws, of all its frames; None: there are no arrival times, or too few packets."""
    redraw = Redraw(packets)
    if not redraw.arrivals:
        return None
    columns = packet_table(packets)
    order = np.argsort(columns[ARRIVAL], kind="stable")
    table = columns[:, order]
    known = np.isfinite(table[[TIME, ARRIVAL]]).all(axis=0) & (
        np.abs(table[POSITION]) < LARGEST).all(axis=0)  # fmt: skip
    table = table[:, known]
    there = (path.times >= redraw.begins) & (path.times <= redraw.ends + AFTER)
    times, drawn = path.times[there][:WHOLE_DRAWING], path.positions[there][:WHOLE_DRAWING]
    velocities = table[VELOCITY].T
    frames = frames_of(table[ARRIVAL], table[TIME], table[POSITION].T, velocities, times, drawn)
    if len(frames.stamps) < FEWEST_FRAMES or len(frames.times) < FEWEST_FRAMES:
        return None
    counted = times >= times[0] + min(WARM_UP, 0.1 * float(times[-1] - times[0]))
    exact = min(EXACT * path.resolution, entity.enough)
    comparison = Comparison(redraw, times, drawn, counted, exact, entity.step)
    return mechanism(frames, comparison, entity.enough)


def _again(
    entity: _Entity, redraw: Redraw, path: DrawnPath, found: FittedStrategy
) -> FittedStrategy:
    """What is named, as a replay of all packets draws it, with the digits that are written."""
    settings = {
        name: float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value
        for name, value in found.candidate.settings.items()
    }
    written = found.candidate._replace(settings=settings)
    whole = (entity.tick and drawn_at_ticks(path)) or path
    times = whole.times[whole.times <= entity.path.times[-1]]
    own = redraw.draw(written, times, found.shift)
    residual = entity.fit.residual(at_times(times, own, entity.path.times), 0.0, found.constant)
    return FittedStrategy(written, found.shift, found.constant, residual)


def _of_entity(entity: _Entity, best: FittedStrategy) -> EntityMatch:
    own = entity.redraw.draw(best.candidate, entity.path.times)
    if best.constant:
        fitted = entity.fit.both(own) if best.shift else entity.fit.constant(own)
    elif best.shift:
        fitted = entity.fit.shift(own)
    else:
        return EntityMatch(entity.name, entity.fit.residual(own), entity.lag(), 0.0, 0.0)
    return EntityMatch(entity.name, fitted.residual, entity.lag(), fitted.shift, fitted.constant)
