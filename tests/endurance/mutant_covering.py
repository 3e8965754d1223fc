"""A plugin of pytest that writes which marked blocks and which mutants each test executes.

``-p endurance.mutant_covering``, with the folder of the build in ``MUTANT_FOLDER``. Each worker of
xdist, and what its tests start, marks a page of its own: ``MUTANT_PAGE``.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from endurance.mutant_build import Switch

FOLDER = Path(os.environ["MUTANT_FOLDER"])
WORKER = os.environ.get("PYTEST_XDIST_WORKER", "main")

_page = FOLDER / f"page-{WORKER}"
_switch = Switch(_page)
os.environ["MUTANT_PAGE"] = str(_page)
mark_block.__defaults__[0].clear()  # type: ignore[name-defined] # noqa: F821 (what loads epic first)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Write a line for each test: its name, its time, what it executed, and whether it passed."""
    _switch.take_reached()
    began = time.perf_counter()
    yield
    record = {
        "test": item.nodeid,
        "seconds": round(time.perf_counter() - began, 4),
        "passed": not getattr(item, "has_failed", False),
        "reached": _switch.take_reached(),
    }
    with (FOLDER / f"covered-{WORKER}.jsonl").open("a") as file:
        file.write(json.dumps(record) + "\n")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Note tests that do not pass."""
    outcome = yield
    report = outcome.get_result()  # type: ignore[attr-defined]
    if not report.passed:
        item.has_failed = True  # type: ignore[attr-defined]
