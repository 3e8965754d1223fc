"""What is read from files or pipes, for a loop that must not wait for them."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Iterable
from typing import TypeVar

Item = TypeVar("Item")

#: How many are made ahead of their use.
_AHEAD = 64


async def ahead(items: Iterable[Item]) -> AsyncIterator[Item]:
    """The items, which another thread makes; what it raises is raised here."""
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[tuple[Item | None, BaseException | None]] = asyncio.Queue()
    room = threading.Semaphore(_AHEAD)

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

    # a daemon: nobody waits for a pipe that is silent
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
