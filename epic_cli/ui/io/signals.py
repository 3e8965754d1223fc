"""What SIGTERM and SIGHUP leave behind: nothing half written, and the terminal as it was."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable, Iterator
from types import FrameType

#: By name, since one of them is not everywhere.
_ENDINGS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]


@contextlib.contextmanager
def cleaning_up(clean_up: Callable[[], None]) -> Iterator[None]:
    """Within the block, a signal that ends the process calls ``clean_up`` first.

    Blocks may stand in one another: the innermost cleans up first, and the process then ends by
    the signal itself, as whoever sent it expects. A signal that is ignored (``nohup``) stays so.
    """
    before: dict[int, Callable[[int, FrameType | None], object] | int] = {}

    def end(number: int, frame: FrameType | None) -> None:
        clean_up()
        outer = before[number]
        if callable(outer):
            outer(number, frame)
            return
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    with contextlib.suppress(ValueError):  # only the main thread is told of signals
        for number in _ENDINGS:
            handler = signal.getsignal(number)
            if handler is not None and handler != signal.SIG_IGN:
                before[number] = handler
                signal.signal(number, end)
    try:
        yield
    finally:
        for number, handler in before.items():
            if signal.getsignal(number) is end:
                signal.signal(number, handler)
