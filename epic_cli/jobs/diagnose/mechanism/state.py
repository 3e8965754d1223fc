"""The state of a search: its frames, and the results of the looks at strategies so far."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from epic_cli.jobs.diagnose.comparison import FrameComparison
from epic_cli.jobs.diagnose.fitted import FittedStrategy
from epic_cli.jobs.diagnose.mechanism.clocks import TimeAxes
from epic_cli.jobs.diagnose.mechanism.compositions import add_settings
from epic_cli.jobs.diagnose.mechanism.marks import find_grid, find_state_grid, round_states
from epic_cli.jobs.diagnose.mechanism.readings import CLEARER, PossibleReading
from epic_cli.jobs.diagnose.mechanism.results import SearchResults
from epic_cli.jobs.diagnose.mechanism.variants import Variants

if TYPE_CHECKING:
    from epic_cli.engine.replay.strategy_spec import StrategySpec
    from epic_cli.jobs.diagnose.frames import Frames

#: Chases whose readings are of a whole way, not of each step.
WAYS = ("linear", "eased", "hermite", "growing", "interval")


class SearchState:
    """Frames, the variants of compositions for them, and all results, with their errors."""

    def __init__(
        self, frames: Frames, comparison: FrameComparison, clocks: TimeAxes | None = None
    ) -> None:
        self.exact = comparison.exact
        #: How received states are rounded; empty if they are not.
        self.rounding = {}
        if not find_grid(frames, self.exact):
            self.rounding = find_state_grid(frames, self.exact)
        self.frames, self.comparison = round_states(frames, self.rounding), comparison
        frames = self.frames
        self.clocks = clocks or TimeAxes(frames)
        self.variants = Variants(frames, self.clocks, comparison.exact)
        self.results = SearchResults(comparison.exact)
        self._looked: set[str] = set()

    def look_at(
        self, specs: Sequence[StrategySpec], only: Sequence[str] = (), most: float = math.inf
    ) -> None:
        """Take a first look at strategies, by one step of the fit, until one is exact.

        Those with a larger error than ``most`` (length) are not fitted.
        """
        for given in specs:
            spec = add_settings(given, self.rounding)
            if spec.label in self._looked:
                continue
            self._looked.add(spec.label)
            found = self.comparison.measure_error(FittedStrategy(spec))
            if found.apart <= most:
                found = self.comparison.fit(found, 1, only)
            self.results.add(found)
            if found.residual <= self.exact:
                break

    def look_at_readings(
        self, readings: Sequence[PossibleReading], count: int, tied: float
    ) -> None:
        """Look at the first readings of a kind; once one is exact, only at those about as likely.

        Whole ways are a kind of their own: a step alone is never far off.
        """
        tied = max(CLEARER * readings[0].off, tied)
        seen = {True: 0, False: 0}
        for reading in readings:
            kind = reading.strategy.settings.get("how") in WAYS
            seen[kind] += 1
            if self.results.is_exact:
                if reading.off > tied:
                    break
            elif seen[kind] > count:
                continue
            self.look_at([reading.strategy])
