"""What the formats share in writing: numbers, CSV fields, and which packets cannot be written."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from enum import Enum, auto
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from epic_cli.engine.contract import Packet
    from epic_cli.engine.text.packet_rows import PacketRows

#: The largest sequence number that is read: 63 bits.
MOST_SEQUENCE = 2**63 - 1


class LineWriter(ABC):
    """Writes a packet a line, with nothing above the first and nothing below the last."""

    header = b""

    @abstractmethod
    def many(self, **changes: Any) -> PacketRows:
        """What writes the same rows many at once; ``changes`` are those of ``PacketRows``."""

    @abstractmethod
    def row(self, packet: Packet) -> bytes:
        """A packet as one line; raises ``Unwritable``."""

    def end(self) -> bytes:
        """What is left to be written below the last packet."""
        return b""


class Fault(Enum):
    """Why a field of a packet cannot be written."""

    UNPRINTABLE = auto()
    BLANK = auto()
    OUTER_BLANK = auto()
    TOO_LONG = auto()
    NOT_FINITE = auto()
    OUT_OF_RANGE = auto()
    NO_COLUMN = auto()
    NO_VELOCITY = auto()


_WORDS = {
    Fault.UNPRINTABLE: "the entity's name {value!r} has characters that cannot be shown",
    Fault.BLANK: "packet text cannot hold the entity's name {value!r}: it would end at the blank",
    Fault.OUTER_BLANK: "the entity's name {value!r} would be read back without its outer blanks",
    Fault.TOO_LONG: "the entity's name is too long to be read back: {value:.20}...",
    Fault.NOT_FINITE: "{field} is {value!r}, and has to be a finite number",
    Fault.OUT_OF_RANGE: "{field} is {value!r}, and has to be a whole number from 0 to 2^63 - 1",
    Fault.NO_COLUMN: "{field} is {value!r}, for which the table has no column",
    Fault.NO_VELOCITY: "the packet has no velocity, and packet text cannot leave it out",
}


class Unwritable(ValueError):
    """A packet that could not be read back as it is: its ``field``, that one's value, and why."""

    def __init__(self, fault: Fault, field: str, value: object) -> None:
        super().__init__(_WORDS[fault].format(field=field, value=value))
        self.fault = fault
        self.field = field
        self.value = value


def number(value: float) -> str:
    """The shortest decimal that reads back as this number; whole ones without a fraction."""
    return repr(float(value)).removesuffix(".0")


def csv_field(text: str) -> str:
    """A field of CSV, quoted where it must be (RFC 4180); the engine's rows quote alike."""
    if any(character in text for character in ',"\n\r'):
        return '"' + text.replace('"', '""') + '"'
    return text


def check_name(entity: str) -> None:
    """Raises ``Unwritable`` for a name that no format is to hold: it could steer a terminal."""
    if not entity.isprintable():
        raise Unwritable(Fault.UNPRINTABLE, "entity", entity)


def if_writable(name: Callable[[str], str]) -> Callable[[str], str | None]:
    """What a row has of an entity's name; None where ``name`` raises ``Unwritable``."""

    def text(entity: str) -> str | None:
        try:
            return name(entity)
        except Unwritable:
            return None

    return text


def check(packet: Packet) -> None:
    """Raises ``Unwritable`` for a packet that readers of all formats would refuse."""
    check_name(packet.entity)
    if packet.arrival is not None and not math.isfinite(packet.arrival):
        raise Unwritable(Fault.NOT_FINITE, "arrival", packet.arrival)
    if not math.isfinite(packet.delta):
        raise Unwritable(Fault.NOT_FINITE, "delta", packet.delta)
    if packet.sequence is not None and not 0 <= packet.sequence <= MOST_SEQUENCE:
        raise Unwritable(Fault.OUT_OF_RANGE, "seq", packet.sequence)


def check_length(row: bytes, longest: int, entity: str) -> bytes:
    """The row; raises ``Unwritable`` where it is longer than the reader takes (bytes)."""
    if len(row) > longest:
        raise Unwritable(Fault.TOO_LONG, "entity", entity)
    return row
