"""Files that a command reads whole: a table, a script; what goes wrong with them ends it."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import BinaryIO, TypeVar

from epic_cli.formats.csv_table import RefusedLine
from epic_cli.terminal.color import use_color
from epic_cli.terminal.errors import CannotAccess, StoppedAtLine, WrongUsage

Read = TypeVar("Read")


def read_file(path: str, read: Callable[[BinaryIO], Read]) -> Read:
    """What ``read`` makes of a file; ``-`` is standard input.

    Raises ``StoppedAtLine`` for a line that is refused, after showing it; ``WrongUsage`` where
    ``read`` raises ``ValueError``; ``CannotAccess``.
    """
    name = "<stdin>" if path == "-" else path
    try:
        with _open(path, name) as stream:
            return read(stream)
    except RefusedLine as refused:
        from epic_cli.terminal.report import report_problem  # only when something is wrong

        report_problem(refused.problem, name, use_color("auto", sys.stderr))
        raise StoppedAtLine from refused
    except ValueError as error:
        raise WrongUsage(f"{name}: {error}") from error
    except OSError as error:
        raise CannotAccess("read", name, error) from error


@contextlib.contextmanager
def _open(path: str, name: str) -> Iterator[BinaryIO]:
    if path == "-":
        if sys.stdin is None:
            raise CannotAccess("read", name, OSError("it is closed"))
        yield sys.stdin.buffer
        return
    with open(path, "rb") as stream:  # noqa: PTH123
        yield stream
