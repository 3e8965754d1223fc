"""``epic explain``: the meaning of every code, metric, strategy, setting, key and word."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from epic_cli.shell.console import ColorChoice, write_report
from epic_cli.shell.declared import Parsed, declare_shared, list_completions, make_command
from epic_cli.shell.errors import raise_wrong_usage
from epic_cli.shell.options.common import color_option, make_report_format_option

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

EXAMPLES = """\b
Examples:
  epic explain E201
  epic explain lag ms
  epic explain clock=min
  epic explain link
"""


def _propose_names(begun: str) -> list[CompletionItem]:
    from epic_cli.jobs.explain.run import list_explanations

    known = {entry.name: entry.title for entry in list_explanations()}
    return list_completions(known.items(), begun)


@make_command(EXAMPLES)
def explain(
    words: tuple[str, ...] = declare_shared(
        click.argument(
            "words", metavar="[NAME]", nargs=-1, type=Parsed("name", str, complete=_propose_names)
        )
    ),
    form: str = declare_shared(make_report_format_option("The output format.")),
    color: ColorChoice = declare_shared(color_option),
) -> None:
    """Run ``epic explain``.

    NAME is the code of a finding, a cause of "epic diagnose", a metric, a strategy, a setting of
    strategies, an option with keys (read, link, send, movement, video), one of its keys, a kind of
    game, or a word of a table. Without a NAME, the kinds of names are listed.

    Exit status: 0 explained, 2 nothing has this name.
    """
    from epic_cli.jobs.explain.report import report, write_overview
    from epic_cli.jobs.explain.run import UnknownName, run
    from epic_cli.jobs.explain.spec import ExplainSpec

    name = " ".join(words) or None
    with raise_wrong_usage("", UnknownName):
        found = run(ExplainSpec(name))
    write_report(write_overview(found) if name is None else report(found), form, color)
