"""Counts of a socket's or capture's packets: accepted, and refused by reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from epic_cli.engine.link import Tally
    from epic_cli.engine.refusals import Refusal


class Refused(Enum):
    """Why something was refused, in the order of the checks."""

    OTHER_SENDER = "from other senders"
    EMPTY = "empty"
    NOT_PACKETS = "not readable as packets"
    NOT_RECORDS = "not a whole number of records"
    NOT_FINITE = "with numbers that are not finite"
    BAD_NAME = "with names that are too long or cannot be shown"
    FAR_TIME = "with times far from the clock's (see --time-unit)"
    SECOND_ENTITY = "of a second entity (choose one with --entity, or another --format)"
    TOO_MANY_ENTITIES = "of more entities than --max-entities"
    UNRECORDABLE = "that packet text cannot record (record .csv or .jsonl)"


def count_words(counts: Counter[Refused]) -> str:
    """``17 refused: 12 empty, 5 not readable as packets``; nothing for none."""
    total = sum(counts.values())
    if not total:
        return ""
    kinds = ", ".join(f"{counts[one]:,} {one.value}" for one in Refused if counts[one])
    return f"{total:,} refused: {kinds}"


class Counts(NamedTuple):
    """The counts so far.

    ``packets`` were accepted; ``late`` ones of them had a time before that of an earlier arrival.
    ``delays`` are those of the packets. Senders' clocks were reset ``clock_resets`` times, the last
    time ``clock_step`` seconds back. ``drifts``: by sender, the growth of the delay (s) per second;
    None: not known yet. ``example`` is a line that was refused.
    """

    datagrams: int
    packets: int
    late: int
    refused: Counter[Refused]
    delays: Tally
    clock_resets: int
    clock_step: float
    drifts: Sequence[float | None]
    example: Refusal | None
