"""Consumers, to which a listener passes datagrams, packets and samples."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from epic_cli.engine.packets import Entities, PacketBlock, SampleBlock
    from epic_cli.recordings.addresses import ReceivedDatagram
    from epic_cli.recordings.datagrams.counts import Counts


class Consumer:
    """A receiver of a listener's datagrams, packets and samples; subclasses override methods.

    The order is: the datagrams of a read, the packets in them, then the samples of the ticks that
    have become due, all on the thread of the caller. All times are in seconds, of datagrams on the
    machine's clock (``machine_time``), else on the receiver's, which starts with the first packet
    at the time in it; positions and velocities are in the game's own lengths. An exception of a
    consumer ends the listening, and a slow consumer delays the others: one that draws or waits for
    a reader drops values, or reads a ``Mailbox`` at its own pace. Recordings come first among
    consumers, so that no other one costs them a packet.
    """

    def take_datagrams(self, received: Sequence[ReceivedDatagram]) -> None:
        """Take datagrams as they were received, valid or not."""

    def take_packets(self, block: PacketBlock) -> None:
        """Take the accepted packets, by arrival, before they reach a strategy.

        Each has an arrival. The block may be kept, and must not be changed.
        """

    def take_samples(self, samples: SampleBlock, entities: Entities) -> None:
        """Take the samples of due ticks, by time; they are valid during the call, so copy them.

        ``samples.rows()`` are bytes of (position 3 f8, velocity 3 f8, time f8, status i4, entity
        i4), ``samples.turns()`` of 7 f8 each: rotation x, y, z, w (NaN: none) and spin in rad/s;
        ``entities.name(number)`` names them. No entity has a sample before its first packet.
        """

    def take_counts(self, counts: Counts) -> None:
        """Take the counts so far; called once a second at most."""

    def close(self) -> None:
        """End the stream; called by the owner of the consumer."""


#: The most packets that wait in a mailbox.
_WAITING = 100_000


class Mailbox(Consumer):
    """A queue of packets for a reader at its own pace, possibly on another thread.

    If it is full, the oldest packets are dropped: ``left_out`` counts them.
    """

    def __init__(self, most: int = _WAITING) -> None:
        self._most = most
        self._blocks: deque[PacketBlock] = deque()
        self._waiting = 0
        self._lock = Lock()
        self.left_out = 0

    def take_packets(self, block: PacketBlock) -> None:
        """Queue packets; drop the oldest if the queue is full."""
        with self._lock:
            self._blocks.append(block)
            self._waiting += len(block)
            while self._waiting > self._most and len(self._blocks) > 1:
                count = len(self._blocks.popleft())
                self._waiting -= count
                self.left_out += count

    def take_blocks(self) -> deque[PacketBlock]:
        """Return the queued blocks, and empty the queue."""
        with self._lock:
            found, self._blocks, self._waiting = self._blocks, deque(), 0
        return found
