"""From datagrams to accepted packets with times on the receiver's clock, and counts of the rest.

Datagrams are untrusted input, and memory does not grow with them.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from epic_cli.engine.intake import Admission
from epic_cli.engine.link import Tally
from epic_cli.engine.packets import Entities, PacketBlock
from epic_cli.recordings import packet_formats
from epic_cli.recordings.datagrams.counts import MAX_ENTITIES, Counts, Refused
from epic_cli.recordings.datagrams.decoding import Decoded, Decoder
from epic_cli.recordings.read_spec import INFERRED, ReadSpec

if TYPE_CHECKING:
    from epic_cli.engine.refusals import Refusal
    from epic_cli.recordings.addresses import ReceivedDatagram
    from epic_cli.recordings.datagrams.binary import RecordLayout

#: Characters of an entity's name.
_LONGEST_NAME = 64

#: So many senders are distinguished; the others count as one.
_MOST_SENDERS = 64


@dataclass(frozen=True)
class IngestSpec:
    """How datagrams are read, and which of their packets are accepted.

    ``read`` is how they are read: each shows its format unless that is given, times are in seconds,
    and without an origin the first packet's time becomes 0 if it is a Unix time. ``records``: the
    datagrams are binary. ``sender``: datagrams of
    others are refused (a host and a port, which may be 0 for any). Entities other than ``entity``
    are skipped; with ``single_entity`` a second one is refused.
    """

    read: ReadSpec = INFERRED
    records: RecordLayout | None = None
    sender: tuple[Any, ...] | None = None
    entity: str | None = None
    single_entity: bool = False
    max_entities: int = MAX_ENTITIES

    def __post_init__(self) -> None:
        formats = ("auto", *packet_formats())
        if self.read.format not in formats:
            raise ValueError(f"a datagram is {', '.join(formats[1:])}, not {self.read.format}")
        if self.records is not None and self.read != INFERRED:
            raise ValueError("layout describes all of a binary record: leave read out")

    @property
    def time_origin(self) -> float | None:
        """The time in seconds that becomes 0, NaN: the first packet's; None: not given."""
        origin = self.read.time_origin
        return math.nan if origin == "first" else origin


class Ingest:
    """Reads datagrams and accepts their packets; what it keeps does not grow beyond their names.

    The receiver's clock starts with the first packet, at the time in it: that packet's delay counts
    as 0. Where a sender's clock is reset, its times continue at the receiver's.
    """

    def __init__(self, spec: IngestSpec) -> None:
        self._spec = spec
        self._decoder = Decoder(spec.read, spec.records)
        self._refused: Counter[Refused] = Counter()
        self._delays = Tally()
        self._admission = Admission(
            self._refuses_name,
            (Refused.NOT_FINITE, Refused.FAR_TIME),
            self._delays,
            origin=spec.time_origin,
            time_span=getattr(spec.records, "time_span", None) or 0.0,
        )
        self._senders: dict[tuple[Any, ...], int] = {}
        self._datagrams = 0
        self._example: Refusal | str | None = None

    @property
    def entities(self) -> Entities:
        """The entities whose packets were accepted."""
        return self._admission.entities

    @property
    def counts(self) -> Counts:
        """What came in until now."""
        found = self._admission
        return Counts(
            self._datagrams,
            found.packets,
            found.late,
            self._refused,
            self._delays,
            found.clock_resets,
            found.clock_step,
            found.drifts(),
            self._example,
        )

    def now(self, machine: float) -> float | None:
        """The receiver's clock at a time (seconds) of the machine's; None: it has not begun."""
        return self._admission.now(machine)

    def take(
        self, received: Sequence[ReceivedDatagram], earliest: float = -math.inf
    ) -> PacketBlock:
        """The packets that are accepted.

        No arrival is before the one before it, nor before ``earliest``, up to which rows have been
        drawn.
        """
        packets = PacketBlock(self.entities)
        self._datagrams += len(received)
        if self._spec.sender is not None:
            everybody, received = received, [one for one in received if self._is_from(one.sender)]
            if len(received) < len(everybody):
                self._refused[Refused.OTHER_SENDER] += len(everybody) - len(received)
        times = array("d", [one.time for one in received])
        senders = array("i", [self._number_of(one.sender) for one in received])
        for decoded in self._decoder.read([one.data for one in received]):
            some = slice(decoded.first, decoded.first + len(decoded.ends))
            self.admit(decoded, times[some], senders[some], earliest, packets)
        return packets

    def admit(
        self,
        decoded: Decoded,
        times: array[float],
        senders: array[int],
        earliest: float,
        into: PacketBlock,
    ) -> None:
        """Appends what is accepted, and counts the rest.

        ``times`` are the datagrams' arrivals on the machine's clock (s), ``senders`` small numbers
        for their senders.
        """
        self._example = self._example or decoded.example
        if decoded.refused:
            self._refused[decoded.reason] += decoded.refused
        if decoded.block is not None:
            ends = decoded.ends.tobytes()
            given = ends, times.tobytes(), senders.tobytes(), earliest, into
            found = self._admission.admit(decoded.block, *given)
            self._refused.update(found)  # type: ignore[arg-type]

    def _is_from(self, sender: tuple[Any, ...]) -> bool:
        assert self._spec.sender is not None
        host, port = self._spec.sender[:2]
        return bool(sender[0] == host and port in (0, sender[1]))

    def _number_of(self, sender: tuple[Any, ...]) -> int:
        number = self._senders.get(sender)
        if number is None:
            number = len(self._senders)
            if number < _MOST_SENDERS:
                self._senders[sender] = number
        return number

    def _refuses_name(self, name: str) -> Refused | bool | None:
        """Why a new entity is not accepted; False: it is skipped."""
        spec = self._spec
        if spec.entity is not None and name != spec.entity:
            return False
        if len(name) > _LONGEST_NAME or not name.isprintable() or name != name.strip():
            return Refused.BAD_NAME
        if spec.single_entity and len(self.entities):
            return Refused.SECOND_ENTITY
        if len(self.entities) >= spec.max_entities:
            return Refused.TOO_MANY_ENTITIES
        return None
