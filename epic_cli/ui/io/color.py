"""Whether to use colour: decided here, for click, rich and prompt_toolkit alike."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from typing import Protocol

    class Stream(Protocol):
        """What may be a terminal."""

        def isatty(self) -> bool:
            """Whether it is one."""


ColorChoice = Literal["auto", "always", "never"]
COLOR_CHOICES: tuple[ColorChoice, ...] = ("auto", "always", "never")


#: Values of TERM that promise nothing but lines of text.
PLAIN_TERMINALS = ("dumb", "unknown", "")


def use_color(choice: ColorChoice, stream: Stream | None) -> bool:
    """``--color``, then NO_COLOR, FORCE_COLOR, TERM=dumb, and whether a terminal is there."""
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    plain = os.environ.get("TERM", "") in PLAIN_TERMINALS
    return not plain and stream is not None and stream.isatty()
