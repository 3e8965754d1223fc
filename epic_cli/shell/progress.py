"""Progress of longer work, as a bar on stderr."""

from __future__ import annotations

import contextlib
import os
import select
import sys
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar, Self

from epic_cli.engine.text.widths import printable
from epic_cli.recordings.files import clean_up_on_signal

#: Work that takes no longer (s) shows no progress.
PATIENCE = 0.5


class Progress:
    """A progress bar on stderr, if that is a terminal and the work takes long; gone at the end.

    Work counted ``in_bytes`` has its rate and the time left beside the bar. Work that reports
    nothing until its end, ``silent``, has a bar that only moves. One bar is shown at a time, and
    none for other threads or worker processes.
    """

    _shown: ClassVar[bool] = False

    def __init__(self, what: str, in_bytes: bool = False, silent: bool = False) -> None:
        self._what = what
        self._in_bytes = in_bytes
        self._silent = silent
        self._timer: threading.Timer | None = None
        self._lock = threading.Lock()
        self._begun = time.monotonic()
        self._bar: Any = None
        self._task: Any = None
        self._ended = False
        self._ending = contextlib.ExitStack()

    def __enter__(self) -> Self:
        if self._silent and sys.stderr.isatty():
            self._ending.enter_context(clean_up_on_signal(_show_cursor))
            self._wait_to_show()
        return self

    def _wait_to_show(self) -> None:
        self._timer = threading.Timer(PATIENCE, self._show_bar)
        self._timer.daemon = True
        self._timer.start()

    def __call__(self, done: int, total: int) -> None:
        """Update the bar: ``done`` of ``total`` runs or bytes are done.

        A total of 0 is not known.
        """
        if self._silent and self._timer is None and sys.stderr.isatty():
            self._wait_to_show()
        if self._bar is None and sys.stderr.isatty():
            if time.monotonic() - self._begun < PATIENCE or Progress._shown:
                return
            if threading.current_thread() is not threading.main_thread():
                return
            self._show_bar()
            if self._bar is not None:
                self._ending.enter_context(clean_up_on_signal(_show_cursor))
        if self._bar is not None:
            from rich.markup import escape

            what = escape(printable(self._what))
            self._bar.update(self._task, description=what, completed=done, total=total or None)

    def _show_bar(self) -> None:
        """Show the bar, unless another bar is shown."""
        from multiprocessing import parent_process

        from rich import progress
        from rich.console import Console
        from rich.markup import escape

        with self._lock:
            stopped = self._silent and self._timer is None
            if Progress._shown or self._ended or stopped or parent_process() is not None:
                return
            Progress._shown = True
            columns = [*progress.Progress.get_default_columns()]
            if self._in_bytes:
                columns += [progress.DownloadColumn(), progress.TransferSpeedColumn()]
            console = Console(stderr=True)
            bar = progress.Progress(
                *columns,
                console=console,
                transient=True,
                redirect_stdout=sys.stdout is not None,  # rich would put a stream there
            )
            self._task = bar.add_task(escape(printable(self._what)), total=None)
            if bar.tasks[0].start_time is not None:
                bar.tasks[0].start_time -= time.monotonic() - self._begun
            bar.start()
            self._bar = bar

    def clear(self) -> None:
        """Erase the bar, to make room for text, until the next update."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
            if self._bar is not None:
                self._bar.stop()
                self._bar = None
                Progress._shown = False

    def describe(self, what: str) -> None:
        """Set the label of the bar."""
        self._what = what

    def __exit__(self, *_: object) -> None:
        with self._ending:
            self._ended = True
            self.clear()


def report_each(
    progress: Callable[[int, int], object], files: Sequence[str]
) -> list[Callable[[int], None]]:
    """Return a callback for each file, which takes the bytes read of it and updates the bar."""
    sizes = [_measure_file_size(file) for file in files]

    def report(before: int, done: int) -> None:
        progress(before + done, sum(sizes))

    return [partial(report, sum(sizes[:number])) for number in range(len(files))]


def _measure_file_size(file: str) -> int:
    """Return the size of a file in bytes; 0 if unknown."""
    try:
        return os.stat(file).st_size  # noqa: PTH116
    except OSError:
        return 0


def _show_cursor() -> None:
    """Erase the bar and show the cursor, if the terminal still accepts output."""
    with contextlib.suppress(OSError, ValueError):
        descriptor = sys.stderr.fileno()
        if select.select([], [descriptor], [], 0)[1]:
            os.write(descriptor, b"\r\x1b[K\x1b[?25h")
