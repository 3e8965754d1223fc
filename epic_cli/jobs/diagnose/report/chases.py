"""Words for chases."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from epic_cli.jobs.diagnose.mechanism.supply import convert_to_seconds
from epic_cli.jobs.diagnose.report.parts import (
    BEGINS,
    MEASURED,
    describe_interval,
    write_habits,
    write_span,
)
from epic_cli.metrics.digits import format_seconds, format_share

if TYPE_CHECKING:
    from epic_cli.jobs.diagnose.mechanism import Mechanism

_APPROACHES = {
    "exponential": "exponentially, with a time constant of {time}",
    "lerp": "by frame / {time} of the rest in each frame",
    "share": "by {share}{grown} of the rest in each frame",
    "spring": "as a spring (SmoothDamp) of {time}",
    "speed": "at {speed} units a second",
    "interval": "within one send interval",
    "linear": "in a straight line over {span}",
    "eased": "eased ({ease}) over {span}",
    "force": "as a spring with a stiffness of {stiffness} and a damping of {damping}",
    "hermite": "on a curve{bend} over {span}, from {leave} to that of the newest state",
    "growing": "by a share of the rest that grows from 0 to 1 over {span}",
}
#: The ways from packet to packet.
GLIDES = ("linear", "eased", "hermite")

#: The velocity with which a curve begins.
_LEAVES = {"drawn": "the velocity of what is drawn", "packet": "the velocity of the packet before"}

#: The ways that each axis may go by itself.
BY_AXES = ("exponential", "lerp", "share", "growing", "speed")

_AHEAD = {
    "newest": "the newest state",
    "velocity": "the newest state, predicted to now by its velocity,",
    "arrival": "the newest state, predicted by its velocity to when it arrived,",
    "step": "the newest state, predicted by its last step to when it arrived,",
    "interval": "the newest state, predicted by its velocity for one interval,",
    "fixed": "the newest state, predicted by its velocity for {ahead_time},",
}

#: The time from which a velocity counts, where that is not the arrival.
_SINCE = {
    "last": "since the frame before it arrived",
    "frame": "since the frame after it arrived",
    "transition": "since the frame after it arrived",
}

#: How a spring's steps are computed, where that is not the usual way.
_INTEGRATIONS = {
    "semi-implicit": "",
    "explicit": " (each step by the speed before it)",
    "exact": " (exactly, whatever the frame's duration)",
}


#: When the ticks of a chase begin, where that is not once, by the phase.
_TICKS = {-1.0: ", each in the first frame that long after the last", -2.0: " from each packet"}


def _ticks_at_packets(settings: Mapping[str, Any]) -> bool:
    """Return True for ticks of which one falls at the arrival of each packet."""
    return bool(settings["phase"] == -2 and settings["every"] > 0 and settings["start"] == "last")


def _write_steps(settings: Mapping[str, Any]) -> str:
    """Return when a chase steps, where that is not in each frame."""
    every = settings["every"]
    if not every:
        return ""
    if every < 0:
        return ", once a packet"
    between = "on the line between the last two" if settings["between"] == "lerp" else "as they are"
    begin = _TICKS.get(settings["phase"], "")
    begin += ", the first at its arrival" if _ticks_at_packets(settings) else ""
    return f", in ticks of {format_seconds(every)}{begin}, drawn {between}"


#: The velocities that a chase makes of its packets.
_VELOCITIES = {
    "stamps": "that of the last step by the timestamps",
    "arrivals": "that of the last step by the arrivals",
    "interval": "that of the last step over one send interval",
    "before": "that of the packet before",
}


#: A speed that the packets tell.
_SPEEDS = {
    -1.0: "at the speed of the last step from packet to packet",
    -2.0: "at the faster speed of the last two steps from packet to packet",
}


def _write_velocity(settings: Mapping[str, Any], has_velocities: bool) -> str:
    """Return which velocity counts, where a chase moves by one that is not the packet's."""
    goes_by_it = settings["drift"] or settings["how"] == "hermite"
    if settings["ahead"] in ("newest", "step") and not goes_by_it:
        return ""
    sent = "the packets'" if has_velocities else "that of a step"
    source, share = _VELOCITIES.get(settings["velocity"], sent), settings["velocity_share"]
    factor = settings["velocity_factor"]
    if factor != 1:
        source = f"{factor:.4g} x {source}"
    if share < 1:
        return (
            f"; its velocity is a mean that each packet moves by {format_share(share)} to {source}"
        )
    return f"; its velocity is {source}" if settings["velocity"] != "sent" or factor != 1 else ""


def _write_counted_steps(settings: Mapping[str, Any]) -> str:
    """Return how long each step counts, where that is not its duration."""
    counted = settings["step_time"]
    if settings["step_most"] < math.inf:
        return f", each frame counted as {format_seconds(settings['step_most'])} at most"
    if not counted or (counted == 1 and settings["how"] in (*GLIDES, "growing", "speed")):
        return ""
    return " per frame" if counted == 1 else f", each frame counted as {format_seconds(counted)}"


def _write_drift(settings: Mapping[str, Any]) -> str:
    """Return how a chase moves along the newest velocity, if it does."""
    drift = settings["drift"]
    if not drift:
        return ""
    if settings["ahead"] == "velocity" and drift == 1:
        return ", and along with it, so that only the error fades"
    then = ", then" if settings["how"] in GLIDES else ", and"
    part = "" if drift == 1 else f"{format_share(drift)} of "
    smoothed = ""
    if settings["drift_share"] < 1:
        step = format_share(settings["drift_share"])
        smoothed = f", which each step moves by {step} to the newest"
    frames = " in each frame" if settings["every"] < 0 else ""
    return f"{then}{frames} along {part}its velocity{smoothed}"


