"""Read buffers that chase the newest state while they are empty, from the frames that do not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from epic_cli.jobs.diagnose.mechanism.ages import read_buffers
from epic_cli.jobs.diagnose.mechanism.compositions import add_settings
from epic_cli.metrics.arrays import compute_lengths

if TYPE_CHECKING:
    from epic_cli.engine.replay.strategy_spec import StrategySpec
    from epic_cli.jobs.diagnose.frames import Frames
    from epic_cli.jobs.diagnose.mechanism.clocks import TimeAxis
    from epic_cli.jobs.diagnose.mechanism.state import SearchState

#: A step that is the chase's (usual steps), and the share of the frames that are neither few nor
#: nearly all.
CHASES, SOME = 1e-3, (0.02, 0.95)

#: Buffers that are tried.
TRIED = 6


def look_at_empty_buffers(search: SearchState) -> None:
    """Look at buffers that go on as the nearest plain chase does while they are empty."""
    for found in search.results.ranked:
        settings = found.candidate.settings
        if settings.keys() in ({"how", "time"}, {"how", "share"}):
            search.look_at(list(_iterate_buffers(search.frames, search.clocks.every, settings)))
            return


def _iterate_buffers(
    frames: Frames, every: list[TimeAxis], chase: Mapping[str, Any]
) -> Iterator[StrategySpec]:
    """Yield buffers with a chase of these settings, by the frames that do not step as it does."""
    elapsed = np.diff(frames.times)
    if chase["how"] not in ("exponential", "lerp", "share"):
        return
    part = {"beyond_share": chase["share"]} if "share" in chase else {"beyond_lerp": chase["time"]}
    share = np.full(len(elapsed), chase["share"]) if "share" in chase else elapsed / chase["time"]
    if chase["how"] == "exponential":
        share = 1 - np.exp(-share)
    left = frames.positions[frames.newest[1:]] - frames.drawn[:-1]
    off = compute_lengths(np.diff(frames.drawn, axis=0) - np.minimum(share, 1)[:, None] * left)
    moves = compute_lengths(left) > CHASES * frames.unit
    others = np.append(True, (off > CHASES * frames.unit) | ~moves)
    if not SOME[0] < others[1:][moves].mean() < SOME[1]:
        return
    rest = frames._replace(
        times=frames.times[others], drawn=frames.drawn[others], newest=frames.newest[others],
        taken=None,
    )  # fmt: skip
    for reading in read_buffers(rest, every)[:TRIED]:
        yield add_settings(reading.strategy, {"beyond": "chase", **part})
