"""TOML files in which every mistake has a place: the file, the line, the column."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Collection
from typing import Any, NamedTuple

from epic_cli.engine.parameter_base import nearest
from epic_cli.jobs.check.case import BrokenCase

_AT = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")
_KEY = r"""(?:"{0}"|'{0}'|{0})"""

#: A case is a page at most; what is longer is something else, and is not read.
LONGEST_FILE = 1_000_000


class TomlFile(NamedTuple):
    """What a file says, and where it says so."""

    path: str
    text: str
    table: dict[str, Any]

    def place(self, *keys: str) -> str:
        """``file:line:column`` of a key (from the outermost table in); of the file if unknown."""
        line, column = _find(self.text, keys)
        return f"{self.path}:{line}:{column}" if line else self.path

    def broken(self, what: str, *keys: str, gone: bool = False) -> BrokenCase:
        """The error that says what is wrong with a key."""
        return BrokenCase(self.place(*keys), what, gone=gone)

    def check_keys(self, table: dict[str, Any], known: Collection[str], *keys: str) -> None:
        """Refuses what is not known, with the nearest that is; ``keys`` lead to the table."""
        for key in table:
            if key not in known:
                near = nearest(key, list(known))
                hint = f"did you mean {near!r}?" if near else f"there are {', '.join(known)}"
                where = f" in [{'.'.join(keys)}]" if keys else ""
                raise self.broken(f"there is no key {key!r}{where}; {hint}", *keys, key)


def read_toml(path: str) -> TomlFile:
    """Reads a file; raises ``BrokenCase``."""
    try:
        with open(path, "rb") as stream:  # noqa: PTH123
            data = stream.read(LONGEST_FILE + 1)
    except OSError as error:
        raise BrokenCase.unreadable(path, error) from error
    if len(data) > LONGEST_FILE:
        raise BrokenCase(path, f"more than {LONGEST_FILE:,} bytes, which no case has")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - data.rfind(b"\n", 0, error.start)
        raise BrokenCase(f"{path}:{line}:{column}", "this is not UTF-8") from error
    try:
        return TomlFile(path, text, tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise _not_toml(path, text, str(error)) from error
    except RecursionError as error:
        raise BrokenCase(path, "its values are nested too deeply") from error


def path_from(file: TomlFile, written: str) -> str:
    """A path that stands in a file, as it is seen from that file's folder.

    Raises ``BrokenCase`` for a device or a pipe, which might never end.
    """
    path = os.path.normpath(os.path.join(os.path.dirname(file.path), written))  # noqa: PTH118, PTH120
    if os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path)):  # noqa: PTH110, PTH112, PTH113
        raise file.broken(f"{written} is neither a file nor a folder")
    return path


def _not_toml(path: str, text: str, message: str) -> BrokenCase:
    found = _AT.search(message)
    line, column = text.count("\n") + 1, len(text) - text.rfind("\n")
    if found and found[1]:
        line, column = int(found[1]), int(found[2])
    what = message[: found.start()] if found else message
    return BrokenCase(f"{path}:{line}:{column}", f"this is not TOML: {what}")


def _find(text: str, keys: tuple[str, ...]) -> tuple[int, int]:
    """Line and column, from 1, of a key; 0: it was not found."""
    if not keys:
        return 0, 0
    header: tuple[str, ...] = ()
    table = 0, 0
    for number, line in enumerate(text.splitlines(), 1):
        bare = line.strip()
        if bare.startswith("[") and "=" not in bare:
            names = bare.partition("]")[0].strip("[] ")
            header = tuple(one.strip(" \"'") for one in names.split("."))
            if keys[: len(header)] == header:
                table = number, len(line) - len(line.lstrip()) + 1
            continue
        if keys[: len(header)] != header:
            continue
        dotted = r"\s*\.\s*".join(_KEY.format(re.escape(one)) for one in keys[len(header) :])
        first = _KEY.format(re.escape(keys[min(len(header), len(keys) - 1)]))
        if keys[len(header) :] and re.match(rf"\s*{dotted}\s*=", line):
            return number, len(line) - len(line.lstrip()) + 1
        inline = re.match(rf"\s*{first}\s*=\s*\{{", line)
        if inline and len(keys) > len(header):
            inner = re.search(rf"[{{,]\s*({_KEY.format(re.escape(keys[-1]))})\s*=", line)
            return number, (inner.start(1) if inner else inline.start()) + 1
    return table
