"""What ``epic proxy`` shows on a terminal while it runs (a few lines), and what its keys do."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator

from epic_cli.engine.text.widths import cut, printable
from epic_cli.live.proxy.link_control import LinkController
from epic_cli.live.proxy.relay import Relay
from epic_cli.network.words import WAYS, Way
from epic_cli.ui.io.console import has_cursor
from epic_cli.ui.io.errors import steer
from epic_cli.views.proxy import KEYS, Status


def has_panel() -> bool:
    """Whether there is a terminal that can show one, and is this program's to use."""
    return has_cursor(sys.stderr) and _in_foreground(sys.stderr.fileno())


def has_keys() -> bool:
    """Whether keys come from a terminal, and to this program."""
    if sys.stdin is None or not sys.stdin.isatty():
        return False
    return _in_foreground(sys.stdin.fileno())


def _in_foreground(descriptor: int) -> bool:
    """Whoever reads a terminal from the background is stopped."""
    if sys.platform == "win32":
        return True
    try:
        return os.tcgetpgrp(descriptor) == os.getpgrp()
    except OSError:
        return False


class Panel:
    """Lines on stderr, each no longer than the terminal is wide; gone when they are cleared."""

    def __init__(self) -> None:
        self._height = 0

    def show(self, lines: list[str]) -> None:
        """Shows these in the place of those before."""
        width = max(shutil.get_terminal_size().columns - 1, 1)
        height = max(shutil.get_terminal_size().lines - 1, 1)
        kept = [cut(printable(line), width) for line in lines[:height]]
        steer(self._back() + "\n".join(kept) + "\n")
        self._height = len(kept)

    def clear(self) -> None:
        """Takes them away."""
        steer(self._back())
        self._height = 0

    def _back(self) -> str:
        return f"\r\x1b[{self._height}A\x1b[J" if self._height else ""


@contextlib.contextmanager
def keys(press: Callable[[str], None]) -> Iterator[Callable[[], None]]:
    """Calls ``press`` with the name of each key while the block runs in an event loop.

    Names are prompt_toolkit's: ``q``, ``up``, ``c-c``. The terminal is then as it was. What the
    block is given stops the program, as Ctrl-Z does elsewhere, until somebody continues it.
    """
    from prompt_toolkit.input import create_input

    source = create_input(sys.stdin)

    def read() -> None:
        for key in source.read_keys():
            press(str(getattr(key.key, "value", key.key)))

    def suspend() -> None:
        if hasattr(signal, "SIGTSTP"):
            with source.cooked_mode():
                os.kill(0, signal.SIGTSTP)  # with those it is piped to

    with source.raw_mode(), source.attach(read):
        yield suspend


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


#: Keys that the link has.
LINK_KEYS = (*_STEPS, *_CHOICES, "space", "p", "P", "r", "c")


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
