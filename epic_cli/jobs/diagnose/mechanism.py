"""Find how a game draws from its frames: buffer or chase, by which stamps, how late.

Each frame is on the path of the packets, behind it, or on its way to the newest of them. Where a
buffer's frames lie on that path (straight or curved, a low-pass undone before) gives the age of
what they show; by the game's own clock these ages are steady, except for its delay and a margin for
jitter. The steps of a chase give the share of the way that it goes in each frame, and the rule by
which that is steady. The best fits are drawn again by the strategies ``buffer`` and ``chase``
themselves, and their settings are fitted to what is left.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from epic_cli.engine.replay.strategy_spec import StrategySpec, read_specs
from epic_cli.engine.strategies import declaration
from epic_cli.engine.strategies.parts import ClockOffset, ClockRule, Deviation
from epic_cli.jobs.diagnose import kinds
from epic_cli.jobs.diagnose.frames import Frames
from epic_cli.jobs.diagnose.redraw import FittedStrategy, FrameComparison
from epic_cli.metrics.arrays import choose_places, lengths, minimum

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from epic_cli.metrics.arrays import Floats

#: Ages of the newest state that are sought: from, to, spacing (s).
AGES = -0.1, 4.0, 0.02

#: Seconds in which a delay is about constant; the most that a frame counts as off (s).
BLOCK, ASTRAY = 4.0, 0.05

#: A frame this many states before the newest one is frozen, not held.
SHORT = 0.02

#: Seconds of a piece of a curve, the most pieces from state to state, the most that are searched.
PIECE, PIECES, REACH = 0.008, 12, 60

#: Another part is there if ages without it are this many times as unsteady.
CLEARER = 1.3

#: Clocks that differ in steadiness by less than this (s) may draw the same.
TIED = 5e-5

#: Times (s) over which clocks are estimated.
CLOCK_TIMES = (0.5, 1.0, 2.0, 5.0, 10.0, math.inf)

#: Shares of each packet in a mean clock.
CLOCK_SHARES = (0.05, 0.1, 0.2)

#: Time constants (s) of low-passes that are undone.
LOW_PASSES = (0.0, 0.006, 0.01, 0.016, 0.025, 0.04, 0.063, 0.1, 0.16, 0.25)

#: Frames whose ages are examined; readings of buffers, and of chases, that are drawn.
AGED, READINGS, FIRST = 800, 10, 24


class PossibleReading(NamedTuple):
    """A strategy that may draw the frames, and its error ``off`` at a first look.

    For chases that is a distance, for buffers the unsteadiness of the frames' ages (s).
    """

    off: float
    strategy: StrategySpec


# ---------------------------------------------------------------- a buffer


class TimeAxis(NamedTuple):
    """A way to tell the times of states: ``settings``, ``stamps``, and the clock's ``offsets``.

    ``late`` is the usual time from a state to the frame that would show it without a delay, by the
    sender's stamps; ``jitter`` the deviation that a margin multiplies. All but ``late`` are per
    packet (n), in seconds.
    """

    settings: Mapping[str, Any]
    stamps: Floats
    offsets: Floats
    late: float
    jitter: Floats


def axes(frames: Frames) -> Iterator[TimeAxis]:
    """Yield the possible ways to find the sender's time."""
    yield time_axis(frames, {})
    yield time_axis(frames, {"stamps": "arrival"})
    for stamps in ({}, {"stamps": "ticks"}):
        for rule in ClockRule:
            clock = rule.name.lower()
            if clock == "agree":
                continue
            for time in CLOCK_TIMES if clock in ("min", "mean", "median", "max") else (None,):
                over = "session" if time == math.inf else time
                named = {} if time is None else {"clock_time": over}
                yield time_axis(frames, {**stamps, "clock": clock, **named})
        for share in CLOCK_SHARES:
            yield time_axis(frames, {**stamps, "clock": "mean", "clock_share": share})


def time_axis(frames: Frames, settings: Mapping[str, Any]) -> TimeAxis:
    """Return the time axis of a buffer with these settings."""
    arrivals, stamps = frames.arrivals, frames.stamps
    way = settings.get("stamps", "sender")
    own = {"sender": stamps, "arrival": arrivals, "ticks": frames.ticks}[way]
    offsets = np.zeros(len(stamps))
    if way == "arrival":
        jitter = np.append(0.0, _measure_jitter(arrivals[1:], np.diff(arrivals)))
    else:
        jitter = _measure_jitter(arrivals, arrivals - own)
        time = settings.get("clock_time", 2.0)
        rule = ClockRule[settings.get("clock", "agree").upper()]
        if rule != ClockRule.AGREE:
            offset = ClockOffset(
                rule,
                math.inf if time == "session" else time,
                share=settings.get("clock_share", 0.0),
            )
            for place, (arrival, stamp) in enumerate(
                zip(arrivals.tolist(), own.tolist(), strict=True)
            ):
                offset.add(arrival - stamp, arrival)
                offsets[place] = offset.value
    late = float(np.median(offsets + own - stamps))
    return TimeAxis(settings, own, offsets, late, jitter)


def _measure_jitter(arrivals: Floats, measured: Floats) -> Floats:
    """Return the deviation of ``measured`` at each packet, over the usual time."""
    deviation, found = Deviation(2.0), []
    for arrival, sample in zip(arrivals.tolist(), measured.tolist(), strict=True):
        deviation.add(sample, arrival)
        found.append(deviation.value())
    return np.array(found)


