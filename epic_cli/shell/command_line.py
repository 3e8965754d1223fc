"""The command line by click: commands, options, and messages about mistakes."""

from __future__ import annotations

import gc
import importlib
import io
import os
import sys
from functools import partial
from inspect import cleandoc
from typing import TYPE_CHECKING

import click

from epic_cli.engine.parameters import SettingError
from epic_cli.engine.text.widths import printable
from epic_cli.recordings.files import KEY, guard_files
from epic_cli.shell.commands import COMMANDS, GROUPS
from epic_cli.shell.configuration import find_origins
from epic_cli.shell.errors import ExitStatus, WrongUsage, list_notes, write_message

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


def run_command_line(args: list[str]) -> int | None:
    """Run the command line and return the exit status; raise what ``run_to_exit`` handles."""
    try:
        return _run_epic(args)
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.ClickException as error:
        message = io.StringIO()
        if not isinstance(error, click.MissingParameter):  # which lists choices in lines
            error.message = printable(error.message)  # type: ignore[misc]
        error.show(message)
        write_message(message.getvalue() + list_notes(error))
        return ExitStatus.WRONG_USAGE
    except click.Abort:
        return ExitStatus.INTERRUPTED
    except ValueError as error:
        from epic_cli.recordings.tables import TableRefusal  # only a mistake needs it
        from epic_cli.shell.console import use_color
        from epic_cli.shell.refused_lines import describe_refusal

        if not isinstance(error, TableRefusal):
            raise
        write_message(describe_refusal(error, use_color("auto", sys.stderr)))
        return ExitStatus.LINES_REFUSED


def _run_epic(args: list[str]) -> int | None:
    # Not click's own main(): that makes a failure of a reader who closes the pipe.
    if "_EPIC_COMPLETE" in os.environ:
        from epic_cli.shell.completion import answer  # only the Tab key waits for it

        text = answer(epic, os.environ["_EPIC_COMPLETE"], args, choose_default_command())
        if text is None:
            epic.main(args, prog_name="epic")  # click knows more shells
        click.echo(text, nl=False)
        return ExitStatus.DONE
    with epic.make_context("epic", args) as context, guard_files() as context.meta[KEY]:
        try:
            status: int | None = epic.invoke(context)
        except click.NoSuchOption as error:
            raise _name_other_commands(error) from error
        except (click.ClickException, WrongUsage, SettingError) as error:
            about = _list_options_at_fault(error)
            for origin in find_origins(context).values():
                if origin.option in about and not origin.is_overruled(args):
                    error.add_note(f"--{origin.option} is set by {origin.place}")
            raise
        return status


def _list_options_at_fault(
    error: click.ClickException | WrongUsage | SettingError,
) -> tuple[str, ...]:
    """Return the long names of the options that an error is about, without dashes."""
    if not isinstance(error, click.ClickException):
        return error.about
    parameter = error.param if isinstance(error, click.BadParameter) else None
    return tuple(name.lstrip("-") for name in parameter.opts) if parameter else ()


def _name_other_commands(error: click.NoSuchOption) -> click.ClickException:
    """Return the error with the names of the commands that have the unknown option, if any."""
    from epic_cli.metrics.digits import join_words

    having = [
        name
        for name in COMMANDS
        if any(
            error.option_name in [*option.opts, *option.secondary_opts]
            for option in load(name).params
        )
    ]
    if not having:
        return error
    commands = [f"'epic {name}'" for name in having]
    return click.UsageError(
        f"{error.option_name} is an option of {join_words(commands)}", error.ctx
    )


def choose_default_command() -> str:
    """Return the command that ``epic`` alone runs: the session on a terminal, else a replay."""
    on_terminal = sys.stdin is not None and sys.stdin.isatty() and sys.stdout is not None
    return "session" if on_terminal else "replay"


