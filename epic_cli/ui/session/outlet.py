"""Bytes to a terminal, of which those that it has not shown yet can be dropped."""

from __future__ import annotations

import contextlib
import os
from typing import BinaryIO

#: So many bytes are handed over at once: what an interrupt leaves unsent is known to the byte.
_CHUNK = 4096


class Outlet:
    """Writes at once, past the stream's buffer; what is no terminal is written as it is."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._terminal = stream.fileno() if stream.isatty() else None

    @property
    def is_terminal(self) -> bool:
        """Whether what is written is shown at once."""
        return self._terminal is not None

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
        if self._terminal is None:
            return
        import termios

        with contextlib.suppress(termios.error, OSError):  # it may be gone
            termios.tcflush(self._terminal, termios.TCOFLUSH)
