"""How far a longer piece of work has come."""

from __future__ import annotations

import contextlib
import os
import select
import sys
import time
from types import TracebackType
from typing import Any

from epic_cli.terminal.signals import cleaning_up

#: Work that takes no longer (s) shows no progress.
PATIENCE = 0.5


class Progress:
    """A bar on stderr, if that is a terminal and the work takes long; gone when it is done."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._begun = time.monotonic()
        self._bar: Any = None
        self._task: Any = None
        self._ending = contextlib.ExitStack()

    def __enter__(self) -> Progress:
        return self

    def __call__(self, done: int, total: int) -> None:
        """So many of so many runs are done."""
        if self._bar is None and sys.stderr.isatty():
            if time.monotonic() - self._begun < PATIENCE:
                return
            from rich import progress
            from rich.console import Console

            self._ending.enter_context(cleaning_up(_show_cursor))
            self._bar = progress.Progress(console=Console(stderr=True), transient=True)
            self._bar.start()
            self._task = self._bar.add_task(self._what)
        if self._bar is not None:
            self._bar.update(self._task, completed=done, total=total)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with self._ending:
            if self._bar is not None:
                self._bar.stop()


def _show_cursor() -> None:
    """The bar goes, and the cursor comes back, on a terminal that still takes something."""
    with contextlib.suppress(OSError, ValueError):
        descriptor = sys.stderr.fileno()
        if select.select([], [descriptor], [], 0)[1]:
            os.write(descriptor, b"\r\x1b[K\x1b[?25h")
