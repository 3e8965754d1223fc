"""The event loop of a program that runs until it is stopped: signals, threads, prefetching."""

from __future__ import annotations

import asyncio
import contextlib
import select
import selectors
import signal
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator
from typing import Any, TypeVar

#: The signals that end a program.
STOPPING = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]


@contextlib.contextmanager
def stop_signals(stop: Callable[[int], object]) -> Iterator[None]:
    """Make the running loop call ``stop`` with the number of a fatal signal, within the block.

    An ignored signal (``nohup``) stays ignored.
    """
    loop = asyncio.get_running_loop()
    before = {number: signal.getsignal(number) for number in STOPPING}
    heard = {one: it for one, it in before.items() if it not in (None, signal.SIG_IGN)}
    for number in heard:
        with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
            loop.add_signal_handler(number, stop, number)
    try:
        yield
    finally:
        for one, handler in heard.items():  # the loop would leave the default
            with contextlib.suppress(NotImplementedError, ValueError):
                loop.remove_signal_handler(one)
                signal.signal(one, handler)


def end_by(number: int) -> None:
    """End the process by a signal, as the signal's sender expects; do nothing for Ctrl-C."""
    if number != signal.SIGINT:
        signal.signal(number, signal.SIG_DFL)
        signal.raise_signal(number)


async def wait_for_event(event: asyncio.Event, seconds: float | None) -> None:
    """Wait until an event is set, but at most ``seconds`` (None: forever).

    ``asyncio.wait_for`` (before Python 3.12) may lose a cancellation that coincides with the event,
    so a program would miss Ctrl-C.
    """
    timer = None
    if seconds is not None:
        timer = asyncio.get_running_loop().call_later(max(seconds, 0), event.set)
    try:
        await event.wait()
    finally:
        if timer is not None:
            timer.cancel()


#: Seconds that a thread may keep another waiting, so that datagrams leave on time.
_TURN = 0.0005


def run_until_stopped(
    job: Coroutine[Any, Any, None],
    make_loop: Callable[[], asyncio.AbstractEventLoop] = asyncio.SelectorEventLoop,
) -> int | None:
    """Run a coroutine to its end; return the number of the signal that canceled it, or None.

    ``make_loop`` makes the event loop; the default one uses selectors, also on Windows.
    """
    stopped: list[int] = []

    async def run_main() -> None:
        task = asyncio.current_task()
        assert task is not None

        def stop(number: int) -> None:
            stopped.append(number)
            task.cancel()

        with stop_signals(stop):
            if sys.platform == "win32":
                _wake_regularly(asyncio.get_running_loop())
            await job

    try:
        with asyncio.Runner(loop_factory=make_loop) as runner:
            runner.run(run_main())
    except asyncio.CancelledError:
        if not stopped:
            raise
    except KeyboardInterrupt:  # on Windows, where loops have no handlers of signals
        stopped.append(signal.SIGINT)
    return stopped[0] if stopped else None


def _wake_regularly(loop: asyncio.AbstractEventLoop) -> None:
    """Wake the loop regularly, since Ctrl-C does not end a ``select`` on Windows."""
    loop.call_later(0.2, _wake_regularly, loop)


async def run_beside(
    job: Coroutine[Any, Any, None], loop: asyncio.AbstractEventLoop, end: Callable[[], object]
) -> None:
    """Run a coroutine on another thread with its own ``loop``; when canceled, call ``end`` there.

    Meanwhile threads keep each other waiting for half a millisecond at most.
    """

    def run_work() -> None:
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            runner.run(job)

    turn = sys.getswitchinterval()
    sys.setswitchinterval(_TURN)
    working = asyncio.get_running_loop().run_in_executor(None, run_work)
    try:
        await asyncio.shield(working)
    finally:
        with contextlib.suppress(RuntimeError):  # it has ended by itself
            loop.call_soon_threadsafe(end)
        sys.setswitchinterval(turn)
        await working


#: Seconds between two polls. A loop that sleeps between many events pays for each sleep; events in
#: between are handled together.
_REST = 250e-6

if sys.platform == "linux":

    class MicrosecondSelector(selectors.EpollSelector):
        """An ``epoll`` that waits with ``select``, whose timeouts are in microseconds.

        ``epoll_wait`` counts whole milliseconds, and Python rounds them up.
        """

        def __init__(self) -> None:
            super().__init__()
            self._looked = 0.0

        def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
            """Return the events that are ready within ``timeout`` seconds."""
            if timeout is None or timeout > 0:
                rest = self._looked + _REST - time.monotonic()
                if rest > 0:
                    time.sleep(rest)
                    timeout = None if timeout is None else max(timeout - rest, 0)
            if timeout is not None and timeout > 0:
                ready = select.select([self.fileno()], [], [], timeout)[0]
                timeout = 0
                if not ready:
                    self._looked = time.monotonic()
                    return []
            found = super().select(timeout)
            self._looked = time.monotonic()
            return found

    def make_microsecond_loop() -> asyncio.AbstractEventLoop:
        """Return a new event loop."""
        return asyncio.SelectorEventLoop(MicrosecondSelector())

else:

    def make_microsecond_loop() -> asyncio.AbstractEventLoop:
        """Return a new event loop; kqueue counts nanoseconds."""
        return asyncio.SelectorEventLoop()


Item = TypeVar("Item")

#: Items read ahead.
_PREFETCHED = 64


async def prefetch_items(items: Iterable[Item]) -> AsyncIterator[Item]:
    """Yield items that another thread produces; raise its exceptions here."""
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[tuple[Item | None, BaseException | None]] = asyncio.Queue()
    room = threading.Semaphore(_PREFETCHED)

    def put(item: Item | None, error: BaseException | None) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has been closed
            loop.call_soon_threadsafe(queue.put_nowait, (item, error))

    def make() -> None:
        try:
            for item in items:
                room.acquire()
                put(item, None)
            put(None, StopAsyncIteration())
        except BaseException as error:
            put(None, error)

    # a daemon: the program does not wait for a pipe that is silent
    threading.Thread(target=make, daemon=True).start()
    while True:
        item, error = await queue.get()
        room.release()
        if isinstance(error, StopAsyncIteration):
            return
        if error is not None:
            raise error
        assert item is not None
        yield item
