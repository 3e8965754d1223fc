"""What a listener passes on, and who takes it."""

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
    """Receives one stream of values; overrides what it is interested in.

    In this order: the datagrams of a read, the packets in them, then the samples of the ticks that
    have become due, all on the thread of whoever emits them. All times are in seconds, of
    datagrams on the machine's clock (``machine_time``), else on the receiver's, which starts with
    the first packet at the time in it; positions and velocities are in the game's own lengths. What
    a consumer raises ends the listening, and what it does keeps the others waiting: one that draws
    or waits for a reader leaves things out, or reads a ``Mailbox`` at its own pace. Recordings
    come first among consumers, so that no other one costs them a packet.
    """

    def take_datagrams(self, received: Sequence[ReceivedDatagram]) -> None:
        """Takes datagrams as received, whatever they contain."""

    def take_packets(self, block: PacketBlock) -> None:
        """Takes the accepted packets, by arrival, before they reach a strategy.

        Each has an arrival. The block may be kept, and must not be changed.
        """

    def take_samples(self, samples: SampleBlock, entities: Entities) -> None:
        """Takes the samples of due ticks, by time: valid during the call, so copy what you keep.

        ``samples.rows()`` are bytes of (position 3 f8, velocity 3 f8, time f8, status i4, entity
        i4), ``samples.turns()`` of 7 f8 each: rotation x, y, z, w (NaN: none) and spin in rad/s;
        ``entities.name(number)`` names them. No entity has a sample before its first packet.
        """

    def take_counts(self, counts: Counts) -> None:
        """Takes the counts so far; once a second at most."""

    def close(self) -> None:
        """Ends the stream; called by whoever made the consumer."""


#: Packets that wait in a mailbox.
_WAITING = 100_000


class Mailbox(Consumer):
    """Keeps packets for a reader at its own pace, possibly on another thread.

    Where too many wait, the oldest go: ``left_out`` counts them.
    """

    def __init__(self, most: int = _WAITING) -> None:
        self._most = most
        self._blocks: deque[PacketBlock] = deque()
        self._waiting = 0
        self._lock = Lock()
        self.left_out = 0

    def take_packets(self, block: PacketBlock) -> None:
        """Keeps them."""
        with self._lock:
            self._blocks.append(block)
            self._waiting += len(block)
            while self._waiting > self._most and len(self._blocks) > 1:
                count = len(self._blocks.popleft())
                self._waiting -= count
                self.left_out += count

    def empty(self) -> deque[PacketBlock]:
        """What has come since the last time."""
        with self._lock:
            found, self._blocks, self._waiting = self._blocks, deque(), 0
        return found
