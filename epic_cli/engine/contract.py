"""The interface of strategies in Python: they take packets and return samples."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple, Protocol, runtime_checkable

Vector = tuple[float, float, float]
Rotation = tuple[float, float, float, float]
Status = Literal["none", "held", "interpolated", "extrapolated"]

#: In the order of the engine's own numbering (``packet.h``).
STATUSES: tuple[Status, ...] = ("none", "held", "interpolated", "extrapolated")

#: The methods of a strategy.
METHODS = ("reset", "update", "read")


class Packet(NamedTuple):
    """A state of an entity, with the time at which its sender sent it.

    ``time`` and ``arrival`` are seconds on the sender's and on the receiver's clock
    (``arrival`` None: not known). ``position`` is in the recording's own length unit,
    ``velocity`` in that unit per second (None: not known). ``teleport`` says that the entity was
    moved on purpose: strategies snap to the packet and forget the past. ``sequence`` is the
    sender's packet number. ``delta`` is how long before ``time`` the state was true, in seconds.
    ``rotation`` is a quaternion x, y, z, w, ``spin`` an angular velocity (rad/s) about the axes of
    the world (None: not known; without a rotation it is passed over). ``extras`` are values of
    other names, which are carried along: no strategy sees them.
    """

    position: Vector
    velocity: Vector | None = None
    time: float = None  # type: ignore[assignment] # it is needed, behind what is not
    arrival: float | None = None
    entity: str = ""
    teleport: bool = False
    sequence: int | None = None
    delta: float = 0.0
    rotation: Rotation | None = None
    spin: Vector | None = None
    extras: Mapping[str, str | int | float | bool] | None = None


class Sample(NamedTuple):
    """An entity's state as drawn at one tick.

    ``time`` is the local time of the tick in seconds. ``velocity`` is what the original algorithm
    returns (for the demo: the slope of the line it draws). ``status`` is ``none`` (nothing to draw
    yet; position and velocity are zero), ``held`` (frozen for lack of data, where the row before
    was drawn), ``interpolated`` (on the way to a known target, or just arrived there) or
    ``extrapolated`` (beyond it). ``rotation`` and ``spin`` are as in ``Packet``; None: no packet
    has had one, or the strategy does not turn.
    """

    time: float
    position: Vector
    velocity: Vector
    status: Status
    entity: str = ""
    rotation: Rotation | None = None
    spin: Vector | None = None


@runtime_checkable
class SmoothingStrategy(Protocol):
    """The methods that the replay loop calls; a plain Python class can implement them.

    A class may have one more, ``hear(time, now)``: it is called for each datagram that has come by
    the connection, whichever entities are in it, with its timestamp and the receiver's time, before
    ``update`` with a packet of it. An entity that joins late hears of the newest datagram before
    its first packet, too.
    """

    def reset(self) -> None:
        """Reset the strategy to its initial state."""

    def update(self, packet: Packet, now: float) -> bool:
        """Take a packet that arrived at the receiver's time ``now``.

        Return False if it is discarded.
        """

    def read(self, at: float) -> Sample:
        """Return the sample at local time ``at``; times never decrease from call to call."""
