"""The page of a running game, of the parts in ``parts/``."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from typing import Any

from epic_cli.show.page.page import Extra, assembled

#: The scripts of a running game, and those of ``--html`` that it shares.
LIVE, SHARED = ("controls", "live", "live_map", "live_curves"), ("data", "state", "pen")


def live_page(live: dict[str, Any]) -> str:
    """The page of a running game: ``where`` its packets come in, ``ways``, the ``link`` sliders."""
    data = {"scenes": [], "shown": [], "tick": 0.05, "live": live}
    extra = talking_extra("live", LIVE)._replace(parts=SHARED, alone=True)
    return assembled(f"epic lab: {live['where']}", data, turns=False, extra=extra)


def talking_extra(name: str, scripts: Sequence[str]) -> Extra:
    """The element and the ``scripts`` of a page that talks with its server by a WebSocket."""
    parts = files("epic_cli.lab") / "parts"

    def read(name: str) -> str:
        return (parts / name).read_text("utf-8").strip()

    joined = "".join(f"\n\n{read(f'{one}.js')}" for one in scripts)
    # older browsers do not count a WebSocket as 'self'
    sources = "; connect-src 'self' ws://localhost:* ws://127.0.0.1:*"
    return Extra(read(f"{name}.html"), read("lab.css"), joined, sources)
