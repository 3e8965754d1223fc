"""Search with the arrivals that frames tell: as they are, or as the game reads them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from epic_cli.jobs.diagnose.mechanism.state import WAYS

if TYPE_CHECKING:
    from epic_cli.jobs.diagnose.mechanism.search import ExplanationSearch

#: Largest error of other arrivals, as a multiple of that of the likeliest, so that they are taken.
LIKELY = 0.7


def explore(searches: Sequence[ExplanationSearch], told: bool | None) -> int:
    """Search with the likeliest arrivals, and with those that come nearest; return their place.

    ``searches`` have the same frames with other arrivals each, the likeliest first. ``told``: the
    others are not likely at all, so that only what draws the frames exactly is taken; False: the
    first are likely only if they alone draw the frames exactly, else the second are as likely.
    """
    place = 0
    searches[0].survey()
    if told is False and not (searches[0].results.is_exact and _is_sure(searches)):
        searches[1].survey()
        now, first = searches[1].results, searches[0].results
        place = int(now.is_exact or now.best.apart < first.best.apart)
    nearest = _find_nearest(searches, place, told is True)
    if nearest != place:
        place = nearest
        searches[place].survey()
    searches[place].deepen()
    again = _find_nearest(searches, place, told is True)
    if again != place:
        searches[again].change_parts()
    return again


def _is_sure(searches: Sequence[ExplanationSearch]) -> bool:
    """Return True if what the first arrivals draw exactly is drawn by no other ones, too.

    A whole way that begins a frame later is, and so is a buffer with a longer delay; but not where
    packets are logged at frames, which leaves two ways to read them.
    """
    results = searches[0].results
    exact = [one.candidate.settings for one in results.ranked if one.residual <= results.exact]
    steady = [one for one in exact if one.get("how", "linear") not in WAYS]
    return len(searches) == 2 or any(one.get("share") != 1 for one in steady)


def _find_nearest(searches: Sequence[ExplanationSearch], begun: int, told: bool) -> int:
    """Return the place of the search in which what one of them has found draws the frames best."""
    best = begun
    if searches[begun].results.is_settled:
        return best
    for place, search in enumerate(searches):
        if place == begun:
            continue
        search.take_over(searches[begun])
        now, least = search.results, searches[best].results
        if now.is_exact:
            return place
        nearer = now.best.apart < LIKELY * least.best.apart
        if not told and (nearer if now.is_settled == least.is_settled else now.is_settled):
            best = place
    return best
