"""Kinds of drawings that frames show at a glance: in ticks, by packets, over a measured time.

What is steady tells the kind before any formula is tried: whether it moves only where a packet
came, whether its path bends only at the ticks of a clock, whether it lies between the two newest
states. Each kind then gives its readings, with the numbers that the frames show.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.metrics.arrays import lengths

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from epic_cli.jobs.diagnose.frames import Frames
    from epic_cli.metrics.arrays import Floats

#: Lengths of ticks and of timers that games have (s).
TICKS = tuple(
    float(f"{1 / rate:.8g}") for rate in (10, 12, 12.5, 15, 20, 24, 25, 30, 40, 50, 60, 64, 128)
)

#: A step below this share of the usual one is none.
STANDS = 1e-3

#: Least share of the movement, or of the bends, that is where the kind has it.
MOSTLY = 0.97

#: Shorter ticks have this much more of it.
CLEARLY = 0.02

#: Most frames in which ticks are sought.
MOST = 3000

#: Fewest steps that tell a kind.
FEW = 10

#: Places of a state, from the newest, that may be the oldest that is kept.
KEPT = range(4, 64)

#: A measured interval is at least this long (s), as in ``chase``.
LEAST_PERIOD = 1e-4


class Ticks(NamedTuple):
    """A clock under the frames: a tick each ``every`` seconds, one at ``phase`` (s).

    ``smooth``: frames lie on lines between ticks, a tick late; else they show the last tick.
    """

    every: float
    phase: float
    smooth: bool

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of a chase in these ticks."""
        between = {"between": "lerp"} if self.smooth else {}
        return {"every": self.every, "phase": self.phase, **between}


def find_ticks(frames: Frames, exact: float) -> Ticks | None:
    """Return the ticks at which the frames' path moves or bends; None if there are none.

    A difference up to ``exact`` is none (length).
    """
    times, step = frames.times[:MOST], np.diff(frames.drawn[:MOST], axis=0)
    pace = step / np.diff(times)[:, None]
    moved = lengths(step)
    if (moved < STANDS * moved.mean()).mean() > 0.2:
        # it stands between two ticks: a step in a frame has a tick since the frame before
        return _select_ticks(times[:-1], times[1:], moved, smooth=False)
    bend = lengths(np.diff(pace, axis=0))
    shorter = np.minimum(times[1:-1] - times[:-2], np.diff(times[1:]))
    bend = np.maximum(bend - 4 * exact / shorter, 0)
    return _select_ticks(times[:-2], times[2:], bend, smooth=True)


def _select_ticks(begins: Floats, ends: Floats, weight: Floats, *, smooth: bool) -> Ticks | None:
    """Return the ticks within the intervals that have nearly all of the weight, if any do."""
    frame = float(np.median(ends - begins))
    weight = np.minimum(weight, np.quantile(weight, 0.98))
    if (weight > 0).sum() < FEW:
        return None
    # longer ticks first: of shorter ones that divide them, every second one is empty
    best: tuple[float, Ticks | None] = MOSTLY - CLEARLY, None
    for every in TICKS:
        if every < 1.3 * frame:
            continue
        phases = np.arange(0, every, min(0.1 * frame, 0.001))
        # an interval holds a tick of a phase if the phase's number changes in it
        held = np.floor((ends - phases[:, None]) / every) > np.floor(
            (begins - phases[:, None]) / every
        )
        inside = held @ weight / weight.sum()
        good = inside > inside.max() - 0.002
        if inside.max() > best[0] + CLEARLY and held[good].mean() < 0.9:
            middle = float(np.angle(np.exp(2j * np.pi * phases[good] / every).mean()))
            phase = (middle / (2 * np.pi) % 1.0) * every
            best = float(inside.max()), Ticks(every, phase, smooth)
    return best[1]


