"""How a drawing works, found from its frames: a buffer or a chase, over which stamps, how late.

Each frame is on the path of the packets, behind it, or on its way to the newest of them. For a
buffer the frames are laid over that path at every delay, for each way to find the sender's clock,
and where they lie on it that is how the game draws; a low-pass is undone before. For a chase the
step of each frame says which share of the way it goes, and by what that is steady. What fits best
is drawn again by the strategies ``buffer`` and ``chase`` themselves, and their settings are fitted
to what is left.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from epic_cli.engine.replay.strategy_spec import StrategySpec, read_specs
from epic_cli.engine.strategies import declaration
from epic_cli.engine.strategies.parts import ClockOffset, ClockRule, Deviation, SendInterval
from epic_cli.jobs.diagnose.redraw import FittedStrategy, FrameComparison
from epic_cli.metrics.arrays import minimum

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from epic_cli.metrics.arrays import Floats

#: Seconds: delays that are looked for, and how far apart; ages of the newest state.
LEAST, MOST, STEP = -0.05, 1.5, 0.005
OLDEST = -1.0, 2.0

#: Seconds over which clocks are estimated, those that are tried; margins of the jitter, too.
CLOCK_TIMES = (0.5, 1.0, 2.0, 5.0, 10.0, math.inf)
MARGINS = (0.0, 1.0, 2.0, 3.0)

#: Time constants of low-passes that are undone (s).
LOW_PASSES = (0.0, 0.01, 0.02, 0.035, 0.06, 0.1, 0.17)

#: Frames that a first look takes; of buffers with one low-pass, and of chases, those drawn.
LOOKED_AT, READINGS, FIRST = 100, 16, 24

#: Seconds at the beginning that are not looked at, or a quarter where that is less.
SETTLES = 1.0


class PossibleReading(NamedTuple):
    """A strategy that may be how it draws; ``off``: how far off it is by a first look (length)."""

    off: float
    strategy: StrategySpec


class Frames(NamedTuple):
    """One entity: packets in order of arrival, and frames with what was drawn in them.

    ``arrivals`` and ``stamps`` (n), ``positions`` and ``velocities`` (n, 3) are of the packets that
    are newer than all before them; ``times`` (m), ``drawn`` (m, 3); ``newest`` (m) is the index of
    the last packet that is there in each frame.
    """

    arrivals: Floats
    stamps: Floats
    positions: Floats
    velocities: Floats
    times: Floats
    drawn: Floats
    newest: NDArray[np.int64]

    @property
    def unit(self) -> float:
        """The usual step from packet to packet (length)."""
        steps = np.linalg.norm(np.diff(self.positions, axis=0), axis=1)
        moving = steps[steps > 0]
        return float(np.median(moving)) if len(moving) else 1.0

    @property
    def settled(self) -> NDArray[np.bool_]:
        """Frames (m) that are not at the beginning, while clocks and low-passes settle."""
        since = self.times - self.times[0]
        return np.asarray(since >= min(SETTLES, 0.25 * float(since[-1])))


def frames_of(
    arrivals: Floats, stamps: Floats, positions: Floats, velocities: Floats, times: Floats,
    drawn: Floats,
) -> Frames:  # fmt: skip
    """The same without late packets and without frames before the second packet."""
    fresh = np.append(True, stamps[1:] > np.maximum.accumulate(stamps)[:-1])
    arrivals, stamps, positions = arrivals[fresh], stamps[fresh], positions[fresh]
    # the engine's estimate where none was sent: the slope from the packet before
    slopes = np.zeros_like(positions)
    slopes[1:] = np.diff(positions, axis=0) / np.diff(stamps)[:, None]
    velocities = np.where(np.isfinite(velocities[fresh]), velocities[fresh], slopes)
    newest = np.searchsorted(arrivals, times, side="right") - 1
    there = newest >= 1
    return Frames(
        arrivals, stamps, positions, velocities,
        times[there], drawn[there], newest[there],
    )  # fmt: skip


# ---------------------------------------------------------------- a buffer


class TimeAxis(NamedTuple):
    """What says when states were true: ``settings``, ``stamps``, and the clock's ``offsets``.

    ``late`` is the usual time from a state to the frame that would show it without a delay, by the
    sender's stamps; ``jitter`` the deviation that a margin multiplies. All but that are per packet
    (n), in seconds.
    """

    settings: Mapping[str, Any]
    stamps: Floats
    offsets: Floats
    late: float
    jitter: Floats


def axes(frames: Frames) -> Iterator[TimeAxis]:
    """The ways to find the sender's time."""
    arrivals, stamps = frames.arrivals, frames.stamps
    none = np.zeros(len(stamps))
    late = float(np.median(arrivals - stamps))
    sender = _jitter(arrivals, arrivals - stamps)
    yield TimeAxis({"clock": "agree"}, stamps, none, 0.0, sender)
    between = np.append(0.0, _jitter(arrivals[1:], np.diff(arrivals)))
    yield TimeAxis({"stamps": "arrival"}, arrivals, none, late, between)
    ticks = _ticks(stamps)
    for settings, own, jitter in (
        ({}, stamps, sender),
        ({"stamps": "ticks"}, ticks, _jitter(arrivals, arrivals - ticks)),
    ):
        for clock, offsets in _clocks(arrivals, own):
            late = float(np.median(offsets + own - stamps))
            yield TimeAxis({**settings, **clock}, own, offsets, late, jitter)


