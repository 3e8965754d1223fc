"""What rich draws, written to stdout like everything else."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING

from epic_cli.terminal.color import ColorChoice, use_color
from epic_cli.terminal.output import open_sink

if TYPE_CHECKING:
    from rich.console import RenderableType

#: Narrower than this, tables say nothing.
NARROW = 60

#: As wide as tables are written where no terminal says how wide it is.
WIDE = 160


def show(what: RenderableType, color: ColorChoice) -> None:
    """Writes it to stdout, as wide as the terminal, or as ``COLUMNS`` says."""
    from rich.console import Console  # only some commands wait for it

    colored = use_color(color, sys.stdout)
    if sys.stdout.isatty() or "COLUMNS" in os.environ:
        width = max(NARROW, shutil.get_terminal_size().columns)
    else:
        width = WIDE
    console = Console(
        width=width,
        force_terminal=colored,
        no_color=not colored,
        color_system="standard" if colored else None,
        highlight=False,
    )
    with console.capture() as captured:
        console.print(what)
    text = "".join(line.rstrip() + "\n" for line in captured.get().splitlines())
    with open_sink(None) as sink:
        sink.write(text.encode())
