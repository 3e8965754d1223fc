"""What the lab serves: the page of experiments, what it talks with, and what can be saved."""

from __future__ import annotations

from functools import partial

from epic_cli.lab.exports import EXPORTS, export
from epic_cli.lab.page import lab_page
from epic_cli.lab.rooms import ExperimentSession
from epic_cli.lab.spec import NOTHING, Given
from epic_cli.live.browser.server import File, ServeSpec


def experiments(given: Given = NOTHING, port: int = 0, query: str = "") -> ServeSpec:
    """A page of experiments on what is ``given``, which begins with that of the ``query``."""
    files = {name: File(kind, partial(_saved, name, given)) for name, kind in EXPORTS.items()}
    sessions = {"experiment": partial(ExperimentSession, given=given)}
    return ServeSpec(partial(lab_page, given), sessions, port, query, files)


def _saved(name: str, given: Given, query: str) -> bytes:
    return export(name, query, given)
