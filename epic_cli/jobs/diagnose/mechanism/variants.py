"""Variants of compositions: parts to try in place of others, and drawings found by trial only."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from epic_cli.metrics.arrays import compute_lengths

if TYPE_CHECKING:
    from epic_cli.jobs.diagnose.frames import Frames

#: Drawings of games with parts that no reading shows.
KNOWN = (
    "chase+how=share+share=1",
    "buffer+stamps=arrival+delay=1i+before=none+beyond=freeze",
    "buffer+clock=first+clock_resync=0.05+delay=0.1+late=insert+before=none+beyond=freeze"
    "+monotonic=on+keep=120",
    "buffer+delay=0.2+keep=7",
    "buffer+stamps=ticks+clock=newest+interval=0.05+delay=0.05",
    "buffer+clock=mean+clock_time=1+delay=1.1i+jitter_margin=1+delay_least=1.1i+delay_most=1.2i"
    "+interval_time=2+jitter_time=1+beyond=0.08+beyond_then=return",
    "buffer+clock=min+delay=0.3i+beyond=0.3+low_pass=0.03",
    "buffer+clock=min+delay=0.3i+beyond=0.3+low_pass=0.03+follow=spring",
    "chase+how=linear+time=0.1+start=arrival",
)

#: A frame this near to the newest state (usual steps) has landed on it.
LANDS = 0.02

#: Least length of a teleport, as a multiple of the step that 90 % do not exceed.
LEAP = 4.0

#: Alternatives that are tried; a number is fitted afterwards, None is the usual value.
OF_CHASES: tuple[dict[str, Any], ...] = (
    *({"ahead": ahead, "age": None} for ahead in (None, "velocity", "arrival", "step")),
    {"ahead": "velocity", "age": "arrival"},
    *({"ahead_time": seconds} for seconds in (0.25, 0.5)),
    *({"how": how} for how in ("lerp", "exponential")),
    {"start": "arrival"},
    {"start": "last"},
    {"overshoot": "on"},
    {"snap_after": 1.0},
    {"ahead": "fixed", "ahead_time": 0.1, "age": None},
)

OF_BUFFERS: tuple[dict[str, Any], ...] = (
    *({"beyond": beyond} for beyond in ("freeze", 0.05, 0.1, 0.25, 0.5, "unlimited")),
    *({"keep": states} for states in (2, 3, 4)),
    {"beyond_along": "velocity"},
    {"beyond": 0.1, "beyond_then": "return"},
    {"delay": "1.2i", "interval_time": 1.0},
    *({"curve": curve} for curve in ("hermite", "catmull-rom")),
    {"catch_up": "none"},
    *({"catch_up": "rate", "catch_up_rate": rate} for rate in (0.02, 0.05, 0.1, 0.2)),
    *(
        {
            "stamps": stamps,
            "clock": clock,
            "clock_time": None,
            "clock_share": None,
            "catch_up": "rate",
            "catch_up_rate": rate,
        }
        for stamps, clock in ((None, "newest"), ("ticks", "newest"), ("arrival", None))
        for rate in (0.02, 0.05, 0.15)
    ),
    {"jitter_margin": 2.0},
    {"monotonic": "on"},
    {"late": "insert"},
    {"start": "last"},
    {"low_pass": 0.03},
)


def list_snap_distances(frames: Frames) -> list[float]:
    """Return distances beyond which the drawing may snap (length).

    One is between the usual steps and those of teleports; for a chase, one is between what is left
    to go in frames that do not land on the newest state, and more than that in those that do.
    """
    steps = compute_lengths(np.diff(frames.positions, axis=0))
    usual = LEAP * float(np.quantile(steps, 0.9))
    goal = frames.positions[frames.newest]
    left = compute_lengths(goal[1:] - frames.drawn[:-1])
    lands = compute_lengths(goal - frames.drawn)[1:] < LANDS * frames.unit
    way = float(left[~lands].max(initial=0.0))
    bounds = (usual, steps[steps > usual]), (way, left[lands & (left > way)])
    return [math.sqrt(low * float(above.min())) for low, above in bounds if low and len(above)]
