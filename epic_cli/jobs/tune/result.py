"""What tuning has found, and what it gains where it was not tuned."""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.metrics.certainty import Figures, Rare, difference
from epic_cli.metrics.evaluation import piece_of, pool_runs
from epic_cli.metrics.metric import Better
from epic_cli.metrics.tabular import Tabular

if TYPE_CHECKING:
    from epic_cli.engine.parameter_base import Value
    from epic_cli.jobs.tune.delays import DelaysNeeded
    from epic_cli.jobs.tune.run import FrontPoint, Influence
    from epic_cli.jobs.tune.spec import Goal, TuneSpec
    from epic_cli.jobs.tune.trials import Divided, EvaluationSet
    from epic_cli.metrics.comparison import Comparison, Result
    from epic_cli.metrics.score import Weights
    from epic_cli.show.scene import Selection

#: The first packets of a session do much the same to two settings of one strategy; so much of what
#: they do to lags is each one's own. Found by trial, on fresh sessions.
OWN = 0.5


class GainKind(enum.Enum):
    """What a gain comes to."""

    BETTER = "it is clearly better"
    NO_BETTER = "it is no better than the default as far as the data tell"
    WORSE = "it is clearly worse"
    UNSURE = "there is too little data to say how sure the difference is"
    DOUBTFUL = "the input is in doubt"
    SAME = "the default is the best that was found"


class Evaluation(NamedTuple):
    """Default and tuned on one part, and the ``gain`` from ``low`` to ``high``, paired.

    A gain above 0 is an improvement of the figure that was tuned for, in its unit; the ends are
    NaN where they are unknown. ``comparison`` is that of both.
    """

    default: Result
    tuned: Result
    gain: float
    low: float
    high: float
    comparison: Comparison

    @property
    def kind(self) -> GainKind:
        """What it comes to."""
        if self.default is self.tuned:
            return GainKind.SAME
        if math.isnan(self.low) or math.isnan(self.gain):
            return GainKind.UNSURE
        if self.comparison.doubts:
            return GainKind.DOUBTFUL
        if self.low > 0:
            return GainKind.BETTER
        return GainKind.WORSE if self.high < 0 else GainKind.NO_BETTER

    @property
    def keeps(self) -> bool:
        """Whether there is nothing to take: the tuned settings are no better."""
        return self.kind in (GainKind.SAME, GainKind.NO_BETTER, GainKind.WORSE) or self.gain <= 0


@dataclass(frozen=True)
class Tuning:
    """What came out for one strategy.

    ``settings`` are those that differ from the defaults, ``held`` those of them that were given.
    ``tuned_on`` and ``evaluated_on`` are before and after, each on one part; the second is None
    where nothing was kept for it. ``influences`` say which settings matter, the ``front`` what
    smoothness costs in latency. ``trials`` is how many settings were tried. ``interrupted``: it
    could have found more.
    """

    strategy: str
    held: Mapping[str, Value]
    settings: Mapping[str, Value]
    tuned_on: Evaluation
    evaluated_on: Evaluation | None
    influences: tuple[Influence, ...]
    front: tuple[FrontPoint, ...]
    trials: int
    interrupted: bool = False

    @property
    def evaluation(self) -> Evaluation:
        """What counts: on what it was not tuned on, if there is any."""
        return self.evaluated_on or self.tuned_on


@dataclass(frozen=True, repr=False)
class Tunings(Tabular):
    """What came out, by strategy in the order given.

    ``delays`` is what the closed form says of delay buffers. ``comparison`` is that of all tuned
    strategies with each other, on what they were not tuned on, under the names that were given;
    None of a single one. ``untuned`` are strategies without settings worth tuning, which take part
    in it as they are; ``unfit`` are those that need arrival times, where there are none.
    """

    spec: TuneSpec
    divided: Divided
    tunings: tuple[Tuning, ...]
    comparison: Comparison | None
    delays: DelaysNeeded | None
    untuned: tuple[str, ...] = ()
    unfit: tuple[str, ...] = ()

    @property
    def goal(self) -> Goal:
        """What was tuned for."""
        return self.spec.goal

    @property
    def weights(self) -> Weights:
        """What the score weighs."""
        return self.spec.compare.weights

    @property
    def interrupted(self) -> bool:
        """Whether there could have been more."""
        return any(one.interrupted for one in self.tunings)

    def before_and_after(self, selection: Selection) -> Comparison:
        """All strategies tuned and as they were, where they were not tuned, with scenes."""
        taking_part = {
            one.label: one
            for each in self.tunings
            for one in (
                StrategySpec(each.strategy, each.settings),
                StrategySpec(each.strategy, each.held),
            )
        }
        on = self.divided.evaluated or self.divided.tuned
        return on.compare(list(taking_part.values()), selection)


def evaluate(
    on: EvaluationSet,
    default: StrategySpec,
    tuned: StrategySpec,
    goal: Goal,
    beside: EvaluationSet | None = None,
) -> Evaluation:
    """How both do on one part; what happened ``beside`` it may happen there another time."""
    seed = on.spec.seed
    if default.settings == tuned.settings:
        comparison = on.compare([default])
        (only,) = comparison.results
        return Evaluation(only, only, 0.0, 0.0, 0.0, comparison)
    found = on.each([default, tuned])
    comparison = pool_runs(found, seed)
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
        other = beside.each([default, tuned]) if beside else []
        figures = [
            Figures(
                one.values,
                [piece_of(each, index) for _, each in found],
                OWN * max(each.results[index].waver for _, each in found) / math.sqrt(len(found)),
                [piece_of(each, index) for _, each in other if each.results[index].values],
            )
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
            comparison.certainty.rare if comparison.certainty else Rare(),
        )
    low, high = ends or (math.nan, math.nan)
    # what is drawn is skewed; a figure is never outside its own interval
    return Evaluation(before, after, float(gain), min(low, gain), max(high, gain), comparison)
