"""Bit encodings of states: each part as whole numbers, in full or as a delta.

A field quantizes a part of a state (position, velocity, rotation) to whole numbers and back; the
result is what a receiver has. A message is a datagram with the states of one moment, and possibly
repeats of earlier moments; it decodes to the same bits.

The order of the bits, the highest of a number first, padded with zeros to a whole byte; a count is
a LEB128 (seven bits at a time, the lowest first, each group behind a bit that says whether more
groups follow):

- datagram: its number, 16 bits (from 0 on, modulo 2^16); a count of moments; the moments, repeated
  ones from the oldest on, then the new one;
- moment: the number of datagrams since it was first sent, 8; its stamp in microseconds, 32 (modulo
  2^32); a count of states; the states;
- state: a count, the entity's index in the order of first sending; the number of datagrams from its
  moment's back to its baseline's, 8 (0: none); the layout's flags (unreal 4, mirror 8, unity-ngo
  32); a bit for a teleport; its parts: position, velocity, rotation, spin;
- part: a bit for its presence; then its numbers in full, or with a baseline that has this part: a
  bit for a difference, and if set the changes;
- in full: the numbers, each in its bits; those in steps without a range as changes of 0;
- changes: the length of the longest, 7 bits (127: in full); then the differences in as many bits
  each, 0, -1, 1, -2 as 0, 1, 2, 3.

A number n of a part stands for these values; spins are written as velocities are:

- 32-bit and 16-bit floats: IEEE 754, as the whole numbers of their bits; ``half-delta`` is the
  change since a base that is not sent again, the first position and that after a teleport; where a
  change is 64 or more, the base moves along that axis;
- ``bits=B`` over the range R: (2 n / (2^B - 1) - 1) R;
- ``quantize=S`` with R: (n - m) S, with m = R / S rounded up, in as many bits as 2 m has;
- steps S: n S;
- ``smallest-three``, B bits: 2 bits name the one of x, y, z, w that is left out and positive; the
  others are (2 n / (2^B - 1) - 1) / sqrt 2;
- ``euler``, ``yaw``, B bits: yaw about z, pitch about y, roll about x, in this order, each n turns
  / 2^B.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import add
from struct import Struct
from typing import TYPE_CHECKING, Final, NamedTuple

from epic_cli.engine.packets import angles

if TYPE_CHECKING:
    from epic_cli.engine.contract import Rotation

#: A part of a state as whole numbers.
Whole = tuple[int, ...]

#: Bytes of the headers of IPv4 (RFC 791, without options) and UDP (RFC 768).
HEADERS = 20 + 8

#: Bits of the length before numbers of variable length, as in Unreal's ``FVector_NetQuantize``
#: (UE 5), and the length that stands for "in full".
_LENGTH, _IN_FULL = 7, 127

#: Bits of a datagram's number, of a distance to an earlier one, and of a stamp in microseconds.
_SEQUENCE, _BACK, _STAMP = 16, 8, 32

#: Oldest usable delta baseline, in datagrams.
FARTHEST_BASE = 2**_BACK - 1


class BitWriter:
    """A buffer of bits; the highest bit of each number comes first."""

    def __init__(self) -> None:
        self._numbers: list[int] = []
        self._widths: list[int] = []

    def put(self, number: int, bits: int) -> None:
        """Append a non-negative number, in ``bits`` bits."""
        self._numbers.append(number)
        self._widths.append(bits)

    def put_all(self, numbers: Sequence[int], widths: Sequence[int]) -> None:
        """Append several numbers, each in as many bits as its width."""
        self._numbers += numbers
        self._widths += widths

    def count(self, number: int) -> None:
        """Append a number of any size as LEB128: seven bits at a time, the lowest first."""
        while number > 127:
            self.put(number & 127 | 128, 8)
            number >>= 7
        self.put(number, 8)

    @property
    def length(self) -> int:
        """The number of bits written."""
        return sum(self._widths)

    def get_bytes(self) -> bytes:
        """Return the bits written as bytes, padded with zeros."""
        value, size = 0, -(-self.length // 8)
        for number, bits in zip(self._numbers, self._widths, strict=True):
            value = value << bits | number
        return (value << 8 * size - self.length).to_bytes(size, "big")


class BitReader:
    """A reader of the bits that a ``BitWriter`` wrote; raises ``ValueError`` past the end."""

    def __init__(self, data: bytes) -> None:
        self._value = int.from_bytes(data, "big")
        self._left = 8 * len(data)

    def take(self, bits: int) -> int:
        """Read the next number, of ``bits`` bits."""
        self._left -= bits
        if self._left < 0:
            raise ValueError("the data are cut off: they end before the last number")
        return self._value >> self._left & (1 << bits) - 1

    def count(self) -> int:
        """Read the next LEB128 number."""
        number = shift = 0
        while (part := self.take(8)) > 127:
            number |= (part & 127) << shift
            shift += 7
        return number | part << shift

    def finish(self) -> None:
        """Check that only the padding of the last byte is left; raise ``ValueError`` otherwise."""
        if self._left > 7 or self.take(self._left):
            raise ValueError("the data have bytes after the last number")


def count_bits(number: int) -> int:
    """Return the number of bits that ``BitWriter.count`` appends."""
    return 8 if number < 128 else 8 * -(-number.bit_length() // 7)


@dataclass(frozen=True)
class Field:
    """The quantization of one part of a state (such as the position) to ``size`` whole numbers.

    ``widths`` are the bits of each number. Without widths the numbers are signed, and all have the
    length of the longest, which is written before them. ``to_whole`` quantizes, ``to_values``
    restores. For an ``exact`` field, receivers are taken to have the original values.
    """

    size: int
    widths: tuple[int, ...]
    to_whole: Callable[[Sequence[float]], Whole]
    to_values: Callable[[Whole], tuple[float, ...]]
    exact: bool = False

    def write(self, bits: BitWriter, whole: Whole, base: Whole | None = None) -> None:
        """Write the numbers, or their changes against the baseline ``base``."""
        if base is not None:
            bits.put(whole != base, 1)
            if whole == base:
                return
        elif self.widths:
            bits.put_all(whole, self.widths)
            return
        pairs = zip(whole, base or (0,) * self.size, strict=True)
        steps = [_encode_zigzag(number - before) for number, before in pairs]
        length = max(steps).bit_length()
        if self.widths and length * self.size >= sum(self.widths):
            bits.put(_IN_FULL, _LENGTH)
            bits.put_all(whole, self.widths)
        else:
            bits.put(length, _LENGTH)
            bits.put_all(steps, (length,) * self.size)

    def read(self, bits: BitReader, base: Whole | None = None) -> Whole:
        """Read the numbers that ``write`` wrote, against the same baseline."""
        if base is None:
            if self.widths:
                return tuple(bits.take(width) for width in self.widths)
            return self._read_signed_number(bits, bits.take(_LENGTH))
        if not bits.take(1):
            return base
        length = bits.take(_LENGTH)
        if self.widths and length == _IN_FULL:
            return self.read(bits)
        return tuple(map(add, base, self._read_signed_number(bits, length)))

    def _read_signed_number(self, bits: BitReader, length: int) -> Whole:
        return tuple(_decode_zigzag(bits.take(length)) for _ in range(self.size))


def _encode_zigzag(number: int) -> int:
    """Map 0, -1, 1, -2 ... to 0, 1, 2, 3 ... (zigzag encoding)."""
    return number << 1 if number >= 0 else ~(number << 1)


def _decode_zigzag(number: int) -> int:
    """Map 0, 1, 2, 3 ... to 0, -1, 1, -2 ... (inverse of ``_encode_zigzag``)."""
    return ~(number >> 1) if number & 1 else number >> 1


# ---------------- the fields


#: The largest numbers in single and in half precision.
_FLOAT: Final = float.fromhex("0x1.fffffep127")
_HALF: Final = 65504.0


def make_float_field(size: int) -> Field:
    """Return a field of single-precision numbers (IEEE 754 binary32), 32 bits each.

    At most 3.4e38.
    """
    return _make_float_field(size, 32, Struct(f">{size}f"), Struct(f">{size}I"), _FLOAT)


def make_half_field(size: int) -> Field:
    """Return a field of half-precision numbers (IEEE 754 binary16), 16 bits each; at most 65504."""
    return _make_float_field(size, 16, Struct(f">{size}e"), Struct(f">{size}H"), _HALF)


def _make_float_field(size: int, bits: int, numbers: Struct, whole: Struct, most: float) -> Field:
    def convert_to_whole(values: Sequence[float]) -> Whole:
        try:
            packed = numbers.pack(*values)
        except OverflowError:
            packed = numbers.pack(*[clamp(value, most) for value in values])
        return whole.unpack(packed)

    return Field(
        size,
        (bits,) * size,
        convert_to_whole,
        lambda given: numbers.unpack(whole.pack(*given)),
        exact=bits == 32,
    )


def make_step_field(step: float) -> Field:
    """Return a field of multiples of ``step``, without bounds."""
    return Field(
        3,
        (),
        lambda values: tuple(math.floor(value / step + 0.5) for value in values),
        lambda given: tuple(number * step for number in given),
    )


def make_bounded_field(step: float, reach: float) -> Field:
    """Return a field of multiples of ``step`` from -``reach`` to ``reach``.

    ``reach`` must be a multiple of ``step``. Values out of range are clipped.
    """
    most = round(reach / step)
    return Field(
        3,
        ((2 * most).bit_length(),) * 3,
        lambda values: tuple(
            most + math.floor(clamp(value, reach) / step + 0.5) for value in values
        ),
        lambda given: tuple((number - most) * step for number in given),
    )


def make_bit_field(bits: int, reach: float) -> Field:
    """Return a field of 2^``bits`` equal steps from -``reach`` to ``reach``.

    Values out of range are clipped.
    """
    most = 2**bits - 1
    return Field(
        3,
        (bits,) * 3,
        lambda values: tuple(
            math.floor((clamp(value, reach) / reach + 1) / 2 * most + 0.5) for value in values
        ),
        lambda given: tuple((2 * number / most - 1) * reach for number in given),
    )


def make_smallest_three_field(bits: int) -> Field:
    """Return a field for a quaternion's three smallest components and the index of the largest.

    The three lie within 1/sqrt 2 of 0, in equal steps of ``bits`` bits each; the largest is made
    positive and follows from the others (Fiedler, "Snapshot compression", 2015).
    """
    most = 2**bits - 1

    def convert_to_whole(rotation: Sequence[float]) -> Whole:
        sizes = [*map(abs, rotation)]
        largest = sizes.index(max(sizes))
        rest = [*rotation]
        sign = math.copysign(math.sqrt(2), rest.pop(largest))
        return largest, *[math.floor((sign * value + 1) / 2 * most + 0.5) for value in rest]

    def convert_to_values(given: Whole) -> Rotation:
        largest, *rest = given
        found = [(2 * number / most - 1) / math.sqrt(2) for number in rest]
        found.insert(largest, math.sqrt(max(0.0, 1 - sum([value * value for value in found]))))
        size = math.sqrt(sum([value * value for value in found]))
        x, y, z, w = [value / size for value in found]
        return x, y, z, w

    return Field(4, (2, bits, bits, bits), convert_to_whole, convert_to_values)


def make_turn_field(bits: int, size: int) -> Field:
    """Return a field of yaw (``size`` 1), or yaw, pitch and roll (3), as fractions of a turn.

    Each has ``bits`` bits. Yaw turns about z, then pitch about y, then roll about x.
    """
    count = 2**bits

    def convert_to_values(given: Whole) -> Rotation:
        half_angles = [number * math.pi / count for number in given] + [0.0] * (3 - size)
        (cy, sy), (cp, sp), (cr, sr) = ((math.cos(half), math.sin(half)) for half in half_angles)
        return (
            sr * cp * cy - cr * sp * sy,
            cr * sp * cy + sr * cp * sy,
            cr * cp * sy - sr * sp * cy,
            cr * cp * cy + sr * sp * sy,
        )

    return Field(
        size,
        (bits,) * size,
        lambda rotation: tuple(
            math.floor(angle / 360 * count + 0.5) % count
            for angle in angles((*rotation,))[:size]  # type: ignore[arg-type]
        ),
        convert_to_values,
    )


def clamp(value: float, most: float) -> float:
    """Limit a value to -``most`` ... ``most``."""
    return -most if value < -most else most if value > most else value


# ---------------- messages


class EncodedState(NamedTuple):
    """A state quantized to whole numbers; None for a missing part.

    ``teleported`` is True if the entity has teleported since its last state.
    """

    parts: tuple[Whole | None, ...]
    teleported: bool = False


@dataclass(frozen=True)
class Encoding:
    """The encoding of a state: ``flags`` bits of flags, then its ``fields`` in order."""

    fields: tuple[Field, ...]
    flags: int = 0

    def quantize(self, parts: Sequence[Sequence[float] | None]) -> EncodedState:
        """Quantize the parts of a state, one for each field."""
        both = zip(self.fields, parts, strict=True)
        numbers = [None if part is None else field.to_whole(part) for field, part in both]
        return EncodedState(tuple(numbers))

    def decode_parts(
        self, state: EncodedState, parts: Sequence[Sequence[float] | None] | None = None
    ) -> list[Sequence[float] | None]:
        """Return the parts as a receiver decodes them; for exact fields, the original ``parts``."""
        given = parts if parts is not None else (None,) * len(self.fields)
        return [
            None if whole is None
            else part if field.exact and part is not None
            else field.to_values(whole)
            for field, whole, part in zip(self.fields, state.parts, given, strict=True)
        ]  # fmt: skip

    def has_room(self, state: EncodedState) -> bool:
        """Return True if every number fits its width, which a sum with a delta may exceed."""
        both = zip(self.fields, state.parts, strict=True)
        return not any(
            number >> width  # -1 below 0
            for field, whole in both if field.widths and whole is not None
            for number, width in zip(whole, field.widths, strict=True)
        )  # fmt: skip

    def count_bits(self, state: EncodedState, base: EncodedState | None = None) -> int:
        """Return the number of bits that ``write`` appends."""
        bits = BitWriter()
        self.write(bits, state, base)
        return bits.length

    def write(self, bits: BitWriter, state: EncodedState, base: EncodedState | None = None) -> None:
        """Write a state, or its delta against the baseline ``base``."""
        bits.put(0, self.flags)
        bits.put(state.teleported, 1)
        bases = base.parts if base is not None else (None,) * len(self.fields)
        for field, part, before in zip(self.fields, state.parts, bases, strict=True):
            bits.put(part is not None, 1)
            if part is not None:
                field.write(bits, part, before)

    def read(self, bits: BitReader, base: EncodedState | None = None) -> EncodedState:
        """Read the state that ``write`` wrote, against the same baseline."""
        bits.take(self.flags)
        teleported = bool(bits.take(1))
        bases = base.parts if base is not None else (None,) * len(self.fields)
        parts = [
            field.read(bits, before) if bits.take(1) else None
            for field, before in zip(self.fields, bases, strict=True)
        ]
        return EncodedState(tuple(parts), teleported)


class StateChange(NamedTuple):
    """An entity's state in a message; ``base`` is the number of the datagram with its baseline."""

    entity: int
    state: EncodedState
    base: int | None = None


