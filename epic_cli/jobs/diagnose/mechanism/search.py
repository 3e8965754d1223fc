"""Search for the composition that draws some frames.

The readings are drawn again by the strategies ``buffer`` and ``chase`` themselves; their settings
are fitted to what is left, and parts are replaced one by one.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from epic_cli.engine.replay.strategy_spec import StrategySpec, read_specs
from epic_cli.jobs.diagnose.fitted import FittedStrategy
from epic_cli.jobs.diagnose.mechanism.ages import read_buffers
from epic_cli.jobs.diagnose.mechanism.chases import read_chases
from epic_cli.jobs.diagnose.mechanism.compositions import (
    KNOWN,
    add_settings,
    convert_to_numbers,
    is_timed_alike,
    order_settings,
)
from epic_cli.jobs.diagnose.mechanism.counted_ticks import select_tick_frames
from epic_cli.jobs.diagnose.mechanism.empty_buffers import look_at_empty_buffers
from epic_cli.jobs.diagnose.mechanism.kinds import (
    look_at_counted_ticks,
    look_at_kinds,
    look_at_zones,
)
from epic_cli.jobs.diagnose.mechanism.plain_chases import look_at_changes, look_at_plain_chases
from epic_cli.jobs.diagnose.mechanism.queues import look_at_fills, look_at_timed_queues
from epic_cli.jobs.diagnose.mechanism.results import SearchResults
from epic_cli.jobs.diagnose.mechanism.simplify import simplify
from epic_cli.jobs.diagnose.mechanism.state import SearchState
from epic_cli.jobs.diagnose.mechanism.supply import is_exotic, make_plain_chase
from epic_cli.jobs.diagnose.mechanism.tick_frames import center_found_phase
from epic_cli.jobs.diagnose.mechanism.variants import SLOWER

#: Clocks that differ in steadiness by less than this (s) may draw the same.
TIED = 5e-5

#: Results that are fitted to the end, variants that are, and what is written with few settings.
KEPT, FITTED, ENDED = 2, 6, 3

#: The share of exact frames of an error that is everywhere, and how much it may grow in more.
SELDOM, FEWER = 0.5, 1.25

#: Delays (s) of buffers whose ages do not tell them: those that never catch up or keep too few
#: states for it, by each way to tell their times.
DELAYS = np.arange(0.0, 0.3, 0.01).tolist()
HIDING: tuple[dict[str, Any], ...] = ({"catch_up": "none"}, {"keep": 2})
TIMES = ({"clock": "first"}, {"stamps": "arrival"}, {"stamps": "ticks", "clock": "first"})

#: Times near which drawn positions leap, so that slopes are useless.
LEAPING = ("clock_time", "beyond", "interval_time", "jitter_time")

#: Most rounds of changed words, as long as each leaves less than this share of the error.
CHANGES, BETTER = 5, 0.9

#: A changed part whose mean error is above this share of the usual step, and that many times the
#: least, is not fitted.
DISTANT, FARTHER = 0.15, 2.0

#: A usual way of drawing whose errors are at most this multiple of the least is as likely.
NEARLY = 1.25

#: A mean error that no change of parts explains, as a share of the usual step.
HOPELESS = 0.1

#: A mean error, as a share of the usual step, that tells the parts.
CLOSE = 0.002

#: Readings of buffers, and of each kind of chases, that are drawn.
READINGS, FIRST = 10, 16


class ExplanationSearch(SearchState):
    """A search for the strategy that draws some frames.

    ``survey`` and ``deepen`` begin it, or ``resume`` after a search in some of the frames;
    ``take_over`` is for one with other arrivals; ``finish`` ends it.
    """

    def survey(self) -> None:
        """Read the frames, and look at what is nearest of each kind."""
        known = bool(self.results.ranked)  # by other arrivals
        self.look_at([convert_to_numbers(spec) for spec in read_specs(KNOWN)])
        readings = read_chases(self.frames)
        count = FIRST if self.frames.taken is None else 2 * FIRST
        self.look_at_readings(readings, count, self.exact)
        look_at_plain_chases(self, readings)
        if known and self.results.is_settled and not self.results.is_exact:
            return
        if not self.results.is_exact:
            look_at_zones(self, readings)
        look_at_changes(self)
        if not self.results.is_exact:
            look_at_kinds(self)
        best = self.results.best
        open_still = not self.results.is_settled or best.apart > CLOSE * self.frames.unit
        if open_still or is_exotic(self.frames, best.candidate):
            self.look_at_buffers()

    def deepen(self) -> None:
        """Look at what frames do not tell, and change what is nearest part by part."""
        if not self.results.is_exact:
            look_at_empty_buffers(self)
        look_at_timed_queues(self)
        hidden = [({**hiding, **times}, 8) for hiding, times in itertools.product(HIDING, TIMES)]
        slow = [({"catch_up": "slow", "catch_up_rate": rate}, 4) for rate in SLOWER]
        for settings, steps in (*hidden, *slow):
            if not self.results.is_settled:
                found = FittedStrategy(StrategySpec("buffer", {"delay": 0.1, **settings}))
                self.results.add(self.comparison.search(found, "delay", DELAYS, steps))
        look_at_fills(self)
        self.change_parts()

    def take_over(self, begun: ExplanationSearch) -> None:
        """Fit what a search with other arrivals has found."""
        self.fit_results(begun.results)
        for found in self.results.ranked[:KEPT]:  # some parts made up for the wrong arrivals
            if not self.results.is_exact:
                without = list(self.variants.iterate_without(found.candidate))
                self.look_at(without, ("time", "delay"))

    def resume(self, begun: ExplanationSearch) -> None:
        """Go on with what a search in some of the frames has found."""
        self.fit_results(begun.results)
        look_at_counted_ticks(self)  # whose phase more frames tell better
        best = self.results.best
        if self.results.is_exact or best.apart > HOPELESS * self.frames.unit:
            return
        look_at_empty_buffers(self)
        # what few frames do not tell is seldom
        if best.share < SELDOM and best.apart < FEWER * begun.results.best.apart:
            return
        near = self.results.find_least("buffer") < FARTHER * best.apart
        if near and not self.results.is_settled:
            self.look_at_buffers()
        if not self.results.is_exact:
            self.change_parts()

    def finish(self) -> list[FittedStrategy]:
        """Return the strategies found for the frames, the least error first."""
        ranked = self.results.ranked
        same = [found for found in ranked if found.residual <= self.exact]
        same.sort(key=lambda found: len(found.candidate.settings))
        some = same[:FITTED] or ranked[:ENDED]
        if not any(self.is_plain(found, some[0]) for found in some):
            some += [found for found in ranked if self.is_plain(found, some[0])][:1]
        chases = [make_plain_chase(found.candidate, self.frames.interval) for found in some]
        some += [self.comparison.fit(FittedStrategy(spec)) for spec in chases if spec is not None]
        ended = [order_settings(simplify(found, self.comparison, self.variants)) for found in some]
        return sorted(ended, key=lambda one: (not one.draws_most, one.residual))

    def is_plain(self, found: FittedStrategy, best: FittedStrategy) -> bool:
        """Return True for a usual way of drawing that is nearly as good as the best result."""
        least = NEARLY * best.residual, NEARLY * best.apart
        near = found.residual <= least[0] and found.apart <= least[1]
        return near and not is_exotic(self.frames, found.candidate)

    def fit_results(self, begun: SearchResults) -> None:
        """Fit what another search has found."""
        exact = sum(one.residual <= begun.exact for one in begun.ranked)
        near = [*begun.ranked[: max(exact, FITTED)], *begun.select_diverse(KEPT)]
        for one in {one.candidate.label: one for one in near}.values():
            self.results.add(self.comparison.fit(one))
            centered = center_found_phase(one, self.frames)
            if centered.candidate != one.candidate:
                self.results.add(self.comparison.fit(centered))

    def change_parts(self) -> None:
        """Fit what is nearest, and replace its parts as long as that brings it nearer."""
        results = self.results
        for _ in range(CHANGES):
            before = results.best.apart
            for found in results.select_diverse(KEPT):
                results.add(self._search_leaping_times(self.comparison.fit(found)))
            if results.is_exact:
                break
            for found in results.select_diverse(KEPT):
                for spec in self.variants.iterate_variants(found.candidate):
                    # another clock needs another delay
                    most = self._limit_error(spec) if is_timed_alike(spec, found) else math.inf
                    self.look_at([spec], ("delay", "time", "low_pass"), most)
                    if results.is_exact:
                        break
            for found in results.select_diverse(FITTED):
                results.add(self.comparison.fit(found, 3))
            if results.best.apart > BETTER * before:
                break

    def look_at_buffers(self) -> None:
        """Look at the buffers whose ages are steadiest, and sort the clocks by that."""
        for ticks in self.variants.ticks or [{}]:
            # frames without a tick show what was drawn before
            frames = select_tick_frames(self.frames, **ticks) if ticks else self.frames
            readings = read_buffers(frames, self.clocks.every)
            ticked = [one._replace(strategy=add_settings(one.strategy, ticks)) for one in readings]
            self.look_at_readings(ticked, READINGS, TIED)
        steady = [self.clocks.find(reading.strategy.settings) for reading in readings]
        self.clocks.every.sort(key=steady.index)

    def _limit_error(self, spec: StrategySpec) -> float:
        """Return the error (mean, length) beyond which a changed part is not worth a fit.

        A spring comes nearer to anything smooth than a buffer whose low-pass is yet to be found.
        """
        return max(DISTANT * self.frames.unit, FARTHER * self.results.find_least(spec.name))

    def _search_leaping_times(self, found: FittedStrategy) -> FittedStrategy:
        """Return a result after a wider search of settings near which positions leap."""
        for key in LEAPING:
            value = found.candidate.settings.get(key)
            if isinstance(value, float) and found.residual > self.exact:
                found = self.comparison.search(found, key, (value / 2, value, value * 2))
        return found
