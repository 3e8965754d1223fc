"""When a recording that grows goes on in the next file: ``100MB`` or ``10min``."""

from __future__ import annotations

import math
import re

from epic_cli.live.whole_files import Rotation
from epic_cli.ui.io.parameters import Parsed

_SIZES = {"kb": 10**3, "mb": 10**6, "gb": 10**9}
_SPANS = {"s": 1.0, "min": 60.0, "h": 3600.0}


def parse_rotation(text: str) -> Rotation:
    """A size or a time, each with its unit; raises ``ValueError``."""
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([a-z]+)", text.strip().lower())
    number, unit = (float(found[1]), found[2]) if found else (math.nan, "")
    rotation = Rotation(
        number * _SIZES[unit] if unit in _SIZES else math.inf,
        number * _SPANS[unit] if unit in _SPANS else math.inf,
    )
    size, seconds = rotation
    if not (100_000 <= size < 1e15 or 1 <= seconds < 1e9):
        wanted = "a size from 100kB on, as 100MB, nor a time, as 10min"
        raise ValueError(f"{text!r} is neither {wanted}")
    return rotation


ROTATION = Parsed("SIZE|TIME", parse_rotation, Rotation)
