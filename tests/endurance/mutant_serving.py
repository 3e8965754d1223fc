"""A plugin of pytest that collects once, then runs tests for one mutant after the other.

``-p endurance.mutant_serving``, with the numbers of two pipes in ``MUTANT_PIPES``. A line from the
first is a JSON array: tests, and seconds for all. They run in a fork, in which nothing remains of
earlier ones, until one fails. A line to the second names it; empty: none failed.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import signal
from collections.abc import Sequence
from pathlib import Path

import pytest
from _pytest.runner import runtestprotocol


def pytest_runtestloop(session: pytest.Session) -> bool:
    """Serve until the first pipe is closed."""
    asked, answers = map(int, os.environ["MUTANT_PIPES"].split())
    by_name = {item.nodeid: item for item in session.items}
    folder = session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]
    with os.fdopen(asked) as lines, os.fdopen(answers, "w") as out:
        for line in lines:
            names, seconds = json.loads(line)
            items = [by_name[name] for name in names if name in by_name]
            print(_run_in_fork(items, seconds), file=out, flush=True)
            for left in Path(folder).iterdir():
                shutil.rmtree(left, ignore_errors=True)
    return True


def _run_in_fork(items: Sequence[pytest.Item], seconds: float) -> str:
    """Return the name of the first test that fails, or how the process ended."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.setsid()
        try:
            os.write(write, _find_failing(items).encode())
        finally:
            os._exit(0)
    os.close(write)
    failed = b"(a test that did not end)"
    if select.select([read], [], [], seconds)[0]:
        failed = os.read(read, 4096)
    os.close(read)
    for one in (os.killpg, os.kill):  # with what a test has left behind
        with contextlib.suppress(ProcessLookupError):
            one(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return failed.decode().strip() if failed else "(a crash)"


def _find_failing(items: Sequence[pytest.Item]) -> str:
    for item, after in zip(items, [*items[1:], None], strict=False):
        reports = runtestprotocol(item, log=False, nextitem=after)
        if any(report.failed for report in reports):
            return item.nodeid
    return "\n"
