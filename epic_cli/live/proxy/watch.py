"""The packets in one direction of the proxy, as they were sent and as they were received."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from epic_cli.engine.packets import PacketBlock
from epic_cli.live.addresses import ReceivedDatagram
from epic_cli.live.ingest import Ingest, IngestSpec

if TYPE_CHECKING:
    from collections.abc import Callable

    from epic_cli.live.addresses import Address
    from epic_cli.live.consumer import Consumer, Counts
    from epic_cli.network.words import Way


class Watch:
    """Reads packets as they come in, for ``sent``; ``received`` gets those that leave, then.

    Both have one clock, on which a packet arrives at the proxy, or at the other side of its link.
    On the way ``down`` each client has its own copies: they are those of one client.
    """

    def __init__(
        self,
        way: Way,
        spec: IngestSpec,
        sent: Sequence[Consumer],
        received: Sequence[Consumer],
    ) -> None:
        self.way = way
        self.one_client = way == "down" and spec.sender is None
        self._ingest = Ingest(spec)
        self._sent, self._received = sent, received

    @property
    def counts(self) -> Counts:
        """What came in until now."""
        return self._ingest.counts

    def take(self, data: bytes, client: Address, time: float) -> Callable[[float], None] | None:
        """A datagram came in (s); what is to be called when it has left; None: it has no packets.

        Raises ``OSError`` where a consumer cannot write.
        """
        datagram = ReceivedDatagram(data, (client.host, client.port), time)
        block = self._ingest.take([datagram], -math.inf)
        if not len(block):
            return None
        for one in self._sent:
            one.take_packets(block)
        return partial(self._pass_on, block, time)

    def _pass_on(self, block: PacketBlock, received: float, left: float) -> None:
        moved = PacketBlock(block.entities)
        for index in range(len(block)):
            packet = block[index]
            moved.append(packet._replace(arrival=(packet.arrival or 0.0) + left - received))
        for one in self._received:
            one.take_packets(moved)
