"""What a state is in bits: each part as whole numbers, and these in full or as changes.

A field turns a part of a state (a position, a velocity, a rotation) into whole numbers and back;
what comes back is what a receiver has. A message is a datagram with the states of one moment, and
of some before it, which can be read again to the last bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from struct import Struct
from typing import TYPE_CHECKING, Final, NamedTuple

from epic_cli.engine.packets import angles

if TYPE_CHECKING:
    from epic_cli.engine.contract import Rotation

#: A part of a state as whole numbers.
Whole = tuple[int, ...]

#: Bytes of the headers of IPv4 (RFC 791, without options) and UDP (RFC 768).
HEADERS = 20 + 8

#: Bits of the length that stands before numbers that are as long as they need to be, as in
#: Unreal's ``FVector_NetQuantize`` (UE 5), and the one that says: in full.
_LENGTH, _IN_FULL = 7, 127

#: Bits of a datagram's number, of how far back another one is, and of a stamp in microseconds.
_SEQUENCE, _BACK, _STAMP = 16, 8, 32

#: The farthest state that changes can be written against, in datagrams.
FARTHEST_BASE = 2**_BACK - 1


class BitWriter:
    """Bits in the order in which they are put, the highest of a number first."""

    def __init__(self) -> None:
        self._numbers: list[int] = []
        self._widths: list[int] = []

    def put(self, number: int, bits: int) -> None:
        """The lowest ``bits`` of a number that is not negative."""
        self._numbers.append(number)
        self._widths.append(bits)

    def put_all(self, numbers: Sequence[int], widths: Sequence[int]) -> None:
        """Each of the numbers in its bits."""
        self._numbers += numbers
        self._widths += widths

    def count(self, number: int) -> None:
        """A number of any size: seven bits at a time, the lowest first, as LEB128."""
        while number > 127:
            self.put(number & 127 | 128, 8)
            number >>= 7
        self.put(number, 8)

    @property
    def length(self) -> int:
        """How many there are."""
        return sum(self._widths)

    def data(self) -> bytes:
        """All of them, filled up with zeros to whole bytes."""
        value, size = 0, -(-self.length // 8)
        for number, bits in zip(self._numbers, self._widths, strict=True):
            value = value << bits | number
        return (value << 8 * size - self.length).to_bytes(size, "big")


def count_bits(number: int) -> int:
    """How many bits ``BitWriter.count`` puts."""
    return 8 if number < 128 else 8 * -(-number.bit_length() // 7)


@dataclass(frozen=True)
class Field:
    """A part of a state as ``size`` whole numbers.

    ``widths`` are their bits; none: they have a sign and are as long as the longest needs, which
    stands before them. ``to_whole`` rounds, ``to_values`` gives what is left; of one that is
    ``exact`` receivers are taken to have what was given.
    """

    size: int
    widths: tuple[int, ...]
    to_whole: Callable[[Sequence[float]], Whole]
    to_values: Callable[[Whole], tuple[float, ...]]
    exact: bool = False

    def write(self, bits: BitWriter, whole: Whole, base: Whole | None = None) -> None:
        """Puts the numbers, or what has changed since a ``base``."""
        if base is not None:
            bits.put(whole != base, 1)
            if whole == base:
                return
        elif self.widths:
            bits.put_all(whole, self.widths)
            return
        pairs = zip(whole, base or (0,) * self.size, strict=True)
        steps = [_unsigned(number - before) for number, before in pairs]
        length = max(steps).bit_length()
        if self.widths and length * self.size >= sum(self.widths):
            bits.put(_IN_FULL, _LENGTH)
            bits.put_all(whole, self.widths)
        else:
            bits.put(length, _LENGTH)
            bits.put_all(steps, (length,) * self.size)


def _unsigned(number: int) -> int:
    """0, -1, 1, -2 ... as 0, 1, 2, 3 ..."""
    return number << 1 if number >= 0 else ~(number << 1)


# ---------------- the fields


#: The largest numbers in single and in half precision.
_FLOAT: Final = float.fromhex("0x1.fffffep127")
_HALF: Final = 65504.0


def floats(size: int) -> Field:
    """Numbers in single precision (IEEE 754 binary32), 32 bits each; at most 3.4e38."""
    return _binary(size, 32, Struct(f">{size}f"), Struct(f">{size}I"), _FLOAT)


def halves(size: int) -> Field:
    """Numbers in half precision (IEEE 754 binary16), 16 bits each; at most 65504."""
    return _binary(size, 16, Struct(f">{size}e"), Struct(f">{size}H"), _HALF)


def _binary(size: int, bits: int, numbers: Struct, whole: Struct, most: float) -> Field:
    def to_whole(values: Sequence[float]) -> Whole:
        try:
            packed = numbers.pack(*values)
        except OverflowError:
            packed = numbers.pack(*[_kept(value, most) for value in values])
        return whole.unpack(packed)

    return Field(
        size,
        (bits,) * size,
        to_whole,
        lambda given: numbers.unpack(whole.pack(*given)),
        exact=bits == 32,
    )


def steps(step: float) -> Field:
    """Multiples of a step, without bounds."""
    return Field(
        3,
        (),
        lambda values: tuple(math.floor(value / step + 0.5) for value in values),
        lambda given: tuple(number * step for number in given),
    )


def bounded(step: float, reach: float) -> Field:
    """Multiples of a step from -``reach`` to ``reach``, which must be one; the rest is clipped."""
    most = round(reach / step)
    return Field(
        3,
        ((2 * most).bit_length(),) * 3,
        lambda values: tuple(
            most + math.floor(_kept(value, reach) / step + 0.5) for value in values
        ),
        lambda given: tuple((number - most) * step for number in given),
    )


def in_bits(bits: int, reach: float) -> Field:
    """2^bits numbers in equal steps from -``reach`` to ``reach``; the rest is clipped."""
    most = 2**bits - 1
    return Field(
        3,
        (bits,) * 3,
        lambda values: tuple(
            math.floor((_kept(value, reach) / reach + 1) / 2 * most + 0.5) for value in values
        ),
        lambda given: tuple((2 * number / most - 1) * reach for number in given),
    )


def smallest_three(bits: int) -> Field:
    """A quaternion as its smallest three components of this many bits each, and which is left out.

    They lie within 1/sqrt 2 of 0, in equal steps; the largest is made positive, and follows from
    the others (Fiedler, "Snapshot compression", 2015).
    """
    most = 2**bits - 1

    def to_whole(rotation: Sequence[float]) -> Whole:
        sizes = [*map(abs, rotation)]
        largest = sizes.index(max(sizes))
        rest = [*rotation]
        sign = math.copysign(math.sqrt(2), rest.pop(largest))
        return largest, *[math.floor((sign * value + 1) / 2 * most + 0.5) for value in rest]

    def to_values(given: Whole) -> Rotation:
        largest, *rest = given
        found = [(2 * number / most - 1) / math.sqrt(2) for number in rest]
        found.insert(largest, math.sqrt(max(0.0, 1 - sum([value * value for value in found]))))
        size = math.sqrt(sum([value * value for value in found]))
        x, y, z, w = [value / size for value in found]
        return x, y, z, w

    return Field(4, (2, bits, bits, bits), to_whole, to_values)


def turns(bits: int, size: int) -> Field:
    """Yaw alone (``size`` 1), or yaw, pitch and roll (3), each as a share of a turn in these bits.

    Yaw turns about z, then pitch about y, then roll about x.
    """
    count = 2**bits

    def to_values(given: Whole) -> Rotation:
        halves_of = [number * math.pi / count for number in given] + [0.0] * (3 - size)
        (cy, sy), (cp, sp), (cr, sr) = ((math.cos(half), math.sin(half)) for half in halves_of)
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
        to_values,
    )


def _kept(value: float, most: float) -> float:
    return -most if value < -most else most if value > most else value


# ---------------- messages


class EncodedState(NamedTuple):
    """A state as whole numbers, None for a part that is missing; ``teleported`` since the last."""

    parts: tuple[Whole | None, ...]
    teleported: bool = False


@dataclass(frozen=True)
class Encoding:
    """The ``fields`` of a state in their order, and how many ``flags`` (bits) stand before them."""

    fields: tuple[Field, ...]
    flags: int = 0

    def whole(self, parts: Sequence[Sequence[float] | None]) -> EncodedState:
        """A state of these parts, one for each field."""
        both = zip(self.fields, parts, strict=True)
        numbers = [None if part is None else field.to_whole(part) for field, part in both]
        return EncodedState(tuple(numbers))

    def values(
        self, state: EncodedState, parts: Sequence[Sequence[float] | None]
    ) -> list[Sequence[float] | None]:
        """What a receiver has of a state that was made of these parts."""
        return [
            part if field.exact or whole is None else field.to_values(whole)
            for field, whole, part in zip(self.fields, state.parts, parts, strict=True)
        ]

    def size(self, state: EncodedState, base: EncodedState | None = None) -> int:
        """How many bits ``write`` puts."""
        bits = BitWriter()
        self.write(bits, state, base)
        return bits.length

    def write(self, bits: BitWriter, state: EncodedState, base: EncodedState | None = None) -> None:
        """Puts a state, or what has changed since a ``base``."""
        bits.put(0, self.flags)
        bits.put(state.teleported, 1)
        bases = base.parts if base is not None else (None,) * len(self.fields)
        for field, part, before in zip(self.fields, state.parts, bases, strict=True):
            bits.put(part is not None, 1)
            if part is not None:
                field.write(bits, part, before)


class StateChange(NamedTuple):
    """An entity's state in a message; ``base`` is the number of the datagram that has its base."""

    entity: int
    state: EncodedState
    base: int | None = None


class Moment(NamedTuple):
    """The states that were sent first in one datagram: its number, its stamp (s), its states."""

    number: int
    stamp: float
    changes: tuple[StateChange, ...]


#: The state of an entity in the datagram of this number; raises ``KeyError``.
Known = Callable[[int, int], EncodedState]


def write_message(encoding: Encoding, moments: Sequence[Moment], known: Known) -> bytes:
    """A datagram: the newest moment, and those before it that it repeats."""
    bits = BitWriter()
    first = moments[0].number
    bits.put(first % 2**_SEQUENCE, _SEQUENCE)
    bits.count(len(moments))
    for number, stamp, changes in moments:
        bits.put(first - number, _BACK)
        bits.put(round(stamp * 1e6) % 2**_STAMP, _STAMP)
        bits.count(len(changes))
        for entity, state, base in changes:
            bits.count(entity)
            bits.put(0 if base is None else number - base, _BACK)
            encoding.write(bits, state, None if base is None else known(base, entity))
    return bits.data()
