"""The terminal between two prompts: what is typed ahead is neither shown twice nor lost."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Iterator

from epic_cli.ui.io.signals import cleaning_up

_BRACKETED_PASTE_OFF = b"\x1b[?2004l"


class QuietTerminal:
    """Turns off echo and line editing while the session runs; Ctrl-C still interrupts.

    Each prompt sets the terminal up for itself and gives it back like this. Without it, the
    kernel would show a paste while its rows are drawn, and hold back its unfinished line.
    """

    def __init__(self, descriptor: int) -> None:
        import termios

        self._descriptor = descriptor
        self._original = termios.tcgetattr(descriptor)
        self._quiet = termios.tcgetattr(descriptor)
        self._quiet[0] &= ~termios.ICRNL
        self._quiet[3] &= ~(termios.ECHO | termios.ICANON)

    def quiet(self) -> None:
        """As the session has it."""
        self._set(self._quiet)

    def restore(self) -> None:
        """As it was."""
        self._set(self._original)

    @contextlib.contextmanager
    def released(self) -> Iterator[None]:
        """As it was, for another program, within the block."""
        self.restore()
        try:
            yield
        finally:
            self.quiet()

    def suspend(self) -> None:
        """Gives the terminal back and stops the process group until it is continued."""
        self.restore()
        os.kill(0, signal.SIGTSTP)
        self.quiet()

    def _set(self, attributes: list[int | list[bytes | int]], when: int | None = None) -> None:
        import termios

        with contextlib.suppress(termios.error, OSError):  # it may be gone
            moment = termios.TCSADRAIN if when is None else when
            termios.tcsetattr(self._descriptor, moment, attributes)

    @contextlib.contextmanager
    def held(self) -> Iterator[QuietTerminal]:
        """Quiet within the block, and as it was after it or when the process is ended."""
        with cleaning_up(self._leave):
            self.quiet()
            try:
                yield self
            finally:
                self.restore()

    def _leave(self) -> None:
        """As ``restore``, without waiting for a terminal that takes nothing any more."""
        import select
        import termios

        self._set(self._original, termios.TCSANOW)
        with contextlib.suppress(OSError, ValueError):
            output = sys.stdout.fileno()
            if select.select([], [output], [], 0)[1]:
                os.write(output, _BRACKETED_PASTE_OFF)
