"""Executors on this machine: threads that share its cores, processes that may die."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from multiprocessing.connection import _ConnectionBase

Result = TypeVar("Result")

#: Jobs at hand for each process: one of them may take longer than the others.
_AT_HAND = 4


class Threads(ThreadPoolExecutor):
    """So many ``threads`` (None: one on each core) for a ``total`` of jobs.

    With fewer jobs than threads, each job has ``inner`` ones for itself. One job at a time is run
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

    def submit(self, fn: Callable[..., Result], /, *args: Any, **kwargs: Any) -> Future[Result]:
        """Lets a thread call ``fn``."""
        if self.in_flight > 1:
            return super().submit(fn, *args, **kwargs)
        done: Future[Result] = Future()
        try:
            done.set_result(fn(*args, **kwargs))
        except Exception as error:
            done.set_exception(error)
        return done

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self.stop.set()
        self.shutdown(wait=True, cancel_futures=kind is not None)


class Processes(Executor):
    """So many (``count``) worker processes, which end when this process does, however it ends.

        with Processes(4) as executor:
            ...

    They start when there is something to do, and ignore Ctrl-C: this process is the one that is
    interrupted. Leaving the block stops them at once, whatever they are doing.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self._start()

    @property
    def in_flight(self) -> int:
        """How many jobs to have at hand at a time."""
        return _AT_HAND * self.count

    def submit(self, fn: Callable[..., Result], /, *args: Any, **kwargs: Any) -> Future[Result]:
        """Lets a process call ``fn``; raises ``BrokenExecutor`` if one has died.

        What is cancelled runs all the same, unless the processes are stopped.
        """
        # the pool's own are never cancelled: those would be in its way when its processes stop
        answer: Future[Result] = Future()
        self._pool.submit(fn, *args, **kwargs).add_done_callback(partial(_settle, answer))
        return answer

    def renew(self) -> None:
        """Replaces all processes."""
        self.shutdown()
        self._start()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: ARG002
        """Stops the processes at once, whatever they are doing."""
        self._alive.close()
        self._pool.shutdown(wait)

    def _start(self) -> None:
        import multiprocessing  # only who asks for processes pays for loading them
        from concurrent.futures import ProcessPoolExecutor

        # a new interpreter each: a fork of a process with threads may wait for ever
        context = multiprocessing.get_context("spawn")
        watched, self._alive = context.Pipe(duplex=False)
        self._pool = ProcessPoolExecutor(self.count, context, _prepare, (watched,))


def _settle(answer: Future[Result], pooled: Future[Result]) -> None:
    """Gives ``answer`` what the pool's future came to."""
    if pooled.cancelled():
        answer.cancel()
    if not answer.set_running_or_notify_cancel():
        return
    error = pooled.exception()
    if error is not None:
        answer.set_exception(error)
    else:
        answer.set_result(pooled.result())


def _prepare(alive: _ConnectionBase[Any, Any]) -> None:
    """What a worker does first: it leaves Ctrl-C to its parent, and ends when the parent has."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        with contextlib.suppress(OSError):  # of Windows, which calls it broken
            alive.poll(None)  # nothing is ever sent: it is readable when the other end is closed
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
