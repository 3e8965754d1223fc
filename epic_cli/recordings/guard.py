"""What a run reads, it does not write over; and no two of its outputs are one file.

    with guarding() as files:
        files.writes("page.html", "--html")
        files.reads("a.txt")            # Overwrites: a.txt is page.html by another name

A file is known by its device and inode, whatever it is called: by links, by hard links, and as
standard input or output. ``check`` is what each file that is written goes through, with those of
which no option says the name.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator

#: The key under which a command line keeps the ``Files`` of its run.
KEY = "epic_cli.files"

#: A regular file, or the place where one will be: device, inode, and the name in a folder.
Identity = tuple[int, int, str]


#: What is not written where an option is given: ``-o /dev/stdout > rows.txt`` is one output.
_INSTEAD = {"--output": "standard output"}


class Overwrites(ValueError):
    """An output is a file that is read, or another output's."""


def identity(file: str | int) -> Identity | None:
    """Which file it is, by path or descriptor; None: it is none that can be written over."""
    try:
        found = os.stat(file)  # noqa: PTH116
    except FileNotFoundError:
        return _future(str(file))
    except (OSError, ValueError):
        return None
    return (found.st_dev, found.st_ino, "") if stat.S_ISREG(found.st_mode) else None


def _future(path: str) -> Identity | None:
    """Where a file will be that is not there yet."""
    folder, name = os.path.split(os.path.realpath(path))
    try:
        found = os.stat(folder)  # noqa: PTH116
    except OSError:
        return None
    return found.st_dev, found.st_ino, os.path.normcase(name)


class Files:
    """The files of a run, each registered before it is opened."""

    def __init__(self) -> None:
        stream = {number: identity(number) for number in range(3)}
        self._read = {one: "<stdin>" for one in (stream[0],) if one}
        self._written = {
            one: name
            for number, name in ((2, "standard error"), (1, "standard output"))
            if (one := stream[number])
        }

    def reads(self, path: str) -> None:
        """Registers an input; raises ``Overwrites`` where an output is the same file."""
        one = identity(path)
        if path == "-" or one is None or one[2]:
            return  # standard input is known, and what is not there cannot be lost
        if one in self._written:
            raise Overwrites(f"{self._written[one]} would overwrite {path}, which is read")
        self._read.setdefault(one, path)

    def writes(self, path: str, option: str) -> None:
        """Registers the output of an option; raises ``Overwrites``."""
        one = identity(path)
        if path == "-" or one is None:
            return
        if one in self._read:
            raise Overwrites(f"{option} would overwrite {self._read[one]}, which is read")
        other = self._written.setdefault(one, option)
        if other not in (option, _INSTEAD.get(option)):
            raise Overwrites(f"{other} and {option} would both write {path}")

    def holds(self, path: str) -> bool:
        """Whether this file is read."""
        return identity(path) in self._read


_runs: list[Files] = []


@contextlib.contextmanager
def guarding() -> Iterator[Files]:
    """The files of a run, which all outputs are checked against while the block runs."""
    _runs.append(Files())
    try:
        yield _runs[-1]
    finally:
        _runs.pop()


def check(path: str) -> None:
    """Raises ``OSError`` for a file that the current run reads; there may be no run."""
    if _runs and _runs[-1].holds(path):
        raise FileExistsError(errno.EEXIST, "this run reads it", path)


def reads(*paths: str | None) -> None:
    """Registers inputs of the current run, if there is one; raises ``Overwrites``."""
    for path in paths if _runs else ():
        if path is not None:
            _runs[-1].reads(path)
