"""Read buffers that chase the newest state while they are empty, from the frames that do not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from epic_cli.jobs.diagnose.mechanism.ages import read_buffers
from epic_cli.jobs.diagnose.mechanism.compositions import add_settings
from epic_cli.jobs.diagnose.mechanism.few_states import look_at_few_states
from epic_cli.jobs.diagnose.mechanism.readings import FEW
from epic_cli.metrics.arrays import compute_lengths

if TYPE_CHECKING:
    from epic_cli.engine.replay.strategy_spec import StrategySpec
    from epic_cli.jobs.diagnose.frames import Frames
    from epic_cli.jobs.diagnose.mechanism.clocks import TimeAxis
    from epic_cli.jobs.diagnose.mechanism.state import SearchState
    from epic_cli.metrics.arrays import Floats

#: A step that is the chase's (usual steps), a way that is left (usual steps), and the share of the
#: frames off the chase that are neither few nor nearly all.
CHASES, AWAY, SOME = 2e-3, 0.05, (0.02, 0.95)

#: The part of the frames whose common step tells the chase's, and how close it is (share of it).
COMMON, ALIKE = 0.1, 0.01

#: Buffers that are tried.
TRIED = 6


def look_at_empty_buffers(search: SearchState) -> None:
    """Look at buffers that go to the newest state where they are empty, or have no older one."""
    search.look_at(list(_iterate_buffers(search.frames, search.clocks.every)))
    look_at_few_states(search)


def _iterate_buffers(frames: Frames, every: list[TimeAxis]) -> Iterator[StrategySpec]:
    """Yield buffers with a chase that many frames share, by the frames that do not step so."""
    left = frames.positions[frames.newest[1:]] - frames.drawn[:-1]
    step, elapsed = np.diff(frames.drawn, axis=0), np.diff(frames.times)
    way = compute_lengths(left)
    moves = frames.settled[1:] & (way > AWAY * frames.unit)
    shares = (step * left).sum(axis=1)[moves] / way[moves] ** 2
    partly = (shares > 1e-3) & (shares < 0.999)
    if partly.sum() < FEW:
        return
    share, share_spread = _find_common(shares[partly])
    time, time_spread = _find_common(elapsed[moves][partly] / shares[partly])
    if min(share_spread, time_spread) > ALIKE:
        return
    by_time = time_spread < share_spread
    part = {"beyond_lerp": time} if by_time else {"beyond_share": share}
    going = np.minimum(elapsed / time, 1.0) if by_time else np.full(len(elapsed), share)
    off = compute_lengths(step - going[:, None] * left)
    others = np.append(True, (off > CHASES * frames.unit) & (way > AWAY * frames.unit))
    if not SOME[0] < others[1:][moves].mean() < SOME[1]:
        return
    rest = frames._replace(
        times=frames.times[others], drawn=frames.drawn[others], newest=frames.newest[others],
        taken=None,
    )  # fmt: skip
    for reading in read_buffers(rest, every)[:TRIED]:
        yield add_settings(reading.strategy, {"beyond": "chase", **part})


def _find_common(values: Floats) -> tuple[float, float]:
    """Return the middle of the closest tenth of some values, and how far they spread (a share)."""
    ordered = np.sort(values)
    count = max(int(COMMON * len(ordered)), 2)
    spread = ordered[count - 1 :] - ordered[: len(ordered) - count + 1]
    first = int(spread.argmin())
    middle = float(np.median(ordered[first : first + count]))
    return middle, float(spread[first]) / middle
