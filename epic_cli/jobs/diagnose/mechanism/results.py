"""Results of a search, sorted by error."""

from __future__ import annotations

import bisect
import math

from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.jobs.diagnose.fitted import FittedStrategy
from epic_cli.jobs.diagnose.mechanism.compositions import make_composition_key

#: The least times (s) that may be meant.
LEAST_TIMES = {"curve_time": 0.01, "low_pass": 1e-3, "ahead_time": 1e-3}


class SearchResults:
    """Fitted strategies, the least error first; of about the same error only the simplest.

    An error up to ``exact`` (RMS, length) is rounding.
    """

    def __init__(self, exact: float) -> None:
        self.exact = exact
        self.ranked: list[FittedStrategy] = []
        self._by_error: dict[object, FittedStrategy] = {}
        self._keys: dict[str, tuple[object, ...]] = {}

    @property
    def best(self) -> FittedStrategy:
        """The result with the least error."""
        return self.ranked[0]

    @property
    def is_exact(self) -> bool:
        """True if the best result differs from the frames by rounding alone."""
        return self.best.residual <= self.exact

    @property
    def is_settled(self) -> bool:
        """True if the best result is exact, or draws nearly all frames."""
        return self.is_exact or self.best.draws_most

    def find_least(self, name: str) -> float:
        """Return the least error (mean, length) of a strategy's results; infinite for none."""
        own = (found.apart for found in self.ranked if found.candidate.name == name)
        return next(own, math.inf)

    def find_most(self) -> FittedStrategy | None:
        """Return the nearest result that draws nearly all frames."""
        return next((found for found in self.ranked if found.draws_most), None)

    def add(self, found: FittedStrategy) -> None:
        """Add a result without negligible times, unless one with about its error is as simple."""
        if not math.isfinite(found.apart) or _has_negligible_time(found):
            return
        error: object = found.candidate.name, round(found.apart / (0.01 * self.exact))
        if found.residual <= self.exact:
            error = self._make_key(found.candidate)
        before = self._by_error.get(error)
        if before is not None:
            if len(found.candidate.settings) >= len(before.candidate.settings):
                return
            self.ranked.remove(before)
        self._by_error[error] = found
        bisect.insort(self.ranked, found, key=self._rank)

    def select_diverse(self, count: int) -> list[FittedStrategy]:
        """Return ``count`` results with different clocks and ``count`` with other words.

        Of a few, most are buffers, which have more words. What draws nearly all frames is there.
        """
        picked: dict[str, FittedStrategy] = {}
        for part in (slice(None, 2), slice(2, None)):
            ways: dict[object, FittedStrategy] = {}
            for found in self.ranked:
                key = self._make_key(found.candidate)[part]
                ways.setdefault((found.candidate.name, *key), found)
            buffers = [found for found in ways.values() if found.candidate.name == "buffer"]
            chases = [found for found in ways.values() if found.candidate.name == "chase"]
            for found in (*buffers[:count], *chases[: count // 2]):
                picked[found.candidate.label] = found
        most = self.find_most()
        picked |= {most.candidate.label: most} if most is not None else {}
        return list(picked.values())

    def _rank(self, found: FittedStrategy) -> tuple[bool, float]:
        """Return the sort key of a result: what is exact comes first."""
        return found.residual > self.exact, found.apart

    def _make_key(self, spec: StrategySpec) -> tuple[object, ...]:
        """Return the key of a composition."""
        if spec.label not in self._keys:
            self._keys[spec.label] = make_composition_key(spec)
        return self._keys[spec.label]


def _has_negligible_time(found: FittedStrategy) -> bool:
    """Return True if a result has a time that is too short to be meant."""
    times = ((found.candidate.settings.get(key), least) for key, least in LEAST_TIMES.items())
    return any(isinstance(time, float) and 0 < time < least for time, least in times)
