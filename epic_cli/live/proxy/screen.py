"""The screen of ``epic proxy``: the link, and the packets that the two sides receive and draw."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from typing import Any

from epic_cli.engine.text.widths import cut, printable
from epic_cli.live.listener import LaterDrawing
from epic_cli.live.model import RunningGame
from epic_cli.live.proxy.report import KEYS, Status
from epic_cli.live.proxy.run import Relay
from epic_cli.live.proxy.spec import LinkController
from epic_cli.live.screen import SMALLEST, STYLES, ListenScreen
from epic_cli.network.link import WAYS, Way
from epic_cli.show.full_screen import FullScreen, Lines
from epic_cli.work.event_loop import make_microsecond_loop, run_beside

_HINT = "w: the other direction; n: keys for the network"


#: By key: a quantity of the link, and the step of one press.
_STEPS = {
    "up": ("latency", 0.01),
    "down": ("latency", -0.01),
    "right": ("loss", 0.01),
    "left": ("loss", -0.01),
    "j": ("jitter", 0.005),
    "J": ("jitter", -0.005),
}

_CHOICES: dict[str, tuple[str, tuple[Way, ...]]] = {
    "u": ("up", ("up",)),
    "d": ("down", ("down",)),
    "b": ("both", WAYS),
}


#: The keys of the link.
_LINK_KEYS = (*_STEPS, *_CHOICES, "space", "p", "P", "r", "c")


class _LinkKeys:
    """The keys that change the link; ``chosen`` is the direction that they change."""

    def __init__(self, links: LinkController) -> None:
        self._links = links
        self._ways: tuple[Way, ...] = WAYS
        self.chosen = "both"

    def press(self, key: str) -> None:
        """Handle a key by its name; unknown keys do nothing."""
        links = self._links
        if key in _STEPS:
            links.add(*_STEPS[key], self._ways)
        elif key in _CHOICES:
            self.chosen, self._ways = _CHOICES[key]
        elif key == "space":
            dark = all(links.directions[way].blackout for way in self._ways)
            links.black_out(not dark, self._ways)
        elif key in ("p", "P"):
            links.choose_next_preset(1 if key == "p" else -1)
        elif key == "r":
            links.reset()
        elif key == "c":
            links.clear()


class Watching:
    """The screen of a proxy: lines on the link, above the screen of ``epic listen``, if any.

    The screen begins with the direction ``way``. Without watched packets, keys change the link;
    with them, keys belong to the screen below until ``n`` is pressed.
    """

    def __init__(
        self,
        relay: Relay,
        what: str,
        games: Mapping[Way, tuple[RunningGame, LaterDrawing]],
        way: Way,
    ) -> None:
        self._relay = relay
        self._status = Status(relay, what)
        self._keys = _LinkKeys(relay.links)
        self._way = way
        self._drawings = [drawing for _, drawing in games.values()]
        self._monitors = {way: ListenScreen(game) for way, (game, _) in games.items()}
        self._for_link = not games
        self._head = 0

    def note(self, words: str) -> None:
        """Append words to the first line of the screen."""
        self._status.what += f", {words}"

    def run(self, job: Coroutine[Any, Any, None], color: bool) -> int | None:
        """Show the screen while the ``job`` runs on its own thread, as ``ListenScreen.run``."""
        acts = self._current_screen.actions if self._current_screen else ()
        keys = dict.fromkeys((*acts, *_LINK_KEYS, "w", "n"))
        click = self.follow_clicked if self._current_screen else None
        screen = FullScreen(self, keys, STYLES, color, lambda: self._is_typing_name, click)
        return asyncio.run(screen.run(run_beside(job, make_microsecond_loop(), self._relay.end)))

    @property
    def _current_screen(self) -> ListenScreen | None:
        return self._monitors.get(self._way)

    @property
    def _is_typing_name(self) -> bool:
        return self._current_screen is not None and self._current_screen.takes_text

    def advance(self, real_time: float) -> None:
        """Draw the due ticks of both directions, and update the metrics."""
        for drawing in self._drawings:
            drawing.step()
        for monitor in self._monitors.values():
            monitor.advance(real_time)

    def press(self, key: str) -> None:
        """Handle a key; unknown keys do nothing."""
        monitor = self._current_screen
        if monitor is None or (self._for_link and key not in ("w", "n")):
            self._keys.press(key)
        elif monitor.takes_text or key not in ("w", "n"):
            monitor.press(key)
        elif key == "w":
            self._way = "up" if self._way == "down" else "down"
        else:
            self._for_link = not self._for_link

    def follow_clicked(self, column: int, line: int) -> None:
        """Follow the clicked entity, as on the screen of ``epic listen``."""
        if self._current_screen and line >= self._head:
            self._current_screen.click(column, line - self._head)

    def render_lines(self, columns: int, lines: int) -> Lines:
        """Return the lines of the whole screen."""
        head = self._status.render_lines(self._keys.chosen, self._relay.links.preset)
        head += KEYS if self._for_link else [f"shown: {self._way}; {_HINT}"]
        # the line about the direction is the first to be dropped
        below = SMALLEST[1] + 6 if self._current_screen else 0
        self._head = max(min(len(head), lines - below), 0)
        shown: Lines = [[("", cut(printable(line), columns))] for line in head[: self._head]]
        return shown + (
            self._current_screen.render_lines(columns, lines - self._head)
            if self._current_screen
            else []
        )
