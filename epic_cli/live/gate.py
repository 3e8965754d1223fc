"""Which packets of strangers are let in, with times on the receiver's clock."""

from __future__ import annotations

import math
from collections.abc import Callable

from epic_cli.engine.contract import Packet
from epic_cli.live.refused import Refused

#: Seconds; what is further off is of another clock, or in another unit.
FARTHEST = 3600.0

#: Seconds; a greater time is not one in seconds.
_LATEST = 1e11

#: Characters of an entity's name.
_LONGEST_NAME = 64

#: Seconds; Unix times are taken from the first on.
_UNIX = (9e8, 5e9)


class Gate:
    """Lets packets in; what it keeps does not grow beyond the names of ``most_entities``.

    The receiver's clock starts with the first packet, at the time that the packet has: its delay
    is taken for 0. ``origin`` (seconds) becomes 0; None: the first packet's time, if that is a
    Unix time; NaN: the first packet's time. With ``only`` other entities are passed over; with
    ``single`` there is but one. ``keep`` is given what is let in, and says
    whether it could be recorded.
    """

    def __init__(
        self,
        most_entities: int,
        origin: float | None = None,
        only: str | None = None,
        single: bool = False,
        keep: Callable[[Packet], bool] | None = None,
    ) -> None:
        self._most = most_entities
        self._origin = origin
        self._only = only
        self._single = single
        self._keep = keep
        self._names: set[str] = set()
        self._zero: float | None = None  # of the receiver's clock, in seconds of the machine's
        self._newest = -math.inf

    @property
    def entities(self) -> int:
        """How many there are."""
        return len(self._names)

    def now(self, machine: float) -> float | None:
        """The receiver's clock at a time (seconds) of the machine's; None: it has not begun."""
        return None if self._zero is None else machine - self._zero

    def admit(self, packet: Packet, machine: float, earliest: float) -> Packet | Refused | None:
        """The packet with its arrival, why it was refused, or None: it is passed over.

        ``machine`` is when it came in, on the machine's clock in seconds. No arrival is before
        the one before it, nor before ``earliest``, up to which rows have been drawn.
        """
        numbers = (*packet.position, *(packet.velocity or ()), packet.time, packet.delta)
        if not all(map(math.isfinite, numbers)):
            return Refused.NOT_FINITE
        if self._only is not None and packet.entity != self._only:
            return None
        refused = self._refuses_name(packet.entity)
        if refused is not None:
            return refused
        origin, zero = self._clock(packet.time, machine)
        time = packet.time - origin
        arrival = max(round(machine - zero, 6), self._newest, earliest)
        if abs(packet.time) > _LATEST or not abs(time - arrival) <= FARTHEST:
            return Refused.FAR_TIME
        admitted = packet._replace(time=time, arrival=arrival)
        if self._keep is not None and not self._keep(admitted):
            return Refused.UNRECORDABLE
        self._origin, self._zero = origin, zero
        self._newest = arrival
        self._names.add(packet.entity)
        return admitted

    def _refuses_name(self, name: str) -> Refused | None:
        if name in self._names:
            return None
        if len(name) > _LONGEST_NAME or not name.isprintable() or name != name.strip():
            return Refused.BAD_NAME
        if self._single and self._names:
            return Refused.SECOND_ENTITY
        return Refused.TOO_MANY_ENTITIES if len(self._names) >= self._most else None

    def _clock(self, time: float, machine: float) -> tuple[float, float]:
        """The origin of times, and the machine's time at which the receiver's clock was 0."""
        if self._zero is not None:
            assert self._origin is not None
            return self._origin, self._zero
        origin = self._origin
        if origin is None:
            origin = time if _UNIX[0] <= time <= _UNIX[1] else 0.0
        elif math.isnan(origin):
            origin = time
        return origin, machine - (time - origin)
