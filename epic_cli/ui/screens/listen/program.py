"""A monitor on the terminal, from the first picture to the end of listening."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from epic_cli.ui.screens.listen.monitor import KEYS, Monitor
from epic_cli.ui.screens.program import FullScreen

_ENTITIES = ("ansicyan", "ansiyellow", "ansigreen", "ansimagenta", "ansiblue", "ansired")

_STYLES = {
    "drawn": "bold",
    "received": "bold",
    "packet": "ansibrightblack",
    "delay": "ansicyan",
    "warning": "ansired bold",
    **{f"entity-{number}": color for number, color in enumerate(_ENTITIES)},
}


def show_on_terminal(
    monitor: Monitor, listening: Coroutine[Any, Any, None], color: bool
) -> int | None:
    """Shows it while something listens, until ``q``, Ctrl-C or a signal: that one's number.

    The terminal is left as it was found, whatever happens.
    """
    screen = FullScreen(monitor, KEYS, _STYLES, color, lambda: monitor.takes_text)
    return asyncio.run(screen.run(listening))
