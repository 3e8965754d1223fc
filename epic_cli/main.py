"""The program ``epic``: its commands, their defaults, and how it ends.

The top floor: only here is it known that some commands open a screen and others only write.
Without click: a plain replay is done before click would be there.
"""

from __future__ import annotations

import gc
import io
import os
import sys
from typing import NamedTuple

from epic_cli.shell.configuration import NO_OPTIONS, config_path
from epic_cli.shell.errors import ending_of

#: The options that a plain replay may have, each with a word behind it.
_STRATEGY, _FORMAT = ("-s", "--strategy"), ("-f", "--format")


class Plain(NamedTuple):
    """A plain replay: its files, and a strategy and a format if specified."""

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
        if name.startswith(("EPIC_", "_EPIC_")) and name not in NO_OPTIONS:
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
    from epic_cli.engine.text import FORMATS

    return name in FORMATS


def main(args: list[str] | None = None) -> int:
    """Runs the command line and returns its exit status."""
    words = sys.argv[1:] if args is None else args
    plain = plain_replay(words)
    return _run_with_click(words) if plain is None else _replay(plain)


def run() -> None:
    """The entry point of the command ``epic``."""
    gc.disable()  # objects made at start stay alive: a collection would find nothing
    if sys.platform == "win32":
        _as_elsewhere()
    plain = plain_replay(sys.argv[1:])
    if plain is None:
        sys.exit(_run_with_click(sys.argv[1:]))
    status = _replay(plain)
    # all output is written and there is nothing to clean up: Python's own exit takes 4 ms
    if sys.stderr is not None:
        sys.stderr.flush()
    os._exit(status)


def _as_elsewhere() -> None:
    """UTF-8, lines that end as they do on other systems, and terminals that obey escapes."""
    streams = [
        stream for stream in (sys.stdout, sys.stderr) if isinstance(stream, io.TextIOWrapper)
    ]
    for stream in streams:
        stream.reconfigure(encoding="utf-8", newline="\n")
    if any(stream.isatty() for stream in streams):
        from colorama import just_fix_windows_console

        just_fix_windows_console()


def _run_with_click(words: list[str]) -> int:
    from epic_cli.shell.command_line import run_command_line

    return ending_of(lambda: run_command_line(words))


def _replay(plain: Plain) -> int:
    from epic_cli.engine.replay.strategy_spec import StrategySpec
    from epic_cli.engine.strategies import DEFAULT
    from epic_cli.jobs.replay.run import ReplayOptions
    from epic_cli.jobs.replay.run import run as replay

    gc.freeze()
    gc.enable()
    options = ReplayOptions(
        plain.files,
        StrategySpec(plain.strategy or DEFAULT),
        row_format=plain.row_format or "epic",
    )
    return ending_of(lambda: replay(options))
