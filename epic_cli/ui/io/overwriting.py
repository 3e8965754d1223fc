"""Files that a command writes are none of those that it reads."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable, Mapping

from epic_cli.ui.io.errors import WrongUsage
from epic_cli.ui.io.sources import source_name


def spare(read: Iterable[str | None], written: Mapping[str, str | None]) -> None:
    """Raises ``WrongUsage`` if a regular file that is ``written`` is one of those to be ``read``.

    ``written`` has paths by the option that names them, None: it is not given. Whatever it is
    called (a link, standard input), what somebody recorded is not to be lost.
    """
    there = {key: option for option, path in written.items() if path and (key := _file(path))}
    for path in read if there else ():
        if path is not None and (option := there.get(_file(path, stdin=True) or (0, 0))):
            raise WrongUsage(f"{option} would overwrite {source_name(path)}, which is read")


def _file(path: str, stdin: bool = False) -> tuple[int, int] | None:
    """Which regular file it is; None: it is none."""
    try:
        found = os.stat(sys.stdin.fileno() if stdin and path == "-" else path)  # noqa: PTH116
    except (OSError, AttributeError, ValueError):  # none yet, or there is no standard input
        return None
    return (found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) else None
