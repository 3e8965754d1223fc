"""Executors on this machine: threads that share its cores, processes that may die.

What only processes or a cluster need is loaded by them: a small comparison waits for imports most.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import (
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ThreadPoolExecutor,
)
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from epic_cli.recordings.children import safe_path

if TYPE_CHECKING:
    from multiprocessing.connection import _ConnectionBase

    from distributed import Client


Result = TypeVar("Result")

#: Jobs at hand for each process: one of them may take longer than the others.
_AT_HAND = 4

#: Seconds that an interrupt waits for threads.
_LEAVE = 1.0


class InterruptibleThreads(ThreadPoolExecutor):
    """A pool of threads that an interrupt leaves after ``_LEAVE``.

    A strategy in Python may never return. Jobs that are not begun are canceled by any exception,
    which otherwise waits for the others.
    """

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        # an interrupt closes generators, too: theirs is a GeneratorExit
        is_interrupt = kind is not None and not issubclass(kind, Exception)
        self.shutdown(wait=not is_interrupt, cancel_futures=kind is not None)
        until = time.monotonic() + _LEAVE
        for thread in list(self._threads) if is_interrupt else ():
            thread.join(max(until - time.monotonic(), 0))


class Threads(InterruptibleThreads):
    """``threads`` (None: one on each core) for a ``total`` of jobs.

    With fewer jobs than threads, each job has ``inner`` ones for itself. One job at a time is run
    by the thread that asks for it. Leaving the block by an exception sets ``stop``, which jobs look
    at.
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
        super().__exit__(kind, *_)


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

#: Seconds for which there may be no scheduler or worker (others are coming), and between looks.
_PATIENCE, _LOOK = 30.0, 2.0

#: A job goes to this many schedulers, one after the other: if they all died, they died of it.
_LOSSES = 3

#: This many jobs for each thread of the cluster are at hand.
_FOR_EACH_THREAD = 3


class NoCluster(ConnectionError):
    """There is no cluster at this address, none that can be used, or none any more."""


class WorkerDied(BrokenExecutor):
    """The workers that tried to carry out a job have died of it."""


class _Call:
    """What a worker is asked, and its answer.

    ``future`` is the cluster's; None: no scheduler has it, or none any more.
    """

    def __init__(self, work: Callable[[], Any]) -> None:
        self.work = work
        self.answer: Future[Any] = Future()
        self.future: Any = None
        self.times = 0


class Cluster(Executor):
    """The workers of the scheduler at an ``address`` such as ``tcp://host:8786``.

    Raises ``NoCluster`` within five seconds without an answer, and where a worker has another
    version of this program; ``ValueError`` for what is no address. A scheduler that dies and comes
    back within half a minute is asked again for what it has not answered; if it does not come,
    ``renew`` raises ``NoCluster``.
    """

    def __init__(self, address: str) -> None:
        self.address = address
        self._client = _connected(address)
        self._calls: set[_Call] = set()
        self._lock = threading.RLock()
        self._ended, self._given_up = threading.Event(), ""
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
            if self._client.status == "running":
                threads: dict[str, int] = self._client.nthreads()
                return max(1, _FOR_EACH_THREAD * sum(threads.values()))
        return _FOR_EACH_THREAD

    def submit(self, fn: Callable[..., Result], /, *args: Any, **kwargs: Any) -> Future[Result]:
        """Lets a worker call ``fn``; no answer is shared with another call."""
        call = _Call(partial(fn, *args, **kwargs))
        with self._lock:
            self._calls.add(call)
            given_up = self._given_up
        call.answer.add_done_callback(partial(self._cancel, call))
        if given_up:
            self._end(call, WorkerDied(given_up))
        else:
            self._ask(call)
        return call.answer

    def renew(self) -> None:
        """The cluster itself takes new workers for old ones; raises ``NoCluster`` if it is gone."""
        if self._given_up:
            raise NoCluster(self._given_up)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: ARG002
        """Leaves the cluster, which forgets what it has not begun; it goes on without us."""
        self._ended.set()
        with contextlib.suppress(Exception):
            self._client.close(timeout=2)

    def _ask(self, call: _Call) -> None:
        """Gives it to the scheduler; what is not there is asked when it has come back."""
        from epic_cli.work.journal import program_version

        with self._lock:
            if call.future is not None or self._client.status != "running":
                return
            call.times += 1
            if call.times > _LOSSES:
                self._end(call, WorkerDied("the scheduler died of it"))
                return
            try:
                call.future = self._client.submit(
                    _of_this_version, program_version(), call.work, pure=False
                )
            except Exception as error:
                if self._client.status == "running":
                    self._end(call, WorkerDied(str(error)))
            else:
                call.future.add_done_callback(partial(self._take_over, call))

    def _take_over(self, call: _Call, future: Any) -> None:
        """What came of a call; what was lost with its scheduler is asked again."""
        if call.future is not future:
            return
        try:
            self._end(call, _outcome(future))
        except _LOST:
            call.future = None

    def _end(self, call: _Call, found: _Value | Exception) -> None:
        """Gives its answer, once."""
        with self._lock:
            if call not in self._calls:
                return
            self._calls.remove(call)
        if not call.answer.set_running_or_notify_cancel():
            return
        if isinstance(found, Exception):
            call.answer.set_exception(found)
        else:
            call.answer.set_result(found.value)

    def _cancel(self, call: _Call, answer: Future[Any]) -> None:
        """Lets the cluster forget it, if it has been cancelled."""
        if answer.cancelled():
            self._end(call, CancelledError())
            with contextlib.suppress(Exception):
                call.future.cancel()

    def _open(self) -> list[_Call]:
        with self._lock:
            return list(self._calls)

    def _watch(self) -> None:
        """Asks again for what was lost; gives up where there is no worker: nothing else would."""
        seen = time.monotonic()
        while not self._ended.wait(_LOOK):
            reason = self._missing()
            if not reason:
                seen = time.monotonic()
                for call in self._open():
                    self._ask(call)
            elif time.monotonic() - seen >= _PATIENCE:
                with self._lock:
                    self._given_up = reason
                for call in self._open():
                    self._end(call, WorkerDied(reason))
                return

    def _missing(self) -> str:
        """Why there is no worker, if so; connects to a scheduler that has come back."""
        try:
            if self._client.status == "closed":
                self._client = _connected(self.address)
                for call in self._open():
                    call.future = None
                if self._ended.is_set():
                    self.shutdown()
            if self._client.nthreads():
                return ""
        except Exception:
            return "it is gone"
        return f"it has had no workers for {_PATIENCE:g} s"

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


class _Value(NamedTuple):
    """What a call returned."""

    value: Any


#: What tells that a scheduler or the way to it is lost, rather than a worker.
_LOST = (OSError, CancelledError)


def _outcome(future: Any) -> _Value | Exception:
    """What came of a job of the cluster; raises ``_LOST``."""
    from distributed.scheduler import KilledWorker

    if future.status not in ("finished", "error"):
        raise CancelledError
    try:
        if future.status == "finished":
            return _Value(future.result())
        error: Exception = future.exception()
    except _LOST:
        raise
    except Exception as unreadable:
        error = WorkerDied(str(unreadable))
    return WorkerDied(str(error)) if isinstance(error, KilledWorker) else error
