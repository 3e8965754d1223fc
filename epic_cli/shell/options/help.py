"""Help in two lengths: ``--help`` has what most people need, ``--help-all`` all, in groups."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import click

from epic_cli.shell.options.groups import with_options

#: The key under which a context knows that all is asked for.
_ALL = "epic_cli.help_all"

#: What groups of options are called that are not called by what they are about.
_TITLES = {
    "given": "How the recording is read",
    "chosen": "Strategy",
    "drawing": "What the game drew",
    "timing": "Rows",
    "trace": "Recorded network",
    "jobs": "Many recordings",
    "saving": "Profiles",
    "video": "Moving pictures",
    "watched": "Figures",
    "weighing": "Score",
    "scoring": "Score",
    "reached": "Options",
    "recorded": "Options",
    **dict.fromkeys(("", "options", "own", "spec", "doing", "outputs", "written"), "Options"),
}


class Command(click.Command):
    """A command whose help shows the ``first`` options: their flags without dashes; none: all.

    The ``reference`` stands below all options.
    """

    def __init__(self, *args: Any, first: str = "", reference: str = "", **more: Any) -> None:
        super().__init__(*args, **more)
        self.reference = reference
        self.first = [f"--{one}" if len(one) > 1 else f"-{one}" for one in first.split()]
        if first:
            show = "Show all options, in groups."
            self.params.append(
                click.Option(
                    ["--help-all"], is_flag=True, expose_value=False, is_eager=True,
                    callback=_show_all, help=show,
                )
            )  # fmt: skip

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The description; of the short help its first paragraph."""
        whole, parts = self.help, (self.help or "").split("\n\n")
        self.help = whole if self._shows_all(ctx) else parts[0]
        super().format_help_text(ctx, formatter)
        self.help = whole

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The first options, or all, those of a group together."""
        groups: dict[str, list[tuple[str, str]]] = {}
        rank = {flag: place for place, flag in enumerate((*self.first, "--help-all", "--help"))}
        found = []
        for one in self.get_params(ctx):
            record = one.get_help_record(ctx) if isinstance(one, click.Option) else None
            places = [rank[flag] for flag in one.opts if flag in rank]
            if record is not None and (self._shows_all(ctx) or places):
                found.append((min(places, default=0), getattr(one, "group", ""), record))
        if not self._shows_all(ctx):
            found = [(place, "", _short(record)) for place, _, record in sorted(found)]
        for _, group, record in found:
            groups.setdefault(_TITLES.get(group, group.capitalize()), []).append(record)
        for title, records in groups.items():
            with formatter.section(title):
                formatter.write_dl(records)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The reference, where all is shown, and the epilog."""
        whole = self.epilog
        if self.reference and self._shows_all(ctx):
            self.epilog = f"{self.reference}\n{whole}"
        super().format_epilog(ctx, formatter)
        self.epilog = whole

    def _shows_all(self, ctx: click.Context) -> bool:
        return not self.first or bool(ctx.meta.get(_ALL))


def _short(record: tuple[str, str]) -> tuple[str, str]:
    """With the first sentence of what it says."""
    return record[0], re.split(r"(?<=\.)\s", record[1])[0]


def _show_all(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        ctx.meta[_ALL] = True
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()


def command(epilog: str, first: str = "", reference: str = "") -> Callable[[Any], Command]:
    """``click.command`` for a function ``with_options``; its help has two lengths."""
    decorate = click.command(cls=Command, epilog=epilog, first=first, reference=reference)
    return lambda function: decorate(with_options(function))
