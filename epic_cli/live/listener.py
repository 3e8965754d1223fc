"""Packets of a running game, drawn in real time as they arrive."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from epic_cli.engine.replay.playback import SCREEN_TIMING
from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.live.consumer import Consumer
from epic_cli.live.drawing import Drawing
from epic_cli.live.receiving import ReceivingSocket, Reception, machine_time
from epic_cli.recordings.addresses import Address, resolve
from epic_cli.recordings.datagrams.counts import Counts
from epic_cli.recordings.datagrams.ingest import Ingest, IngestSpec

if TYPE_CHECKING:
    from epic_cli.engine.replay.playback import Ratio

#: Datagrams that are read before drawing, and seconds until the next poll.
_AT_ONCE = 512
_PAUSE = 0.002


@dataclass(frozen=True)
class ListenSpec:
    """How a socket's datagrams are read and drawn, and for how many seconds.

    ``strategy`` None: nothing is drawn.
    """

    ingest: IngestSpec = field(default_factory=IngestSpec)
    strategy: StrategySpec | None = None
    tick: Ratio = SCREEN_TIMING.tick
    duration: float = math.inf


def receive_at(
    address: Address,
    ingest: IngestSpec | None = None,
    interface: str | None = None,
    prefix: str | None = None,
    origins: Sequence[str] = (),
) -> Reception:
    """Listens on an address, by the protocol of its scheme.

    ``prefix`` is the type of the length before each binary message over TCP; web pages connect
    from this machine and from ``origins``. Raises ``OSError``, and ``ValueError`` for what the
    protocol does not have, or needs a library for.
    """
    if prefix is not None and (address.scheme != "tcp" or ingest is None or not ingest.records):
        raise ValueError("--prefix is for tcp:// with --layout")
    if origins and address.scheme != "ws":
        raise ValueError("--origin is for ws://")
    if not address.scheme:
        return ReceivingSocket(resolve(address), interface)
    if interface is not None:
        raise ValueError("--interface is for the address of a multicast group")
    from epic_cli.live import streams  # UDP needs none of it

    return streams.listening(address, ingest, prefix or "u32", origins)


class Listener(Drawing):
    """Receives packets, draws all entities at every tick, and passes all of that to consumers."""

    def __init__(
        self, spec: ListenSpec, receiving: Reception, consumers: Sequence[Consumer]
    ) -> None:
        self._receiving = receiving
        self._ingest = Ingest(spec.ingest)
        self._duration = spec.duration
        self._reported, self._settled = -math.inf, machine_time()
        self.sent: list[Consumer] = []
        self.received = list(consumers)
        super().__init__(spec.strategy, spec.tick, self._ingest.entities, self.received)

    @property
    def counts(self) -> Counts:
        """What came in until now."""
        counts, receiving = self._ingest.counts, self._receiving
        if receiving.closed:
            refused, example = counts.refused + receiving.closed, counts.example
            counts = counts._replace(refused=refused, example=example or receiving.example)
        return counts

    def now(self, time: float) -> float | None:
        """The receiver's clock at a time (s) of the machine's; None: it has not begun."""
        return self._ingest.now(time)

    def settled(self) -> float:
        """The machine's time (s) up to which everything was passed on; any thread may ask."""
        return self._settled

    async def run(self) -> None:
        """Listens for its duration; raises ``OSError`` where a consumer cannot write."""
        end = machine_time() + self._duration
        while machine_time() < end:
            await self._receiving.readable(self._wait(end))
            received = self.step()
            if machine_time() - self._reported >= 1:
                self._reported = machine_time()
                for one in self.consumers:
                    one.take_counts(self.counts)
            if received:
                await asyncio.sleep(_PAUSE)  # arrivals in between are taken together

    def _wait(self, end: float) -> float | None:
        """Seconds until the next tick, or the end; None: nothing is due."""
        machine = machine_time()
        now = self._ingest.now(machine)
        waits = [] if now is None else [self.until_tick(now)]
        if end < math.inf:
            waits.append(max(end - machine, 0))
        return min(waits) + 0.0005 if waits else None

    def step(self) -> bool:
        """Takes arrivals and draws what is due; returns whether anything arrived."""
        before = machine_time()
        received = self._receiving.read(_AT_ONCE)
        if received:
            for one in self.consumers:
                one.take_datagrams(received)
        packets = self._ingest.take(received, self.drawn_up_to)
        # where more may be waiting, ticks after the last one read are not due yet
        seen = before if len(received) < _AT_ONCE else min(before, received[-1].time)
        self.draw(packets, self._ingest.now(seen))
        self._settled = seen
        return bool(received)
