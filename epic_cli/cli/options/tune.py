"""The options of ``epic tune``: which strategies, and how the answer is written."""

from __future__ import annotations

from dataclasses import dataclass

import click

from epic_cli.cli.options.compare import Participants
from epic_cli.cli.options.compare_parameters import Assignment, Strategies
from epic_cli.cli.options.groups import OptionGroup

FORMATS = ("table", "csv", "jsonl", "markdown")


@dataclass(frozen=True)
class Tuned(Participants):
    """The strategies that are tuned, as they were written, and settings that stay as they are."""

    every: bool

    @property
    def searches(self) -> bool:
        """Whether something is to be searched for; otherwise delays are computed alone."""
        return self.every or bool(self.strategies)


tuned_options = OptionGroup(
    "tuned",
    Tuned,
    click.option(
        "-s",
        "--strategies",
        type=Strategies(),
        multiple=True,
        help="Tune these: names separated by commas; NAME+key=value keeps that setting.",
    ),
    click.option("--all", "every", is_flag=True, help="Tune every strategy."),
    click.option(
        "--set",
        "assignments",
        type=Assignment(),
        multiple=True,
        help="Keep a setting of a strategy at this value; may be repeated.",
    ),
)

format_option = click.option(
    "-f",
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="table",
    show_default=True,
    help="How the answer is written.",
)
