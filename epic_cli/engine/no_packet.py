"""Explanations why an object is not a packet; loaded only for error messages."""

from __future__ import annotations

import reprlib

from epic_cli.engine.contract import Packet
from epic_cli.engine.keys import KEYS, KeyType

#: The key of each field of a packet. A number is anything but text that ``float`` takes.
_KEYS = {key.attribute: key for key in KEYS}


def why_no_packet(source: object) -> str:
    """Explain why an object is not a packet, and what is expected."""
    if isinstance(source, (list, tuple)) and not isinstance(source, Packet):
        lacks = list(_KEYS)
    else:
        lacks = [name for name in _KEYS if not hasattr(source, name)]
    if lacks:
        what = f"it has no {lacks[0]}; make it with Packet(position, velocity, time)"
    else:
        values = {name: getattr(source, name) for name in _KEYS}
        wrong = (
            f"its {name} is {reprlib.repr(value)}, not {_KEYS[name].python}"
            for name, value in values.items()
            if not _is_valid(name, value)
        )
        what = next(wrong, "a field has a wrong type")
    return f"not a packet: {what}: {reprlib.repr(source)}"


def _is_valid(name: str, value: object) -> bool:
    wanted, columns = _KEYS[name].type, _KEYS[name].columns
    if wanted is KeyType.NAME:
        return isinstance(value, str)
    if "None" in _KEYS[name].python and value is None:
        return True
    if wanted is KeyType.COUNT:
        return hasattr(value, "__index__") and -(2**63) <= value.__index__() < 2**63
    if len(columns) > 1:
        try:
            numbers = list(value)  # type: ignore[call-overload]
        except TypeError:
            return False
        return len(numbers) == len(columns) and all(map(_is_number, numbers))
    return _is_number(value)


def _is_number(value: object) -> bool:
    return not isinstance(value, str) and (
        hasattr(value, "__float__") or hasattr(value, "__index__")
    )
