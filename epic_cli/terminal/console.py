"""What rich draws, as text for a screen or for stdout."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from epic_cli.terminal.color import ColorChoice, use_color
from epic_cli.terminal.errors import escaped
from epic_cli.terminal.output import open_sink

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult

#: Narrower than this, tables say nothing.
NARROW = 60

#: As wide as tables are written where no terminal says how wide it is.
WIDE = 160


def draw(what: RenderableType, color: bool, width: int | None = None) -> str:
    """Lines without blanks at their ends; without a ``width``, the terminal's, or else 80."""
    from rich.console import Console  # only some commands wait for it

    console = Console(
        width=width,
        force_terminal=color,
        no_color=not color,
        color_system="standard" if color else None,
        highlight=False,
        legacy_windows=False,
    )
    with console.capture() as captured:
        console.print(_Harmless(what))
    return "".join(line.rstrip() + "\n" for line in captured.get().splitlines())


class _Harmless:
    """Something drawn with its control characters escaped: names must not steer a terminal."""

    def __init__(self, what: RenderableType) -> None:
        self._what = what

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.segment import Segment

        for text, style, control in console.render(self._what, options):
            yield Segment(text if control else escaped(text, kept="\n"), style, control)


def show(what: RenderableType, color: ColorChoice) -> None:
    """Writes it to stdout, as wide as the terminal, or as ``COLUMNS`` says."""
    import shutil  # the session starts faster without it

    if sys.stdout.isatty() or "COLUMNS" in os.environ:
        width = max(NARROW, shutil.get_terminal_size().columns)
    else:
        width = WIDE
    text = draw(what, use_color(color, sys.stdout), width)
    with open_sink(None) as sink:
        sink.write(text.encode())
