"""A few lines on the terminal that change while a program runs, and keys for it."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator

from epic_cli.engine.text.widths import cut, printable
from epic_cli.ui.io.console import has_cursor
from epic_cli.ui.io.errors import steer


def has_panel() -> bool:
    """Whether there is a terminal that can show one, and is this program's to use."""
    return has_cursor(sys.stderr) and _in_foreground(sys.stderr.fileno())


def has_keys() -> bool:
    """Whether keys come from a terminal, and to this program."""
    if sys.stdin is None or not sys.stdin.isatty():
        return False
    return _in_foreground(sys.stdin.fileno())


def _in_foreground(descriptor: int) -> bool:
    """Whoever reads a terminal from the background is stopped."""
    if sys.platform == "win32":
        return True
    try:
        return os.tcgetpgrp(descriptor) == os.getpgrp()
    except OSError:
        return False


class Panel:
    """Lines on stderr, each no longer than the terminal is wide; gone when they are cleared."""

    def __init__(self) -> None:
        self._height = 0

    def show(self, lines: list[str]) -> None:
        """Shows these in the place of those before."""
        width = max(shutil.get_terminal_size().columns - 1, 1)
        height = max(shutil.get_terminal_size().lines - 1, 1)
        kept = [cut(printable(line), width) for line in lines[:height]]
        steer(self._back() + "\n".join(kept) + "\n")
        self._height = len(kept)

    def clear(self) -> None:
        """Takes them away."""
        steer(self._back())
        self._height = 0

    def _back(self) -> str:
        return f"\r\x1b[{self._height}A\x1b[J" if self._height else ""


@contextlib.contextmanager
def keys(press: Callable[[str], None]) -> Iterator[Callable[[], None]]:
    """Calls ``press`` with the name of each key while the block runs in an event loop.

    Names are prompt_toolkit's: ``q``, ``up``, ``c-c``. The terminal is then as it was. What the
    block is given stops the program, as Ctrl-Z does elsewhere, until somebody continues it.
    """
    from prompt_toolkit.input import create_input

    source = create_input(sys.stdin)

    def read() -> None:
        for key in source.read_keys():
            press(str(getattr(key.key, "value", key.key)))

    def suspend() -> None:
        if hasattr(signal, "SIGTSTP"):
            with source.cooked_mode():
                os.kill(0, signal.SIGTSTP)  # with those it is piped to

    with source.raw_mode(), source.attach(read):
        yield suspend
