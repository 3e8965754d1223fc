"""What a listener passes on: its consumers, and the counts of what was accepted and refused."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from enum import Enum
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from epic_cli.engine.link import Tally
    from epic_cli.engine.packets import Entities, PacketBlock, SampleBlock
    from epic_cli.engine.refusals import Refusal
    from epic_cli.recordings.addresses import ReceivedDatagram

#: Packets of more entities than this are refused unless another number is given.
MAX_ENTITIES = 256


class Refused(Enum):
    """Why something was refused, in the order of the checks."""

    OTHER_SENDER = "from other senders"
    FOREIGN_PAGE = "of web pages from elsewhere (see --origin)"
    NO_ROOM = "beyond 256 at a time"
    OTHER_PROTOCOL = "of another protocol"
    OVERLONG = "with a line or message above 65,507 bytes"
    CUT = "that ended within a line or message"
    EMPTY = "empty"
    BINARY = "binary (--layout says what is in them)"
    MSGPACK = "msgpack, which needs: pip install 'epic-cli[msgpack]'"
    NOT_PACKETS = "not readable as packets"
    NOT_RECORDS = "not a whole number of records"
    OTHER_VALUE = "with another =VALUE than --layout has"
    OTHER_TYPE = "of message types that --layout does not have"
    NOT_FINITE = "with numbers that are not finite"
    BAD_NAME = "with names that are too long or cannot be shown"
    FAR_TIME = "with times far from the clock's (see --time-unit)"
    SECOND_ENTITY = "of a second entity (choose one with --entity, or another --format)"
    TOO_MANY_ENTITIES = "of more entities than --max-entities"


#: Why connections, and whole datagrams, are refused; of others single packets are.
_CONNECTIONS = (
    Refused.FOREIGN_PAGE,
    Refused.NO_ROOM,
    Refused.OTHER_PROTOCOL,
    Refused.OVERLONG,
    Refused.CUT,
)
_WHOLE = (
    Refused.OTHER_SENDER,
    Refused.EMPTY,
    Refused.BINARY,
    Refused.MSGPACK,
    Refused.NOT_RECORDS,
    Refused.OTHER_VALUE,
    Refused.OTHER_TYPE,
)


def count_words(counts: Counter[Refused], example: object = None) -> str:
    """``12 datagrams refused: 12 empty; 5 packets refused: 5 with ...``; nothing for none.

    An ``example`` in words stands behind it.
    """
    words = []
    packets = [one for one in Refused if one not in _CONNECTIONS + _WHOLE]
    for unit, kind in (("connection", _CONNECTIONS), ("datagram", _WHOLE), ("packet", packets)):
        found = [one for one in kind if counts[one]]
        total = sum(counts[one] for one in found)
        kinds = ", ".join(f"{counts[one]:,} {one.value}" for one in found)
        if total:
            words.append(f"{total:,} {unit}{'s' * (total != 1)} refused: {kinds}")
    return "; ".join(words) + (f" ({example})" if words and isinstance(example, str) else "")


class Counts(NamedTuple):
    """The counts so far.

    ``packets`` were accepted; ``late`` ones of them had a time before that of an earlier arrival.
    ``delays`` are those of the packets. Senders' clocks were reset ``clock_resets`` times, the last
    time ``clock_step`` seconds back. ``drifts``: by sender, the growth of the delay (s) per second;
    None: not known yet. ``example`` is a line that was refused, or says why a binary
    datagram was.
    """

    datagrams: int
    packets: int
    late: int
    refused: Counter[Refused]
    delays: Tally
    clock_resets: int
    clock_step: float
    drifts: Sequence[float | None]
    example: Refusal | str | None


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


#: So many packets wait in a mailbox.
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
