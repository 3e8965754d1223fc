"""The lab's page: the parts of ``--html``, and those in ``parts/`` that only the lab has."""

from __future__ import annotations

from contextlib import closing
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from epic_cli.jobs.compare.report import report
from epic_cli.lab.bench import Bench
from epic_cli.lab.controls import controls
from epic_cli.lab.spec import NOTHING, Given, LabSpec
from epic_cli.show.page.page import PAGE, PageParts, content_of, page_data

#: The page of scenes, with sliders.
LAB = PageParts(
    (*PAGE.scripts, "controls", "talk", "experiment"),
    ("lab", "page"),
    ("page", "controls", "lab"),
    files("epic_cli.lab") / "parts",
)


@lru_cache(maxsize=1)
def lab_page(given: Given = NOTHING) -> str:
    """The page, with the default experiment in it, until its own has been computed."""
    return LAB.html("epic lab", _data(given))


def _data(given: Given) -> dict[str, Any]:
    with closing(Bench(given)) as bench:
        found = bench.figures(bench.read(LabSpec()))
    data = page_data(found.scenes, content_of(found, report(found, "given")))
    return {**data, "title": "epic lab", "lab": controls(Path(given.recording).name, given.own)}
