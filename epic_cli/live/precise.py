"""An event loop whose timers are not rounded to milliseconds."""

from __future__ import annotations

import asyncio
import select
import selectors
from typing import TYPE_CHECKING

if TYPE_CHECKING or hasattr(selectors, "EpollSelector"):

    class PreciseSelector(selectors.EpollSelector):
        """Waits with ``select``, whose timeouts are in microseconds, for ``epoll``.

        ``epoll_wait`` counts whole milliseconds, and Python rounds them up.
        """

        def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
            """What is ready within this time (seconds)."""
            if timeout is not None and timeout > 0:
                if not select.select([self.fileno()], [], [], timeout)[0]:
                    return []
                timeout = 0
            return super().select(timeout)

    def precise_loop() -> asyncio.AbstractEventLoop:
        """A new event loop."""
        return asyncio.SelectorEventLoop(PreciseSelector())

else:

    def precise_loop() -> asyncio.AbstractEventLoop:
        """A new event loop; kqueue counts nanoseconds."""
        return asyncio.SelectorEventLoop()
