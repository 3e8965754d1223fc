"""How far a longer piece of work has come."""

from __future__ import annotations

import contextlib
import os
import select
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Self

from epic_cli.engine.text.widths import printable
from epic_cli.formats.output_files import cleaning_up

#: Work that takes no longer (s) shows no progress.
PATIENCE = 1.0


class Progress:
    """A bar on stderr, if that is a terminal and the work takes long; gone when it is done.

    Work that is counted ``in_bytes`` has its rate and the time left beside it.
    """

    def __init__(self, what: str, in_bytes: bool = False) -> None:
        self._what = what
        self._in_bytes = in_bytes
        self._begun = time.monotonic()
        self._bar: Any = None
        self._task: Any = None
        self._ending = contextlib.ExitStack()

    def __enter__(self) -> Self:
        return self

    def __call__(self, done: int, total: int) -> None:
        """So many of so many runs or bytes are done; a total of 0 is not known."""
        if self._bar is None and sys.stderr.isatty():
            if time.monotonic() - self._begun < PATIENCE:
                return
            from rich import progress
            from rich.console import Console

            self._ending.enter_context(cleaning_up(_show_cursor))
            columns = [*progress.Progress.get_default_columns()]
            if self._in_bytes:
                columns += [progress.DownloadColumn(), progress.TransferSpeedColumn()]
            console = Console(stderr=True)
            self._bar = progress.Progress(*columns, console=console, transient=True)
            self._bar.start()
            self._task = self._bar.add_task(self._what, total=None)
            self._bar.tasks[0].start_time -= time.monotonic() - self._begun
        if self._bar is not None:
            from rich.markup import escape

            what = escape(printable(self._what))
            self._bar.update(self._task, description=what, completed=done, total=total or None)

    def describe(self, what: str) -> None:
        """Sets the label of the bar."""
        self._what = what

    def __exit__(self, *_: object) -> None:
        with self._ending:
            if self._bar is not None:
                self._bar.stop()


def report_each(
    progress: Callable[[int, int], object], files: Sequence[str]
) -> list[Callable[[int], None]]:
    """A callback for each file that takes the bytes read of it, and reports the total."""
    sizes = [_size(file) for file in files]

    def report(before: int, done: int) -> None:
        progress(before + done, sum(sizes))

    return [partial(report, sum(sizes[:number])) for number in range(len(files))]


def _size(file: str) -> int:
    """The size of a file in bytes; 0 if unknown."""
    try:
        return os.stat(file).st_size  # noqa: PTH116
    except OSError:
        return 0


def _show_cursor() -> None:
    """Erases the bar and shows the cursor, if the terminal still accepts output."""
    with contextlib.suppress(OSError, ValueError):
        descriptor = sys.stderr.fileno()
        if select.select([], [descriptor], [], 0)[1]:
            os.write(descriptor, b"\r\x1b[K\x1b[?25h")
