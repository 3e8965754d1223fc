"""Words for the clock of a buffer, its delay, and the time that it draws."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from epic_cli.jobs.diagnose.mechanism.supply import convert_to_seconds
from epic_cli.jobs.diagnose.report.parts import MEASURED, describe_interval
from epic_cli.metrics.digits import format_seconds, format_share

if TYPE_CHECKING:
    from epic_cli.jobs.diagnose.mechanism.supply import Supply

#: The clocks of a buffer, in words that go after "by the sender's stamps".
_CLOCKS = {
    "agree": "",
    "first": ", with the clock offset of the first packet",
    "newest": ", with the clock offset of the newest packet",
    "min": ", with the clock offset of the fastest packet of {time}",
    "max": ", with the clock offset of the slowest packet of {time}",
    "mean": ", with the mean clock offset of {time}",
    "median": ", with the median clock offset of {time}",
    "pll": ", with a clock offset that a control loop follows",
}
_JITTERS = {
    "lateness": "the jitter",
    "arrivals": "the deviation of the times between arrivals",
    "intervals": "the mean unevenness of the arrivals",
    "stamps": "the mean unevenness of the stamps",
    "changes": "the mean change of the latency from packet to packet",
    "spread": "the spread of the latency",
    "longest": "the longest time between arrivals",
}
_TIMES = {
    "wait": "",
    "stop": ", by a time that stops where it is while the buffer is empty",
    "run": ", by a time that runs on while the buffer is empty",
}
#: A longer limit of the delay (s) is none.
LONGEST = 60.0
#: What a buffer is late by, in words that go after the delay.
_BEHIND = {"clock": "late", "newest": "behind the newest state"}


def describe_clock(settings: Mapping[str, Any]) -> str:
    """Return by which clock a buffer draws, as the end of a sentence."""
    over, count = settings["clock_time"], settings["clock_count"]
    time = "the whole session" if math.isinf(over) else f"the last {format_seconds(over)}"
    time = f"the last {count:g} packets" if count else time
    clock = _CLOCKS[settings["clock"]].format(time=time)
    if settings["clock"] == "mean" and settings["clock_share"]:
        part = format_share(settings["clock_share"])
        clock = f", with a mean clock offset that each packet moves by {part}"
    if settings["start"] == "last":
        clock += ", counted from the frame before each packet"
    return {
        "sender": f"by the sender's stamps{clock}",
        "arrival": "over arrival times",
        "ticks": f"over a count of ticks{clock}",
    }[settings["stamps"]]


def describe_delay(settings: Mapping[str, Any], interval: float, supply: Supply | None) -> str:
    """Return how late a buffer draws, behind what, and how its delay changes."""
    delay = settings["delay"]
    late = format_seconds(convert_to_seconds(delay, interval))
    if delay < 0:
        measured = settings["interval"] in MEASURED
        unit = describe_interval(settings) if measured else "the send interval"
        late = f"{-delay:g} x {unit} ({late})"
    behind = _BEHIND[settings["delay_from"]]
    if supply is not None and supply.apart and settings["delay_from"] == "clock":
        behind = "behind them by clocks that differ"
    return f"{late}{_describe_margin(settings)}{_describe_limits(settings, interval)} {behind}"


def _describe_margin(settings: Mapping[str, Any]) -> str:
    """Return what a buffer adds to its delay for the jitter, if it does."""
    if not (margin := settings["jitter_margin"]):
        return ""
    words = f" and {margin:.3g} x {_JITTERS[settings['jitter']]}{_describe_window(settings)}"
    rise, fall = settings["delay_rise"], settings["delay_fall"]
    if rise == fall < 1:
        words += f", of a change of which each packet takes over {format_share(fall)},"
    elif rise < 1:
        words += f", of an increase of which each packet takes over {format_share(rise)},"
    elif fall < 1:
        words += f", of a decrease of which each packet takes over {format_share(fall)},"
    return words


def _describe_limits(settings: Mapping[str, Any], interval: float) -> str:
    """Return between which times the delay stays, if it changes."""
    if not settings["jitter_margin"]:
        return ""
    least, most = (
        convert_to_seconds(settings[key], interval) for key in ("delay_least", "delay_most")
    )
    limits = [f"at least {format_seconds(least)}"] if least > 0 else []
    limits += [f"at most {format_seconds(most)}"] if most < LONGEST else []
    return f" ({', '.join(limits)})" if limits else ""


def _describe_window(settings: Mapping[str, Any]) -> str:
    """Return over which packets the jitter is measured, if its measure has a window."""
    if count := settings["jitter_count"]:
        return f" of the last {count:g} packets"
    if settings["jitter"] in ("spread", "longest"):
        return f" over {format_seconds(settings['jitter_time'])}"
    return ""


def describe_drawn_time(settings: Mapping[str, Any]) -> str:
    """Return how the drawn time goes on, where it is not that of the clock."""
    faster, near = format_share(settings["catch_up_rate"]), settings["catch_up_near"]
    outside = f" by more than {format_seconds(near)}" if near else ""
    catch_up = {
        "none": ", and never catches up after a hitch",
        "rate": f", and plays {faster} faster or slower to catch up{outside}",
        "share": f", by a time that catches up by {faster} of its error in each frame{outside}",
        "lerp": f", by a time that catches up by {faster} of its error a second{outside}",
    }.get(settings["catch_up"], "")
    if settings["catch_up"] in ("share", "lerp") and (most := settings["catch_up_most"]):
        catch_up += f", at most {format_share(most)} faster or slower"
    if settings["catch_up"] == "none" and (limit := settings["catch_up_limit"]):
        catch_up = f", by a time of its own that is set at a packet {format_seconds(limit)} off"
    if settings["catch_up"] in ("none", "rate"):
        catch_up += _TIMES[settings["when_empty"]]
    if settings["reserve"] and settings["catch_up"] in ("snap", "none"):
        few = settings["reserve"]
        lacking = "no other state waits" if few == 1 else f"fewer than {few:g} others wait"
        catch_up += f", and stands while {lacking} behind the next"
    if (reach := settings["reserve_time"]) and settings["catch_up"] == "none":
        catch_up += f", and stands while the states reach less than {format_seconds(reach)} past"
        catch_up += " the one it comes from"
    return catch_up
