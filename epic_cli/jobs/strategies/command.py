"""``epic strategies``: the catalogue of strategies."""

from __future__ import annotations

import sys

import click

from epic_cli.shell.console import (
    PROSE,
    UNLIMITED,
    ColorChoice,
    draw,
    open_sink,
    screen_columns,
    use_color,
    write_report,
)
from epic_cli.shell.declared import STRATEGY_NAME, command, shared
from epic_cli.shell.options.common import color_option, figures_format_option
from epic_cli.shell.refused_lines import report_left_out

EXAMPLES = """\b
Examples:
  epic strategies
  epic strategies epic
"""


@command(EXAMPLES)
def strategies(
    name: str | None = shared(click.argument("name", required=False, type=STRATEGY_NAME)),
    form: str = shared(
        figures_format_option("How to write the list, or the settings of the strategy NAME.")
    ),
    color: ColorChoice = shared(color_option),
) -> None:
    """Run ``epic strategies``."""
    from epic_cli.jobs.strategies.report import (  # rich is slow to load
        catalogue,
        explanation,
        report,
    )

    if not name:
        report_left_out()
    if form != "table":
        write_report(report(name), form, color)
        return
    room = screen_columns(sys.stdout)
    what = explanation(name, room or PROSE) if name else catalogue(room or UNLIMITED)
    with open_sink(None) as sink:
        sink.write(draw(what, use_color(color, sys.stdout)).encode())
