"""Counts of what a listener refuses, by reason; their size does not grow with the traffic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from epic_cli.engine.link import Tally
    from epic_cli.engine.refusals import Refusal

#: Packets of more entities than this are refused unless another number is given.
MAX_ENTITIES = 256


class Refused(Enum):
    """The reasons for refusing a datagram or packet, in the order of the checks."""

    OTHER_SENDER = "from other senders"
    FOREIGN_PAGE = "of web pages from elsewhere (see origin=)"
    NO_ROOM = "beyond 256 at a time"
    OTHER_PROTOCOL = "of another protocol"
    OVERLONG = "with a line or message above 65,507 bytes"
    CUT = "that ended within a line or message"
    EMPTY = "empty"
    BINARY = "binary (--layout says what is in them)"
    MSGPACK = "msgpack, which needs: pip install msgpack"
    NOT_PACKETS = "not readable as packets"
    MANY_LAYOUTS = "of a datagram with many layouts of its own"
    NOT_RECORDS = "not a whole number of records"
    OTHER_VALUE = "with another =VALUE than --layout has"
    OTHER_TYPE = "of message types that --layout does not have"
    NOT_FINITE = "with numbers that are not finite"
    BAD_NAME = "with names that are too long or cannot be shown"
    FAR_TIME = "with times far from the clock's (see unit in --read)"
    SECOND_ENTITY = "of a second entity (choose one with --entity, or another --format)"
    TOO_MANY_ENTITIES = "of more entities than max_entities="


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
    """Describe the counts of refusals: ``12 datagrams refused: 12 empty; 5 packets refused: ...``.

    Empty if nothing was refused. An ``example`` in words stands at the end.
    """
    words = []
    packets = [refused for refused in Refused if refused not in _CONNECTIONS + _WHOLE]
    for unit, kind in (("connection", _CONNECTIONS), ("datagram", _WHOLE), ("packet", packets)):
        found = [refused for refused in kind if counts[refused]]
        total = sum(counts[refused] for refused in found)
        kinds = ", ".join(f"{counts[refused]:,} {refused.value}" for refused in found)
        if total:
            words.append(f"{total:,} {unit}{'s' * (total != 1)} refused: {kinds}")
    return "; ".join(words) + (f" ({example})" if words and isinstance(example, str) else "")


class Counts(NamedTuple):
    """The counts of a listener so far.

    ``packets`` were accepted; ``late`` ones of these had a time before that of an earlier arrival.
    ``delays`` are the packets' delays. Senders' clocks were reset ``clock_resets`` times, the last
    time ``clock_step`` seconds back. ``drifts`` are, by sender, the growth of the delay (s) per
    second, None if not known yet. ``example`` is a refused line, or the reason why a binary
    datagram was refused.
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
