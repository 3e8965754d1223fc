"""The program ``epic``: its commands, their defaults, and how it ends.

The top floor: only here is it known that some commands open a screen and others only write.
Without click: a plain replay is done before click would be there.
"""

from __future__ import annotations

import os
import sys

from epic_cli.app.endings import ending_of
from epic_cli.app.plain import plain_files


def main(args: list[str] | None = None) -> int:
    """Runs the command line and returns its exit status."""
    words = sys.argv[1:] if args is None else args
    files = plain_files(words)
    if files is None:
        from epic_cli.app.command_line import run_command_line

        return ending_of(lambda: run_command_line(words))
    from epic_cli.terminal.replaying import ReplayOptions
    from epic_cli.terminal.replaying import run as replay

    return ending_of(lambda: replay(ReplayOptions(files)))


def run() -> None:
    """The entry point of the command ``epic``."""
    is_plain = plain_files(sys.argv[1:]) is not None
    status = main()
    if is_plain:
        # all is written, and nothing is left to be put away: Python's own end takes 4 ms
        if sys.stderr is not None:
            sys.stderr.flush()
        os._exit(status)
    sys.exit(status)
