"""Words for buffers and queues."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from epic_cli.jobs.diagnose.mechanism.compositions import CLOCKLESS, draws_last_two_states
from epic_cli.jobs.diagnose.mechanism.supply import convert_to_seconds
from epic_cli.jobs.diagnose.remedies.buffer_faults import FEW_STATES, GUESSES
from epic_cli.jobs.diagnose.report.parts import (
    BEGINS,
    MEASURED,
    describe_interval,
    write_habits,
)
from epic_cli.metrics.digits import format_seconds, format_share

if TYPE_CHECKING:
    from epic_cli.jobs.diagnose.mechanism import Mechanism
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
_CURVES = {
    "linear": "in straight lines",
    "hermite": "on curves by the packets' velocities",
    "catmull-rom": "on curves through the packets",
    "hold": "each state until the next",
}
#: A curve by velocities that the packets do not carry.
BY_SLOPES = "on curves by the slopes between the states"
_JITTERS = {
    "lateness": "the jitter",
    "arrivals": "the deviation of the times between arrivals",
    "intervals": "the mean unevenness of the arrivals",
    "stamps": "the mean unevenness of the stamps",
    "changes": "the mean change of the latency from packet to packet",
    "spread": "the spread of the latency",
}
_TIMES = {
    "wait": "",
    "stop": ", by a time that stops where it is while the buffer is empty",
    "run": ", by a time that runs on while the buffer is empty",
}
_FOLLOWS = {
    "exponential": "behind a low-pass of {time}",
    "lerp": "behind a step of frame / {time} of the rest in each frame",
    "share": "behind a step of {share} of the rest in each frame",
    "spring": "behind a spring (SmoothDamp) of {time}",
    "speed": "behind a step of {speed:g} a second at most",
}


#: A buffer that is empty in more of the frames was made to predict.
MOSTLY_EMPTY = 0.3

#: What a buffer with ``beyond=repeat`` has for a time.
REPEAT = -2005.0

#: What buffers with ``beyond=freeze`` and ``beyond=chase`` have for a time.
FREEZES, CHASES = -2001.0, -2004.0

#: What a buffer does that does not go on beyond its newest state.
EMPTY = {
    0.0: "holds",
    FREEZES: "freezes what was drawn last",
    -2002.0: "goes back to the oldest state",
    -2003.0: "holds the newest state, from which it goes on to the next,",
    CHASES: "goes {share} of the rest to the newest state in each frame",
    -2005.0: "goes the last frame's way again",
}


def _describe_clock(settings: Mapping[str, Any]) -> str:
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


def _find_interval(settings: Mapping[str, Any], found: Mechanism) -> float:
    """Return the interval that a buffer counts (s): its own, or that of the packets."""
    own = float(settings["interval"])
    return own if own > 0 else found.interval


def _describe_empty(settings: Mapping[str, Any], beyond: float, supply: Supply | None) -> str:
    """Return what a buffer does beyond its newest state, and in how many of the frames."""
    frames = ""
    if supply is not None and supply.empty > 0:
        short = beyond > 0 and supply.empty > MOSTLY_EMPTY
        means = ", as a delay this short means" if short else ""
        frames = f" ({min(supply.empty * 100, 99):.2g} % of the frames{means})"
    if beyond <= 0:
        share = format_share(settings["beyond_share"])
        if lerp := settings["beyond_lerp"]:
            share = f"frame / {format_seconds(lerp)}"
        if beyond == CHASES and share == format_share(0):  # it goes nowhere
            beyond = FREEZES
        return f"{EMPTY[beyond].format(share=share)} when the buffer is empty{frames}"
    far = "goes on" if math.isinf(beyond) else f"goes on for at most {format_seconds(beyond)}"
    return f"{far} when the buffer is empty{frames}"


def describe_buffer(settings: dict[str, Any], found: Mechanism) -> str:
    """Return what a buffer or a queue does, as the end of a sentence that begins with "It"."""
    stamps, supply = _describe_clock(settings), found.supply
    interval = _find_interval(settings, found)
    beyond = settings["beyond"]
    beyond = beyond if beyond in EMPTY else convert_to_seconds(beyond, interval)
    after = _describe_empty(settings, beyond, supply)
    delay = settings["delay"]
    follows = _follows(settings) and settings["catch_up"] != "waypoints"
    behind = f", {_describe_follower(settings)}" if follows else ""
    if beyond > 0 and supply is not None and supply.empty > GUESSES:
        far = "" if math.isinf(beyond) else f", for at most {format_seconds(beyond)}"
        return f"predicts from the newest state, {stamps}{far}{behind}"
    late = format_seconds(convert_to_seconds(delay, interval))
    if delay < 0:
        measured = settings["interval"] in MEASURED
        unit = describe_interval(settings) if measured else "the send interval"
        late = f"{-delay:g} x {unit} ({late})"
    if margin := settings["jitter_margin"]:
        late += f" and {margin:.3g} x {_JITTERS[settings['jitter']]}{_describe_window(settings)}"
        rise, fall = settings["delay_rise"], settings["delay_fall"]
        if rise == fall < 1:
            late += f", of a change of which each packet takes over {format_share(fall)},"
        elif rise < 1:
            late += f", of an increase of which each packet takes over {format_share(rise)},"
        elif fall < 1:
            late += f", of a decrease of which each packet takes over {format_share(fall)},"
    few = settings["keep"] < FEW_STATES
    buffer = f"a buffer of the last {settings['keep']:g} states," if few else "a buffer"
    curve = _CURVES["hold" if settings["between"] == "hold" else settings["curve"]]
    if curve == _CURVES["hermite"] and not found.has_velocities:
        curve = BY_SLOPES
    if draws_last_two_states(settings, found.interval):
        own = settings["interval"]
        over = describe_interval(settings) if own in MEASURED else format_seconds(interval)
        return (
            f"goes from the last state but one to the newest {curve}, over {over} from"
            f" {BEGINS.get(settings['start'], 'each arrival')}, and {after}"
            f"{behind}{write_habits(settings)}"
        )
    if settings["catch_up"] in CLOCKLESS:
        return f"{_describe_clockless(settings, found, curve)}{behind}{write_habits(settings)}"
    behind_what = _BEHIND[settings["delay_from"]]
    if supply is not None and supply.apart and settings["delay_from"] == "clock":
        behind_what = "behind them by clocks that differ"
    return (
        f"draws from {buffer} {stamps}, {late} {behind_what},"
        f" {curve}, and {after}{_describe_time(settings)}{behind}{write_habits(settings)}"
    )


#: What a buffer is late by, in words that go after the delay.
_BEHIND = {"clock": "late", "newest": "behind the newest state"}


def _describe_window(settings: Mapping[str, Any]) -> str:
    """Return over which packets the jitter is measured, if its measure has a window."""
    if count := settings["jitter_count"]:
        return f" of the last {count:g} packets"
    if settings["jitter"] == "spread":
        return f" over {format_seconds(settings['jitter_time'])}"
    return ""


def _follows(settings: Mapping[str, Any]) -> bool:
    """Return True if what is drawn follows the buffer."""
    return bool(settings["low_pass"] or settings["follow"] in ("share", "speed"))


def _describe_follower(settings: Mapping[str, Any]) -> str:
    """Return how what is drawn follows the buffer."""
    return _FOLLOWS[settings["follow"]].format(
        time=format_seconds(settings["low_pass"]),
        share=format_share(settings["follow_share"]),
        speed=settings["follow_speed"],
    )


def _describe_time(settings: Mapping[str, Any]) -> str:
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
    return catch_up


def _describe_clockless(settings: Mapping[str, Any], found: Mechanism, curve: str) -> str:
    """Return what a queue, or a buffer with a timer of its own, does."""
    period = format_seconds(_find_interval(settings, found))
    left = f" while more than {settings['reserve']:g} wait" if settings["reserve"] else ""
    pace = _describe_follower(settings).replace("behind a step of", "by")
    moment = "tick" if settings["every"] > 0 else "frame"
    most = settings["keep"] - 1
    drops = f"drops the oldest where more than {most:g} wait"
    catches_up = drops if most < FEW_STATES else "never catches up"
    if most := settings["max_buffer"]:
        catches_up = f"drops the oldest where more than {most:g} wait"
    if settings["beyond"] == REPEAT:
        catches_up += f", and {EMPTY[REPEAT]} when it is empty"
    return {
        "dequeue": f"takes a state of a queue in each {moment}{left}, and {catches_up}",
        "waypoints": f"goes to each received state in turn, {pace}, and to"
        f" the next one within {settings['waypoint_reach']:g} of it{_describe_hurry(settings)}",
        "clamp": f"draws from the last {settings['keep']:g} states {_describe_clock(settings)},"
        f" {curve}, by a time of its own that stays between them",
        "queue": f"plays a queue of states {curve}, one each {period}{left}, and {catches_up}",
        "timed-queue": f"plays a queue of states {curve}, one each {period} by a timer of its own"
        f"{left}, over the same way again where no other waits, and {catches_up}",
        "fill": f"goes from each received state to the next {curve}, at"
        f" {format_share(settings['pace'])} of the pace at which they were sent, and"
        f" {format_share(settings['catch_up_rate'])} faster for each that waits behind the next"
        f"{_count_states(settings['catch_up_from'])}{_describe_refill(settings)}"
        f"{_STILL[settings['still']]}",
        "timer": f"goes over the newest interval {curve}, by a timer of its own that begins again"
        f" each {period}, not at packets",
    }[settings["catch_up"]]


def _describe_hurry(settings: Mapping[str, Any]) -> str:
    """Return how much faster a queue of waypoints is played while many wait."""
    rate, most = settings["catch_up_rate"], settings["catch_up_from"]
    return f", {format_share(rate)} faster while more than {most:g} wait" if rate else ""


_STILL = {"play": "", "skip": "; ways without movement take no time"}


def _describe_refill(settings: Mapping[str, Any]) -> str:
    """Return how many states must wait before an empty queue goes on, if it is not one."""
    least = settings["min_buffer"]
    return f", and goes on from the newest when {least:g} wait" if least > 1 else ""


def _count_states(count: float) -> str:
    """Return how many states, if it is not one."""
    return "" if count == 1 else f" {count:g}"
