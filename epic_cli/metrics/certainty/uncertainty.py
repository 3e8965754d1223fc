"""How sure the figures of a comparison are: intervals, ranks, and gaps to the best."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epic_cli.metrics import METRICS
from epic_cli.metrics.certainty.bootstrap import interval
from epic_cli.metrics.certainty.ranking import Gap, ranking, sole_best
from epic_cli.metrics.certainty.rare import UNSEEN, Rare
from epic_cli.metrics.certainty.resampling import Certainty, Figures, Sampled, sampled_again
from epic_cli.metrics.metric import Better, Metric

if TYPE_CHECKING:
    from epic_cli.metrics.arrays import Floats
    from epic_cli.metrics.cells import Resampled
    from epic_cli.metrics.weights import Weights


@dataclass(frozen=True)
class Standing:
    """How sure the figures of one candidate are, and where it stands.

    ``intervals`` by metric; an end that is unknown is NaN. ``rank`` by score, 1 the best, None
    without one. ``gap`` is how far its score is behind the best. ``ahead``: the metrics in which it
    alone is clearly the best.
    """

    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    rank: int | None = None
    gap: Gap | None = None
    ahead: frozenset[str] = frozenset()


#: Nothing is known of it.
UNKNOWN = Standing()


@np.errstate(all="ignore")  # what has diverged has infinite figures, and no intervals
def assess(
    candidates: Sequence[Figures],
    tick: float,
    weights: Weights,
    resolution: float,
    seed: int,
    rare: Rare = Rare(),  # noqa: B008 - nobody changes it
) -> tuple[Certainty, list[Standing]]:
    """How sure the figures are, and where each candidate stands.

    All candidates that have figures have been measured in the same runs, entities and cells.
    ``rare`` is what happened in all runs. The same ``seed`` draws the same.
    """
    shown = [one for one in candidates if one.values]
    certainty, sampled = sampled_again(shown, tick, weights, resolution, seed, rare)
    standings = iter(_standings([one.values for one in shown], sampled, certainty))
    return certainty, [next(standings) if one.values else UNKNOWN for one in candidates]


@np.errstate(all="ignore")
def difference(
    one: Figures,
    other: Figures,
    value: Callable[[Resampled], Floats],
    tick: float,
    weights: Weights,
    resolution: float,
    seed: int,
    rare: Rare = Rare(),  # noqa: B008 - nobody changes it
) -> tuple[float, float] | None:
    """From where to where the second candidate's ``value`` less the first one's goes, paired.

    None: unknown. See ``assess`` for the other parameters.
    """
    certainty, sampled = sampled_again([one, other], tick, weights, resolution, seed, rare)
    if sampled is None:
        return None
    before, after = ((value(each.draws), value(each.more)) for each in sampled)
    between = interval(np.asarray(after[0] - before[0]), certainty.units)
    down, up = _moves(after[1] - before[1])
    share = _share(rare)
    return between and (between[0] + share * down, between[1] + share * up)


def _share(rare: Rare) -> float:
    """How much of what was missed counts for what it may move either way: half as likely each."""
    return 1 - UNSEEN / 2 / rare.missed


def _moves(more: Floats) -> tuple[float, float]:
    """How far down and up a figure goes from its first value, 0 at least."""
    moved = more - more[0]
    moved = moved[np.isfinite(moved)]
    return float(moved.min(initial=0.0)), float(moved.max(initial=0.0))


class _Figure(NamedTuple):
    """A metric of one candidate: in each draw, and of the others that ``Sampled`` has."""

    draws: Floats
    more: Floats
    alone: Floats


def _ends(
    metric: Metric, figure: _Figure, value: float, certainty: Certainty
) -> tuple[float, float] | None:
    """The interval of a figure: what the draws say, and what they may have missed."""
    between = interval(figure.draws, certainty.units)
    if between is None or math.isnan(value):
        return None
    # what is drawn is skewed; a figure is never outside its own interval
    low, high = min(between[0], value), max(between[1], value)
    down, up = _moves(figure.more)
    least, most = _moves(figure.alone)
    low, high = min(low, value + least), max(high, value + most)
    few = certainty.rare.few
    match metric.better:  # what was missed makes it worse
        case Better.LOW:
            return low, math.nan if few else high + up
        case Better.HIGH:
            return math.nan if few else low + down, high
        case _:
            share = _share(certainty.rare)
            return low + share * down, math.nan if few else high + share * up


def _standings(
    values: Sequence[Mapping[str, float]],
    sampled: Sequence[Sampled] | None,
    certainty: Certainty,
) -> list[Standing]:
    intervals: list[dict[str, tuple[float, float]]] = [{} for _ in values]
    ahead: list[set[str]] = [set() for _ in values]
    scores: list[_Figure] | None = None
    few, units = certainty.rare.few, certainty.units
    for metric in METRICS:
        drawn: list[_Figure | None] = [None] * len(values)
        if metric.interval and sampled is not None:
            drawn = [_Figure(*(np.asarray(metric.value(all_)) for all_ in one)) for one in sampled]
            for own, figure, figures in zip(intervals, drawn, values, strict=True):
                between = figure and _ends(
                    metric, figure, figures.get(metric.name, math.nan), certainty
                )
                if between:
                    own[metric.name] = between
            if metric.name == "score":
                scores = [one for one in drawn if one is not None]
        if metric.better is Better.NEITHER or few:
            continue
        known = [one.get(metric.name, math.nan) for one in values]
        keys = [math.inf if math.isnan(one) else float(metric.key(one)) for one in known]
        best = sole_best(
            keys,
            [one and np.asarray(metric.key(one.draws)) for one in drawn],
            units,
            [one and np.asarray(metric.key(one.more)) for one in drawn],
        )
        if best is not None:
            ahead[best].add(metric.name)
    ranks, behind = _ranked(values, scores, certainty)
    if list(ranks.values()).count(1) > 1:  # nobody wins where several may be the best
        for names in ahead:
            names.discard("score")
    return [
        Standing(intervals[place], ranks.get(place), behind.get(place), frozenset(ahead[place]))
        for place in range(len(values))
    ]


def _ranked(
    values: Sequence[Mapping[str, float]], scores: Sequence[_Figure] | None, certainty: Certainty
) -> tuple[dict[int, int], dict[int, Gap]]:
    """The ranks of those with a score, by place, and how far they are behind the best."""
    places = [place for place, one in enumerate(values) if math.isfinite(one["score"])]
    ranks = dict.fromkeys(places, 1)
    if not places or scores is None:
        return ranks, {}  # nobody is clearly better
    points = np.array([values[place]["score"] for place in places])
    # where no draw can be judged (it has diverged), the score is what it is
    drawn, more = (
        np.array(
            [
                np.where(np.isfinite(scores[place][kind]), scores[place][kind], own)
                for place, own in zip(places, points, strict=True)
            ]
        )
        for kind in range(2)
    )
    found = ranking(points, drawn, certainty.units, more)
    if not certainty.rare.few:
        ranks = dict(zip(places, found.ranks, strict=True))
    return ranks, dict(zip(places, found.gaps, strict=True))
