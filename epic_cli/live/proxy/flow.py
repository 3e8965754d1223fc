"""The datagrams of one client in one direction: each meets the client's own link."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from typing import NamedTuple

from epic_cli.live.proxy.link_control import Direction
from epic_cli.live.proxy.traffic_log import Entry, Fate, TrafficLog
from epic_cli.network import AddedLink, Link

#: Bytes that may be in flight at once, with their overhead.
MOST_BYTES = 256 << 20

#: Bytes that a datagram takes beside its own.
_AROUND = 256


class Flight(NamedTuple):
    """A copy of a datagram: when it is due, and when it was received (seconds).

    ``deliver`` is called with it, and with a clock; ``watched`` with the time when it has left.
    """

    due: float
    number: int
    received: float
    sequence: int
    data: bytes
    deliver: Callable[[Flight, Callable[[], float]], None]
    entry: Entry | None
    watched: Callable[[float], None] | None = None


class DelayQueue:
    """Datagrams on their way, in the order in which they are due, then of arrival."""

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
        """Whether there is room for a datagram of so many bytes."""
        return self._bytes + size + _AROUND <= self._most

    def add(
        self,
        due: float,
        received: float,
        sequence: int,
        data: bytes,
        deliver: Callable[[Flight, Callable[[], float]], None],
        entry: Entry | None,
        watched: Callable[[float], None] | None = None,
    ) -> None:
        """Another one."""
        self._number += 1
        self._bytes += len(data) + _AROUND
        of = due, self._number, received, sequence, data, deliver, entry, watched
        heappush(self._heap, Flight(*of))

    def pop(self) -> Flight:
        """The next one."""
        flight = heappop(self._heap)
        self._bytes -= len(flight.data) + _AROUND
        return flight


#: A link, or one beside a recorded network, whose conditions change while it is used.
ChangingChannel = Link | AddedLink


class Flow:
    """Takes datagrams from one side, and sends them to the other when they are due.

    ``send`` raises ``OSError``. ``header`` are the bytes of a datagram on the wire before its own,
    ``client`` are the cells of its lines in the ``log``.
    """

    def __init__(
        self,
        direction: Direction,
        channel: ChangingChannel,
        send: Callable[[bytes], object],
        queue: DelayQueue,
        header: int,
        client: str,
        log: TrafficLog | None,
    ) -> None:
        self._direction = direction
        self.way = direction.way
        self._channel = channel
        self._send = send
        self._queue = queue
        self._header = header
        self._client = client
        self._log = log
        self._version = direction.version
        self._last = 0.0
        self._sequence = 0
        self._latest = -1
        self._losses = 0
        self._fates = (0, 0, 0)
        self.flying = 0

    @property
    def taken(self) -> int:
        """How many datagrams came."""
        return self._sequence

    def ended(self, time: float) -> bool:
        """Whether a recorded network has come to its end."""
        return self._channel.ended(max(time, self._last))

    def take(
        self, data: bytes, time: float, watched: Callable[[float], None] | None = None
    ) -> None:
        """A datagram that came in at ``time`` (s); ``watched`` is told when a copy has left."""
        direction = self._direction
        self._last = time = max(time, self._last)
        direction.received_bytes += len(data)
        if self._version != direction.version:
            self._version = direction.version
            self._channel.change(direction.conditions)
        arrivals = self._channel.send(time, len(data) + self._header)
        fate = self._fate()
        if direction.blackout:
            direction.blacked_out += 1
            arrivals, fate = (), Fate.BLACKOUT
        elif arrivals and not self._queue.has_room(len(arrivals) * len(data)):
            direction.overflowed += 1
            arrivals, fate = (), Fate.OVERFLOWED
        direction.requested.count_sent(time, arrivals)
        if arrivals:
            self._losses = 0
        else:
            self._losses += 1
            direction.longest_loss = max(direction.longest_loss, self._losses)
        entry = None
        if self._log is not None:
            entry = Entry(time, direction.way, self._client, data, arrivals, fate, len(arrivals))
            self._log.add(entry)
        for arrival in arrivals:
            self._queue.add(arrival, time, self._sequence, data, self.deliver, entry, watched)
        self.flying += len(arrivals)
        direction.waiting += len(arrivals)
        self._sequence += 1

    def _fate(self) -> Fate:
        """Counts what the link did to the datagram other than losing it; returns its name."""
        channel, before = self._channel, self._fates
        fates = (channel.dropped, channel.corrupted, channel.clipped)
        if fates == before:
            return Fate.LOST
        self._fates = fates
        direction = self._direction
        direction.dropped += fates[0] - before[0]
        direction.corrupted += fates[1] - before[1]
        direction.clipped += fates[2] - before[2]
        if fates[0] > before[0]:
            return Fate.DROPPED
        return Fate.CORRUPTED if fates[1] > before[1] else Fate.LOST

    def deliver(self, flight: Flight, clock: Callable[[], float]) -> None:
        """Sends what is due."""
        direction = self._direction
        self.flying -= 1
        direction.waiting -= 1
        try:
            self._send(flight.data)
        except OSError as error:
            direction.unsent[error.strerror or str(error)] += 1
        else:
            left = clock()
            direction.count_left(flight.received, flight.due, left, len(flight.data))
            direction.reordered += flight.sequence < self._latest
            self._latest = max(self._latest, flight.sequence)
            if flight.entry is not None:
                flight.entry.left.append(left)
            if flight.watched is not None:
                flight.watched(left)
        if flight.entry is not None:
            flight.entry.flying -= 1
