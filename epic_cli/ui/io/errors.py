"""What can end a command early, the exit status of each ending, and how messages are written."""

from __future__ import annotations

import enum
import os
import sys

from epic_cli.engine.text import widths


class ExitStatus(enum.IntEnum):
    """The exit statuses of ``epic``."""

    DONE = 0
    LINES_REFUSED = 1
    WRONG_USAGE = 2
    NO_ACCESS = 3
    STRATEGY_FAILED = 4
    NOT_AS_EXPECTED = 5
    INTERRUPTED = 130


class CannotAccess(Exception):
    """A file or stream that cannot be read or written."""

    def __init__(self, action: str, name: str, error: OSError) -> None:
        reason = error.strerror or str(error)
        super().__init__(f"cannot {action} {name}: {reason}")


class WrongUsage(Exception):
    """Options that do not fit each other or the recording."""


class StoppedAtLine(Exception):
    """A line was refused and has been reported; nothing after it is to be done."""


def say(text: str) -> None:
    """Writes to stderr, and goes on where that is not possible."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def printable(text: bytes) -> str:
    """Text that cannot steer a terminal: control characters and broken UTF-8 are escaped."""
    return widths.printable(text.decode("utf-8", "backslashreplace"))
