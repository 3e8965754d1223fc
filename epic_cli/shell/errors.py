"""The endings of a run: the errors that end it early, exit statuses, and messages."""

from __future__ import annotations

import contextlib
import enum
import errno
import os
import sys
from collections.abc import Callable, Iterator

from epic_cli.engine.failures import Portable
from epic_cli.engine.text import widths
from epic_cli.recordings.files import CannotAccess


class ExitStatus(enum.IntEnum):
    """The exit statuses of ``epic``."""

    DONE = 0
    LINES_REFUSED = 1
    WRONG_USAGE = 2
    NO_ACCESS = 3
    STRATEGY_FAILED = 4
    NOT_AS_EXPECTED = 5
    INTERRUPTED = 130


class WrongUsage(Portable, Exception):
    """Options that contradict each other or do not fit the recording.

    ``about`` are the long names, without dashes, of the options at fault.
    """

    def __init__(self, message: str, *about: str) -> None:
        super().__init__(message)
        self.about = about


@contextlib.contextmanager
def raise_wrong_usage(
    place: str = "",
    kind: type[Exception] | tuple[type[Exception], ...] = ValueError,
    about: tuple[str, ...] = (),
) -> Iterator[None]:
    """Raise ``WrongUsage`` for an error of this kind, ``about`` these options.

    ``place`` stands before the error's words.
    """
    try:
        yield
    except kind as error:
        raise WrongUsage(f"{place}{error}", *about) from error


class StoppedAtLine(Exception):
    """An error: a line was refused and reported, and ``--strict`` ends the run at it."""


class Style(enum.StrEnum):
    """Marks of styles in messages: noncharacters, which text quoted from files cannot contain."""

    BOLD = "\ufdd0"
    RED = "\ufdd1"
    ALARM = "\ufdd2"
    GOOD = "\ufdd3"
    WARNING = "\ufdd4"
    DIM = "\ufdd5"
    END = "\ufdd6"


_CODES = dict(zip(map(ord, Style), ("1", "31", "1;31", "32", "33", "2", "0"), strict=True))
_CODES = {style: f"\x1b[{code}m" for style, code in _CODES.items()}


def style_message(message: str) -> str:
    """Return a message for a terminal: its marks as styles, control characters escaped."""
    message = message.replace("\n\t", " ")  # click lists choices so
    if message.isprintable():
        return message
    whole = message.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return widths.printable(whole, kept="\n" + "".join(Style)).translate(_CODES)


def write_message(text: str) -> None:
    """Write a message to stderr; ignore it if stderr cannot be written."""
    steer(style_message(text))


def steer(text: str) -> None:
    """Write text to stderr as it is, so that it may move the cursor."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def escape_controls(text: bytes) -> str:
    """Return text with control characters and broken UTF-8 escaped."""
    return widths.printable(text.decode("utf-8", "backslashreplace"))


def run_to_exit(job: Callable[[], int | None]) -> int:  # noqa: PLR0911 - one for each ending
    """Run a job and return its exit status; errors are reported on stderr."""
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: PTH123, SIM115 - for good
    try:
        status = job()
        if sys.stdout is not None:
            sys.stdout.flush()
    except KeyboardInterrupt:
        return ExitStatus.INTERRUPTED
    except BrokenPipeError:
        _discard_output()  # whoever read our output has had enough
        return ExitStatus.DONE
    except StoppedAtLine:
        return ExitStatus.LINES_REFUSED
    except WrongUsage as error:
        return _report_error(error, ExitStatus.WRONG_USAGE)
    except (ValueError, RuntimeError) as error:
        known = _find_exit_status(error)
        if known is None:
            raise
        return _report_error(error, known)
    except MemoryError as error:
        _discard_output()
        lacking = _copy_notes(MemoryError("there is not enough memory"), error)
        return _report_error(lacking, ExitStatus.NO_ACCESS)
    except CannotAccess as error:
        _discard_output()
        if isinstance(error.error, FileNotFoundError) and "read sample_inputs" in str(error):
            error.add_note("'epic samples --all' copies the samples to here")
        return _report_error(error, ExitStatus.NO_ACCESS)
    except OSError as error:
        _discard_output()
        return _report_error(_copy_notes(_explain_system_error(error), error), ExitStatus.NO_ACCESS)
    return int(status or ExitStatus.DONE)


#: Errors that no output causes.
_LACKING = (errno.EMFILE, errno.ENFILE, errno.ENOMEM)


def _explain_system_error(error: OSError) -> CannotAccess:
    """Return a ``CannotAccess`` for an operating system's error that names no file."""
    if error.filename is not None:
        return CannotAccess("open", str(error.filename), error)
    if error.errno in _LACKING:
        return CannotAccess("open", "another file", error)
    return CannotAccess("write to", "stdout", error)


def _find_exit_status(error: Exception) -> ExitStatus | None:
    """Return the exit status of an expected error, or None for a bug."""
    from epic_cli.engine.failures import StrategyFailed  # --help and --version have none
    from epic_cli.engine.parameters import SettingError
    from epic_cli.engine.strategies import UnknownStrategy
    from epic_cli.recordings import Unreadable
    from epic_cli.recordings.files import Overwrites
    from epic_cli.work.code import UnknownCode
    from epic_cli.work.journal import UnusableJournal

    if isinstance(error, StrategyFailed):
        return ExitStatus.STRATEGY_FAILED
    usage = SettingError | UnknownStrategy | Overwrites | Unreadable | UnknownCode | UnusableJournal
    return ExitStatus.WRONG_USAGE if isinstance(error, usage) else None


def _discard_output() -> None:
    """Discard what stdout has buffered, so that Python's end does not fail at it again."""
    if sys.stdout is not None:
        try:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except OSError:  # no file can be opened any more
            sys.stdout = None


def _copy_notes(error: Exception, noted: Exception) -> Exception:
    """Return the ``error`` with the notes of another error."""
    for note in getattr(noted, "__notes__", ()):
        error.add_note(note)
    return error


def _report_error(error: Exception, status: ExitStatus) -> ExitStatus:
    write_message(f"epic: {quote_text(str(error))}\n{list_notes(error)}")
    return status


def list_notes(error: Exception) -> str:
    """Return lines on the file or variable that gave the options at fault."""
    return "".join(f"epic: {quote_text(note)}\n" for note in getattr(error, "__notes__", ()))


def quote_text(text: str) -> str:
    """Return a text for a message, such as a file's name, with control characters escaped."""
    return escape_controls(text.encode("utf-8", "surrogateescape"))
