"""Why an object is not a packet, in words; loaded on errors only."""

from __future__ import annotations

import reprlib

from epic_cli.engine.contract import Packet

#: What each field must be; a number is anything but text that ``float`` takes.
_NEEDED = {
    "position": "three numbers x, y, z",
    "velocity": "three numbers vx, vy, vz, or None",
    "time": "a number of seconds",
    "arrival": "a number of seconds, or None",
    "teleport": "True or False",
    "delta": "a number of seconds",
    "sequence": "a whole number below 2**63, or None",
    "entity": "text",
    "rotation": "four numbers x, y, z, w, or None",
    "spin": "three numbers, or None",
}
_OPTIONAL = ("velocity", "arrival", "sequence", "rotation", "spin")
_LENGTHS = {"position": 3, "velocity": 3, "rotation": 4, "spin": 3}


def why_no_packet(source: object) -> str:
    """What is wrong with it, and what was expected."""
    if isinstance(source, (list, tuple)) and not isinstance(source, Packet):
        lacks = list(_NEEDED)
    else:
        lacks = [name for name in _NEEDED if not hasattr(source, name)]
    if lacks:
        what = f"it has no {lacks[0]}; make it with Packet(position, velocity, time)"
    else:
        values = {name: getattr(source, name) for name in _NEEDED}
        wrong = (
            f"its {name} is {reprlib.repr(value)}, not {_NEEDED[name]}"
            for name, value in values.items()
            if not _is(name, value)
        )
        what = next(wrong, "a field has a wrong type")
    return f"not a packet: {what}: {reprlib.repr(source)}"


def _is(name: str, value: object) -> bool:
    if name == "entity":
        return isinstance(value, str)
    if name in _OPTIONAL and value is None:
        return True
    if name == "sequence":
        return hasattr(value, "__index__") and -(2**63) <= value.__index__() < 2**63
    if name in _LENGTHS:
        try:
            numbers = list(value)  # type: ignore[call-overload]
        except TypeError:
            return False
        return len(numbers) == _LENGTHS[name] and all(map(_is_number, numbers))
    return _is_number(value)


def _is_number(value: object) -> bool:
    return not isinstance(value, str) and (
        hasattr(value, "__float__") or hasattr(value, "__index__")
    )
