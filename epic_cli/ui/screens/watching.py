"""What a proxy's other side gets and draws, beside what was sent: a screen for both directions."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from typing import TYPE_CHECKING, Any

from epic_cli.engine.text.widths import cut, printable
from epic_cli.live.event_loop import microsecond_loop
from epic_cli.live.proxy.watch import Watch, WatchDrawing
from epic_cli.ui.screens.cells import Lines
from epic_cli.ui.screens.listen.history import TRUTH_KEPT, History
from epic_cli.ui.screens.listen.monitor import STYLES, Monitor
from epic_cli.ui.screens.listen.sight import SMALLEST
from epic_cli.ui.screens.program import FullScreen
from epic_cli.ui.screens.proxy import LINK_KEYS, Keys
from epic_cli.views.proxy import KEYS, Status

if TYPE_CHECKING:
    from collections.abc import Coroutine, Mapping, Sequence

    from epic_cli.live.listener import ListenSpec
    from epic_cli.live.proxy.relay import Relay
    from epic_cli.live.receiving import Reception
    from epic_cli.live.recording import Recording
    from epic_cli.network.words import Way

#: Seconds that a thread may keep the other waiting: datagrams leave on time while much is drawn.
_TURN = 0.0005

_HINT = "w: the other direction; n: keys for the network"


class Watching:
    """The screen of ``epic listen`` for each direction, below the lines of the link.

    It begins with the direction ``way``. Keys are the screen's or, after ``n``, the link's.
    """

    def __init__(
        self,
        relay: Relay,
        what: str,
        watches: Mapping[Way, Watch],
        spec: ListenSpec,
        receiving: Reception,
        recordings: Sequence[Recording],
        way: Way,
    ) -> None:
        self._relay = relay
        self._status = Status(relay, what)
        self._keys = Keys(relay.links, {})
        self._way = way
        self._drawings: list[WatchDrawing] = []
        self._monitors: dict[Way, Monitor] = {}
        for one, watch in watches.items():
            truth = History(watch.entities, TRUTH_KEPT)
            where = f"{what}, {one}"
            monitor = Monitor(spec, where, receiving, recordings, truth=truth)
            drawing = WatchDrawing(watch, spec, relay.now, [monitor], truth.take)
            monitor.follow(drawing)
            self._monitors[one] = monitor
            self._drawings.append(drawing)
        self._for_link = False
        self._head = 0

    def run(self, job: Coroutine[Any, Any, None], color: bool) -> int | None:
        """Shows it while the proxy's ``job`` runs on a thread of its own, as ``Monitor.run``."""
        loop = microsecond_loop()

        def work() -> None:
            with asyncio.Runner(loop_factory=lambda: loop) as runner:
                runner.run(job)

        async def beside() -> None:
            working = asyncio.get_running_loop().run_in_executor(None, work)
            try:
                await asyncio.shield(working)
            finally:
                with contextlib.suppress(RuntimeError):  # it has ended by itself
                    loop.call_soon_threadsafe(self._relay.end)
                await working

        keys = dict.fromkeys((*self._monitor.acts, *LINK_KEYS, "w", "n"))
        screen = FullScreen(self, keys, STYLES, color, lambda: self._takes_text, self.click)
        turn = sys.getswitchinterval()
        sys.setswitchinterval(_TURN)
        try:
            return asyncio.run(screen.run(beside()))
        finally:
            sys.setswitchinterval(turn)

    @property
    def _monitor(self) -> Monitor:
        return self._monitors[self._way]

    @property
    def _takes_text(self) -> bool:
        return self._monitor.takes_text

    def advance(self, real_time: float) -> None:
        """Draws what is due in both directions, and looks at the figures."""
        for one in self._drawings:
            one.step()
        for monitor in self._monitors.values():
            monitor.advance(real_time)

    def press(self, key: str) -> None:
        """A key; others do nothing."""
        if self._takes_text:
            self._monitor.press(key)
        elif key == "w":
            self._way = "up" if self._way == "down" else "down"
        elif key == "n":
            self._for_link = not self._for_link
        elif self._for_link:
            self._keys.press(" " if key == "space" else key)
        else:
            self._monitor.press(key)

    def click(self, column: int, line: int) -> None:
        """Follows an entity, as on the screen of ``epic listen``."""
        if line >= self._head:
            self._monitor.click(column, line - self._head)

    def lines(self, columns: int, lines: int) -> Lines:
        """The whole screen."""
        head = self._status.lines(self._keys.chosen, self._relay.links.preset)
        head += KEYS if self._for_link else [f"shown: {self._way}; {_HINT}"]
        self._head = max(min(len(head), lines - SMALLEST[1] - 6), 0)
        # where there is no room for all, which direction is shown matters least
        shown: Lines = [[("", cut(printable(one), columns))] for one in head[: self._head]]
        return shown + self._monitor.lines(columns, lines - self._head)
