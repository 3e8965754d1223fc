"""Read ways to packets that go on beside the way to the newest one, and add to it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.jobs.diagnose.mechanism.readings import compute_robust_rms
from epic_cli.metrics.arrays import find_minimum

if TYPE_CHECKING:
    from epic_cli.jobs.diagnose.frames import Frames
    from epic_cli.metrics.arrays import Floats

#: Durations of ways that are sought (intervals), and how many of them are tried first.
TIMES, TRIED = (0.6, 8.0), 40

#: The largest error of such ways (usual steps), as a share of that of ways that end with the next.
NEAR, CLEARLY = 0.2, 1.1

#: Ticks that timers of pages have (s).
TICKS = (0.01, 0.016, 0.02, 0.05)


def iterate_overlapping_ways(frames: Frames) -> Iterator[StrategySpec]:
    """Yield chases whose ways to packets overlap, if the frames have such steps."""
    time, off = _fit_time(frames, overlap=True)
    if off > NEAR * frames.unit or off > CLEARLY * _fit_time(frames, overlap=False)[1]:
        return
    ways: dict[str, Any] = {"how": "linear", "time": time, "overlap": "on"}
    yield StrategySpec("chase", ways)
    yield StrategySpec("chase", {**ways, "start": "arrival"})
    for every in TICKS:
        # ticks behind each packet are half of one late, at the median; else as much early
        for first, late in (({}, 0.5), ({"start": "last"}, -0.5)):
            whole = {"time": max(round(time / every - late), 1) * every}
            ticks = {**first, "every": every, "phase": "packet"}
            yield StrategySpec("chase", {**ways, **whole, **ticks})


def _fit_time(frames: Frames, *, overlap: bool) -> tuple[float, float]:
    """Return the duration of ways (s) with the least error, and that error (length)."""
    arrivals, times = frames.arrivals, frames.times
    begin = np.stack([np.interp(arrivals, times, row) for row in frames.drawn.T], axis=1)
    way = frames.positions - begin
    first = int(frames.newest[0])
    way[: first + 1] = 0
    slopes = np.cumsum(way, axis=0) if overlap else way
    # the integral of all ways that have begun, at the arrivals
    gaps = np.diff(arrivals)[:, None]
    whole = np.concatenate((np.zeros((1, 3)), np.cumsum(slopes[:-1] * gaps, axis=0)))
    step, later = np.diff(frames.drawn, axis=0), frames.settled[1:]

    def measure(log: float) -> float:
        lasts = math.exp(log)
        if overlap:
            gone = (integrate(times) - integrate(times - lasts)) / lasts
        else:
            since = np.clip((times - arrivals[frames.newest]) / lasts, 0, 1)[:, None]
            gone = way[frames.newest] * since
        off = step - np.diff(gone, axis=0)
        told = later if overlap else later & (np.diff(frames.newest) == 0)
        return float(compute_robust_rms(off[told]))

    def integrate(at: Floats) -> Floats:
        place = np.clip(np.searchsorted(arrivals, at, side="right") - 1, 0, None)
        since = np.maximum(at - arrivals[place], 0)[:, None]
        return np.asarray(whole[place] + slopes[place] * since)

    tried = np.log(np.geomspace(*TIMES, TRIED) * frames.interval).tolist()
    place = int(np.argmin([measure(log) for log in tried]))
    log, off = find_minimum(measure, tried[max(place - 1, 0)], tried[min(place + 1, TRIED - 1)], 12)
    return math.exp(log), off
