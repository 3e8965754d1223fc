"""Which strategy drew it, with which settings, and what is on top of that."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epic_cli.engine.parameters import Choice, Number, Switch
from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.engine.strategies import declaration
from epic_cli.metrics.minimum import minimum

if TYPE_CHECKING:
    from epic_cli.engine.parameter_base import Value
    from epic_cli.jobs.diagnose.drawn.redraw import Redraw
    from epic_cli.jobs.diagnose.drawn.smoothing import Fit
    from epic_cli.metrics.arrays import Floats

#: Several settings together, and a low-pass, are sought of so many strategies: the nearest.
FINALISTS = 4

#: Values of a setting that are tried, or all whole numbers up to so many; and in the descent.
VALUES, WHOLE, FEWER = 13, 48, 7

#: So many of all settings, the nearest, are looked at closer; of these, so many are sought to the
#: last digit.
CLOSER, SHARPENED = 40, 14

#: So many of these, the nearest, have this many values tried where that does not find it: near the
#: right one some leap.
DENSE, DENSELY = 4, 97

#: How often all settings of a strategy are gone through.
ROUNDS = 2

#: A simpler explanation is taken where it is off by no more than so many times as much.
AS_GOOD = 1.1


class Explanation(NamedTuple):
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
    found: list[Explanation]
    best: Explanation


class Search(NamedTuple):
    """One entity: its frames, what strategies draw in them, and what is nearest to the drawn.

    ``enough`` (length): what is no further off is the same; ``exact``: but for rounding. What is
    within ``matters`` has nothing on top of it that anybody sees.
    """

    redraw: Redraw
    fit: Fit
    times: Floats
    enough: float
    exact: float
    matters: float

    def explanations(
        self, candidates: Sequence[StrategySpec], thorough: bool = True
    ) -> list[Explanation]:
        """The best of them, without a low-pass and with one, each the simplest that is as good.

        Several settings together, other clocks and low-passes only if it is to be ``thorough``.
        """
        drawings = [(one, self._draw(one)) for one in candidates]
        plain = [Explanation(one, 0.0, 0.0, self.fit.residual(own)) for one, own in drawings]
        if _least(plain).residual <= self.enough:
            return [_least(plain)]
        singles, scans = list(plain), []
        for one in candidates:
            singles += [self._explained(one, changed) for changed in _options(one)]
            scans += [self._scan(one, setting, VALUES) for setting in _tunable(one)]
        scans.sort(key=lambda scan: scan.best.residual)
        scans = sorted(map(self._closer, scans[:CLOSER]), key=lambda scan: scan.best.residual)
        singles += [scan.best for scan in scans]
        singles += self._sought(scans[:SHARPENED])
        if singles[-1].residual <= self.exact:
            return [singles[-1]]
        if _least(singles).residual <= self.enough or not thorough:
            return [_simplest(singles, self.enough)]
        plain = singles
        near: dict[str, Explanation] = {}
        for found in sorted(singles, key=lambda one: one.residual):
            near.setdefault(found.candidate.name, found)
        for found in list(near.values())[:FINALISTS]:
            plain.append(self._descended(found))
            if plain[-1].residual <= self.enough:
                return [plain[-1]]
        looks = [(one, own, *self.fit.scan(own)) for one, own in drawings]
        plain += [
            self._redrawn(one)
            for one in _nearest(
                (self.fit.nearby(own, fit).residual, one) for one, own, fit, _ in looks
            )
        ]
        without = _simplest(plain, self.enough)
        if _least(plain).residual <= self.matters:
            return [without]
        likely = [Explanation(one, *self.fit.likely_constant(own)) for one, own in drawings]
        likely.sort(key=lambda one: one.residual)
        smooth = [self._refined(one) for one in likely[:FINALISTS]]
        if _least(smooth).residual > self.enough:
            for one in _nearest((fit.residual, one) for one, _, _, fit in looks):
                smooth.append(Explanation(one, *self.fit.both(self._draw(one))))
                smooth.append(self._refined(self._descended(Explanation(one, 0, 0, 0), True)))
                if smooth[-1].residual <= self.enough:
                    break
        return [without, _simplest(smooth, self.enough)]

    def _sought(self, scans: Sequence[_Scan]) -> list[Explanation]:
        """The best values of settings to the last digit; the last one is exact, if one is."""
        found: list[Explanation] = []
        for scan in scans:
            found.append(self._sharpened(scan))
            if found[-1].residual <= self.exact:
                return found
        order = sorted(range(len(scans)), key=lambda place: found[place].residual)
        for place in order[:DENSE]:
            scan = scans[place]
            found.append(self._sharpened(self._scan(scan.best.candidate, scan.setting, DENSELY)))
            if found[-1].residual <= self.exact:
                break
        return found

    def _explained(
        self, candidate: StrategySpec, changed: dict[str, Value], smooth: bool = False
    ) -> Explanation:
        """How near a strategy comes with some settings changed."""
        other = StrategySpec(candidate.name, {**candidate.settings, **changed})
        own = self._draw(other)
        if smooth:
            return Explanation(other, *self.fit.likely_constant(own))
        return Explanation(other, 0.0, 0.0, self.fit.residual(own))

    def _draw(self, candidate: StrategySpec, shift: float = 0.0) -> Floats:
        return self.redraw.draw(candidate, self.times, shift)

    def _redrawn(self, candidate: StrategySpec) -> Explanation:
        """The best shift, each drawn again."""
        near = self.fit.shift(self._draw(candidate)).shift
        shift, residual = minimum(
            lambda one: self.fit.residual(self._draw(candidate, one)), near - 0.02, near + 0.02
        )
        return Explanation(candidate, shift, 0.0, residual)

    def _refined(self, found: Explanation) -> Explanation:
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
        found = [self._explained(candidate, {setting.name: one}, smooth) for one in steps]
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
        return _Scan(scan.setting, steps, [tried[one] for one in steps], _least(tried.values()))

    def _sharpened(self, scan: _Scan, smooth: bool = False, zooms: int = 3) -> Explanation:
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

    def _descended(self, best: Explanation, smooth: bool = False) -> Explanation:
        """The best settings that the declaration says are worth tuning, one after the other."""
        candidate = best.candidate
        best = self._explained(candidate, {}, smooth)
        for _ in range(ROUNDS):
            before = best.residual
            tried = [best]
            tried += [self._explained(best.candidate, one, smooth) for one in _options(candidate)]
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
    found = [one for one in settings if isinstance(one, Number) and one.tune is not None]
    return sorted(found, key=lambda one: one.unit != "s")


def _options(candidate: StrategySpec) -> list[dict[str, Value]]:
    """Each other word of each choice and switch that is worth trying."""
    known = declaration(candidate.name)
    usual = known.values(candidate.settings)
    return [
        {one.name: word}
        for one in known.settings
        if isinstance(one, (Choice, Switch)) and one.tune
        for word in one.choices
        if one.convert(word) != usual[one.name]
    ]


def _steps(setting: Number, values: int) -> Iterator[float]:
    low, high = setting.tune or (setting.low, setting.high)
    if setting.whole and high - low < WHOLE:
        yield from (float(one) for one in range(round(low), round(high) + 1))
        return
    space = np.geomspace if setting.scale == "log" else np.linspace
    for one in space(low, high, values):
        yield float(round(one)) if setting.whole else _short(float(one))


def _short(value: float) -> float:
    return float(f"{value:.4g}")


def _least(found: Collection[Explanation]) -> Explanation:
    return min(found, key=lambda one: one.residual)


def _simplest(found: Sequence[Explanation], enough: float) -> Explanation:
    """Of those that are about as good as the best: usual settings first, then the same clock."""
    most = max(AS_GOOD * _least(found).residual, enough)
    good = [one for one in found if one.residual <= most]
    return min(
        good, key=lambda one: (len(one.candidate.settings) + 2 * bool(one.shift), one.residual)
    )
