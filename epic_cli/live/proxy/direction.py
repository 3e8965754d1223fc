"""One direction of the proxy: its link conditions, and its datagrams' outcomes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from operator import sub
from typing import NamedTuple

from epic_cli.engine.link import Tally
from epic_cli.network.conditions import LinkConditions
from epic_cli.network.link import Fates
from epic_cli.network.words import Way

#: Seconds; a datagram that leaves so much after its time is late.
LATE = 0.001


class Passage(NamedTuple):
    """Totals so far: datagrams and bytes that arrived, were lost, and left.

    ``delay`` is the sum of the seconds that those were on their way.
    """

    received: int = 0
    received_bytes: int = 0
    lost: int = 0
    delivered: int = 0
    delivered_bytes: int = 0
    delay: float = 0.0

    def since(self, before: Passage) -> Passage:
        """The difference to earlier totals."""
        return Passage(*map(sub, self, before))


@dataclass
class Direction:
    """The counts of all clients' datagrams on one way; delays and times are in seconds.

    ``conditions`` are those of now, and ``version`` says how often they have changed. During a
    ``blackout`` all is lost. ``longest_loss`` is that of one client. ``requested`` are the delays
    that the link has given, ``achieved`` those from the arrival to when it really left, and
    ``lateness`` how long after its time each left.
    """

    way: Way
    conditions: LinkConditions
    version: int = 0
    blackout: bool = False
    received_bytes: int = 0
    blacked_out: int = 0
    overflowed: int = 0
    longest_loss: int = 0
    dropped: int = 0
    corrupted: int = 0
    clipped: int = 0
    arrived: int = 0
    delivered_bytes: int = 0
    reordered: int = 0
    late: int = 0
    waiting: int = 0
    unsent: Counter[str] = field(default_factory=Counter)
    requested: Tally = field(default_factory=Tally)
    achieved: Tally = field(default_factory=Tally)
    lateness: Tally = field(default_factory=Tally)
    _delay: float = 0.0

    @property
    def sent(self) -> int:
        """How many datagrams came in."""
        return self.requested.sent

    @property
    def lost(self) -> int:
        """How many of them were lost, in any way."""
        return self.requested.lost

    @property
    def duplicated(self) -> int:
        """How many were duplicated."""
        return self.requested.duplicated

    @property
    def fates(self) -> Fates:
        """The links' effects on copies of datagrams other than random loss."""
        return Fates(self.dropped, self.corrupted, self.clipped)

    @property
    def passage(self) -> Passage:
        """The totals so far."""
        return Passage(
            self.requested.sent,
            self.received_bytes,
            self.requested.lost,
            self.arrived,
            self.delivered_bytes,
            self._delay,
        )

    def delay(self, share: float) -> float:
        """The delay in seconds that this share (0 to 1) of those that left do not exceed."""
        return self.achieved.delay(share)

    def change(self, conditions: LinkConditions) -> None:
        """Sets the conditions from the next datagram on."""
        self.conditions = conditions
        self.version += 1

    def count_left(self, received: float, due: float, left: float, size: int) -> None:
        """Counts a datagram of so many bytes that left: when it came, was due, and left."""
        self.arrived += 1
        self.delivered_bytes += size
        self._delay += left - received
        self.late += left - due > LATE
        self.achieved.count_sent(received, (left,))
        self.lateness.count_sent(due, (left,))
