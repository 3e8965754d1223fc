"""Words for buffers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from epic_cli.jobs.diagnose.mechanism.compositions import CLOCKLESS, draws_last_two_states
from epic_cli.jobs.diagnose.mechanism.supply import convert_to_seconds
from epic_cli.jobs.diagnose.remedies.buffer_faults import FEW_STATES, GUESSES
from epic_cli.jobs.diagnose.report.buffer_times import (
    describe_clock,
    describe_delay,
    describe_drawn_time,
)
from epic_cli.jobs.diagnose.report.parts import (
    BEGINS,
    MEASURED,
    REPEATS,
    describe_follower,
    describe_interval,
    follows,
    write_beyond,
    write_habits,
    write_span,
)
from epic_cli.jobs.diagnose.report.queues import describe_queue
from epic_cli.metrics.digits import format_seconds, format_share

if TYPE_CHECKING:
    from epic_cli.jobs.diagnose.mechanism import Mechanism
    from epic_cli.jobs.diagnose.mechanism.supply import Supply

_CURVES = {
    "linear": "in straight lines",
    "hermite": "on curves by the packets' velocities",
    "catmull-rom": "on curves through the packets",
    "hold": "each state until the next",
}
STRAIGHT = ("linear", "hold")
#: A curve by velocities that the packets do not carry.
BY_SLOPES = "on curves by the slopes between the states"
#: A buffer that is empty in more of the frames was made to predict.
MOSTLY_EMPTY = 0.3

#: What a buffer does that does not go on beyond its newest state, by the word of ``beyond``.
EMPTY = {
    "hold": "holds",
    "freeze": "freezes what was drawn last",
    "oldest": "goes back to the oldest state",
    "reuse": "holds the newest state, from which it goes on to the next,",
    "chase": "goes {share} of the rest to the newest state in each frame",
    "repeat": REPEATS,
}


def _describe_empty(settings: Mapping[str, Any], beyond: float, supply: Supply | None) -> str:
    """Return what a buffer does beyond its newest state, and in how many of the frames."""
    frames = ""
    if supply is not None and supply.empty > 0:
        short = beyond > 0 and supply.empty > MOSTLY_EMPTY
        means = ", as a delay this short means" if short else ""
        frames = f" ({min(supply.empty * 100, 99):.2g} % of the frames{means})"
    if (word := write_beyond(beyond)) in EMPTY:
        share = format_share(settings["beyond_share"])
        if lerp := settings["beyond_lerp"]:
            share = f"frame / {format_seconds(lerp)}"
        if word == "chase" and share == format_share(0):  # it goes nowhere
            word = "freeze"
        return f"{EMPTY[word].format(share=share)} when the buffer is empty{frames}"
    far = "goes on" if math.isinf(beyond) else f"goes on for at most {format_seconds(beyond)}"
    return f"{far} when the buffer is empty{frames}"


def describe_buffer(settings: dict[str, Any], found: Mechanism) -> str:
    """Return what a buffer or a queue does, as the end of a sentence that begins with "It"."""
    stamps, supply = describe_clock(settings), found.supply
    interval = float(settings["interval"])
    interval = interval if interval > 0 else found.interval
    beyond = settings["beyond"]
    beyond = beyond if write_beyond(beyond) in EMPTY else convert_to_seconds(beyond, interval)
    after = _describe_empty(settings, beyond, supply)
    behind = ""
    if follows(settings) and settings["catch_up"] != "waypoints":
        behind = f", {describe_follower(settings)}"
    if beyond > 0 and supply is not None and supply.empty > GUESSES:
        far = "" if math.isinf(beyond) else f", for at most {format_seconds(beyond)}"
        return f"predicts from the newest state, {stamps}{far}{behind}"
    curve = _describe_curve(settings, found)
    behind += write_habits(settings)
    if draws_last_two_states(settings, found.interval):
        own = settings["interval"]
        over = describe_interval(settings) if own in MEASURED else format_seconds(interval)
        begin = BEGINS.get(settings["start"], "each arrival")
        return (
            f"goes from the last state but one to the newest {curve}, over"
            f" {write_span(over, begin)}, and {after}{behind}"
        )
    if settings["catch_up"] in CLOCKLESS:
        return f"{describe_queue(settings, interval, curve)}{behind}"
    few = settings["keep"] < FEW_STATES
    buffer = f"a buffer of the last {settings['keep']:g} states," if few else "a buffer"
    return (
        f"draws from {buffer} {stamps}, {describe_delay(settings, interval, supply)}, {curve}, and"
        f" {after}{describe_drawn_time(settings)}{behind}"
    )


#: A curve of a shorter time than this share of the send interval is none: it stops at each state.
STOPPED = 0.1


def _describe_curve(settings: Mapping[str, Any], found: Mechanism) -> str:
    """Return the curve between two states."""
    curve = "hold" if settings["between"] == "hold" else settings["curve"]
    words = BY_SLOPES if curve == "hermite" and not found.has_velocities else _CURVES[curve]
    time = settings["curve_time"]
    if not time or curve in STRAIGHT:
        return words
    if time < STOPPED * found.interval:
        return "in straight lines with a stop at each state"
    return f"{words} for {format_seconds(time)}"