#: The first commands of a newcomer, each with what it does.
FIRST_COMMANDS = (
    ("epic samples --all", "copy the sample recordings to here"),
    ("epic compare sample_inputs/jitter.txt", "which smoothing is best?"),
    ("epic diagnose sample_inputs/jitter.txt", "why does it jitter?"),
    ("epic play", "feel it: a game over a bad network"),
)


def load(name: str) -> click.Command:
    """Import a command's module; return the command."""
    command: click.Command = getattr(importlib.import_module(COMMANDS[name].module), name)
    return command


class LazyGroup(click.Group):
    """A click group of commands whose modules are imported when they are called.

    Without a command, ``epic`` is ``epic session``: the session on a terminal, and ``epic replay``
    elsewhere, with the same options.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order of their use."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command, its options' defaults taken from the configuration."""
        if cmd_name not in COMMANDS:
            return None
        from epic_cli.shell.configuration import (
            give_defaults,  # --help and --version have no defaults
            keep_origins,
        )

        loaders = {name: partial(load, name) for name in COMMANDS}
        command, origins = give_defaults(load(cmd_name), loaders)
        keep_origins(ctx, origins)
        gc.freeze()  # all that a start makes is there
        gc.enable()
        return command

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the help of ``epic``: what to type first, the commands, the options, the rest."""
        first, _, rest = (self.help or "").partition("\n\n")
        formatter.write_usage(ctx.command_path, "COMMAND [OPTIONS] [FILE]...")
        formatter.write(f"\n  {first}\n")
        with formatter.section("Start here"):
            formatter.write_dl(FIRST_COMMANDS, col_max=40)
        self.format_commands(ctx, formatter)
        click.Command.format_options(self, ctx, formatter)
        formatter.write_paragraph()
        formatter.write_text(cleandoc(rest))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands in groups, without loading them."""
        del ctx
        for group, title in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl(
                    [
                        (name, entry.summary)
                        for name, entry in COMMANDS.items()
                        if entry.group == group
                    ]
                )

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the commands, without loading them, and the group's own options."""
        from epic_cli.shell.declared import list_completions

        names = ((name, entry.summary) for name, entry in COMMANDS.items())
        commands = list_completions(names, incomplete)
        return [*commands, *click.Command.shell_complete(self, ctx, incomplete)]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the default command in front of options that are not the group's own."""
        first = args[0] if args else ""
        own = first in ("-h", "--help", "-V", "--version") or (first and not first.startswith("-"))
        completing = ctx.resilient_parsing  # the word that is being typed is not in args
        if not own and (args or not completing):
            args = [choose_default_command(), *args]
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the arguments name; propose one for an unknown name."""
        if args and args[0] not in COMMANDS:
            from epic_cli.engine.parameters import find_nearest  # only a mistake needs it

            near = find_nearest(args[0], list(COMMANDS))
            hint = f"Did you mean {near!r}?" if near else "Commands: " + ", ".join(COMMANDS)
            if os.path.exists(args[0]):  # noqa: PTH110 - pathlib is slow to load
                hint = f"To replay a file: epic replay {args[0]}"
            ctx.fail(f"There is no command {args[0]!r}. {hint}")
        return super().resolve_command(ctx, args)


def _print_version(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    if not value or ctx.resilient_parsing:
        return
    from epic_cli import __version__
    from epic_cli.engine.packets import describe_build

    python = ".".join(map(str, sys.version_info[:3]))
    click.echo(f"epic {__version__} (Python {python}; engine built with {describe_build()})")
    ctx.exit()


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "-V",
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_print_version,
    help="Show the version, and how the engine was built.",
)
def epic() -> None:
    """Show what a networked game would draw: packets in, smoothed positions out.

    "epic COMMAND --help" has examples and the main options. Without a command, epic opens a
    session on a terminal; elsewhere it replays standard input. Options can also be set in
    ~/.config/epic/config.toml (strategy = "lerp") and by variables (EPIC_STRATEGY=lerp).
    """