def _write_grown_share(settings: Mapping[str, Any]) -> str:
    """Return how the share of a chase grows with the distance, if it does."""
    if math.isnan(settings["share_far"]):
        return ""
    near, far = f"{settings['far_from']:.4g}", f"{settings['far_at']:.4g}"
    if settings["far_at"] <= settings["far_from"]:
        return f" (within {near}) or {format_share(settings['share_far'])} (farther away)"
    return f" (nearer than {near}) to {format_share(settings['share_far'])} (from {far} on)"


def describe_chase(settings: dict[str, Any], found: Mechanism) -> str:
    """Return what a chase does, as the end of a sentence that begins with "It"."""
    goal = _AHEAD[settings["ahead"]].format(ahead_time=format_seconds(settings["ahead_time"]))
    if settings["mean_of"] > 1:
        goal = goal.replace("newest state", f"mean of the last {settings['mean_of']:.0f} states")
    if settings["age"] == "arrival":
        since = _SINCE.get(settings["start"], "since it arrived")
        goal = goal.replace("to now by its velocity", f"by its velocity {since}")
    if settings["age"] == "absolute" and settings["ahead"] != "newest":
        goal = f"{goal.rstrip(',')} (as much where its age is below 0),"
    if (apart := settings["age_offset"]) and settings["ahead"] in ("velocity", "arrival", "step"):
        clocks = f" (the sender's clock is {format_seconds(abs(apart))} off)"
        goal = f"{goal.rstrip(',')}{clocks}," if goal.endswith(",") else goal
    rest = f"{_write_steps(settings)}{_write_drift(settings)}{write_habits(settings)}"
    rest += _write_velocity(settings, found.has_velocities)
    if settings["how"] == "share" and settings["share"] == 1:
        smoothed = "with no other smoothing" if settings["mean_of"] > 1 else "without any smoothing"
        return f"draws {goal} {smoothed}{rest}"
    time = format_seconds(convert_to_seconds(settings["time"], found.interval))
    if settings["time"] < 0 and settings["interval"] in MEASURED:
        times = "" if settings["time"] == -1 else f"{-settings['time']:g} x "
        time = f"{times}{describe_interval(settings)}"
    if settings["step_time"] == 1:
        time = f"{settings['time']:.4g} frames"
    begin = BEGINS.get(settings["start"], "each arrival")
    begin = "each arrival" if _ticks_at_packets(settings) else begin
    how = _APPROACHES[settings["how"]].format(
        time=time, share=format_share(settings["share"]), grown=_write_grown_share(settings),
        speed=f"{settings['speed']:.4g}", ease=settings["ease"],
        stiffness=f"{settings['stiffness']:.4g}", damping=f"{settings['damping']:.4g}",
        bend="" if settings["bend"] == 1 else f", bent {settings['bend']:.4g} times as far,",
        leave=_LEAVES[settings["leave"]],
        span=write_span(time, begin),
    )  # fmt: skip
    if settings["how"] == "speed" and settings["speed"] in _SPEEDS:
        how = _SPEEDS[settings["speed"]]
        if settings["interval"] in MEASURED:
            how += f" over {describe_interval(settings)}"
    elif settings["how"] == "speed" and settings["step_time"] == 1:
        how = f"by {settings['speed']:.4g} units in each frame"
    how = _add_habits(how, settings, found)
    return f"moves toward {goal.rstrip(',')}, {how}{rest}"


def _add_habits(how: str, settings: Mapping[str, Any], found: Mechanism) -> str:
    """Return the words for an approach with what is unusual about it."""
    if settings["how"] == "force":
        how += _INTEGRATIONS[settings["integration"]]
    how += _write_counted_steps(settings)
    if settings["every"]:
        how = how.replace(" in each frame", "")
    if settings["axes"] == "each" and settings["how"] in BY_AXES:
        how += " along each axis"
    if settings["how"] == "interval" and "interval" in found.strategy.settings:
        how = f"within {describe_interval(settings)}"
    if settings["start"] == "arrival" and settings["how"] in GLIDES:
        how += ", on from where that led until then"
    if settings["overlap"] == "on" and settings["how"] in ("linear", "eased"):
        how += ", beside the ways to the states before, which go on: all add up"
    if settings["overshoot"] > 1 and settings["how"] == "spring":
        how += " that may pass it"
    elif settings["overshoot"] > 1 and settings["how"] == "linear":
        far = settings["overshoot"]
        how += f", and on to {far:g} times that way" if far < math.inf else ", and on beyond it"
    return how + _write_bounds(settings)


#: The distances and speeds at which a chase changes, with what it does there.
_BOUNDS = {
    "speed_least": "at no less than {} units a second",
    "speed_most": "at no more than {} units a second",
    "snap": "there at once from farther than {}",
    "dead_zone": "not from nearer than {}",
    "snap_near": "there at once from nearer than {}",
}


def _write_bounds(settings: Mapping[str, Any]) -> str:
    """Return the bounds of a chase that are set."""
    glides = settings["how"] in GLIDES
    unset = {"dead_zone", "snap_near"} if glides else set()
    found = [
        words.format(f"{settings[key]:.4g}")
        for key, words in _BOUNDS.items()
        if 0 < settings[key] < math.inf and key not in unset
    ]
    if settings["snap_after"]:
        seconds = format_seconds(settings["snap_after"])
        found.append(f"there at once after {seconds} without a packet")
    if settings["steps"] > 1:
        found.append(f"{settings['steps']:.0f} such steps at once")
    return "".join(f", {words}" for words in found)
