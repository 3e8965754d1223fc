"""The lab's page: the parts of ``--html``, and those in ``parts/`` that only the lab has."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from epic_cli.lab.bench import Bench
from epic_cli.lab.controls import controls
from epic_cli.lab.spec import NOTHING, Given, LabSpec
from epic_cli.show.page.page import Extra, assembled, content_of, page_data

#: The lab's scripts, after those of ``--html``; of a running game, with those that it shares.
SCRIPTS = ("controls", "experiment", "frames", "draw")
LIVE, SHARED = ("controls", "live", "live_map", "live_curves"), ("data", "state", "pen")


@lru_cache(maxsize=1)
def lab_page(given: Given = NOTHING) -> str:
    """The page, with the default experiment in it, until its own has been computed."""
    return assembled("epic lab", _data(given), turns=True, extra=_extra("lab", SCRIPTS))


def live_page(live: dict[str, Any]) -> str:
    """The page of a running game, of its ``page_data``."""
    data = {"scenes": [], "shown": [], "tick": 0.05, "live": live}
    extra = _extra("live", LIVE)._replace(parts=SHARED, alone=True)
    return assembled(f"epic lab: {live['where']}", data, turns=False, extra=extra)


def _extra(name: str, scripts: Sequence[str]) -> Extra:
    parts = files("epic_cli.lab") / "parts"

    def read(name: str) -> str:
        return (parts / name).read_text("utf-8").strip()

    joined = "".join(f"\n\n{read(f'{one}.js')}" for one in scripts)
    # older browsers do not count a WebSocket as 'self'
    sources = "; connect-src 'self' ws://localhost:* ws://127.0.0.1:*"
    return Extra(read(f"{name}.html"), read("lab.css"), joined, sources)


def _data(given: Given) -> dict[str, Any]:
    with closing(Bench(given)) as bench:
        found = bench.figures(bench.read(LabSpec()))
    data = page_data(found.scenes, content_of(found, "given"))
    return {**data, "title": "epic lab", "lab": controls(Path(given.recording).name, given.own)}
