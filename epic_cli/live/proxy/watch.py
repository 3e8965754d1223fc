"""The packets in one direction of the proxy, as they were sent and as they were received."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from epic_cli.engine.packets import PacketBlock
from epic_cli.live.consumer import Mailbox
from epic_cli.live.drawing import Drawing
from epic_cli.recordings.addresses import ReceivedDatagram
from epic_cli.recordings.datagrams.ingest import Ingest, IngestSpec

if TYPE_CHECKING:
    from collections.abc import Callable

    from epic_cli.engine.packets import Entities
    from epic_cli.live.consumer import Consumer
    from epic_cli.live.listener import Listener, ListenSpec
    from epic_cli.network.link_spec import Way
    from epic_cli.recordings.addresses import Address
    from epic_cli.recordings.datagrams.counts import Counts


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
        self.sent, self.received = list(sent), list(received)

    @property
    def counts(self) -> Counts:
        """What came in until now."""
        return self._ingest.counts

    @property
    def entities(self) -> Entities:
        """Those that were sent."""
        return self._ingest.entities

    def now(self, time: float) -> float | None:
        """The receiver's clock at a time (s) of the proxy's; None: it has not begun."""
        return self._ingest.now(time)

    def take(self, data: bytes, client: Address, time: float) -> Callable[[float], None] | None:
        """A datagram came in (s); what is to be called when it has left; None: it has no packets.

        Raises ``OSError`` where a consumer cannot write.
        """
        datagram = ReceivedDatagram(data, (client.host, client.port), time)
        block = self._ingest.take([datagram], -math.inf)
        if not len(block):
            return None
        for one in self.sent:
            one.take_packets(block)
        return partial(self._pass_on, block, time)

    def _pass_on(self, block: PacketBlock, received: float, left: float) -> None:
        moved = PacketBlock(block.entities)
        for index in range(len(block)):
            packet = block[index]
            moved.append(packet._replace(arrival=(packet.arrival or 0.0) + left - received))
        for one in self.received:
            one.take_packets(moved)


class WatchDrawing(Drawing):
    """Draws what is received, on a thread of its own if need be.

    ``settled`` is the time (s) up to which its source has passed everything on: no packet comes
    after its tick was drawn, however busy either thread is. ``truth`` is called with what was sent.
    """

    def __init__(
        self,
        watch: Watch | Listener,
        spec: ListenSpec,
        settled: Callable[[], float],
        consumers: Sequence[Consumer],
        truth: Callable[[PacketBlock], object] | None = None,
    ) -> None:
        self._watch, self._settled, self._truth = watch, settled, truth
        self._sent, self._received = Mailbox(), Mailbox()
        watch.received.append(self._received)
        if truth is not None:
            watch.sent.append(self._sent)
        super().__init__(spec.strategy, spec.tick, watch.entities, consumers)

    @property
    def counts(self) -> Counts:
        """What came in until now."""
        return self._watch.counts

    @property
    def missed(self) -> int:
        """Those that its mailboxes had no room for."""
        return self._sent.left_out + self._received.left_out

    def step(self) -> None:
        """Takes what has come, and draws what is due."""
        now = self._watch.now(self._settled())
        for block in self._sent.empty():
            if self._truth is not None:
                self._truth(block)
        for block in self._received.empty():
            self.draw(block, None)
        self.draw(PacketBlock(self.entities), now)

    async def run(self) -> None:
        """Draws each tick when it is due, until it is cancelled."""
        while True:
            self.step()
            now = self._watch.now(self._settled())
            await asyncio.sleep(0.05 if now is None else self.until_tick(now))
