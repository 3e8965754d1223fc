"""The simulation of a movement that is sent over a link, up to the packets that arrive."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from heapq import heappop, heappush
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from epic_cli.engine.contract import Packet
from epic_cli.engine.link import Tally, Transit
from epic_cli.engine.packets import PacketBlock
from epic_cli.engine.parameters import SettingError
from epic_cli.network.link import Channel, Link, Way
from epic_cli.network.link_spec import LinkSpec
from epic_cli.network.movement import Movement, PathMovement, RecordedMovement
from epic_cli.network.movement_spec import MovementSpec, load_movement
from epic_cli.network.sender import (
    MOST_STAMPS,
    RECORDED,
    Sender,
    SenderSpec,
    SentDatagram,
    sample_movement,
)

if TYPE_CHECKING:
    from epic_cli.engine.replay.strategy_spec import StrategySpec
    from epic_cli.network.trace import NetworkTrace

#: Packets that are passed on together: few enough not to delay the reader of a pipe.
BLOCK = 256


class Statistics(Tally):
    """Counts of datagrams by outcome (``Tally``), and totals of the sent data.

    ``time`` is when the last datagram was sent. ``states``, ``state_bits`` and ``bytes`` are totals
    of the sent data, headers of IPv4 and UDP included; duplicates count once. ``undecodable``
    packets arrived without their baseline; ``clipped`` coordinates were out of range. With
    ``each``, all states are kept by entity: when each was sent, its bits, its share of the bytes.
    """

    time = 0.0
    states = state_bits = bytes = undecodable = clipped = 0

    def __init__(self, each: dict[str, list[tuple[float, int, float]]] | None = None) -> None:
        super().__init__()
        self.each = each

    def keep(self, datagram: SentDatagram) -> None:
        """Count a sent datagram."""
        self.time = datagram.time
        self.bytes += datagram.size
        if self.each is None:
            return
        share = datagram.size / (sum(datagram.bits) or 1)
        for packet, bits in zip(datagram.packets, datagram.bits, strict=False):
            known = self.each.setdefault(packet.entity, [])
            known.append((datagram.time, bits, bits * share))


def simulate(
    movement: Movement,
    *,
    send_rate: float | Fraction | None = 20,
    duration: float = math.inf,
    channel: Channel | None = None,
    back: Channel | None = None,
    sender: Sender | None = None,
    statistics: Statistics | None = None,
) -> Iterator[Packet]:
    """Yield the packets that a receiver gets, in order of arrival; endless if the movement is.

    ``send_rate`` is in hertz, None for the recorded states. ``duration`` is in seconds. ``channel``
    is a ``Link`` or ``TraceLink``, by default a perfect link; ``back`` carries acknowledgements.
    The packets of one datagram share their ``sequence`` and fate. ``statistics`` is updated on the
    way. Only the packets in flight are in memory.
    """
    for block in simulate_blocks(
        movement,
        send_rate=send_rate,
        duration=duration,
        channel=channel,
        back=back,
        sender=sender,
        statistics=statistics,
        size=1,
    ):
        for index in range(len(block)):
            yield block[index]


def simulate_blocks(
    movement: Movement,
    *,
    send_rate: float | Fraction | None = 20,
    duration: float = math.inf,
    channel: Channel | None = None,
    back: Channel | None = None,
    sender: Sender | None = None,
    statistics: Statistics | None = None,
    size: int = BLOCK,
) -> Iterator[PacketBlock]:
    """Yield the packets that ``simulate`` yields, in blocks of at least ``size`` packets.

    The blocks share their ``entities``, so that the engine can read them directly.
    """
    channel = Link() if channel is None else channel
    sender = Sender() if sender is None else sender
    statistics = Statistics() if statistics is None else statistics
    acknowledged = _AcknowledgementLink(Link() if back is None else back) if sender.asks else None
    received = _ReceiverFilter(sender, statistics) if sender.repeats_or_chains else None
    transit = Transit(statistics)
    block = PacketBlock(transit.entities)

    def land_datagrams(until: float) -> None:
        nonlocal block
        if received is None:
            transit.land(until, block)
            return
        arrived = PacketBlock(transit.entities)
        transit.land(until, arrived)
        received.take(arrived, block)

    for snapshot in sample_movement(movement, send_rate, duration):
        time = snapshot.time
        if channel.has_ended(time):
            break
        for number in acknowledged.iterate_until(time) if acknowledged else ():
            sender.acknowledge(number)
        for datagram in sender.make_datagrams(snapshot):
            land_datagrams(time)
            if len(block) >= size:
                yield block
                block = PacketBlock(transit.entities)
            statistics.keep(datagram)
            arrivals = channel.send(time, datagram.size if sender.sized else 0)
            transit.send(time, datagram.packets, arrivals)
            if acknowledged is not None and arrivals:
                acknowledged.schedule_acknowledgement(arrivals[0], datagram.number)
        statistics.states, statistics.state_bits = sender.states, sender.bits
        statistics.clipped = sender.clipped
    land_datagrams(math.inf)
    if len(block):
        yield block


class _AcknowledgementLink:
    """A link for the acknowledgements that a receiver sends back."""

    def __init__(self, back: Channel) -> None:
        self._back = back
        self._arrivals: list[tuple[float, int]] = []
        self._answers: list[tuple[float, int]] = []

    def schedule_acknowledgement(self, time: float, number: int) -> None:
        """Schedule the acknowledgement of a datagram that arrives at ``time``."""
        heappush(self._arrivals, (time, number))

    def iterate_until(self, time: float) -> Iterator[int]:
        """Yield the numbers of the datagrams whose acknowledgement has arrived by ``time``."""
        while self._arrivals and self._arrivals[0][0] <= time:
            arrival, number = heappop(self._arrivals)
            for answer in self._back.send(arrival)[:1]:
                heappush(self._answers, (answer, number))
        while self._answers and self._answers[0][0] <= time:
            yield heappop(self._answers)[1]


class _ReceiverFilter:
    """A filter that drops repeated packets, and packets that lack their baseline."""

    def __init__(self, sender: Sender, statistics: Statistics) -> None:
        self._bases = sender.base_stamps
        self._statistics = statistics
        self._seen: OrderedDict[tuple[str, float], None] = OrderedDict()

    def take(self, arrived: PacketBlock, block: PacketBlock) -> None:
        """Append the packets of arrived datagrams to ``block`` if they are new and decodable.

        The oldest states come first.
        """
        packets = (arrived[index] for index in range(len(arrived)))
        for packet in sorted(packets, key=attrgetter("arrival", "time")):
            key = packet.entity, packet.time
            if key in self._seen:
                continue
            base = self._bases.get(key)
            if base is not None and (packet.entity, base) not in self._seen:
                self._statistics.undecodable += 1
                continue
            self._seen[key] = None
            if len(self._seen) > MOST_STAMPS:
                self._seen.popitem(last=False)
            block.append(packet)


@dataclass(frozen=True)
class SimulationSpec:
    """The settings of a simulation: movement, sender and link. Raises ``SettingError``."""

    movement: MovementSpec = field(default_factory=MovementSpec)
    send: SenderSpec = field(default_factory=SenderSpec)
    link: LinkSpec = field(default_factory=LinkSpec)

    def __post_init__(self) -> None:
        if self.send.send_rate == RECORDED and self.movement.truth is None:
            raise SettingError(
                "send_rate=recorded needs a movement truth=FILE: a path has no rate of its own"
            )
        if self.movement.truth == "-" and self.link.trace and self.link.trace.file == "-":
            raise SettingError("the movement and the trace cannot both be standard input")

    def open(
        self,
        load: Callable[..., RecordedMovement] = load_movement,
    ) -> Simulation:
        """Read the files that the spec names, and return the simulation.

        ``load`` reads the movement. Raises what ``read_file`` raises, and ``SettingError``.
        """
        moving = self.movement.make_movement(load=load)
        recorded = moving if isinstance(moving, RecordedMovement) else None
        if self.send.rotation_bits and not moving.turns:
            raise SettingError(
                "rotation_bits: the movement has no rotation; add turning=look to a path"
            )
        return Simulation(self, recorded, self.link.read_traces())


class Simulation(NamedTuple):
    """A simulation whose files have been read; each seed gives another network."""

    spec: SimulationSpec
    recorded: RecordedMovement | None
    traces: Mapping[Way, NetworkTrace]

    def make_movement(self, seed: int) -> PathMovement | RecordedMovement:
        """Return the recorded movement, or the computed path of this seed."""
        return self.recorded or self.spec.movement.make_movement(seed)

    def make_channel(self, seed: int) -> Channel:
        """Return the simulated link or recorded network of this seed."""
        return self.spec.link.make_channel(seed, self.traces)

    def iterate_blocks(
        self,
        seed: int,
        channel: Channel | None = None,
        statistics: Statistics | None = None,
        size: int = BLOCK,
        judged: StrategySpec | None = None,
    ) -> Iterator[PacketBlock]:
        """Yield the packets that arrive, in blocks (``simulate_blocks``).

        ``channel`` replaces the seed's link. ``judged`` is the strategy that the sender copies for
        ``against=judged``.
        """
        send, movement = self.spec.send, self.make_movement(seed)
        seconds = self.spec.movement.seconds
        reach = send.reach(lambda: send.get_farthest(movement, seconds))
        sender = Sender(send, reach, judged)
        return simulate_blocks(
            movement,
            send_rate=send.get_rate(recorded=self.recorded is not None),
            duration=seconds,
            channel=channel or self.make_channel(seed),
            back=self.spec.link.make_channel(seed, self.traces, purpose="acknowledgements")
            if sender.asks
            else None,
            sender=sender,
            statistics=statistics,
            size=size,
        )
