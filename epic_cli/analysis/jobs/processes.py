"""An executor of processes on this machine that outlives the death of one of them."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from functools import partial
from multiprocessing.connection import Connection
from typing import ParamSpec, TypeVar

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

#: So many jobs for each process are at hand: one of them may take longer than the others.
_AT_HAND = 4


class Processes(Executor):
    """So many (``count``) worker processes, which end when this process does, however it ends.

        with Processes(4) as executor:
            ...

    They are started when there is something to do, and left to themselves by Ctrl-C: this process
    is the one that is interrupted. Leaving the block stops them at once, whatever they are at.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self._begin()

    @property
    def in_flight(self) -> int:
        """How many jobs to have at hand at a time."""
        return _AT_HAND * self.count

    def submit(
        self,
        fn: Callable[Parameters, Result],
        /,
        *args: Parameters.args,
        **kwargs: Parameters.kwargs,
    ) -> Future[Result]:
        """Lets a process call ``fn``; raises ``BrokenExecutor`` if one has died.

        What is cancelled is carried out all the same, unless the processes are stopped.
        """
        # the pool's own are never cancelled: those would be in its way when its processes stop
        answer: Future[Result] = Future()
        asked = self._pool.submit(fn, *args, **kwargs)
        asked.add_done_callback(partial(_take_over, answer))
        return answer

    def renew(self) -> None:
        """Takes new processes for the old ones."""
        self.shutdown()
        self._begin()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: ARG002
        """Stops the processes at once, whatever they are at."""
        self._alive.close()
        self._pool.shutdown(wait)

    def _begin(self) -> None:
        # a new interpreter each: a fork of a process with threads may wait for ever
        context = multiprocessing.get_context("spawn")
        watched, self._alive = context.Pipe(duplex=False)
        self._pool = ProcessPoolExecutor(self.count, context, _prepare, (watched,))


def _take_over(answer: Future[Result], asked: Future[Result]) -> None:
    """What came of a job of the pool."""
    if asked.cancelled():
        answer.cancel()
    if not answer.set_running_or_notify_cancel():
        return
    error = asked.exception()
    if error is not None:
        answer.set_exception(error)
    else:
        answer.set_result(asked.result())


def _prepare(alive: Connection) -> None:
    """What a worker does first: it leaves Ctrl-C to its parent, and ends when that has gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        alive.poll(None)  # nothing is ever sent: it is readable when the other end is closed
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
