"""Datagrams to send, with their times: packets of a recording or a movement."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from epic_cli.engine.contract import Packet
from epic_cli.engine.packets import PacketBlock
from epic_cli.formats.recordings import make_writer
from epic_cli.live.addresses import UNFRAGMENTED
from epic_cli.network.sender import Sender, sample
from epic_cli.network.state import Movement

#: The states of one moment (seconds), in the order of sending.
Moment = tuple[float, list[Packet]]


class Datagram(NamedTuple):
    """Bytes to send at a time (seconds), and the packets in them."""

    time: float
    packets: list[Packet]
    data: bytes


def moments_of_recording(
    blocks: Iterable[PacketBlock], duration: float, leave_out: Callable[[], object]
) -> Iterator[Moment]:
    """Packets at the time at which they arrived or, where that is not known, were sent.

    Packets of one time are grouped; one with an earlier time than its predecessor joins it.
    ``leave_out`` is called for each packet that has no finite time.
    """
    due, first = -math.inf, math.inf
    together: list[Packet] = []
    for block in blocks:
        for index in range(len(block)):
            packet = block[index]
            time = packet.time if packet.arrival is None else packet.arrival
            if not math.isfinite(time):
                leave_out()
                continue
            if time > due:
                if together:
                    yield due, together
                due, together = time, []
                first = min(first, due)
                if due > first + duration:
                    return
            together.append(packet)
    if together:
        yield due, together


def moments_of_movement(movement: Movement, rate: float, duration: float) -> Iterator[Moment]:
    """A movement, sampled so many times a second."""
    sender = Sender()
    for snapshot in sample(movement, rate, duration):
        yield snapshot.time, sender.packets(snapshot)


def datagrams(
    moments: Iterable[Moment], packet_format: str, separate: bool = False
) -> Iterator[Datagram]:
    """Packs packets into self-contained datagrams; raises ``Unwritable``.

    The packets of one moment share datagrams of ``UNFRAGMENTED`` bytes unless they are to be
    ``separate``; a longer packet goes alone. Packets without a sequence number get that of their
    datagram.
    """
    writer = make_writer(packet_format)
    number = 0
    for time, packets in moments:
        rows: list[bytes] = []
        inside: list[Packet] = []
        size = 0
        for packet in packets:
            sequence = number if packet.sequence is None else packet.sequence
            row = writer.row(packet._replace(arrival=None, sequence=sequence))
            if inside and (separate or size + len(row) > UNFRAGMENTED):
                yield Datagram(time, inside, b"".join(rows))
                number += 1
                if packet.sequence is None:
                    row = writer.row(packet._replace(arrival=None, sequence=number))
                inside = []
            if not inside:
                rows, size = [writer.header], len(writer.header)
            rows.append(row)
            size += len(row)
            inside.append(packet)
        if inside:
            yield Datagram(time, inside, b"".join(rows))
            number += 1
