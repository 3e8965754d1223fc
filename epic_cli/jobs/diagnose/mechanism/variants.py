"""Variants of compositions: parts to try in place of others, and those found by trial only."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from epic_cli.engine.parameters import Span
from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.engine.strategies.parts.common_settings import MEASURED_INTERVAL
from epic_cli.jobs.diagnose.fitted import FittedStrategy
from epic_cli.jobs.diagnose.frames import find_time_rounding
from epic_cli.jobs.diagnose.mechanism import marks
from epic_cli.jobs.diagnose.mechanism.chase_variants import BY_SHARES, MOVING, OF_CHASES
from epic_cli.jobs.diagnose.mechanism.clocks import CLOCK_KEYS, WINDOWED
from epic_cli.jobs.diagnose.mechanism.compositions import INSERTS_LATE, NEEDED, drop_settings
from epic_cli.jobs.diagnose.mechanism.counted_ticks import USUAL_TICKS, list_standing_ticks

if TYPE_CHECKING:
    from epic_cli.jobs.diagnose.frames import Frames
    from epic_cli.jobs.diagnose.mechanism.clocks import TimeAxes

#: Clocks that are tried in the place of another, the steadiest.
STEADY = 12

#: The longest delay that a buffer may have (s).
LONGEST = 60.0

#: Settings in seconds or in send intervals.
SPANS = ("delay", "time", "copy_before")

#: Ticks are frames if they differ by no more than this share; and the settings of ticks.
NEARLY_FRAMES, TICKS = 0.2, ("every", "phase", "between")

#: Numbers of packets over which games estimate a clock.
COUNTS = (3, 5, 7, 8, 9, 10, 11, 12, 15, 16, 20, 25, 30, 32, 50, 64, 100)

#: How much faster or slower games play at most.
FASTEST = (0.05, 0.1, 0.25)

#: How much slower a time goes that is near the newest state.
SLOWER = (0.05, 0.1, 0.2)

#: Settings that say something only beside another one, by key: that one, and its words.
BESIDE = {
    "catch_up_rate": ("catch_up", ("rate", "fill", "share", "lerp", "slow")),
    "pace": ("catch_up", ("fill",)),
    "still": ("catch_up", ("fill",)),
    "catch_up_most": ("catch_up", ("share", "lerp")),
    "draw_time": ("catch_up", ("snap", None, "none")),
    "reserve_time": ("catch_up", ("none",)),
    "delay_from": ("catch_up", ("rate", "share", "lerp")),
    "copy_before": ("catch_up", (None,)),
    "beyond_share": ("beyond", ("chase",)),
    "beyond_lerp": ("beyond", ("chase",)),
}

#: The goals of chases that go by the age of a packet.
BY_AGE = ("velocity", "arrival", "step")

#: The error of rounded times (RMS), as a multiple of their unit: more than that of even ones.
BLURRED = 0.35

#: The longest frame of a recording with hitches is this many times as long as usual.
HITCH = 1.5

#: How far a way usually goes on that is limited, as a multiple of it.
USUAL_LIMIT = 1.5

#: Alternatives that are tried; a number is fitted afterwards, None is the usual value.
OF_BUFFERS: tuple[dict[str, Any], ...] = (
    *({"beyond": beyond} for beyond in ("freeze", 0.05, 0.1, 0.25, 0.5, "unlimited")),
    {"beyond": "chase", "beyond_share": 0.2},
    *({"keep": states} for states in (2, 3, 4)),
    {"beyond_along": "velocity"},
    {"reserve": 1},
    {"beyond": 0.1, "beyond_then": "return"},
    {"delay": "1.2i", "interval_time": 1.0},
    *({"curve": curve} for curve in ("hermite", "catmull-rom")),
    {"catch_up": "none"},
    *({"catch_up": "rate", "catch_up_rate": rate} for rate in (0.02, 0.05, 0.1, 0.2)),
    *(
        {
            "stamps": stamps,
            "clock": clock,
            **dict.fromkeys(CLOCK_KEYS[2:]),
            "catch_up": "rate",
            "catch_up_rate": rate,
        }
        for stamps, clock in ((None, "newest"), ("ticks", "newest"), ("arrival", None))
        for rate in (0.02, 0.05, 0.15)
    ),
    {"jitter_margin": 2.0},
    {"monotonic": "on"},
    INSERTS_LATE,
    {"late": "sort"},
    {"start": "last"},
    {"start": "last", "draw_time": "last"},
    {"draw_time": "last"},
    {"beyond": "reuse"},
    {"beyond": "reuse", "equal": "last"},
    {"copy_before": "1i"},
    {"low_pass": 0.03},
    {"times": "milliseconds"},
)


class Variants:
    """The variants of compositions that may draw some frames, with parts that the frames show."""

    def __init__(self, frames: Frames, clocks: TimeAxes, exact: float) -> None:
        self.frames, self.clocks, self.exact = frames, clocks, exact
        self._forgotten: dict[int, float] = {}
        self.snaps = marks.list_snap_distances(frames)
        self.grid = marks.find_grid(frames, exact)
        self.has_parts = marks.has_parts_of_milliseconds(frames)
        self.repeats = bool((np.diff(frames.positions, axis=0) == 0).all(axis=1).any())
        self.hitches = bool(np.diff(frames.times).max(initial=0.0) > HITCH * frames.frame)
        #: The error (RMS, length) of stamps that a log rounds, where the game counts ticks or not.
        self.rounded_stamps = BLURRED * frames.usual_speed * find_time_rounding(frames.stamps)
        self.oldest = marks.find_oldest(frames)
        self.snap_time = marks.find_snap_time(frames)
        self.dead_zone = marks.find_dead_zone(frames)
        self.near_zones = list(marks.iterate_near_zones(frames))
        self.ticks = list_standing_ticks(frames)

    def iterate_variants(self, spec: StrategySpec) -> Iterator[StrategySpec]:
        """Yield the strategy with one or two of its words replaced."""
        settings, is_buffer = spec.settings, spec.name == "buffer"
        for changes in OF_BUFFERS if is_buffer else OF_CHASES:
            if self._may_change(settings, changes):
                yield self.change(spec, changes)
        yield from self._iterate_buffers(spec) if is_buffer else self._iterate_chases(spec)
        yield from self._iterate_own_times(spec) if is_buffer else ()
        if self.dead_zone:
            yield self.change(spec, {"dead_zone": self.dead_zone})
        if self.grid:
            yield self.change(spec, {"rounding": self.grid})
            yield self.change(spec, {"rounding": self.grid, "rounding_by": "down"})
        if is_buffer:
            hidden = [] if self.frames.are_ticks else USUAL_TICKS
            yield from (self.change(spec, ticks) for ticks in self.ticks or hidden)
        elif self.ticks:
            yield self.change(spec, self.ticks[0])
        yield from self._iterate_shares_of_frames(spec)
        yield from (self.change(spec, {"snap": snap}) for snap in self.snaps)
        yield from self.iterate_without(spec)
        yield self.write_in_intervals(FittedStrategy(spec)).candidate

    def iterate_without(self, spec: StrategySpec) -> Iterator[StrategySpec]:
        """Yield the strategy without one of the words that it can do without."""
        yield from (self.change(spec, {key: None}) for key in spec.settings if key not in NEEDED)

    def _iterate_chases(self, spec: StrategySpec) -> Iterator[StrategySpec]:
        """Yield a chase by other intervals, ends, steps and distances."""
        settings = spec.settings
        if settings.get("interval") in MEASURED_INTERVAL.words:
            yield self.change(spec, {"interval_late": 0.25})
            if settings.get("overshoot") == "on":  # whose limit few frames reach
                yield self.change(spec, {"overshoot": USUAL_LIMIT})
                yield self.change(spec, {"overshoot": USUAL_LIMIT, "ahead": None})
        elif settings.get("how") == "lerp" and isinstance(settings.get("time"), float):
            yield self.change(spec, {"steps": 2, "time": 2 * settings["time"], "overshoot": None})
        elif settings.get("how") == "interval":
            tween = {"how": "linear", "time": settings.get("interval", "1i"), "interval": None}
            yield self.change(spec, {**tween, "start": "last", "end": "short"})
        elif "speed" in settings and not settings.keys() & {"step_time", "every"}:
            yield from self._iterate_steps_of_frames(spec)
        if self.snap_time:
            yield self.change(spec, {"snap_after": self.snap_time})
        if settings.get("how") in BY_SHARES:
            yield from (self.change(spec, zone) for zone in self.near_zones)

    def _iterate_steps_of_frames(self, spec: StrategySpec) -> Iterator[StrategySpec]:
        """Yield the constant step a frame that is as fast as a constant speed."""
        if isinstance(speed := spec.settings["speed"], float):
            yield self.change(spec, {"speed": speed * self.frames.frame, "step_time": 1.0})

    def _iterate_shares_of_frames(self, spec: StrategySpec) -> Iterator[StrategySpec]:
        """Yield the share a frame of an exponential way in ticks that are about frames."""
        how, every, time = map(spec.settings.get, ("how", "every", "time"))
        if how != "exponential" or not isinstance(every, float) or not isinstance(time, float):
            return
        if abs(every / self.frames.frame - 1) < NEARLY_FRAMES and time > 0:
            share = {"how": "share", "share": 1 - math.exp(-every / time), "time": None}
            yield self.change(spec, {**share, **dict.fromkeys(TICKS)})

    def _may_change(self, settings: Mapping[str, Any], changes: Mapping[str, Any]) -> bool:
        """Return True if words may be replaced so in a composition of these settings."""
        how, by_arrival = settings.get("how"), settings.get("stamps", "sender") != "sender"
        needs = {
            "late": self.frames.taken is not None and (by_arrival or changes.get("late") != "sort"),
            "repeated": self.repeats,
            "times": self.has_parts,
            "velocity": bool(settings.keys() & {*MOVING}),
            "velocity_share": bool(settings.keys() & {*MOVING}),
            "integration": how == "force",
            "drift": settings.get("ahead") is None,
            "copy_before": settings.get("catch_up") is None,
            "step_most": self.hitches and "step_time" not in settings,
            "end": how in ("linear", "eased", "hermite"),
            "overlap": how in ("linear", "eased"),
        }
        if not all(needs.get(key, True) for key in changes):
            return False
        return any(settings.get(key) != value for key, value in changes.items())

    def _iterate_buffers(self, spec: StrategySpec) -> Iterator[StrategySpec]:
        """Yield a buffer by other clocks, with other margins, smoothings and empty buffers."""
        settings = spec.settings
        # what catches up at a rate is seldom where its clock says: ages do not tell the clock
        steady = None if settings.get("catch_up") == "rate" else STEADY
        for axis in self.clocks.every[:steady]:
            yield self.change(spec, {**dict.fromkeys(CLOCK_KEYS), **axis.settings})
        time, share = settings.get("clock_time", 2.0), settings.get("clock_share", 0.0)
        if share:  # of as many packets the mean is as old
            time = (2 / share - 1) * self.frames.interval
        if settings.get("clock") in WINDOWED and isinstance(time, float):
            for count in COUNTS:
                if 0.5 < count * self.frames.interval / time < 2:
                    counted = {"clock_time": None, "clock_share": None, "clock_count": count}
                    yield self.change(spec, counted)
        if settings.get("catch_up") in ("none", "rate"):
            yield from (self.change(spec, {"when_empty": does}) for does in ("run", "stop"))
        if settings.get("catch_up") in ("share", "lerp"):
            yield from (self.change(spec, {"catch_up_most": most}) for most in FASTEST)
        if "jitter_margin" in settings and isinstance(settings["delay"], float):
            wait = settings["delay"] + settings["jitter_margin"] * self._find_jitter(settings)
            for bound in ("delay_least", "delay_most"):
                yield self.change(spec, {bound: wait})
            yield self.change(spec, {"jitter_time": 1.0})
        if low_pass := float(settings.get("low_pass", 0.0)):
            yield self.change(spec, {"follow": "spring"})
            part = 1 - math.exp(-self.frames.frame / low_pass)
            lerp = {"follow": "lerp", "low_pass": self.frames.frame / part}
            yield StrategySpec(spec.name, {**settings, **lerp})
            share = {"follow": "share", "follow_share": part}
            yield StrategySpec(spec.name, {**drop_settings(settings, "low_pass"), **share})
        if 0 < (share := float(settings.get("beyond_share", 0.0))) < 1:
            time = -self.frames.frame / math.log1p(-share)
            yield self.change(spec, {"beyond_share": None, "beyond_lerp": time})
        yield self.change(spec, {"curve": "hermite", "curve_time": self.frames.interval})
        if self.oldest:
            yield self.change(spec, {"beyond": "oldest", "keep": self.oldest})

    def _iterate_own_times(self, spec: StrategySpec) -> Iterator[StrategySpec]:
        """Yield a buffer that forgets states by their age, or by a time that is only set back."""
        settings = spec.settings
        if forget := self._find_forgotten_age(settings):
            yield self.change(spec, {"forget": forget})
            yield self.change(spec, {"forget": forget, "forget_keeps": 2})
        # which such a time follows
        if settings.get("clock") == "max" and isinstance(settings["delay"], float):
            clockless = {key: settings[key] for key in settings if key not in CLOCK_KEYS}
            for rate in SLOWER:  # by a delay that slopes do not tell
                slow = {"catch_up": "slow", "catch_up_rate": rate, "late": None}
                slow |= {"delay": float(f"{settings['delay']:.2g}")}
                yield self.change(StrategySpec("buffer", clockless), slow)

    def write_in_intervals(self, found: FittedStrategy) -> FittedStrategy:
        """Return a result whose delay or time is written in send intervals, if it may be."""
        settings = found.candidate.settings
        spans = {key: settings[key] for key in SPANS if isinstance(settings.get(key), float)}
        counts = {key: span / self.frames.interval for key, span in spans.items()}
        return found.change(
            {key: f"{count:.6g}i" for key, count in counts.items() if count <= Span.INTERVALS}
        )

    def change(self, spec: StrategySpec, changes: Mapping[str, Any]) -> StrategySpec:
        """Return the strategy with these changes, and with a delay adapted to them."""
        settings = {**spec.settings, **changes}
        for key, (other, words) in BESIDE.items():
            if settings.get(other) not in words:
                settings[key] = None
        settings = {key: value for key, value in settings.items() if value is not None}
        if settings.get("ahead") not in BY_AGE or settings.get("age", "stamp") == "arrival":
            settings.pop("age_offset", None)
        elif apart := self.frames.clock_offset:
            settings.setdefault("age_offset", apart)
        delay = settings.get("delay")
        if isinstance(delay, float) and spec.name == "buffer":
            delay += self._measure_lateness(spec.settings) - self._measure_lateness(settings)
            settings["delay"] = min(max(delay, 0.0), LONGEST)
        return StrategySpec(spec.name, settings)

    def _measure_lateness(self, settings: Mapping[str, Any]) -> float:
        """Return the lateness of a buffer that is not due to its delay (s)."""
        margin = float(settings.get("jitter_margin", 0.0)) * self._find_jitter(settings)
        margin += self.frames.frame * (settings.get("draw_time") == "last")
        return self.clocks.find(settings).late + margin + float(settings.get("low_pass", 0.0))

    def _find_forgotten_age(self, settings: Mapping[str, Any]) -> float:
        """Return the age (s) from which on a buffer has no state, if the frames show it; else 0."""
        axis = self.clocks.find(settings)
        key = id(axis)
        if key not in self._forgotten:
            self._forgotten[key] = marks.find_forgotten_age(self.frames, axis, self.exact)
        return self._forgotten[key]

    def _find_jitter(self, settings: Mapping[str, Any]) -> float:
        """Return the usual deviation that the jitter margin multiplies (s)."""
        return self.clocks.find(settings).usual_jitter
