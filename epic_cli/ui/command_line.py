"""The command line by click: which command, with which options, and what it says of a mistake."""

from __future__ import annotations

import io
import os

import click

from epic_cli.ui.endings import notes
from epic_cli.ui.group import COMMANDS, DEFAULT, epic, load
from epic_cli.ui.io.errors import ExitStatus, WrongUsage, say
from epic_cli.ui.io.origins import origins


def run_command_line(args: list[str]) -> int | None:
    """Runs the command; the exit status. Raises what ``ending_of`` tells."""
    try:
        return _run(args)
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.ClickException as error:
        message = io.StringIO()
        error.show(message)
        say(message.getvalue() + notes(error))
        return ExitStatus.WRONG_USAGE
    except click.Abort:
        return ExitStatus.INTERRUPTED


def _run(args: list[str]) -> int | None:
    # Not click's own main(): that makes a failure of a reader who closes the pipe.
    if "_EPIC_COMPLETE" in os.environ:
        from epic_cli.ui.completion import answer  # only the Tab key waits for it

        text = answer(epic, os.environ["_EPIC_COMPLETE"], args, DEFAULT)
        if text is None:
            epic.main(args, prog_name="epic")  # click knows more shells
        click.echo(text, nl=False)
        return ExitStatus.DONE
    with epic.make_context("epic", args) as context:
        try:
            status: int | None = epic.invoke(context)
        except click.NoSuchOption as error:
            raise _of_another_command(error) from error
        except (click.ClickException, WrongUsage, ValueError) as error:
            for origin in origins(context).values():
                if not origin.is_overruled(args) and origin.is_meant(str(error)):
                    error.add_note(f"--{origin.option} is given by {origin.place}")
            raise
        return status


def _of_another_command(error: click.NoSuchOption) -> click.ClickException:
    """An option that others have is no misspelling of one that this command has."""
    having = [
        name
        for name in COMMANDS
        if any(error.option_name in [*one.opts, *one.secondary_opts] for one in load(name).params)
    ]
    if not having:
        return error
    commands = " and ".join(f"'epic {name}'" for name in having)
    return click.UsageError(f"{error.option_name} is an option of {commands}", error.ctx)
