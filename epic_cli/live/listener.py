"""A listener that receives the packets of a running game, and draws them."""

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
    listen_to_streams,
    read_machine_time,
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

#: The keys of an address for packets.
ENDPOINT = (
    Custom("address", Address(), "The address to listen on.", "[tcp://|ws://][HOST:]PORT",
           parse_endpoint, kind=Address),
    Custom("from", None, "Take packets from this sender only.", "HOST[:PORT]", parse_sender,
           kind=Address, field="sender"),
    Number("max_entities", MAX_ENTITIES, "Refuse packets of more entities than this.", "",
           1, 100_000, whole=True),
    Custom("interface", None, "Join a multicast group on this interface: its address or, for IPv6,"
           " its name.", "ADDRESS|NAME", str),
    Switch("echo", False, "Over UDP, send each datagram back after 'echo SECONDS ', the time that"
           " it was held here: so its sender can measure the round trip without comparing clocks."),
    Choice("prefix", None, "Over tcp://, the type of the length before each binary message; by"
           " default u32 of either byte order.", ("u16", "big-u16", "u32")),
    Custom("origin", (), "Over ws://, also let web pages of these origins connect, beside pages of"
           " this machine: https://game.example, null (a file) or *; separated by blanks.",
           "URL ...", lambda text: tuple(text.split()), " ".join, kind=tuple),
)  # fmt: skip


@dataclass(frozen=True)
class Endpoint(Described):
    """The address at which packets arrive: ``ws://9870,origin=https://game.example``.

    Its keys are ``ENDPOINT``.
    """

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
    """The spec of listening: an endpoint, how packets are read and drawn, the duration (s).

    ``strategy`` None: nothing is drawn.
    """

    endpoint: Endpoint = field(default_factory=Endpoint)
    ingest: IngestSpec = field(default_factory=IngestSpec)
    strategy: StrategySpec | None = None
    tick: Ratio = SCREEN_TIMING.tick
    duration: float = math.inf

    def resolve_ingest(self) -> IngestSpec:
        """Return the ingest settings, limited to the endpoint's sender; raise ``OSError``."""
        at = self.endpoint
        sender = None if at.sender is None else resolve(at.sender).place
        return replace(self.ingest, sender=sender, max_entities=at.max_entities)


#: The beginning of an echo; echoes are not sent back, so that two listeners do not loop.
ECHO = b"echo "


class Echo(Consumer):
    """A consumer that sends datagrams back, each with the time for which it was held here.

    Source: Glazer and Madhav, Multiplayer Game Programming (2016), figure 8.4, with the whole
    datagram instead of its stamp, so that any game finds its own stamp in it.
    """

    def __init__(self, receiving: Reception, spec: IngestSpec) -> None:
        self._socket, self._spec = receiving.socket, spec

    def take_datagrams(self, received: Sequence[ReceivedDatagram]) -> None:
        """Send datagrams back; those that the network does not take are lost."""
        for data, sender, time in received:
            if self._spec.is_accepted(sender) and not data.startswith(ECHO):
                held = read_machine_time() - time
                with contextlib.suppress(OSError):
                    self._socket.sendto(b"%s%.6f %s" % (ECHO, held, data), sender)


class LiveDrawing:
    """A drawing of all ``entities`` at every tick, whose samples ``consumers`` get.

    The packets that arrived before a tick are passed to the consumers, then applied, then the tick
    is drawn: the samples equal those of a replay of a recording of the packets. Without a
    ``strategy`` nothing is drawn. ``drawn_up_to`` is the time (s) of the receiver's clock up to
    which ticks have been drawn.
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
        self._replay = None if strategy is None else self._make_replay(strategy)

    @property
    def missed(self) -> int:
        """The number of packets dropped for slow drawing.

        Always 0, since nothing is dropped here.
        """
        return 0

    @property
    def counts(self) -> Counts:
        """The counts of received packets and datagrams so far."""
        raise NotImplementedError

    def measure_until_tick(self, now: float) -> float:
        """Return the seconds from ``now``, a time of the receiver's clock, until the next tick."""
        tick = self._ratio[0] / self._ratio[1]
        return (math.floor(now / tick) + 1) * tick - now

    def draw(self, packets: PacketBlock, now: float | None) -> None:
        """Take packets, and draw the ticks up to ``now`` (s).

        None: the receiver's clock has not begun.
        """
        if len(packets):
            for consumer in self.consumers:
                consumer.take_packets(packets)
        if self._replay is None:
            return
        if len(packets):
            self._replay.feed(packets)
            _draw_due_rows(self._replay, self._samples, self._pass_samples)
        if now is not None:
            self.drawn_up_to = max(self.drawn_up_to, math.floor(now * 1e6) / 1e6)
            self._replay.advance(self.drawn_up_to)
            _draw_due_rows(self._replay, self._samples, self._pass_samples)

    def _pass_samples(self, samples: SampleBlock) -> None:
        for consumer in self.consumers:
            consumer.take_samples(samples, self.entities)

    def change_strategy(
        self,
        strategy: StrategySpec,
        packets: Iterable[PacketBlock],
        draw: Callable[[SampleBlock], object],
    ) -> None:
        """Draw with another strategy from now on, which first gets the latest ``packets``.

        ``draw`` gets the samples that the new strategy would have drawn since those packets.
        Nothing changes if the strategy raises.
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
        """Return a replay of received packets, drawn up to a time (s) of the receiver's clock."""
        replay, samples = self._make_replay(strategy), SampleBlock()
        try:
            for block in packets:
                replay.feed(block)
                _draw_due_rows(replay, samples, draw)
            replay.advance(until)
            _draw_due_rows(replay, samples, draw)
        except BaseException:
            replay.close()
            raise
        return replay

    def _make_replay(self, strategy: StrategySpec) -> Replay:
        return Replay(
            strategy.make_factory(), ArrivalPacing(ExactClock(*self._ratio)), self.entities
        )


