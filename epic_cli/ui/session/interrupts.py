"""Ctrl-C at the right moments."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator


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
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT,))
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
