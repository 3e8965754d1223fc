"""Properties that a recording lacks where several compositions draw the same in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from epic_cli.engine.replay.strategy_spec import StrategySpec
    from epic_cli.jobs.diagnose.frames import Frames

#: Jitter that tells clocks apart (s, from 5 to 95 %), and unevenness of frames that tells shares
#: apart (deviation, as a share of the usual frame).
TELLING_JITTER, TELLING_FRAMES = 0.02, 0.1

#: Settings that differ only where packets jitter, where frames differ, and where the path turns.
BY_JITTER = ("stamps", "clock", "catch_up", "start")
BY_TURNS = ("curve", "ahead")

#: Steps that are the same in frames of one length.
BY_FRAMES = {"share", "lerp", "exponential"}


def list_lacking(
    frames: Frames, strategy: StrategySpec, same: Sequence[StrategySpec]
) -> tuple[str, ...]:
    """Return what would tell compositions apart: ``jitter``, ``frames``, ``turns``.

    Nothing is returned for what the recording has enough of.
    """
    wanted = {word for other in same for word in _iterate_differences(strategy, other)}
    late = frames.arrivals - frames.stamps
    if np.ptp(np.quantile(late, (0.05, 0.95))) > TELLING_JITTER:
        wanted.discard("jitter")
    lasts = np.diff(frames.times)
    if lasts.std() > TELLING_FRAMES * lasts.mean():
        wanted.discard("frames")
    return tuple(word for word in ("jitter", "frames", "turns") if word in wanted)


def _iterate_differences(strategy: StrategySpec, other: StrategySpec) -> Iterator[str]:
    """Yield what tells two compositions apart."""
    one, two = strategy.values, other.values
    if strategy.name != other.name or any(one.get(key) != two.get(key) for key in BY_JITTER):
        yield "jitter"
    if any(one.get(key) != two.get(key) for key in BY_TURNS):
        yield "turns"
    ways = {one.get("how"), two.get("how")}
    if one.get("follow") != two.get("follow"):
        yield "frames"
    elif len(ways) > 1:
        yield "frames" if ways <= BY_FRAMES else "jitter"
