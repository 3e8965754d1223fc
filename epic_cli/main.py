"""The program ``epic``: run the command line, and end the process with its exit status.

Only this module knows which commands open a screen and which only write. A plain replay runs
without loading click, which takes longer than the replay. Modules are loaded within ``run``, so
that an interrupt meanwhile ends the program like at any other time.
"""

from __future__ import annotations

import gc
import io
import os
import sys
from contextlib import suppress

from epic_cli import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    from epic_cli.jobs.replay.spec import ReplaySpec

#: ``ExitStatus.INTERRUPTED``, without what would have to be loaded for it.
_INTERRUPTED = 130

#: What stands for an option of a replay.
_SHORT = {"-s": "--strategy", "-f": "--format"}


def parse_plain_replay(words: list[str]) -> tuple[list[str], ReplaySpec] | None:
    """Return the files and the spec of a plain replay; None if click has to parse the command line.

    A plain replay is ``epic replay`` with FILEs and options of the spec, each with a value behind
    it, or ``epic`` alone if no terminal asks for a session. Neither variables nor a configuration
    may add options, and every value has to be valid.
    """
    from epic_cli.shell.configuration import NO_OPTIONS, find_config_path

    is_replay = words[0] == "replay" if words else _has_no_terminal()
    variables = (name for name in os.environ if name.startswith(("EPIC_", "_EPIC_")))
    if not is_replay or os.path.lexists(find_config_path()) or set(variables) - set(NO_OPTIONS):
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
    return files, ReplaySpec.from_values(**values)


def _has_no_terminal() -> bool:
    return not (sys.stdin is None or sys.stdin.isatty() or sys.stdout is None)


def main(args: list[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    words = sys.argv[1:] if args is None else args
    plain = parse_plain_replay(words)
    return _run_with_click(words) if plain is None else _run_plain_replay(*plain)


def run() -> None:
    """Run the command ``epic``, its entry point, and end the process with its exit status."""
    gc.disable()  # objects made at start stay alive: a collection would find nothing
    try:
        if sys.platform == "win32":
            _set_up_windows()
        plain = parse_plain_replay(sys.argv[1:])
        status = _run_with_click(sys.argv[1:]) if plain is None else _run_plain_replay(*plain)
    except KeyboardInterrupt:  # while modules were loaded: nothing was done yet
        plain, status = None, _INTERRUPTED
    except ImportError as error:
        if error.name != "epic_cli.engine.packets":
            raise
        sys.exit(f"epic: {error}")
    if status == _INTERRUPTED:
        import signal

        # another Ctrl-C ends it at once, without a word
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    if plain is None and not (status == _INTERRUPTED and _has_running_threads()):
        sys.exit(status)
    # Nothing is left to clean up. Of a plain replay all output is written, and Python's own exit
    # takes 4 ms; a thread that an interrupt left behind (a strategy that never returns) would be
    # waited for.
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            if stream is not None:
                stream.flush()
    os._exit(status)


def _has_running_threads() -> bool:
    """Return True while threads run that the end of the process would have to wait for."""
    import threading

    main_thread = threading.main_thread()
    return any(each is not main_thread and not each.daemon for each in threading.enumerate())


def _set_up_windows() -> None:
    """Make Windows write UTF-8 and plain line ends, and its terminals obey escape sequences."""
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
    from epic_cli.shell.errors import run_to_exit

    return run_to_exit(lambda: run_command_line(words))


def _run_plain_replay(files: list[str], spec: ReplaySpec) -> int:
    from epic_cli.jobs.replay.output import write_rows
    from epic_cli.shell.errors import run_to_exit

    gc.freeze()
    gc.enable()
    return run_to_exit(lambda: write_rows(spec, files))
