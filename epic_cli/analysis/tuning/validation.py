"""Judged on what it was not tuned on: how recordings are divided, and what the gain is there."""

from __future__ import annotations

import enum
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from epic_cli.analysis.certainty.uncertainty import Figures, difference
from epic_cli.analysis.metric import Better
from epic_cli.analysis.notes import NotEnoughToSay
from epic_cli.analysis.study import piece_of, together
from epic_cli.analysis.tuning.bench import EvaluationSet, bench, halves

if TYPE_CHECKING:
    from epic_cli.analysis.compare import Comparison, Result
    from epic_cli.analysis.study import Run
    from epic_cli.analysis.tuning.bench import EvaluationSpec
    from epic_cli.analysis.tuning.goal import Goal
    from epic_cli.engine.replay.strategy_spec import StrategySpec

#: By ``time``: the first half is tuned on. By ``recording``: every other one. Or all of it is both.
Division = Literal["time", "recording", "none"]
DIVISIONS: tuple[Division, ...] = ("time", "recording", "none")

#: From so many recordings on these are divided, not their time.
ENOUGH_RECORDINGS = 4

HALF = 0.5


class Divided(NamedTuple):
    """What is tuned on, what is judged on (None: the same), and how that was divided."""

    tuned: EvaluationSet
    judged: EvaluationSet | None
    by: Division


def divide(runs: Sequence[Run], ground: EvaluationSpec, by: Division | None = None) -> Divided:
    """Divides recordings, by time or by recording as it suits them unless told.

    Raises ``NotEnoughToSay`` where there is nothing to judge in one of the parts, ``TooManyRows``.
    """
    if by is None:
        by = "recording" if len(runs) >= ENOUGH_RECORDINGS else "time"
    if by == "none":
        return Divided(bench(runs, ground), None, by)
    if by == "recording":
        if len(runs) < 2:
            raise NotEnoughToSay("to tune on some recordings and judge on others takes two of them")
        return Divided(bench(runs[::2], ground), bench(runs[1::2], ground), by)
    parts = list(_halves(runs, ground))
    first, second = (
        EvaluationSet(
            ground,
            tuple(name for one in part for name in one.names),
            tuple(prepared for one in part for prepared in one.prepared),
        )
        for part in zip(*parts, strict=True)
    )
    return Divided(first, second, by)


def _halves(
    runs: Sequence[Run], ground: EvaluationSpec
) -> Iterator[tuple[EvaluationSet, EvaluationSet]]:
    """Those recordings of which both halves can be judged, one at least."""
    found = 0
    for number, one in enumerate(runs, 1):
        try:
            yield halves(one, ground, HALF)
            found += 1
        except NotEnoughToSay:
            if number == len(runs) and not found:
                raise


class Verdict(enum.Enum):
    """What tuning comes to."""

    BETTER = "it is better beyond doubt"
    NO_BETTER = "it is no better than the default as far as the data tell"
    WORSE = "it is worse beyond doubt"
    UNSURE = "how sure the difference is cannot be told"
    SAME = "the default is the best that was found"


class Judgement(NamedTuple):
    """Default and tuned on one part, and the ``gain`` from ``low`` to ``high``, paired.

    A gain above 0 is an improvement of the figure that was tuned for, in its unit; the ends are
    NaN where they cannot be told. ``comparison`` is that of both.
    """

    default: Result
    tuned: Result
    gain: float
    low: float
    high: float
    comparison: Comparison

    @property
    def verdict(self) -> Verdict:
        """What it comes to."""
        if self.default is self.tuned:
            return Verdict.SAME
        if math.isnan(self.low) or math.isnan(self.gain):
            return Verdict.UNSURE
        if self.low > 0:
            return Verdict.BETTER
        return Verdict.WORSE if self.high < 0 else Verdict.NO_BETTER


def judged(
    on: EvaluationSet,
    default: StrategySpec,
    tuned: StrategySpec,
    goal: Goal,
    seed: int,
    threads: int | None,
) -> Judgement:
    """How both do on one part; ``seed`` is that of the bootstrap."""
    if default.settings == tuned.settings:
        comparison = on.compare([default], seed, threads)
        (only,) = comparison.results
        return Judgement(only, only, 0.0, 0.0, 0.0, comparison)
    found = on.each([default, tuned], threads)
    comparison = together(found, [default, tuned], (), seed)
    before, after = comparison.results
    metric = goal.metric

    def merit(value: Any) -> Any:
        """More is better."""
        if metric.better is Better.HIGH:
            return value
        return -np.abs(value) if metric.better is Better.NEAR_ZERO else -value

    gain = merit(after.value(metric.name)) - merit(before.value(metric.name))
    ends = None
    if metric.interval and before.values and after.values:
        figures = [
            Figures(one.values, [piece_of(each, index) for _, each in found])
            for index, one in enumerate((before, after))
        ]
        ends = difference(
            figures[0],
            figures[1],
            lambda drawn: merit(metric.value(drawn)),
            comparison.tick,
            comparison.weights,
            comparison.resolution,
            seed,
        )
    low, high = ends or (math.nan, math.nan)
    # what is drawn is skewed; a figure is never outside its own interval
    return Judgement(before, after, float(gain), min(low, gain), max(high, gain), comparison)
