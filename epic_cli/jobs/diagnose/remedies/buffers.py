"""Buffers that may draw better than a game does: with another clock, or as late as is needed."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.jobs.diagnose.mechanism.clocks import CLOCK_KEYS, make_time_axis
from epic_cli.jobs.diagnose.mechanism.compositions import (
    draws_last_two_states,
    takes_late_packets,
)
from epic_cli.jobs.diagnose.mechanism.supply import convert_to_seconds
from epic_cli.jobs.diagnose.remedies import STEADY_CLOCK
from epic_cli.jobs.diagnose.remedies.chases import compare_frame_rates, is_unlike_interval
from epic_cli.jobs.diagnose.remedies.covering import (
    MARGINS,
    count_changes,
    iterate_covering_buffers,
)
from epic_cli.jobs.diagnose.remedies.settings import compute_used_values, round_to_three_digits
from epic_cli.jobs.diagnose.remedies.trials import BetterDrawing, DrawingTrials

if TYPE_CHECKING:
    from epic_cli.jobs.diagnose.mechanism import Mechanism
    from epic_cli.jobs.diagnose.remedies import RemedyTrial
    from epic_cli.jobs.diagnose.remedies.metrics import MeasuredFrames
    from epic_cli.jobs.diagnose.remedies.recording import TrialRecording

#: Clocks that wander little, tried in the place of others.
CLOCKS: tuple[dict[str, Any], ...] = (STEADY_CLOCK, {"clock": "median", "clock_time": 10.0})

#: A delay is long if this share of it is enough (two send intervals are prudent), or this share
#: with another clock. It is short if more of the frames wait for a packet.
LONG, LONG_ANEW, SHORT = 0.45, 0.6, 0.01

#: A buffer that goes on past the newest state in more of the frames is a predictor.
GUESSES = 0.9

#: What a buffer with ``beyond=oldest`` has for a time.
OLDEST = -2002.0

#: A delay that grows by less (s) does not.
GROWS = 0.01

#: Settings that tell when a state was true.
CLOCK = ("stamps", "clock", "clock_time", "clock_count")

#: A buffer that keeps fewer states may be short of them.
FEW_STATES = 10

#: Seconds; a clock that wanders less is steady.
STEADY = 5e-4


class BufferFaults:
    """The possible faults of a buffer, and buffers without some of them.

    ``base`` is what is measured without a smoothing on top of it.
    """

    def __init__(
        self, found: Mechanism, trials: DrawingTrials, base: MeasuredFrames | None
    ) -> None:
        self.given, self.trials, self.base = found.strategy.settings, trials, base
        self.frames, self.supply = trials.frames, found.supply
        self.settings = compute_used_values(found.strategy)

    def iterate_candidates(self) -> Iterator[BetterDrawing]:
        """Yield buffers with any combination of fixes, clocks and delays."""
        fixes = list(self.iterate_fixes())
        for count in range(len(fixes) + 1):
            for some in itertools.combinations(fixes, count):
                changed, mends = dict(self.given), [cause for cause, _ in some]
                for _, change in some:
                    changed |= change
                for clock in ({}, *CLOCKS):
                    yield from self._iterate_retimed(changed, clock, mends)

    def iterate_clock_changes(self) -> Iterator[BetterDrawing]:
        """Yield buffers with another clock, and with a delay for it."""
        for clock in CLOCKS:
            yield from self._iterate_retimed(dict(self.given), clock, [])

    def iterate_fixes(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield possible faults other than clock and delay, and their fixes."""
        settings, supply = self.settings, self.supply
        if takes_late_packets(settings):
            yield "late-as-new", {"late": None}
        if settings["every"] > 0:
            yield "ticks", {"every": None}
        if settings["every"] < 0:
            yield "packet-steps", {"every": None}
        if settings["between"] == "hold":
            yield "state-steps", {"between": None}
        if settings["low_pass"]:
            yield "low-pass", {"low_pass": None}
        if settings["catch_up"] == "none" and (supply is None or np.diff(supply.grown) > GROWS):
            yield "growing-delay", {"catch_up": "rate"}
        if settings["stamps"] == "ticks" and self._counts_wrongly:
            yield self._name_wrong_constant(), {"interval": None}
        if settings["keep"] < FEW_STATES and settings["beyond"] != OLDEST:
            yield "few-states", {"keep": None}
        if settings["beyond"] == OLDEST and supply is not None and supply.empty > 0:
            yield "oldest-state", {"beyond": None, "keep": None}
        if settings["beyond"] > 0.3 and supply is not None and supply.empty < GUESSES:
            yield "long-extrapolation", {"beyond": 0.1, "beyond_then": None}

    def find_frame_rate_fault(
        self, recording: TrialRecording
    ) -> tuple[Mapping[str, float], RemedyTrial] | None:
        """Return the lags (s) on a slow and a fast screen, and the remedy with the same on both.

        None for a buffer that is followed by no fixed share in each frame.
        """
        share, gone = self.settings["follow_share"], ("follow", "follow_share")
        if self.settings["follow"] != "share" or not 0 < share < 1:
            return None
        given = {key: value for key, value in self.given.items() if key not in gone}
        time = float(f"{-self.frames.frame / math.log1p(-share):.2g}")
        own, even = (
            StrategySpec("buffer", each) for each in (self.given, {**given, "low_pass": time})
        )
        return compare_frame_rates(recording, own, even)

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
        return {
            "jitter": self.supply.unsteady, "covered": covered,
            "needed": self.measure_wait(best.spec.settings),
            "most": "all, with a margin," if best.covered == 1 else f"{best.covered * 100:g} %",
            "low_pass": self.settings["low_pass"], "begun": begun, "grown": grown,
            "time": self.settings["interval"], "interval": self.frames.interval,
            "keep": self.settings["keep"],
            "kept": (self.settings["keep"] - 1) * self.frames.interval,
            "late": self.frames.late,
            "drift": abs(60 * self.trials.recording.drift),
        }  # fmt: skip

    def _iterate_retimed(
        self, given: dict[str, Any], clock: dict[str, Any], mends: list[str]
    ) -> Iterator[BetterDrawing]:
        """Yield a buffer over another clock, as late as before or with the needed delay."""
        if clock:
            mends = list(dict.fromkeys([self._name_clock_fault(), *mends]))
            given = {**given, **_list_clock_changes(clock)}
            if given.get("catch_up") != "none":  # it no longer hides what the clock does
                given |= {"catch_up": None, "catch_up_rate": None}
        supply, by_stamps = self.supply, self.settings["stamps"] == "sender"
        trials = self.trials
        if clock and by_stamps and self._is_steady and not trials.recording.drift:
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
            long = long and not draws_last_two_states(self.settings)  # which has none of its own
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
            if by_stamps and trials.is_better(trials.before, spec):
                return

    @property
    def _is_steady(self) -> bool:
        """True if the clock wanders little, but for a drift."""
        return self.supply is not None and self.supply.unsteady < STEADY

    @property
    def _counts_wrongly(self) -> bool:
        """True if the interval is a constant, and another than that of the packets."""
        given = self.settings["interval"]
        return given > 0 and is_unlike_interval(given, self.frames)

    def _name_wrong_constant(self) -> str:
        """Return the cause of an interval that is not that of the packets."""
        if not draws_last_two_states(self.settings) or self.settings["beyond"] > 0:
            return "wrong-constant"
        early = self.settings["interval"] < self.frames.interval
        return "early-arrival" if early else "wrong-interval"

    def _name_clock_fault(self) -> str:
        """Return the cause that a steady clock over the sender's stamps mends."""
        if draws_last_two_states(self.settings):
            return self._name_wrong_constant() if self._counts_wrongly else "no-margin"
        drifts = self.trials.recording.drift and self._is_steady
        wrong = {"arrival": "arrival-stamps", "ticks": "counted-ticks"}
        return wrong.get(
            self.settings["stamps"], "unfollowed-drift" if drifts else "wandering-clock"
        )

    def _is_steadier_clock(self, clock: Mapping[str, Any]) -> bool:
        """Return True if another clock alone makes steps steadier, with enough states."""
        given, base = dict(self.given), self.base
        if self.settings["keep"] < FEW_STATES:
            given["keep"] = None
            base = self.trials.measure(self.make_equally_late(given))
        other = {**given, **_list_clock_changes(clock)}
        if self.trials.is_better(base, self.make_equally_late(other)):
            return True
        covering = [
            [spec for spec, _ in iterate_covering_buffers(self.trials, each)][-1:]
            for each in (given, other)
        ]
        return any(
            self.trials.is_better(self.trials.measure(own), steady)
            for own, steady in zip(*covering, strict=False)
        )


def _list_clock_changes(clock: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings that replace a buffer's clock by another clock over the sender's stamps."""
    gone = (
        *CLOCK_KEYS, "start", "interval", "interval_count", "interval_least", "interval_most",
        "late",
    )  # fmt: skip
    return {**dict.fromkeys(gone), **clock}
