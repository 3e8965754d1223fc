"""Ctrl-C at the right moments, and the terminal between two prompts."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Iterator
from typing import Any, BinaryIO

from epic_cli.recordings.files import cleaning_up


class DrawingStopped(KeyboardInterrupt):
    """The rows of packets were interrupted; the packets are taken.

    All rows up to ``drawn`` (s) have been drawn, and possibly some more; None: at most the first
    few have. The clock goes on from ``clock``.
    """

    def __init__(self, drawn: float | None, clock: float) -> None:
        super().__init__()
        self.drawn = drawn
        self.clock = clock


@contextlib.contextmanager
def held_back() -> Iterator[None]:
    """An interrupt within the block comes at its end: all of it is done, or nothing."""
    held: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: held.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if held:
            signal.raise_signal(signal.SIGINT)


#: This many bytes are handed over at once: what an interrupt leaves unsent is known to the byte.
_CHUNK = 4096


class RowOutlet:
    """Writes at once, past the stream's buffer; what is no terminal is written as it is."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        #: Whether what is written is shown at once.
        self.is_terminal = stream.isatty()
        # the console of Windows takes UTF-8 from Python's streams only
        by_hand = self.is_terminal and sys.platform != "win32"
        self._terminal = stream.fileno() if by_hand else None

    def write(self, data: bytes) -> None:
        """Writes all of it; a ``KeyboardInterrupt`` leaves the rest unwritten."""
        if self._terminal is None:
            self._stream.write(data)
            self._stream.flush()
            return
        left = memoryview(data)
        while left:
            left = left[os.write(self._terminal, left[:_CHUNK]) :]

    def drop(self) -> None:
        """Forgets what the terminal has not taken yet."""
        if self._terminal is None or sys.platform == "win32":
            return
        import termios

        with contextlib.suppress(termios.error, OSError):  # it may be gone
            termios.tcflush(self._terminal, termios.TCOFLUSH)


_BRACKETED_PASTE_OFF = b"\x1b[?2004l"


class QuietTerminal:
    """Turns off echo and line editing while the session runs; Ctrl-C still interrupts.

    Each prompt sets the terminal up for itself and gives it back like this. Without it, the
    kernel would show a paste while its rows are drawn, and hold back its unfinished line.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._original: list[Any] = []
        self._quiet: list[Any] = []
        if sys.platform == "win32":  # its console is quiet while no one reads it
            return
        import termios

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
        if sys.platform == "win32":
            return
        self.restore()
        os.kill(0, signal.SIGTSTP)
        self.quiet()

    def _set(self, attributes: list[Any], now: bool = False) -> None:
        if sys.platform == "win32":
            return
        import termios

        with contextlib.suppress(termios.error, OSError):  # it may be gone
            moment = termios.TCSANOW if now else termios.TCSADRAIN
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

        self._set(self._original, now=True)
        with contextlib.suppress(OSError, ValueError):
            output = sys.stdout.fileno()
            if select.select([], [output], [], 0)[1]:
                os.write(output, _BRACKETED_PASTE_OFF)
