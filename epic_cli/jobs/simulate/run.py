"""One simulated network: packets in order of arrival, and counts of the packets without arrival."""

from __future__ import annotations

import math
from collections.abc import Iterator

from epic_cli.engine.packets import PacketBlock
from epic_cli.network.link import Fates, fates
from epic_cli.network.sender import sample_movement
from epic_cli.network.simulation import Simulation, Statistics
from epic_cli.network.truth_file import TruthWriter
from epic_cli.recordings.reading import make_writer
from epic_cli.recordings.writing import Changes, Conversion


class SimulationRun:
    """The simulation of one network, for one seed.

    ``blocks`` are the arriving packets, ``statistics`` the counts so far.
    """

    def __init__(self, simulation: Simulation, seed: int) -> None:
        self._channel = simulation.make_channel(seed)
        self.movement = simulation.make_movement(seed)
        self.statistics = Statistics()
        simulation.spec.send.drop_strategies()
        self.blocks: Iterator[PacketBlock] = simulation.iterate_blocks(
            seed, self._channel, self.statistics
        )
        #: For how long it goes on; infinite: endlessly.
        self.seconds = min(
            simulation.spec.movement.seconds, self.movement.end - self.movement.start
        )

    @property
    def fates(self) -> Fates:
        """The counts, so far, of packets dropped by a queue, corrupted or clipped."""
        return fates(self._channel)

    @property
    def done(self) -> float:
        """The seconds of movement that have been sent."""
        return self.statistics.time - self.movement.start

    def iterate_rows(self, packet_format: str) -> Iterator[bytes]:
        """Yield the packets as they arrive, block by block, below a header.

        Raises ``UnwritablePacket`` for one that the format cannot hold.
        """
        writer = make_writer(packet_format, ("rotation",) * self.movement.turns)
        conversion = Conversion(Changes())  # the engine writes many packets at once
        header = writer.header
        for block in self.blocks:
            yield b"".join([header, *conversion.iterate_rows(block, writer)])
            header = b""
        if header:
            yield header

    def iterate_truth(self, rate: float) -> Iterator[bytes]:
        """Yield the true states, ``rate`` times a second, as CSV.

        Raises ``ValueError`` for an endless movement, ``Unwritable`` for a name.
        """
        if math.isinf(self.seconds):
            raise ValueError("needs an end: set a duration in --movement")
        writer = TruthWriter(self.movement.turns)
        yield writer.header
        for snapshot in sample_movement(self.movement, rate, self.seconds):
            yield writer.format_rows(snapshot)
