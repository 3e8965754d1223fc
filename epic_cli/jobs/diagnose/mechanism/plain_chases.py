"""Look at chases of the newest state without further parts: in ticks, rounded, of changes alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.jobs.diagnose.mechanism.chases import TAKES_LATE, read_chases
from epic_cli.jobs.diagnose.mechanism.compositions import add_settings
from epic_cli.jobs.diagnose.mechanism.dead_bands import look_at_dead_bands
from epic_cli.jobs.diagnose.mechanism.hidden_ticks import IN_TICKS
from epic_cli.jobs.diagnose.mechanism.readings import FEW

if TYPE_CHECKING:
    from epic_cli.jobs.diagnose.mechanism.readings import PossibleReading
    from epic_cli.jobs.diagnose.mechanism.state import SearchState

#: Readings of changed positions that are drawn.
CHANGING = 6


def look_at_plain_chases(search: SearchState, readings: Sequence[PossibleReading]) -> None:
    """Look at chases with a time or a share alone, which in ticks of their own may look worse.

    Where frames lie on a grid, those are rounded.
    """
    if search.results.is_exact:
        return
    plain = [
        reading.strategy
        for reading in readings
        if reading.strategy.settings.keys() - TAKES_LATE in ({"how", "time"}, {"how", "share"})
        and reading.strategy.settings["how"] in IN_TICKS
    ]
    grid = {"rounding": search.variants.grid} if search.variants.grid else {}
    ways = (grid, {**grid, "rounding_by": "down"}) if grid else (grid,)
    search.look_at([add_settings(spec, way) for spec in plain for way in ways])
    _search_rounded_times(search)


def _search_rounded_times(search: SearchState) -> None:
    """Look for the times or shares of rounded chases, which slopes do not tell."""
    results, comparison = search.results, search.comparison
    if search.rounding:
        return
    for found in [one for one in results.ranked if "rounding" in one.candidate.settings]:
        settings = found.candidate.settings
        key = "share" if settings["how"] == "share" else "time"
        value = settings.get(key)
        if results.is_exact or not isinstance(value, float):
            continue
        near = np.linspace(0.9 * value, min(1.1 * value, 1.0), 9).tolist()
        results.add(comparison.shorten_numbers(comparison.search(found, key, near, 8)))


def look_at_changes(search: SearchState) -> None:
    """Look at chases to which a packet near the position before it is no news."""
    changes = search.frames.drop_repeated()
    few = min(len(search.frames.stamps) - len(changes.stamps), len(changes.stamps)) < FEW
    if not search.results.is_exact and not few:
        readings = [reading.strategy.settings for reading in read_chases(changes)[:CHANGING]]
        search.look_at([StrategySpec("chase", {**one, "repeated": "drop"}) for one in readings])
    if not search.results.is_exact:
        look_at_dead_bands(search)
