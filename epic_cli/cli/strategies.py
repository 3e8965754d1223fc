"""``epic strategies``: the catalogue."""

from __future__ import annotations

import sys

import click

from epic_cli.cli.options.common import color_option
from epic_cli.terminal.color import ColorChoice, use_color
from epic_cli.terminal.output import write_text
from epic_cli.terminal.parameters import StrategyName

EXAMPLES = """\b
Examples:
  epic strategies
  epic strategies epic
"""


@click.command(epilog=EXAMPLES)
@click.argument("name", required=False, type=StrategyName())
@color_option
def strategies(name: str | None, color: ColorChoice) -> None:
    """List the smoothing strategies, or explain one: how it works, its settings, its source."""
    from rich.console import Console

    from epic_cli.views.catalogue import catalogue, explanation

    colored = use_color(color, sys.stdout)
    console = Console(
        force_terminal=colored,
        no_color=not colored,
        color_system="standard" if colored else None,
        highlight=False,
        soft_wrap=False,
    )
    with console.capture() as shown:
        console.print(explanation(name) if name else catalogue())
    write_text("".join(line.rstrip() + "\n" for line in shown.get().splitlines()))
