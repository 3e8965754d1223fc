"""Datagrams on their way, in the order in which they are due."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from epic_cli.live.proxy.traffic_log import Entry

#: Bytes that may be on their way at once, with what it takes to keep them.
MOST_BYTES = 256 << 20

#: Bytes that a datagram takes beside its own.
_AROUND = 256


class Flight(NamedTuple):
    """A copy of a datagram: when it is due, and when it came (seconds).

    ``deliver`` is called with it, and with a clock.
    """

    due: float
    number: int
    came: float
    sequence: int
    data: bytes
    deliver: Callable[[Flight, Callable[[], float]], None]
    entry: Entry | None


class Waiting:
    """A heap of flights; those that are due at the same time keep their order."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        self._heap: list[Flight] = []
        self._most = most
        self._bytes = 0
        self._number = 0

    def __len__(self) -> int:
        return len(self._heap)

    @property
    def due(self) -> float | None:
        """When the next one is due; None: there is none."""
        return self._heap[0][0] if self._heap else None

    def has_room(self, size: int) -> bool:
        """Whether a datagram of so many bytes can wait, too."""
        return self._bytes + size + _AROUND <= self._most

    def add(
        self,
        due: float,
        came: float,
        sequence: int,
        data: bytes,
        deliver: Callable[[Flight, Callable[[], float]], None],
        entry: Entry | None,
    ) -> None:
        """Another one."""
        self._number += 1
        self._bytes += len(data) + _AROUND
        heappush(self._heap, Flight(due, self._number, came, sequence, data, deliver, entry))

    def pop(self) -> Flight:
        """The next one."""
        flight = heappop(self._heap)
        self._bytes -= len(flight.data) + _AROUND
        return flight
