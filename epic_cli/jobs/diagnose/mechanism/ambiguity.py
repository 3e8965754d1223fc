"""Properties that a recording lacks where several compositions draw the same in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from epic_cli.engine.contract import Packet
from epic_cli.engine.packets import PacketBlock
from epic_cli.jobs.diagnose.redraw import Redraw
from epic_cli.metrics.arrays import compute_lengths

if TYPE_CHECKING:
    from epic_cli.engine.replay.strategy_spec import StrategySpec
    from epic_cli.jobs.diagnose.frames import Frames
    from epic_cli.metrics.arrays import Floats

#: Jitter that tells clocks apart (s, from 5 to 95 %), and unevenness of frames that tells shares
#: apart (deviation, as a share of the usual frame).
TELLING_JITTER, TELLING_FRAMES = 0.02, 0.1

#: Settings that differ only where packets jitter, where frames differ, and where the path turns.
BY_JITTER = ("stamps", "clock", "catch_up", "start")
BY_TURNS = ("curve", "ahead")

#: Steps that are the same in frames of one length.
BY_FRAMES = {"share", "lerp", "exponential"}


#: The recording in which a property is tried: its length (s), latency, and jitter (s); a frame's
#: duration varies between these shares of the usual one; a turn comes after as many packets.
LASTS, LATENCY, JITTER, UNEVEN, TURNS = 10.0, 0.05, 0.05, (0.5, 1.6), 7

#: Positions that are farther apart are told apart (usual steps).
TOLD = 1e-3


def list_lacking(
    frames: Frames, strategy: StrategySpec, same: Sequence[StrategySpec]
) -> tuple[str, ...]:
    """Return what would tell compositions apart: ``jitter``, ``frames``, ``turns``.

    Nothing is returned for what the recording has enough of, nor for what does not tell them apart
    when it is tried: two names of one formula.
    """
    late = frames.arrivals - frames.stamps
    enough = {
        "jitter": np.ptp(np.quantile(late, (0.05, 0.95))) > TELLING_JITTER,
        "frames": has_uneven_frames(frames),
        "turns": False,
    }
    lacking = [word for word, has in enough.items() if not has]
    return tuple(word for word in lacking if _would_tell(word, frames, strategy, same))


def has_uneven_frames(frames: Frames) -> bool:
    """Return True if the frames tell what moves by frames from what moves by time."""
    lasts = np.diff(frames.times)
    return bool(lasts.std() > TELLING_FRAMES * lasts.mean())


def _would_tell(
    word: str, frames: Frames, strategy: StrategySpec, same: Sequence[StrategySpec]
) -> bool:
    """Return True if a recording with a property tells a composition from one of the others."""
    others = [other for other in same if word in _iterate_differences(strategy, other)]
    if not others:
        return False
    redraw, times = _make_telling_recording(word, frames)
    late = len(times) // 10
    drawn = redraw.draw(strategy, times)[late:]
    for other in others:
        apart = compute_lengths(redraw.draw(other, times)[late:] - drawn)
        if np.nan_to_num(apart, nan=np.inf).max() > TOLD * frames.unit:
            return True
    return False


def _make_telling_recording(word: str, frames: Frames) -> tuple[Redraw, Floats]:
    """Return packets, as often and as fast as these, and times of frames (s) with a property."""
    dice, interval = np.random.default_rng(1), frames.interval
    stamps = np.arange(0.0, LASTS, interval)
    turn = np.pi / 2 if word == "turns" else np.pi / 2 / TURNS
    sharp = np.arange(len(stamps)) % TURNS == 0 if word == "turns" else np.full(len(stamps), True)
    course = np.cumsum(np.where(sharp, turn, 0.0))
    speed = frames.unit / interval * np.stack((np.cos(course), np.sin(course)), axis=1)
    places = np.cumsum(speed * interval, axis=0) - speed * interval
    delays = LATENCY + (dice.uniform(0, JITTER, len(stamps)) if word == "jitter" else 0.0)
    arrivals = np.maximum.accumulate(stamps + delays)
    block = PacketBlock()
    for (x, y), (vx, vy), stamp, arrival in zip(
        places.tolist(), speed.tolist(), stamps.tolist(), arrivals.tolist(), strict=True
    ):
        block.append(Packet((x, y, 0.0), (vx, vy, 0.0), stamp, arrival))
    spread = UNEVEN if word == "frames" else (1.0, 1.0)
    count = int(LASTS / frames.frame)
    return Redraw(block), stamps[1] + np.cumsum(frames.frame * dice.uniform(*spread, count))


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