def _clocks(arrivals: Floats, stamps: Floats) -> Iterator[tuple[dict[str, Any], Floats]]:
    """Each way to compare two clocks, and what it says at each packet (s)."""
    for rule in ClockRule:
        clock = rule.name.lower()
        if clock == "agree":
            continue
        for time in CLOCK_TIMES if clock in ("min", "mean", "median", "max") else (None,):
            named = {} if time is None else {"clock_time": "session" if time == math.inf else time}
            offset, found = ClockOffset(rule, time or 2.0), []
            for arrival, stamp in zip(arrivals.tolist(), stamps.tolist(), strict=True):
                offset.add(arrival - stamp, arrival)
                found.append(offset.value)
            yield {"clock": clock, **named}, np.array(found)


def _jitter(arrivals: Floats, measured: Floats) -> Floats:
    """The deviation of what is measured at each packet, over the usual time."""
    deviation, found = Deviation(2.0), []
    for arrival, sample in zip(arrivals.tolist(), measured.tolist(), strict=True):
        deviation.add(sample, arrival)
        found.append(deviation.value())
    return np.array(found)


def _ticks(stamps: Floats) -> Floats:
    """Stamps of a count of ticks, each a send interval after the one before."""
    found: list[float] = []
    interval = SendInterval()
    for stamp in stamps.tolist():
        interval.add(stamp)
        found.append(found[-1] + interval.value if found else 0.0)
    return np.array(found)


def buffers(frames: Frames, every: list[TimeAxis], low_pass: float) -> list[PossibleReading]:
    """The axes, jitter margins and delays that lay the frames on the path of the packets."""
    at = _picked(frames)
    points, newest = _undone(frames, low_pass)[at], frames.newest[at]
    tables: dict[int, Floats] = {}
    delays = np.arange(LEAST, MOST, STEP)
    found = []
    for axis in every:
        stamps = axis.stamps
        if id(stamps) not in tables:
            tables[id(stamps)] = _beside(frames, stamps, newest, points)
        table = tables[id(stamps)]
        waited = frames.times[at] - stamps[newest]
        for margin in MARGINS:
            steady = axis.offsets[newest] + margin * axis.jitter[newest] - waited
            place = np.rint((steady[:, None] + delays - OLDEST[0]) / STEP).astype(int)
            place = np.clip(place, 0, table.shape[1] - 1)
            off = np.take_along_axis(table, place, axis=1).mean(axis=0)
            best = int(off.argmin())
            settings = {**axis.settings, "delay": max(float(delays[best]), 0.0)}
            settings |= {"jitter_margin": margin} if margin else {}
            settings |= {"low_pass": low_pass} if low_pass else {}
            found.append(PossibleReading(float(off[best]), StrategySpec("buffer", settings)))
    return sorted(found, key=lambda reading: reading.off)[:READINGS]


