"""Where packets come in, and how they are read and drawn."""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from epic_cli.engine.description import Described
from epic_cli.engine.packets import Entities, PacketBlock, SampleBlock
from epic_cli.engine.parameters import Choice, Custom, Number, Switch
from epic_cli.engine.replay import ArrivalPacing, ExactClock, Replay
from epic_cli.engine.replay.playback import SCREEN_TIMING, Ratio
from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.live.consumer import Consumer, Mailbox
from epic_cli.live.receiving import (
    ReceivingSocket,
    Reception,
    listening_to_streams,
    machine_time,
)
from epic_cli.recordings.addresses import (
    Address,
    ReceivedDatagram,
    parse_endpoint,
    parse_sender,
    resolve,
)
from epic_cli.recordings.datagrams.counts import MAX_ENTITIES, Counts
from epic_cli.recordings.datagrams.ingest import Ingest, IngestSpec

#: What describes where packets come in.
ENDPOINT = (
    Custom("address", Address(), "Where to listen.", "[tcp://|ws://][HOST:]PORT", parse_endpoint,
           kind=Address),
    Custom("from", None, "Take packets from this sender only.", "HOST[:PORT]", parse_sender,
           kind=Address, field="sender"),
    Number("max_entities", MAX_ENTITIES, "Refuse packets of more entities than this.", "",
           1, 100_000, whole=True),
    Custom("interface", None, "Join a multicast group on this interface: its address or, for IPv6,"
           " its name.", "ADDRESS|NAME", str),
    Switch("echo", False, "Over UDP, send each datagram back behind 'echo SECONDS ', for which it"
           " was held here: its sender knows the round trip then, whatever clocks show."),
    Choice("prefix", None, "Over tcp://, the length before each binary message; u32 of either byte"
           " order unless given.", ("u16", "big-u16", "u32")),
    Custom("origin", (), "Over ws://, let web pages from here connect, as well as those on this"
           " machine: https://game.example, null (a file) or *; several with blanks between.",
           "URL ...", lambda text: tuple(text.split()), " ".join, kind=tuple),
)  # fmt: skip


@dataclass(frozen=True)
class Endpoint(Described):
    """Where packets come in, as ``ws://9870,origin=https://game.example``: keys of ``ENDPOINT``."""

    TABLE, KEY, OWNER = ENDPOINT, "address", "an address"

    address: Address = Address()  # noqa: RUF009 - it never changes
    sender: Address | None = None
    max_entities: int = MAX_ENTITIES
    interface: str | None = None
    echo: bool = False
    prefix: str | None = None
    origin: Sequence[str] = ()


@dataclass(frozen=True)
class ListenSpec:
    """Where packets come in, how they are read and drawn, and for how many seconds.

    ``strategy`` None: nothing is drawn.
    """

    endpoint: Endpoint = field(default_factory=Endpoint)
    ingest: IngestSpec = field(default_factory=IngestSpec)
    strategy: StrategySpec | None = None
    tick: Ratio = SCREEN_TIMING.tick
    duration: float = math.inf

    def resolved(self) -> IngestSpec:
        """How datagrams are read, endpoint included; raises ``OSError`` for an unknown sender."""
        at = self.endpoint
        sender = None if at.sender is None else resolve(at.sender).place
        return replace(self.ingest, sender=sender, max_entities=at.max_entities)


#: What an echo begins with; one is not sent back, so that two listeners do not talk for ever.
ECHO = b"echo "


class Echo(Consumer):
    """Sends datagrams back to where they came from; the time that they were held here is theirs.

    Source: Glazer and Madhav, Multiplayer Game Programming (2016), figure 8.4, with the whole
    datagram for its stamp, so that any game finds its own in it.
    """

    def __init__(self, receiving: Reception, spec: IngestSpec) -> None:
        self._socket, self._spec = receiving.socket, spec

    def take_datagrams(self, received: Sequence[ReceivedDatagram]) -> None:
        """Sends each back; what the network does not take is lost."""
        for data, sender, time in received:
            if self._spec.takes_from(sender) and not data.startswith(ECHO):
                held = machine_time() - time
                with contextlib.suppress(OSError):
                    self._socket.sendto(b"%s%.6f %s" % (ECHO, held, data), sender)


