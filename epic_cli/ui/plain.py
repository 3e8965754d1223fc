"""Whether a command line is a plain replay, which needs no parser and so starts at once."""

import os
import sys
from typing import NamedTuple

from epic_cli.ui.io.config_path import config_path

#: Variables with the prefix of the options' that are none.
_NO_OPTIONS = ("EPIC_COMPILED", "EPIC_ENGINE", "EPIC_ENTRY_POINTS")

#: The options that a plain replay may have, each with a word behind it.
_STRATEGY, _FORMAT = ("-s", "--strategy"), ("-f", "--format")


class Plain(NamedTuple):
    """What is replayed; a strategy and a format only where they are given."""

    files: tuple[str, ...]
    strategy: str | None = None
    row_format: str | None = None


def plain_replay(args: list[str]) -> Plain | None:
    """A replay that says no more than a strategy and a format; None: click has to look at it.

    That is ``epic replay [-s NAME] [-f NAME] [FILE]...``, with the names of what is built in, and,
    where no terminal asks for a session, ``epic`` alone, if neither variables nor a configuration
    can say more.
    """
    if args and args[0] != "replay":
        return None
    if not args and (sys.stdin is None or sys.stdin.isatty() or sys.stdout is None):
        return None
    for name in os.environ:
        if name.startswith(("EPIC_", "_EPIC_")) and name not in _NO_OPTIONS:
            return None
    if os.path.lexists(config_path()):
        return None
    return _read(args[1:])


def _read(words: list[str]) -> Plain | None:
    files: list[str] = []
    given: dict[tuple[str, str], str] = {}
    rest = iter(words)
    for word in rest:
        if word in _STRATEGY or word in _FORMAT:
            kind = _STRATEGY if word in _STRATEGY else _FORMAT
            if kind in given:
                return None
            given[kind] = next(rest, "")
        elif word.startswith("-") and word != "-":
            return None
        else:
            files.append(word)
    strategy, row_format = given.get(_STRATEGY), given.get(_FORMAT)
    if not (strategy is None or _is_strategy(strategy)):
        return None
    if not (row_format is None or _is_format(row_format)):
        return None
    return Plain(tuple(files), strategy, row_format)


def _is_strategy(name: str) -> bool:
    from epic_cli.engine.strategies import is_built_in

    return is_built_in(name)


def _is_format(name: str) -> bool:
    from epic_cli.engine.text.rows import FORMATS

    return name in FORMATS
