"""Movement through a sender and over a link: packets in the order in which they arrive."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from fractions import Fraction

from epic_cli.engine.contract import Packet
from epic_cli.engine.link import Tally, Transit
from epic_cli.engine.packets import PacketBlock
from epic_cli.network.link import Channel, Link
from epic_cli.network.movement import Movement, Snapshot
from epic_cli.network.sender import Sender, sample

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
