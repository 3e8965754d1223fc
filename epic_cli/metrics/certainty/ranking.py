"""Who is better than whom, as far as the data tell: shared ranks, and winners without a doubt."""

from __future__ import annotations

from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epic_cli.metrics.certainty.bootstrap import CONFIDENCE, expanded, interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epic_cli.metrics.arrays import Floats

#: Scores that differ by less are equal, whatever the draws say: nobody reads more digits.
RESOLUTION = 0.05

#: Differences that deviate by less from draw to draw do not vary.
_STILL = 1e-9

#: How many standard deviations a normal interval goes to either side.
_Z = NormalDist().inv_cdf(0.5 + CONFIDENCE / 2)


class Gap(NamedTuple):
    """By how many points one is ahead: from ``low`` to ``high``, all gaps at once."""

    points: float
    low: float
    high: float

    @property
    def sure(self) -> bool:
        """Whether it is a gap at all."""
        return self.low > 0 and self.points >= RESOLUTION


class Ranking(NamedTuple):
    """The ``ranks`` of n scores, and the ``gaps`` between the highest and each."""

    ranks: list[int]
    gaps: list[Gap]


def ranking(scores: Floats, replicates: Floats, units: int, more: Floats | None = None) -> Ranking:
    """Ranks the scores (n), of which ``replicates`` (n, draws) are the same draws.

    ``more`` (n, seconds + 1) are the scores with more of each second, the first of them as they
    are: a gap is what the worst second for it would leave.

    The rank of one is one more than how many others are clearly better: those of which
    nobody is share the first. An interval reaches as far to either side as the largest of all
    studentised differences to one candidate does in 95 % of the draws (max-t; Romano and Wolf
    2005): with many strategies one of them is always lucky.
    """
    if more is None:
        more = scores[:, None]
    reach = _reach(scores, replicates) * expanded(units) / _Z
    better = np.zeros(len(scores), int)
    best = int(np.argmax(scores))
    found: list[Gap] = []
    for one in range(len(scores)):
        between = _gaps(one, scores, replicates, more, reach)
        better += [gap.sure for gap in between]
        if one == best:
            found = between
    return Ranking([1 + int(count) for count in better], found)


def _reach(scores: Floats, replicates: Floats) -> float:
    furthest = 0.0
    for one in range(len(scores)):
        drawn = replicates[one] - replicates
        deviations = drawn.std(axis=1)
        varying = deviations > _STILL
        if varying.any():
            off = np.abs(drawn - (scores[one] - scores)[:, None])[varying]
            largest = (off / deviations[varying][:, None]).max(axis=0)
            furthest = max(furthest, float(np.quantile(largest, CONFIDENCE)))
    return furthest


def _gaps(one: int, scores: Floats, replicates: Floats, more: Floats, reach: float) -> list[Gap]:
    points = scores[one] - scores
    off = reach * (replicates[one] - replicates).std(axis=1)
    moved = more[one] - more
    moved -= moved[:, :1]
    low, high = points - off + moved.min(axis=1), points + off + moved.max(axis=1)
    return [Gap(*map(float, gap)) for gap in zip(points, low, high, strict=True)]


def sole_best(
    keys: Sequence[float],
    replicates: Sequence[Floats | None],
    units: int,
    more: Sequence[Floats | None] = (),
) -> int | None:
    """The index of the smallest key, if it is clearly smaller than each other.

    An infinite key takes no part. A false winner has to beat the true one as well: each pair at
    its own level is enough. ``more`` are the keys with more of each second, as for ``ranking``.
    """
    order = sorted((one for one in range(len(keys)) if keys[one] < np.inf), key=keys.__getitem__)
    if len(order) < 2:
        return None
    best = order[0]
    for other in order[1:]:
        mine, its = replicates[best], replicates[other]
        if mine is None or its is None:
            return None
        between = interval(np.asarray(its - mine), units)
        if between is None or between[0] <= 0:
            return None
        with_more = (more[best], more[other]) if more else (None, None)
        if with_more[0] is not None and with_more[1] is not None:
            moved = with_more[1] - with_more[0]
            if between[0] + np.nanmin(moved - moved[0], initial=0.0) <= 0:
                return None
    return best
