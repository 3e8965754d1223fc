"""Executors for jobs: threads that share this machine's cores, processes, and a Dask cluster.

Modules that only processes or a cluster need are imported there, since imports dominate a small
comparison.
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

from epic_cli.recordings.children import set_safe_path

if TYPE_CHECKING:
    from multiprocessing.connection import _ConnectionBase

    from distributed import Client


Result = TypeVar("Result")

#: Jobs submitted ahead for each process, since some take longer than others.
_AT_HAND = 4

#: Seconds for which an interrupt waits for threads.
_LEAVE = 1.0


class InterruptibleThreads(ThreadPoolExecutor):
    """A pool of threads that waits at most ``_LEAVE`` seconds for abandoned jobs.

    A strategy in Python may never return. Abandoned jobs are those that run on after an interrupt,
    which may have been caught within the block. Any exception cancels the jobs that have not begun;
    other exceptions than interrupts wait for the running ones.
    """

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        # an interrupt closes generators, too: theirs is a GeneratorExit
        is_error = kind is not None and issubclass(kind, Exception)
        self.shutdown(wait=is_error, cancel_futures=kind is not None)
        until = time.monotonic() + _LEAVE
        for thread in () if is_error else list(self._threads):
            thread.join(max(until - time.monotonic(), 0))


class Threads(InterruptibleThreads):
    """A pool of ``threads`` (None for one on each core) for ``total`` jobs.

    With fewer jobs than threads, each job gets ``inner`` threads of its own. With one job at a
    time, the calling thread runs it. Leaving the block by an exception sets ``stop``, which jobs
    check.
    """

    def __init__(self, threads: int | None, total: int) -> None:
        workers = threads or os.cpu_count() or 1
        side_by_side = max(1, min(workers, total))
        super().__init__(side_by_side, "study")
        self.inner = -(-workers // side_by_side)
        self.stop = threading.Event()
        #: How many jobs to submit ahead; each holds a recording.
        self.in_flight = 2 * side_by_side if side_by_side > 1 else 1

    def submit(self, fn: Callable[..., Result], /, *args: Any, **kwargs: Any) -> Future[Result]:
        """Call ``fn`` in a thread; return the future of its result."""
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
    """A pool of ``count`` worker processes that end when this process does, however it ends.

        with Processes(4) as executor:
            ...

    They start with the first job and ignore Ctrl-C, which is for this process. Leaving the block
    stops them at once.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self._start_processes()

    @property
    def in_flight(self) -> int:
        """The number of jobs to submit before the first result is awaited."""
        return _AT_HAND * self.count

    def submit(self, fn: Callable[..., Result], /, *args: Any, **kwargs: Any) -> Future[Result]:
        """Call ``fn`` in a worker process; raise ``BrokenExecutor`` if a worker has died.

        Canceled jobs run all the same, unless the processes are stopped.
        """
        # the pool's own futures are never canceled: they would block it when its processes stop
        answer: Future[Result] = Future()
        with set_safe_path():  # this may start one
            pooled = self._pool.submit(fn, *args, **kwargs)
        pooled.add_done_callback(partial(_copy_outcome, answer))
        return answer

    def renew(self) -> None:
        """Replace all worker processes by new ones."""
        self.shutdown()
        self._start_processes()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: ARG002
        """Stop the worker processes at once."""
        self._alive.close()
        self._pool.shutdown(wait)

    def _start_processes(self) -> None:
        import multiprocessing  # only who asks for processes pays for loading them
        from concurrent.futures import ProcessPoolExecutor

        # a new interpreter each: a fork of a process with threads may wait for ever
        context = multiprocessing.get_context("spawn")
        watched, self._alive = context.Pipe(duplex=False)
        with set_safe_path():  # it starts what looks after semaphores
            self._pool = ProcessPoolExecutor(self.count, context, _prepare_worker, (watched,))


def _copy_outcome(answer: Future[Result], pooled: Future[Result]) -> None:
    """Copy the result or error of the pool's future to the future ``answer``."""
    if pooled.cancelled():
        answer.cancel()
    if not answer.set_running_or_notify_cancel():
        return
    error = pooled.exception()
    if error is not None:
        answer.set_exception(error)
    else:
        answer.set_result(pooled.result())


