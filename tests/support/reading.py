"""A pytest plugin that writes which values of the conformance files a test run did not read.

``pytest -p support.reading`` with the path of the file to write in ``UNREAD_VALUES``.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from support import conformance

conformance.recorded = {}


def pytest_sessionfinish(session: pytest.Session) -> None:
    del session
    loaded = conformance.recorded or {}
    found = {name: list(conformance.unread(value)) for name, value in loaded.items()}
    Path(os.environ["UNREAD_VALUES"]).write_text(json.dumps(found), "utf-8")
