"""The program ``epic``: its commands, their defaults, and how it ends.

The top floor: only here is it known that some commands open a screen and others only write. This
is also the only place that turns what went wrong into a message and an exit status.
"""

from __future__ import annotations

import io
import os
import sys

import click

from epic_cli.app.group import COMMANDS, DEFAULT, epic, load
from epic_cli.terminal.errors import (
    CannotAccess,
    ExitStatus,
    StoppedAtLine,
    WrongUsage,
    printable,
    say,
)
from epic_cli.terminal.origins import origins


def main(args: list[str] | None = None) -> int:  # noqa: PLR0911, PLR0912 - one for each ending
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
        say(message.getvalue() + _notes(error))
        return ExitStatus.WRONG_USAGE
    except (click.Abort, KeyboardInterrupt):
        return ExitStatus.INTERRUPTED
    except BrokenPipeError:
        _discard_output()  # whoever read our output has had enough
        return ExitStatus.DONE
    except StoppedAtLine:
        return ExitStatus.LINES_REFUSED
    except WrongUsage as error:
        return _complain(error, ExitStatus.WRONG_USAGE)
    except (ValueError, RuntimeError) as error:
        status = _status_of(error)
        if status is None:
            raise
        return _complain(error, status)
    except MemoryError:
        _discard_output()
        return _complain(MemoryError("there is not enough memory"), ExitStatus.NO_ACCESS)
    except CannotAccess as error:
        _discard_output()
        return _complain(error, ExitStatus.NO_ACCESS)
    except OSError as error:
        _discard_output()
        return _complain(CannotAccess("write to", "stdout", error), ExitStatus.NO_ACCESS)
    return int(status or ExitStatus.DONE)


def _run(args: list[str]) -> int | None:
    # Not click's own main(): that makes a failure of a reader who closes the pipe.
    if "_EPIC_COMPLETE" in os.environ:
        from epic_cli.app.completion import answer  # only the Tab key waits for it

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


def _status_of(error: Exception) -> ExitStatus | None:
    """The exit status of an error that is about a strategy; None: it is not."""
    from epic_cli.engine.failures import StrategyFailed  # --help and --version have none
    from epic_cli.engine.settings import SettingError
    from epic_cli.engine.strategies import UnknownStrategy

    if isinstance(error, StrategyFailed):
        return ExitStatus.STRATEGY_FAILED
    return ExitStatus.WRONG_USAGE if isinstance(error, SettingError | UnknownStrategy) else None


def _discard_output() -> None:
    """What stdout still has in its buffer must not fail once more when Python ends."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _complain(error: Exception, status: ExitStatus) -> ExitStatus:
    say(f"epic: {_printable(str(error))}\n{_notes(error)}")
    return status


def _notes(error: Exception) -> str:
    """Where options come from that an error is about, if nobody typed them."""
    return "".join(f"epic: {_printable(note)}\n" for note in getattr(error, "__notes__", ()))


def _printable(text: str) -> str:
    return printable(text.encode("utf-8", "surrogateescape"))


def run() -> None:
    """The entry point of the command ``epic``."""
    sys.exit(main())
