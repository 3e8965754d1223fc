"""Write numbers, CSV fields and lines of packets for all formats, and refuse unwritable packets."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple

from epic_cli.engine.contract import Packet
from epic_cli.engine.failures import Portable
from epic_cli.engine.keys import KEYS, REQUESTS, Key, KeyType
from epic_cli.engine.packets import PacketBlock, VelocityFiller, is_quaternion
from epic_cli.recordings import DELIMITERS, LONGEST_LINE
from epic_cli.recordings.extras import Loss, Tails, find_packet_extras, parse_value

if TYPE_CHECKING:
    from epic_cli.engine.text import PacketRows
    from epic_cli.recordings import BlockWriter, Requested, Writer


#: The largest sequence number that is read: 63 bits.
MOST_SEQUENCE = 2**63 - 1


class Fault(Enum):
    """The reasons why a field of a packet cannot be written, with their messages."""

    UNPRINTABLE = "the entity's name {value!r} has characters that cannot be shown"
    BLANK = "packet text cannot hold the entity's name {value!r}: it would end at the blank"
    OUTER_BLANK = "the entity's name {value!r} would be read back without its outer blanks"
    TOO_LONG = "the entity's name is too long to be read back: {value:.20}..."
    NOT_FINITE = "{field} is {value!r}, and has to be a finite number"
    OUT_OF_RANGE = "{field} is {value!r}, and has to be a whole number from 0 to 2^63 - 1"
    NO_ROTATION = "rotation is {value!r}, and has to be a quaternion of length 1"
    NO_COLUMN = "{field} is {value!r}, for which the table has no column"
    NO_VELOCITY = "the packet has no velocity, and packet text cannot leave it out"


class Unwritable(Portable, ValueError):
    """A packet that could not be read back unchanged: the ``field``, its value, and the fault."""

    def __init__(self, fault: Fault, field: str, value: object) -> None:
        super().__init__(fault.value.format(field=field, value=value))
        self.fault = fault
        self.field = field
        self.value = value


class LineWriter:
    """A writer of packets, each as one line, that refuses a packet for which there is no line.

    ``name`` returns an entity's name as the line holds it, or raises ``Unwritable``; ``tails``
    writes a packet's extra values; ``longest`` is the length of the longest line (bytes) that the
    format's reader takes, with its end. A packet with a key that has no column without being
    ``requested`` has no line. ``form`` holds the arguments of ``PacketRows`` for the format.
    """

    def __init__(
        self,
        name: Callable[[str], str],
        tails: Tails,
        *,
        header: bytes = b"",
        longest: int = LONGEST_LINE,
        needs_velocity: bool = False,
        requested: Requested = REQUESTS,
        **form: Any,
    ) -> None:
        self.header = header
        self.tails = tails
        self._name = name
        self._longest = longest
        self._needs_velocity = needs_velocity
        self._keys = [key for key in KEYS if not key.request or key.request in requested]
        self._form = {**form, "requested": [key.columns[0] for key in self._keys if key.request]}

    def make_many_writer(self, **changes: Any) -> PacketRows:
        """Return an engine's writer of the same rows, many at once.

        ``changes`` are those of ``PacketRows``.
        """
        from epic_cli.engine.text import PacketRows  # most write other things

        def name_or_none(entity: str) -> str | None:
            try:
                return self._name(entity)
            except Unwritable:
                return None

        return PacketRows(name_or_none, self._longest, **self._form, **changes)

    def make_block_writer(self, changes: Changes) -> BlockWriter:
        """Return a writer of many packets at once."""
        return _BlockLines(self, changes)

    def format_row(self, packet: Packet) -> bytes:
        """Return a packet as one line; raises ``Unwritable``."""
        check(packet)
        if self._needs_velocity and packet.velocity is None:
            raise Unwritable(Fault.NO_VELOCITY, "velocity", None)
        check_columns(packet, self._keys)
        self._name(packet.entity)
        block = PacketBlock()
        block.append(packet)
        many = self.make_many_writer()
        row, written = many.rows(block, 0, [self.tails.write(packet.extras or {})])
        if not written and packet.extras:
            for name in packet.extras:
                self.tails.lose(Loss.LENGTH, name)
            row, written = many.rows(block, 0, [self.tails.write({})])
        if not written:
            raise Unwritable(Fault.TOO_LONG, "entity", packet.entity)
        return bytes(row)

    def write_tails(self, block: PacketBlock) -> list[bytes | None] | None:
        """Return the end of each packet's row; None if no packet of the block has extras."""
        none = self.tails.write({})
        if not none and not block.any_extras():
            return None
        return [
            self.tails.write(find_packet_extras(block, at)) if block.has_extras(at) else none
            for at in range(len(block))
        ]

    def end(self) -> bytes:
        """Return the bytes below the last packet: none."""
        return b""


class _BlockLines:
    """A writer of blocks of packets as lines, with the extras behind their keys."""

    def __init__(self, writer: LineWriter, changes: Changes) -> None:
        entities, span, shift, _ = changes
        self._writer = writer
        self._rows = writer.make_many_writer(entities=entities, span=span, shift=shift)
        self._block: PacketBlock | None = None
        self._tails: list[bytes | None] | None = None

    def write(self, block: PacketBlock, begin: int) -> tuple[bytes, int]:
        """Return the lines from an index on, and the index of the first packet left over."""
        if block is not self._block:
            self._block, self._tails = block, self._writer.write_tails(block)
        return self._rows.rows(block, begin, self._tails)


def write_number(value: float) -> str:
    """Return the shortest decimal that reads back as this number; whole ones without a fraction."""
    return repr(float(value)).removesuffix(".0")


