"""Changes of a chase that mend a cause, and causes that one word tells."""

from __future__ import annotations

from typing import Any

#: The changes of a chase at a constant speed that let it arrive when the next packet is due.
TO_NEXT: dict[str, Any] = {"how": "interval", "speed": None, "axes": None, "step_time": None}

#: Changes of a chase that mend a cause; None restores the default.
MENDING_CHANGES: dict[str, dict[str, Any]] = {
    "standing-frame": {"start": "last"},
    "ticks": {"between": "lerp"},
    "measured-interval": dict.fromkeys(
        ("interval", "interval_least", "interval_most", "interval_late", "interval_share")
    ),
    "overshoot": {"ahead": None, "ahead_time": None},
    "wrong-velocity": {"velocity_factor": None},
    "reversed-velocity": {"velocity_factor": None},
    "fed-back": {"how": "linear"},
    "packet-jumps": {
        "every": None,
        "how": "exponential",
        "share": None,
        "time": "1i",
        "ahead": "velocity",
        "age": "arrival",
    },
    "passes-goal": {"overshoot": None},
    "stops-short": {"end": None},
    "late-as-new": {"late": None},
    "axes-alone": {"axes": None},
    "message-time": {"every": None},
    "added-ways": {"overlap": None},
    "limited-speed": {"speed_most": None},
    "speed-pulses": {"how": "linear", "ease": None},
    **dict.fromkeys(("arrives-and-stands", "falls-behind"), TO_NEXT),
}

#: Causes that one word of a chase tells.
WORD_CAUSES = {
    "late-as-new": ("late", "take"),
    "stops-short": ("end", "short"),
    "overshoot": ("ahead", "interval"),
    "predicted-turns": ("ahead", "velocity"),
    "axes-alone": ("axes", "each"),
}
