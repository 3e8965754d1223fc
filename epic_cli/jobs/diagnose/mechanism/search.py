"""Search for the composition that draws some frames.

The readings are drawn again by the strategies ``buffer`` and ``chase`` themselves; their settings
are fitted to what is left, and parts are replaced one by one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from epic_cli.engine.replay.strategy_spec import StrategySpec, read_specs
from epic_cli.jobs.diagnose.mechanism import arrivals, marks
from epic_cli.jobs.diagnose.mechanism.ages import buffers
from epic_cli.jobs.diagnose.mechanism.chases import chases
from epic_cli.jobs.diagnose.mechanism.clocks import TimeAxes
from epic_cli.jobs.diagnose.mechanism.compositions import (
    convert_to_numbers,
    drop_settings,
    make_composition_key,
    measure_description_length,
    order_settings,
)
from epic_cli.jobs.diagnose.mechanism.readings import CLEARER, PossibleReading, compute_robust_rms
from epic_cli.jobs.diagnose.mechanism.ticks import TICKS, find_ticks, make_tick_frames
from epic_cli.jobs.diagnose.mechanism.variants import (
    KNOWN,
    OF_BUFFERS,
    OF_CHASES,
    list_snap_distances,
)
from epic_cli.jobs.diagnose.redraw import FittedStrategy, FrameComparison

if TYPE_CHECKING:
    from epic_cli.jobs.diagnose.frames import Frames

#: Clocks that differ in steadiness by less than this (s) may draw the same.
TIED = 5e-5

#: Clocks that are tried in the place of another, the steadiest.
STEADY = 12

#: Readings over measured times, and in ticks, that are drawn.
MEASURED, TICKED = 4, 6

#: Ticks that frames do not show, in frames: from, to; and the phases that are tried.
FINEST, COARSEST, PHASES = 0.5, 4.0, 6

#: The chases that are tried in such ticks, those with one key in turn.
IN_TICKS = {"exponential": 0, "lerp": 0, "share": 0, "linear": 1, "interval": 2}

#: Findings that are fitted to the end, and variants that are.
KEPT, FITTED = 2, 6

#: Settings in seconds or in send intervals.
SPANS = ("delay", "time")

#: Settings that define a composition.
NEEDED = ("delay", "time", "share", "speed", "stamps", "clock", "how")

#: Initial delays (s) of a buffer that never catches up.
GROWN = np.arange(0.0, 0.3, 0.005).tolist()

#: Times near which a drawing leaps, so that slopes are useless.
LEAPING = ("clock_time", "beyond", "interval_time", "jitter_time")

#: Most rounds of changed words, as long as each leaves less than this share of the error.
CHANGES, BETTER = 5, 0.97

#: A mean error that no change of parts explains, as a share of the usual step.
HOPELESS = 0.1

#: A mean error, as a share of the usual step, that tells the parts.
CLOSE = 0.002

#: Readings of buffers, and of chases, that are drawn.
READINGS, FIRST = 10, 24


class ExplanationSearch:
    """A search for the strategy that draws some frames; all results are kept, with their errors.

    ``explore`` begins it, or ``resume`` after a search in some of the frames, or ``rival`` after
    one with other arrivals; ``finish`` ends it.
    """

    def __init__(
        self, frames: Frames, comparison: FrameComparison, clocks: TimeAxes | None = None
    ) -> None:
        self.frames, self.comparison = frames, comparison
        self.exact = comparison.exact
        self.clocks = clocks or TimeAxes(frames)
        self.snaps = list_snap_distances(frames)
        self.grid = marks.find_grid(frames, comparison.exact)
        self.oldest = marks.find_oldest(frames)
        self.snap_time = marks.find_snap_time(frames)
        self.kept: dict[object, FittedStrategy] = {}
        self._looked: set[str] = set()
        self._keys: dict[str, tuple[object, ...]] = {}

    def explore(self) -> None:
        """Read the frames, and change what is nearest part by part."""
        known = [convert_to_numbers(spec) for spec in read_specs(KNOWN)]
        self.look(known)
        readings = sorted(chases(self.frames), key=lambda reading: reading.off)
        self.read(readings, FIRST, self.exact)
        # which in ticks of their own may look worse than many others
        plain = [
            one.strategy for one in readings if one.strategy.settings.keys() == {"how", "time"}
        ]
        if self.near[0].residual > self.exact:
            self.look([spec for spec in plain if spec.settings["how"] in IN_TICKS])
        if self.near[0].residual > self.exact:
            self.read_kinds()
        if self.near[0].residual > self.exact:
            self.read_buffers()
        for way in (
            {"clock": "first"},
            {"stamps": "arrival"},
            {"stamps": "ticks", "clock": "first"},
        ):
            if self.near[0].residual > self.exact:
                grows = {"delay": 0.1, "catch_up": "none", **way}
                found = FittedStrategy(StrategySpec("buffer", grows))
                self.keep(self.comparison.search(found, "delay", GROWN, 8))
        self.change_parts()

    def rival(self, begun: ExplanationSearch) -> None:
        """Look for what is nearer than a search with other arrivals has found."""
        self.fit_found(begun)
        if begun.near[0].apart > CLOSE * self.frames.unit:
            self.look(list(arrivals.read_two_states(self.frames)))
            self.read_buffers()
        if self.exact < self.near[0].residual and self.near[0].apart < begun.near[0].apart:
            self.change_parts()

    def fit_found(self, begun: ExplanationSearch) -> None:
        """Fit what another search has found."""
        exact = sum(one.residual <= begun.exact for one in begun.near)
        near = [*begun.near[: max(exact, FITTED)], *begun.unlike(KEPT)]
        for one in {one.candidate.label: one for one in near}.values():
            self.keep(self.comparison.fit(one))

    def resume(self, begun: ExplanationSearch) -> None:
        """Go on with what a search in some of the frames has found."""
        self.fit_found(begun)
        if self.near[0].residual > self.exact:
            self.read_buffers()
        if self.exact < self.near[0].residual and self.near[0].apart < HOPELESS * self.frames.unit:
            self.change_parts()

    def change_parts(self) -> None:
        """Fit what is nearest, and replace its parts as long as that brings it nearer."""
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

    def finish(self) -> list[FittedStrategy]:
        """Return the strategies found for the frames, the least error first."""
        nearest = self.near
        same = [found for found in nearest if found.residual <= self.exact]
        same.sort(key=lambda found: len(found.candidate.settings))
        ended = [order_settings(self.written(found)) for found in (same or nearest)[:FITTED]]
        return sorted(ended, key=lambda one: one.residual)

    def read_buffers(self) -> None:
        """Look at the buffers whose ages are steadiest, and sort the clocks by that."""
        readings = buffers(self.frames, self.clocks.every)
        self.read(readings, READINGS, TIED)
        steady = [self.clocks.find(reading.strategy.settings) for reading in readings]
        self.clocks.every.sort(key=steady.index)

    def read_kinds(self) -> None:
        """Look at the kinds of drawings that the frames show at a glance."""
        frames, later = self.frames, self.frames.settled
        share = arrivals.read_packet_steps(frames)
        if share is not None:
            settings = {"how": "share", "share": share, "every": "packet"}
            self.look([StrategySpec("chase", settings)])
        self.look(list(arrivals.read_two_states(frames)))
        measured = [
            PossibleReading(compute_robust_rms(off[later]), StrategySpec("chase", settings))
            for settings, off in arrivals.read_measured(frames)
        ]
        self.read(sorted(measured, key=lambda reading: reading.off), MEASURED, self.exact)
        ticks = find_ticks(frames, self.exact)
        if ticks is not None:
            in_ticks = sorted(
                chases(make_tick_frames(frames, ticks)), key=lambda reading: reading.off
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
            nearest: dict[object, FittedStrategy] = {}
            for found in self.near:
                words = found.candidate.settings
                if (how := words.get("how")) in IN_TICKS:
                    nearest.setdefault((IN_TICKS[how], "ahead" in words), found)
            for found in nearest.values():
                if self.near[0].residual > self.exact:
                    self.keep(self.in_ticks(found))
        for interval in (None, *TICKS):
            if self.near[0].residual > self.exact:
                settings = {"catch_up": "queue", "interval": interval}
                self.look([self.changed(StrategySpec("buffer", {}), settings)])

    def in_ticks(self, found: FittedStrategy) -> FittedStrategy:
        """Return a chase in the ticks with which it comes nearest, if they bring it nearer."""
        spec, best = found.candidate, found
        frame = self.frames.frame
        if "every" in spec.settings:
            return found
        for every in TICKS:
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
                ways.setdefault((found.candidate.name, *self.key(found.candidate)[part]), found)
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
            way = self.key(found.candidate)
        before = self.kept.get(way)
        if before is None or len(found.candidate.settings) < len(before.candidate.settings):
            self.kept[way] = found

    def key(self, spec: StrategySpec) -> tuple[object, ...]:
        """Return the key of a composition."""
        if spec.label not in self._keys:
            self._keys[spec.label] = make_composition_key(spec)
        return self._keys[spec.label]

    def look(self, specs: list[StrategySpec], only: Sequence[str] = ()) -> None:
        """Take a first look at strategies, by one step of the fit, until one is exact."""
        for spec in specs:
            if spec.label in self._looked:
                continue
            self._looked.add(spec.label)
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
        for changes in OF_CHASES if spec.name == "chase" else OF_BUFFERS:
            if any(settings.get(key) != value for key, value in changes.items()):
                yield self.changed(spec, changes)
        if spec.name == "buffer":
            # what catches up at a rate is seldom where its clock says: ages do not tell the clock
            steady = None if settings.get("catch_up") == "rate" else STEADY
            for axis in self.clocks.every[:steady]:
                ways = {"stamps": None, "clock": None, "clock_time": None, "clock_share": None}
                yield self.changed(spec, {**ways, **axis.settings})
            if "jitter_margin" in settings and isinstance(settings["delay"], float):
                wait = settings["delay"] + settings["jitter_margin"] * self.jitter(settings)
                for bound in ("delay_least", "delay_most"):
                    yield self.changed(spec, {bound: wait})
                yield self.changed(spec, {"jitter_time": 1.0})
            if low_pass := float(settings.get("low_pass", 0.0)):
                yield self.changed(spec, {"follow": "spring"})
                part = 1 - math.exp(-self.frames.frame / low_pass)
                share = {"follow": "share", "follow_share": part}
                yield StrategySpec(spec.name, {**drop_settings(settings, "low_pass"), **share})
            if self.oldest:
                yield self.changed(spec, {"beyond": "oldest", "keep": self.oldest})
        elif self.snap_time:
            yield self.changed(spec, {"snap_after": self.snap_time})
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
        return self.clocks.find(settings).late + margin + float(settings.get("low_pass", 0.0))

    def jitter(self, settings: Mapping[str, Any]) -> float:
        """Return the usual deviation that the jitter margin multiplies (s)."""
        return self.clocks.find(settings).usual_jitter

    def written(self, best: FittedStrategy) -> FittedStrategy:
        """Return a result without settings that change nothing, with few digits."""
        given = best
        for key in best.candidate.settings:
            ways: list[dict[str, Any]] = [] if key in NEEDED else [{key: None}]
            if key == "beyond":  # a limit that these frames do not show
                ways.append({key: "unlimited"})
            if key == "clock_time":  # a mean over less than an interval
                ways.append({key: None, "clock": "newest"})
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
            measure_description_length(spans.candidate)[0]
            < measure_description_length(best.candidate)[0] - 1
        )
        return spans if shorter and self.comparison.is_as_good(spans, given) else best
