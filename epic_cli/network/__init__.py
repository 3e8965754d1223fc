"""A bad network on purpose: movement, a sender, a link, and what arrives.

Example:
    >>> from epic_cli.network import Link, LinkConditions, PathMovement, circle, simulate
    >>> movement = PathMovement(circle(speed=5, size=3, seed=0))
    >>> link = Link(LinkConditions(latency=0.08, jitter=0.02), seed=1)
    >>> for packet in simulate(movement, send_rate=10, duration=0.2, channel=link):
    ...     print(packet.sequence, packet.position, packet.arrival)
    0 (3.0, 0.0, 0.0) 0.092922
    1 (2.95843, 0.497688, 0.0) 0.173525
    2 (2.834871, 0.981584, 0.0) 0.286387

A program that drives a connection itself sends one packet at a time:
    >>> conditions = LinkConditions(latency=0.05)
    >>> up, down = Link(conditions, purpose="up"), Link(conditions, purpose="down")
    >>> up.send(1.0)
    (1.05,)

"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from epic_cli.network.link import (
        Channel,
        Fates,
        GilbertElliott,
        Link,
        LinkConditions,
        QueueLimit,
        fates,
    )
    from epic_cli.network.movement import Movement, PathMovement, RecordedMovement, Snapshot, State
    from epic_cli.network.paths import (
        PATHS,
        Strafe,
        Teleporting,
        circle,
        figure_eight,
        jump,
        stop_and_go,
        straight,
        zigzag,
    )
    from epic_cli.network.sender import Sender, SenderClock, sample
    from epic_cli.network.simulation import Statistics, simulate, simulate_blocks
    from epic_cli.network.trace import AddedLink, NetworkTrace, TraceLink, read_trace
    from epic_cli.network.truth_file import read_movement
    from epic_cli.recordings.tables import TableRefusal

__all__ = [
    "PATHS",
    "AddedLink",
    "Channel",
    "Fates",
    "GilbertElliott",
    "Link",
    "LinkConditions",
    "Movement",
    "NetworkTrace",
    "PathMovement",
    "QueueLimit",
    "RecordedMovement",
    "Sender",
    "SenderClock",
    "Snapshot",
    "State",
    "Statistics",
    "Strafe",
    "TableRefusal",
    "Teleporting",
    "TraceLink",
    "circle",
    "fates",
    "figure_eight",
    "jump",
    "read_movement",
    "read_trace",
    "sample",
    "simulate",
    "simulate_blocks",
    "stop_and_go",
    "straight",
    "zigzag",
]  # fmt: skip

#: Where the names above are. They load when they are used: a command that draws packets needs only
#: what makes random numbers.
_PLACES = {
    "epic_cli.recordings.tables": ("TableRefusal",),
    "epic_cli.network.link": (
        "Channel", "Fates", "GilbertElliott", "Link", "LinkConditions", "QueueLimit", "fates"),
    "epic_cli.network.movement": (
        "Movement", "PathMovement", "RecordedMovement", "Snapshot", "State"),
    "epic_cli.network.paths": (
        "PATHS", "Strafe", "Teleporting", "circle", "figure_eight", "jump", "stop_and_go",
        "straight", "zigzag"),
    "epic_cli.network.sender": ("Sender", "SenderClock", "sample"),
    "epic_cli.network.simulation": ("Statistics", "simulate", "simulate_blocks"),
    "epic_cli.network.trace": ("AddedLink", "NetworkTrace", "TraceLink", "read_trace"),
    "epic_cli.network.truth_file": ("read_movement",),
}  # fmt: skip


def __getattr__(name: str) -> Any:
    """Loads what is used for the first time."""
    for module, offered in _PLACES.items():
        if name in offered:
            globals()[name] = found = getattr(import_module(module), name)
            return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