def write_value(value: str | float) -> str:
    """Return a setting's value as it is typed."""
    return value if isinstance(value, str) else write_number(float(value))


def write_csv_field(text: str) -> str:
    """Return a field of CSV, quoted where it must be (RFC 4180); the engine's rows quote alike."""
    if any(character in text for character in ',"\n\r'):
        return '"' + text.replace('"', '""') + '"'
    return text


def write_header_field(name: str) -> str:
    """Return a name in a header of CSV, in quotes where it could be taken for several."""
    if set(name) & {*DELIMITERS, '"'}:
        return '"' + name.replace('"', '""') + '"'
    return name


def write_typed_field(value: object, text: str) -> str:
    """Return a field of CSV for a value with this text: a text like a number is in quotes."""
    if isinstance(value, str) and not isinstance(parse_value(text), str):
        return f'"{text}"'
    return write_csv_field(text)


def check_name(entity: str) -> str:
    """Return the name; raises ``Unwritable`` for one that could control a terminal."""
    if not entity.isprintable():
        raise Unwritable(Fault.UNPRINTABLE, "entity", entity)
    return entity


def check_unbroken_name(entity: str) -> str:
    """Return the name; raises ``Unwritable`` for one that has a blank."""
    if " " in check_name(entity):  # of the printable characters the one that ends a word
        raise Unwritable(Fault.BLANK, "entity", entity)
    return entity


def check(packet: Packet) -> None:
    """Raise ``Unwritable`` for a packet that readers of all formats would refuse."""
    check_name(packet.entity)
    for key in KEYS:
        value = getattr(packet, key.attribute)
        if value is None or not key.words:  # missing, or one of the seven numbers
            continue
        if key.type in (KeyType.MOMENT, KeyType.DURATION, KeyType.ROTATION, KeyType.SPIN):
            if not all(map(math.isfinite, value if len(key.columns) > 1 else (value,))):
                raise Unwritable(Fault.NOT_FINITE, key.name, value)
            if key.type is KeyType.ROTATION and not is_quaternion(value):
                raise Unwritable(Fault.NO_ROTATION, key.name, value)
        if key.type is KeyType.COUNT and not 0 <= value <= MOST_SEQUENCE:
            raise Unwritable(Fault.OUT_OF_RANGE, key.name, value)


def check_columns(packet: Packet, keys: Collection[Key]) -> None:
    """Raise ``Unwritable`` for a packet that has another key than these."""
    for key in KEYS:
        lacks = key.name == key.request and key not in keys
        if lacks and getattr(packet, key.attribute) != key.absent:
            raise Unwritable(Fault.NO_COLUMN, key.name, getattr(packet, key.attribute))


class Changes(NamedTuple):
    """The selection of packets to keep, and the changes made to them.

    ``entities``: keep only the packets of these entities; empty for all. ``span`` (s): keep only
    packets whose original times are in it, ends included. ``shift`` (s) is added to the times and
    arrival times of these packets. ``fill_velocities``: a packet without a velocity gets the
    estimate that strategies get.
    """

    entities: Collection[str] = ()
    span: tuple[float, float] | None = None
    shift: float = 0.0
    fill_velocities: bool = False


class UnwritablePacket(Portable, ValueError):
    """The packet at this ``index`` of a block has no row; ``error`` says why, ``place`` where."""

    place = ""

    def __init__(self, index: int, error: Unwritable) -> None:
        super().__init__(str(error))
        self.index = index
        self.error = error


class Conversion:
    """A conversion of the packets of one recording, whose blocks come in their order.

    Use either ``iterate_packets`` for all blocks, or ``iterate_rows`` with one writer.
    """

    def __init__(self, changes: Changes) -> None:
        self._changes = changes
        self._filler = VelocityFiller() if changes.fill_velocities else None
        self._many: BlockWriter | None = None

    def iterate_packets(self, block: PacketBlock) -> Iterator[tuple[int, Packet]]:
        """Yield the kept packets, each with its index in the block.

        A velocity is estimated from all earlier packets, including those that are not kept.
        """
        self._fill_velocities(block)
        yield from self._iterate_kept_packets(block, 0)

    def iterate_rows(self, block: PacketBlock, writer: Writer) -> Iterator[bytes]:
        """Yield the rows of the kept packets; raises ``UnwritablePacket``.

        The engine writes usual packets many at once; the writer decides about the others.
        """
        self._fill_velocities(block)
        if self._many is None:
            self._many = writer.make_block_writer(self._changes)
        begin = 0
        while begin < len(block):
            rows, begin = self._many.write(block, begin)
            yield rows
            unusual = next(self._iterate_kept_packets(block, begin), None)
            if unusual is None:
                return
            index, packet = unusual
            try:
                yield writer.format_row(packet)
            except Unwritable as error:
                raise UnwritablePacket(index, error) from error
            begin = index + 1

    def _fill_velocities(self, block: PacketBlock) -> None:
        if self._filler is not None:
            self._filler.fill(block)

    def _iterate_kept_packets(self, block: PacketBlock, begin: int) -> Iterator[tuple[int, Packet]]:
        entities, span, shift, _ = self._changes
        start, end = span or (-math.inf, math.inf)
        for index in range(begin, len(block)):
            packet = block[index]
            if entities and packet.entity not in entities:
                continue
            if span and not start <= packet.time <= end:
                continue
            if block.has_extras(index):
                packet = packet._replace(extras=find_packet_extras(block, index) or None)
            yield index, _shift_times(packet, shift) if shift else packet


def _shift_times(packet: Packet, shift: float) -> Packet:
    arrival = packet.arrival if packet.arrival is None else packet.arrival + shift
    return packet._replace(time=packet.time + shift, arrival=arrival)
