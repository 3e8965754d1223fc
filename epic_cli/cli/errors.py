"""What can end a command early, and the exit status that each ending has."""

from __future__ import annotations

import enum


class ExitStatus(enum.IntEnum):
    """The exit statuses of ``epic``."""

    DONE = 0
    LINES_REFUSED = 1
    WRONG_USAGE = 2
    NO_ACCESS = 3
    INTERRUPTED = 130


class CannotAccess(Exception):
    """A file or stream that cannot be read or written."""

    def __init__(self, action: str, name: str, error: OSError) -> None:
        reason = error.strerror or str(error)
        super().__init__(f"cannot {action} {name}: {reason}")


class WrongUsage(Exception):
    """Options that do not fit each other or the recording."""


class StoppedAtLine(Exception):
    """A line was refused, it has been told of, and nothing after it is to be done."""
