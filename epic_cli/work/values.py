"""Values of this package as JSON and back, digit for digit: what a journal keeps of them."""

from __future__ import annotations

import base64
import dataclasses
import enum
import importlib
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

#: Types are looked for in this package only, whatever a file says.
_PACKAGE = "epic_cli."


class NotAValue(ValueError):
    """It is not what ``as_json`` makes, or of no kind that it takes."""


def as_json(value: Any) -> Any:  # noqa: PLR0911 - one for each kind
    """What JSON can hold: frozen dataclasses, named tuples, enumerations, arrays and mappings.

    Arrays are of numbers. Raises ``NotAValue``.
    """
    if isinstance(value, enum.Enum):
        return {"enum": [_name(type(value)), value.name]}
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, bytes):
        return {"bytes": base64.b64encode(value).decode()}
    if isinstance(value, np.ndarray):
        little = np.ascontiguousarray(value, value.dtype.newbyteorder("<"))
        content = base64.b64encode(little.tobytes()).decode()
        return {"array": [little.dtype.str, list(little.shape), content]}
    if isinstance(value, Mapping):
        return {"map": [[as_json(key), as_json(one)] for key, one in value.items()]}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = [getattr(value, one.name) for one in dataclasses.fields(value)]
        return {"of": [_name(type(value)), *map(as_json, fields)]}
    if isinstance(value, tuple):
        parts = [as_json(one) for one in value]
        return (
            {"of": [_name(type(value)), *parts]} if hasattr(value, "_fields") else {"tuple": parts}
        )
    if isinstance(value, frozenset):
        return {"of": ["frozenset", *sorted(map(as_json, value))]}
    raise NotAValue(f"a {type(value).__name__} cannot be kept")


def from_json(value: Any) -> Any:
    """The value of which ``as_json`` has made this; raises ``NotAValue``."""
    try:
        return _from_json(value)
    except (LookupError, TypeError, ValueError, AttributeError, ImportError, SyntaxError) as error:
        raise NotAValue(f"this is no value: {error}") from error


def _from_json(value: Any) -> Any:  # noqa: PLR0911 - one for each kind
    if not isinstance(value, dict):
        # one NaN, so that values can be equal
        return math.nan if isinstance(value, float) and math.isnan(value) else value
    ((kind, parts),) = value.items()
    match kind:
        case "tuple":
            return tuple(map(_from_json, parts))
        case "map":
            return {_from_json(key): _from_json(one) for key, one in parts}
        case "bytes":
            return base64.b64decode(parts)
        case "array":
            dtype, shape, content = parts
            numbers = np.frombuffer(base64.b64decode(content), np.dtype(dtype))
            return numbers.astype(numbers.dtype.newbyteorder("=")).reshape(shape)
        case "enum":
            return _type(parts[0])[parts[1]]
        case "of":
            fields = list(map(_from_json, parts[1:]))
            return frozenset(fields) if parts[0] == "frozenset" else _type(parts[0])(*fields)
    raise NotAValue(f"there are no values of the kind {kind!r}")


def _name(kind: type) -> str:
    if not kind.__module__.startswith(_PACKAGE):
        raise NotAValue(f"a {kind.__name__} cannot be kept")
    return f"{kind.__module__}:{kind.__qualname__}"


def _type(name: str) -> Any:
    module, _, own = name.partition(":")
    if not module.startswith(_PACKAGE):
        raise NotAValue(f"{name} is none of this package's values")
    kind = getattr(importlib.import_module(module), own)
    if not (dataclasses.is_dataclass(kind) or issubclass(kind, enum.Enum | tuple)):
        raise NotAValue(f"{name} is no kind of values")
    return kind
