"""The commands of ``epic``, which are loaded when they are called."""

from __future__ import annotations

import gc
import importlib
import os
import sys
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class Entry(NamedTuple):
    """A command's module, which has it under its name, and its line in the group's help."""

    module: str
    summary: str


COMMANDS = {
    "session": Entry("epic_cli.ui.commands.session", "Type packets and see the rows at once."),
    "replay": Entry(
        "epic_cli.ui.commands.replay",
        "Turn packets into what a player would see, one row per tick.",
    ),
    "play": Entry(
        "epic_cli.ui.commands.play", "Play a small networked game: prediction, move replay, rewind."
    ),
    "simulate": Entry(
        "epic_cli.ui.commands.simulate",
        "Send movement over a bad network: packets with arrival times.",
    ),
    "listen": Entry(
        "epic_cli.ui.commands.listen", "Take in packets of a running game; draw, record them."
    ),
    "send": Entry(
        "epic_cli.ui.commands.send", "Send a recording or a movement, over UDP, as a game does."
    ),
    "proxy": Entry(
        "epic_cli.ui.commands.proxy", "Be a bad network between a game and its server, by UDP."
    ),
    "convert": Entry(
        "epic_cli.ui.commands.convert", "Turn recordings into another format, without loss."
    ),
    "compare": Entry(
        "epic_cli.ui.commands.compare",
        "Say which strategy draws recordings best, by how much, and how surely.",
    ),
    "diagnose": Entry(
        "epic_cli.ui.commands.diagnose", "Say why it jitters: causes, evidence and cures."
    ),
    "tune": Entry(
        "epic_cli.ui.commands.tune", "Say what good numbers are for a strategy's settings."
    ),
    "check": Entry(
        "epic_cli.ui.commands.check", "Check golden cases, or a program of yours, row by row."
    ),
    "strategies": Entry(
        "epic_cli.ui.commands.strategies", "List the smoothing strategies, or explain one."
    ),
}

#: What ``epic`` alone does.
DEFAULT = "session"

#: The key under which contexts know whether a command was typed.
TYPED = "epic_cli.typed"

EXAMPLES = """\b
Examples:
  epic < sample_inputs/turn.txt
  epic replay --format table sample_inputs/turn.txt
  epic strategies epic
"""


def load(name: str) -> click.Command:
    """The command of this name; its module is loaded."""
    command: click.Command = getattr(importlib.import_module(COMMANDS[name].module), name)
    return command


class LazyGroup(click.Group):
    """Loads a command's module when it is called.

    Without a command, ``epic`` is ``epic session``: the session on a terminal, and ``epic replay``
    elsewhere, with the same options.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands in the order of their use."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Loads the command, whose options take their defaults from the configuration."""
        if cmd_name not in COMMANDS:
            return None
        from epic_cli.ui.config import give_defaults  # --help and --version have no defaults
        from epic_cli.ui.io.origins import keep_origins

        loaders = {name: partial(load, name) for name in COMMANDS}
        command, origins = give_defaults(load(cmd_name), loaders)
        keep_origins(ctx, origins)
        gc.freeze()  # all that a start makes is there
        gc.enable()
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Lists the commands without loading them."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.summary) for name, entry in COMMANDS.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The commands, without loading them, and the group's own options."""
        from epic_cli.ui.io.parameters import completions

        names = ((name, entry.summary) for name, entry in COMMANDS.items())
        commands = completions(names, incomplete)
        return [*commands, *click.Command.shell_complete(self, ctx, incomplete)]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Puts the default command in front of options that are not the group's own."""
        first = args[0] if args else ""
        own = first in ("-h", "--help", "-V", "--version") or (first and not first.startswith("-"))
        completing = ctx.resilient_parsing  # the word that is being typed is not in args
        ctx.meta[TYPED] = bool(own)
        if not own and (args or not completing):
            args = [DEFAULT, *args]
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Says what else an unknown command may have meant."""
        if args and args[0] not in COMMANDS:
            from epic_cli.engine.declaration import nearest  # only a mistake needs it

            near = nearest(args[0], list(COMMANDS))
            hint = f"Did you mean {near!r}?" if near else "Commands: " + ", ".join(COMMANDS)
            if os.path.exists(args[0]):  # noqa: PTH110 - pathlib is slow to load
                hint = f"To replay a file: epic replay {args[0]}"
            ctx.fail(f"There is no command {args[0]!r}. {hint}")
        return super().resolve_command(ctx, args)


def _print_version(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    if not value or ctx.resilient_parsing:
        return
    from epic_cli import __version__
    from epic_cli.engine import build_info

    python = ".".join(map(str, sys.version_info[:3]))
    click.echo(f"epic {__version__} (Python {python}; engine built with {build_info.describe()})")
    ctx.exit()


@click.group(
    cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]}, epilog=EXAMPLES
)
@click.option(
    "-V",
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_print_version,
    help="Show the version of epic, of Python, and how the engine was built.",
)
def epic() -> None:
    """Show what a networked game would draw: packets in, smoothed positions out.

    Without a command, epic opens a session on a terminal; elsewhere it replays standard input,
    with the options of "epic replay". Options can also be set in the configuration file
    ~/.config/epic/config.toml (strategy = "epic") and by variables (EPIC_STRATEGY=epic).
    """
