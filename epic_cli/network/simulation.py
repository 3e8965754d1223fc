"""Movement through a sender and over a link: packets in the order in which they arrive."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from epic_cli.engine.contract import Packet
from epic_cli.engine.link import Tally, Transit
from epic_cli.engine.packets import PacketBlock
from epic_cli.engine.parameters import SettingError
from epic_cli.network.link import Channel, Link, Way
from epic_cli.network.link_spec import LinkSpec
from epic_cli.network.movement import Movement, RecordedMovement, Snapshot
from epic_cli.network.movement_spec import MovementSpec, load_movement
from epic_cli.network.sender import RECORDED, Sender, SenderSpec, sample

if TYPE_CHECKING:
    from epic_cli.network.movement import PathMovement
    from epic_cli.network.trace import NetworkTrace

#: Packets that are passed on together: few enough not to delay the reader of a pipe.
BLOCK = 256


class Statistics(Tally):
    """The outcomes of the datagrams, see ``Tally``; ``time`` is when the last one was sent."""

    time = 0.0


def simulate(
    movement: Movement,
    *,
    send_rate: float | Fraction | None = 20,
    duration: float = math.inf,
    channel: Channel | None = None,
    sender: Sender | None = None,
    separate: bool = False,
    statistics: Statistics | None = None,
) -> Iterator[Packet]:
    """The packets that a receiver gets, in order of arrival; endless if the movement is.

    ``send_rate`` is in hertz, None: the recorded states. ``duration`` is in seconds.
    ``channel`` is a ``Link`` or ``TraceLink``, by default a perfect link. The states of one time
    travel in one datagram (they have the same ``sequence`` and fate), with ``separate`` in one
    each. ``statistics`` is kept up to date meanwhile.

    Only the packets in flight are in memory.
    """
    for block in simulate_blocks(
        movement,
        send_rate=send_rate,
        duration=duration,
        channel=channel,
        sender=sender,
        separate=separate,
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
    sender: Sender | None = None,
    separate: bool = False,
    statistics: Statistics | None = None,
    size: int = BLOCK,
) -> Iterator[PacketBlock]:
    """``simulate`` in blocks of ``size`` packets, plus those that arrived before the next was sent.

    The blocks share their ``entities``, so that the engine can read them directly.
    """
    channel = Link() if channel is None else channel
    sender = Sender() if sender is None else sender
    statistics = Statistics() if statistics is None else statistics
    transit = Transit(statistics)
    block = PacketBlock(transit.entities)
    snapshots = sample(movement, send_rate, duration)
    for time, packets in _datagrams(snapshots, sender, separate):
        if channel.ended(time):
            break
        transit.land(time, block)
        if len(block) >= size:
            yield block
            block = PacketBlock(transit.entities)
        statistics.time = time
        transit.send(time, packets, channel.send(time))
    transit.land(math.inf, block)
    if len(block):
        yield block


def _datagrams(
    snapshots: Iterable[Snapshot], sender: Sender, separate: bool
) -> Iterator[tuple[float, list[Packet]]]:
    for snapshot in snapshots:
        packets = sender.packets(snapshot)
        if separate:
            for packet in packets:
                yield snapshot.time, [packet]
        elif packets:
            yield snapshot.time, packets


@dataclass(frozen=True)
class SimulationSpec:
    """What is simulated: what moves, how it is sent, over what. Raises ``SettingError``."""

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
        """Reads the files that it names, the movement by ``load``.

        Raises as ``read_file``, and ``SettingError``.
        """
        moving = self.movement.movement(load=load)
        recorded = moving if isinstance(moving, RecordedMovement) else None
        if self.send.rotation_bits and not moving.turns:
            raise SettingError(
                "rotation_bits: nothing has a rotation; turning=look gives a path one"
            )
        return Simulation(self, recorded, self.link.read_traces())


class Simulation(NamedTuple):
    """A simulation whose files have been read; each seed is another network."""

    spec: SimulationSpec
    recorded: RecordedMovement | None
    traces: Mapping[Way, NetworkTrace]

    def movement(self, seed: int) -> PathMovement | RecordedMovement:
        """What moves."""
        return self.recorded or self.spec.movement.movement(seed)

    def channel(self, seed: int) -> Channel:
        """The link."""
        return self.spec.link.channel(seed, self.traces)

    def blocks(
        self,
        seed: int,
        channel: Channel | None = None,
        statistics: Statistics | None = None,
        size: int = BLOCK,
    ) -> Iterator[PacketBlock]:
        """What arrives, see ``simulate_blocks``; a ``channel`` is one made before."""
        send = self.spec.send
        return simulate_blocks(
            self.movement(seed),
            send_rate=send.hertz(recorded=self.recorded is not None),
            duration=self.spec.movement.seconds,
            channel=channel or self.channel(seed),
            sender=send.sender(),
            separate=send.separate,
            statistics=statistics,
            size=size,
        )
