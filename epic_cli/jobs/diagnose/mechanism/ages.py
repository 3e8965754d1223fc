"""Read buffers from the ages of what frames show.

Each frame is on the path of the packets, or behind it. Where it lies on that path (straight or
curved, a low-pass undone before) gives the age of what it shows; by the game's own clock these ages
are steady, except for its delay and a margin for jitter.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.jobs.diagnose.mechanism.clocks import measure_unevenness
from epic_cli.jobs.diagnose.mechanism.delay_fit import ASTRAY, fit_delays
from epic_cli.jobs.diagnose.mechanism.interval_delays import find_interval_delay
from epic_cli.jobs.diagnose.mechanism.packet_path import (
    find_nearest_places,
    make_path,
    undo_low_pass,
)
from epic_cli.jobs.diagnose.mechanism.readings import AGED, CLEARER, PossibleReading
from epic_cli.jobs.diagnose.mechanism.ticks import TICKS
from epic_cli.metrics.arrays import choose_places, compute_lengths, find_minimum

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from epic_cli.jobs.diagnose.frames import Frames
    from epic_cli.jobs.diagnose.mechanism.clocks import TimeAxis
    from epic_cli.metrics.arrays import Floats

#: Ages of the newest state that are sought: from, to, spacing (s).
AGES = -0.1, 4.0, 0.02

#: Seconds in which a delay is about constant.
BLOCK = 4.0

#: A frame this many states before the newest one is frozen, not held.
SHORT = 0.02

#: Frames in which a low-pass is sought.
SCANNED = 300

#: Ages that are steadier (s) are explained; clocks, the usual ones and the steadiest, for which the
#: delay may be a multiple of a measured interval, or have a margin for uneven packets.
STEADY, CLOCKS = 1e-4, 4

#: How much of the jitter each packet is, in games that measure it so; or of how many packets, or of
#: which time (s) it is.
JITTER_SHARES, JITTER_COUNTS = (0.05, 0.0625, 0.1, 0.2), (10, 20, 30, 50, 60, 100)
JITTER_TIMES = (1.0, 2.0, 3.0, 5.0, 10.0)
LONGEST_OF = (5, 8, 10, 16, 20, 30, 60)
LONGEST_FALLS: tuple[dict[str, Any], ...] = ({}, {"delay_fall": 0.05}, {"delay_fall": 0.1})

#: One of this many frames is read for a margin.
THINNED = 2

#: How games ease the delay, which is tried with the likeliest measures of the jitter.
EASED = 3
EASES = (
    {"delay_fall": 0.1}, {"delay_fall": 0.05}, {"delay_rise": 0.1, "delay_fall": 0.1},
    {"delay_rise": 0.2, "delay_fall": 0.2}, {"delay_rise": 0.05, "delay_fall": 0.05},
)  # fmt: skip

#: Most pieces of a path that are searched to either side.
REACH = 60

#: Time constants (s) of low-passes that are undone.
LOW_PASSES = (0.0, 0.006, 0.01, 0.016, 0.025, 0.04, 0.063, 0.1, 0.16, 0.25)


def read_buffers(frames: Frames, every: list[TimeAxis]) -> list[PossibleReading]:
    """Return possible buffers (clock, delay, margin, low-pass, curve), the steadiest first."""
    rough, ages = _StateAges(frames, every, SCANNED), _StateAges(frames, every, AGED)
    curves = ("linear", "hermite", "catmull-rom")
    passed = [[rough.read(curve, low_pass)[0].off for curve in curves] for low_pass in LOW_PASSES]
    off = [min(of) for of in passed]
    place = next(place for place, each in enumerate(off) if each <= CLEARER * min(off))
    constants = [
        rough.fit_low_pass(LOW_PASSES[one], curves[int(np.argmin(passed[one]))]) if one else 0.0
        for one in sorted({place, int(np.argmin(off))})
    ]
    found = [ages.read(curve, constant) for constant in constants for curve in curves]
    best = min((readings[0] for readings in found), key=lambda reading: reading.off)
    if best.off > STEADY:
        found += [ages.read_interval_delays(best), ages.read_uneven_delays(best)]
    # those that are the same to the microsecond stay in the order of the axes: usual ones first
    return sorted(itertools.chain(*found), key=lambda reading: round(reading.off, 6))


class _StateAges:
    """The places of ``count`` frames on the packets' path, and the ages of the states there."""

    def __init__(self, frames: Frames, every: list[TimeAxis], count: int) -> None:
        self.frames, self.every = frames, every
        later = np.flatnonzero(frames.settled)
        self.at = later[choose_places(len(later), count)]
        self.newest = frames.newest[self.at]
        self.interval = frames.interval
        steps = compute_lengths(np.diff(frames.positions, axis=0))
        self.moves = np.append(steps > 0.3 * frames.unit, False)
        self.guesses = self._guess_delays()

    def _guess_delays(self) -> Floats:
        """Return each frame's delay behind the newest packet (s), roughly, block by block."""
        frames, at = self.frames, self.at
        since = frames.times[at] - frames.arrivals[self.newest]
        ages = np.arange(*AGES)
        wanted = (frames.stamps[self.newest] + since)[:, None] - ages
        path = [np.interp(wanted, frames.stamps, row) for row in frames.positions.T]
        apart = np.sqrt(np.square(np.stack(path, -1) - frames.drawn[at][:, None]).sum(-1))
        # jitter moves the newest packet: what is near at a neighboring age is near
        padded = np.pad(np.minimum(apart, frames.unit), ((0, 0), (2, 2)), "edge")
        near = np.lib.stride_tricks.sliding_window_view(padded, 5, axis=1).min(axis=-1)
        block = ((frames.times[at] - frames.times[at[0]]) / BLOCK).astype(int)
        guesses = np.zeros(len(at))
        for number in np.unique(block):
            own = block == number
            guesses[own] = ages[near[own].mean(axis=0).argmin()]
        return guesses - since

    def fit_low_pass(self, near: float, curve: str) -> float:
        """Return the low-pass time constant that makes the ages steadiest (s)."""

        def measure(log: float) -> float:
            return self.read(curve, math.exp(log))[0].off

        place = LOW_PASSES.index(near)
        low, high = LOW_PASSES[max(place - 1, 1)], LOW_PASSES[min(place + 1, len(LOW_PASSES) - 1)]
        return math.exp(find_minimum(measure, math.log(low), math.log(high), 6)[0])

    def read(self, curve: str, low_pass: float) -> list[PossibleReading]:
        """Return the steadiness of the ages by each clock, the steadiest clock first."""
        frames = self.frames
        places, beside, ends = self._find_places(curve, low_pass)
        moving = self.moves[places.astype(int)]
        short = (self.newest - places)[moving & ends]
        parts: dict[str, Any] = {"curve": curve} if curve != "linear" else {}
        parts |= {"low_pass": low_pass} if low_pass else {}
        parts |= {"beyond": "freeze"} if len(short) and np.mean(short > SHORT) > 0.5 else {}
        newest = self.newest[moving]
        delays, margins, unsteady = fit_delays(
            np.array([self._compute_ages(axis, places[moving], moving) for axis in self.every]),
            np.array([axis.jitter[newest] for axis in self.every]),
            beside[moving] * self.interval / frames.unit,
            ends[moving],
        )
        found = []
        for axis, delay, margin, off in zip(
            self.every, delays.tolist(), margins.tolist(), unsteady.tolist(), strict=True
        ):
            settings = {**axis.settings, "delay": max(delay, 0.0)}
            settings |= {"jitter_margin": margin} if margin else {}
            found.append(PossibleReading(off, StrategySpec("buffer", {**settings, **parts})))
        return sorted(found, key=lambda reading: round(reading.off, 6))

    def _compute_ages(self, axis: TimeAxis, places: Floats, some: NDArray[np.bool_]) -> Floats:
        """Return the ages (s) of places on the path (in states), of ``some`` frames, by a clock."""
        sent = np.interp(places, np.arange(len(axis.stamps)), axis.stamps)
        return self.frames.times[self.at[some]] - sent - axis.offsets[self.newest[some]]

    def read_interval_delays(self, best: PossibleReading) -> list[PossibleReading]:
        """Return buffers whose delay is a multiple of a measured interval, if that is steadier.

        Their curve and low-pass are those of the ``best`` reading.
        """
        parts = {key: best.strategy.settings.get(key) for key in ("curve", "low_pass")}
        places, beside, ends = self._find_places(parts["curve"] or "linear", parts["low_pass"] or 0)
        some = self.moves[places.astype(int)] & ~ends
        if not some.any():
            return []
        times, off = self.frames.times[self.at[some]], beside[some] * self.interval
        found = []
        for axis in self.every[:CLOCKS]:
            ages = self._compute_ages(axis, places[some], some)
            delay = find_interval_delay(self.frames, times, ages, off / self.frames.unit, ASTRAY)
            if CLEARER * delay.off > best.off:
                continue
            settings = {**axis.settings, "delay": f"{delay.factor:.6g}i", **delay.settings}
            settings |= {key: value for key, value in parts.items() if value}
            found.append(PossibleReading(delay.off, StrategySpec("buffer", settings)))
        return found

    def read_uneven_delays(self, best: PossibleReading) -> list[PossibleReading]:
        """Return buffers whose margin is a multiple of how uneven arrivals are, if it is steadier.

        Their curve and low-pass are those of the ``best`` reading.
        """
        parts = {key: best.strategy.settings.get(key) for key in ("curve", "low_pass")}
        places, beside, ends = self._find_places(parts["curve"] or "linear", parts["low_pass"] or 0)
        some = self.moves[places.astype(int)] & (np.arange(len(places)) % THINNED == 0)
        if not some.any():
            return []
        off = beside[some] * self.interval / self.frames.unit
        ages = np.array([self._compute_ages(axis, places[some], some) for axis in self.every])
        found: list[PossibleReading] = []
        plain = fit_delays(ages, np.zeros((1, len(off))), off, ends[some])[2]
        likely = sorted({*range(CLOCKS), *np.argsort(plain)[:CLOCKS].tolist()})

        def read(by: dict[str, Any]) -> float:
            jitter = measure_unevenness(self.frames, by)[self.newest[some]]
            fitted = fit_delays(ages[likely], jitter[None], off, ends[some])
            axes = [self.every[place] for place in likely]
            least = math.inf
            for axis, delay, margin, left in zip(
                axes, *map(np.ndarray.tolist, fitted), strict=True
            ):
                if margin and CLEARER * left < best.off:
                    settings = {**axis.settings, "delay": max(delay, 0.0), "jitter_margin": margin}
                    settings |= by | {key: value for key, value in parts.items() if value}
                    found.append(PossibleReading(left, StrategySpec("buffer", settings)))
                    least = min(least, left)
            return least

        measured = [(read(by), place, by) for place, by in enumerate(self._iterate_measures())]
        for left, _, by in sorted(measured)[:EASED]:
            for eases in EASES if left < math.inf else ():
                read({**by, **eases})
        return found

    def _iterate_measures(self) -> Iterator[dict[str, Any]]:
        """Yield ways in which games measure how uneven packets are."""
        usual = min(TICKS, key=lambda tick: abs(tick - self.interval))
        for share in JITTER_SHARES:
            yield {"jitter": "intervals", "jitter_share": share}
            yield {"jitter": "stamps", "interval": usual, "jitter_share": share}
            yield {"jitter": "changes", "jitter_share": share}
        for count in JITTER_COUNTS:
            for measure in ("spread", "lateness", "arrivals"):
                yield {"jitter": measure, "jitter_count": count}
        yield {"jitter": "arrivals"}
        for time in JITTER_TIMES:
            yield {"jitter": "spread", "jitter_time": time}
        # as most games that go by it have it: up at once, and down slowly
        windows: list[dict[str, Any]] = [{"jitter_count": count} for count in LONGEST_OF]
        windows += [{"jitter_time": time} for time in JITTER_TIMES[:4]]
        for window, fall in itertools.product(windows, LONGEST_FALLS):
            yield {"jitter": "longest", **window, **fall}

    def _find_places(self, curve: str, low_pass: float) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        """Return the nearest place on the path for each frame (in states), and its distance.

        The third value marks frames that show the newest state, or stand where the path has run
        out.
        """
        frames = self.frames
        points = undo_low_pass(frames, low_pass)
        steps = compute_lengths(np.diff(points, axis=0, prepend=points[:1]))
        stands = (steps < 0.1 * steps.mean())[self.at]
        points = points[self.at]
        path, parts = make_path(frames, curve)
        wanted = frames.stamps[self.newest] - self.guesses
        place = np.interp(wanted, frames.stamps, np.arange(len(frames.stamps)))
        begin = (place * parts).astype(int)
        reach = min(math.ceil(max(2.5, 0.15 / self.interval) * parts), REACH)
        near = sorted(range(-reach, reach + 1), key=abs)
        places, least = find_nearest_places(path, points, begin, near)
        places = np.minimum(places / parts, self.newest)
        return places, least, stands | (places >= self.newest - 1e-6)
