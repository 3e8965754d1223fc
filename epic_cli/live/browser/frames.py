"""Frames to a page: JSON, then the arrays that it points into."""

from __future__ import annotations

import json
import struct
from typing import Any

#: Arrays begin at multiples of this many bytes, as typed arrays of doubles must.
_ALIGNED = 8


class Frame:
    """A frame that is being made; ``pack`` takes an array, and returns what stands for it."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0

    def pack(self, array: Any) -> tuple[int, int]:
        """The place of the array and its length, in bytes."""
        data = array.tobytes()
        place = self._size
        padded = data + bytes(-len(data) % _ALIGNED)
        self._parts.append(padded)
        self._size += len(padded)
        return place, len(data)

    def bytes(self, message: dict[str, Any]) -> bytes:
        """The length of the JSON (uint32), the JSON, the arrays."""
        text = json.dumps(message, allow_nan=False, separators=(",", ":")).encode()
        return b"".join((struct.pack("<I", len(text)), text, *self._parts))


def frame(**message: Any) -> bytes:
    """A frame without arrays."""
    return Frame().bytes(message)
