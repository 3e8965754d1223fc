"""Why what came in was not taken, counted: datagrams are written by strangers."""

from __future__ import annotations

from collections import Counter
from enum import Enum


class Refused(Enum):
    """The reasons, in the order in which a datagram meets them, and their words."""

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
