"""Read buffers that show the newest state where they hold no older one than the drawn time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.jobs.diagnose.mechanism.ages import read_buffers
from epic_cli.jobs.diagnose.mechanism.compositions import add_settings, drop_settings
from epic_cli.metrics.arrays import compute_lengths

if TYPE_CHECKING:
    from epic_cli.jobs.diagnose.mechanism.readings import PossibleReading
    from epic_cli.jobs.diagnose.mechanism.state import SearchState
    from epic_cli.metrics.arrays import Flags

#: A frame that shows the newest state (usual steps), one that does not, and the fewest frames that
#: go back from it without another packet.
SHOWN, AWAY, RETURNS = 1e-4, 0.1, 2

#: The share of those frames that few states explain, and the buffers that are tried.
EXPLAINED, TRIED = 0.6, 4


def look_at_few_states(search: SearchState) -> None:
    """Look at buffers of a few states, if frames go back from the newest one without a packet."""
    frames = search.frames
    apart = compute_lengths(frames.positions[frames.newest] - frames.drawn)
    shown = apart < max(SHOWN * frames.unit, 2 * search.exact)
    returns = shown[:-1] & (apart[1:] > AWAY * frames.unit) & (np.diff(frames.newest) == 0)
    returns = np.append(returns & frames.settled[:-1], False)
    if returns.sum() < RETURNS:
        return
    drawn = {name: getattr(frames, name)[~shown] for name in ("times", "drawn", "newest")}
    rest = frames._replace(**drawn, taken=None)
    for reading in read_buffers(rest, search.clocks.every)[:TRIED]:
        if states := _count_states(search, reading, returns):
            held = StrategySpec("buffer", drop_settings(reading.strategy.settings, "beyond"))
            search.look_at([add_settings(held, {"keep": states, "before": "newest"})])


def _count_states(search: SearchState, reading: PossibleReading, returns: Flags) -> int:
    """Return how many states a buffer keeps that has none before the drawn time; 0: unknown.

    ``returns`` are the last frames of those in which it has none: the oldest is next in time.
    """
    frames, settings = search.frames, reading.strategy.settings
    axis, delay = search.clocks.find(settings), settings["delay"]
    if not isinstance(delay, float):
        return 0
    newest = frames.newest[returns]
    times = frames.times[returns] - axis.offsets[newest] - delay
    counts = newest + 1 - np.searchsorted(axis.stamps, times, "right")
    states = int(np.median(counts))
    return states if states > 1 and (counts == states).mean() > EXPLAINED else 0
