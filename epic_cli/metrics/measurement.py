"""What is accumulated over the rows that one candidate draws: what metrics are computed from."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Self, cast

import numpy as np

from epic_cli.metrics import SUMS
from epic_cli.metrics.arrays import quantile
from epic_cli.metrics.lag import Lag
from epic_cli.metrics.recovery import Recovery

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from epic_cli.metrics.arrays import Floats
    from epic_cli.metrics.weights import Weights


class Kept(NamedTuple):
    """What is known of all errors where only some are kept: how many, their squares' sum, the most.

    Those that are kept are in order of size, and evenly chosen.
    """

    rows: int
    squares: float
    largest: float


class ErrorsKept:
    """Errors of the rows that count, or some of them (``thinned``) and what was ``kept`` of all."""

    errors: Floats
    kept: Kept | None

    @property
    def rows(self) -> int:
        """How many rows count."""
        return len(self.errors) if self.kept is None else self.kept.rows

    @property
    def error(self) -> float:
        """The root mean square of all errors."""
        return math.sqrt(self._all.squares / self.rows) if self.rows else 0.0

    @property
    def error95(self) -> float:
        """What 95 % of them do not exceed."""
        return quantile(self.errors, 0.95)

    @property
    def error_max(self) -> float:
        """The largest one."""
        return self._all.largest

    @property
    def _all(self) -> Kept:
        if self.kept is not None:
            return self.kept
        squares = float(np.square(self.errors).sum())
        return Kept(len(self.errors), squares, float(self.errors.max(initial=0.0)))

    def thinned(self, most: int) -> Self:
        """The same with about ``most`` of the errors, from which quantiles can still be told."""
        if len(self.errors) <= most:
            return self
        chosen: Any = self
        return cast(
            "Self", replace(chosen, errors=_evenly(np.sort(self.errors), most), kept=self._all)
        )


@dataclass(frozen=True)
class Turned(ErrorsKept):
    """The angles (degrees) to the truth of the rows that count, and the lag; as ``Measurement``."""

    errors: Floats
    lag: Lag
    kept: Kept | None = None


@dataclass(frozen=True)
class Measurement(ErrorsKept):
    """What was accumulated over the rows of one candidate: metrics are functions of it.

    It is of one entity as ``measure`` makes it, of several as ``pool`` does. Lengths are in the
    recording's unit. ``errors`` are those of the rows that count, one after the other, or some of
    them (``thinned``), with what was ``kept`` of all; ``broken`` is how many rows would count but
    are not finite. ``excess`` is by how much the longest step goes beyond the truth's longest
    around it. ``overshoot`` is the most by which it is ahead of the truth, ``overshoots`` the sum
    of the squares. ``fours`` is the number of runs of four rows, and ``third`` and ``truth_third``
    the sums of the squared third differences over them. ``statuses`` says how many of the rows that
    count have each status. ``beyond`` is how far outside of the truth's box it was drawn at most,
    ``extent`` that box's diagonal, ``bound`` from where on that is called diverged. ``speed`` is
    the root mean square speed of the truth, ``resolution`` the least length that means something.
    ``tick`` (seconds) and ``weights`` are those of the comparison. ``totals`` are what metrics add
    up over the rows that count (``Metric.sums``), ``sums`` those of the cells (``tally``), to draw
    from again. ``turned`` is how far off its rotations are, None where there are none.
    """

    errors: Floats
    broken: int
    lag: Lag
    excess: float
    jumps: int
    backward: int
    overshoot: float
    overshoots: float
    fours: int
    third: float
    truth_third: float
    statuses: NDArray[np.int64]
    recovery: Recovery
    beyond: float
    extent: float
    bound: float
    speed: float
    resolution: float
    tick: float
    weights: Weights
    totals: Mapping[str, float]
    kept: Kept | None = None
    sums: Floats | None = None
    turned: Turned | None = None

    @property
    def jerk_rms(self) -> float:
        """Root mean square jerk of what was drawn, in length/s^3."""
        return self._jerk(self.third)

    @property
    def truth_jerk(self) -> float:
        """Root mean square jerk of the truth in the same rows, in length/s^3."""
        return self._jerk(self.truth_third)

    @property
    def usual_jerk(self) -> float:
        """The jerk that others are multiples of."""
        return self.truth_jerk

    @property
    def recoveries(self) -> int:
        """From how much there was to recover."""
        return self.recovery.teleports + self.recovery.outages + (self.recovery.unseen > 0)

    @property
    def recovery_seconds(self) -> float:
        """How long that took in all."""
        return sum(
            (self.recovery.teleport_seconds, self.recovery.outage_seconds, self.recovery.unseen)
        )

    def _jerk(self, squares: float) -> float:
        return math.sqrt(squares / self.fours) / self.tick**3 if self.fours else math.nan

    @property
    def turn_lag(self) -> Lag:
        """That of the rotation."""
        return self.turned.lag if self.turned else Lag(math.nan, math.nan, 0)

    @property
    def overshoot_rms(self) -> float:
        """Root mean square of how far it is ahead of the truth, in all rows that count."""
        return math.sqrt(self.overshoots / self.rows) if self.rows else math.nan

    @property
    def diverged(self) -> bool:
        """Whether it was drawn far outside of where the truth ever is."""
        return self.beyond > self.bound

    def mean(self, name: str) -> float:
        """The mean over the rows that count of what a metric adds up (``Metric.sums``)."""
        return self.totals.get(name, 0.0) / max(self.rows, 1)


def _evenly(ordered: Floats, count: int) -> Floats:
    """So many of these values, from the middles of equal parts."""
    return ordered[((np.arange(count) + 0.5) * (len(ordered) / count)).astype(np.intp)]


def _pooled_errors(measurements: Sequence[ErrorsKept]) -> tuple[Floats, Kept | None]:
    """Errors of which each stands for as many rows, and what is known of all."""
    if not any(one.kept for one in measurements):
        return np.concatenate([one.errors for one in measurements]), None
    every = max(one.rows / len(one.errors) for one in measurements if len(one.errors))
    parts = [_evenly(np.sort(one.errors), round(one.rows / every)) for one in measurements]
    known = [one._all for one in measurements]
    return np.sort(np.concatenate(parts)), Kept(
        sum(one.rows for one in known),
        sum(one.squares for one in known),
        max(one.largest for one in known),
    )


def pool(measurements: Sequence[Measurement]) -> Measurement:
    """The measurements of several entities, one at least with rows that count, as one.

    Errors are those of all rows alike. The residual is what each one's own shift leaves; the lag is
    the mean of those that can be told, by rows, and what it counts as the mean of what each counts
    as: one entity's lag does not make up for another's haste.
    """
    if len(measurements) == 1:
        return measurements[0]
    counts = [one.rows for one in measurements]
    stray = max(measurements, key=lambda one: one.beyond / one.bound if one.bound else 0.0)
    errors, kept = _pooled_errors(measurements)
    recovered = Recovery()
    for one in measurements:
        recovered |= one.recovery
    return Measurement(
        errors,
        sum(one.broken for one in measurements),
        _pooled_lag([one.lag for one in measurements]),
        max(one.excess for one in measurements),
        sum(one.jumps for one in measurements),
        sum(one.backward for one in measurements),
        max(one.overshoot for one in measurements),
        sum(one.overshoots for one in measurements),
        sum(one.fours for one in measurements),
        sum(one.third for one in measurements),
        sum(one.truth_third for one in measurements),
        np.sum([one.statuses for one in measurements], axis=0),
        recovered,
        stray.beyond,
        stray.extent,
        stray.bound,
        math.sqrt(float(np.average([one.speed**2 for one in measurements], weights=counts))),
        max(one.resolution for one in measurements),
        measurements[0].tick,
        measurements[0].weights,
        {name: sum(one.totals.get(name, 0.0) for one in measurements) for name in SUMS},
        kept,
        turned=_pooled_turned([one.turned for one in measurements if one.turned]),
    )


def _pooled_turned(several: Sequence[Turned]) -> Turned | None:
    if not several:
        return None
    errors, kept = _pooled_errors(several)
    return replace(
        several[0], errors=errors, kept=kept, lag=_pooled_lag([one.lag for one in several])
    )


def _pooled_lag(lags: Sequence[Lag]) -> Lag:
    def mean(values: Sequence[tuple[float, int]]) -> float:
        known = [(value, rows) for value, rows in values if not math.isnan(value) and rows]
        rows = sum(one[1] for one in known)
        return sum(value * rows for value, rows in known) / rows if rows else math.nan

    return Lag(
        mean([(one.seconds, one.rows) for one in lags]),
        math.sqrt(mean([(one.residual**2, one.rows) for one in lags])),
        sum(one.rows for one in lags),
        tuple(sorted({other for one in lags for other in one.others}, key=abs)),
        mean([(one.charged, one.rows) for one in lags]),
    )
