"""Signals that end a program, within an event loop; and waiting that misses none of them."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable, Iterator

#: The signals that end a program.
STOPPING = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]


@contextlib.contextmanager
def stop_signals(stop: Callable[[int], object]) -> Iterator[None]:
    """Within the block the running loop calls ``stop`` with the number of a fatal signal.

    A signal that is ignored (``nohup``) stays so.
    """
    loop = asyncio.get_running_loop()
    before = {one: signal.getsignal(one) for one in STOPPING}
    heard = {one: it for one, it in before.items() if it not in (None, signal.SIG_IGN)}
    for one in heard:
        with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
            loop.add_signal_handler(one, stop, one)
    try:
        yield
    finally:
        for one, handler in heard.items():  # the loop would leave the default
            with contextlib.suppress(NotImplementedError, ValueError):
                loop.remove_signal_handler(one)
                signal.signal(one, handler)


def end_by(number: int) -> None:
    """Ends the process by a signal, as whoever sent it expects; Ctrl-C is the caller's business."""
    if number != signal.SIGINT:
        signal.signal(number, signal.SIG_DFL)
        signal.raise_signal(number)


async def set_or_late(event: asyncio.Event, seconds: float | None) -> None:
    """Waits until an event is set, for so many seconds at most (None: for ever).

    ``asyncio.wait_for`` (before Python 3.12) may lose a cancellation that coincides with the event,
    and a program would miss Ctrl-C.
    """
    timer = None
    if seconds is not None:
        timer = asyncio.get_running_loop().call_later(max(seconds, 0), event.set)
    try:
        await event.wait()
    finally:
        if timer is not None:
            timer.cancel()
