"""The streams that the strategies themselves are tested with, as cases for other implementations.

``streams.json`` is what the project's own tests read as well: packets with the times at which they
were sent and came in, in milliseconds, in the order of their arrival.
"""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from epic_cli.checking.case import Case, Drawing, Recording
from epic_cli.formats.writing import number


def builtin_cases(drawing: Drawing) -> list[Case]:
    """A case for each stream, drawn as ``drawing`` says, whose recordings do not count."""
    text = (files("epic_cli.checking") / "streams.json").read_text("utf-8")
    return [
        Case(
            f"builtin/{stream['name']}",
            "streams.json",
            drawing._replace(recordings=(_recording(stream),), input_format="text", given=None),
            None,
        )
        for stream in json.loads(text)["streams"]
    ]


def _recording(stream: dict[str, Any]) -> Recording:
    lines = [
        f"{number(one['x'])},{number(one['y'])},0 / {number(one['vx'])},{number(one['vy'])},0"
        f" / {number(one['t_ms'] / 1000)} arrival={number(one['recv_ms'] / 1000)}\n"
        for one in sorted(stream["packets"], key=lambda one: (one["recv_ms"], one["seq"]))
    ]
    return Recording(stream["name"], None, "".join(lines).encode())
