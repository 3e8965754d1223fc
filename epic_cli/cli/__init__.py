"""The command line: a group of commands that are loaded when they are called.

This is the only place that turns what went wrong into a message and an exit status.
"""

from __future__ import annotations

import importlib
import io
import os
import sys
from typing import Any

import click

from epic_cli.engine.declaration import nearest
from epic_cli.engine.settings import SettingError
from epic_cli.engine.strategies import UnknownStrategy
from epic_cli.terminal.errors import (
    CannotAccess,
    ExitStatus,
    StoppedAtLine,
    WrongUsage,
    printable,
    say,
)

#: Each command's module and the line that the group's help shows for it.
COMMANDS = {
    "session": "Type packets and see the rows at once.",
    "replay": "Turn packets into what a player would see, one row a tick.",
    "play": "Play a small networked game: prediction, move replay, rewind.",
    "simulate": "Send movement over a bad network: packets with arrival times.",
    "compare": "Say which strategy draws a recording best, and by how much.",
    "strategies": "List the smoothing strategies, or explain one.",
}

EXAMPLES = """\b
Examples:
  epic < sample_inputs/turn.txt
  epic replay --format table sample_inputs/turn.txt
  epic strategies epic
"""

HELP_NAMES = {"help_option_names": ["-h", "--help"]}


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
        """Loads the command."""
        del ctx
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"epic_cli.cli.{cmd_name}")
        command: click.Command = getattr(module, cmd_name)
        from epic_cli.cli.config import give_defaults

        return give_defaults(command)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Lists the commands without loading them."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Puts the default command in front of options that are not the group's own."""
        first = args[0] if args else ""
        own = first in ("-h", "--help", "--version") or (first and not first.startswith("-"))
        completing = ctx.resilient_parsing  # the word that is being typed is not in args
        if not own and (args or not completing):
            args = ["session", *args]
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Says what else an unknown command may have meant."""
        if args and args[0] not in COMMANDS:
            near = nearest(args[0], list(COMMANDS))
            hint = f"Did you mean {near!r}?" if near else "Commands: " + ", ".join(COMMANDS)
            if os.path.exists(args[0]):  # noqa: PTH110
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


@click.group(cls=LazyGroup, context_settings=HELP_NAMES, epilog=EXAMPLES)
@click.option(
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


def main(args: list[str] | None = None) -> int:  # noqa: PLR0911 - one for each ending
    """Runs the command line and returns its exit status."""
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: PTH123, SIM115 - for good
    try:
        status = _run(sys.argv[1:] if args is None else args)
        if sys.stdout is not None:
            sys.stdout.flush()
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.ClickException as error:
        message = io.StringIO()
        error.show(message)
        say(message.getvalue())
        return ExitStatus.WRONG_USAGE
    except (click.Abort, KeyboardInterrupt):
        return ExitStatus.INTERRUPTED
    except BrokenPipeError:
        _discard_output()  # whoever read our output has had enough
        return ExitStatus.DONE
    except StoppedAtLine:
        return ExitStatus.LINES_REFUSED
    except (SettingError, UnknownStrategy, WrongUsage) as error:
        return _complain(error, ExitStatus.WRONG_USAGE)
    except CannotAccess as error:
        _discard_output()
        return _complain(error, ExitStatus.NO_ACCESS)
    except OSError as error:
        _discard_output()
        return _complain(CannotAccess("write to", "stdout", error), ExitStatus.NO_ACCESS)
    return int(status or ExitStatus.DONE)


def _run(args: list[str]) -> Any:
    # Not click's own main(): that makes a failure of a reader who closes the pipe.
    if "_EPIC_COMPLETE" in os.environ:
        epic.main(args, prog_name="epic")
    with epic.make_context("epic", args) as context:
        return epic.invoke(context)


def _discard_output() -> None:
    """What stdout still has in its buffer must not fail once more when Python ends."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _complain(error: Exception, status: ExitStatus) -> ExitStatus:
    say(f"epic: {printable(str(error).encode('utf-8', 'surrogateescape'))}\n")
    return status


def run() -> None:
    """The entry point of the command ``epic``."""
    sys.exit(main())
