"""``epic strategies``: the catalogue of strategies."""

from __future__ import annotations

import sys

import click

from epic_cli.engine.parameters import SettingError
from epic_cli.shell.console import (
    PROSE,
    UNLIMITED,
    ColorChoice,
    draw,
    measure_screen_columns,
    open_sink,
    use_color,
    write_report,
)
from epic_cli.shell.declared import STRATEGY_NAME, declare_shared, make_command
from epic_cli.shell.errors import WrongUsage, raise_wrong_usage
from epic_cli.shell.options.common import color_option, make_report_format_option
from epic_cli.shell.refused_lines import report_left_out

EXAMPLES = """\b
Examples:
  epic strategies
  epic strategies epic
  epic strategies --find "cl_updaterate 66"
"""


@make_command(EXAMPLES)
def strategies(
    name: str | None = declare_shared(click.argument("name", required=False, type=STRATEGY_NAME)),
    find: str | None = declare_shared(
        click.option(
            "--find",
            metavar="WORD",
            help="Find a strategy by an engine's word, or a call: 'cl_updaterate 66', SmoothDamp.",
        )
    ),
    form: str = declare_shared(make_report_format_option("The output format.")),
    color: ColorChoice = declare_shared(color_option),
) -> None:
    """Run ``epic strategies``."""
    from epic_cli.jobs.strategies.report import (  # rich is slow to load
        explain_strategy,
        find_engines,
        list_strategies,
        report,
    )

    if name and find:
        raise WrongUsage("NAME and --find exclude each other: leave one out", "find")
    if not name and not find:
        report_left_out()
    if form != "table":
        with raise_wrong_usage(kind=SettingError, about=("find",)):
            found = report(name, find)
        write_report(found, form, color)
        return
    room = measure_screen_columns(sys.stdout)
    if find:
        with raise_wrong_usage(kind=SettingError, about=("find",)):
            what = find_engines(find, room or PROSE)
    else:
        what = explain_strategy(name, room or PROSE) if name else list_strategies(room or UNLIMITED)
    with open_sink(None) as sink:
        sink.write(draw(what, use_color(color, sys.stdout)).encode())
