"""What ``epic proxy`` shows on a terminal while it runs, and what its keys do."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable

from epic_cli.live.proxy.link_control import LinkController
from epic_cli.live.proxy.relay import Relay
from epic_cli.network.words import WAYS, Way
from epic_cli.ui.io.panel import Panel, has_keys, keys
from epic_cli.views.proxy import KEYS, Status

#: Seconds between two pictures.
_PICTURE = 0.25

#: By key: a quantity of the link, and what one press adds to it.
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


class Keys:
    """Changes the link key by key; ``chosen`` is the direction that they change."""

    def __init__(self, links: LinkController, acts: dict[str, Callable[[], None]]) -> None:
        self._links = links
        self._acts = acts
        self._ways: tuple[Way, ...] = WAYS
        self.chosen = "both"

    def press(self, key: str) -> None:
        """A key by its name; others than those that are shown do nothing."""
        links = self._links
        if key in _STEPS:
            links.add(*_STEPS[key], self._ways)
        elif key in _CHOICES:
            self.chosen, self._ways = _CHOICES[key]
        elif key == " ":
            dark = all(links.directions[way].blackout for way in self._ways)
            links.black_out(not dark, self._ways)
        elif key in ("p", "P"):
            links.next_preset(1 if key == "p" else -1)
        elif key == "r":
            links.reset()
        elif key == "c":
            links.clear()
        elif key in self._acts:
            self._acts[key]()


async def show_and_obey(relay: Relay, what: str) -> None:
    """Shows what passes until it is cancelled, and does what keys say."""
    panel, status = Panel(), Status(relay, what)

    def suspend() -> None:
        panel.clear()
        stop()

    acts = {
        "q": relay.end,
        "c-c": lambda: signal.raise_signal(signal.SIGINT),
        "c-z": suspend,
    }
    pressed = Keys(relay.links, acts)

    def draw() -> None:
        lines = status.lines(pressed.chosen, relay.links.preset)
        panel.show([*lines, *KEYS] if keyed else lines)

    def press(key: str) -> None:
        pressed.press(key)
        draw()

    with contextlib.ExitStack() as stack:
        stack.callback(panel.clear)
        keyed = has_keys()
        if keyed:
            stop = stack.enter_context(keys(press))
        while True:
            draw()
            await asyncio.sleep(_PICTURE)