def _prepare_worker(alive: _ConnectionBase[Any, Any]) -> None:
    """Make a worker process ignore Ctrl-C, and end when its parent has ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        with contextlib.suppress(OSError):  # of Windows, which calls it broken
            alive.poll(None)  # nothing is ever sent: it is readable when the other end is closed
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


#: Seconds within which a scheduler's machine answers, and then its program.
_MACHINE, _PROGRAM = 1.5, 3.0

#: Bytes of the length that a scheduler sends first, and the longest greeting.
_WORD, _GREETING = 8, 1 << 20

#: Seconds to wait for a new scheduler or worker, and between checks.
_PATIENCE, _LOOK = 30.0, 2.0

#: Schedulers that may die with a job before the job is blamed.
_LOSSES = 3

#: Jobs submitted ahead for each thread of the cluster.
_FOR_EACH_THREAD = 3


class NoCluster(ConnectionError):
    """An error: the cluster at this address cannot be used, for the reason in the message."""


class WorkerDied(BrokenExecutor):
    """An error: each worker that ran the job died."""


class _WorkerCall:
    """A call sent to a worker, and the future for its answer.

    ``future`` is the cluster's; None while no scheduler has the call.
    """

    def __init__(self, work: Callable[[], Any]) -> None:
        self.work = work
        self.answer: Future[Any] = Future()
        self.future: Any = None
        self.times = 0


class Cluster(Executor):
    """The workers of the Dask scheduler at an ``address`` such as ``tcp://host:8786``.

    Raises ``NoCluster`` if there is no answer within five seconds, or a worker has another version
    of this program; ``ValueError`` for an invalid address. If a scheduler dies and comes back
    within half a minute, its unanswered calls are repeated; otherwise ``renew`` raises
    ``NoCluster``.
    """

    def __init__(self, address: str) -> None:
        self.address = address
        self._client = _connect_client(address)
        self._calls: set[_WorkerCall] = set()
        self._lock = threading.RLock()
        self._ended, self._given_up = threading.Event(), ""
        try:
            self._check_versions()
            threading.Thread(target=self._watch_cluster, daemon=True).start()
        except BaseException:
            self.shutdown()
            raise

    @property
    def in_flight(self) -> int:
        """The number of jobs to submit before the first result is awaited."""
        with contextlib.suppress(Exception):  # it is an estimate, and the cluster may be gone
            if self._client.status == "running":
                threads: dict[str, int] = self._client.nthreads()
                return max(1, _FOR_EACH_THREAD * sum(threads.values()))
        return _FOR_EACH_THREAD

    def submit(self, fn: Callable[..., Result], /, *args: Any, **kwargs: Any) -> Future[Result]:
        """Call ``fn`` in a worker; equal calls are not merged into one."""
        call = _WorkerCall(partial(fn, *args, **kwargs))
        with self._lock:
            self._calls.add(call)
            given_up = self._given_up
        call.answer.add_done_callback(partial(self._cancel_call, call))
        if given_up:
            self._answer_call(call, WorkerDied(given_up))
        else:
            self._submit_call(call)
        return call.answer

    def renew(self) -> None:
        """Check that the cluster, which replaces its workers itself, is still there.

        Raise ``NoCluster``.
        """
        if self._given_up:
            raise NoCluster(self._given_up)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: ARG002
        """Disconnect from the cluster, which drops the jobs that it has not begun."""
        self._ended.set()
        with contextlib.suppress(Exception):
            self._client.close(timeout=2)

    def _submit_call(self, call: _WorkerCall) -> None:
        """Submit a call to the scheduler, unless the connection is down at the moment."""
        from epic_cli.work.journal import get_program_version

        with self._lock:
            if call.future is not None or self._client.status != "running":
                return
            call.times += 1
            if call.times > _LOSSES:
                self._answer_call(
                    call,
                    WorkerDied(
                        "the scheduler died of it each time: run it without --cluster to see why"
                    ),
                )
                return
            try:
                call.future = self._client.submit(
                    _call_in_version, get_program_version(), call.work, pure=False
                )
            except Exception as error:
                if self._client.status == "running":
                    self._answer_call(call, WorkerDied(str(error)))
            else:
                call.future.add_done_callback(partial(self._take_outcome, call))

    def _take_outcome(self, call: _WorkerCall, future: Any) -> None:
        """Take the outcome of a call.

        Mark a call that was lost with its scheduler for repetition.
        """
        if call.future is not future:
            return
        try:
            self._answer_call(call, _read_outcome(future))
        except _LOST:
            call.future = None

    def _answer_call(self, call: _WorkerCall, found: _ReturnValue | Exception) -> None:
        """Set the answer of a call, unless it has one."""
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

    def _cancel_call(self, call: _WorkerCall, answer: Future[Any]) -> None:
        """Cancel a call in the cluster if the caller canceled its answer."""
        if answer.cancelled():
            self._answer_call(call, CancelledError())
            with contextlib.suppress(Exception):
                call.future.cancel()

    def _list_calls(self) -> list[_WorkerCall]:
        with self._lock:
            return list(self._calls)

    def _watch_cluster(self) -> None:
        """Repeat lost calls, and give up when there has been no worker for a while."""
        seen = time.monotonic()
        while not self._ended.wait(_LOOK):
            reason = self._explain_missing_workers()
            if not reason:
                seen = time.monotonic()
                for call in self._list_calls():
                    self._submit_call(call)
            elif time.monotonic() - seen >= _PATIENCE:
                with self._lock:
                    self._given_up = reason
                for call in self._list_calls():
                    self._answer_call(call, WorkerDied(reason))
                return

    def _explain_missing_workers(self) -> str:
        """Return why no worker can be used, or an empty text.

        Reconnect to a scheduler that is back.
        """
        try:
            if self._client.status == "closed":
                self._client = _connect_client(self.address)
                for call in self._list_calls():
                    call.future = None
                if self._ended.is_set():
                    self.shutdown()
            if self._client.nthreads():
                return ""
        except Exception:
            return "the scheduler is gone: start it again"
        return f"the scheduler has had no workers for {_PATIENCE:g} s: start some (dask worker)"

    def _check_versions(self) -> None:
        """Raise ``NoCluster`` if a worker has another version of this program."""
        from importlib.metadata import version

        from epic_cli.work.journal import get_program_version

        found = self._client.run(version, "epic-cli", on_error="return")
        if not found:
            raise NoCluster("the scheduler has no workers: start some (dask worker)")
        ours = get_program_version()
        for worker, theirs in found.items():
            if isinstance(theirs, Exception):
                raise NoCluster(f"its worker {worker} has no epic: install epic {ours} there")
            if theirs != ours:
                raise NoCluster(f"its worker {worker} has epic {theirs}: install epic {ours} there")


def parse_scheduler(address: str) -> tuple[str, int]:
    """Parse ``tcp://host:8786`` to host and port; raise ``ValueError``."""
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port
    except ValueError:  # half an IPv6 address, or a port beyond all ports
        host = port = None
    if not host or not port or parts.scheme not in ("tcp", "tls"):
        raise ValueError(f"{address!r} is not the address of a scheduler, such as tcp://host:8786")
    return host, port


