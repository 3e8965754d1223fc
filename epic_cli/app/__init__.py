"""The program ``epic``: its commands, their defaults, and how it ends.

The top floor: only here is it known that some commands open a screen and others only write. This
is also the only place that turns what went wrong into a message and an exit status.
"""

from __future__ import annotations

import io
import os
import sys

import click

from epic_cli.app.group import epic
from epic_cli.terminal.errors import (
    CannotAccess,
    ExitStatus,
    StoppedAtLine,
    WrongUsage,
    printable,
    say,
)


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
        say(message.getvalue())
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
    except ValueError as error:
        if not _is_about_a_strategy(error):
            raise
        return _complain(error, ExitStatus.WRONG_USAGE)
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
        epic.main(args, prog_name="epic")
    with epic.make_context("epic", args) as context:
        status: int | None = epic.invoke(context)
        return status


def _is_about_a_strategy(error: ValueError) -> bool:
    from epic_cli.engine.settings import SettingError  # --help and --version have none
    from epic_cli.engine.strategies import UnknownStrategy

    return isinstance(error, SettingError | UnknownStrategy)


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
