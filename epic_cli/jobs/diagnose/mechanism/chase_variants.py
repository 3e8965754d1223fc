"""Parts of chases that are tried in the place of others."""

from __future__ import annotations

from typing import Any

#: Alternatives that are tried; a number is fitted afterwards, None is the usual value.
OF_CHASES: tuple[dict[str, Any], ...] = (
    *({"ahead": ahead, "age": None} for ahead in (None, "velocity", "arrival", "step")),
    {"ahead": "velocity", "age": "arrival"},
    *({"ahead_time": seconds} for seconds in (0.25, 0.5)),
    *({"how": how} for how in ("lerp", "exponential")),
    {"start": "arrival"},
    {"start": "last"},
    {"end": "short"},
    {"overlap": "on"},
    {"drift": 1.0, "end": "short"},
    {"drift": 1.0, "end": None},
    {"late": "take"},
    {"repeated": "drop"},
    {"overshoot": "on"},
    {"snap_after": 1.0},
    {"ahead": "fixed", "ahead_time": 0.1, "age": None},
    {"times": "milliseconds"},
    *({"step_most": seconds} for seconds in (1 / 30, 0.1)),
    *({"velocity": source} for source in ("stamps", "arrivals", "interval", "before")),
    {"velocity_share": 0.3},
    *({"integration": way} for way in ("explicit", "exact")),
)

#: Settings of chases that tell the velocity.
MOVING = ("ahead", "drift")

#: Ways by shares, and a spring, which may land near the goal, or leave axes alone.
BY_SHARES = ("exponential", "lerp", "share", "spring")
