"""A running game for pages: drawn step by step, on a thread of its own, for whoever looks on."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Mapping, Sequence
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from epic_cli.live.browser.live_room import LinkControls, LiveRoom
from epic_cli.live.browser.server import ServeSpec, serve
from epic_cli.shell.errors import accessing
from epic_cli.show.live_page import live_page

if TYPE_CHECKING:
    from epic_cli.engine.replay.strategy_spec import StrategySpec
    from epic_cli.live.browser.live_view import View
    from epic_cli.live.browser.session import Outbox
    from epic_cli.live.options import Page

#: Seconds from one frame to the next, at least.
PERIOD = 0.03


class Live:
    """The views of a running game by their names, and the rooms of the pages that look on.

    Each page begins with the strategies ``team``, and has the ``link`` of a proxy.
    """

    def __init__(
        self,
        views: Mapping[str, View],
        team: Sequence[StrategySpec],
        link: LinkControls | None = None,
    ) -> None:
        self._views, self._team, self._link = views, [one.label for one in team], link
        self._rooms: set[LiveRoom] = set()
        self._stopped = threading.Event()

    async def show(self, page: Page, job: Coroutine[Any, Any, None]) -> None:
        """Serves the page while a job runs."""
        where, link = next(iter(self._views.values())).where, self._link
        data = {"where": where, "ways": [*self._views], "link": link.controls() if link else []}

        def room(outbox: Outbox) -> LiveRoom:
            self._rooms.add(made := LiveRoom(self._views, self._team, link, outbox))
            return made

        async def served() -> None:
            with accessing("listen on", f"127.0.0.1:{page.port}"):
                spec = ServeSpec(partial(live_page, data), {"live": room}, page.port)
                await serve(spec, page.ready)

        jobs = job, served(), asyncio.to_thread(self._run)
        tasks = [asyncio.ensure_future(one) for one in jobs]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for one in done:
                one.result()
        finally:
            self._stopped.set()
            for one in tasks:
                one.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    @np.errstate(all="ignore")  # what is drawn may be anywhere
    def _run(self) -> None:
        """Draws, and makes the pages' frames, until it is stopped."""
        due = perf_counter()
        while not self._stopped.wait(max(due - perf_counter(), 0.001)):
            begin = perf_counter()
            for view in self._views.values():
                view.step(begin)
            for room in tuple(self._rooms):
                room.step(begin)
                if room.closed:
                    self._rooms.discard(room)
            end = perf_counter()
            due = max(due + PERIOD, end + (end - begin) / 4)  # others have to do, too
