"""The program ``epic``: its commands, their defaults, and how it ends.

The top floor: only here is it known that some commands open a screen and others only write.
Without click: a plain replay is done before click would be there.
"""

from __future__ import annotations

import gc
import io
import os
import sys
from typing import TYPE_CHECKING, Any

from epic_cli.shell.configuration import NO_OPTIONS, config_path
from epic_cli.shell.errors import ExitStatus, ending_of

if TYPE_CHECKING:
    from epic_cli.jobs.replay.spec import ReplaySpec

#: What stands for an option of a replay.
_SHORT = {"-s": "--strategy", "-f": "--format"}


def plain_replay(words: list[str]) -> tuple[list[str], ReplaySpec] | None:
    """The files of a replay and how they are drawn; None: click has to look.

    That is ``epic replay`` with FILEs and options of its spec, each with a word behind it, and,
    where no terminal asks for a session, ``epic`` alone; if neither variables nor a configuration
    can say more, and nothing is wrong.
    """
    is_replay = words[0] == "replay" if words else _has_no_terminal()
    variables = (name for name in os.environ if name.startswith(("EPIC_", "_EPIC_")))
    if not is_replay or os.path.lexists(config_path()) or set(variables) - set(NO_OPTIONS):
        return None
    from epic_cli.jobs.replay.spec import FIELDS, READERS, ReplaySpec

    files: list[str] = []
    values: dict[str, Any] = {}
    rest = iter(words[1:])
    for word in rest:
        name = _SHORT.get(word, word).removeprefix("--")
        if word == "-" or not word.startswith("-"):
            files.append(word)
        elif name in READERS:
            try:
                values[FIELDS.get(name, name)] = READERS[name](next(rest))
            except (ValueError, RuntimeError, StopIteration):
                return None
        else:
            return None
    return files, ReplaySpec.of(**values)


def _has_no_terminal() -> bool:
    return not (sys.stdin is None or sys.stdin.isatty() or sys.stdout is None)


def main(args: list[str] | None = None) -> int:
    """Runs the command line and returns its exit status."""
    words = sys.argv[1:] if args is None else args
    plain = plain_replay(words)
    return _run_with_click(words) if plain is None else _replay(*plain)


def run() -> None:
    """The entry point of the command ``epic``."""
    gc.disable()  # objects made at start stay alive: a collection would find nothing
    if sys.platform == "win32":
        _as_elsewhere()
    plain = plain_replay(sys.argv[1:])
    if plain is None:
        status = _run_with_click(sys.argv[1:])
        if status == ExitStatus.INTERRUPTED:
            import signal

            # while threads end: another Ctrl-C ends it at once, without a word
            signal.signal(signal.SIGINT, signal.SIG_DFL)
        sys.exit(status)
    status = _replay(*plain)
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


def _replay(files: list[str], spec: ReplaySpec) -> int:
    from epic_cli.jobs.replay.output import write_rows

    gc.freeze()
    gc.enable()
    return ending_of(lambda: write_rows(spec, files))
