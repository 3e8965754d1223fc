"""Search the engines' strategies, their settings, a delay and a low-pass, for drawn frames."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epic_cli.engine.parameters import Number
from epic_cli.engine.strategies import list_names
from epic_cli.jobs.diagnose.drawn.lateness import APART, find_lateness
from epic_cli.jobs.diagnose.drawn.setting_values import (
    iterate_setting_values,
    list_tunable_settings,
    list_word_options,
    state_default_number,
)
from epic_cli.jobs.diagnose.fitted import FittedStrategy
from epic_cli.metrics.drawn_path import FEWEST_FRAMES

if TYPE_CHECKING:
    from epic_cli.engine.replay.strategy_spec import StrategySpec
    from epic_cli.jobs.diagnose.comparison import FrameComparison


#: Strategies, the nearest ones, for which another clock and a low-pass are tried.
FINALISTS = 4

#: Values of a setting that are tried.
VALUES = 13

#: Settings, the nearest ones, that are fitted to the last digit; if that is not exact, this many of
#: them are tried at that many values, since some positions leap near the right one.
SHARPENED, DENSE, DENSELY = 14, 4, 97

#: Most settings that are changed one after the other, as long as each leaves less than this share
#: of the error.
TURNS, BETTER = 3, 0.8

#: A strategy this many times as far as the nearest is not changed further.
BEATEN = 2.5

#: A search in which no changed setting comes nearer than this multiple of what is known ends.
FARTHER = 4.0

#: The frames by which a time shift is found roughly.
ROUGHLY = 250

#: Time constant (s) from which the fit begins.
SMOOTHED = 0.06

#: Largest error of a simpler explanation, as a multiple of the best.
AS_GOOD = 1.1


class StrategySearch(NamedTuple):
    """A search for the strategy that draws one entity's frames.

    A difference below ``enough`` (length) is none. One below ``matters`` hides any smoothing on
    top.
    """

    comparison: FrameComparison
    enough: float
    matters: float

    def find_explanations(
        self, candidates: Sequence[StrategySpec], thorough: bool = True, known: float = math.inf
    ) -> list[FittedStrategy]:
        """Return the best strategies, without a low-pass and with one, each with few settings.

        Other clocks and low-passes are tried only if the search is ``thorough``. ``known`` is the
        error of what is found already (RMS, length): what is far worse is not changed further.
        """
        off, first = self.comparison.measure_error, self.comparison.select_glance().measure_error
        usual = [off(FittedStrategy(spec)) for spec in candidates]
        if _select_least_error(usual).residual <= self.enough:
            return [_select_least_error(usual)]
        glanced = [first(found) for found in usual]
        changed = [change for found in usual for change in self._iterate_changes(found)]
        singles = sorted([*glanced, *changed], key=lambda single: single.residual)
        if singles[0].residual > FARTHER * known:  # nothing nearer is to be found
            return [_find_simplest_strategy(usual, self.enough)]
        singles = [off(each) for each in singles[:SHARPENED]]
        sharp = [self.comparison.shorten_numbers(self.comparison.fit(each)) for each in singles]
        exact = [each for each in sharp if each.residual <= self.comparison.exact]
        for each in sorted(sharp, key=lambda each: each.residual)[: 0 if exact else DENSE]:
            for setting in list_tunable_settings(each.candidate):
                if setting.name in each.candidate.settings:
                    found = self.comparison.fit(self._find_best_value(each, setting, DENSELY))
                    sharp.append(self.comparison.shorten_numbers(found))
        if _select_least_error(sharp).residual > self.matters:  # nearer, several only fit noise
            most = BEATEN * min(known, _select_least_error([*glanced, *changed]).residual)
            sharp += [
                self.comparison.shorten_numbers(self._change_in_turn(found))
                for found in _select_nearest_by_words(glanced, changed)
                if found.residual <= most
            ]
            exact = [each for each in sharp if each.residual <= self.comparison.exact]
        plain = [*usual, *singles, *sharp]
        if exact:  # ``lerp``, not ``luanti``
            return [min(exact, key=lambda one: list_names().index(one.candidate.name))]
        if _select_least_error(plain).residual <= self.enough or not thorough:
            return [_find_simplest_strategy(plain, self.enough)]
        late = [
            self._fit_shift(each)
            for each in self._select_nearest_strategies(map(self._shift_by_lateness, usual))
        ]
        plain += late
        without = _find_simplest_strategy(plain, self.enough)
        if _select_least_error(plain).residual <= self.matters:
            return [without]
        smooth = [
            self.comparison.fit(each._replace(constant=SMOOTHED))
            for each in [*self._select_nearest_strategies(usual), *late]
        ]
        return [without, _find_simplest_strategy(smooth, self.enough)]

    def _iterate_changes(self, found: FittedStrategy) -> Iterator[FittedStrategy]:
        """Yield the strategy with each of its settings changed, measured in the first frames."""
        first = self.comparison.select_glance().measure_error
        for word in list_word_options(found.candidate):
            yield first(found.change(word))
        for own in list_tunable_settings(found.candidate):
            yield self._find_best_value(state_default_number(found, own), own, VALUES)

    def _change_in_turn(self, found: FittedStrategy) -> FittedStrategy:
        """Return the strategy after the best changes, one after the other, and a fit."""
        best = self.comparison.select_glance().measure_error(found)
        for _ in range(TURNS):
            changed = _select_least_error([best, *self._iterate_changes(best)])
            if changed.residual > BETTER * best.residual:
                break
            best = changed
        return self.comparison.fit(best)

    def _select_nearest_strategies(self, found: Iterable[FittedStrategy]) -> list[FittedStrategy]:
        """Return the best settings found for each of the strategies with the least error."""
        near: dict[str, FittedStrategy] = {}
        for each in sorted(found, key=lambda each: each.residual):
            near.setdefault(each.candidate.name, each)
        return list(near.values())[:FINALISTS]

    def _find_best_value(
        self, found: FittedStrategy, setting: Number, values: int
    ) -> FittedStrategy:
        """Return the strategy with the best value of one setting in the first frames."""
        comparison = self.comparison.select_glance()
        steps = list(iterate_setting_values(setting, values))
        if setting.whole:
            tried = [comparison.measure_error(found.change({setting.name: step})) for step in steps]
            return _select_least_error([comparison.measure_error(found), *tried])
        return comparison.search(comparison.measure_error(found), setting.name, steps)

    def _shift_by_lateness(self, found: FittedStrategy) -> FittedStrategy:
        """Return the strategy shifted in time by roughly its lateness."""
        comparison = self.comparison
        own = comparison.redraw.draw(found.candidate, comparison.times)
        known = np.isfinite(own[:, 0])
        if known.sum() < FEWEST_FRAMES:
            return found
        times = comparison.times[known]
        shift = find_lateness(times, own[known], comparison, most=ROUGHLY)[0]
        return comparison.measure_error(found._replace(shift=shift))

    def _fit_shift(self, found: FittedStrategy) -> FittedStrategy:
        """Return the strategy with the time shift that fits best.

        Near it, packets change from frame to frame.
        """
        near = (found.shift - APART, found.shift, found.shift + APART)
        return self.comparison.search(found, "", near, 14)


def _select_least_error(found: Collection[FittedStrategy]) -> FittedStrategy:
    return min(found, key=lambda one: one.residual)


def _select_nearest_by_words(
    usual: Sequence[FittedStrategy], changed: Sequence[FittedStrategy]
) -> list[FittedStrategy]:
    """Return the nearest of each strategy's changes of one number, and each word that helps."""
    near: dict[tuple[str, ...], FittedStrategy] = {}
    without = {found.candidate.name: found.residual for found in usual}
    for each in sorted(changed, key=lambda one: one.residual):
        spec = each.candidate
        words = [value for value in spec.settings.values() if isinstance(value, str)]
        if not words or each.residual < BETTER * without[spec.name]:
            near.setdefault((spec.name, *words), each)
    return list(near.values())


def _find_simplest_strategy(found: Sequence[FittedStrategy], enough: float) -> FittedStrategy:
    """Return the simplest of the strategies whose error is close to the least error.

    Usual settings first, then no shift.
    """
    most = max(AS_GOOD * _select_least_error(found).residual, enough)
    good = [strategy for strategy in found if strategy.residual <= most]
    return min(
        good, key=lambda one: (len(one.candidate.settings) + 2 * bool(one.shift), one.residual)
    )
