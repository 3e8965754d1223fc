"""Possible faults of a chase, and the changes that mend them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.engine.strategies.parts.common_settings import MEASURED_INTERVAL
from epic_cli.jobs.diagnose.mechanism.measured_intervals import compute_intervals
from epic_cli.jobs.diagnose.mechanism.supply import convert_to_seconds
from epic_cli.jobs.diagnose.remedies import RemedyTrial
from epic_cli.jobs.diagnose.remedies.chase_changes import MENDING_CHANGES, WORD_CAUSES
from epic_cli.jobs.diagnose.remedies.frame_rates import compare_frame_rates, make_even_chase
from epic_cli.jobs.diagnose.remedies.recording import TrialRecording
from epic_cli.jobs.diagnose.settings import compute_used_values, round_to_three_digits

if TYPE_CHECKING:
    from epic_cli.jobs.diagnose.frames import Frames
    from epic_cli.metrics.arrays import Floats

#: Least jitter that shows, as a share of the send interval.
LEAST_JITTER = 0.05

#: Least difference of a time from the send interval, as a share of it.
DIFFERS = 0.1

#: The least lag (s) behind a goal that shows, and the lags that pass until a chase is nearly there.
UNSEEN, ARRIVED = 0.002, 3.0

#: Powers of e that are too large for a float.
OVERFLOWS = 700.0

#: A speed that is as many times as high as the entity's, or as low, is not that.
FASTER = 1.1

#: Ticks that are as much shorter than frames are in each of them.
SHORT = 0.9

#: The least distance to where the velocity led that shows (usual steps).
MISSED = 0.02

#: A spring with less of the damping with which it does not swing does so visibly.
SWINGS = 0.7


def is_unlike_interval(time: float, frames: Frames) -> bool:
    """Return True if a constant (s) is not the packets' interval."""
    return abs(time / frames.interval - 1) > DIFFERS


def compute_lag(how: str, time: float, step: float) -> float:
    """Return how far (s) a follower stays behind a goal of constant speed.

    It is (1 - a) / a of a ``step`` (s), where a is the share of the rest that it goes in each:
    step / ``time`` for ``how=lerp``, else 1 - exp(-step / time).
    """
    if how == "lerp":
        return max(time - step, 0.0)
    return step / math.expm1(min(step / time, OVERFLOWS)) if time else 0.0


