"""Words for the parts of compositions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from epic_cli.jobs.diagnose.mechanism.compositions import (
    CLOCKLESS,
    draws_last_two_states,
    takes_late_packets,
)
from epic_cli.jobs.diagnose.mechanism.measured_intervals import LEAST_PERIOD, STAYS
from epic_cli.jobs.diagnose.mechanism.supply import convert_to_seconds
from epic_cli.jobs.diagnose.remedies.buffers import FEW_STATES, GUESSES
from epic_cli.jobs.diagnose.remedies.settings import compute_used_values
from epic_cli.metrics.digits import format_seconds, format_share

if TYPE_CHECKING:
    from epic_cli.jobs.diagnose.mechanism import Mechanism

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
_APPROACHES = {
    "exponential": "exponentially, with a time constant of {time}",
    "lerp": "by frame / {time} of the rest in each frame",
    "share": "by {share} of the rest in each frame",
    "spring": "as a spring (SmoothDamp) of {time}",
    "speed": "at {speed} a second",
    "interval": "within one send interval",
    "linear": "in a straight line over {time} from {begin}",
    "eased": "eased ({ease}) over {time} from {begin}",
    "growing": "by a share of the rest that grows from 0 to 1 over {time} from {begin}",
}
_BEGINS = {
    "last": "the frame before each arrival",
    "frame": "the frame after each arrival",
}
_AHEAD = {
    "newest": "the newest state",
    "velocity": "the newest state, predicted to now by its velocity,",
    "arrival": "the newest state, predicted by its velocity to when it arrived,",
    "step": "the newest state, predicted by its last step to when it arrived,",
    "interval": "the newest state, predicted by its velocity for one interval,",
    "fixed": "the newest state, predicted by its velocity for {ahead_time},",
}
_JITTERS = {
    "lateness": "the jitter",
    "intervals": "the mean unevenness of the arrivals",
}
_MEASURED = {
    -1.0: "the time between the last two packets",
    -2.0: "the time between the frames that took the last two packets",
    -3.0: "the time between the last two timestamps",
}
#: Limits of a measured interval, without those that limit nothing.
_LIMITS = {
    "interval_least": "at least {}",
    "interval_most": "at most {}",
    "interval_late": "{} at a late packet",
}
_FOLLOWS = {
    "exponential": "behind a low-pass of {time}",
    "lerp": "behind a step of frame / {time} of the rest in each frame",
    "share": "behind a step of {share} of the rest in each frame",
    "spring": "behind a spring (SmoothDamp) of {time}",
}


def describe_composition(found: Mechanism) -> str:
    """Return what a composition does, as the end of a sentence that begins with "It"."""
    settings = compute_used_values(found.strategy)
    describe = _describe_buffer if found.strategy.name == "buffer" else _describe_chase
    return describe(settings, found)


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


def _describe_interval(settings: Mapping[str, Any]) -> str:
    """Return how the send interval is measured, or its length (s)."""
    interval = settings["interval"]
    if interval not in _MEASURED:
        return format_seconds(interval)
    found, several = _MEASURED[interval], settings.get("interval_count", 1)
    if several > 1:
        found = f"the mean of {found.replace('two', f'{several + 1:g}')}"
    if (share := settings.get("interval_share", 1.0)) < 1:
        found = f"a mean of {found}, {format_share(share)} of it new with each packet,"
    shown = {key: settings.get(key, 0.0) for key in _LIMITS}
    limits = [_LIMITS[key].format(format_seconds(limit)) for key, limit in shown.items()
              if LEAST_PERIOD < limit < STAYS]  # fmt: skip
    if shown["interval_late"] >= STAYS:
        limits.append("it stays where it is at a late packet")
    return f"{found} ({', '.join(limits)})" if limits else found


def _find_interval(settings: Mapping[str, Any], found: Mechanism) -> float:
    """Return the interval that a buffer counts (s): its own, or that of the packets."""
    own = float(settings["interval"])
    return own if own > 0 else found.interval


def _describe_buffer(settings: dict[str, Any], found: Mechanism) -> str:
    stamps, supply = _describe_clock(settings), found.supply
    interval = _find_interval(settings, found)
    beyond = settings["beyond"]
    beyond = beyond if beyond in EMPTY else convert_to_seconds(beyond, interval)
    frames = ""
    if supply is not None and supply.empty > 0:
        frames = f" ({min(supply.empty * 100, 99):.2g} % of the frames)"
    if beyond <= 0:
        share = format_share(settings["beyond_share"])
        after = f"{EMPTY[beyond].format(share=share)} when the buffer is empty{frames}"
    else:
        far = "goes on" if math.isinf(beyond) else f"goes on for at most {format_seconds(beyond)}"
        after = f"{far} when the buffer is empty{frames}"
    delay, low_pass = settings["delay"], settings["low_pass"]
    behind = ""
    if low_pass or settings["follow"] == "share":
        part = format_share(settings["follow_share"])
        behind = (
            f", {_FOLLOWS[settings['follow']].format(time=format_seconds(low_pass), share=part)}"
        )
    if beyond > 0 and supply is not None and supply.empty > GUESSES:
        far = "" if math.isinf(beyond) else f", for at most {format_seconds(beyond)}"
        return f"predicts from the newest state, {stamps}{far}{behind}"
    late = format_seconds(convert_to_seconds(delay, interval))
    if delay < 0:
        measured = settings["interval"] in _MEASURED
        unit = _describe_interval(settings) if measured else "the send interval"
        late = f"{-delay:g} x {unit} ({late})"
    if margin := settings["jitter_margin"]:
        late += f" and {margin:.3g} x {_JITTERS[settings['jitter']]}"
    few = settings["keep"] < FEW_STATES
    buffer = f"a buffer of the last {settings['keep']:g} states," if few else "a buffer"
    curve = _CURVES["hold" if settings["between"] == "hold" else settings["curve"]]
    if draws_last_two_states(settings):
        own = settings["interval"]
        over = _describe_interval(settings) if own in _MEASURED else format_seconds(interval)
        return (
            f"goes from the last state but one to the newest {curve}, over {over} from"
            f" {_BEGINS.get(settings['start'], 'each arrival')}, and {after}"
            f"{behind}{_write_habits(settings)}"
        )
    if settings["catch_up"] in CLOCKLESS:
        return f"{_describe_clockless(settings, found, curve)}{behind}{_write_habits(settings)}"
    faster, near = format_share(settings["catch_up_rate"]), settings["catch_up_near"]
    outside = f" by more than {format_seconds(near)}" if near else ""
    catch_up = {
        "none": ", and never catches up after a hitch",
        "rate": f", and plays {faster} faster or slower to catch up{outside}",
    }.get(settings["catch_up"], "")
    if settings["catch_up"] in ("none", "rate") and settings["when_empty"] == "run":
        catch_up += ", by a time that runs on while the buffer is empty"
    return (
        f"draws from {buffer} {stamps}, {late} late,"
        f" {curve}, and {after}{catch_up}{behind}{_write_habits(settings)}"
    )


def _describe_clockless(settings: Mapping[str, Any], found: Mechanism, curve: str) -> str:
    """Return what a queue, or a buffer with a timer of its own, does."""
    period = format_seconds(_find_interval(settings, found))
    left = f" while more than {settings['reserve']:g} wait" if settings["reserve"] else ""
    return {
        "dequeue": f"takes a state of a queue in each frame{left}, and never catches up",
        "queue": f"plays a queue of states {curve}, one each {period}{left}, and never catches up",
        "timed-queue": f"plays a queue of states {curve}, one each {period} by a timer of its own"
        f"{left}, over the same way again where no other waits, and never catches up",
        "fill": f"goes from each received state to the next {curve}, at"
        f" {format_share(settings['pace'])} of the pace at which they were sent, and"
        f" {format_share(settings['catch_up_rate'])} faster for each that waits behind the next"
        f"{_count_states(settings['catch_up_from'])}{_STILL[settings['still']]}",
        "timer": f"goes over the newest interval {curve}, by a timer of its own that begins again"
        f" each {period}, not at packets",
    }[settings["catch_up"]]


_STILL = {"play": "", "skip": "; ways without movement take no time"}


def _count_states(count: float) -> str:
    """Return how many states, if it is not one."""
    return "" if count == 1 else f" {count:g}"


#: What a buffer does that does not go on beyond its newest state.
EMPTY = {
    0.0: "holds",
    -2001.0: "freezes what was drawn last",
    -2002.0: "goes back to the oldest state",
    -2003.0: "holds the newest state, from which it goes on to the next,",
    -2004.0: "goes {share} of the rest to the newest state in each frame",
}


def _write_habits(settings: Mapping[str, Any]) -> str:
    """Return what a composition does with late packets, what it leaves out, and how it rounds."""
    words = ""
    if "delay" in settings and settings["every"] < 0:
        words += ", but moves only when a packet comes"
    elif "delay" in settings and settings["every"]:
        words += f", but moves only in ticks of {format_seconds(settings['every'])}"
    if takes_late_packets(settings):
        words += ", and takes a late packet for the newest"
    if settings.get("repeated") == "drop":
        words += ", and drops each packet that repeats the position before it"
    if settings.get("end") == "short":
        words += ", without the last step of each way"
    if grid := settings["rounding"]:
        words += f", rounded to multiples of {grid:g}"
    return words


def _write_steps(settings: Mapping[str, Any]) -> str:
    """Return when a chase steps, where that is not in each frame."""
    every = settings["every"]
    if not every:
        return ""
    if every < 0:
        return ", once a packet"
    between = "on the line between the last two" if settings["between"] == "lerp" else "as they are"
    return f", in ticks of {format_seconds(every)}, drawn {between}"


def _write_drift(settings: Mapping[str, Any]) -> str:
    """Return how a chase moves along the newest velocity, if it does."""
    drift = settings["drift"]
    if not drift:
        return ""
    if settings["ahead"] == "velocity" and drift == 1:
        return ", and along with it, so that only the error fades"
    part = "" if drift == 1 else f"{format_share(drift)} of "
    smoothed = ""
    if settings["drift_share"] < 1:
        step = format_share(settings["drift_share"])
        smoothed = f", which each step moves by {step} to the newest"
    frames = " in each frame" if settings["every"] < 0 else ""
    return f", and{frames} along {part}its velocity{smoothed}"


def _describe_chase(settings: dict[str, Any], found: Mechanism) -> str:
    goal = _AHEAD[settings["ahead"]].format(ahead_time=format_seconds(settings["ahead_time"]))
    if settings["age"] == "arrival":
        goal = goal.replace("to now by its velocity", "by its velocity since it arrived")
    if settings["age"] == "absolute" and settings["ahead"] != "newest":
        goal = f"{goal.rstrip(',')} (as much where its age is below 0),"
    rest = f"{_write_steps(settings)}{_write_drift(settings)}{_write_habits(settings)}"
    if settings["how"] == "share" and settings["share"] == 1:
        return f"draws {goal} without any smoothing{rest}"
    time = format_seconds(convert_to_seconds(settings["time"], found.interval))
    if settings["time"] < 0 and settings["interval"] in _MEASURED:
        time = _describe_interval(settings)
    how = _APPROACHES[settings["how"]].format(
        time=time, share=format_share(settings["share"]),
        speed=f"{settings['speed']:.4g}", ease=settings["ease"],
        begin=_BEGINS.get(settings["start"], "each arrival"),
    )  # fmt: skip
    if settings["every"]:
        how = how.replace(" in each frame", "")
    if settings["how"] == "speed" and settings["axes"] == "each":
        how += " along each axis"
    if settings["how"] == "interval" and "interval" in found.strategy.settings:
        how = f"within {_describe_interval(settings)}"
    if settings["start"] == "arrival" and settings["how"] in ("linear", "eased"):
        how += ", on from where that led until then"
    if settings["overshoot"] > 1 and settings["how"] == "spring":
        how += " that may pass it"
    elif settings["overshoot"] > 1 and settings["how"] == "linear":
        far = settings["overshoot"]
        how += f", and on to {far:g} times that way" if far < math.inf else ", and on beyond it"
    if settings["snap_after"]:
        how += f", there at once after {format_seconds(settings['snap_after'])} without a packet"
    return f"moves toward {goal.rstrip(',')}, {how}{rest}"
