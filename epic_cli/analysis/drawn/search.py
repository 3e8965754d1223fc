"""Which strategy drew it, with which settings, and what is on top of that."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epic_cli.analysis.minimum import minimum
from epic_cli.engine.parameters import Number
from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.engine.strategies import declaration

if TYPE_CHECKING:
    from epic_cli.analysis.arrays import Floats
    from epic_cli.analysis.drawn.redraw import Redraw
    from epic_cli.analysis.drawn.smoothing import Fit
    from epic_cli.engine.parameter_base import Value

#: Settings are sought of so many strategies: those that come nearest with their usual ones.
FINALISTS = 4

#: Values of a setting that are tried, and how often all settings are gone through.
VALUES, ROUNDS = 7, 2

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


class Search:
    """One entity: its frames, what strategies draw in them, and what is nearest to the drawn.

    ``enough`` (length): what is no further off is the same.
    """

    def __init__(self, redraw: Redraw, fit: Fit, times: Floats, enough: float) -> None:
        self._redraw = redraw
        self._fit = fit
        self._times = times
        self._enough = enough

    def explanations(self, candidates: Sequence[StrategySpec]) -> list[Explanation]:
        """The best of them, without a low-pass and with one, each the simplest that is as good."""
        drawings = [(one, self._draw(one)) for one in candidates]
        usual = [Explanation(one, 0.0, 0.0, self._fit.residual(own)) for one, own in drawings]
        best = _least(usual)
        if best.residual <= self._enough:
            return [best]
        scans = [(one, own, *self._fit.scan(own)) for one, own in drawings]
        near_plain = _nearest(
            (self._fit.nearby(own, fit).residual, one) for one, own, fit, _ in scans
        )
        near_smooth = _nearest((fit.residual, one) for one, _, _, fit in scans)
        likely = [Explanation(one, *self._fit.likely_constant(own)) for one, own in drawings]
        likely.sort(key=lambda one: one.residual)
        plain, smooth = [*usual], [self._refined(one) for one in likely[:FINALISTS]]
        for one in near_plain:  # a strategy's own settings may draw what a low-pass does
            plain.append(self._tuned(one, False))
            if plain[-1].residual <= self._enough:
                return [plain[-1]]
        plain += [self._redrawn(one) for one in near_plain]
        if _least([*plain, *smooth]).residual > self._enough:
            for one in near_smooth:
                smooth.append(Explanation(one, *self._fit.both(self._draw(one))))
                smooth.append(self._refined(self._tuned(one, True)))
                if smooth[-1].residual <= self._enough:
                    break
        return [_simplest(plain, self._enough), _simplest(smooth, self._enough)]

    def _draw(self, candidate: StrategySpec, shift: float = 0.0) -> Floats:
        return self._redraw.draw(candidate, self._times, shift)

    def _redrawn(self, candidate: StrategySpec) -> Explanation:
        """The best shift, each drawn again."""
        near = self._fit.shift(self._draw(candidate)).shift
        shift, residual = minimum(
            lambda one: self._fit.residual(self._draw(candidate, one)), near - 0.02, near + 0.02
        )
        return Explanation(candidate, shift, 0.0, residual)

    def _refined(self, found: Explanation) -> Explanation:
        """The same with the best time constant."""
        if not found.constant:
            return found
        own = self._draw(found.candidate)
        return found._replace(**self._fit.constant(own, found.shift)._asdict())

    def _tuned(self, candidate: StrategySpec, smooth: bool) -> Explanation:
        """The best settings that the declaration says are worth tuning, one after the other."""

        def explained(settings: dict[str, Value]) -> Explanation:
            changed = StrategySpec(candidate.name, settings)
            own = self._draw(changed)
            if smooth:
                return Explanation(changed, *self._fit.likely_constant(own))
            return Explanation(changed, 0.0, 0.0, self._fit.residual(own))

        best = explained({})
        numbers = _tunable(candidate)
        for _ in range(ROUNDS if len(numbers) > 1 else 1):
            before = best.residual
            for setting in numbers:
                best = self._along(setting, best, explained)
                if best.residual <= self._enough:
                    return best
            if best.residual > 0.9 * before:
                break
        return best

    def _along(
        self,
        setting: Number,
        best: Explanation,
        explained: Callable[[dict[str, Value]], Explanation],
    ) -> Explanation:
        """The best value of one setting, the others as they are."""
        given = best.candidate.settings
        steps = list(_steps(setting))
        found = [explained({**given, setting.name: one}) for one in steps]
        place = int(np.argmin([one.residual for one in found]))
        best = min(best, found[place], key=lambda one: one.residual)
        if setting.whole or found[place].residual > 2 * best.residual:
            return best
        low, high = steps[max(place - 1, 0)], steps[min(place + 1, len(steps) - 1)]
        tried = []

        def off(value: float) -> float:
            tried.append(explained({**given, setting.name: _short(value)}))
            return tried[-1].residual

        minimum(off, low, high, 9)
        best = min([best, *tried], key=lambda one: one.residual)
        value = best.candidate.settings.get(setting.name)
        for digits in (1, 2, 3) if isinstance(value, float) else ():  # as people write numbers
            off(float(f"{value:.{digits}g}"))
        return min([best, *tried], key=lambda one: one.residual)


def _nearest(found: Iterable[tuple[float, StrategySpec]]) -> list[StrategySpec]:
    """Those that come nearest, each with how far off it is."""
    return [one for _, one in sorted(found, key=lambda one: one[0])[:FINALISTS]]


def _tunable(candidate: StrategySpec) -> list[Number]:
    """Settings worth tuning, times first."""
    settings = declaration(candidate.name).settings
    found = [one for one in settings if isinstance(one, Number) and one.tune is not None]
    return sorted(found, key=lambda one: one.unit != "s")


def _steps(setting: Number) -> Iterator[float]:
    low, high = setting.tune or (setting.low, setting.high)
    space = np.geomspace if setting.scale == "log" else np.linspace
    for one in space(low, high, VALUES):
        yield float(round(one)) if setting.whole else _short(float(one))


def _short(value: float) -> float:
    return float(f"{value:.4g}")


def _least(found: Sequence[Explanation]) -> Explanation:
    return min(found, key=lambda one: one.residual)


def _simplest(found: Sequence[Explanation], enough: float) -> Explanation:
    """Of those that are about as good as the best: usual settings first, then the same clock."""
    most = max(AS_GOOD * _least(found).residual, enough)
    good = [one for one in found if one.residual <= most]
    return min(
        good, key=lambda one: (len(one.candidate.settings) + 2 * bool(one.shift), one.residual)
    )
