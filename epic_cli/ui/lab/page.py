"""The lab's page: the parts of ``--html``, and those in ``parts/`` that only the lab has."""

from __future__ import annotations

from contextlib import closing
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from epic_cli.ui.lab.bench import Bench
from epic_cli.ui.lab.controls import controls
from epic_cli.ui.lab.spec import LabSpec
from epic_cli.views.page.page import Extra, assembled, content_of, page_data

#: The lab's scripts, after those of ``--html``.
SCRIPTS = ("controls", "experiment", "frames", "draw")


@lru_cache(maxsize=1)
def lab_page(recording: str = "") -> str:
    """The page, with the default experiment in it, until its own has been computed."""
    parts = files("epic_cli.ui.lab") / "parts"

    def read(name: str) -> str:
        return (parts / name).read_text("utf-8").strip()

    extra = Extra(
        read("lab.html"),
        read("lab.css"),
        "".join(f"\n\n{read(f'{one}.js')}" for one in SCRIPTS),
        # older browsers do not count a WebSocket as 'self'
        "; connect-src 'self' ws://localhost:* ws://127.0.0.1:*",
    )
    return assembled("epic lab", _data(recording), turns=True, extra=extra)


def _data(recording: str) -> dict[str, Any]:
    with closing(Bench(recording)) as bench:
        found = bench.figures(bench.read(LabSpec()))
    data = page_data(found.scenes, content_of(found, "given"))
    return {**data, "title": "epic lab", "lab": controls(Path(recording).name)}
