"""Executors on this machine: threads that share its cores, processes that may die.

What only processes or a cluster need is loaded by them: a small comparison waits for imports most.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from epic_cli.recordings.children import safe_path

if TYPE_CHECKING:
    from multiprocessing.connection import _ConnectionBase

    from distributed import Client


Result = TypeVar("Result")

#: Jobs at hand for each process: one of them may take longer than the others.
_AT_HAND = 4


class Threads(ThreadPoolExecutor):
    """``threads`` (None: one on each core) for a ``total`` of jobs.

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
    """``count`` worker processes, which end when this process does, however it ends.

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
        with safe_path():  # this may start one
            pooled = self._pool.submit(fn, *args, **kwargs)
        pooled.add_done_callback(partial(_settle, answer))
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
        with safe_path():  # it starts what looks after semaphores
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


#: A scheduler that is there answers within this many seconds: first its machine, then the program.
_MACHINE, _PROGRAM = 1.5, 3.0

#: It greets with the length, in this many bytes, of what is never longer.
_WORD, _GREETING = 8, 1 << 20

#: Seconds for which there may be no worker (others are coming), and after which that is seen.
_PATIENCE, _LOOK = 30.0, 2.0

#: This many jobs for each thread of the cluster are at hand.
_FOR_EACH_THREAD = 3


class NoCluster(ConnectionError):
    """There is no cluster at this address, none that can be used, or none any more."""


class WorkerDied(BrokenExecutor):
    """The workers that tried to carry out a job have died of it."""


class Cluster(Executor):
    """The workers of the scheduler at an ``address`` such as ``tcp://host:8786``.

    Raises ``NoCluster`` within five seconds without an answer, and where a worker has another
    version of this program; ``ValueError`` for what is no address. If the scheduler dies, so does
    the work: ``renew`` raises it.
    """

    def __init__(self, address: str) -> None:
        self.address = address
        self._client = _connected(address)
        self._open: set[Any] = set()
        self._lock = threading.Lock()
        self._ended, self._deserted = threading.Event(), False
        try:
            self._check()
            threading.Thread(target=self._watch, daemon=True).start()
        except BaseException:
            self.shutdown()
            raise

    @property
    def in_flight(self) -> int:
        """How many jobs to have at hand at a time."""
        with contextlib.suppress(Exception):  # it is an estimate, and the cluster may be gone
            threads: dict[str, int] = self._client.nthreads()
            return max(1, _FOR_EACH_THREAD * sum(threads.values()))
        return _FOR_EACH_THREAD

    def submit(self, fn: Callable[..., Result], /, *args: Any, **kwargs: Any) -> Future[Result]:
        """Lets a worker call ``fn``; no answer is shared with another call."""
        from epic_cli.work.journal import program_version

        answer: Future[Result] = Future()
        try:
            asked = self._client.submit(
                _of_this_version, program_version(), fn, *args, pure=False, **kwargs
            )
        except Exception as error:
            answer.set_exception(WorkerDied(str(error)))
            return answer
        with self._lock:
            self._open.add(asked)
            too_late = self._deserted

        def done(future: Any) -> None:
            with self._lock:
                self._open.discard(future)
            if answer.set_running_or_notify_cancel():
                _take_over(future, answer)

        def cancelled(ours: Future[Result]) -> None:
            if ours.cancelled():
                with contextlib.suppress(Exception):
                    asked.cancel()

        asked.add_done_callback(done)
        answer.add_done_callback(cancelled)
        if too_late:
            asked.cancel(force=True)
        return answer

    def renew(self) -> None:
        """The cluster itself takes new workers for old ones; raises ``NoCluster`` if it is gone."""
        if self._client.status != "running":
            raise NoCluster("it is gone")
        if self._deserted:
            raise NoCluster(f"it has had no workers for {_PATIENCE:g} s")

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: ARG002
        """Lets go of the cluster, which forgets what it has not begun; it goes on without us."""
        self._ended.set()
        with contextlib.suppress(Exception):
            self._client.close(timeout=2)

    def _watch(self) -> None:
        """Cancels what is under way when all workers have died: nothing else would end it."""
        waited = 0.0
        while waited < _PATIENCE:
            if self._ended.wait(_LOOK):
                return
            with contextlib.suppress(Exception):  # the cluster itself may be gone
                waited = 0.0 if self._client.nthreads() else waited + _LOOK
        with self._lock:
            self._deserted, left = True, list(self._open)
        with contextlib.suppress(Exception):
            self._client.cancel(left, force=True)

    def _check(self) -> None:
        """All workers have this version; raises ``NoCluster``."""
        from importlib.metadata import version

        from epic_cli.work.journal import program_version

        found = self._client.run(version, "epic-cli", on_error="return")
        if not found:
            raise NoCluster("it has no workers")
        ours = program_version()
        for worker, theirs in found.items():
            if isinstance(theirs, Exception):
                raise NoCluster(f"its worker {worker} has no epic, and this is epic {ours}")
            if theirs != ours:
                raise NoCluster(f"its worker {worker} has epic {theirs}, and this is epic {ours}")


def place_of(address: str) -> tuple[str, int]:
    """The host and port of ``tcp://host:8786``; raises ``ValueError``."""
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port
    except ValueError:  # half an IPv6 address, or a port beyond all ports
        host = port = None
    if not host or not port or parts.scheme not in ("tcp", "tls"):
        raise ValueError(f"{address!r} is not the address of a scheduler, such as tcp://host:8786")
    return host, port


