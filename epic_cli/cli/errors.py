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


class CannotAccess(Exception):  # noqa: N818 - it reads as the sentence it is
    """A file or stream that cannot be read or written."""

    def __init__(self, action: str, name: str, error: OSError) -> None:
        reason = error.strerror or str(error)
        super().__init__(f"cannot {action} {name}: {reason}")


class WrongUsage(Exception):  # noqa: N818
    """Options that do not fit each other or the recording."""
