"""Ctrl-C and other signals as the ordinary end of a program that would go on for ever."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable, Coroutine
from typing import Any

#: What ends a program that would go on for ever.
STOPPING = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]


def run_until_stopped(
    job: Coroutine[Any, Any, None],
    make_loop: Callable[[], asyncio.AbstractEventLoop] | None = None,
) -> int | None:
    """Runs a coroutine to its end (None), or until a signal cancels it: that signal's number.

    A signal that is ignored (``nohup``) stays so. ``make_loop`` makes the event loop, if it is to
    be another than the usual one.
    """
    stopped: list[int] = []
    before = {one: signal.getsignal(one) for one in STOPPING}
    heard = [one for one, handler in before.items() if handler not in (None, signal.SIG_IGN)]

    async def main() -> None:
        loop = asyncio.get_running_loop()
        task = asyncio.current_task()
        assert task is not None

        def stop(number: int) -> None:
            stopped.append(number)
            task.cancel()

        for one in heard:
            with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
                loop.add_signal_handler(one, stop, one)
        await job

    try:
        with asyncio.Runner(loop_factory=make_loop) as runner:
            runner.run(main())
    except asyncio.CancelledError:
        if not stopped:
            raise
    except KeyboardInterrupt:  # where loops have no handlers of signals
        stopped.append(signal.SIGINT)
    finally:
        for one in heard:
            with contextlib.suppress(ValueError):
                signal.signal(one, before[one])
    return stopped[0] if stopped else None


def end_by(number: int) -> None:
    """Ends the process by a signal, as whoever sent it expects; Ctrl-C is the caller's business."""
    if number != signal.SIGINT:
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)


async def set_or_late(event: asyncio.Event, seconds: float | None) -> None:
    """Waits until an event is set, for so many seconds at most (None: for ever).

    ``asyncio.wait_for`` (before Python 3.12) may lose a cancellation that comes as the event does,
    and a program would not hear Ctrl-C.
    """
    timer = None
    if seconds is not None:
        timer = asyncio.get_running_loop().call_later(max(seconds, 0), event.set)
    try:
        await event.wait()
    finally:
        if timer is not None:
            timer.cancel()
