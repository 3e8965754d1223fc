"""Settings that several strategies share."""

from __future__ import annotations

import math

from epic_cli.engine.parameters import Choice, Number
from epic_cli.engine.strategies.parts import (
    Acceleration,
    AgeSource,
    ClockRule,
    Easing,
    LastInterval,
)


def snap_distance(effect: str) -> Number:
    """Return the setting ``snap_distance`` with this help text.

    Original programs without that setting glide across an unmarked teleport.
    """
    return Number("snap_distance", 0.0, effect, "length units", 0, 1e12)


def age_setting(default: str = "auto") -> Choice:
    """Return the setting ``age`` (a packet's age on arrival) of a strategy that extrapolates."""
    return Choice(
        "age",
        default,
        "how old a packet is on arrival: by its timestamp (stamp), by that without its sign"
        " (absolute), zero (arrival), or auto: by its timestamp, minus the difference between the"
        " clocks where packets carry arrival times",
        AgeSource,
    )


_LAST_INTERVALS = {
    "stamps": "the time between the last two timestamps",
    "arrivals": "between the last two arrivals",
    "frames": "between the frames that read the last two packets",
    "steps": "the steps since the packet before, added up",
}


def measured_interval(*ways: str) -> Number:
    """Return the setting ``interval`` of a strategy that can measure the last one in these ways."""
    words = {way: float(LastInterval[way.upper()]) for way in ways}
    return Number(
        "interval",
        "auto",
        "the send interval, the unit of delays written like 1.8i; auto: the usual interval of the"
        " timestamps" + "".join(f"; {way}: {_LAST_INTERVALS[way]}" for way in ways),
        "s",
        0.001,
        60,
        words={"auto": math.nan, **words},
    )


SNAP_DISTANCE = snap_distance("jump across any greater distance; 0: never")
SNAP_CORRECTION = snap_distance("do not smooth a larger difference; 0: smooth all")
SNAP_DISTANCE_OR_ERROR = snap_distance("jump across any greater distance or error; 0: never")

SNAP = Number("snap", 0.0, "jump across any greater distance; 0: never", "length units", 0, 1e12)

#: Engines agree on the time when a connection begins; a recording does not say.
LATENCY = Number("latency", "auto", "arrival time minus timestamp; auto estimates it", "s", -1e12,
                 1e12, unset="auto")  # fmt: skip

#: Engines know it; a recording does not say.
SEND_INTERVAL = Number("send_interval", "auto", "time between two packets; auto measures it", "s",
                       0.001, 60, unset="auto")  # fmt: skip

INTERVAL = Number("interval", "auto", "the send interval, the unit of delays written like"
                  " 1.8i; auto measures it", "s", 0.001, 60, unset="auto")  # fmt: skip

MEASURED_INTERVAL = measured_interval(*_LAST_INTERVALS)

#: The limits of an interval that is measured from the last packets.
INTERVAL_LIMITS = (
    Number("interval_least", 1e-6, "the least measured interval", "s", 1e-9, 60),
    Number("interval_most", "unlimited", "the largest measured interval", "s", 0.0001, 60,
           words={"unlimited": math.inf}),
)  # fmt: skip

DEAD_ZONE = Number("dead_zone", 0.0, "do not move while the goal is nearer than this",
                   "length units", 0, 1e12)  # fmt: skip

ROUNDING = Number("rounding", 0.0, "round drawn positions to multiples of this; 0: do not",
                  "length units", 0, 1e12)  # fmt: skip

ROUNDING_BY = Choice("rounding_by", "nearest", "whether to round to the nearest multiple, or down",
                     ("nearest", "down"), tune=False)  # fmt: skip

ROUNDING_OF = Choice("rounding_of", "drawn", "what is rounded: drawn positions, or received ones",
                     ("drawn", "states"), tune=False)  # fmt: skip

TIMES = Choice("times", "exact", "the times of packets and frames, as the game reads them: exact,"
               " or in whole milliseconds", ("exact", "milliseconds"), tune=False)  # fmt: skip

CLOCK = Choice("clock", "agree", "how the sender's time is estimated from arrival minus timestamp",
               ClockRule)  # fmt: skip

ACCELERATION = Choice("acceleration", "none", "predict with the acceleration between the last two"
                      " packets, or without", Acceleration)  # fmt: skip

#: The settings that every filter has.
FILTER_SETTINGS = (
    age_setting(),
    Number("max_prediction", 1.0, "how long a state is predicted before it is held", "s", 0, 3600,
           tune=(0.1, 2), scale="log"),
    Number("max_gap", 1.0, "restart after a longer time between timestamps", "s", 0.001, 1e9),
    Number("snap_distance", 100.0, "restart at a packet that is further off than this; 0: never",
           "length units", 0, 1e12),
)  # fmt: skip

EASE = Choice("ease", "smoothstep", "the curve of how=eased", Easing)
