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
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from epic_cli.engine.replay.strategy_spec import StrategySpec, read_specs
from epic_cli.engine.strategies import declaration
from epic_cli.engine.strategies.parts import ClockOffset, ClockRule, SendInterval
from epic_cli.metrics.arrays import minimum

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from epic_cli.metrics.arrays import Floats

#: Seconds: delays that are looked for, and how far apart.
LEAST, MOST, STEP = -0.05, 1.5, 0.01

#: Seconds over which clocks are estimated, those that are tried.
CLOCK_TIMES = (0.5, 1.0, 2.0, 5.0, 10.0, math.inf)

#: Time constants of low-passes that are undone (s).
LOW_PASSES = (0.0, 0.01, 0.02, 0.035, 0.06, 0.1, 0.17)

#: Frames that a first look takes, and readings that are drawn again.
GLANCED_AT, LOOKED_AT, READINGS = 80, 400, 6

#: Readings whose low-pass is looked for closer.
REFINED = 8

#: A share of the usual step: a buffer that is no further off has no low-pass.
CLEAR = 0.003

#: Seconds at the beginning that are not looked at: clocks and low-passes settle.
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


def readings(frames: Frames) -> list[PossibleReading]:
    """What it may be, the nearest first."""
    found = [*chases(frames), *buffers(frames)]
    return sorted(found, key=lambda reading: reading.off)


# ---------------------------------------------------------------- a buffer


class TimeAxis(NamedTuple):
    """What says when states were true: their ``stamps`` (n), and per packet the clock's offset."""

    settings: Mapping[str, Any]
    stamps: Floats
    offsets: Floats


def axes(frames: Frames) -> Iterator[TimeAxis]:
    """The ways to find the sender's time."""
    arrivals, stamps = frames.arrivals, frames.stamps
    none = np.zeros(len(stamps))
    yield TimeAxis({"clock": "agree"}, stamps, none)
    yield from _clocked({}, arrivals, stamps)
    yield TimeAxis({"stamps": "arrival"}, arrivals, none)
    ticks = _ticks(stamps)
    yield from _clocked({"stamps": "ticks"}, arrivals, ticks)


def _clocked(settings: Mapping[str, Any], arrivals: Floats, stamps: Floats) -> Iterator[TimeAxis]:
    for rule in ClockRule:
        clock = rule.name.lower()
        for time in CLOCK_TIMES if clock in ("min", "mean", "median", "max") else (None,):
            named = {} if time is None else {"clock_time": "session" if time == math.inf else time}
            offset, found = ClockOffset(rule, time or 2.0), []
            for arrival, stamp in zip(arrivals.tolist(), stamps.tolist(), strict=True):
                offset.add(arrival - stamp, arrival)
                found.append(offset.value)
            if clock != "agree":
                yield TimeAxis({**settings, "clock": clock, **named}, stamps, np.array(found))


def _ticks(stamps: Floats) -> Floats:
    """Stamps of a count of ticks, each a send interval after the one before."""
    found: list[float] = []
    interval = SendInterval()
    for stamp in stamps.tolist():
        interval.add(stamp)
        found.append(found[-1] + interval.value if found else 0.0)
    return np.array(found)