class LiveDrawing:
    """Draws all ``entities`` at every tick, and passes packets and samples to ``consumers``.

    The packets that arrived before a tick are passed to the consumers, then applied, then the tick
    is drawn: the samples equal those of a replay of a recording of them. Without a ``strategy``
    nothing is drawn. ``drawn_up_to`` is the time (s) of the receiver's clock up to which ticks
    have been drawn.
    """

    def __init__(
        self,
        strategy: StrategySpec | None,
        tick: Ratio,
        entities: Entities,
        consumers: list[Consumer],
    ) -> None:
        self._ratio = tick
        self.entities = entities
        self.consumers = consumers
        self.drawn_up_to = -math.inf
        self._samples = SampleBlock()
        self._replay = None if strategy is None else self._replay_by(strategy)

    @property
    def missed(self) -> int:
        """Packets that came faster than they could be drawn, and were left out."""
        return 0

    @property
    def counts(self) -> Counts:
        """What came in until now."""
        raise NotImplementedError

    def until_tick(self, now: float) -> float:
        """Seconds until the tick after ``now``, a time of the receiver's clock."""
        tick = self._ratio[0] / self._ratio[1]
        return (math.floor(now / tick) + 1) * tick - now

    def draw(self, packets: PacketBlock, now: float | None) -> None:
        """Takes packets, and draws the ticks up to ``now``; None: the clock has not begun."""
        if len(packets):
            for consumer in self.consumers:
                consumer.take_packets(packets)
        if self._replay is None:
            return
        if len(packets):
            self._replay.feed(packets)
            _draw_due(self._replay, self._samples, self._show)
        if now is not None:
            self.drawn_up_to = max(self.drawn_up_to, math.floor(now * 1e6) / 1e6)
            self._replay.advance(self.drawn_up_to)
            _draw_due(self._replay, self._samples, self._show)

    def _show(self, samples: SampleBlock) -> None:
        for consumer in self.consumers:
            consumer.take_samples(samples, self.entities)

    def change_strategy(
        self,
        strategy: StrategySpec,
        packets: Iterable[PacketBlock],
        draw: Callable[[SampleBlock], object],
    ) -> None:
        """Draws by other strategies from now on, as if they had had these ``packets``.

        They are the latest ones. ``draw`` gets the samples that would have been drawn since.
        Nothing changes if a strategy raises.
        """
        replay = self.replay(strategy, packets, self.drawn_up_to, draw)
        if self._replay is not None:
            self._replay.close()
        self._replay = replay

    def replay(
        self,
        strategy: StrategySpec,
        packets: Iterable[PacketBlock],
        until: float,
        draw: Callable[[SampleBlock], object],
    ) -> Replay:
        """A replay of received packets, drawn up to a time (s) of the receiver's clock."""
        replay, samples = self._replay_by(strategy), SampleBlock()
        try:
            for block in packets:
                replay.feed(block)
                _draw_due(replay, samples, draw)
            replay.advance(until)
            _draw_due(replay, samples, draw)
        except BaseException:
            replay.close()
            raise
        return replay

    def _replay_by(self, strategy: StrategySpec) -> Replay:
        return Replay(strategy.maker(), ArrivalPacing(ExactClock(*self._ratio)), self.entities)


def _draw_due(replay: Replay, samples: SampleBlock, draw: Callable[[SampleBlock], object]) -> None:
    more = True
    while more:
        more = replay.draw(samples)
        if len(samples):
            draw(samples)
            samples.clear()


#: Datagrams that are read before drawing, and seconds until the next poll.
_AT_ONCE = 512
_PAUSE = 0.002