def _beside(frames: Frames, stamps: Floats, newest: NDArray[np.int64], points: Floats) -> Floats:
    """How far beside the path the points (f, 3) are, for each age of the newest state (f, a)."""
    wanted = stamps[newest][:, None] - np.arange(*OLDEST, STEP)
    path = [np.interp(wanted, stamps, row) for row in frames.positions.T]
    own = np.stack(path, axis=-1) - points[:, None]
    last, before = frames.positions[newest], frames.positions[newest - 1]
    slope = (last - before) / np.maximum(stamps[newest] - stamps[newest - 1], 1e-6)[:, None]
    ahead = (wanted - stamps[newest][:, None]) > 0
    held = (last - points)[:, None]
    gone = held + slope[:, None] * (wanted - stamps[newest][:, None])[..., None]
    apart = np.where(ahead, np.sqrt(np.minimum(np.square(held).sum(-1), np.square(gone).sum(-1))),
                     np.sqrt(np.square(own).sum(-1)))  # fmt: skip
    return np.asarray(np.minimum(apart, frames.unit))


def _picked(frames: Frames) -> NDArray[np.int64]:
    """Frames for a first look, all over those that move."""
    later = np.flatnonzero(frames.settled)
    steps = np.linalg.norm(np.diff(frames.drawn, axis=0, append=frames.drawn[-1:]), axis=1)
    moving = later[steps[later] > 0.1 * np.quantile(steps[later], 0.75)]
    moving = moving if len(moving) >= 20 else later
    return moving[:: max(len(moving) // LOOKED_AT, 1)]


def _undone(frames: Frames, low_pass: float) -> Floats:
    """What a low-pass was given, if there is one of this time constant (s), by frame."""
    if not low_pass:
        return frames.drawn
    share = 1 - np.exp(-np.diff(frames.times) / low_pass)
    before = frames.drawn[:-1] + np.diff(frames.drawn, axis=0) / share[:, None]
    return np.concatenate((frames.drawn[:1], before))


# ---------------------------------------------------------------- a chase


def chases(frames: Frames) -> list[PossibleReading]:
    """What each frame's step says of how it goes for the newest state."""
    found: list[PossibleReading] = []
    for ahead, goal in _goals(frames):
        left = goal[1:] - frames.drawn[:-1]
        step = np.diff(frames.drawn, axis=0)
        elapsed = np.diff(frames.times)
        later = frames.settled[1:]
        found += _shares(ahead, left[later], step[later], elapsed[later])
        found += _glides(frames, ahead, goal)
        found += _paces(frames, ahead, goal, later)
        found.append(_spring(frames, ahead, goal))
    return found


def _goals(frames: Frames) -> Iterator[tuple[dict[str, Any], Floats]]:
    """Where it may go: settings, and the goal in each frame."""
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


def _rms(apart: Floats) -> float:
    """Of the nine tenths that fit best: silences and snaps aside."""
    squares = np.sort(np.square(apart).sum(axis=-1))
    return float(np.sqrt(squares[: max(int(0.9 * len(squares)), 1)].mean()))


def _shares(
    ahead: dict[str, Any], left: Floats, step: Floats, elapsed: Floats
) -> list[PossibleReading]:
    """A share of the way in each frame."""
    squares = np.square(left).sum(axis=1)
    far = squares > np.quantile(squares, 0.5) * 0.1
    if far.sum() < 20:
        return []
    share = (step * left).sum(axis=1)[far] / squares[far]
    share = np.clip(share, 1e-6, 1 - 1e-9)
    middle = float(np.median(share))
    found = []
    for how, setting, value, model in (
        ("share", "share", middle, np.full(len(elapsed), middle)),
        ("lerp", "time", t := float(np.median(elapsed[far] / share)), np.minimum(elapsed / t, 1)),
        ("exponential", "time", t := float(np.median(-elapsed[far] / np.log1p(-share))),
         1 - np.exp(-elapsed / t)),
    ):  # fmt: skip
        off = _rms(step - model[:, None] * left)
        found.append(PossibleReading(off, _chase({"how": how, setting: value, **ahead})))
    return found


def _chase(settings: Mapping[str, Any]) -> StrategySpec:
    return StrategySpec("chase", dict(settings))


def _paces(
    frames: Frames, ahead: dict[str, Any], goal: Floats, later: NDArray[np.bool_]
) -> list[PossibleReading]:
    """A constant speed, or the way to the newest state in one interval."""
    step, elapsed = np.diff(frames.drawn, axis=0), np.diff(frames.times)
    left = goal[1:] - frames.drawn[:-1]
    far, pace = np.linalg.norm(left, axis=1), np.linalg.norm(step, axis=1)
    going = later & (pace > 0) & (far > pace + 2e-3 * frames.unit)
    if not going.any():
        return []
    found = []
    speed = float(np.median((pace / elapsed)[going]))
    model = np.minimum(speed * elapsed / np.maximum(far, 1e-12), 1)
    found.append(
        PossibleReading(
            _rms((step - model[:, None] * left)[later]),
            _chase({"how": "speed", "speed": speed, **ahead}),
        )
    )
    new = np.append(True, np.diff(frames.newest) > 0)
    begins = np.maximum.accumulate(np.where(new, np.arange(len(new)), 0))
    length = np.linalg.norm(goal - frames.drawn[np.maximum(np.arange(len(goal)) - 1, 0)], axis=1)[
        begins
    ][1:]
    ratio = (pace / elapsed)[going] / np.maximum(length[going], 1e-12)
    interval = float(1 / max(np.median(ratio), 1e-9))
    model = np.minimum(length / interval * elapsed / np.maximum(far, 1e-12), 1)
    off = _rms((step - model[:, None] * left)[later])
    found.append(PossibleReading(off, _chase({"how": "interval", **ahead})))
    found.append(
        PossibleReading(off * 1.01, _chase({"how": "interval", "interval": interval, **ahead}))
    )
    return found


def _glides(frames: Frames, ahead: dict[str, Any], goal: Floats) -> list[PossibleReading]:
    """From what was drawn at each arrival to the new state, over a time."""
    first = np.append(True, np.diff(frames.newest) > 0)
    begins = np.maximum.accumulate(np.where(first, np.arange(len(first)), 0))
    start = frames.drawn[np.maximum(begins - 1, 0)]
    since = frames.times - frames.arrivals[frames.newest]
    later = frames.settled
    found = []
    for ease, shape in EASES.items():

        def off(log: float, shape: Callable[[Floats], Floats] = shape) -> float:
            u = np.clip(since / math.exp(log), 0, 1)
            return _rms((start + (goal - start) * shape(u)[:, None] - frames.drawn)[later])

        tried = np.log(np.geomspace(0.02, 1.0, 25))
        values = [off(value) for value in tried]
        place = int(np.argmin(values))
        best, least = minimum(off, tried[max(place - 1, 0)], tried[min(place + 1, 24)], 14)
        how = {"how": "linear"} if ease == "linear" else {"how": "eased", "ease": ease}
        found.append(PossibleReading(least, _chase({**how, "time": math.exp(best), **ahead})))
    return found


EASES: dict[str, Callable[[Floats], Floats]] = {
    "linear": lambda u: u,
    "smoothstep": lambda u: u * u * (3 - 2 * u),
    "sine": lambda u: (1 - np.cos(np.pi * u)) / 2,
    "out-quad": lambda u: 1 - (1 - u) ** 2,
    "out-cubic": lambda u: 1 - (1 - u) ** 3,
}


def _spring(frames: Frames, ahead: dict[str, Any], goal: Floats) -> PossibleReading:
    """A critically damped spring, whose speed is that of the step before."""
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
        return _rms((goal[2:] + (change + moved) * decay[1:] - frames.drawn[2:])[later])

    tried = np.log(np.geomspace(0.02, 1.0, 15))
    values = [off(value) for value in tried]
    place = int(np.argmin(values))
    best, least = minimum(off, tried[max(place - 1, 0)], tried[min(place + 1, 14)], 10)
    return PossibleReading(least, _chase({"how": "spring", "time": math.exp(best), **ahead}))


# ---------------------------------------------------------------- drawn again


#: What web games and engines draw with their usual settings, as those engines' pages name it.
KNOWN = (
    "buffer+delay=0.2",
    "buffer+stamps=arrival+delay=0.1",
    "buffer+stamps=arrival+delay=1i+before=none+beyond=freeze",
    "buffer+clock=first+clock_resync=0.05+delay=0.1+late=insert+before=none+beyond=freeze"
    "+monotonic=on+keep=120",
    "buffer+delay=0.2+keep=7",
    "buffer+curve=hermite+delay=0.35",
    "buffer+stamps=ticks+clock=newest+interval=0.05+delay=0.05",
    "buffer+clock=mean+clock_time=1+delay=1.1i+jitter_margin=1+delay_least=1.1i+delay_most=1.2i"
    "+interval_time=2+jitter_time=1+beyond=0.08+beyond_then=return",
    "chase+how=share+share=1",
    "chase+how=lerp+time=0.1",
    "chase+how=linear+time=0.1+start=arrival",
)

#: Of what may be it, this many are fitted to the end; of all that one word changes, this many.
KEPT, FITTED = 2, 6

#: Settings that may be in seconds or in send intervals.
SPANS = ("delay", "time")

#: Settings without which it would be another.
NEEDED = ("delay", "time", "share", "speed")

#: Delays of a buffer that never catches up, at its beginning (s).
GROWN = np.arange(0.0, 0.3, 0.005).tolist()

#: Times near which a drawing leaps: slopes say nothing of them.
LEAPING = ("clock_time", "beyond", "interval_time", "jitter_time")

#: Words are changed this often, as long as it leaves less than this share of what was left.
CHANGES, BETTER = 5, 0.97


def explain(frames: Frames, comparison: FrameComparison) -> list[FittedStrategy]:
    """What draws these frames, the nearest first."""
    return _Explanation(frames, comparison).found()


class _Explanation:
    """The search for what draws some frames: all that was found is kept, by how near it is."""

    def __init__(self, frames: Frames, comparison: FrameComparison) -> None:
        self.frames, self.comparison = frames, comparison
        self.exact = comparison.exact
        self.axes = list(axes(frames))
        self.kept: dict[object, FittedStrategy] = {}

    def found(self) -> list[FittedStrategy]:
        """What draws them, the nearest first."""
        known = [_with_numbers(spec) for spec in read_specs(KNOWN)]
        read = sorted(chases(self.frames), key=lambda reading: reading.off)[:FIRST]
        self.look([*known, *(reading.strategy for reading in read)])
        for low_pass in LOW_PASSES:
            if self.near[0].residual <= self.exact:
                break
            self.look([reading.strategy for reading in buffers(self.frames, self.axes, low_pass)])
        for stamps in ({}, {"stamps": "arrival"}):
            if self.near[0].residual > self.exact:
                grows = {"clock": "first", "delay": 0.1, "catch_up": "none", **stamps}
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
        ended = [self.written(found) for found in (same or nearest)[:FITTED]]
        return sorted(ended, key=lambda one: one.residual)

    @property
    def near(self) -> list[FittedStrategy]:
        """What was found so far, the nearest first."""
        return sorted(self.kept.values(), key=lambda one: (one.residual > self.exact, one.apart))

    def unlike(self, count: int) -> list[FittedStrategy]:
        """The nearest that differ in their clocks, and in other words, ``count`` of each.

        Of a few, most are buffers: they have more words.
        """
        picked: dict[str, FittedStrategy] = {}
        for part in (slice(None, 2), slice(2, None)):
            ways: dict[object, FittedStrategy] = {}
            for found in self.near:
                ways.setdefault((found.candidate.name, *_way(found.candidate)[part]), found)
            buffers = [found for found in ways.values() if found.candidate.name == "buffer"]
            chases = [found for found in ways.values() if found.candidate.name == "chase"]
            for found in (*buffers[:count], *chases[: count // 2]):
                picked[found.candidate.label] = found
        return list(picked.values())

    def keep(self, found: FittedStrategy) -> None:
        """Remembers it, unless something near it that is as simple has been found."""
        if not math.isfinite(found.apart):
            return
        way: object = found.candidate.name, round(found.apart / (0.01 * self.exact))
        if found.residual <= self.exact:
            way = _way(found.candidate)
        before = self.kept.get(way)
        if before is None or len(found.candidate.settings) < len(before.candidate.settings):
            self.kept[way] = found

    def look(self, specs: list[StrategySpec], only: Sequence[str] = ()) -> None:
        """A first look at strategies: one step of the fit; of variants until one is exact."""
        for spec in specs:
            found = self.comparison.fit(FittedStrategy(spec), 1, only)
            self.keep(found)
            if found.residual <= self.exact:
                break

    def leapt(self, found: FittedStrategy) -> FittedStrategy:
        """The same with times near which it leaps where they fit best."""
        for key in LEAPING:
            value = found.candidate.settings.get(key)
            if isinstance(value, float) and found.residual > self.exact:
                found = self.comparison.search(found, key, (value / 2, value, value * 2))
        return found

    def variants(self, spec: StrategySpec) -> Iterator[StrategySpec]:
        """The same with other words, one or two at a time."""
        settings = spec.settings
        for changes in _OF_CHASES if spec.name == "chase" else _OF_BUFFERS:
            if any(settings.get(key) != value for key, value in changes.items()):
                yield self.changed(spec, changes)
        if spec.name == "buffer":
            for axis in self.axes:
                ways = {"stamps": None, "clock": None, "clock_time": None}
                yield self.changed(spec, {**ways, **axis.settings})
            if "jitter_margin" in settings and isinstance(settings["delay"], float):
                wait = settings["delay"] + settings["jitter_margin"] * self.jitter(settings)
                for bound in ("delay_least", "delay_most"):
                    yield self.changed(spec, {bound: wait})
                yield self.changed(spec, {"jitter_time": 1.0})
        yield from (self.changed(spec, {key: None}) for key in settings if key not in NEEDED)
        yield self.in_intervals(FittedStrategy(spec)).candidate

    def in_intervals(self, found: FittedStrategy) -> FittedStrategy:
        """The same with its delay or time in send intervals."""
        interval = float(np.median(np.diff(self.frames.stamps)))
        settings = found.candidate.settings
        spans = {key: settings[key] for key in SPANS if isinstance(settings.get(key), float)}
        return found.changed({key: f"{span / interval:.6g}i" for key, span in spans.items()})

    def changed(self, spec: StrategySpec, changes: Mapping[str, Any]) -> StrategySpec:
        """The same with these changes, and with the delay that goes with them."""
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
        """How late a buffer with these settings draws for other reasons than its delay (s)."""
        margin = float(settings.get("jitter_margin", 0.0)) * self.jitter(settings)
        return _axis(self.axes, settings).late + margin + float(settings.get("low_pass", 0.0))

    def jitter(self, settings: Mapping[str, Any]) -> float:
        """The usual deviation that a margin multiplies (s)."""
        return float(np.median(_axis(self.axes, settings).jitter))

    def written(self, best: FittedStrategy) -> FittedStrategy:
        """The same without what changes nothing, and with no more digits than it needs."""
        given = best
        for key in best.candidate.settings:
            ways = [] if key in NEEDED else [{key: None}]
            if key in ("delay_least", "delay_most"):
                ways.append({key: None, "delay": best.candidate.settings.get(key)})
            for changes in ways:
                without = FittedStrategy(self.changed(best.candidate, changes))
                without = self.comparison.fit(without, 4)
                best = without if self.comparison.is_as_good(without, given) else best
        best = self.comparison.short(best)
        spans = self.comparison.short(self.in_intervals(best))
        shorter = _length(spans.candidate)[0] < _length(best.candidate)[0]
        return spans if shorter and self.comparison.is_as_good(spans, given) else best


def _axis(every: Sequence[TimeAxis], settings: Mapping[str, Any]) -> TimeAxis:
    """Which of the axes a buffer with these settings goes by, or the one with the nearest time."""
    stamps, clock = settings.get("stamps", "sender"), settings.get("clock", "agree")
    if stamps == "arrival":
        clock = "agree"

    def seconds(time: float | str) -> float:
        return 1e9 if time in ("session", math.inf) else float(time)

    def far(axis: TimeAxis) -> tuple[bool, float]:
        own = axis.settings
        same = (own.get("stamps", "sender"), own.get("clock", "agree")) == (stamps, clock)
        time = seconds(settings.get("clock_time", 2.0)) / seconds(own.get("clock_time", 2.0))
        return not same, abs(math.log(time))

    return min(every, key=far)


def _with_numbers(spec: StrategySpec) -> StrategySpec:
    """The same with numbers, not as they are written."""
    known = declaration(spec.name)
    used: dict[str, Any] = known.converted(known.values(spec.settings))
    numbers = {key: used[key] for key in spec.settings if isinstance(used[key], float)}
    positive = {key: value for key, value in numbers.items() if value >= 0}
    return StrategySpec(spec.name, {**spec.settings, **positive})


#: The alternatives that are tried; a number is fitted afterwards, None is as usual.
_OF_CHASES: tuple[dict[str, Any], ...] = (
    *({"ahead": ahead, "age": None} for ahead in (None, "velocity", "arrival", "step")),
    {"ahead": "velocity", "age": "arrival"},
    {"start": "arrival"},
    {"overshoot": "on"},
)
_OF_BUFFERS: tuple[dict[str, Any], ...] = (
    *({"beyond": beyond} for beyond in ("freeze", 0.05, 0.1, 0.25, 0.5, "unlimited", None)),
    *({"keep": states} for states in (None, 2, 3, 4)),
    {"beyond_along": "velocity"},
    {"beyond": 0.1, "beyond_then": "return"},
    {"interval_time": 1.0},
    {"delay": "1.2i", "interval_time": 1.0},
    *({"curve": curve} for curve in (None, "hermite", "catmull-rom")),
    {"catch_up": "none"},
    *({"catch_up": "rate", "catch_up_rate": rate} for rate in (0.02, 0.05, 0.1, 0.2)),
    {"catch_up": None},
    *(
        {
            "stamps": stamps,
            "clock": clock,
            "clock_time": None,
            "catch_up": "rate",
            "catch_up_rate": 0.05,
        }
        for stamps, clock in ((None, "newest"), ("ticks", "newest"), ("arrival", None))
    ),
    *({"jitter_margin": margin} for margin in (None, 1.0, 2.0, 3.0)),
    {"monotonic": "on"},
    {"late": "insert"},
    *({"low_pass": constant} for constant in (None, 0.02, 0.08)),
)


# ---------------------------------------------------------------- what there is to say of it


class Mechanism(NamedTuple):
    """How a game draws, as settings of ``buffer`` or ``chase``.

    ``residual`` is what is left when it is drawn again (RMS, length), ``exact``: that is rounding
    alone; ``same_as`` draws the same then. Stamps are an ``interval`` (s) apart; ``empty`` is the
    share of the frames that are later than the newest packet, ``needed`` the delay (s) that 99 %
    of them would need.
    """

    strategy: StrategySpec
    residual: float
    exact: bool
    interval: float
    empty: float
    needed: float
    same_as: tuple[StrategySpec, ...] = ()


def mechanism(frames: Frames, comparison: FrameComparison, enough: float) -> Mechanism:
    """The composition that draws these frames best."""
    found = explain(frames, comparison)
    same = [near for near in found if comparison.is_as_good(near, found[0])]
    same.sort(key=lambda each: _length(each.candidate))
    best = same[0]
    interval = float(np.median(np.diff(frames.stamps)))
    empty, needed = _reserve(frames, best.candidate, interval)
    others = {_way(best.candidate): best.candidate}
    if best.residual <= enough:
        for each in same:
            others.setdefault(_way(each.candidate), each.candidate)
    return Mechanism(
        best.candidate, best.residual, best.residual <= enough, interval, empty, needed,
        tuple(others.values())[1:],
    )  # fmt: skip


def in_seconds(span: float, interval: float) -> float:
    """Seconds; below 0 it is in send intervals."""
    return span if span >= 0 else -span * interval


def _length(strategy: StrategySpec) -> tuple[int, int]:
    """How much there is to say: settings and digits, then letters."""
    settings = strategy.settings.values()
    digits = [len(f"{value}".strip("i").replace(".", "").strip("0")) for value in settings
              if not isinstance(value, str) or value[0].isdigit()]  # fmt: skip
    return sum(digits) + 2 * len(settings), len(strategy.label)


def _way(strategy: StrategySpec) -> tuple[object, ...]:
    """What two compositions have in common that differ in numbers alone."""
    values = strategy.values
    ways = ("stamps", "clock", "curve", "catch_up", "how", "ahead")
    return tuple(values.get(key) for key in ways)


def _reserve(frames: Frames, strategy: StrategySpec, interval: float) -> tuple[float, float]:
    """The share of frames beyond the newest packet, and the delay that covers 99 % (s); NaN.

    Frames after the last packet are not counted.
    """
    settings, sent = strategy.settings, frames.times <= frames.arrivals[-1]
    if strategy.name != "buffer" or not sent.any():
        return math.nan, math.nan
    axis, newest = _axis(list(axes(frames)), settings), frames.newest[sent]
    needed = frames.times[sent] - axis.offsets[newest] - axis.stamps[newest]
    used: dict[str, Any] = declaration("buffer").converted(strategy.values)
    delay = in_seconds(used["delay"], interval)
    return float((needed > delay).mean()), float(np.quantile(needed, 0.99))
