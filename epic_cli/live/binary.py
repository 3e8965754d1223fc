"""Binary records, as games send them: ``time:u32*0.001 x:f32 y:f32 z:f32 id:u16``."""

from __future__ import annotations

import struct
from typing import NamedTuple

from epic_cli.engine.intake import RecordReader
from epic_cli.engine.text import TURN_COLUMNS

#: By name: the letter that ``struct`` has for it.
_TYPES = {
    "i8": "b", "u8": "B", "i16": "h", "u16": "H", "i32": "i", "u32": "I", "i64": "q", "u64": "Q",
    "f32": "f", "f64": "d",
}  # fmt: skip

_ORDERS = ("little", "big")

_NUMBERS = ("time", "x", "y", "z", "vx", "vy", "vz", *TURN_COLUMNS)
_WHOLE = ("id", "seq", "teleport")

#: Bytes; no datagram holds more.
_LONGEST = 65507


class _Field(NamedTuple):
    name: str
    kind: str
    offset: int
    scale: float


class RecordLayout:
    """The fields of a record in their order, little-endian unless the first word is ``big``.

    A field is ``NAME:TYPE``, with ``*FACTOR`` behind it for numbers in other units. Names are
    ``time``, ``x``, ``y``, ``z``, ``vx``, ``vy``, ``vz``, ``qx`` to ``qw``, ``wx`` to ``wz``
    (rad/s), ``id`` (a whole number that names the entity), ``seq`` and ``teleport`` (not 0: yes);
    ``_`` is a field to skip, ``_:12`` so many bytes. Types are ``i8`` to ``i64``, ``u8`` to
    ``u64``, ``f32`` and ``f64``. There is no implicit padding. Raises ``ValueError`` for anything
    else.
    """

    def __init__(self, text: str) -> None:
        words = text.replace(",", " ").split()
        self._big = False
        if words and words[0] in _ORDERS:
            self._big = words.pop(0) == "big"
        self._fields: list[_Field] = []
        #: Bytes of a record.
        self.size = 0
        for word in words:
            self._take(word)
        names = [field.name for field in self._fields]
        for name in ("time", "x"):
            if name not in names:
                raise ValueError(f"a record needs {name}, as {name}:f32")
        velocity = [name for name in ("vx", "vy", "vz") if name in names]
        without = [name for name in velocity if name[1] not in names]
        if velocity and (without or len(velocity) != sum(name in names for name in "xyz")):
            raise ValueError("velocities are of the same axes as the position, or left out")
        some = TURN_COLUMNS[:4], TURN_COLUMNS[4:]
        turns, spins = (sum(one in names for one in fields) for fields in some)
        if turns % 4 or spins % 3 or (spins and not turns):
            raise ValueError("a rotation is qx, qy, qz and qw; wx, wy and wz may be beside it")
        if self.size > _LONGEST:
            raise ValueError(f"a record of {self.size:,} bytes fits into no datagram")

    def _take(self, word: str) -> None:
        name, colon, rest = word.partition(":")
        kind, star, factor = rest.partition("*")
        if name == "_" and kind.isdigit() and len(kind) <= 5 and not star:
            self.size += int(kind)
            return
        if not colon or kind not in _TYPES:
            known = ", ".join(_TYPES)
            raise ValueError(f"{word!r} is not NAME:TYPE, with a type of {known}")
        size = struct.calcsize("<" + _TYPES[kind])
        if name == "_":
            self.size += size
            return
        if name not in _NUMBERS + _WHOLE:
            known = ", ".join((*_NUMBERS, *_WHOLE))
            raise ValueError(f"{name!r} is not a field: {known}, or _ for bytes to be skipped")
        if name in (field.name for field in self._fields):
            raise ValueError(f"{name} is given twice")
        if name in ("id", "seq") and (kind[0] == "f" or (name == "seq" and kind[0] == "i")):
            raise ValueError(f"{name} is a whole number, as {name}:u16")
        scale = 1.0
        if star:
            try:
                scale = float(factor)
            except ValueError:
                scale = 0.0
            if name in _WHOLE or not 1e-12 <= abs(scale) <= 1e12:
                raise ValueError(f"{word!r}: {factor!r} is not a valid factor for {name}")
        self._fields.append(_Field(name, _TYPES[kind], self.size, scale))
        self.size += size

    @property
    def time_span(self) -> float | None:
        """Seconds after which an unsigned time field below 64 bits starts over; None: never."""
        field = next(one for one in self._fields if one.name == "time")
        if field.kind not in "BHI":
            return None
        return 256.0 ** struct.calcsize("<" + field.kind) * abs(field.scale)

    def reader(self) -> RecordReader:
        """A scanner of such records."""
        return RecordReader(self._fields, self.size, self._big)
