"""Compare how late drawings are on a slow and on a fast screen."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.jobs.diagnose.remedies import RemedyTrial, write_option
from epic_cli.jobs.diagnose.remedies.recording import TrialRecording
from epic_cli.jobs.diagnose.settings import round_to_three_digits
from epic_cli.metrics.digits import format_seconds
from epic_cli.network.link import are_clocks_apart

#: Frame rates (Hz) of slow and of fast screens, and the least difference of their lags (s).
SCREENS, UNLIKE = (30.0, 144.0), 0.03

#: Powers of the time in the numbers of a chase.
POWERS = (("time", 1), ("stiffness", -2), ("damping", -1), ("speed", -1))


def make_even_chase(
    given: Mapping[str, Any], settings: Mapping[str, Any], time: float, counted: float
) -> StrategySpec | None:
    """Return the chase that moves by time where the ``given`` one moves by frames.

    ``settings`` are all of its settings, ``time`` its time constant (s), ``counted`` the seconds of
    a unit by which its steps count. None for a chase that moves by time.
    """
    shares = settings["how"] == "share" and settings["share"] < 1
    if not (shares or settings["step_time"]) or settings["every"]:
        return None
    even = {key: value for key, value in given.items() if key != "step_time"}
    if shares:
        del even["share"]
        even |= {"how": "exponential", "time": float(f"{time:.2g}")}
    else:
        for key, power in POWERS:
            if key in given:
                even[key] = round_to_three_digits(settings[key] * counted**power)
    return StrategySpec("chase", even)


def compare_frame_rates(
    recording: TrialRecording, own: StrategySpec, even: StrategySpec
) -> tuple[Mapping[str, float | str], RemedyTrial] | None:
    """Return the lags (s) of ``own`` on a slow and a fast screen, and the trial of ``even``.

    None if they are about equal, or those of the other are not.
    """
    slow, fast = _measure_lags(recording, own)
    after = _measure_lags(recording, even)
    if not slow - fast > UNLIKE or not abs(after[0] - after[1]) < 0.5 * (slow - fast):
        return None
    low, high = SCREENS
    lags = f"{format_seconds(slow)} late at {low:g} frames a second, and {format_seconds(fast)} at"
    lags = f"{lags} {high:g}"
    if are_clocks_apart(recording.usual_delay):  # how late each is, is not known
        lags = f"{format_seconds(slow - fast)} later at {low:g} frames a second than at {high:g}"
    return {"slow": slow, "fast": fast, "lags": lags}, RemedyTrial(
        write_option(even), "lag_by_frame_rate", slow - fast, abs(after[0] - after[1])
    )


def _measure_lags(recording: TrialRecording, spec: StrategySpec) -> list[float]:
    """Measure a composition's lags on a slow and a fast screen (s), without clocks that differ."""
    times, found = recording.times, []
    for rate in SCREENS:
        screen = np.arange(times[0], min(times[-1], times[0] + 20), 1 / rate)
        by_frame = recording.redraw.by_frame
        one = TrialRecording(recording.packets, screen, spec, by_frame=by_frame)
        found.append(math.nan if one.before is None else one.before.lag)
    apart = recording.usual_delay if are_clocks_apart(recording.usual_delay) else 0.0
    return [lag - apart for lag in found]
