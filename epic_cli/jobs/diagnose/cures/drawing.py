"""The drawbacks of a game's drawing on its network, and the best combination of remedies."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.engine.strategies import declaration
from epic_cli.engine.strategies.parts.common_settings import MEASURED_INTERVAL
from epic_cli.jobs.diagnose.cures import (
    CHOOSING,
    FIGURES,
    JUDGING,
    STEADY_CLOCK,
    Bench,
    Cure,
    CureTrial,
    DrawingFigures,
    MeasuredDrawing,
    trial,
    write_option,
)
from epic_cli.jobs.diagnose.frames import Frames
from epic_cli.jobs.diagnose.mechanism import Mechanism
from epic_cli.jobs.diagnose.mechanism.clocks import time_axis
from epic_cli.jobs.diagnose.mechanism.supply import Supply, in_seconds, needs, watched

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Drawback(NamedTuple):
    """A cause that makes a drawing worse, with the ``values`` for its sentence.

    ``trial`` is the trial of its remedy on this recording; None: the remedy was not tried, or helps
    only together with others.
    """

    cause: str
    values: Mapping[str, float | str]
    trial: CureTrial | None = None


class DrawingAdvice(NamedTuple):
    """The measured drawing, its drawbacks, and the trial of the best remedy of them all.

    ``before`` is None where the drawing cannot be measured, ``cure`` None where nothing draws it
    better.
    """

    before: DrawingFigures | None = None
    drawbacks: tuple[Drawback, ...] = ()
    cure: CureTrial | None = None


#: Clocks that wander little, tried in the place of others.
CLOCKS: tuple[dict[str, Any], ...] = (
    STEADY_CLOCK,
    {"clock": "median", "clock_time": 10.0},
)

#: Shares of the frames that a delay covers: the next larger one if that does not help, or if
#: nothing goes by the sender's stamps yet.
COVERED = (0.99, 0.999, 1.0)

#: The largest of twice the data is further out by this share of the way from 99 % to 99.9 %: log 2
#: / log 10.
LONGER = 0.3

#: A delay is long if this share of it is enough (two send intervals are prudent), or this share
#: with another clock. It is short if more of the frames wait for a packet.
LONG, LONG_ANEW, SHORT = 0.45, 0.6, 0.01

#: Least gain in cost by each change of a combination, also by a delay that covers less than it
#: might: the next session jumps more than the one it was chosen on.
SIMPLER = 0.03

#: Frames and packets are in step if one's interval is a whole multiple of the other's, within this;
#: send intervals between moments that are in step with neither.
IN_STEP, IRREGULAR = 0.02, 0.0618

#: A cure of several is named alone if it leaves less than this share of its figure.
MOST = 0.5

#: Candidates that are judged, the least cost first, until one helps.
JUDGED = 3

#: Seconds that frames may wait longer than the packets explain: beyond, they have another clock.
ASTRAY = 0.05

#: A buffer that goes on past the newest state in more of the frames is a predictor.
GUESSES = 0.9

#: A drawing that stands in more of the frames, without another cause, is said to stand.
STANDING = 0.2

#: Least difference of a time from the send interval, as a share of it.
DIFFERS = 0.1

#: What a buffer with ``beyond=oldest`` has for a time.
OLDEST = -2002.0

#: Changes of a chase that mend a cause; None restores the default.
CHASE_CURES: dict[str, dict[str, Any]] = {
    "standing-frame": {"start": "last"},
    "ticks": {"between": "lerp"},
    "measured-interval": {"interval": None},
    "overshoot": {"ahead": None, "ahead_time": None},
    "fed-back": {"how": "linear"},
}

#: Frame rates (Hz) of slow and of fast screens.
SCREENS = 30.0, 144.0


class BetterDrawing(NamedTuple):
    """A composition that may draw better, and the causes that the composition mends.

    ``covered`` is the share of the frames that its delay covers, where that was chosen; ``changes``
    counts the changes.
    """

    spec: StrategySpec
    mends: tuple[str, ...]
    covered: float = 0.0
    changes: int = 1


def advise(
    bench: Bench, frames: Frames, found: Mechanism | None, unchanged: Mapping[str, StrategySpec]
) -> DrawingAdvice:
    """Try remedies of a drawing; ``found`` is its mechanism, or None if no mechanism explains it.

    ``unchanged`` is, by cause, the drawing without the smoothing on top of it.
    """
    if bench.before is None or bench.truth is None:
        return DrawingAdvice()
    return _CureSearch(bench, bench.before, frames, found, unchanged).advice()


class _CureSearch:
    """A search for remedies of one drawing.

    Half of its time slices choose, the other half judge.
    """

    def __init__(
        self, bench: Bench, before: MeasuredDrawing, frames: Frames, found: Mechanism | None,
        unchanged: Mapping[str, StrategySpec],
    ) -> None:  # fmt: skip
        self.unchanged = unchanged
        self.bench, self.before, self.frames, self.found = bench, before, frames, found
        self.settings = {} if found is None else used_values(found.strategy)
        self.supply = None if found is None else found.supply
        frame = float(np.median(np.diff(bench.times)))
        ratio = max(frames.interval / frame, frame / frames.interval)
        #: Seconds to frames of another phase, if all frames have the same one: the next session's
        #: differs.
        self.phase = frame / 2 if abs(ratio - round(ratio)) < IN_STEP else 0.0
        every = np.arange(frames.times[0], frames.times[-1], IRREGULAR * frames.interval)
        newest = np.searchsorted(frames.arrivals, every, side="right") - 1
        #: Moments of all phases, instead of frames.
        self.moments = frames._replace(times=every, newest=newest)
        self._known: dict[str, MeasuredDrawing | None] = {}

    @property
    def _found_settings(self) -> Mapping[str, Any]:
        return {} if self.found is None else self.found.strategy.settings

    def advice(self) -> DrawingAdvice:
        """Return the best combination of remedies, and the causes that it removes."""
        plain = DrawingAdvice(self.before.figures(slice(None)))
        if self._mark_choosing_frames(self.frames).sum() < FIGURES_FROM:
            return plain
        best, cure = self._find_best_drawing(self._iterate_candidates())
        drawbacks = tuple(self._iterate_drawbacks(best, cure))
        held = self.before.figures(slice(None)).held
        if not drawbacks and self.found is not None and held > STANDING:
            drawbacks = (Drawback("standing", {"held": held}, cure),)
        return plain._replace(cure=cure, drawbacks=drawbacks)

    def _find_best_drawing(
        self, candidates: Iterator[BetterDrawing]
    ) -> tuple[BetterDrawing | None, CureTrial | None]:
        """Return the cheapest candidate on the choosing turns, judged on the other turns."""
        costs: list[tuple[float, BetterDrawing]] = []
        for candidate in candidates:
            measured = self._measure_spec(candidate.spec)
            if measured is not None and self._is_better_strategy(self.before, candidate.spec):
                changes = candidate.changes
                if candidate.covered and self.settings.get("stamps") != "sender":
                    changes += len(COVERED) - COVERED.index(candidate.covered)
                cost = measured.figures(CHOOSING).cost + SIMPLER * changes
                costs.append((cost, candidate))
        costs.sort(key=lambda each: each[0])
        for _, candidate in costs[:JUDGED]:
            if judged := self._judge_spec(candidate.spec):
                return candidate, judged
        return None, None

    def _measure_spec(self, spec: StrategySpec) -> MeasuredDrawing | None:
        if spec.label not in self._known:
            found = self.bench.measure_spec(spec)
            if self.phase and found is not None:
                other = self.bench.measure_spec(spec, self.phase)
                found = None if other is None else found._replace(sums=found.sums + other.sums)
            self._known[spec.label] = found
        return self._known[spec.label]

    def _mark_choosing_frames(self, frames: Frames) -> NDArray[np.bool_]:
        """Mark the frames that determine the length of a delay."""
        turns = self.bench.turns
        places = np.minimum(np.searchsorted(self.bench.times, frames.times), len(turns) - 1)
        return np.asarray(watched(frames) & (turns[places] % 2 == 0))

    def _judge_spec(self, spec: StrategySpec) -> CureTrial | None:
        """Judge a composition by the figure that gains most, steps and lag first."""
        after = self._measure_spec(spec)
        if after is None:
            return None
        figures = zip(FIGURES, self.before.figures(JUDGING), after.figures(JUDGING), strict=True)
        gains = {name: FIGURES[name].weight * (old - new) for name, old, new in figures}
        order = sorted(gains, key=lambda name: (name in ("jumps", "held"), -gains[name]))
        tried = (trial(Cure(write_option(spec), name), self.before, after) for name in order)
        return next((each for each in tried if each is not None), None)

    # ------------------------------------------------------------ candidates

    def _iterate_candidates(self) -> Iterator[BetterDrawing]:
        """Yield compositions that may draw better, with the causes that they mend."""
        found = self.found
        for cause, spec in self.unchanged.items():
            yield BetterDrawing(spec, (cause,))
        if found is None or found.strategy.name == "chase" or self._own_cause:
            for clock in CLOCKS:
                for spec, covered in self._iterate_covering_buffers({**clock}):
                    yield BetterDrawing(spec, (), covered, 2)
            for cause, spec in self._iterate_chase_changes():
                yield BetterDrawing(spec, (cause,))
            return
        given = dict(found.strategy.settings)
        fixes = list(self._iterate_fixes())
        for count in range(len(fixes) + 1):
            for some in itertools.combinations(fixes, count):
                changed, mends = dict(given), [cause for cause, _ in some]
                for _, change in some:
                    changed |= change
                for clock in ({}, *CLOCKS):
                    yield from self._iterate_retimed_buffers(changed, clock, mends)

    def _iterate_retimed_buffers(
        self, given: dict[str, Any], clock: dict[str, Any], mends: list[str]
    ) -> Iterator[BetterDrawing]:
        """Yield a buffer over another clock, as late as before or with the needed delay."""
        if clock:
            wrong = {"arrival": "arrival-stamps", "ticks": "counted-ticks"}
            cause = wrong.get(self.settings["stamps"], "wandering-clock")
            mends = [cause, *mends]
            given = {**given, **_list_clock_changes(clock)}
            if given.get("catch_up") != "none":  # it no longer hides what the clock does
                given |= {"catch_up": None, "catch_up_rate": None}
        spec = self._make_equally_late_buffer(given)
        if clock and not self._is_steadier_clock(clock):
            return
        if mends:
            yield BetterDrawing(spec, tuple(mends), changes=len(mends))
        supply, wait = self.supply, self._measure_wait(spec.settings)
        for spec, covered in self._iterate_covering_buffers(given):
            delay, changed = self._measure_wait(spec.settings), list(mends)
            long = delay < (LONG_ANEW if clock else LONG) * wait
            if delay < wait and (covered < 1 or not (long or clock)):
                continue  # what comes too late now and then is not worth it
            if long:
                changed.append("long-buffer")
            elif delay > wait and supply is not None and not supply.empty <= SHORT:  # or unknown
                changed.append("short-buffer")
            if changed:
                yield BetterDrawing(spec, tuple(changed), covered, len(mends) + 1)
            if self.settings["stamps"] == "sender" and self._is_better_strategy(self.before, spec):
                return

    def _is_steadier_clock(self, clock: Mapping[str, Any]) -> bool:
        """Return True if another clock alone makes steps steadier."""
        given = dict(self._found_settings)
        other = {**given, **_list_clock_changes(clock)}
        if self._is_better_strategy(self._base_drawing, self._make_equally_late_buffer(other)):
            return True
        covering = [
            [spec for spec, _ in self._iterate_covering_buffers(each)][-1:]
            for each in (given, other)
        ]
        return any(
            self._is_better_strategy(self._measure_spec(own), steady)
            for own, steady in zip(*covering, strict=False)
        )  # fmt: skip

    @cached_property
    def _base_drawing(self) -> MeasuredDrawing | None:
        """The figures of the drawing without its smoothing."""
        spec = next(iter(self.unchanged.values()), None)
        return self.before if spec is None else self._measure_spec(spec)

    def _measure_wait(self, settings: Mapping[str, Any]) -> float:
        """Return the usual delay of a buffer with these settings (s)."""
        used = used_values(StrategySpec("buffer", settings))
        axis = time_axis(self.frames, settings)
        jitter = used["jitter_margin"] * float(np.median(axis.jitter))
        low, high = (in_seconds(used[key], self.frames.interval)
                     for key in ("delay_least", "delay_most"))  # fmt: skip
        wait = in_seconds(used["delay"], self.frames.interval) + jitter
        return float(min(max(wait, low), max(low, high)))

    def _make_equally_late_buffer(self, given: Mapping[str, Any]) -> StrategySpec:
        """Return a buffer with these settings that draws as late as the game."""
        settings = {key: value for key, value in given.items() if value is not None}
        assert self.found is not None
        before = self.found.strategy.settings
        if any(before.get(key) != settings.get(key) for key in CLOCK):
            shift = time_axis(self.frames, before).late - time_axis(self.frames, settings).late
            settings |= {
                "delay": _round_to_three_digits(max(self._measure_wait(settings) + shift, 0.0))
            }
            settings = {key: value for key, value in settings.items() if key not in MARGINS}
        return StrategySpec("buffer", settings)

    def _iterate_covering_buffers(
        self, given: Mapping[str, Any]
    ) -> Iterator[tuple[StrategySpec, float]]:
        """Yield buffers whose delay is enough for a share of the frames, and the share."""
        plain = {key: value for key, value in given.items()
                 if value is not None and key not in MARGINS}  # fmt: skip
        axis = time_axis(self.frames, plain)
        curve = str(plain.get("curve", "linear"))
        arrived = self.frames.arrivals[1:] - axis.offsets[:-1] - axis.stamps[:-1]
        moments = (self.frames, self.moments) if self.phase else (self.frames,)
        needed = [needs(each, axis, curve)[self._mark_choosing_frames(each)] for each in moments]
        for share, own in ((COVERED[0], needed[0]), *((share, needed[-1]) for share in COVERED)):
            delay = float(np.quantile(own, share))
            if share == 1:  # the largest of all turns, and of twice as many with such a tail
                largest = needs(moments[-1], axis, curve)[watched(moments[-1])].max()
                delay = float(largest + LONGER * np.diff(np.quantile(own, COVERED[:2]))[0])
            if not 0 <= delay <= float(np.quantile(arrived, share)) + ASTRAY:
                return
            spec = StrategySpec("buffer", {**plain, "delay": _round_to_three_digits(delay)})
            yield spec, share

    def _is_better_strategy(self, before: MeasuredDrawing | None, spec: StrategySpec) -> bool:
        """Return True if a strategy improves any figure on the choosing turns."""
        after = self._measure_spec(spec)
        return (
            before is not None
            and after is not None
            and any(trial(Cure("", figure), before, after, CHOOSING) for figure in FIGURES)
        )

    def _iterate_fixes(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield possible faults of a buffer other than clock and delay, and their fixes."""
        settings, supply = self.settings, self.supply
        if settings["low_pass"]:
            yield "low-pass", {"low_pass": None}
        if settings["catch_up"] == "none":
            yield "growing-delay", {"catch_up": "rate"}
        given = settings["interval"]
        if settings["stamps"] == "ticks" and given > 0 and self._is_unlike_interval(given):
            yield "wrong-constant", {"interval": None}
        if settings["beyond"] == OLDEST and supply is not None and supply.empty > 0:
            yield "oldest-state", {"beyond": None, "keep": None}
        if settings["beyond"] > 0.3 and supply is not None and supply.empty < GUESSES:
            yield "long-extrapolation", {"beyond": 0.1, "beyond_then": None}

    def _is_unlike_interval(self, time: float) -> bool:
        """Return True if a constant is not the packets' interval."""
        return abs(time / self.frames.interval - 1) > DIFFERS

    @property
    def _own_cause(self) -> str:
        """The cause of a buffer that goes by no clock; empty for others."""
        return {"queue": "queue", "timer": "own-timer"}.get(self.settings.get("catch_up", ""), "")

    # ------------------------------------------------------------ causes of chases

    def _iterate_chase_causes(self) -> Iterator[str]:
        """Yield the causes that replacing the chase by a buffer mends."""
        settings = self.settings
        how = settings["how"]
        if settings["every"] > 0 and settings["between"] == "hold":
            yield "ticks"
        if settings["interval"] < 0 and (settings["time"] < 0 or how == "interval"):
            found = self._make_chase_settings()
            if found["jitter"]:
                yield "measured-interval"
            if found["doubled"]:
                yield "two-in-a-frame"
        if settings["ahead"] == "interval":
            yield "overshoot"
        if settings["every"] < 0:
            yield "packet-steps"
        elif how == "growing":
            yield "fed-back"
        elif how == "share" and settings["share"] == 1:
            yield "no-smoothing"
        elif how in ("linear", "eased", "interval"):
            time = self._get_chase_time()
            if settings["start"] == "frame":
                yield "standing-frame"
            if self._is_unlike_interval(time):
                yield "early-arrival" if time < self.frames.interval else "wrong-interval"
        elif how != "speed":
            yield "chase-lag"

    def _iterate_chase_changes(self) -> Iterator[tuple[str, StrategySpec]]:
        """Yield causes that one change of the chase mends, and the changed chase."""
        if self.found is None or self.found.strategy.name != "chase":
            return
        given = dict(self._found_settings)
        for cause in self._iterate_chase_causes():
            if cause in CHASE_CURES:
                yield (
                    cause,
                    StrategySpec("chase", _drop_unset_values({**given, **CHASE_CURES[cause]})),
                )
            elif cause in ("early-arrival", "wrong-interval"):
                changed = {**given, "time": _round_to_three_digits(self.frames.interval)}
                if given["how"] == "interval":  # which is measured
                    changed = {key: given[key] for key in given if key not in ("time", "interval")}
                yield cause, StrategySpec("chase", changed)

    # ------------------------------------------------------------ what is said

    def _iterate_drawbacks(
        self, best: BetterDrawing | None, cure: CureTrial | None
    ) -> Iterator[Drawback]:
        """Yield the drawbacks that the best candidate mends, and the gain of each fix alone."""
        found, mends = self.found, () if best is None else best.mends
        for cause in mends:
            if cause in self.unchanged:
                yield Drawback(cause, {}, cure)
        if found is None or self.unchanged.keys() & mends:
            return
        if found.strategy.name == "chase":
            changes = dict(self._iterate_chase_changes())
            for cause in self._iterate_chase_causes():
                own = (
                    _select_main_trial(self._judge_spec(changes[cause]))
                    if cause in changes
                    else cure
                )
                if own or cure:
                    yield Drawback(cause, self._make_chase_settings(), own)
            yield from self._find_frame_rate_drawback()
            return
        if self._own_cause:
            yield Drawback(self._own_cause, self._make_chase_settings(), cure)
        if best is None or self.supply is None:
            return
        constant = {"time": self.settings["interval"], "interval": self.frames.interval}
        if "wrong-constant" in dict(self._iterate_fixes()) and "wrong-constant" not in mends:
            yield Drawback("wrong-constant", constant, self._try_single_fix("wrong-constant"))
        for cause in mends:
            alone = cure if len(best.mends) == 1 else self._try_single_fix(cause)
            yield Drawback(cause, self._make_buffer_settings(self.supply, best), alone)

    def _try_single_fix(self, cause: str) -> CureTrial | None:
        """Try the fix of one cause alone; None unless that fix brings most of the gain.

        A delay is tried with its clock.
        """
        fixes = dict(self._iterate_fixes())
        given = dict(self._found_settings)
        if cause in fixes:
            return self._judge_spec(self._make_equally_late_buffer({**given, **fixes[cause]}))
        if cause in ("short-buffer", "long-buffer"):
            return None
        alone = self._find_best_drawing(
            better for clock in CLOCKS for better in self._iterate_retimed_buffers(given, clock, [])
            if better.mends == (cause,)
        )[1]  # fmt: skip
        return _select_main_trial(alone)

    def _make_buffer_settings(self, supply: Supply, best: BetterDrawing) -> dict[str, float | str]:
        begun, grown = supply.grown
        return {
            "jitter": supply.unsteady, "covered": 1 - supply.empty,
            "needed": self._measure_wait(best.spec.settings),
            "most": "all, with a margin," if best.covered == 1 else f"{best.covered * 100:g} %",
            "low_pass": self.settings["low_pass"], "begun": begun, "grown": grown,
            "time": self.settings["interval"], "interval": self.frames.interval,
        }  # fmt: skip

    def _make_chase_settings(self) -> dict[str, float | str]:
        frames = self.frames
        by_stamps = self.settings.get("interval") == MEASURED_INTERVAL.words["stamps"]
        apart = np.diff(frames.stamps if by_stamps else frames.arrivals)
        together = np.diff(np.searchsorted(frames.times, frames.arrivals)) == 0
        return {
            "time": self._get_chase_time(), "interval": frames.interval,
            "jitter": round(float(np.ptp(np.quantile(apart, (0.05, 0.95)))), 6),
            "doubled": 0.0 if by_stamps else float(together.mean()),
        }  # fmt: skip

    def _get_chase_time(self) -> float:
        """Return the time constant of a chase, or its time to the goal (s)."""
        settings = self.settings
        if settings.get("how") in ("interval", None):
            known = settings["interval"] > 0
            return float(settings["interval"]) if known else self.frames.interval
        if settings["how"] == "share" and settings["share"] < 1:
            frame = self.frames.frame
            if every := float(settings["every"]):
                frame = every if every > 0 else self.frames.interval
            return -frame / math.log1p(-settings["share"])
        return in_seconds(settings["time"], self.frames.interval)

    def _find_frame_rate_drawback(self) -> Iterator[Drawback]:
        """Yield the drawback of a chase that moves by a fixed share each frame.

        Its values are the lags on slow and on fast screens; the remedy has nearly the same lag on
        both.
        """
        settings = self.settings
        if settings["how"] != "share" or settings["share"] == 1 or settings["every"]:
            return
        given = {
            key: value for key, value in self._found_settings.items() if key not in ("how", "share")
        }
        even = {"how": "exponential", "time": float(f"{self._get_chase_time():.2g}")}
        spec = StrategySpec("chase", {**given, **even})
        slow, fast = self._measure_lags(StrategySpec("chase", self._found_settings))
        after = self._measure_lags(spec)
        if not slow - fast > 0.03 or not abs(after[0] - after[1]) < 0.5 * (slow - fast):
            return
        own = CureTrial(
            write_option(spec), "lag_by_frame_rate", slow - fast, abs(after[0] - after[1])
        )
        yield Drawback("frame-rate", {"slow": slow, "fast": fast}, own)

    def _measure_lags(self, spec: StrategySpec) -> list[float]:
        """Measure a composition's lag on a slow and on a fast screen (s)."""
        truth, times, found = self.bench.truth, self.bench.times, []
        assert truth is not None
        for rate in SCREENS:
            screen = np.arange(times[0], min(times[-1], times[0] + 20), 1 / rate)
            bench = Bench(self.bench.packets, screen, spec, by_frame=self.bench.redraw.by_frame)
            found.append(math.nan if bench.before is None else bench.before.lag)
        return found


def _select_main_trial(alone: CureTrial | None) -> CureTrial | None:
    """Return the trial if it brings most of the gain; else None."""
    return alone if alone is not None and alone.after < MOST * alone.before else None


def _drop_unset_values(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in settings.items() if value is not None}


def _list_clock_changes(clock: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings that replace a buffer's clock by another clock over the sender's stamps."""
    gone = ("stamps", "clock_time", "clock_share", "start", "keep", "interval")
    return {**dict.fromkeys(gone), **clock}


#: Fewest choosing frames for a figure.
FIGURES_FROM = 60

#: Settings that tell when a state was true.
CLOCK = ("stamps", "clock", "clock_time")

#: Settings that a delay of its own replaces.
MARGINS = ("jitter_margin", "jitter_time", "delay_least", "delay_most")


def _round_to_three_digits(value: float) -> float:
    return float(f"{value:.3g}")


def used_values(strategy: StrategySpec) -> dict[str, Any]:
    """Return all settings of a strategy as the values that the strategy uses."""
    known = declaration(strategy.name)
    written_values = known.values(strategy.settings)
    used = known.converted(written_values)
    return {**written_values, **{key: used[key] for key in used if isinstance(used[key], float)}}
