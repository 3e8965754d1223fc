"""Settings that several strategies have in common."""

from __future__ import annotations

from epic_cli.engine.parameters import Number


def snap_distance(effect: str) -> Number:
    """The setting ``snap_distance``: originals without it glide across an unmarked teleport."""
    return Number("snap_distance", 0.0, effect, "length units", 0, 1e12)


SNAP_DISTANCE = snap_distance("jump across any greater distance; 0: never")
SNAP_CORRECTION = snap_distance("do not smooth a larger difference; 0: smooth all")
SNAP_DISTANCE_OR_ERROR = snap_distance("jump across any greater distance or error; 0: never")

#: Engines agree on the time when a connection begins; a recording does not say.
LATENCY = Number(
    "latency",
    "auto",
    "arrival time minus timestamp; auto estimates it",
    "s",
    -1e12,
    1e12,
    unset="auto",
)

#: Engines know it; a recording does not say.
SEND_INTERVAL = Number(
    "send_interval",
    "auto",
    "time between two packets; auto measures it",
    "s",
    0.001,
    60,
    unset="auto",
)