def _received_at(spec: ListenSpec, ingest: IngestSpec) -> Reception:
    """Listens, by the protocol of the address; raises ``OSError`` and ``ValueError``."""
    at = spec.endpoint
    if at.prefix is not None and (at.address.scheme != "tcp" or not ingest.records):
        raise ValueError("prefix= is for tcp:// with --layout")
    if at.origin and at.address.scheme != "ws":
        raise ValueError("origin= is for ws://")
    if at.echo and at.address.scheme:
        raise ValueError("echo= is for UDP")
    if not at.address.scheme:
        return ReceivingSocket(resolve(at.address), at.interface)
    if at.interface is not None:
        raise ValueError("interface= is for the address of a multicast group")
    return listening_to_streams(at.address, ingest, at.prefix or "u32", at.origin)


class Listener(LiveDrawing):
    """Receives packets, draws all entities at every tick, and passes all of that to consumers.

    It listens from the making on, at the endpoint of the ``spec`` or by ``receiving``. Raises
    ``OSError``, and ``ValueError`` for what the protocol does not have, or needs a library for.
    """

    def __init__(
        self,
        spec: ListenSpec,
        consumers: Sequence[Consumer] = (),
        receiving: Reception | None = None,
    ) -> None:
        ingest = spec.resolved()
        self.receiving = _received_at(spec, ingest) if receiving is None else receiving
        self.address = spec.endpoint.address._replace(port=self.receiving.port)
        self._ingest = Ingest(ingest)
        self._duration = spec.duration
        self._reported, self._settled = -math.inf, machine_time()
        self.sent: list[Consumer] = []
        self.received = list(consumers)
        if spec.endpoint.echo:
            self.received.append(Echo(self.receiving, ingest))
        super().__init__(spec.strategy, spec.tick, self._ingest.entities, self.received)

    def close(self) -> None:
        """Listens no more."""
        self.receiving.close()

    @property
    def counts(self) -> Counts:
        """What came in until now."""
        counts, receiving = self._ingest.counts, self.receiving
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
            await self.receiving.readable(self._wait(end))
            received = self.step()
            if machine_time() - self._reported >= 1:
                self._reported = machine_time()
                for consumer in self.consumers:
                    consumer.take_counts(self.counts)
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
        received = self.receiving.read(_AT_ONCE)
        if received:
            for consumer in self.consumers:
                consumer.take_datagrams(received)
        packets = self._ingest.take(received, self.drawn_up_to)
        # where more may be waiting, ticks after the last one read are not due yet
        seen = before if len(received) < _AT_ONCE else min(before, received[-1].time)
        self.draw(packets, self._ingest.now(seen))
        self._settled = seen
        return bool(received)


class GameSource(Protocol):
    """Where packets come from: a listener, or one direction of a proxy."""

    sent: list[Consumer]
    received: list[Consumer]

    @property
    def counts(self) -> Counts:
        """What came in until now."""

    @property
    def entities(self) -> Entities:
        """Those that came in."""

    def now(self, time: float) -> float | None:
        """The receiver's clock at a time (s) of the machine's; None: it has not begun."""


class LaterDrawing(LiveDrawing):
    """Draws what a source has received, on a thread of its own if need be.

    ``settled`` is the time (s) up to which its source has passed everything on: no packet comes
    after its tick was drawn, however busy either thread is. ``truth`` is called with what was sent.
    """

    def __init__(
        self,
        source: GameSource,
        spec: ListenSpec,
        settled: Callable[[], float],
        consumers: list[Consumer],
        truth: Callable[[PacketBlock], object] | None = None,
    ) -> None:
        self._source, self._settled, self._truth = source, settled, truth
        self._sent, self._received = Mailbox(), Mailbox()
        source.received.append(self._received)
        if truth is not None:
            source.sent.append(self._sent)
        super().__init__(spec.strategy, spec.tick, source.entities, consumers)

    @property
    def counts(self) -> Counts:
        """What came in until now."""
        return self._source.counts

    @property
    def missed(self) -> int:
        """Those that its mailboxes had no room for."""
        return self._sent.left_out + self._received.left_out

    def step(self) -> None:
        """Takes what has come, and draws what is due."""
        now = self._source.now(self._settled())
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
            now = self._source.now(self._settled())
            await asyncio.sleep(0.05 if now is None else self.until_tick(now))