def _draw_due_rows(
    replay: Replay, samples: SampleBlock, draw: Callable[[SampleBlock], object]
) -> None:
    more = True
    while more:
        more = replay.draw(samples)
        if len(samples):
            draw(samples)
            samples.clear()


#: Datagrams to read before drawing, and seconds until the next poll.
_AT_ONCE = 512
_PAUSE = 0.002


def _open_reception(spec: ListenSpec, ingest: IngestSpec) -> Reception:
    """Open the socket for the protocol of the address; raise ``OSError`` and ``ValueError``."""
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
        raise ValueError("interface= needs the address of a multicast group, such as 239.1.2.3")
    return listen_to_streams(at.address, ingest, at.prefix or "u32", at.origin)


class Listener(LiveDrawing):
    """A listener that receives packets, draws all entities and passes all to consumers.

    It listens once it is made, at the endpoint of the ``spec`` or by ``receiving``. Raises
    ``OSError``, and ``ValueError`` for options that the protocol lacks, or that need a missing
    library.
    """

    def __init__(
        self,
        spec: ListenSpec,
        consumers: Sequence[Consumer] = (),
        receiving: Reception | None = None,
    ) -> None:
        ingest = spec.resolve_ingest()
        self.receiving = _open_reception(spec, ingest) if receiving is None else receiving
        self.address = spec.endpoint.address._replace(port=self.receiving.port)
        self._ingest = Ingest(ingest)
        self._duration = spec.duration
        self._reported, self._settled = -math.inf, read_machine_time()
        self.sent: list[Consumer] = []
        self.received = list(consumers)
        if spec.endpoint.echo:
            self.received.append(Echo(self.receiving, ingest))
        super().__init__(spec.strategy, spec.tick, self._ingest.entities, self.received)

    def close(self) -> None:
        """Stop listening, and close the socket."""
        self.receiving.close()

    @property
    def counts(self) -> Counts:
        """The counts of received packets and datagrams so far."""
        counts, receiving = self._ingest.counts, self.receiving
        if receiving.closed:
            refused, example = counts.refused + receiving.closed, counts.example
            counts = counts._replace(refused=refused, example=example or receiving.example)
        return counts

    def convert_time(self, time: float) -> float | None:
        """Convert a machine's time to the receiver's clock (s); None before its start."""
        return self._ingest.convert_time(time)

    def find_settled(self) -> float:
        """Return the machine's time (s) before which all packets were passed on; thread-safe."""
        return self._settled

    async def run(self) -> None:
        """Listen for the duration of the spec; raise ``OSError`` if a consumer cannot write."""
        end = read_machine_time() + self._duration
        while read_machine_time() < end:
            await self.receiving.wait_until_readable(self._compute_time_to_next_tick(end))
            received = self.step()
            if read_machine_time() - self._reported >= 1:
                self._reported = read_machine_time()
                for consumer in self.consumers:
                    consumer.take_counts(self.counts)
            if received:
                await asyncio.sleep(_PAUSE)  # to take arrivals in between together

    def _compute_time_to_next_tick(self, end: float) -> float | None:
        """Return the seconds until the next tick or the end of the duration.

        None without either.
        """
        machine = read_machine_time()
        now = self._ingest.convert_time(machine)
        waits = [] if now is None else [self.measure_until_tick(now)]
        if end < math.inf:
            waits.append(max(end - machine, 0))
        return min(waits) + 0.0005 if waits else None

    def step(self) -> bool:
        """Take arrivals and draw the due ticks; return True if something arrived."""
        before = read_machine_time()
        received = self.receiving.read(_AT_ONCE)
        if received:
            for consumer in self.consumers:
                consumer.take_datagrams(received)
        packets = self._ingest.take(received, self.drawn_up_to)
        # if more may be waiting, ticks after the last one read are not due yet
        seen = before if len(received) < _AT_ONCE else min(before, received[-1].time)
        self.draw(packets, self._ingest.convert_time(seen))
        self._settled = seen
        return bool(received)


class GameSource(Protocol):
    """The interface of a source of packets: a listener, or one direction of a proxy."""

    sent: list[Consumer]
    received: list[Consumer]

    @property
    def counts(self) -> Counts:
        """The counts of received packets and datagrams so far."""

    @property
    def entities(self) -> Entities:
        """The entities that have sent packets."""

    def convert_time(self, time: float) -> float | None:
        """Convert a machine's time to the receiver's clock (s); None before its start."""


class LaterDrawing(LiveDrawing):
    """A drawing of the packets that a source has received, on the same or another thread.

    ``find_settled`` returns the time (s) up to which the source has passed all packets on, so that
    no packet comes after its tick was drawn, however busy either thread is. ``truth`` is called
    with the sent packets.
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
        """The counts of packets and datagrams that the source has received."""
        return self._source.counts

    @property
    def missed(self) -> int:
        """The number of packets for which the mailboxes had no room."""
        return self._sent.left_out + self._received.left_out

    def step(self) -> None:
        """Take the waiting packets, and draw the due ticks."""
        now = self._source.convert_time(self._settled())
        for block in self._sent.take_blocks():
            if self._truth is not None:
                self._truth(block)
        for block in self._received.take_blocks():
            self.draw(block, None)
        self.draw(PacketBlock(self.entities), now)

    async def run(self) -> None:
        """Draw each tick when it is due, until the task is cancelled."""
        while True:
            self.step()
            now = self._source.convert_time(self._settled())
            await asyncio.sleep(0.05 if now is None else self.measure_until_tick(now))
