"""Words for queues, and for buffers with a timer of their own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from epic_cli.jobs.diagnose.mechanism.supply import convert_to_seconds
from epic_cli.jobs.diagnose.remedies.buffer_faults import FEW_STATES
from epic_cli.jobs.diagnose.report.buffer_times import describe_clock
from epic_cli.jobs.diagnose.report.parts import REPEATS, describe_follower, write_beyond
from epic_cli.metrics.digits import format_seconds, format_share

#: The delay of a timer behind the newest interval, in intervals, that is none.
NEWEST = 0.05


def describe_queue(settings: Mapping[str, Any], interval: float, curve: str) -> str:
    """Return what a queue, or a buffer with a timer of its own, does."""
    period = format_seconds(interval)
    left = f" while more than {settings['reserve']:g} wait" if settings["reserve"] else ""
    pace = describe_follower(settings).replace("behind a step of", "by")
    moment = "tick" if settings["every"] > 0 else "frame"
    most = settings["keep"] - 1
    drops = f"drops the oldest where more than {most:g} wait"
    catches_up = drops if most < FEW_STATES else "never catches up"
    if most := settings["max_buffer"]:
        catches_up = f"drops the oldest where more than {most:g} wait"
    if write_beyond(settings["beyond"]) == "repeat":
        catches_up += f", and {REPEATS} when it is empty"
    return {
        "dequeue": f"takes a state of a queue in each {moment}{left}, and {catches_up}",
        "waypoints": f"goes to each received state in turn, {pace}, and to"
        f" the next one within {settings['waypoint_reach']:g} of it{_describe_hurry(settings)}",
        "clamp": f"draws from the last {settings['keep']:g} states {describe_clock(settings)},"
        f" {curve}, by a time of its own that stays between them",
        "slow": f"draws from a buffer {describe_clock(settings)}, {curve}, by a time of its own"
        f" that is {format_share(settings['catch_up_rate'])} slower while less than"
        f" {_write_delay(settings, interval)} behind the newest state, is set back to that at"
        " packets, and never gets ahead",
        "queue": f"plays a queue of states {curve}, one each {period}{left}, and {catches_up}",
        "timed-queue": f"plays a queue of states {curve}, one each {period} by a timer of its own"
        f"{left}, over the same way again where no other waits, and {catches_up}",
        "fill": f"goes from each received state to the next {curve},"
        f" {_describe_pace(settings, interval)},"
        f" {_write_gain(settings['catch_up_rate'])} for each that waits behind the next"
        f"{_count_states(settings['catch_up_from'])}{_describe_refill(settings)}"
        f"{_STILL[settings['still']]}",
        "timer": f"goes over {_name_interval(settings, interval)} {curve}, by a timer of its own"
        f" that begins again each {period}, not at packets",
    }[settings["catch_up"]]


def _write_delay(settings: Mapping[str, Any], interval: float) -> str:
    """Return how late a buffer draws."""
    return format_seconds(convert_to_seconds(settings["delay"], interval))


def _write_gain(rate: float) -> str:
    """Return by how much a queue is played faster, as a share, or as a multiple from 1 on."""
    return f"and {format_share(rate)} faster" if rate < 1 else f"plus {rate:.3g} times that"


def _name_interval(settings: Mapping[str, Any], interval: float) -> str:
    """Return over which interval of states a timer goes."""
    later = convert_to_seconds(settings["delay"], interval) - interval
    if later < NEWEST * interval:
        return "the newest interval"
    return f"the interval that ended {format_seconds(later)} before the newest state"


def _describe_hurry(settings: Mapping[str, Any]) -> str:
    """Return how much faster a queue of waypoints is played while many wait."""
    rate, most = settings["catch_up_rate"], settings["catch_up_from"]
    return f", {format_share(rate)} faster while more than {most:g} wait" if rate else ""


_STILL = {"play": "", "skip": "; ways without movement take no time"}


def _describe_pace(settings: Mapping[str, Any], interval: float) -> str:
    """Return how fast a queue is played that goes by the states that wait."""
    if settings["stamps"] == "ticks":
        return f"in {format_seconds(interval / settings['pace'])} each"
    share = "" if settings["pace"] == 1 else f"{format_share(settings['pace'])} of "
    return f"at {share}the pace at which they were sent"


def _describe_refill(settings: Mapping[str, Any]) -> str:
    """Return how many states must wait before an empty queue goes on, if it is not one."""
    least = settings["min_buffer"]
    return f", and goes on from the newest when {least:g} wait" if least > 1 else ""


def _count_states(count: float) -> str:
    """Return how many states, if it is not one."""
    return "" if count == 1 else f" {count:g}"