def buffers(frames: Frames) -> list[PossibleReading]:
    """The axes, delays, curves and low-passes that lay the frames on the path of the packets."""
    found: list[PossibleReading] = []
    every = list(axes(frames))
    picked = _picked(frames)
    few = picked[:: max(len(picked) // GLANCED_AT, 1)]
    for low_pass in LOW_PASSES:
        points = _undone(frames, low_pass)
        glances = [(*_delay(frames, axis, points[few], few), axis) for axis in every]
        glances.sort(key=lambda glance: glance[0])
        for _, delay, goes_on, axis in glances[:READINGS]:
            laid = _Laid(axis, "linear", goes_on, low_pass)
            found += [
                _read(frames, laid._replace(curve=curve), points[picked], picked, delay)
                for curve in CURVES
            ]
        if min(reading.off for reading in found) < CLEAR * frames.unit:
            return found
    found.sort(key=lambda reading: reading.off)
    for reading in found[:REFINED]:
        found.append(_refined(frames, reading, every, picked))
    return found


class _Laid(NamedTuple):
    """How frames are laid on the path; ``goes_on``: past the newest packet along the last two."""

    axis: TimeAxis
    curve: str
    goes_on: bool
    low_pass: float


def _read(
    frames: Frames,
    laid: _Laid,
    points: Floats,
    at: NDArray[np.int64],
    delay: float,
    reach: float = 0.015,
) -> PossibleReading:
    """The best delay near one, for ``points`` drawn in the frames ``at``."""

    def off(value: float) -> float:
        return float(_apart(frames, laid, points, at, np.array([value]))[0])

    best, least = minimum(off, delay - reach, delay + reach, 14)
    settings = {**laid.axis.settings, "delay": best}
    if laid.curve != "linear":
        settings["curve"] = laid.curve
    if laid.goes_on:
        settings["beyond"] = "unlimited"
    if laid.low_pass:
        settings["low_pass"] = laid.low_pass
    return PossibleReading(least * (1 + laid.low_pass), StrategySpec("buffer", settings))


def _refined(
    frames: Frames, reading: PossibleReading, every: list[TimeAxis], picked: NDArray[np.int64]
) -> PossibleReading:
    """The same with the low-pass that fits best."""
    settings = reading.strategy.settings
    ways = ("stamps", "clock", "clock_time")
    axis = next(
        axis for axis in every if all(settings.get(key) == axis.settings.get(key) for key in ways)
    )
    low_pass = float(settings.get("low_pass", 0.005))
    laid = _Laid(axis, settings.get("curve", "linear"), "beyond" in settings, low_pass)
    delay = settings["delay"]

    def read(constant: float) -> PossibleReading:
        tried = laid._replace(low_pass=constant)
        points = _undone(frames, constant)[picked]
        return _read(frames, tried, points, picked, delay + low_pass - constant, 0.01)

    best, _ = minimum(
        lambda log: read(math.exp(log)).off, math.log(low_pass / 1.8), math.log(low_pass * 1.8), 10
    )
    return read(math.exp(best))


CURVES = ("linear", "hermite", "catmull-rom")


def _picked(frames: Frames) -> NDArray[np.int64]:
    """Frames for a first look, all over those that move."""
    later = np.flatnonzero(frames.times >= frames.times[0] + SETTLES)
    later = later if len(later) >= 20 else np.arange(len(frames.times))
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


def _delay(
    frames: Frames, axis: TimeAxis, points: Floats, at: NDArray[np.int64]
) -> tuple[float, float, bool]:
    """The best of all delays: how far off (length), the delay (s), and whether it goes on."""
    delays = np.arange(LEAST, MOST, STEP)
    found = []
    for goes_on in (False, True):
        off = _apart(frames, _Laid(axis, "linear", goes_on, 0.0), points, at, delays)
        place = int(np.argmin(off))
        found.append((float(off[place]), float(delays[place]), goes_on))
    return min(found)


def _apart(
    frames: Frames, laid: _Laid, points: Floats, at: NDArray[np.int64], delays: Floats
) -> Floats:
    """How far off the frames are, for each delay (length)."""
    stamps, newest = laid.axis.stamps, frames.newest[at]
    wanted = frames.times[at] - laid.axis.offsets[newest] - delays[:, None]
    own = _path(frames, stamps, wanted, laid.curve)
    late = wanted - stamps[newest]
    beyond = late > 0
    last = frames.positions[newest]
    if laid.goes_on:
        before = np.maximum(newest - 1, 0)
        length = np.maximum(stamps[newest] - stamps[before], 1e-6)[:, None]
        slope = (last - frames.positions[before]) / length
        own = np.where(beyond[..., None], last + slope * late[..., None], own)
    else:
        own = np.where(beyond[..., None], last, own)
    apart: Floats = np.linalg.norm(own - points, axis=-1)
    off: Floats = np.minimum(apart, frames.unit).mean(axis=1)
    return off


def _path(frames: Frames, stamps: Floats, wanted: Floats, curve: str) -> Floats:
    """Where the path of the packets is at these times of the axis; (..., 3)."""
    if curve == "linear":
        return np.stack([np.interp(wanted, stamps, row) for row in frames.positions.T], axis=-1)
    place = np.clip(np.searchsorted(stamps, wanted, side="right") - 1, 0, len(stamps) - 2)
    length = np.maximum(stamps[place + 1] - stamps[place], 1e-9)
    u = np.clip((wanted - stamps[place]) / length, 0, 1)[..., None]
    before, after = frames.positions[place], frames.positions[place + 1]
    if curve == "hermite":
        start, end = frames.velocities[place], frames.velocities[place + 1]
    else:
        slopes = np.empty_like(frames.positions)
        wide = np.maximum(stamps[2:] - stamps[:-2], 1e-9)[:, None]
        slopes[1:-1] = (frames.positions[2:] - frames.positions[:-2]) / wide
        slopes[0], slopes[-1] = slopes[1], slopes[-2]
        start, end = slopes[place], slopes[place + 1]
    span = length[..., None]
    return (
        before * (2 * u**3 - 3 * u**2 + 1) + start * span * (u**3 - 2 * u**2 + u)
        + after * (3 * u**2 - 2 * u**3) + end * span * (u**3 - u**2)
    )  # fmt: skip


# ---------------------------------------------------------------- a chase


def chases(frames: Frames) -> list[PossibleReading]:
    """What each frame's step says of how it goes for the newest state."""
    found: list[PossibleReading] = []
    for ahead, goal in _goals(frames):
        left = goal[1:] - frames.drawn[:-1]
        step = np.diff(frames.drawn, axis=0)
        elapsed = np.diff(frames.times)
        later = frames.times[1:] >= frames.times[0] + SETTLES
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
    going = later & (pace > 0) & (far > 1.05 * pace)
    if going.sum() < 20:
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
    later = frames.times >= frames.times[0] + SETTLES
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
    elapsed, later = np.diff(frames.times), frames.times[2:] >= frames.times[0] + SETTLES

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
    "chase+how=share+share=1",
    "chase+how=lerp+time=0.1",
    "chase+how=linear+time=0.1+start=arrival",
)

#: Readings of a kind that are drawn again, and of these, how many are fitted.
DRAWN, FITTED = 6, 3

#: An improvement below this is none.
BETTER = 0.97


class Explained(NamedTuple):
    """A strategy and how far off it is when it is drawn again (RMS, length)."""

    strategy: StrategySpec
    residual: float


Residual = Callable[[StrategySpec], float]


def explain(frames: Frames, residual: Residual, exact: float) -> list[Explained]:
    """What draws these frames, the nearest first; ``residual`` draws a strategy again."""
    chosen = {spec.label: spec for spec in map(_with_numbers, read_specs(KNOWN))}
    for family in (chases(frames), buffers(frames)):
        for reading in _unlike(sorted(family, key=lambda reading: reading.off)):
            chosen[reading.strategy.label] = reading.strategy
    drawn = sorted(
        (Explained(spec, residual(spec)) for spec in chosen.values()), key=lambda one: one.residual
    )
    fitted: list[Explained] = []
    for start in drawn[:FITTED]:
        if start.residual <= 5 * drawn[0].residual:
            fitted.append(_fit(start, residual, exact))
            if fitted[-1].residual <= exact:
                break
    fitted += [near for near in drawn if near.residual <= exact]
    fitted = [_written(found, residual, exact) for found in fitted]
    return sorted([*fitted, *drawn], key=lambda one: one.residual)


def _with_numbers(spec: StrategySpec) -> StrategySpec:
    """The same with numbers, not as they are written."""
    known = declaration(spec.name)
    used: dict[str, Any] = known.converted(known.values(spec.settings))
    numbers = {key: used[key] for key in spec.settings if isinstance(used[key], float)}
    positive = {key: value for key, value in numbers.items() if value >= 0}
    return StrategySpec(spec.name, {**spec.settings, **positive})


def _written(best: Explained, residual: Residual, exact: float) -> Explained:
    """The same with no more digits than it needs, and without what changes nothing."""
    most = max(1.02 * best.residual, exact)
    for key, value in best.strategy.settings.items():
        name, settings = best.strategy.name, dict(best.strategy.settings)
        ways = [{k: v for k, v in settings.items() if k != key}]
        if key in ("delay", "time", "share", "speed"):
            ways = []
        if isinstance(value, float):
            ways += [settings | {key: float(f"{value:.{digits}g}")} for digits in range(1, 7)]
        for way in ways:
            shorter = StrategySpec(name, way)
            if (left := residual(shorter)) <= most:
                best = Explained(shorter, left)
                break
    return best


def _unlike(readings: list[PossibleReading]) -> list[PossibleReading]:
    """The nearest, of each way at most two."""
    counts: dict[tuple[object, ...], int] = {}
    found = []
    for reading in readings:
        settings = reading.strategy.settings
        way = tuple(settings.get(key) for key in ("how", "ahead", "stamps", "clock", "low_pass"))
        counts[way] = counts.get(way, 0) + 1
        if counts[way] <= 2:
            found.append(reading)
        if len(found) == 2 * DRAWN:
            break
    return found


def _fit(best: Explained, residual: Residual, exact: float) -> Explained:
    """The same with the settings that fit best: words, then numbers, while it gets better."""
    for _ in range(5):
        before = best.residual
        best = _numbers(best, residual, exact)
        if best.residual <= exact:
            return best
        for changes in _alternatives(best.strategy):
            settings = {**best.strategy.settings, **changes}
            if settings.get("catch_up") != "rate":
                settings["catch_up_rate"] = None
            spec = StrategySpec(
                best.strategy.name, {k: v for k, v in settings.items() if v is not None}
            )
            tried = Explained(spec, residual(spec))
            if not _SHIFTS.isdisjoint(changes):
                tried = _delayed(tried, residual, exact)
            if tried.residual < BETTER * best.residual:
                best = tried
            if best.residual <= exact:
                return best
        if best.residual > BETTER * before:
            break
    return best


def _delayed(tried: Explained, residual: Residual, exact: float) -> Explained:
    """The same with the delay that goes with it: others of its words have moved its time."""
    settings, delay = tried.strategy.settings, tried.strategy.settings.get("delay")
    if not isinstance(delay, float):
        return tried
    others = [
        StrategySpec("buffer", {**settings, "delay": max(delay + step, 0.0)}) for step in REACHED
    ]
    best = min((Explained(each, residual(each)) for each in others), key=lambda own: own.residual)
    return _number(best, "delay", residual, exact)


#: Seconds: as far as words of a buffer move its time; and these words.
REACHED = np.arange(-0.12, 0.0601, 0.0075).tolist()
_SHIFTS = frozenset(("clock", "clock_time", "jitter_margin", "catch_up", "catch_up_rate"))


def _numbers(best: Explained, residual: Residual, exact: float) -> Explained:
    """The same with each number where it fits best."""
    for key, value in best.strategy.settings.items():
        if isinstance(value, float) and best.residual > exact:
            best = _number(best, key, residual, exact)
    return best


def _number(best: Explained, key: str, residual: Residual, exact: float) -> Explained:
    """The same with one number where it fits best, written as people write numbers."""

    def tried(number: float) -> Explained:
        spec = StrategySpec(best.strategy.name, {**best.strategy.settings, key: number})
        return Explained(spec, residual(spec))

    value = best.strategy.settings[key]
    reach = max(0.05 * abs(value), 0.004)
    for _ in range(2):
        number, _ = minimum(
            lambda number: tried(number).residual, max(value - reach, 1e-4), value + reach, 9
        )
        found = tried(number)
        best = found if found.residual < best.residual else best
        value, reach = best.strategy.settings[key], reach / 12
        for digits in (2, 3, 4):
            short = tried(float(f"{value:.{digits}g}"))
            if short.residual <= max(best.residual, exact):
                best = short
                break
        if best.residual <= exact:
            break
    return best


def _alternatives(strategy: StrategySpec) -> Iterator[dict[str, Any]]:
    """Other words, one or two at a time; None: as usual."""
    settings = strategy.settings
    for changes in _OF_CHASES if strategy.name == "chase" else _OF_BUFFERS:
        if any(settings.get(key) != value for key, value in changes.items()):
            yield changes


#: The alternatives that are tried; a number is fitted afterwards.
_OF_CHASES: tuple[dict[str, Any], ...] = (
    *({"ahead": ahead, "age": None} for ahead in (None, "velocity", "arrival", "step")),
    {"ahead": "velocity", "age": "arrival"},
    {"start": "arrival"},
    {"overshoot": "on"},
)
_OF_BUFFERS: tuple[dict[str, Any], ...] = (
    *({"beyond": beyond} for beyond in ("freeze", 0.05, 0.1, 0.25, 0.5, "unlimited", None)),
    {"beyond_along": "velocity"},
    {"beyond_then": "return"},
    *({"curve": curve} for curve in (None, "hermite", "catmull-rom")),
    {"catch_up": "none"},
    {"catch_up": "none", "clock": "first", "clock_time": None},
    *({"catch_up": "rate", "catch_up_rate": rate} for rate in (0.02, 0.05, 0.1, 0.2)),
    *({"clock": clock} for clock in ("first", "newest", "min", "max", "mean", "median", "pll")),
    *({"clock_time": time} for time in (0.5, 1.0, 2.0, 5.0, 10.0, "session")),
    *({"jitter_margin": margin} for margin in (1.0, 2.0, 3.0)),
    {"monotonic": "on"},
    {"late": "insert"},
    {"low_pass": 0.02},
    {"low_pass": 0.08},
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


def mechanism(frames: Frames, residual: Residual, enough: float, exact: float) -> Mechanism:
    """The composition that draws these frames best."""
    found = explain(frames, residual, exact)
    same = [near for near in found if near.residual <= max(exact, 1.02 * found[0].residual)]
    best = min(same, key=lambda each: len(each.strategy.label))
    interval = float(np.median(np.diff(frames.stamps)))
    empty, needed = _reserve(frames, best.strategy, interval)
    others = {_way(best.strategy): best.strategy}
    if best.residual <= enough:
        for each in sorted(same, key=lambda each: len(each.strategy.label)):
            others.setdefault(_way(each.strategy), each.strategy)
    return Mechanism(
        best.strategy, best.residual, best.residual <= enough, interval, empty, needed,
        tuple(others.values())[1:],
    )  # fmt: skip


def in_seconds(span: float, interval: float) -> float:
    """Seconds; below 0 it is in send intervals."""
    return span if span >= 0 else -span * interval


def _way(strategy: StrategySpec) -> tuple[object, ...]:
    """What two compositions have in common that differ in numbers alone."""
    values = strategy.values
    return tuple(values.get(key) for key in ("stamps", "clock", "curve", "how", "ahead"))


def _reserve(frames: Frames, strategy: StrategySpec, interval: float) -> tuple[float, float]:
    """The share of frames beyond the newest packet, and the delay that covers 99 % (s); NaN."""
    settings = strategy.settings
    for axis in axes(frames) if strategy.name == "buffer" else ():
        usual = {"stamps": "sender", "clock": "agree", "clock_time": 2.0}
        if all(
            axis.settings.get(key, value) == settings.get(key, value)
            for key, value in usual.items()
        ):
            newest = frames.newest
            needed = frames.times - axis.offsets[newest] - axis.stamps[newest]
            used: dict[str, Any] = declaration("buffer").converted(strategy.values)
            delay = in_seconds(used["delay"], interval)
            return float((needed > delay).mean()), float(np.quantile(needed, 0.99))
    return math.nan, math.nan