def make_tick_frames(frames: Frames, ticks: Ticks) -> Frames:
    """Return what the ticks drew, as frames at the ticks.

    A tick runs in the first frame at or after it, with the packets that have come by then.
    """
    first = int(np.ceil((frames.times[0] - ticks.phase) / ticks.every))
    last = int(np.floor((frames.times[-1] - ticks.phase) / ticks.every)) - 1
    times: Floats = ticks.phase + np.arange(first, last + 1, dtype=float) * ticks.every
    shown = times + ticks.every if ticks.smooth else times
    runs = np.searchsorted(frames.times, times - 1e-9)
    drawn = frames.drawn[runs]
    if ticks.smooth:
        drawn = np.stack([np.interp(shown, frames.times, row) for row in frames.drawn.T], 1)
    newest = frames.newest[np.minimum(runs, len(frames.times) - 1)]
    return frames._replace(times=times, drawn=drawn, newest=newest)


def read_packet_steps(frames: Frames) -> float | None:
    """Return the share of the way that each packet moves the drawing; None if other steps occur."""
    step = np.diff(frames.drawn, axis=0)
    moved, came = lengths(step), np.diff(frames.newest)
    total = moved.sum()
    left = frames.positions[frames.newest[1:]] - frames.drawn[:-1]
    way = lengths(left)
    told = (came == 1) & (way > 0.1 * frames.unit)
    if told.sum() < FEW or moved[came > 0].sum() < MOSTLY * total:
        return None
    share = float(np.median((step * left).sum(axis=1)[told] / way[told] ** 2))
    return share if 0.01 < share < 0.99 else None


class MeasuredWay(NamedTuple):
    """The fraction (m) of a measured time since the newest packet, and how both are measured.

    ``periods`` (m) are the measured times (s).
    """

    settings: dict[str, Any]
    fraction: Floats
    periods: Floats


def measured_ways(frames: Frames) -> Iterator[MeasuredWay]:
    """Yield ways of measuring the time from packet to packet, and since the newest one."""
    first = np.append(True, np.diff(frames.newest) > 0)
    begins = np.maximum.accumulate(np.where(first, np.arange(len(first)), 0))
    before = np.maximum(begins - 1, 0)
    by_arrival = np.diff(frames.arrivals, prepend=frames.arrivals[0])
    seen = np.flatnonzero(first)
    between = np.full(len(frames.times), LEAST_PERIOD)
    several = np.append(1, np.diff(frames.newest[seen])) > 1
    periods = np.where(several, 0.0, np.append(0.0, np.diff(frames.times[seen])))
    between[:] = np.repeat(periods, np.diff(np.append(seen, len(first))))
    for measure, period in (("frames", between), ("arrivals", by_arrival[frames.newest])):
        lasts = np.maximum(period, LEAST_PERIOD)
        for start, begun in (
            ("last", frames.times[before]),
            ("drawn", frames.arrivals[frames.newest]),
            ("frame", frames.times[begins]),
        ):
            settings = {"time": "1i", "interval": measure}
            settings |= {"start": start} if start != "drawn" else {}
            yield MeasuredWay(settings, np.clip((frames.times - begun) / lasts, 0, 1), lasts)


def read_measured(frames: Frames) -> Iterator[tuple[dict[str, Any], Floats]]:
    """Yield chases over a measured time: their settings, and how far off each frame is (m, 3)."""
    first = np.append(True, np.diff(frames.newest) > 0)
    begins = np.maximum.accumulate(np.where(first, np.arange(len(first)), 0))
    start = frames.drawn[np.maximum(begins - 1, 0)]
    last = np.concatenate((frames.drawn[:1], frames.drawn[:-1]))
    newest = frames.positions[frames.newest]
    speed = frames.velocities[frames.newest]
    for way in measured_ways(frames):
        u = way.fraction[:, None]
        for ahead, goal in (
            ({}, newest),
            (
                {"ahead": "interval", "ahead_time": "unlimited"},
                newest + speed * way.periods[:, None],
            ),
        ):
            for how, begin in (("linear", start), ("growing", last)):
                off = begin + (goal - begin) * u - frames.drawn
                yield {"how": how, **way.settings, **ahead}, off


