"""Words for the parts that buffers, queues and chases share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from epic_cli.engine.strategies import get_declaration
from epic_cli.jobs.diagnose.mechanism.compositions import takes_late_packets
from epic_cli.jobs.diagnose.mechanism.measured_intervals import LEAST_PERIOD, STAYS
from epic_cli.metrics.digits import format_seconds, format_share

#: Seconds; a smaller difference of clocks or delays is none.
SAME_TIME = 0.002

#: When a way begins, in words that go after "from".
BEGINS = {
    "last": "the frame before each arrival",
    "frame": "the frame after each arrival",
    "transition": "the frame after each arrival, where the last way leads then",
}
#: What is taken for the send interval, by the setting.
MEASURED = {
    -1.0: "the time between the last two packets",
    -2.0: "the time between the frames that took the last two packets",
    -3.0: "the time between the last two timestamps",
    -4.0: "the sum of the frames between the last two packets",
}
#: Limits of a measured interval, without those that limit nothing.
_LIMITS = {
    "interval_least": "at least {}",
    "interval_most": "at most {}",
    "interval_late": "{} at a late packet",
}


def write_span(time: str, begin: str) -> str:
    """Return over which time a way goes, and when it begins."""
    return f"{time}, begun at {begin}" if "between" in time else f"{time} from {begin}"


def describe_interval(settings: Mapping[str, Any]) -> str:
    """Return how the send interval is measured, or its length (s)."""
    interval = settings["interval"]
    if interval not in MEASURED:
        return format_seconds(interval)
    found, several = MEASURED[interval], settings.get("interval_count", 1)
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


def write_habits(settings: Mapping[str, Any]) -> str:
    """Return what a composition does with late packets, what it leaves out, and how it rounds."""
    words = ""
    if "delay" in settings and settings["every"] < 0:
        words += ", but moves only when a packet comes"
    elif "delay" in settings and settings["every"]:
        words += f", but moves only in ticks of {format_seconds(settings['every'])}"
        if settings["phase"] < 0:
            words += ", each counted from the frame of the last one"
            words += " with a new state" if settings["phase"] < -1 else ""
        elif settings["tick_time"] == "own":
            words += ", each drawn for its own time"
    if takes_late_packets(settings):
        words += ", and takes a late packet for the newest"
    if settings["late"] == "sort" and settings["stamps"] != "sender":
        words += ", among states in the order of their stamps"
    if settings.get("repeated") == "drop":
        words += ", and drops each packet that repeats the position before it"
    if band := settings.get("dead_band"):
        words += f", and drops each packet nearer than {band:g} to the last one it took"
    if settings.get("end") == "short":
        words += ", without the last step of each way"
    if settings.get("playout_delay"):
        words += f", behind a jitter buffer of {format_seconds(settings['playout_delay'])}"
    words += _write_lacking_states(settings)
    if settings["times"] == "milliseconds":
        words += ", by times in whole milliseconds"
    if grid := settings["rounding"]:
        down = " down" if settings["rounding_by"] == "down" else ""
        states = ", its states" if settings["rounding_of"] == "states" else ","
        words += f"{states} rounded{down} to multiples of {grid:g}"
    return words


def _write_lacking_states(settings: Mapping[str, Any]) -> str:
    """Return which states a buffer forgets, and what it does where it has none."""
    words = ""
    if old := settings.get("forget"):
        words += f", without states older than {format_seconds(old)}"
        few = settings["forget_keeps"]
        words += f" but the newest {few:g}" if few > 1 else ""
    if copied := settings.get("copy_before"):
        before = format_seconds(copied) if copied > 0 else f"{-copied:g} x the send interval"
        words += f", and, where it was empty, sets out {before} before the next state's time"
    if settings.get("before") == "newest":
        words += ", and shows the newest state while each is newer than what it draws"
    return words


#: What is drawn by ``beyond=repeat`` when no state is left.
REPEATS = "goes the last frame's way again"


def write_beyond(beyond: float) -> str:
    """Return ``beyond`` of a buffer as its user writes it: a word, or a time."""
    return get_declaration("buffer").write_value("beyond", beyond)


_FOLLOWS = {
    "exponential": "behind a low-pass of {time}",
    "lerp": "behind a step of frame / {time} of the rest in each frame",
    "share": "behind a step of {share} of the rest in each frame",
    "spring": "behind a spring (SmoothDamp) of {time}",
    "speed": "behind a step of {speed:g} units a second at most",
}


def follows(settings: Mapping[str, Any]) -> bool:
    """Return True if what is drawn follows the buffer."""
    return bool(settings["low_pass"] or settings["follow"] in ("share", "speed"))


def describe_follower(settings: Mapping[str, Any]) -> str:
    """Return how what is drawn follows the buffer."""
    return _FOLLOWS[settings["follow"]].format(
        time=format_seconds(settings["low_pass"]),
        share=format_share(settings["follow_share"]),
        speed=settings["follow_speed"],
    )
