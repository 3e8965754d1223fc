"""What is done to the packets of a recording on their way into another one."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from typing import NamedTuple

from epic_cli.engine.contract import Packet
from epic_cli.engine.packets import PacketBlock
from epic_cli.engine.velocities import VelocityFiller


class Changes(NamedTuple):
    """Which packets are kept, and what is changed of them.

    ``entities``: only theirs; none: all. ``span`` (s): only packets whose own times are in it,
    ends included. ``shift`` (s) is added to the times that are left, and to arrival times.
    ``fill_velocities``: packets without a velocity get the estimate that strategies get.
    """

    entities: Collection[str] = ()
    span: tuple[float, float] | None = None
    shift: float = 0.0
    fill_velocities: bool = False


class Conversion:
    """Changes the packets of one recording, whose blocks come in their order."""

    def __init__(self, changes: Changes) -> None:
        self._changes = changes
        self._filler = VelocityFiller() if changes.fill_velocities else None

    def packets(self, block: PacketBlock) -> Iterator[tuple[int, Packet]]:
        """The packets that are kept, each with its index in the block.

        A velocity is estimated from all packets before, also from those that are not kept.
        """
        if self._filler is not None:
            self._filler.fill(block)
        entities, span, shift, _ = self._changes
        start, end = span or (-math.inf, math.inf)
        for index in range(len(block)):
            packet = block[index]
            if entities and packet.entity not in entities:
                continue
            if span and not start <= packet.time <= end:
                continue
            yield index, _shifted(packet, shift) if shift else packet


def _shifted(packet: Packet, shift: float) -> Packet:
    arrival = packet.arrival if packet.arrival is None else packet.arrival + shift
    return packet._replace(time=packet.time + shift, arrival=arrival)
