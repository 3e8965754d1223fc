"""The way in which a game draws, found from its frames: buffer or chase, by which stamps, how late.

Frames are read (``ages``, ``chases``, ``ticks``, ``arrivals``, ``marks``), the readings are drawn
again and fitted (``search``), and the best of them is a ``Mechanism``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from epic_cli.jobs.diagnose.mechanism.ambiguity import list_lacking
from epic_cli.jobs.diagnose.mechanism.compositions import (
    drop_settings,
    make_composition_key,
    make_timing_key,
    measure_description_length,
)
from epic_cli.jobs.diagnose.mechanism.forces import goes_a_share
from epic_cli.jobs.diagnose.mechanism.pacings import explore
from epic_cli.jobs.diagnose.mechanism.search import HOPELESS, ExplanationSearch
from epic_cli.jobs.diagnose.mechanism.supply import (
    Supply,
    is_exotic,
    make_plain_chase,
    measure_supply,
)

if TYPE_CHECKING:
    from epic_cli.engine.replay.strategy_spec import StrategySpec
    from epic_cli.jobs.diagnose.comparison import FrameComparison
    from epic_cli.jobs.diagnose.fitted import FittedStrategy
    from epic_cli.jobs.diagnose.frames import Frames

#: Longest likely delay (s): beyond, the clocks do not agree.
LONGEST = 2.0

#: The settings of a chase that draws the newest state as it is, which any other may do.
UNSMOOTHED = {"how": "share", "share": 1.0}


class Mechanism(NamedTuple):
    """The way in which a game draws, as settings of ``buffer`` or ``chase``.

    ``residual`` is the error when it is drawn again (RMS, length), ``exact``: that is rounding
    alone; ``same_as`` then draws the same. Stamps are an ``interval`` (s) apart. ``supply``
    describes a buffer's data in these frames; None: it is no buffer, or nothing was sent. ``lead``
    is the error of the nearest with another clock, or another way to its goal, as a multiple of
    this one; ``lacking`` is what would tell the ones that draw the same apart (``list_lacking``).
    ``share`` is that of the moving frames that are drawn without an error; ``has_velocities`` is
    True if the packets carry velocities.
    """

    strategy: StrategySpec
    residual: float
    exact: bool
    interval: float
    supply: Supply | None = None
    same_as: tuple[StrategySpec, ...] = ()
    lead: float = 1.0
    lacking: tuple[str, ...] = ()
    share: float = 0.0
    has_velocities: bool = True


def begin_search(frames: Frames, comparison: FrameComparison) -> ExplanationSearch:
    """Return a search, not begun, in the first frames that tell enough."""
    part = comparison.select_glance()
    return ExplanationSearch(frames.cut_until(float(part.times[-1])), part)


def glance(searches: Sequence[ExplanationSearch], told: bool | None = None) -> int:
    """Search in first frames with the arrivals that they tell; return the place of that search.

    The likeliest arrivals come first; ``told`` says how much more likely (``explore``).
    """
    place = explore(searches, told)
    search = searches[place]
    near = search.results.best.apart <= HOPELESS * search.frames.unit
    if near and not search.results.is_exact:  # some numbers are only met once they are short
        for found in search.finish():
            search.results.add(found)
    return place


def find_mechanism(
    frames: Frames, comparison: FrameComparison, enough: float, begun: ExplanationSearch
) -> Mechanism:
    """Return the composition that draws these frames best, from a glance at the first of them."""
    search = begun
    if len(frames.times) > len(begun.frames.times):
        search = ExplanationSearch(frames, comparison, begun.clocks)
        search.resume(begun)
    found = search.finish()
    same = [near for near in found if comparison.is_as_good(near, found[0])]
    if found[0].residual > enough and all(is_exotic(frames, one.candidate) for one in same):
        same += [near for near in found if near not in same and search.is_plain(near, found[0])]
    interval = frames.interval

    def rank(each: FittedStrategy) -> tuple[bool, bool, bool, tuple[int, ...]]:
        delay = each.candidate.settings.get("delay", 0.0)
        late = float(f"{delay}".strip("i")) * (interval if isinstance(delay, str) else 1.0)
        exotic = is_exotic(frames, each.candidate)
        smooths = drop_settings(each.candidate.settings, "late") != UNSMOOTHED
        return late > LONGEST, exotic, smooths, measure_description_length(each.candidate)

    best, *_ = same = sorted(same, key=rank)
    others = {make_composition_key(best.candidate): best.candidate}
    # what is not smoothed is drawn by any smoothing that is quick enough, too
    if best.residual <= enough and best.candidate.settings.get("share") != 1.0:
        for each in same:
            if goes_a_share(each.candidate.settings, frames.frame):
                continue
            is_chase = best.candidate.name == "chase"
            if is_chase and make_plain_chase(each.candidate, interval):  # the same in other words
                continue
            others.setdefault(make_composition_key(each.candidate), each.candidate)
    alike = tuple(others.values())[1:]
    return Mechanism(
        best.candidate, best.residual, best.residual <= enough, interval,
        measure_supply(frames, best.candidate), alike,
        min(
            (
                each.apart for each in search.results.ranked
                if make_timing_key(each) != make_timing_key(best)
            ),
            default=math.inf,
        )
        / max(best.apart, 1e-300),
        list_lacking(frames, best.candidate, alike),
        best.share,
        frames.has_velocities,
    )  # fmt: skip
