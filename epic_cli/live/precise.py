"""An event loop whose timers are not rounded to milliseconds."""

from __future__ import annotations

import asyncio
import select
import selectors
import time
from typing import TYPE_CHECKING

#: Seconds between two looks at what is ready. A loop that falls asleep for each of many events pays
#: for the falling asleep; what comes meanwhile is looked at together.
_REST = 250e-6

if TYPE_CHECKING or hasattr(selectors, "EpollSelector"):

    class PreciseSelector(selectors.EpollSelector):
        """Waits with ``select``, whose timeouts are in microseconds, for ``epoll``.

        ``epoll_wait`` counts whole milliseconds, and Python rounds them up.
        """

        def __init__(self) -> None:
            super().__init__()
            self._looked = 0.0

        def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
            """What is ready within this time (seconds)."""
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

    def precise_loop() -> asyncio.AbstractEventLoop:
        """A new event loop."""
        return asyncio.SelectorEventLoop(PreciseSelector())

else:

    def precise_loop() -> asyncio.AbstractEventLoop:
        """A new event loop; kqueue counts nanoseconds."""
        return asyncio.SelectorEventLoop()
