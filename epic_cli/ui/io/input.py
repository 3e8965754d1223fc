"""Files that a command reads whole: a table, a script; what goes wrong with them ends it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import BinaryIO, TypeVar

from epic_cli.formats.tables import RefusedLine
from epic_cli.formats.wording import FrontEnd
from epic_cli.ui.io.color import use_color
from epic_cli.ui.io.errors import CannotAccess, StoppedAtLine, WrongUsage
from epic_cli.ui.io.sources import open_source, source_name

Read = TypeVar("Read")


def read_file(path: str, read: Callable[[BinaryIO], Read]) -> Read:
    """What ``read`` makes of a file; ``-`` is standard input.

    Raises ``StoppedAtLine`` for a line that is refused, after showing it; ``WrongUsage`` where
    ``read`` raises ``ValueError``; ``CannotAccess``.
    """
    name = source_name(path)
    try:
        with open_source(path) as descriptor, open(descriptor, "rb", closefd=False) as stream:
            return read(stream)
    except RefusedLine as refused:
        from epic_cli.ui.io.refused_lines import report_problem  # only when something is wrong

        report_problem(refused.worded(FrontEnd.COMMAND_LINE), name, use_color("auto", sys.stderr))
        raise StoppedAtLine from refused
    except ValueError as error:
        raise WrongUsage(f"{name}: {error}") from error
    except OSError as error:
        raise CannotAccess("read", name, error) from error
