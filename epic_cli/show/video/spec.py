"""What a video shows, and how."""

from __future__ import annotations

import math
from dataclasses import dataclass

from epic_cli.engine.parameter_base import parse_assignment
from epic_cli.engine.parameters import Choice, Custom, Number, Switch

#: What it can be, by how its name ends: the usual size, and frames a second.
KINDS = {"gif": ((800, 450), 20), "mp4": ((1280, 720), 30)}

_SMALLEST, _LARGEST = 160, 3840


def _size(text: str) -> tuple[int, int]:
    """``WIDTHxHEIGHT``, both even, as H.264 needs them; raises ``ValueError``."""
    width, _, height = text.partition("x")
    if width.isdecimal() and height.isdecimal():
        size = int(width), int(height)
        if all(_SMALLEST <= one <= _LARGEST and one % 2 == 0 for one in size):
            return size
    raise ValueError(f"it must be WIDTHxHEIGHT, even numbers from {_SMALLEST} to {_LARGEST}")


VIDEO = (
    Number("speed", 1.0, "1 is real time, 0.25 a quarter of it.", "", 0.01, 100),
    Number("from", math.nan, "Its first second.", "s", unset="auto", field="start"),
    Number("to", math.nan, "Its last second.", "s", unset="auto", field="end"),
    Switch("worst", False, "Three seconds around the largest error."),
    Custom("size", None, "Pixels.", "WIDTHxHEIGHT", _size, kind=tuple),
    Choice("theme", "light", "The background.", ("light", "dark")),
    Number("fps", 0, "Frames a second; 0: 20 of a GIF, 30 of an MP4.", "", 0, 60, whole=True),
)


@dataclass(frozen=True)
class VideoSpec:
    """Which seconds (``start`` to ``end``, NaN: chosen), how fast, and how it looks.

    ``size`` (pixels) and ``fps`` are those that are usual for the kind of file unless given.
    """

    speed: float = 1.0
    start: float = math.nan
    end: float = math.nan
    worst: bool = False
    size: tuple[int, int] | None = None
    theme: str = "light"
    fps: int = 0


def kind_of(path: str) -> str:
    """``gif`` or ``mp4``, by the end of the name; raises ``ValueError``."""
    kind = path.lower().rpartition(".")[2]
    if kind not in KINDS:
        raise ValueError(f"a video is a {' or a '.join(f'.{one}' for one in KINDS)} file")
    return kind


def read_clip(text: str) -> dict[str, object]:
    """``worst,speed=0.25`` as fields of a ``VideoSpec``; raises ``ValueError``."""
    parts = [one.strip() for one in text.split(",") if one.strip()]
    found = [
        parse_assignment(one if "=" in one else f"{one}=on", VIDEO, "a video") for one in parts
    ]
    return {parameter.field: value for parameter, value in found}
