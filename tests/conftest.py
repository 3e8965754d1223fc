"""Options of the test run."""

import os
import signal
import sys

import pytest
from hypothesis import settings

# What hypothesis finds by chance is for whoever sits before the screen, not for a machine that
# tests somebody's change. No test is timed: machines are busy.
settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("busy", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "busy")

# What happens to be installed beside epic is not what is tested; programs that tests start inherit
# this.
os.environ["EPIC_ENTRY_POINTS"] = "off"

# Whoever starts the tests in the background may have told them to ignore Ctrl-C or the end of the
# terminal, and what they start would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
if sys.platform != "win32":
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-goldens",
        action="store_true",
        help="write what epic says now into tests/golden and the documents; then read git diff",
    )
