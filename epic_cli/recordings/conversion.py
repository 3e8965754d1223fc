"""What is done to the packets of a recording on their way into another one."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, NamedTuple

from epic_cli.engine.contract import Packet
from epic_cli.engine.packets import PacketBlock, VelocityFiller
from epic_cli.recordings.writing import LineWriter, Unwritable

if TYPE_CHECKING:
    from epic_cli.engine.text import PacketRows
    from epic_cli.recordings import Writer


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


class UnwritablePacket(ValueError):
    """The packet at this ``index`` of a block has no row; ``error`` says why."""

    def __init__(self, index: int, error: Unwritable) -> None:
        super().__init__(str(error))
        self.index = index
        self.error = error


class Conversion:
    """Changes the packets of one recording, whose blocks come in their order.

    Either all of them are asked for as ``packets``, or as the ``rows`` of one writer.
    """

    def __init__(self, changes: Changes) -> None:
        self._changes = changes
        self._filler = VelocityFiller() if changes.fill_velocities else None
        self._many: PacketRows | None = None

    def packets(self, block: PacketBlock) -> Iterator[tuple[int, Packet]]:
        """The packets that are kept, each with its index in the block.

        A velocity is estimated from all packets before, also from those that are not kept.
        """
        self._fill(block)
        yield from self._kept(block, 0)

    def rows(self, block: PacketBlock, writer: Writer) -> Iterator[bytes]:
        """The rows of the packets that are kept; raises ``UnwritablePacket``.

        The engine writes the usual ones, many at once; the writer decides about the others.
        """
        self._fill(block)
        if self._many is None and isinstance(writer, LineWriter):
            entities, span, shift, _ = self._changes
            self._many = writer.many(entities=entities, span=span, shift=shift)
        begin = 0
        while begin < len(block):
            if self._many is not None:
                rows, begin = self._many.rows(block, begin)
                yield rows
            for index, packet in self._kept(block, begin):
                try:
                    yield writer.row(packet)
                except Unwritable as error:
                    raise UnwritablePacket(index, error) from error
                begin = index + 1
                if self._many is not None:
                    break
            else:
                return

    def _fill(self, block: PacketBlock) -> None:
        if self._filler is not None:
            self._filler.fill(block)

    def _kept(self, block: PacketBlock, begin: int) -> Iterator[tuple[int, Packet]]:
        entities, span, shift, _ = self._changes
        start, end = span or (-math.inf, math.inf)
        for index in range(begin, len(block)):
            packet = block[index]
            if entities and packet.entity not in entities:
                continue
            if span and not start <= packet.time <= end:
                continue
            yield index, _shifted(packet, shift) if shift else packet


def _shifted(packet: Packet, shift: float) -> Packet:
    arrival = packet.arrival if packet.arrival is None else packet.arrival + shift
    return packet._replace(time=packet.time + shift, arrival=arrival)