class Moment(NamedTuple):
    """The states first sent in one datagram, with the datagram's number and its stamp (s)."""

    number: int
    stamp: float
    changes: tuple[StateChange, ...]


#: Return the state of an entity in the datagram of this number; raise ``KeyError``.
Known = Callable[[int, int], EncodedState]


def write_message(encoding: Encoding, moments: Sequence[Moment], known: Known) -> bytes:
    """Encode a datagram: its number, then repeated moments from the oldest on, then its own moment.

    ``moments`` begin with the datagram's own. ``known`` returns the baselines.
    """
    bits = BitWriter()
    first = moments[0].number
    bits.put(first % 2**_SEQUENCE, _SEQUENCE)
    bits.count(len(moments))
    for number, stamp, changes in reversed(moments):
        bits.put(first - number, _BACK)
        bits.put(round(stamp * 1e6) % 2**_STAMP, _STAMP)
        bits.count(len(changes))
        for entity, state, base in changes:
            bits.count(entity)
            bits.put(0 if base is None else number - base, _BACK)
            encoding.write(bits, state, None if base is None else known(base, entity))
    return bits.get_bytes()


class MessageReader:
    """A decoder of messages; moments given to ``keep`` are the baselines of later messages.

    ``undecodable`` counts the states whose baseline has not arrived.
    """

    def __init__(self, encoding: Encoding) -> None:
        self.encoding = encoding
        self._unknown = EncodedState(tuple((0,) * field.size for field in encoding.fields))
        self._history: OrderedDict[int, dict[int, EncodedState]] = OrderedDict()
        self.undecodable = 0

    def read(self, data: bytes, number: int, stamp: float) -> list[Moment]:
        """Return the new moments of a message, the oldest first.

        ``number`` and ``stamp`` (s) are near the message's own and complete its truncated ones.
        Raises ``ValueError`` for malformed data.
        """
        bits, found = BitReader(data), dict[int, dict[int, EncodedState]]()
        own = _complete_number(bits.take(_SEQUENCE), _SEQUENCE, number)
        moments = [self._read_moment(bits, own, stamp, found) for _ in range(bits.count())]
        bits.finish()
        return [
            moment._replace(changes=tuple(
                change for change in moment.changes
                if change.entity not in self._history.get(moment.number, ())
            ))
            for moment in moments
        ]  # fmt: skip

    def keep(self, moments: Sequence[Moment]) -> None:
        """Store moments from ``read`` as baselines."""
        for number, _, changes in moments:
            states = self._history.setdefault(number, {})
            states.update((change.entity, change.state) for change in changes)
        while len(self._history) > 2 * FARTHEST_BASE + 1:
            self._history.popitem(last=False)

    def _read_moment(
        self, bits: BitReader, own: int, stamp: float, found: dict[int, dict[int, EncodedState]]
    ) -> Moment:
        number = own - bits.take(_BACK)
        at_us = _complete_number(bits.take(_STAMP), _STAMP, round(stamp * 1e6))
        states = found.setdefault(number, {})
        changes = []
        for _ in range(bits.count()):
            entity, back = bits.count(), bits.take(_BACK)
            base = number - back
            given = found.get(base, {}).get(entity) or self._history.get(base, {}).get(entity)
            state = self.encoding.read(bits, (given or self._unknown) if back else None)
            if back and given is None:
                self.undecodable += number == own
                continue
            if not self.encoding.has_room(state):
                raise ValueError("the data have a number that does not fit its bits")
            states[entity] = state
            changes.append(StateChange(entity, state, base if back else None))
        return Moment(number, at_us / 1e6, tuple(changes))


def _complete_number(low: int, bits: int, near: int) -> int:
    """Return the number nearest to ``near`` whose lowest ``bits`` bits are ``low``."""
    half = 1 << bits - 1
    return near + (low - near + half) % (2 * half) - half
