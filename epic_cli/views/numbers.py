"""Numbers in sentences, and in JSON."""

from __future__ import annotations

import math
from typing import Any


def counted(number: int, word: str) -> str:
    """``1 row`` or ``1,200 rows``."""
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def verb(number: int, one: str, many: str | None = None) -> str:
    """The verb after so many of something: ``differs``, of ``differ``; or one of the two."""
    if many is None:
        return f"{one}s" if number == 1 else one
    return one if number == 1 else many


def amount(value: float) -> str:
    """A deviation, without its sign."""
    return f"{abs(value):.3g}"


def known(value: Any) -> Any:
    """A value for JSON, which has no number for what is infinite or not known."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
