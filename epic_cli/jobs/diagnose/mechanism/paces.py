"""Read how fast steps lead to the newest state: within limits, or at the speed of its path."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.jobs.diagnose.frames import move_to_frames
from epic_cli.jobs.diagnose.mechanism.chases import read_shares
from epic_cli.jobs.diagnose.mechanism.readings import FEW, MOSTLY
from epic_cli.metrics.arrays import compute_lengths

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from epic_cli.jobs.diagnose.frames import Frames
    from epic_cli.metrics.arrays import Floats

#: The least way that is left (usual steps), and the least cosine of a step that leads along it.
AWAY, STRAIGHT = 0.02, 0.999

#: Speeds that differ by less, as a share of them, are the same.
ALIKE = 0.02

#: Speeds at a limit differ by less, as a share of it; they are at least this share of all, and
#: those beyond it at most this share of them.
AT_LIMIT, OFTEN, SELDOM = 1e-3, 0.005, 0.25

#: How many ways to go are tried within limits.
TRIED = 2


def iterate_paced_chases(frames: Frames, exact: float) -> Iterator[StrategySpec]:
    """Yield chases whose speed has limits, or is that of the packets' path, if the frames do so.

    Positions are rounded by up to ``exact`` (length).
    """
    step, elapsed = np.diff(frames.drawn, axis=0), np.diff(frames.times)
    left = frames.positions[frames.newest[1:]] - frames.drawn[:-1]
    way, far = compute_lengths(left), compute_lengths(step)
    going = frames.settled[1:] & (way > AWAY * frames.unit) & (far > 0)
    going &= far < way - 2e-3 * frames.unit
    if going.sum() < FEW:
        return
    along = (step * left).sum(axis=1)[going] / (far * way)[going]
    if (along > STRAIGHT).mean() < MOSTLY:
        return
    pace = far / elapsed
    yield from _iterate_path_speeds(frames, pace, going)
    unsure = 2 * exact / frames.frame
    limits = find_speed_limits(pace[going], unsure)
    if not limits:
        return
    low, high = limits.get("speed_least", 0.0), limits.get("speed_most", np.inf)
    free = going & (pace > low * (1 + AT_LIMIT) + unsure)
    free &= pace < high * (1 - AT_LIMIT) - unsure
    if free.sum() < FEW:
        return
    readings = read_shares(frames.unit, {}, left[free], step[free], elapsed[free])
    shares = [each for each in readings if "speed" not in each.strategy.settings]
    for reading in sorted(shares, key=lambda each: each.off)[:TRIED]:
        yield StrategySpec("chase", {**reading.strategy.settings, **limits})


def _iterate_path_speeds(
    frames: Frames, pace: Floats, going: NDArray[np.bool_]
) -> Iterator[StrategySpec]:
    """Yield chases at the speed of the last step from packet to packet, or the faster of two."""
    path = compute_lengths(np.diff(frames.positions, axis=0, prepend=frames.positions[:1]))
    taken = move_to_frames(frames.arrivals, frames.times, frames.frame)
    intervals: dict[str, Any] = {
        "arrivals": np.diff(frames.arrivals, prepend=np.nan),
        "frames": np.diff(taken, prepend=np.nan),
        "stamps": np.diff(frames.stamps, prepend=np.nan),
        "auto": frames.interval,
    }
    for source, interval in intervals.items():
        with np.errstate(divide="ignore", invalid="ignore"):
            speed = path / interval
        measured = {} if source == "auto" else {"interval": source}
        for word, known in (("path", speed), ("fastest", np.maximum(speed, np.roll(speed, 1)))):
            ratio = pace[going] / np.maximum(known[frames.newest[1:]][going], 1e-300)
            if (np.abs(ratio - 1) < ALIKE).mean() > MOSTLY:
                yield StrategySpec("chase", {"how": "speed", "speed": word, **measured})


def find_speed_limits(pace: Floats, unsure: float) -> dict[str, float]:
    """Return the least and the largest speed that many frames have, by setting.

    Speeds may be ``unsure`` by that much (length units/s).
    """
    found = {}
    for name, sign in (("speed_least", 1), ("speed_most", -1)):
        ordered = np.sort(sign * pace)
        beyond = np.arange(len(ordered))
        width = AT_LIMIT * np.abs(ordered) + 2 * unsure
        same = np.searchsorted(ordered, ordered + width) - beyond
        often = (same >= max(FEW, OFTEN * len(ordered))) & (beyond <= SELDOM * same)
        if often.any():
            start = int(often.argmax())
            first = start + int(same[start : start + same[start]].argmax())
            found[name] = sign * float(np.median(ordered[first : first + same[first]]))
    if len(found) > 1 and found["speed_least"] > found["speed_most"] * (1 - ALIKE):
        del found["speed_least"]
    return found