def _connected(address: str) -> Client:
    import importlib.util
    import logging

    place = place_of(address)
    if importlib.util.find_spec("distributed") is None:
        raise NoCluster("that needs dask.distributed: pip install distributed")
    _knock(address, place)
    if address.startswith("tls:"):
        _shake_hands(address)
    from distributed import Client

    # what it says of connections that come and go is said by us, once; some have their own level
    for name in ("distributed", *logging.root.manager.loggerDict):
        if name.startswith(("distributed", "tornado")):
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    try:
        return Client(address, timeout=_PROGRAM, set_as_default=False)
    except Exception as error:
        raise NoCluster("what answers is no Dask scheduler") from error


def _knock(address: str, place: tuple[str, int]) -> None:
    """Sees that a scheduler is there, which takes less time than to load what talks to it.

    Its first word is how long the greeting is that follows, which what talks to it trusts blindly.
    Raises ``NoCluster``.
    """
    import socket

    try:
        with socket.create_connection(place, _MACHINE) as connection:
            if address.startswith("tls:"):
                return  # it waits for our word
            connection.settimeout(_PROGRAM)
            word = connection.recv(_WORD, socket.MSG_WAITALL)
    except TimeoutError:
        raise NoCluster("there is no answer") from None
    except OSError as error:
        raise NoCluster(f"there is no answer ({error.strerror or error})") from error
    if len(word) < _WORD or int.from_bytes(word, "little") > _GREETING:
        raise NoCluster("what answers is no Dask scheduler")


def _shake_hands(address: str) -> None:
    """Sees that it takes our certificates; raises ``NoCluster``.

    A ``Client`` that fails in this says so in a traceback when it is collected.
    """
    import asyncio

    from distributed.comm import connect
    from distributed.security import Security

    async def greeted() -> None:
        connection = await connect(
            address, timeout=_PROGRAM, **Security().get_connection_args("client")
        )
        await connection.close()

    try:
        asyncio.run(greeted())
    except TypeError as error:  # there is no context for TLS
        hint = "tls:// needs certificates in Dask's configuration (distributed.comm.tls)"
        raise NoCluster(hint) from error
    except Exception as error:
        raise NoCluster("what answers is no Dask scheduler that takes our certificate") from error


def _of_this_version(
    ours: str, fn: Callable[..., Result], *args: object, **kwargs: object
) -> Result:
    """What a worker does; one may have joined since the others were looked at."""
    from epic_cli.work.journal import program_version

    theirs = program_version()
    if theirs != ours:
        raise NoCluster(f"one of its workers has epic {theirs}, and this is epic {ours}")
    return fn(*args, **kwargs)


def _take_over(future: Any, answer: Future[Any]) -> None:
    """What came of a job of the cluster."""
    from distributed.scheduler import KilledWorker

    try:
        if future.status == "finished":
            answer.set_result(future.result())
            return
        error = future.exception() if future.status == "error" else None
    except Exception as lost:  # the cluster died between the answer and its coming here
        error = WorkerDied(str(lost))
    if error is None or isinstance(error, KilledWorker):
        error = WorkerDied(str(error) if error else "it was cancelled")
    answer.set_exception(error)
