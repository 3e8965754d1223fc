"""Which settings matter: what each costs at its default, and how far it may be moved."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epic_cli.jobs.tune.trials import NUMBER, Axis, Point, Space
from epic_cli.metrics.certainty import RESOLUTION

if TYPE_CHECKING:
    from epic_cli.engine.parameter_base import Value
    from epic_cli.jobs.tune.trials import Trial, Trials

#: Each number is tried at so many places from end to end, with the others as tuned.
PLACES = 9

#: A score that is less than a point worse, or another figure by less than this share, is as good.
POINT, SHARE = 1.0, 0.02

#: A figure other than the score that differs by less than this share does not differ.
SAME = 0.001


class Influence(NamedTuple):
    """One setting: what it was, what it is now, and how much that matters.

    ``loss`` is by how much the figure is worse with this setting at its default and the others as
    tuned. From ``low`` to ``high``, and with these ``words``, it is as good as tuned (``POINT``,
    ``SHARE``). ``flat``: so it is everywhere. ``bound`` is the end of the range worth tuning that
    it stands at (``low``, ``high``, or empty); ``last``: the setting takes nothing beyond.
    """

    name: str
    default: Value
    tuned: Value
    loss: float
    low: float | None
    high: float | None
    words: tuple[str, ...]
    flat: bool
    bound: str
    last: bool = False


def plain(space: Space, trials: Trials) -> Trial:
    """The best settings, without what changes nothing, in as few digits as do as well.

    ``trials`` has the defaults, and gets a few more trials.
    """
    best = trials.best
    limit = trials.goal.cost(best.figures) + _slack(trials, best, RESOLUTION, SAME)
    least = best.figures.get("score", -math.inf) - RESOLUTION
    for axis in space.axes:
        value = best.settings.get(axis.name, axis.default)
        if value == axis.default:
            continue
        without = {name: one for name, one in best.settings.items() if name != axis.name}
        simpler = [without]
        if not isinstance(value, str):
            rounded = [float(f"{value:.{digits}g}") for digits in (1, 2)]
            simpler += [{**best.settings, axis.name: one} for one in rounded if axis.takes(one)]
        for settings in simpler:
            cost = trials.costs([settings], beyond=True)[0]
            one = trials.of(settings)
            # of settings that are equally good the best score was chosen: that stays, too
            if cost <= limit and one.figures.get("score", -math.inf) >= least:
                best = one
                break
    return best


def influences(space: Space, trials: Trials, tuned: Trial) -> tuple[Influence, ...]:
    """How much each of the settings matters, the most important ones first."""
    found = [_influence(space, at, trials, tuned) for at in range(len(space.axes))]
    return tuple(sorted(found, key=lambda one: -one.loss))


def _influence(space: Space, at: int, trials: Trials, tuned: Trial) -> Influence:
    axis = space.axes[at]
    here = space.point(tuned.settings)
    value = tuned.settings.get(axis.name, axis.default)
    cost = trials.goal.cost(tuned.figures)
    near = cost + _slack(trials, tuned, POINT, SHARE)
    default = {name: one for name, one in tuned.settings.items() if name != axis.name}
    (at_default,) = trials.costs([default], beyond=True)
    shares = sorted({*np.linspace(0, 1, PLACES).tolist(), here.shares[at]}) if axis.numeric else []
    points = [_moved(here, at, NUMBER, share) for share in shares]
    costs = trials.costs([space.settings(one) for one in points], beyond=True)
    others = range(int(axis.numeric), axis.kinds)
    words = [_moved(here, at, kind, 0.5) for kind in others]
    word_costs = trials.costs([space.settings(one) for one in words], beyond=True)
    good = [one <= near for one in costs]
    low, high = _around(axis, shares, good, here.shares[at])
    bound = axis.at_bound(value)
    return Influence(
        axis.name,
        axis.default,
        value,
        at_default - cost,
        low,
        high,
        tuple(
            str(axis.value(kind, 0.5))
            for kind, one in zip(others, word_costs, strict=True)
            if one <= near
        ),
        all(good) and all(one <= near for one in word_costs),
        bound,
        axis.ends_at(bound),
    )


def _moved(point: Point, at: int, kind: int, share: float) -> Point:
    kinds, shares = list(point.kinds), list(point.shares)
    kinds[at], shares[at] = kind, share
    return Point(tuple(kinds), tuple(shares))


def _around(
    axis: Axis, shares: list[float], good: list[bool], here: float
) -> tuple[float | None, float | None]:
    """From where to where it is as good, without a break."""
    if not shares:
        return None, None
    first = last = shares.index(here)
    if not good[first]:
        return None, None  # a word is better than any number
    while first > 0 and good[first - 1]:
        first -= 1
    while last < len(shares) - 1 and good[last + 1]:
        last += 1
    low, high = axis.value(NUMBER, shares[first]), axis.value(NUMBER, shares[last])
    return float(low), float(high)


def _slack(trials: Trials, one: Trial, points: float, share: float) -> float:
    if trials.goal.metric.name == "score":
        return points
    return share * abs(trials.goal.cost(one.figures))
