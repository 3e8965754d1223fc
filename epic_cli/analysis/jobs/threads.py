"""An executor of threads in this process, which shares the cores out between jobs."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import ParamSpec, TypeVar

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


class Threads(ThreadPoolExecutor):
    """So many ``threads`` (None: one on each core) for a ``total`` of jobs.

    With fewer jobs than threads, each job has ``inner`` ones for itself. One job at a time is done
    by the thread that asks for it. Leaving the block by an exception sets ``stop``, which jobs look
    at, and waits for them.
    """

    def __init__(self, threads: int | None, total: int) -> None:
        workers = threads or os.cpu_count() or 1
        side_by_side = max(1, min(workers, total))
        super().__init__(side_by_side, "study")
        self.inner = -(-workers // side_by_side)
        self.stop = threading.Event()
        #: How many jobs to have at hand: each holds a recording.
        self.in_flight = 2 * side_by_side if side_by_side > 1 else 1

    def submit(
        self,
        fn: Callable[Parameters, Result],
        /,
        *args: Parameters.args,
        **kwargs: Parameters.kwargs,
    ) -> Future[Result]:
        """Lets a thread call ``fn``."""
        if self.in_flight > 1:
            return super().submit(fn, *args, **kwargs)
        done: Future[Result] = Future()
        try:
            done.set_result(fn(*args, **kwargs))
        except Exception as error:
            done.set_exception(error)
        return done

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if kind is not None:
            self.stop.set()
        self.shutdown(wait=True, cancel_futures=kind is not None)