def buffers(frames: Frames, every: list[TimeAxis]) -> list[PossibleReading]:
    """Return possible buffers (clock, delay, margin, low-pass, curve), the steadiest first."""
    ages = _StateAges(frames, every)
    curves = ("linear", "hermite", "catmull-rom")
    passed = [[ages.read(curve, low_pass) for curve in curves] for low_pass in LOW_PASSES]
    off = [min(readings[0].off for readings in of) for of in passed]
    place = next(place for place, each in enumerate(off) if each <= CLEARER * min(off))
    found = passed[place]
    if place:
        curve = curves[min(range(3), key=lambda index: found[index][0].off)]
        constant = ages.low_pass(LOW_PASSES[place], curve)
        found = [ages.read(curve, constant) for curve in curves]
    # those that are the same to the microsecond stay in the order of the axes: usual ones first
    return sorted(itertools.chain(*found), key=lambda reading: round(reading.off, 6))


class _StateAges:
    """The places of frames on the packets' path, and the ages of the states drawn there."""

    def __init__(self, frames: Frames, every: list[TimeAxis]) -> None:
        self.frames, self.every = frames, every
        later = np.flatnonzero(frames.settled)
        self.at = later[choose_places(len(later), AGED)]
        self.newest = frames.newest[self.at]
        self.interval = frames.interval
        steps = lengths(np.diff(frames.positions, axis=0))
        self.moves = np.append(steps > 0.3 * frames.unit, False)
        self.guesses = self.guess()

    def guess(self) -> Floats:
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

    def low_pass(self, near: float, curve: str) -> float:
        """Return the low-pass time constant that makes the ages steadiest (s)."""

        def unsteady(log: float) -> float:
            return self.read(curve, math.exp(log))[0].off

        place = LOW_PASSES.index(near)
        low, high = LOW_PASSES[max(place - 1, 1)], LOW_PASSES[min(place + 1, len(LOW_PASSES) - 1)]
        return math.exp(minimum(unsteady, math.log(low), math.log(high), 6)[0])

    def read(self, curve: str, low_pass: float) -> list[PossibleReading]:
        """Return the steadiness of the ages by each clock, the steadiest clock first."""
        frames = self.frames
        places, beside, ends = self.places(curve, low_pass)
        moving = self.moves[places.astype(int)]
        short = (self.newest - places)[moving & ends]
        parts: dict[str, Any] = {"curve": curve} if curve != "linear" else {}
        parts |= {"low_pass": low_pass} if low_pass else {}
        parts |= {"beyond": "freeze"} if len(short) and np.mean(short > SHORT) > 0.5 else {}
        places, newest, times = places[moving], self.newest[moving], frames.times[self.at[moving]]
        ages = [
            times - np.interp(places, np.arange(len(axis.stamps)), axis.stamps)
            - axis.offsets[newest] for axis in self.every
        ]  # fmt: skip
        delays, margins, unsteady = _fit_delays(
            np.array(ages),
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

    def places(self, curve: str, low_pass: float) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        """Return the nearest place on the path for each frame (in states), and its distance.

        The third value marks frames that show the newest state, or stand where the path has run
        out.
        """
        frames = self.frames
        points = _undo_low_pass(frames, low_pass)
        steps = lengths(np.diff(points, axis=0, prepend=points[:1]))
        stands = (steps < 0.1 * steps.mean())[self.at]
        points = points[self.at]
        path, parts = _make_path(frames, curve)
        wanted = frames.stamps[self.newest] - self.guesses
        place = np.interp(wanted, frames.stamps, np.arange(len(frames.stamps)))
        begin = (place * parts).astype(int)
        reach = min(math.ceil(max(2.5, 0.15 / self.interval) * parts), REACH)
        pieces = np.diff(path, axis=0)
        squares = np.maximum(np.square(pieces).sum(axis=1), 1e-18)
        places, least = np.zeros(len(begin)), np.full(len(begin), np.inf)
        for away in sorted(range(-reach, reach + 1), key=abs):
            piece = np.clip(begin + away, 0, len(pieces) - 1)
            off = points - path[piece]
            part = np.clip((off * pieces[piece]).sum(axis=1) / squares[piece], 0, 1)
            far = np.square(off - part[:, None] * pieces[piece]).sum(axis=1)
            nearer = far < 0.9 * least - 1e-12
            places = np.where(nearer, (piece + part) / parts, places)
            least = np.where(nearer, far, least)
        places = np.minimum(places, self.newest)
        return places, np.sqrt(least), stands | (places >= self.newest - 1e-6)


def _fit_delays(
    ages: Floats, jitter: Floats, beside: Floats, ends: NDArray[np.bool_]
) -> tuple[Floats, Floats, Floats]:
    """Return the delays (s) and jitter margins that fit the ages (n, m) best, and the errors left.

    Frames without a newer state (``ends``) may be older than that. The sum of the distances becomes
    least, as in ``FrameComparison.fit``.
    """
    if not ages.shape[1] or ends.all():
        none = np.zeros(len(ages))
        return none, none, np.full(len(ages), np.inf)

    def off(left: Floats) -> Floats:
        return np.minimum(np.where(ends & (left > 0), 0.0, np.abs(left)) + beside, ASTRAY)

    delays = np.median(ages[:, ~ends], axis=1)[:, None]
    left = ages - delays
    plain = off(left).mean(axis=1)
    margins = np.zeros_like(delays)
    with_margin = delays
    for _ in range(5):
        far = off(left)
        weights = 1 / np.maximum(far, 0.1 * far.mean(axis=1, keepdims=True) + 1e-7)
        weights[(ends & (left > 0)) | (far >= ASTRAY)] = 0.0
        total = weights.sum(axis=1, keepdims=True) + 1e-300
        middle = (weights * jitter).sum(axis=1, keepdims=True) / total
        around = weights * (jitter - middle)
        margins = (around * ages).sum(axis=1, keepdims=True) / (
            (around * jitter).sum(axis=1, keepdims=True) + 1e-300
        )
        margins = np.clip(margins, 0.0, 10.0)
        with_margin = (weights * (ages - margins * jitter)).sum(axis=1, keepdims=True) / total
        left = ages - with_margin - margins * jitter
    unsteady = off(left).mean(axis=1)
    margined = CLEARER * unsteady < plain
    return (
        np.where(margined, with_margin[:, 0], delays[:, 0]),
        np.where(margined, margins[:, 0], 0.0),
        np.where(margined, unsteady, plain),
    )


def _make_path(frames: Frames, curve: str) -> tuple[Floats, int]:
    """Return the packets' path as a polyline, and its number of pieces from state to state."""
    states = frames.positions
    if curve == "linear":
        return states, 1
    times = np.diff(frames.stamps)[:, None]
    rates = frames.velocities
    if curve == "catmull-rom":
        rates = np.gradient(states, axis=0)
        rates[1:-1] = (states[2:] - states[:-2]) / (times[1:] + times[:-1])
        rates[[0, -1]] /= times[[0, -1]]
    pieces = min(max(math.ceil(float(np.median(times)) / PIECE), 1), PIECES)
    u = (np.arange(pieces) / pieces)[:, None]
    start, end = states[:-1, None], states[1:, None]
    leaves, comes = (rates[:-1] * times)[:, None], (rates[1:] * times)[:, None]
    bent = (
        (2 * u**3 - 3 * u**2 + 1) * start + (u**3 - 2 * u**2 + u) * leaves
        + (3 * u**2 - 2 * u**3) * end + (u**3 - u**2) * comes
    )  # fmt: skip
    return np.concatenate((bent.reshape(-1, 3), states[-1:])), pieces


def _undo_low_pass(frames: Frames, low_pass: float) -> Floats:
    """Return the input of a low-pass with this time constant (s), frame by frame."""
    if not low_pass:
        return frames.drawn
    share = 1 - np.exp(-np.diff(frames.times) / low_pass)
    before = frames.drawn[:-1] + np.diff(frames.drawn, axis=0) / share[:, None]
    return np.concatenate((frames.drawn[:1], before))


# ---------------------------------------------------------------- a chase


def chases(frames: Frames) -> list[PossibleReading]:
    """Return possible chases: each frame's step goes towards the newest state."""
    found: list[PossibleReading] = []
    for ahead, goal in _iterate_possible_goals(frames):
        left = goal[1:] - frames.drawn[:-1]
        step = np.diff(frames.drawn, axis=0)
        elapsed = np.diff(frames.times)
        later = frames.settled[1:]
        found += _read_shares(frames.unit, ahead, left[later], step[later], elapsed[later])
        found += _read_glides(frames, ahead, goal)
        found.append(_read_spring(frames, ahead, goal))
    return found


def _iterate_possible_goals(frames: Frames) -> Iterator[tuple[dict[str, Any], Floats]]:
    """Yield possible goals of a chase: its settings, and the goal in each frame."""
    newest = frames.newest
    aims = frames.positions
    yield {}, aims[newest]
    ages = (frames.times - frames.stamps[newest])[:, None]
    old = (frames.arrivals - frames.stamps)[:, None]
    if np.abs(old).max() < 2.0:
        aims = frames.positions + frames.velocities * old
        yield {"ahead": "velocity"}, frames.positions[newest] + frames.velocities[newest] * ages
        yield {"ahead": "arrival"}, aims[newest]
        steps = np.diff(frames.positions, axis=0, prepend=frames.positions[:1])
        aims = frames.positions + steps * old
        yield {"ahead": "step"}, aims[newest]
    since = (frames.times - frames.arrivals[newest])[:, None]
    yield (
        {"ahead": "velocity", "age": "arrival"},
        frames.positions[newest] + frames.velocities[newest] * since,
    )


def _compute_robust_rms(apart: Floats) -> float:
    """Return the RMS of the smallest nine tenths, which leaves out silences and snaps."""
    squares = np.sort(np.square(apart).sum(axis=-1))
    return float(np.sqrt(squares[: max(int(0.9 * len(squares)), 1)].mean()))


def _read_shares(
    unit: float, ahead: dict[str, Any], left: Floats, step: Floats, elapsed: Floats
) -> list[PossibleReading]:
    """Return chases that go a share of the way each frame, or at a constant speed."""
    way, pace = lengths(left), lengths(step)
    far = way**2 > np.quantile(way**2, 0.5) * 0.1
    going = (pace > 0) & (way > pace + 2e-3 * unit)
    if far.sum() < 20:
        return []
    share = np.clip((step * left).sum(axis=1)[far] / way[far] ** 2, 1e-6, 1 - 1e-9)
    middle = float(np.median(share))
    lerp = float(np.median(elapsed[far] / share))
    time = float(np.median(-elapsed[far] / np.log1p(-share)))
    speed = float(np.median((pace / elapsed)[going])) if going.any() else 0.0
    return [
        PossibleReading(
            _compute_robust_rms(step - np.minimum(model, 1)[:, None] * left),
            StrategySpec("chase", {"how": how, setting: value, **ahead}),
        )
        for how, setting, value, model in (
            ("share", "share", middle, np.full(len(elapsed), middle)),
            ("lerp", "time", lerp, elapsed / lerp),
            ("exponential", "time", time, 1 - np.exp(-elapsed / time)),
            ("speed", "speed", speed, speed * elapsed / np.maximum(way, 1e-12)),
        )
    ]


def _read_glides(frames: Frames, ahead: dict[str, Any], goal: Floats) -> list[PossibleReading]:
    """Return chases that glide in a fixed time from the position at each arrival to the new state.

    Tweens count the time from the frame before the arrival, or after it.
    """
    first = np.append(True, np.diff(frames.newest) > 0)
    begins = np.maximum.accumulate(np.where(first, np.arange(len(first)), 0))
    before = np.maximum(begins - 1, 0)
    later = np.flatnonzero(frames.settled)
    at = later[choose_places(len(later), AGED)]
    start, goal, drawn = frames.drawn[before][at], goal[at], frames.drawn[at]
    found = []
    for ease, shape in EASES.items():
        how = {"how": "linear"} if ease == "linear" else {"how": "eased", "ease": ease}
        starts = []
        for words, begun in (
            ({}, frames.arrivals[frames.newest]),
            ({"start": "frame"}, frames.times[begins]),
            ({"start": "last"}, frames.times[before]),
        ):
            since = (frames.times - begun)[at]

            def off(
                log: float, shape: Callable[[Floats], Floats] = shape, since: Floats = since
            ) -> float:
                u = np.clip(since / math.exp(log), 0, 1)
                return _compute_robust_rms(start + (goal - start) * shape(u)[:, None] - drawn)

            best, least = _find_least_error_time(off, 25, 14)
            glide = StrategySpec("chase", {**how, "time": math.exp(best), **words, **ahead})
            starts.append(PossibleReading(least, glide))
        found.append(min(starts, key=lambda reading: reading.off))
        if ease == "linear":  # the last of them is an even pace to the goal, too
            last, interval = starts[-1].off, starts[-1].strategy.settings["time"]
            even = {"how": "interval", **ahead}
            found.append(PossibleReading(last, StrategySpec("chase", even)))
            found.append(
                PossibleReading(last * 1.01, StrategySpec("chase", {**even, "interval": interval}))
            )
    return found


def _find_least_error_time(
    off: Callable[[float], float], count: int, steps: int
) -> tuple[float, float]:
    """Return the logarithm of the time (20 ms to 1 s) with the least error, and that error."""
    tried = np.log(np.geomspace(0.02, 1.0, count))
    place = int(np.argmin([off(value) for value in tried]))
    return minimum(off, tried[max(place - 1, 0)], tried[min(place + 1, count - 1)], steps)


EASES: dict[str, Callable[[Floats], Floats]] = {
    "linear": lambda u: u,
    "smoothstep": lambda u: u * u * (3 - 2 * u),
    "sine": lambda u: (1 - np.cos(np.pi * u)) / 2,
    "out-quad": lambda u: 1 - (1 - u) ** 2,
    "out-cubic": lambda u: 1 - (1 - u) ** 3,
}


def _read_spring(frames: Frames, ahead: dict[str, Any], goal: Floats) -> PossibleReading:
    """Return a chase by a critically damped spring, with the speed of the previous step."""
    elapsed, later = np.diff(frames.times), frames.settled[2:]

    def off(log: float) -> float:
        omega = 2 / math.exp(log)
        x = omega * elapsed
        decay = (1 / (1 + x + 0.48 * x**2 + 0.235 * x**3))[:, None]
        # position and speed after a step: g + (c + q) e, (v - w q) e, with q = (v + w c) dt
        change = frames.drawn[:-1] - goal[1:]
        moved = (frames.drawn[1:] - goal[1:]) / decay - change
        speed = (moved / elapsed[:, None] - omega * change - omega * moved) * decay
        change = frames.drawn[1:-1] - goal[2:]
        moved = (speed[:-1] + omega * change) * elapsed[1:, None]
        return _compute_robust_rms(
            (goal[2:] + (change + moved) * decay[1:] - frames.drawn[2:])[later]
        )

    best, least = _find_least_error_time(off, 15, 10)
    return PossibleReading(
        least, StrategySpec("chase", {"how": "spring", "time": math.exp(best), **ahead})
    )


# ---------------------------------------------------------------- drawn again


#: Drawings of games with parts that no reading shows.
KNOWN = (
    "chase+how=share+share=1",
    "buffer+stamps=arrival+delay=1i+before=none+beyond=freeze",
    "buffer+clock=first+clock_resync=0.05+delay=0.1+late=insert+before=none+beyond=freeze"
    "+monotonic=on+keep=120",
    "buffer+delay=0.2+keep=7",
    "buffer+stamps=ticks+clock=newest+interval=0.05+delay=0.05",
    "buffer+clock=mean+clock_time=1+delay=1.1i+jitter_margin=1+delay_least=1.1i+delay_most=1.2i"
    "+interval_time=2+jitter_time=1+beyond=0.08+beyond_then=return",
    "chase+how=linear+time=0.1+start=arrival",
)

#: Clocks that are tried in the place of another, the steadiest.
STEADY = 12

#: Readings over measured times, and in ticks, that are drawn.
MEASURED, TICKED = 4, 6

#: Ticks that frames do not show, in frames: from, to; and the phases that are tried.
FINEST, COARSEST, PHASES = 0.8, 4.0, 6

#: Findings that are fitted to the end, and variants that are.
KEPT, FITTED = 2, 6

#: Settings in seconds or in send intervals.
SPANS = ("delay", "time")

#: Least length of a teleport, as a multiple of the step that 90 % do not exceed.
LEAP = 4.0

#: Longest likely delay (s): beyond, the clocks do not agree.
LONGEST = 2.0

#: Settings that define a composition.
NEEDED = ("delay", "time", "share", "speed", "stamps", "clock", "how")

#: Initial delays (s) of a buffer that never catches up.
GROWN = np.arange(0.0, 0.3, 0.005).tolist()

#: Times near which a drawing leaps, so that slopes are useless.
LEAPING = ("clock_time", "beyond", "interval_time", "jitter_time")

#: Most rounds of changed words, as long as each leaves less than this share of the error.
CHANGES, BETTER = 5, 0.97


class _ExplanationSearch:
    """A search for the strategy that draws some frames; all results are kept, with their errors."""

    def __init__(self, frames: Frames, comparison: FrameComparison) -> None:
        self.frames, self.comparison = frames, comparison
        self.exact = comparison.exact
        self.axes = list(axes(frames))
        self.snaps = _list_snap_distances(frames)
        self.grid = kinds.find_grid(frames, comparison.exact)
        self.oldest = kinds.find_oldest(frames)
        self.kept: dict[object, FittedStrategy] = {}

    def found(self) -> list[FittedStrategy]:
        """Return the strategies found for the frames, the least error first."""
        known = [_convert_to_numbers(spec) for spec in read_specs(KNOWN)]
        self.look(known)
        self.read(sorted(chases(self.frames), key=lambda reading: reading.off), FIRST, self.exact)
        if self.near[0].residual > self.exact:
            self.read_kinds()
        if self.near[0].residual > self.exact:
            readings = buffers(self.frames, self.axes)
            self.read(readings, READINGS, TIED)
            steady = [_find_axis(self.axes, reading.strategy.settings) for reading in readings]
            self.axes.sort(key=steady.index)
        for way in ({"clock": "first"}, {"stamps": "arrival"}):
            if self.near[0].residual > self.exact:
                grows = {"delay": 0.1, "catch_up": "none", **way}
                found = FittedStrategy(StrategySpec("buffer", grows))
                self.keep(self.comparison.search(found, "delay", GROWN, 8))
        for _ in range(CHANGES):
            before = self.near[0].apart
            for found in self.unlike(KEPT):
                self.keep(self.leapt(self.comparison.fit(found)))
            if self.near[0].residual <= self.exact:
                break
            for found in self.unlike(KEPT):
                self.look(list(self.variants(found.candidate)), ("delay", "time", "low_pass"))
            for found in self.unlike(FITTED):
                self.keep(self.comparison.fit(found, 3))
            if self.near[0].apart > BETTER * before:
                break
        nearest = self.near
        same = [found for found in nearest if found.residual <= self.exact]
        same.sort(key=lambda found: len(found.candidate.settings))
        ended = [_order_settings(self.written(found)) for found in (same or nearest)[:FITTED]]
        return sorted(ended, key=lambda one: one.residual)

    def read_kinds(self) -> None:
        """Look at the kinds of drawings that the frames show at a glance."""
        frames, later = self.frames, self.frames.settled
        share = kinds.read_packet_steps(frames)
        if share is not None:
            settings = {"how": "share", "share": share, "every": "packet"}
            self.look([StrategySpec("chase", settings)])
        self.look(list(kinds.read_two_states(frames)))
        measured = [
            PossibleReading(_compute_robust_rms(off[later]), StrategySpec("chase", settings))
            for settings, off in kinds.read_measured(frames)
        ]
        self.read(sorted(measured, key=lambda reading: reading.off), MEASURED, self.exact)
        ticks = kinds.find_ticks(frames, self.exact)
        if ticks is not None:
            in_ticks = sorted(
                chases(kinds.make_tick_frames(frames, ticks)), key=lambda reading: reading.off
            )
            for reading in in_ticks[:TICKED]:
                spec = reading.strategy
                self.look([StrategySpec("chase", {**spec.settings, **ticks.settings})])
            if not ticks.smooth and self.near[0].residual > self.exact:
                phase = ticks.phase + ticks.every  # which is the same, and not below 0
                near = np.arange(phase - 0.002, phase + 0.002, 0.0004).tolist()
                for one in self.near[:2]:
                    self.keep(self.comparison.search(one, "phase", near, 4))
        elif self.near[0].residual > self.exact:
            for ways in (("exponential", "lerp", "share"), ("linear", "interval")):
                chased = (f for f in self.near if f.candidate.settings.get("how") in ways)
                for found in itertools.islice(chased, 1):
                    self.keep(self.in_ticks(found))
        for interval in (None, *kinds.TICKS):
            if self.near[0].residual > self.exact:
                settings = {"catch_up": "queue", "interval": interval}
                self.look([self.changed(StrategySpec("buffer", {}), settings)])

    def in_ticks(self, found: FittedStrategy) -> FittedStrategy:
        """Return a chase in the ticks with which it comes nearest, if they bring it nearer."""
        spec, best = found.candidate, found
        frame = float(np.median(np.diff(self.frames.times)))
        if "every" in spec.settings:
            return found
        for every in kinds.TICKS:
            if not FINEST * frame < every < COARSEST * frame:
                continue
            settings = {**spec.settings, "every": every, "between": "lerp"}
            if spec.settings.get("how") == "share":
                time = -frame / math.log1p(-min(float(settings["share"]), 0.999))
                settings["share"] = 1 - math.exp(-every / time)
            ticked = FittedStrategy(StrategySpec("chase", settings))
            ticked = self.comparison.fit(ticked, 2, ("time", "share"))
            # one tick up, so that a fit can go below 0
            phases = np.linspace(every, 2 * every, PHASES, endpoint=False).tolist()
            one = self.comparison.search(ticked, "phase", phases, 1)
            best = min(best, self.comparison.fit(one, 3), key=lambda each: each.apart)
        return best

    @property
    def near(self) -> list[FittedStrategy]:
        """All results so far, the least error first."""
        return sorted(self.kept.values(), key=lambda one: (one.residual > self.exact, one.apart))

    def unlike(self, count: int) -> list[FittedStrategy]:
        """Return ``count`` results with different clocks and ``count`` with other words.

        Of a few, most are buffers, which have more words.
        """
        picked: dict[str, FittedStrategy] = {}
        for part in (slice(None, 2), slice(2, None)):
            ways: dict[object, FittedStrategy] = {}
            for found in self.near:
                ways.setdefault(
                    (found.candidate.name, *_make_composition_key(found.candidate)[part]), found
                )
            buffers = [found for found in ways.values() if found.candidate.name == "buffer"]
            chases = [found for found in ways.values() if found.candidate.name == "chase"]
            for found in (*buffers[:count], *chases[: count // 2]):
                picked[found.candidate.label] = found
        return list(picked.values())

    def keep(self, found: FittedStrategy) -> None:
        """Keep a result, unless a kept one with about the same error is as simple."""
        if not math.isfinite(found.apart):
            return
        way: object = found.candidate.name, round(found.apart / (0.01 * self.exact))
        if found.residual <= self.exact:
            way = _make_composition_key(found.candidate)
        before = self.kept.get(way)
        if before is None or len(found.candidate.settings) < len(before.candidate.settings):
            self.kept[way] = found

    def look(self, specs: list[StrategySpec], only: Sequence[str] = ()) -> None:
        """Take a first look at strategies, by one step of the fit, until one is exact."""
        for spec in specs:
            found = self.comparison.fit(FittedStrategy(spec), 1, only)
            self.keep(found)
            if found.residual <= self.exact:
                break

    def read(self, readings: list[PossibleReading], count: int, tied: float) -> None:
        """Look at the first readings; once one is exact, only at readings about as likely."""
        tied = max(CLEARER * readings[0].off, tied)
        for place, reading in enumerate(readings):
            exact = self.near[0].residual <= self.exact
            if reading.off > tied if exact else place >= count:
                break
            self.look([reading.strategy])

    def leapt(self, found: FittedStrategy) -> FittedStrategy:
        """Return a result after a wider search of settings near which the drawing leaps."""
        for key in LEAPING:
            value = found.candidate.settings.get(key)
            if isinstance(value, float) and found.residual > self.exact:
                found = self.comparison.search(found, key, (value / 2, value, value * 2))
        return found

    def variants(self, spec: StrategySpec) -> Iterator[StrategySpec]:
        """Yield the strategy with one or two of its words replaced."""
        settings = spec.settings
        for changes in _OF_CHASES if spec.name == "chase" else _OF_BUFFERS:
            if any(settings.get(key) != value for key, value in changes.items()):
                yield self.changed(spec, changes)
        if spec.name == "buffer":
            for axis in self.axes[:STEADY]:
                ways = {"stamps": None, "clock": None, "clock_time": None, "clock_share": None}
                yield self.changed(spec, {**ways, **axis.settings})
            if "jitter_margin" in settings and isinstance(settings["delay"], float):
                wait = settings["delay"] + settings["jitter_margin"] * self.jitter(settings)
                for bound in ("delay_least", "delay_most"):
                    yield self.changed(spec, {bound: wait})
                yield self.changed(spec, {"jitter_time": 1.0})
            if low_pass := float(settings.get("low_pass", 0.0)):
                frame = float(np.median(np.diff(self.frames.times)))
                yield self.changed(spec, {"follow": "spring"})
                share = {"follow": "share", "follow_share": 1 - math.exp(-frame / low_pass)}
                yield StrategySpec(spec.name, {**_drop_settings(settings, "low_pass"), **share})
            if self.oldest:
                yield self.changed(spec, {"beyond": "oldest", "keep": self.oldest})
        if self.grid:
            yield self.changed(spec, {"rounding": self.grid})
        yield from (self.changed(spec, {"snap": snap}) for snap in self.snaps)
        yield from (self.changed(spec, {key: None}) for key in settings if key not in NEEDED)
        yield self.in_intervals(FittedStrategy(spec)).candidate

    def in_intervals(self, found: FittedStrategy) -> FittedStrategy:
        """Return a result whose delay or time is written in send intervals."""
        interval = self.frames.interval
        settings = found.candidate.settings
        spans = {key: settings[key] for key in SPANS if isinstance(settings.get(key), float)}
        return found.changed({key: f"{span / interval:.6g}i" for key, span in spans.items()})

    def changed(self, spec: StrategySpec, changes: Mapping[str, Any]) -> StrategySpec:
        """Return the strategy with these changes, and with a delay adapted to them."""
        settings = {**spec.settings, **changes}
        if settings.get("catch_up") != "rate":
            settings["catch_up_rate"] = None
        settings = {key: value for key, value in settings.items() if value is not None}
        delay = settings.get("delay")
        if isinstance(delay, float) and spec.name == "buffer":
            delay += self.late(spec.settings) - self.late(settings)
            settings["delay"] = max(delay, 0.0)
        return StrategySpec(spec.name, settings)

    def late(self, settings: Mapping[str, Any]) -> float:
        """Return the lateness of a buffer that is not due to its delay (s)."""
        margin = float(settings.get("jitter_margin", 0.0)) * self.jitter(settings)
        return _find_axis(self.axes, settings).late + margin + float(settings.get("low_pass", 0.0))

    def jitter(self, settings: Mapping[str, Any]) -> float:
        """Return the usual deviation that the jitter margin multiplies (s)."""
        return float(np.median(_find_axis(self.axes, settings).jitter))

    def written(self, best: FittedStrategy) -> FittedStrategy:
        """Return a result without settings that change nothing, with few digits."""
        given = best
        for key in best.candidate.settings:
            ways: list[dict[str, Any]] = [] if key in NEEDED else [{key: None}]
            if key == "beyond":  # a limit that these frames do not show
                ways.append({key: "unlimited"})
            if key in ("delay_least", "delay_most"):
                ways.append({key: None, "delay": best.candidate.settings.get(key)})
            for changes in ways:
                without = FittedStrategy(self.changed(best.candidate, changes))
                without = self.comparison.fit(without, 4)
                if self.comparison.is_as_good(without, given):
                    best = without
                    break
        best = self.comparison.short(best)
        spans = self.comparison.short(self.in_intervals(best))
        shorter = (
            _measure_description_length(spans.candidate)[0]
            < _measure_description_length(best.candidate)[0] - 1
        )
        return spans if shorter and self.comparison.is_as_good(spans, given) else best


def _order_settings(found: FittedStrategy) -> FittedStrategy:
    """Return a result with its settings in the order in which they are declared."""
    spec = found.candidate
    names = [setting.name for setting in declaration(spec.name).settings]
    ordered = {name: spec.settings[name] for name in names if name in spec.settings}
    return found._replace(candidate=StrategySpec(spec.name, ordered))


def _drop_settings(settings: Mapping[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in settings.items() if name != key}


def _list_snap_distances(frames: Frames) -> list[float]:
    """Return distances beyond which the drawing may snap (length).

    One is between the usual steps and those of teleports; for a chase, one is between what is left
    to go in frames that do not land on the newest state, and more than that in those that do.
    """
    steps = lengths(np.diff(frames.positions, axis=0))
    usual = LEAP * float(np.quantile(steps, 0.9))
    goal = frames.positions[frames.newest]
    left = lengths(goal[1:] - frames.drawn[:-1])
    lands = lengths(goal - frames.drawn)[1:] < SHORT * frames.unit
    way = float(left[~lands].max(initial=0.0))
    bounds = (usual, steps[steps > usual]), (way, left[lands & (left > way)])
    return [math.sqrt(low * float(above.min())) for low, above in bounds if low and len(above)]


def _find_axis(every: Sequence[TimeAxis], settings: Mapping[str, Any]) -> TimeAxis:
    """Return the time axis of a buffer with these settings, or the axis closest to it."""
    stamps, clock = settings.get("stamps", "sender"), settings.get("clock", "agree")
    if stamps == "arrival":
        clock = "agree"

    def seconds(time: float | str) -> float:
        return 1e9 if time in ("session", math.inf) else float(time)

    def far(axis: TimeAxis) -> tuple[bool, float]:
        own = axis.settings
        same = (own.get("stamps", "sender"), own.get("clock", "agree")) == (stamps, clock)
        time = seconds(settings.get("clock_time", 2.0)) / seconds(own.get("clock_time", 2.0))
        share = settings.get("clock_share", 0.0) - own.get("clock_share", 0.0)
        return not same, abs(share) + abs(math.log(time))

    return min(every, key=far)


def _convert_to_numbers(spec: StrategySpec) -> StrategySpec:
    """Return the strategy with its settings as numbers, also those written in units."""
    known = declaration(spec.name)
    used: dict[str, Any] = known.converted(known.values(spec.settings))
    numbers = {key: used[key] for key in spec.settings if isinstance(used[key], float)}
    positive = {key: value for key, value in numbers.items() if value >= 0}
    return StrategySpec(spec.name, {**spec.settings, **positive})


#: Alternatives that are tried; a number is fitted afterwards, None is the usual value.
_OF_CHASES: tuple[dict[str, Any], ...] = (
    *({"ahead": ahead, "age": None} for ahead in (None, "velocity", "arrival", "step")),
    {"ahead": "velocity", "age": "arrival"},
    *({"ahead_time": seconds} for seconds in (0.25, 0.5)),
    *({"how": how} for how in ("lerp", "exponential")),
    {"start": "arrival"},
    {"start": "last"},
    {"overshoot": "on"},
    {"snap_after": 1.0},
    {"ahead": "fixed", "ahead_time": 0.1, "age": None},
)
_OF_BUFFERS: tuple[dict[str, Any], ...] = (
    *({"beyond": beyond} for beyond in ("freeze", 0.05, 0.1, 0.25, 0.5, "unlimited")),
    *({"keep": states} for states in (2, 3, 4)),
    {"beyond_along": "velocity"},
    {"beyond": 0.1, "beyond_then": "return"},
    {"delay": "1.2i", "interval_time": 1.0},
    *({"curve": curve} for curve in ("hermite", "catmull-rom")),
    {"catch_up": "none"},
    *({"catch_up": "rate", "catch_up_rate": rate} for rate in (0.02, 0.05, 0.1, 0.2)),
    *(
        {"stamps": stamps, "clock": clock, "clock_time": None, "catch_up": "rate"}
        for stamps, clock in ((None, "newest"), ("ticks", "newest"), ("arrival", None))
    ),
    {"jitter_margin": 2.0},
    {"monotonic": "on"},
    {"late": "insert"},
    {"start": "last"},
    {"low_pass": 0.03},
)


# ---------------------------------------------------------------- what there is to say of it


class Mechanism(NamedTuple):
    """The way in which a game draws, as settings of ``buffer`` or ``chase``.

    ``residual`` is the error when it is drawn again (RMS, length), ``exact``: that is rounding
    alone; ``same_as`` then draws the same. Stamps are an ``interval`` (s) apart. ``supply``
    describes a buffer's data in these frames; None: it is no buffer, or nothing was sent. ``lead``
    is the error of the nearest with another clock, or another way to its goal, as a multiple of
    this one.
    """

    strategy: StrategySpec
    residual: float
    exact: bool
    interval: float
    supply: Supply | None = None
    same_as: tuple[StrategySpec, ...] = ()
    lead: float = 1.0


class Supply(NamedTuple):
    """The data that a buffer had in its frames, except silences at rest and the end.

    ``empty``: the share of the frames later than the newest packet (NaN: of a buffer that does not
    snap to its clock); ``wait``: the usual delay; ``needed``: the delay for 99 % of the frames;
    ``unsteady``: the distance of the clock's 5 % and 95 % (without a drift), or of the arrivals'
    behind the stamps; ``grown``: its delay when it has settled and at the end. All but the first in
    seconds.
    """

    empty: float
    wait: float
    needed: float
    unsteady: float
    grown: tuple[float, float]


def mechanism(frames: Frames, comparison: FrameComparison, enough: float) -> Mechanism:
    """Return the composition that draws these frames best."""
    search = _ExplanationSearch(frames, comparison)
    found = search.found()
    same = [near for near in found if comparison.is_as_good(near, found[0])]
    interval = frames.interval

    def unlikely(each: FittedStrategy) -> tuple[bool, tuple[int, ...]]:
        delay = each.candidate.settings.get("delay", 0.0)
        late = float(f"{delay}".strip("i")) * (interval if isinstance(delay, str) else 1.0)
        return late > LONGEST, _measure_description_length(each.candidate)

    best, *_ = same = sorted(same, key=unlikely)
    others = {_make_composition_key(best.candidate): best.candidate}
    # what is not smoothed is drawn by any smoothing that is quick enough, too
    if best.residual <= enough and best.candidate.settings.get("share") != 1.0:
        for each in same:
            others.setdefault(_make_composition_key(each.candidate), each.candidate)
    return Mechanism(
        best.candidate, best.residual, best.residual <= enough, interval,
        _measure_supply(frames, best.candidate), tuple(others.values())[1:],
        min(
            (
                each.apart for each in search.near
                if _make_timing_key(each) != _make_timing_key(best)
            ),
            default=math.inf,
        )
        / max(best.apart, 1e-300),
    )  # fmt: skip


def in_seconds(span: float, interval: float) -> float:
    """Convert a time to seconds; a negative number counts send intervals."""
    return span if span >= 0 else -span * interval


def _measure_description_length(strategy: StrategySpec) -> tuple[int, int, int, int]:
    """Return the length of a strategy's description, as a sort key.

    Settings and digits, digits, rarity of its clock, letters. One send interval (between the last
    two states) is shorter than a number.
    """
    settings = strategy.settings.values()
    digits = [-1 if value == "1i" else len(f"{value}".strip("i").replace(".", "").strip("0"))
              for value in settings
              if not isinstance(value, str) or value[0].isdigit()]  # fmt: skip
    clock = ClockRule[strategy.values.get("clock", "agree").upper()]
    length = sum(digits) + 2 * len(settings)
    return length, sum(digits), clock.value, len(strategy.label)


def _make_timing_key(found: FittedStrategy) -> tuple[object, ...]:
    """Return the settings that determine the times of states, or the movement to the goal."""
    values = found.candidate.values
    return tuple(values.get(key) for key in ("stamps", "clock", "how", "ahead"))


def _make_composition_key(strategy: StrategySpec) -> tuple[object, ...]:
    """Return the settings that are equal for compositions that differ only in numbers."""
    values = strategy.values
    ways = ("stamps", "clock", "curve", "catch_up", "how", "ahead")
    return tuple(values.get(key) for key in ways)


def watched(frames: Frames) -> NDArray[np.bool_]:
    """Return the frames (m) that a buffer must cover: settled frames, without silences at rest."""
    silent = np.append(_mark_silences(frames), True)  # nothing comes after the last packet
    return np.asarray(frames.settled & ~silent[frames.newest])


def needs(frames: Frames, axis: TimeAxis, curve: str) -> Floats:
    """Return the delay (m; s) with which each frame has a newer state to draw towards."""
    needed = frames.times - axis.offsets[frames.newest] - axis.stamps[frames.newest]
    # a Catmull-Rom curve goes by the state behind the next one, too
    return np.asarray(needed + frames.interval if curve == "catmull-rom" else needed)


def _measure_supply(frames: Frames, strategy: StrategySpec) -> Supply | None:
    """Return the data that a buffer had; None if nothing was sent, or for a chase."""
    counted = watched(frames)
    if strategy.name != "buffer" or not counted.any():
        return None
    if strategy.values["catch_up"] in ("queue", "timer"):  # which go by no clock
        return None
    words, interval = strategy.values, frames.interval
    used: dict[str, Any] = declaration("buffer").converted(words)
    delay = in_seconds(used["delay"], interval)
    axis = time_axis(frames, strategy.settings)
    arrivals, newest = frames.arrivals, frames.newest[counted]
    offsets = axis.offsets if words["stamps"] == "sender" else arrivals - frames.stamps
    drift = np.polyfit(arrivals, offsets, 1) if len(arrivals) > 2 else np.zeros(2)
    wander = np.ptp(np.quantile(offsets - np.polyval(drift, arrivals), (0.05, 0.95)))
    low, high = (in_seconds(used[key], interval) for key in ("delay_least", "delay_most"))
    wait = np.clip(delay + used["jitter_margin"] * axis.jitter[newest], low, max(low, high))
    missed = frames.times[counted] - axis.offsets[newest] - axis.stamps[newest] > wait
    empty, grown = float(missed.mean()), (delay, delay)
    if words["catch_up"] != "snap":  # it is not where its clock says
        empty = math.nan
    if words["catch_up"] == "none":
        sent = arrivals if words["stamps"] == "arrival" else frames.stamps
        shown = [float(axis.stamps[0] - delay)]
        for elapsed, known in zip(np.diff(arrivals), axis.stamps[:-1], strict=True):
            shown.append(min(shown[-1] + elapsed, known))
        ages = arrivals - np.interp(shown, axis.stamps, sent) - (arrivals[0] - sent[0])
        grown = ages[newest[0]].item(), ages[-1].item()
    needed = float(np.quantile(needs(frames, axis, str(words["curve"]))[counted], 0.99))
    return Supply(empty, float(np.median(wait)), needed, float(wander), grown)


#: Shortest silence in send intervals, and the most usual steps that the entity moves in it.
SILENT, RESTS = 3.0, 2.0


def _mark_silences(frames: Frames) -> NDArray[np.bool_]:
    """Mark the intervals (n - 1) in which nothing was sent because nothing moved."""
    far = lengths(np.diff(frames.positions, axis=0))
    long = np.diff(frames.stamps) > SILENT * frames.interval
    return np.asarray(long & (far <= RESTS * frames.unit))
