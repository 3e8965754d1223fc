"""The faults of a buffer other than its delay, and the fix of each."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.engine.strategies.parts.common_settings import MEASURED_INTERVAL
from epic_cli.jobs.diagnose.mechanism.compositions import (
    draws_last_two_states,
    takes_late_packets,
)
from epic_cli.jobs.diagnose.mechanism.measured_intervals import compute_intervals
from epic_cli.jobs.diagnose.mechanism.supply import convert_to_seconds
from epic_cli.jobs.diagnose.remedies.chase_changes import MENDING_CHANGES
from epic_cli.jobs.diagnose.remedies.chases import (
    LEAST_JITTER,
    compute_lag,
    is_unlike_interval,
    measure_spread,
)
from epic_cli.jobs.diagnose.remedies.frame_rates import compare_frame_rates
from epic_cli.jobs.diagnose.remedies.trials import DrawingTrials
from epic_cli.jobs.diagnose.settings import compute_used_values

if TYPE_CHECKING:
    from epic_cli.jobs.diagnose.mechanism import Mechanism
    from epic_cli.jobs.diagnose.remedies import RemedyTrial
    from epic_cli.jobs.diagnose.remedies.metrics import MeasuredFrames
    from epic_cli.jobs.diagnose.remedies.recording import TrialRecording

#: A buffer that goes on past the newest state in more of the frames is a predictor.
GUESSES = 0.9

#: A delay that grows by less (s) does not.
GROWS = 0.01

#: A buffer that keeps fewer states may be short of them.
FEW_STATES = 10

#: A buffer that forgets states that are as many intervals older than what it draws, or fewer, lacks
#: the state before at a loss.
FORGETS = 3.0

#: Frames that are as much shorter than the send interval show what is drawn between two states.
SEEN = 1.5

#: The settings of a smoothing on top of a buffer.
SMOOTHING = ("low_pass", "follow", "follow_share", "follow_speed")

#: Seconds; a clock that wanders less is steady.
STEADY = 5e-4


class BufferFaults:
    """The possible faults of a buffer, and the fix of each.

    ``base`` is what is measured without a smoothing on top of it.
    """

    def __init__(
        self, found: Mechanism, trials: DrawingTrials, base: MeasuredFrames | None
    ) -> None:
        self.given, self.trials, self.base = found.strategy.settings, trials, base
        self.frames, self.supply = trials.frames, found.supply
        self.settings = compute_used_values(found.strategy)
        self.is_last_two = draws_last_two_states(self.settings, self.frames.interval)

    @property
    def smoothing(self) -> float:
        """The lag (s) that the smoothing on top of the buffer adds; 0: there is none."""
        frame, share = self.frames.frame, float(self.settings["follow_share"])
        if self.settings["follow"] == "share" and 0 < share < 1:
            return (1 - share) / share * frame
        return compute_lag(self.settings["follow"], float(self.settings["low_pass"]), frame)

    def iterate_fixes(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield possible faults other than clock and delay, and their fixes."""
        settings, supply = self.settings, self.supply
        if takes_late_packets(settings):
            yield "late-as-new", {"late": None}
        if settings["every"] > 0:
            yield "ticks", dict.fromkeys(("every", "phase", "tick_time"))
        if settings["every"] < 0:
            yield "packet-steps", {"every": None}
        # in frames as seldom as packets, nothing is to be seen between states
        if settings["between"] == "hold" and self.frames.interval > SEEN * self.frames.frame:
            yield "state-steps", {"between": None}
        if settings["reserve"] and settings["catch_up"] == "snap":
            yield "spare-states", {"reserve": None}
        if self.smoothing and settings["catch_up"] != "waypoints":
            yield "low-pass", dict.fromkeys(SMOOTHING)
        if settings["catch_up"] == "none" and (supply is None or np.diff(supply.grown) > GROWS):
            yield "growing-delay", {"catch_up": "rate"}
        if settings["stamps"] == "ticks" and self._counts_wrongly:
            yield self.name_wrong_constant(), {"interval": None}
        if self.varies > LEAST_JITTER * self.frames.interval:
            yield "measured-interval", {**MENDING_CHANGES["measured-interval"]}
        if self.given.get("beyond") == "oldest" and supply is not None and supply.empty > 0:
            yield "oldest-state", {"beyond": None, "keep": None}
        yield from self._iterate_lacking_states()
        if settings["beyond"] > 0.3 and supply is not None and supply.empty < GUESSES:
            yield "long-extrapolation", {"beyond": 0.1, "beyond_then": None}

    def _iterate_lacking_states(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield possible faults of a buffer that keeps too few states, and their fixes."""
        settings = self.settings
        if settings["keep"] < FEW_STATES and self.given.get("beyond") != "oldest":
            yield "few-states", {"keep": None, "before": None}
        delay = convert_to_seconds(settings["delay"], self.frames.interval)
        if 0 < settings["forget"] < delay + FORGETS * self.frames.interval:
            yield "forgotten-states", dict.fromkeys(("forget", "forget_keeps"))

    def find_frame_rate_fault(
        self, recording: TrialRecording
    ) -> tuple[Mapping[str, float | str], RemedyTrial] | None:
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

    @property
    def is_steady(self) -> bool:
        """True if the clock wanders little, but for a drift."""
        return self.supply is not None and self.supply.unsteady < STEADY

    @property
    def ignores_drift(self) -> bool:
        """True if clocks run apart, and its own does not follow: its delay changes all the time."""
        settings = self.settings
        session = settings["clock_time"] == math.inf and not (
            settings["clock_count"] or settings["clock_share"]
        )
        keeps = settings["clock"] in ("agree", "first") or (
            session and settings["clock"] in ("min", "mean", "median", "max")
        )
        return bool(self.trials.recording.drift) and settings["stamps"] == "sender" and keeps

    @property
    def varies(self) -> float:
        """Return the spread of the times between the last two packets, if they are the delay."""
        settings = self.settings
        measures = settings["interval"] <= -1 and settings["interval_count"] == 1
        if not measures or settings["delay"] >= 0:
            return 0.0
        by_stamps = settings["interval"] == MEASURED_INTERVAL.words["stamps"]
        apart = np.diff(self.frames.stamps if by_stamps else self.frames.arrivals)
        return measure_spread(compute_intervals(apart, settings))

    @property
    def _counts_wrongly(self) -> bool:
        """True if the interval is a constant, and another than that of the packets."""
        given = self.settings["interval"]
        return given > 0 and is_unlike_interval(given, self.frames)

    def name_wrong_constant(self) -> str:
        """Return the cause of an interval that is not that of the packets."""
        if not self.is_last_two or self.settings["beyond"] > 0:
            return "wrong-constant"
        early = self.settings["interval"] < self.frames.interval
        return "early-arrival" if early else "wrong-interval"

    def name_clock_fault(self) -> str:
        """Return the cause that a steady clock over the sender's stamps mends."""
        if self.is_last_two:
            return self.name_wrong_constant() if self._counts_wrongly else "no-margin"
        drifts = self.trials.recording.drift and self.is_steady
        wrong = {"arrival": "arrival-stamps", "ticks": "counted-ticks"}
        return wrong.get(
            self.settings["stamps"], "unfollowed-drift" if drifts else "wandering-clock"
        )