def _connect_client(address: str) -> Client:
    import importlib.util
    import logging

    place = parse_scheduler(address)
    if importlib.util.find_spec("distributed") is None:
        raise NoCluster("that needs dask.distributed: pip install distributed")
    _check_scheduler(address, place)
    if address.startswith("tls:"):
        _check_certificate(address)
    from distributed import Client

    # connections that come and go are reported by us, once; some loggers have their own level
    for name in ("distributed", *logging.root.manager.loggerDict):
        if name.startswith(("distributed", "tornado")):
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    try:
        return Client(address, timeout=_PROGRAM, set_as_default=False)
    except Exception as error:
        raise NoCluster("the server there is not a Dask scheduler: check host and port") from error


def _check_scheduler(address: str, place: tuple[str, int]) -> None:
    """Check that a scheduler answers, before the slow import of Dask's client.

    A scheduler first sends the length of its greeting, which Dask's client does not check. Raises
    ``NoCluster``.
    """
    import socket

    try:
        with socket.create_connection(place, _MACHINE) as connection:
            if address.startswith("tls:"):
                return  # a TLS server waits for the client to speak
            connection.settimeout(_PROGRAM)
            word = connection.recv(_WORD, socket.MSG_WAITALL)
    except TimeoutError:
        raise NoCluster("the scheduler does not answer: check that it runs") from None
    except OSError as error:
        raise NoCluster(f"the scheduler does not answer ({error.strerror or error})") from error
    if len(word) < _WORD or int.from_bytes(word, "little") > _GREETING:
        raise NoCluster("the server there is not a Dask scheduler: check host and port")


def _check_certificate(address: str) -> None:
    """Raise ``NoCluster`` if the scheduler does not accept our certificates.

    A ``Client`` that fails in this prints a traceback when it is collected.
    """
    import asyncio

    from distributed.comm import connect
    from distributed.security import Security

    async def is_greeted() -> None:
        connection = await connect(
            address, timeout=_PROGRAM, **Security().get_connection_args("client")
        )
        await connection.close()

    try:
        asyncio.run(is_greeted())
    except TypeError as error:  # there is no context for TLS
        hint = "tls:// needs certificates in Dask's configuration (distributed.comm.tls)"
        raise NoCluster(hint) from error
    except Exception as error:
        raise NoCluster(
            "the server there is not a Dask scheduler that accepts our certificate"
        ) from error


def _call_in_version(
    ours: str, fn: Callable[..., Result], *args: object, **kwargs: object
) -> Result:
    """Call ``fn`` if the worker has the version ``ours``; workers may join after the check."""
    from epic_cli.work.journal import get_program_version

    theirs = get_program_version()
    if theirs != ours:
        raise NoCluster(f"one of its workers has epic {theirs}: install epic {ours} there")
    return fn(*args, **kwargs)


class _ReturnValue(NamedTuple):
    """The value that a call returned, as opposed to an error."""

    value: Any


#: Errors that mean a lost scheduler or connection, not a dead worker.
_LOST = (OSError, CancelledError)


def _read_outcome(future: Any) -> _ReturnValue | Exception:
    """Return the result or error of a job in the cluster.

    Raise ``_LOST`` if the scheduler lost it.
    """
    from distributed.scheduler import KilledWorker

    if future.status not in ("finished", "error"):
        raise CancelledError
    try:
        if future.status == "finished":
            return _ReturnValue(future.result())
        error: Exception = future.exception()
    except _LOST:
        raise
    except Exception as unreadable:
        error = WorkerDied(str(unreadable))
    return WorkerDied(str(error)) if isinstance(error, KilledWorker) else error
