"""From datagrams to packets that are let in, and counts of the others."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from epic_cli.engine.packets import PacketBlock
from epic_cli.live.arrived import Arrived
from epic_cli.live.decoding import Decoder
from epic_cli.live.packet_filter import Anew, PacketFilter
from epic_cli.live.refused import Refused

if TYPE_CHECKING:
    from epic_cli.engine.link.transit import Tally
    from epic_cli.engine.refusals import Refusal

#: So many senders are told apart; the others are one.
_MOST_SENDERS = 64


class Counts:
    """What came in so far: no more memory for more of it."""

    def __init__(self, gate: PacketFilter) -> None:
        self._gate = gate
        self.datagrams = 0
        self.example: Refusal | None = None

    @property
    def packets(self) -> int:
        """How many were let in."""
        return self._gate.packets

    @property
    def late(self) -> int:
        """How many of them were older than one before."""
        return self._gate.late

    @property
    def refused(self) -> Counter[Refused]:
        """What was not let in, by its reason."""
        return self._gate.refused

    @property
    def delays(self) -> Tally:
        """Those of the packets."""
        return self._gate.delays

    @property
    def anew(self) -> Anew:
        """Of the senders' clocks, which ones were set."""
        return self._gate.anew

    @property
    def drifts(self) -> list[float | None]:
        """By sender: how much longer (s) a delay gets in a second; None: not told yet."""
        return self._gate.drifts


class Intake:
    """Reads datagrams, and lets their packets in.

    ``sender``: datagrams of others are refused (an address, and a port unless it is 0).
    """

    def __init__(
        self, decoder: Decoder, gate: PacketFilter, sender: tuple[Any, ...] | None = None
    ) -> None:
        self._decoder = decoder
        self._gate = gate
        self._sender = sender
        self._senders: dict[tuple[Any, ...], int] = {}
        self.counts = Counts(gate)

    def take(self, arrived: Sequence[Arrived], earliest: float = -math.inf) -> PacketBlock:
        """The packets that are let in, none of which arrives before ``earliest``."""
        packets = PacketBlock(self._gate.entities)
        self.counts.datagrams += len(arrived)
        if self._sender is not None:
            everybody, arrived = arrived, [one for one in arrived if self._is_from(one.sender)]
            if len(arrived) < len(everybody):
                self._gate.refused[Refused.OTHER_SENDER] += len(everybody) - len(arrived)
        times = [one.time for one in arrived]
        senders = [self._number_of(one.sender) for one in arrived]
        for decoded in self._decoder.read([one.data for one in arrived]):
            some = slice(decoded.first, decoded.first + len(decoded.ends))
            self._gate.admit(decoded, times[some], senders[some], earliest, packets)
            self.counts.example = self.counts.example or decoded.example
        return packets

    def _is_from(self, sender: tuple[Any, ...]) -> bool:
        assert self._sender is not None
        host, port = self._sender[:2]
        return bool(sender[0] == host and port in (0, sender[1]))

    def _number_of(self, sender: tuple[Any, ...]) -> int:
        number = self._senders.get(sender)
        if number is None:
            number = len(self._senders)
            if number < _MOST_SENDERS:
                self._senders[sender] = number
        return number
