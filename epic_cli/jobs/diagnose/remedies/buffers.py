"""Buffers that may draw better than a game does: with another clock, or as late as is needed."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.jobs.diagnose.mechanism.clocks import CLOCK_KEYS, make_time_axis
from epic_cli.jobs.diagnose.mechanism.supply import convert_to_seconds
from epic_cli.jobs.diagnose.remedies import STEADY_CLOCK
from epic_cli.jobs.diagnose.remedies.buffer_faults import FEW_STATES, BufferFaults
from epic_cli.jobs.diagnose.remedies.covering import (
    MARGINS,
    count_changes,
    iterate_covering_buffers,
)
from epic_cli.jobs.diagnose.remedies.trials import BetterDrawing
from epic_cli.jobs.diagnose.settings import compute_used_values, round_to_three_digits

#: Clocks that wander little, tried in the place of others.
CLOCKS: tuple[dict[str, Any], ...] = (STEADY_CLOCK, {"clock": "median", "clock_time": 10.0})

#: A delay is long if this share of it is enough (two send intervals are prudent), or this share
#: with another clock. It is short if more of the frames wait for a packet.
LONG, LONG_ANEW, SHORT = 0.45, 0.6, 0.01

#: It is also long if so much of it (s) can be spared, and this share is enough.
SPARED, ENOUGH = 0.06, 0.8

#: Settings that tell when a state was true.
CLOCK = ("stamps", "clock", "clock_time", "clock_count")


class BufferRemedies(BufferFaults):
    """A buffer's faults, and buffers without some of them."""

    def iterate_candidates(self) -> Iterator[BetterDrawing]:
        """Yield buffers with any combination of fixes, clocks and delays."""
        fixes = list(self.iterate_fixes())
        # a longer delay would hide a drift until the next session, which lasts longer
        clocks = CLOCKS if self.ignores_drift else ({}, *CLOCKS)
        for count in range(len(fixes) + 1):
            for some in itertools.combinations(fixes, count):
                changed, mends = dict(self.given), [cause for cause, _ in some]
                for _, change in some:
                    changed |= change
                for clock in clocks:
                    yield from self._iterate_retimed(changed, clock, mends)

    def iterate_clock_changes(self) -> Iterator[BetterDrawing]:
        """Yield buffers with another clock, and with a delay for it."""
        for clock in CLOCKS:
            yield from self._iterate_retimed(dict(self.given), clock, [])

    def make_equally_late(self, changes: Mapping[str, Any]) -> StrategySpec:
        """Return the buffer with some changes, as late as the game draws."""
        settings = {
            key: value for key, value in {**self.given, **changes}.items() if value is not None
        }
        if any(self.given.get(key) != settings.get(key) for key in CLOCK):
            before, after = (make_time_axis(self.frames, each) for each in (self.given, settings))
            delay = max(self.measure_wait(settings) + before.late - after.late, 0.0)
            settings["delay"] = round_to_three_digits(delay)
            settings = {key: value for key, value in settings.items() if key not in MARGINS}
        return StrategySpec("buffer", settings)

    def measure_wait(self, settings: Mapping[str, Any]) -> float:
        """Return the usual delay of a buffer with these settings (s)."""
        used, interval = compute_used_values(StrategySpec("buffer", settings)), self.frames.interval
        jitter = float(np.median(make_time_axis(self.frames, settings).jitter))
        low, high, delay = (
            convert_to_seconds(used[key], interval)
            for key in ("delay_least", "delay_most", "delay")
        )
        return float(min(max(delay + used["jitter_margin"] * jitter, low), max(low, high)))

    def make_values(self, best: BetterDrawing) -> dict[str, float | str]:
        """Return the values for the sentences of the drawbacks that the best candidate mends."""
        assert self.supply is not None
        begun, grown = self.supply.grown
        covered = "some" if math.isnan(self.supply.empty) else 1 - self.supply.empty
        share = f"{best.covered * 100:g} % of the frames"
        most = "all, with a margin," if best.covered == 1 else share
        return {
            "jitter": self.supply.unsteady, "covered": covered,
            "needed": self.measure_wait(best.spec.settings),
            "most": most,
            "low_pass": self.smoothing, "begun": begun, "grown": grown,
            "time": self.settings["interval"], "interval": self.frames.interval,
            "keep": self.settings["keep"], "reserve": self.settings["reserve"],
            "forget": self.settings["forget"],
            "kept": (self.settings["keep"] - 1) * self.frames.interval,
            "late": self.frames.late,
            "varies": self.varies,
            "drift": abs(60 * self.trials.recording.drift),
        }  # fmt: skip

    def _iterate_retimed(
        self, given: dict[str, Any], clock: dict[str, Any], mends: list[str]
    ) -> Iterator[BetterDrawing]:
        """Yield a buffer over another clock, as late as before or with the needed delay."""
        if clock:
            mends = list(dict.fromkeys([self.name_clock_fault(), *mends]))
            given = {**given, **_list_clock_changes(clock)}
            if given.get("catch_up") != "none":  # it no longer hides what the clock does
                given |= {"catch_up": None, "catch_up_rate": None}
        supply, by_stamps = self.supply, self.settings["stamps"] == "sender"
        trials = self.trials
        if clock and by_stamps and self.is_steady and not trials.recording.drift:
            return
        spec = self.make_equally_late(given)
        if clock and not self._is_steadier_clock(clock):
            return
        if mends:
            yield BetterDrawing(spec, tuple(mends), changes=len(mends))
        wait = self.measure_wait(spec.settings)
        for spec, covered in iterate_covering_buffers(trials, given):
            delay, changed = self.measure_wait(spec.settings), list(mends)
            long = delay < (LONG_ANEW if clock else LONG) * wait
            long |= delay < min(ENOUGH * wait, wait - SPARED)
            long = long and not self.is_last_two  # which has none of its own
            if delay < wait and (covered < 1 or not (long or clock)):
                continue  # what comes too late now and then is not worth it
            if long:
                changed.append("long-buffer")
            elif delay > wait and supply is not None and math.isnan(supply.empty):
                changed.append("short-delay")
            elif delay > wait and supply is not None and supply.empty > SHORT:
                changed.append("short-buffer")
            if changed:
                changes = count_changes(covered, self.settings, len(mends) + 1)
                yield BetterDrawing(spec, tuple(changed), covered, changes)

    def _is_steadier_clock(self, clock: Mapping[str, Any]) -> bool:
        """Return True if another clock alone makes steps steadier, with enough states."""
        given, base = dict(self.given), self.base
        if self.settings["keep"] < FEW_STATES:
            given |= {"keep": None, "before": None}
            base = self.trials.measure(self.make_equally_late(given))
        other = {**given, **_list_clock_changes(clock)}
        if self.trials.is_better(base, self.make_equally_late(other)):
            return True
        own, steady = (
            [spec for spec, _ in iterate_covering_buffers(self.trials, each)][-1:]
            for each in (given, other)
        )
        against = self.trials.measure(own[0]) if own else base  # no delay of its own covers it
        return bool(steady) and self.trials.is_better(against, steady[0])


def _list_clock_changes(clock: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings that replace a buffer's clock by another clock over the sender's stamps."""
    gone = (
        *CLOCK_KEYS, "start", "interval", "interval_count", "interval_share", "interval_least",
        "interval_most", "late", "delay_from", "draw_time",
    )  # fmt: skip
    return {**dict.fromkeys(gone), **clock}
