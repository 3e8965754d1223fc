"""Binary records, as games send them: ``time:u32*0.001 x:f32 y:f32 z:f32 id:u16``."""

from __future__ import annotations

import struct
from typing import NamedTuple

from epic_cli.engine.contract import Packet

#: By name: the letter that ``struct`` has for it.
_TYPES = {
    "i8": "b", "u8": "B", "i16": "h", "u16": "H", "i32": "i", "u32": "I", "i64": "q", "u64": "Q",
    "f32": "f", "f64": "d",
}  # fmt: skip

_ORDERS = {"little": "<", "big": ">"}

_NUMBERS = ("time", "x", "y", "z", "vx", "vy", "vz")
_WHOLE = ("id", "seq", "teleport")

#: Bytes; no datagram holds a longer one.
_LONGEST = 65507


class _Field(NamedTuple):
    name: str
    scale: float


class RecordLayout:
    """The fields of a record in their order, little-endian unless the first word is ``big``.

    A field is ``NAME:TYPE``, with ``*FACTOR`` behind it for numbers in other units. Names are
    ``time``, ``x``, ``y``, ``z``, ``vx``, ``vy``, ``vz``, ``id`` (a whole number that names the
    entity), ``seq`` and ``teleport`` (not 0: yes); ``_`` is a field to be passed over, ``_:12`` so
    many bytes. Types are ``i8`` to ``i64``, ``u8`` to ``u64``, ``f32`` and ``f64``. There is no
    padding that is not said. Raises ``ValueError`` for what is none of this.
    """

    def __init__(self, text: str) -> None:
        words = text.replace(",", " ").split()
        order = "<"
        if words and words[0] in _ORDERS:
            order = _ORDERS[words.pop(0)]
        self._fields: list[_Field] = []
        letters = [self._field(word) for word in words]
        names = [field.name for field in self._fields]
        for name in ("time", "x"):
            if name not in names:
                raise ValueError(f"a record needs {name}, as {name}:f32")
        velocity = [name for name in ("vx", "vy", "vz") if name in names]
        without = [name for name in velocity if name[1] not in names]
        if velocity and (without or len(velocity) != sum(name in names for name in "xyz")):
            raise ValueError("velocities are of the same axes as the position, or left out")
        self._struct = struct.Struct(order + "".join(letters))
        if self._struct.size > _LONGEST:
            raise ValueError(f"a record of {self._struct.size:,} bytes fits into no datagram")
        self._has_velocity = bool(velocity)

    @property
    def size(self) -> int:
        """Bytes of a record."""
        return self._struct.size

    def _field(self, word: str) -> str:
        """Takes a field; its letters for ``struct``."""
        name, colon, rest = word.partition(":")
        kind, star, factor = rest.partition("*")
        if name == "_" and kind.isdigit() and len(kind) <= 5 and not star:
            return f"{int(kind)}x"
        if not colon or kind not in _TYPES:
            known = ", ".join(_TYPES)
            raise ValueError(f"{word!r} is not NAME:TYPE, with a type of {known}")
        if name == "_":
            return f"{struct.calcsize('<' + _TYPES[kind])}x"
        if name not in _NUMBERS + _WHOLE:
            known = ", ".join((*_NUMBERS, *_WHOLE))
            raise ValueError(f"{name!r} is no field: {known}, or _ for what is to be passed over")
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
                raise ValueError(f"{word!r}: {factor!r} is not what {name} can be multiplied by")
        self._fields.append(_Field(name, scale))
        return _TYPES[kind]

    def packets(self, data: bytes) -> list[Packet] | None:
        """The records of a datagram; None: it is not a whole number of them."""
        if not data or len(data) % self._struct.size:
            return None
        return [self._packet(values) for values in self._struct.iter_unpack(data)]

    def _packet(self, values: tuple[float, ...]) -> Packet:
        found: dict[str, float] = {}
        for (name, scale), value in zip(self._fields, values, strict=True):
            found[name] = value if scale == 1 else value * scale
        x, y, z, vx, vy, vz = (float(found.get(name, 0)) for name in _NUMBERS[1:])
        sequence = found.get("seq")
        return Packet(
            (x, y, z),
            (vx, vy, vz) if self._has_velocity else None,
            float(found["time"]),
            entity=str(found.get("id", "")),
            teleport=bool(found.get("teleport", 0)),
            # what is beyond 63 bits would not be read back
            sequence=None if sequence is None else int(sequence) & (2**63 - 1),
        )