class ChaseFaults:
    """The possible faults of a chase in some frames; also the times of a buffer without a clock."""

    def __init__(self, strategy: StrategySpec, frames: Frames) -> None:
        self.given, self.frames = strategy.settings, frames
        self.settings = compute_used_values(strategy)

    @property
    def time(self) -> float:
        """The time constant of a chase, or its time to the goal (s)."""
        settings = self.settings
        if settings.get("catch_up") == "dequeue":
            return max(float(settings["every"]), self.frames.frame)
        if settings.get("how") in ("interval", None):
            known = settings["interval"] > 0
            return float(settings["interval"]) if known else self.frames.interval
        if settings["how"] == "share" and 0 < settings["share"] < 1:
            return -self.step / math.log1p(-settings["share"])
        if settings["how"] == "force":
            lag = settings["damping"] / max(settings["stiffness"], 1e-9)
            return float(lag) * self.counted
        return convert_to_seconds(settings["time"], self.frames.interval) * self.counted

    @property
    def step(self) -> float:
        """The seconds from one step of a chase to the next."""
        if every := float(self.settings["every"]):
            return every if every > 0 else self.frames.interval
        return self.frames.frame

    @property
    def lag(self) -> float:
        """The seconds that a chase stays behind a goal of constant speed."""
        how = self.settings.get("how", "")
        by_step = how in ("share", "lerp", "exponential")
        return compute_lag(how, self.time, self.step) if by_step else self.time

    @property
    def counted(self) -> float:
        """The seconds that one of those lasts by which the steps of a chase count."""
        step = self.settings.get("step_time", 0.0)
        return self.frames.frame / step if step else 1.0

    @property
    def speed(self) -> float:
        """The speed of a chase at a constant one, or the largest one of another."""
        if self.settings.get("how") != "speed":
            return float(self.settings.get("speed_most", 0.0))
        return float(self.settings["speed"]) / self.counted

    @property
    def values(self) -> dict[str, float | str]:
        """The values for the sentences of its drawbacks."""
        then = "has nearly stopped" if ARRIVED * self.lag < self.frames.interval else "slows down"
        return {**self.figures, "then": then}

    @cached_property
    def figures(self) -> dict[str, float]:
        """The numbers among the values for the sentences."""
        frames = self.frames
        by_stamps = self.settings.get("interval") == MEASURED_INTERVAL.words["stamps"]
        apart = np.diff(frames.stamps if by_stamps else frames.arrivals)
        apart = compute_intervals(apart, self.settings)
        doubled = float((np.diff(np.searchsorted(frames.times, frames.arrivals)) == 0).mean())
        if by_stamps or self.given.get("interval_share"):
            doubled = 0.0
        return {
            "time": self.time, "lag": self.lag, "interval": frames.interval,
            "varies": measure_spread(apart),
            "jitter": measure_spread(frames.arrivals - frames.stamps),
            "doubled": doubled,
            "late": frames.late,
            "missed": frames.missed_turns,
            "speed": self.speed, "pace": frames.usual_speed,
            "fast": frames.high_speed,
            "factor": float(self.settings.get("velocity_factor", 1.0)),
        }  # fmt: skip

    def iterate_causes(self) -> Iterator[str]:
        """Yield the causes that replacing the chase by a buffer mends."""
        settings = self.settings
        how = settings["how"]
        for cause, (key, word) in WORD_CAUSES.items():
            shows = {
                "axes-alone": how == "speed", "predicted-turns": self.frames.missed_turns > MISSED,
            }  # fmt: skip
            if settings[key] == word and shows.get(cause, True):
                yield cause
        if (factor := settings["velocity_factor"]) != 1:
            yield "wrong-velocity" if factor > 0 else "reversed-velocity"
        if settings["every"] > SHORT * self.frames.frame and settings["between"] == "hold":
            yield "ticks"
        by_interval = how == "interval" or (how == "speed" and self.speed < 0)
        if settings["interval"] < 0 and (settings["time"] < 0 or by_interval):
            yield from self._iterate_faults_of_measuring()
        if settings["every"] < 0:
            yield from ("message-time",) * (how in ("lerp", "exponential"))
            yield "packet-jumps" if settings["drift"] else "packet-steps"
        else:
            yield from self._iterate_faults_of_approaching()

    def _iterate_faults_of_approaching(self) -> Iterator[str]:
        """Yield what is wrong with how a chase approaches its goal in each frame or tick."""
        settings = self.settings
        how = settings["how"]
        if how == "growing":
            if self.time < (1 + DIFFERS) * self.frames.interval:
                yield "fed-back"
        elif self.is_at_goal:
            if settings["between"] != "lerp":
                yield "no-smoothing"
        elif how in ("linear", "eased", "hermite", "interval"):
            yield from self._iterate_faults_of_ways()
        elif how == "force" and settings["damping"] < SWINGS * self.critical_damping:
            yield "swings"
        elif how == "speed" and settings["ahead"] != "velocity" and not settings["drift"]:
            if 0 <= FASTER * self.speed < self.figures["fast"] and settings["axes"] == "all":
                yield "falls-behind"
            elif self.speed > FASTER * self.figures["pace"]:
                yield "arrives-and-stands"
        elif how != "speed" and not settings["drift"]:
            if self.speed < self.figures["pace"]:
                yield "limited-speed"
            yield "chase-lag"

    @property
    def is_at_goal(self) -> bool:
        """True if it goes the whole rest in each of its steps."""
        if self.settings["how"] == "speed":
            return False
        whole = self.settings["how"] == "share" and self.settings["share"] == 1
        return whole or self.lag < UNSEEN

    @property
    def critical_damping(self) -> float:
        """The damping with which a spring reaches its goal soonest without passing it."""
        return 2 * math.sqrt(self.settings["stiffness"])

    def _iterate_faults_of_ways(self) -> Iterator[str]:
        """Yield what is wrong with a way that takes a time."""
        settings = self.settings
        if settings["how"] == "eased":
            yield "speed-pulses"
        if settings["how"] == "linear" and settings["overshoot"] > 1:
            yield "passes-goal"
        if settings["start"] == "frame":
            yield "standing-frame"
        if settings["ahead"] == "velocity" or settings["drift"]:  # nothing stands at the goal
            return
        if settings["overlap"] == "on" and self.time > self.frames.interval:
            yield "added-ways"
        elif is_unlike_interval(self.time, self.frames):
            yield "early-arrival" if self.time < self.frames.interval else "wrong-interval"
        elif self.figures["jitter"] > LEAST_JITTER * self.frames.interval:
            yield "no-margin"

    def _iterate_faults_of_measuring(self) -> Iterator[str]:
        """Yield what is wrong with an interval that the last two packets tell."""
        values = self.figures
        if values["varies"] > LEAST_JITTER * values["interval"]:
            yield "measured-interval"
        if values["doubled"]:
            yield "two-in-a-frame"

    def iterate_changes(self) -> Iterator[tuple[str, StrategySpec]]:
        """Yield causes that one change of the chase mends, and the changed chase."""
        given = dict(self.given)
        for cause in self.iterate_causes():
            if cause in MENDING_CHANGES:
                changed = {**given, **MENDING_CHANGES[cause]}
                changed = {key: value for key, value in changed.items() if value is not None}
                yield cause, StrategySpec("chase", changed)
            elif cause == "swings":
                changed = {**given, "damping": round_to_three_digits(self.critical_damping)}
                yield cause, StrategySpec("chase", changed)
            elif cause in ("early-arrival", "wrong-interval"):
                lasts = round_to_three_digits(self.frames.interval / self.counted)
                changed = {**given, "time": lasts}
                if given["how"] == "interval":  # which is measured
                    changed = {key: given[key] for key in given if key not in ("time", "interval")}
                yield cause, StrategySpec("chase", changed)

    def find_frame_rate_fault(
        self, recording: TrialRecording
    ) -> tuple[Mapping[str, float | str], RemedyTrial] | None:
        """Return the lags (s) on a slow and a fast screen, and the remedy with the same on both.

        None for a chase that moves by time, or whose lags are about equal.
        """
        even = make_even_chase(self.given, self.settings, self.time, self.counted)
        if even is None:
            return None
        return compare_frame_rates(recording, StrategySpec("chase", self.given), even)


def measure_spread(times: Floats) -> float:
    """Return the distance of the times' 5 % and 95 % (s)."""
    return round(float(np.ptp(np.quantile(times, (0.05, 0.95)))), 6)
