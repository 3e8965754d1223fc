"""Write a result with as few settings and digits as leave its error as small."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from epic_cli.jobs.diagnose.comparison import MUCH_WORSE
from epic_cli.jobs.diagnose.fitted import FittedStrategy
from epic_cli.jobs.diagnose.mechanism.compositions import (
    NEEDED,
    draws_last_two_states,
    measure_description_length,
)
from epic_cli.jobs.diagnose.mechanism.measured_intervals import LEAST_PERIOD
from epic_cli.jobs.diagnose.mechanism.variants import SPANS
from epic_cli.jobs.diagnose.settings import compute_used_values

if TYPE_CHECKING:
    from epic_cli.jobs.diagnose.comparison import FrameComparison
    from epic_cli.jobs.diagnose.mechanism.variants import Variants


#: A time that catches up at a lower rate never does; an interval within such bounds is a constant.
SLOWEST, NARROW = 1e-3, 1.05

#: A share of an error that is all of it.
WHOLE = 0.9

#: The settings of a buffer whose clocks agree.
AGREEING: dict[str, Any] = dict.fromkeys(("clock", "clock_resync"))

#: The most packets that a clock may be of.
MOST_COUNTED = 1024


def simplify(
    found: FittedStrategy, comparison: FrameComparison, variants: Variants
) -> FittedStrategy:
    """Return a result without settings that change nothing, with few digits."""
    best = found
    for key in found.candidate.settings:
        for changes in _list_simpler_settings(best, key, variants.frames.interval):
            without = FittedStrategy(variants.change(best.candidate, changes))
            without = comparison.fit(without, 4)
            blur = variants.rounded_stamps if key == "stamps" else 0.0
            rounded = without.residual <= math.hypot(found.residual, blur)
            if rounded or comparison.is_as_good(without, found):
                best = without
                break
    best = count_packets(comparison.shorten_numbers(best), comparison, variants.frames.interval)
    best = _take_agreeing_clocks(best, comparison, variants)
    spans = comparison.shorten_numbers(variants.write_in_intervals(best))
    shorter = (
        measure_description_length(spans.candidate)[0]
        < measure_description_length(best.candidate)[0] - 1
    )
    if spans.residual <= comparison.exact and best.residual > MUCH_WORSE * comparison.exact:
        return spans
    return spans if shorter and comparison.is_as_good(spans, found) else best


def _take_agreeing_clocks(
    found: FittedStrategy, comparison: FrameComparison, variants: Variants
) -> FittedStrategy:
    """Return a buffer by the stamps as they are, not by the first packet's, if that is shorter."""
    if found.candidate.settings.get("clock") != "first" or variants.frames.clock_offset:
        return found
    agreed = comparison.fit(FittedStrategy(variants.change(found.candidate, AGREEING)), 4)
    agreed = comparison.shorten_numbers(agreed)
    lengths = [measure_description_length(each.candidate)[0] for each in (agreed, found)]
    return agreed if lengths[0] < lengths[1] and comparison.is_as_good(agreed, found) else found


def count_packets(
    found: FittedStrategy, comparison: FrameComparison, usual: float
) -> FittedStrategy:
    """Return a result with a clock of some packets instead of seconds, if that is shorter.

    ``usual`` is the packets' interval (s).
    """
    time = found.candidate.settings.get("clock_time")
    if not isinstance(time, float) or math.isinf(time):
        return found
    count = math.floor(time / usual) + 1
    if count > MOST_COUNTED:
        return found
    counted = found.change({"clock_time": None, "clock_count": count})
    shorter = measure_description_length(counted.candidate) < measure_description_length(
        found.candidate
    )
    counted = comparison.measure_error(counted) if shorter else found
    return counted if comparison.is_as_good(counted, found) else found


def _list_simpler_settings(found: FittedStrategy, key: str, usual: float) -> list[dict[str, Any]]:
    """Return what may stand in the place of a setting; None restores a default.

    ``usual`` is the packets' interval (s).
    """
    settings = found.candidate.settings
    value = settings.get(key)
    if value is None:
        return []
    ways: list[dict[str, Any]] = [] if key in NEEDED else [{key: None}]
    if key == "beyond":  # a limit that these frames do not show
        ways.append({key: "unlimited"})
    if key in SPANS and isinstance(value, str):  # for which the interval may be of no account
        ways.append({key: float(value.rstrip("i")) * usual})
    if key == "interval" and isinstance(value, float):
        spans = {name: settings[name] for name in SPANS if isinstance(settings.get(name), str)}
        seconds = {name: float(span.rstrip("i")) * value for name, span in spans.items()}
        ways.append({key: None, **seconds})
    bounds = settings.get("interval_least", LEAST_PERIOD), settings.get("interval_most", math.inf)
    if key == "interval" and isinstance(value, str) and bounds[1] < NARROW * bounds[0]:
        ways.append({key: bounds[1], "interval_least": None, "interval_most": None})
    if key == "catch_up" and value == "none":  # what follows its clock by hitches may have none
        ways.append({key: None, "clock": "first", "clock_time": None, "clock_share": None})
    if key == "catch_up_most" and float(settings.get("catch_up_rate", 0.0)) > WHOLE:
        # all of the error, up to a speed, is that speed
        rate = {"catch_up": "rate", "catch_up_rate": value, "when_empty": "run"}
        ways.append({key: None, **rate})
    if key == "catch_up_rate" and isinstance(value, float) and value < SLOWEST:
        ways.append({key: None, "catch_up": "none"})
    # unless losses show that ticks are counted; from the last state to the newest, they are
    if key == "stamps" and value == "ticks":
        used = compute_used_values(found.candidate)
        ways += [{key: None}] * (not draws_last_two_states(used, usual))
    if key == "time":  # what is that quick is not smoothed
        ways.append({key: None, "how": "share", "share": 1.0})
    if key == "clock_time":  # a mean over less than an interval
        ways.append({key: None, "clock": "newest"})
    if key in ("delay_least", "delay_most"):
        ways.append({key: None, "delay": value})
    return ways
