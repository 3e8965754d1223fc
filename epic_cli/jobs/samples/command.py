"""``epic samples``: sample recordings for first experiments."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from epic_cli.jobs.samples.run import FOLDER, copy, find
from epic_cli.jobs.samples.run import list_samples as known
from epic_cli.metrics.digits import format_count
from epic_cli.shell.console import PROSE, ColorChoice, measure_screen_columns, show, write_document
from epic_cli.shell.declared import (
    Parsed,
    declare_flag,
    declare_shared,
    list_completions,
    make_command,
)
from epic_cli.shell.errors import WrongUsage
from epic_cli.shell.options.common import color_option

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

EXAMPLES = """\b
Examples:
  epic samples
  epic samples turn.txt engines
  epic samples --all
"""


def _propose_samples(begun: str) -> list[CompletionItem]:
    return list_completions(known().items(), begun)


@make_command(EXAMPLES)
def samples(
    names: tuple[str, ...] = declare_shared(
        click.argument(
            "names",
            nargs=-1,
            type=Parsed("name", find, complete=_propose_samples),
            metavar="[NAME]...",
        )
    ),
    everything: bool = declare_flag("Copy all samples.", "--all"),
    color: ColorChoice = declare_shared(color_option),
) -> None:
    """Run ``epic samples``.

    The NAMEs, files and folders, are copied into the folder sample_inputs, where the examples of
    all commands expect them. Without a NAME they are listed.

    A file that is there already stays as it is. Exit status: 0 copied or there, 2 wrong usage, 3 a
    file of other content is there, or it cannot be written; then nothing is copied.
    """
    if everything and names:
        raise WrongUsage("--all copies all: leave out the names", "all")
    if names or everything:
        new, there = copy(names or ["."])
        write_document(f"{FOLDER}: {format_count(new, 'new file')}, {there} there already\n")
        return
    from rich.console import Group  # rich is slow to load

    from epic_cli.show.text import wrap_paragraph, write_definitions

    room = measure_screen_columns(sys.stdout) or PROSE
    ending = (
        f"'epic samples --all' copies them into {FOLDER}, 'epic samples NAME' one of them; in a"
        " session ':load NAME' reads one as it is."
    )
    show(
        Group(*write_definitions(list(known().items()), room), "", *wrap_paragraph(ending, room)),
        color,
    )