def read_two_states(frames: Frames) -> Iterator[StrategySpec]:
    """Yield buffers that go from the newest state but one to the newest, if the frames lie there.

    They go by a timer of their own, or by the time since the packet, also beyond the newest.
    """
    before, after = frames.positions[frames.newest - 1], frames.positions[frames.newest]
    way = after - before
    moving = frames.settled & (lengths(way) > 0.1 * frames.unit)
    if moving.sum() < FEW:
        return
    off, way = (frames.drawn - before)[moving], way[moving]
    share = (off * way).sum(axis=1) / np.square(way).sum(axis=1)
    on = lengths(off - share[:, None] * way) < 0.01 * frames.unit
    if on.mean() < MOSTLY:
        return
    share, times = share[on], frames.times[moving][on]
    turns = times / np.array(TICKS)[:, None] - share
    steady = np.exp(2j * np.pi * turns).mean(axis=1)
    best = int(np.abs(steady).argmax())
    buffer = {"stamps": "ticks", "delay": "1i"}
    if np.abs(steady[best]) > MOSTLY and share.max() < 1.02:
        phase = float(np.angle(steady[best]) / (2 * np.pi) % 1.0) * TICKS[best]
        settings = {**buffer, "interval": TICKS[best], "catch_up": "timer", "phase": phase}
        yield StrategySpec("buffer", settings)
    first = np.append(True, np.diff(frames.newest) > 0)
    begins = np.maximum.accumulate(np.where(first, np.arange(len(first)), 0))
    rises = (share > 0.02) & ((share < 0.98) | (share > 1.02))
    for start, begun in (
        ({}, frames.arrivals[frames.newest]),
        ({"start": "last"}, frames.times[np.maximum(begins - 1, 0)]),
    ):
        since = times - begun[moving][on]
        if rises.sum() < FEW:
            continue
        slope, level = np.polyfit(since[rises], share[rises], 1)
        if not 1.0 < slope < 1000.0:
            continue
        delay = max((1 - float(level)) / float(slope), 0.0)
        settings = {**buffer, "clock": "newest", "interval": 1 / float(slope), "delay": delay}
        beyond = {"beyond": "unlimited"} if share.max() > 1.02 else {}
        yield StrategySpec("buffer", {**settings, **beyond, **start})


def find_grid(frames: Frames, exact: float) -> float:
    """Return the distance of which all coordinates are multiples; 0 if there is none.

    A difference up to ``exact`` is none (length).
    """
    values = np.unique(frames.drawn)
    gaps = np.diff(values)
    gaps = gaps[gaps > 3 * exact]
    if len(gaps) < FEW:
        return 0.0
    steps = np.round(values / gaps.min())
    grid = float(f"{(values @ steps) / (steps @ steps + 1e-300):.4g}") or np.inf
    off = np.abs(frames.drawn - np.round(frames.drawn / grid) * grid)
    return grid if off.max() <= exact < grid / 4 else 0.0


def find_oldest(frames: Frames) -> int:
    """Return how many states are kept where the oldest is shown; 0 if no frame shows it."""
    drawn, newest = frames.drawn, frames.newest
    gone = lengths(frames.positions[newest] - drawn) > 2 * frames.unit
    counts = []
    for back in KEPT:
        places = newest - back
        off = lengths(frames.positions[np.maximum(places, 0)] - drawn)
        counts.append(int((gone & (places >= 0) & (off < 0.002 * frames.unit)).sum()))
    best = int(np.argmax(counts))
    return KEPT[best] + 1 if counts[best] > 2 * np.median(counts) + 2 else 0


#: What is left is explained by what has this share of its squares.
EXPLAINS = 0.5


def explain_rest(frames: Frames, counted: NDArray[np.bool_], apart: Floats) -> str:
    """Return what the rest of a drawing goes with; empty if it goes with nothing that is known.

    ``apart`` (k, 3) are the differences in the ``counted`` frames (m): ``velocity``: of the newest
    packet; ``age``: that times the time since it came; ``path``: the drawing's own speed.
    """
    known = np.isfinite(apart[:, 0])
    speed = frames.velocities[frames.newest]
    since = (frames.times - frames.arrivals[frames.newest])[:, None]
    own = np.gradient(frames.drawn, frames.times, axis=0)
    rest = apart[known]
    whole = np.square(rest).sum()
    explained = {
        name: np.square((rest * of[counted][known]).sum())
        / (np.square(of[counted][known]).sum() * whole + 1e-300)
        for name, of in (("path", own), ("velocity", speed), ("age", speed * since))
    }
    best = max(explained, key=lambda name: float(explained[name]))
    return best if explained[best] > EXPLAINS else ""
