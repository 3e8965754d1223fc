"""Find ticks that the frames of a chase do not show, by trial."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.jobs.diagnose.fitted import FittedStrategy
from epic_cli.jobs.diagnose.mechanism.ticks import TICKS

if TYPE_CHECKING:
    from epic_cli.jobs.diagnose.mechanism.state import SearchState

#: Ticks that frames do not show, in frames: from, to; and the phases that are tried.
FINEST, COARSEST, PHASES = 0.5, 4.0, 6

#: The largest error (mean, usual steps) without ticks of a chase that hidden ticks may explain.
HIDDEN = 0.2

#: Hidden ticks that are fitted, the nearest ones, and the steps in which their phase is found.
HIDDEN_FITTED, FINELY = 3, 6

#: Ticks that are shown as they are, and differ from frames by less of their length, do not stand.
AS_LONG = 0.02

#: The chases that are tried in such ticks, by key: those with one key are tried together.
IN_TICKS = {"exponential": 0, "lerp": 0, "share": 0, "linear": 1, "interval": 2, "speed": 3}


def look_at_hidden_ticks(search: SearchState) -> None:
    """Look at the nearest chases of each kind in ticks that the frames do not show."""
    nearest: dict[object, FittedStrategy] = {}
    for found in search.results.ranked:
        words = found.candidate.settings
        if found.apart > HIDDEN * search.frames.unit:
            break
        if (how := words.get("how")) in IN_TICKS:
            nearest.setdefault((IN_TICKS[how], "ahead" in words), found)
    for found in nearest.values():
        if not search.results.is_exact:
            search.results.add(_fit_ticks(search, found))


def _fit_ticks(search: SearchState, found: FittedStrategy) -> FittedStrategy:
    """Return a chase in the ticks with which it comes nearest, if they bring it nearer."""
    comparison, frame = search.comparison, search.frames.frame
    spec, best = found.candidate, found
    if "every" in spec.settings:
        return found
    near = [every for every in TICKS if FINEST * frame < every < COARSEST * frame]
    ways = [(every, "lerp") for every in near if "speed" not in spec.settings]
    ways += [(every, "hold") for every in near if abs(every / frame - 1) < AS_LONG]
    tried = []
    for every, between in ways:
        settings = {**spec.settings, "every": every, "between": between}
        if spec.settings.get("how") == "share":
            time = -frame / math.log1p(-min(max(float(settings["share"]), 0.001), 0.999))
            settings["share"] = 1 - math.exp(-every / time)
        ticked = FittedStrategy(StrategySpec("chase", settings))
        ticked = comparison.fit(ticked, 1, ("time", "share"))
        tried.append((_find_phase(search, ticked, every, 1), every))
    for one, every in sorted(tried, key=lambda each: each[0].apart)[:HIDDEN_FITTED]:
        fitted = comparison.fit(one, 2, ("time", "share"))
        fitted = comparison.fit(_find_phase(search, fitted, every, FINELY), 3, ("time", "share"))
        best = min(best, comparison.fit(fitted, 3), key=lambda each: each.apart)
    return best


def _find_phase(
    search: SearchState, found: FittedStrategy, every: float, steps: int
) -> FittedStrategy:
    """Return a chase in ticks of a length (s) with the phase by which it comes nearest."""
    # one tick up, so that a fit can go below 0
    phases = np.linspace(every, 2 * every, PHASES, endpoint=False).tolist()
    return search.comparison.search(found, "phase", phases, steps)
