"""Look at buffers whose own time stands while the states reach less than a time ahead."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.jobs.diagnose.fitted import FittedStrategy
from epic_cli.jobs.diagnose.mechanism.partial import find_kind

if TYPE_CHECKING:
    from epic_cli.jobs.diagnose.mechanism.state import SearchState

#: Times (s) that games want to have buffered.
RESERVES = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)

#: How such a time begins: at the first state.
BEGINS: tuple[dict[str, Any], ...] = ({"clock": "newest", "delay": 0.0},
                                      {"stamps": "arrival", "delay": 0.0})  # fmt: skip
#: Whether a frame draws before or after its own duration counts.
FRAMES: tuple[dict[str, Any], ...] = ({}, {"draw_time": "last"})

#: The kinds of frames for which they are tried.
KINDS = ("path", "two-states")


def look_at_reserves(search: SearchState) -> None:
    """Look at buffers that stand while little is buffered, if frames lie on lines of the path."""
    frames, results = search.frames, search.results
    reserves = [time for time in RESERVES if time > frames.interval / 2]
    if results.is_settled or not reserves:
        return
    if find_kind(frames, search.exact, ["linear"]) not in KINDS:
        return
    for begins, draws in itertools.product(BEGINS, FRAMES):
        if not results.is_settled:
            waits = {**begins, "catch_up": "none", "reserve_time": reserves[0], **draws}
            found = FittedStrategy(StrategySpec("buffer", waits))
            results.add(search.comparison.search(found, "reserve_time", reserves, 0))
