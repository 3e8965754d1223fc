"""One way between a client and the server, and what became of the packets on it."""

from __future__ import annotations

from epic_cli.network.link import Channel


class Delay:
    """The delays of one direction that arrived: how many, their sum, least and greatest."""

    def __init__(self) -> None:
        self.sent = 0
        self.arrived = 0
        self.total = 0.0
        self.least = float("inf")
        self.greatest = 0.0

    def add(self, delay: float) -> None:
        """Counts an arrival."""
        self.arrived += 1
        self.total += delay
        self.least = min(self.least, delay)
        self.greatest = max(self.greatest, delay)

    @property
    def mean(self) -> float:
        """In seconds; 0 where nothing arrived."""
        return self.total / self.arrived if self.arrived else 0.0


class Direction:
    """One direction of one client's link, and what became of its packets."""

    def __init__(self, purpose: str, channel: Channel) -> None:
        self.purpose = purpose
        self.channel = channel
        self.delays = Delay()

    def send(self, now: int) -> list[int]:
        """When a packet sent now arrives, in microseconds."""
        time = now / 1_000_000
        self.delays.sent += 1
        if self.channel.ended(time):
            return []
        arrivals = self.channel.send(time)
        for arrival in arrivals:
            self.delays.add(arrival - time)
        return [round(arrival * 1_000_000) for arrival in arrivals]
