"""A player in a running match: its machine, its link in both directions, and who steers it."""

from __future__ import annotations

from dataclasses import dataclass

from epic_cli.network.link import Channel, fates
from epic_cli.play.client.client import Client
from epic_cli.play.match.bots import Controller
from epic_cli.play.match.spec import PlayerConfig
from epic_cli.play.world.times import FixedStepLoop, MachineClock, to_seconds, to_us


class DelayStatistics:
    """The delays of one direction that arrived: how many of how many, and their sum."""

    def __init__(self) -> None:
        self.sent = 0
        self.arrived = 0
        self.total = 0.0

    def add(self, delay: float) -> None:
        """Counts an arrival."""
        self.arrived += 1
        self.total += delay

    @property
    def mean(self) -> float:
        """In seconds; 0 where nothing arrived."""
        return self.total / self.arrived if self.arrived else 0.0


class OneWayLink:
    """From a client to the server (``up/NAME``) or back (``down/NAME``)."""

    def __init__(self, purpose: str, channel: Channel) -> None:
        self.purpose = purpose
        self.channel = channel
        self.delays = DelayStatistics()
        self._clipped_before = 0

    @property
    def clipped(self) -> int:
        """How many packets arrived at once because their delay would have been below 0."""
        return self._clipped_before + fates(self.channel).clipped

    def replace(self, channel: Channel) -> None:
        """Goes on over another channel; what is measured from now on is of that one."""
        self._clipped_before = self.clipped
        self.channel = channel
        self.delays = DelayStatistics()

    def send(self, now_us: int) -> list[int]:
        """When a packet sent now arrives, in microseconds of the match."""
        time = to_seconds(now_us)
        self.delays.sent += 1
        if self.channel.ended(time):
            return []
        arrivals = self.channel.send(time)
        for arrival in arrivals:
            self.delays.add(arrival - time)
        return [to_us(arrival) for arrival in arrivals]


@dataclass
class Participant:
    """What a ``PlayerConfig`` becomes; ``frames`` is the loop of his client, on his ``clock``."""

    config: PlayerConfig
    client: Client
    clock: MachineClock
    frames: FixedStepLoop
    up: OneWayLink
    down: OneWayLink
    controller: Controller
