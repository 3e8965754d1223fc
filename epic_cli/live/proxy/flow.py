"""The datagrams of one client in one direction: each meets the client's own link."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from epic_cli.live.proxy.direction import Direction
from epic_cli.live.proxy.traffic_log import Entry, Fate, TrafficLog
from epic_cli.live.proxy.waiting import Flight, Waiting
from epic_cli.network.conditions import LinkConditions


class ChangingChannel(Protocol):
    """A link, or one beside a recorded network, whose conditions change while it is used."""

    @property
    def dropped(self) -> int:
        """As of ``Fates``."""

    @property
    def corrupted(self) -> int:
        """As of ``Fates``."""

    @property
    def clipped(self) -> int:
        """As of ``Fates``."""

    def change(self, conditions: LinkConditions) -> None:
        """From the next packet on it is like this."""

    def send(self, time: float, size: float) -> tuple[float, ...]:
        """When a packet of so many bytes sent at ``time`` arrives."""

    def ended(self, time: float) -> bool:
        """Nothing can be sent any more."""


class Flow:
    """Takes what comes from one side, and sends it to the other side when it is due.

    ``send`` raises ``OSError``. ``header`` are the bytes of a datagram on the wire before its own,
    ``client`` are his cells in the ``log``.
    """

    def __init__(
        self,
        direction: Direction,
        channel: ChangingChannel,
        send: Callable[[bytes], object],
        waiting: Waiting,
        header: int,
        client: str,
        log: TrafficLog | None,
    ) -> None:
        self._direction = direction
        self._channel = channel
        self._send = send
        self._waiting = waiting
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

    def take(self, data: bytes, time: float) -> None:
        """A datagram that came in at ``time`` (seconds)."""
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
        elif arrivals and not self._waiting.has_room(len(arrivals) * len(data)):
            direction.overflowed += 1
            arrivals, fate = (), Fate.OVERFLOWED
        direction.asked.count_sent(time, arrivals)
        if arrivals:
            self._losses = 0
        else:
            self._losses += 1
            direction.longest_loss = max(direction.longest_loss, self._losses)
        entry = None
        if self._log is not None:
            entry = Entry(time, direction.way, self._client, data, arrivals, fate)
            self._log.add(entry)
        for arrival in arrivals:
            self._waiting.add(arrival, time, self._sequence, data, self.deliver, entry)
        self.flying += len(arrivals)
        direction.waiting += len(arrivals)
        self._sequence += 1

    def _fate(self) -> Fate:
        """Counts what the link did to the datagram beside losing it; and that, as one word."""
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
            direction.count_left(flight.came, flight.due, left, len(flight.data))
            direction.reordered += flight.sequence < self._latest
            self._latest = max(self._latest, flight.sequence)
            if flight.entry is not None:
                flight.entry.left.append(left)
        if flight.entry is not None:
            flight.entry.flying -= 1
