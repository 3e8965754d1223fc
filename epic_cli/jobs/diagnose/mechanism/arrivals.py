"""Read frames that go by the packets: a step at each, or the way between the two newest states."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.jobs.diagnose.mechanism.measured_intervals import (
    compute_intervals,
    iterate_limits,
    iterate_measured_ways,
)
from epic_cli.jobs.diagnose.mechanism.readings import (
    FEW,
    MOSTLY,
    compute_robust_rms,
    fit_factors,
)
from epic_cli.jobs.diagnose.mechanism.ticks import TICKS
from epic_cli.metrics.arrays import compute_lengths, find_minimum

if TYPE_CHECKING:
    from epic_cli.jobs.diagnose.frames import Frames
    from epic_cli.jobs.diagnose.mechanism.clocks import TimeAxis
    from epic_cli.metrics.arrays import Flags, Floats

#: Fractions of a way that differ by less, mostly, are the same.
SLIGHT = 0.01

#: Frames that go less to a new packet, as a share of their way to the one before, do not know it.
BEHIND = 0.05

#: A frame this near to a state is there, and a state this far from the one before is another one
#: (usual steps).
AT_GOAL, AWAY = 1e-3, 0.1

#: States that a buffer with a timer of its own may be behind the newest, and the least share of the
#: frames that lie between two of them.
FARTHEST, TIMED = 4, 0.9

#: Delays (s) of a clock that packets alone advance, and the most that is left (usual steps).
DELAYS, NEAR = np.arange(0.0, 1.0, 0.01).tolist(), 0.3


def is_moved_by_packets(frames: Frames) -> bool:
    """Return True if nearly all that is drawn moves in frames at which a packet came."""
    moved, came = compute_lengths(np.diff(frames.drawn, axis=0)), np.diff(frames.newest) > 0
    return bool(moved[came].sum() >= MOSTLY * moved.sum() > 0)


def depends_on_new_packets(frames: Frames) -> bool | None:
    """Return True if frames go to the packets that come with them, False if to those before.

    None if nothing tells. Each arrival is the time of a frame.
    """
    before = np.searchsorted(frames.arrivals, frames.times) - 1
    step = np.diff(frames.drawn, axis=0, prepend=frames.drawn[:1])
    left = frames.positions[before] - (frames.drawn - step)
    fresh = frames.positions[frames.newest] - frames.positions[before]
    told = frames.settled & (frames.newest > before) & (before >= 0)
    arrived = compute_lengths(left) < AT_GOAL * frames.unit
    leaves = compute_lengths(step) > AT_GOAL * frames.unit  # what ends never does quite end
    goes_on = arrived & frames.settled & (frames.newest == before)
    if goes_on.sum() >= FEW and leaves[goes_on].mean() > BEHIND:
        return None  # without a packet, too
    there = told & arrived & (compute_lengths(fresh) > AWAY * frames.unit)
    if there.sum() >= FEW:  # it stands until it knows that there is more
        moves = leaves[there].mean()
        return None if BEHIND < moves < AWAY else bool(moves >= AWAY)
    told &= step.any(axis=1)
    if told.sum() < FEW:
        return None
    left, fresh = left[told], fresh[told]
    (share, more), _ = fit_factors(step[told], np.stack((left, fresh), axis=1))
    if share <= 0:
        return None
    known = more / share
    return known > 1 / 2 if abs(known) < BEHIND or known > 1 / 2 else None


def iterate_packet_steps(frames: Frames) -> Iterator[dict[str, Any]]:
    """Yield ways to go a part of the rest at each packet, unless other frames move, too.

    The part may be that of the frame's duration.
    """
    step, came = np.diff(frames.drawn, axis=0), np.diff(frames.newest)
    left = frames.positions[frames.newest[1:]] - frames.drawn[:-1]
    way = compute_lengths(left)
    told = (came == 1) & (way > 0.1 * frames.unit)
    if told.sum() < FEW or not is_moved_by_packets(frames):
        return
    shares = (step * left).sum(axis=1)[told] / way[told] ** 2
    share = float(np.median(shares))
    if 0.01 < share < 0.99:
        yield {"how": "share", "share": share}
        # handlers of packets see the time since the last frame
        since = (frames.arrivals[frames.newest[1:]] - frames.times[:-1])[told]
        going = (shares > 0) & (shares < 1)
        yield {"how": "lerp", "time": float(np.median(since[going] / shares[going]))}
        times = -since[going] / np.log1p(-shares[going])
        yield {"how": "exponential", "time": float(np.median(times))}


def read_packet_clock(frames: Frames, every: list[TimeAxis]) -> StrategySpec | None:
    """Return a buffer whose time goes on with packets alone; None if other frames move, too."""
    came = np.flatnonzero(np.diff(frames.newest) > 0) + 1
    came = came[frames.settled[came]]
    if len(came) < FEW or not is_moved_by_packets(frames):
        return None
    newest, drawn = frames.newest[came], frames.drawn[came]

    def measure(delay: float, axis: TimeAxis) -> float:
        wanted = frames.arrivals[newest] - axis.offsets[newest] - delay
        path = [np.interp(wanted, axis.stamps, row) for row in frames.positions.T]
        return float(compute_robust_rms(np.stack(path, axis=-1) - drawn))

    first = next(axis for axis in every if axis.settings == {"clock": "newest"})
    near = min(DELAYS, key=lambda delay: measure(delay, first)) + first.late
    # of about the same the usual one comes first
    slight = 1e-3 * frames.unit
    best = min(every, key=lambda axis: round(measure(near - axis.late, axis) / slight))
    low = near - best.late - DELAYS[1]
    delay, off = find_minimum(lambda delay: measure(delay, best), low, low + 2 * DELAYS[1])
    if off > NEAR * frames.unit:
        return None
    settings = {**best.settings, "delay": max(delay, 0.0), "every": "packet"}
    return StrategySpec("buffer", settings)


def iterate_timed_buffers(frames: Frames, grid: float) -> Iterator[StrategySpec]:
    """Yield buffers that go from state to state by a timer of their own, if the frames lie there.

    They are a number of states behind the newest. Positions are rounded to multiples of ``grid``
    (length; 0: they are not).
    """
    for late in range(FARTHEST):
        first = np.maximum(frames.newest - late, 1)
        before, way = frames.positions[first - 1], np.diff(frames.positions, axis=0)[first - 1]
        moving, share, on = _measure_shares(frames, before, way, grid)
        if len(share) < FEW:
            return
        on &= (share > -SLIGHT) & (share < 1 + SLIGHT)
        if on.mean() < TIMED:
            continue
        phases = frames.times[moving][on] / np.array(TICKS)[:, None] - share[on]
        steady = np.exp(2j * np.pi * phases).mean(axis=1)
        best = int(np.abs(steady).argmax())
        if np.abs(steady[best]) > MOSTLY:
            phase = float(np.angle(steady[best]) / (2 * np.pi) % 1.0) * TICKS[best]
            buffer = {"stamps": "ticks", "delay": f"{late + 1}i", "interval": TICKS[best]}
            yield StrategySpec("buffer", {**buffer, "catch_up": "timer", "phase": phase})
            return


def _measure_shares(
    frames: Frames, before: Floats, way: Floats, grid: float
) -> tuple[Flags, Floats, Flags]:
    """Return which frames move (m), the shares of their ways that are drawn, and which are on them.

    A way (m, 3) begins at ``before`` (m, 3); positions are rounded to multiples of ``grid``.
    """
    moving = frames.settled & (compute_lengths(way) > 0.1 * frames.unit)
    off, way = (frames.drawn - before)[moving], way[moving]
    share = (off * way).sum(axis=1) / np.square(way).sum(axis=1)
    return (
        moving,
        share,
        compute_lengths(off - share[:, None] * way) < max(0.01 * frames.unit, grid),
    )


def iterate_two_state_buffers(frames: Frames, grid: float) -> Iterator[StrategySpec]:
    """Yield buffers that go from the newest state but one to the newest, if the frames lie there.

    They go by the time since the packet, also beyond the newest.
    Positions are rounded to multiples of ``grid`` (length; 0: they are not).
    """
    before, after = frames.positions[frames.newest - 1], frames.positions[frames.newest]
    moving, share, on = _measure_shares(frames, before, after - before, grid)
    if len(share) < FEW or on.mean() < MOSTLY:
        return
    share = share[on]
    buffer = {"stamps": "ticks", "delay": "1i"}
    begins = frames.taking
    rises = (share > 0.02) & ((share < 0.98) | (share > 1.02))
    for measured in iterate_measured_ways(frames):
        words = {key: word for key, word in measured.settings.items() if key != "time"}
        if words["interval"] in ("frames", "steps") or words.get("start") == "frame":
            continue
        for limits in ({}, *iterate_limits(frames, measured, before, after)):
            lasts = compute_intervals(measured.measured, limits)[frames.newest]
            apart = ((measured.since / lasts)[moving][on] - share)[rises]
            if len(apart) > FEW and np.median(np.abs(apart)) < SLIGHT:
                newest = {"stamps": "ticks", "clock": "newest"}
                by_arrivals = words["interval"] == "arrivals" and not limits
                stamps = {"stamps": "arrival"} if by_arrivals else newest
                yield StrategySpec("buffer", {**stamps, "delay": "1i", **words, **limits})
    before_it = frames.times[np.maximum(begins - 1, 0)]
    shifted = np.append(frames.times[:1], frames.times[:-1])
    for start, at, begun in (
        ({}, frames.times, frames.arrivals[frames.newest]),
        ({"start": "last"}, frames.times, before_it),
        ({"start": "last", "draw_time": "last"}, shifted, before_it),
    ):
        since = (at - begun)[moving][on]
        if rises.sum() < FEW or not np.ptp(since[rises]):
            continue
        slope, level = np.polyfit(since[rises], share[rises], 1)
        if not 1.0 < slope < 1000.0:
            continue
        delay = max((1 - float(level)) / float(slope), 0.0)
        settings = {**buffer, "clock": "newest", "interval": 1 / float(slope), "delay": delay}
        beyond = {"beyond": "unlimited"} if share.max() > 1.02 else {}
        yield StrategySpec("buffer", {**settings, **beyond, **start})
