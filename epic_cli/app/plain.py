"""Whether a command line is a plain replay, which needs no parser and so starts at once."""

from __future__ import annotations

import os
import sys

from epic_cli.terminal.config_path import config_path

#: Variables with the prefix of the options' that are none.
_NO_OPTIONS = ("EPIC_ENGINE", "EPIC_ENTRY_POINTS")


def plain_files(args: list[str]) -> tuple[str, ...] | None:
    """The files of a replay without any option; None: click has to look at it.

    That is ``epic replay [FILE]...`` and, where no terminal asks for a session, ``epic`` alone,
    if neither variables nor a configuration can say more.
    """
    files = tuple(args[1:])
    if args and (args[0] != "replay" or any(one.startswith("-") and one != "-" for one in files)):
        return None
    if not args and (sys.stdin is None or sys.stdin.isatty() or sys.stdout is None):
        return None
    for name in os.environ:
        if name.startswith(("EPIC_", "_EPIC_")) and name not in _NO_OPTIONS:
            return None
    if os.path.lexists(config_path()):
        return None
    return files
