"""Write to stdout, files and terminals: rows, rich's drawings, colors and widths.

Rows go to stdout, or to a file that is written whole or not at all.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, BinaryIO, Literal, Protocol

from epic_cli.engine.text.widths import printable
from epic_cli.recordings.files import CannotAccess
from epic_cli.shell.errors import style_message, write_message

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult

    from epic_cli.show.report import Report


class ByteStream(Protocol):
    """A file or a device that bytes are written to."""

    def write(self, data: bytes | memoryview, /) -> object:
        """Write bytes to the file or device."""

    def flush(self) -> None:
        """Pass buffered bytes on to the file or device."""

    def isatty(self) -> bool:
        """Return True for a terminal."""

    def fileno(self) -> int:
        """Return the system's number of the file; raises ``OSError``."""


class Sink:
    """A destination of rows.

    Errors in writing become ``CannotAccess``, except for a closed pipe.
    """

    def __init__(self, stream: ByteStream, name: str) -> None:
        self._stream = stream
        self._name = name

    @property
    def name(self) -> str:
        """The sink's name in messages."""
        return self._name

    @property
    def descriptor(self) -> int | None:
        """The file's descriptor; None if the system has no descriptor for the file."""
        try:
            return self._stream.fileno()
        except OSError:
            return None

    def isatty(self) -> bool:
        """Return True for a terminal."""
        return self._stream.isatty()

    def write(self, rows: bytes | memoryview) -> None:
        """Write rows into the stream's buffer."""
        with self._convert_errors():
            self._stream.write(rows)

    def flush(self) -> None:
        """Flush the buffered rows to the stream."""
        with self._convert_errors():
            self._stream.flush()

    @contextlib.contextmanager
    def _convert_errors(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            raise
        except OSError as error:
            raise CannotAccess("write to", self._name, error) from error


@contextlib.contextmanager
def open_sink(
    path: str | None, backup: str | None = None, replaces: bool = False
) -> Iterator[Sink]:
    """Open a sink for a file or, without a path (or with ``-``), for stdout.

    A file is written as ``open_whole`` does.
    """
    if path is None or path == "-":
        sink = Sink(_open_stdout(), "stdout")
        yield sink
        sink.flush()
    else:
        yield from _open_file(path, backup, replaces)


def write_text(text: str) -> None:
    """Write text other than rows to stdout, with control characters escaped."""
    with open_sink(None) as sink:
        sink.write(style_message(text).encode(sys.stdout.encoding or "utf-8", "replace"))


def _open_stdout() -> BinaryIO:
    if sys.stdout is None:
        raise CannotAccess("write to", "stdout", OSError("it is closed"))
    return sys.stdout.buffer


def _open_file(path: str, backup: str | None, replaces: bool) -> Iterator[Sink]:
    from epic_cli.recordings.files import open_whole  # stdout does without it

    of_block: BaseException | None = None
    try:
        with open_whole(path, backup, replaces) as stream:
            sink = Sink(stream, path)
            try:
                yield sink
                sink.flush()
            except BaseException as error:
                of_block = error
                raise
    except OSError as error:
        if error is of_block or isinstance(error, BrokenPipeError):
            raise
        raise CannotAccess("write to", path, error) from error


#: The narrowest that tables are made for: what is narrower gets lines of this many columns.
NARROWEST = 20

#: Width of lines that no screen limits.
UNLIMITED = 100_000

#: Text to be read has lines of this length there.
PROSE = 80


def has_terminal() -> bool:
    """Return True if stdin and stdout are a terminal with a movable cursor."""
    return sys.stdin is not None and sys.stdin.isatty() and has_cursor(sys.stdout)


def is_in_foreground() -> bool:
    """Return True if this process may read the terminal: a background process would be stopped."""
    if sys.platform == "win32":
        return True
    try:
        return os.tcgetpgrp(sys.stdin.fileno()) == os.getpgrp()
    except OSError:
        return False


def has_cursor(stream: TextStream | None) -> bool:
    """Return True if a stream goes to a terminal with a movable cursor."""
    there = stream is not None and stream.isatty()
    return there and os.environ.get("TERM") not in PLAIN_TERMINALS


def is_unicode_supported() -> bool:
    """Return True if stdout can show Unicode, by its encoding and the locale."""
    # Python takes UTF-8 in the locale C, too, which asks for ASCII
    places = map(os.environ.get, ("LC_ALL", "LC_CTYPE", "LANG"))
    plain = next(filter(None, places), "") in ("C", "POSIX")
    return not plain and "utf" in (getattr(sys.stdout, "encoding", "") or "").lower()


def measure_screen_columns(stream: TextStream | None) -> int | None:
    """Return the width of a stream's terminal, or of ``COLUMNS``; None if there is none."""
    import shutil  # the session starts faster without it

    if (stream is not None and stream.isatty()) or "COLUMNS" in os.environ:
        return max(NARROWEST, shutil.get_terminal_size().columns)
    return None


def measure_screen_lines(stream: TextStream | None) -> int | None:
    """Return the height of a stream's terminal; None without one, or if it is paged."""
    import shutil  # the session starts faster without it

    scrolls = stream is not None and stream.isatty() and not getattr(stream, "paged", False)
    return shutil.get_terminal_size().lines if scrolls else None


def draw(what: RenderableType, color: bool, width: int | None = None) -> str:
    """Return what rich prints as text, without blanks at line ends; no ``width``: no wrapping."""
    from rich.console import Console  # only some commands wait for it

    console = Console(
        width=width or UNLIMITED,
        force_terminal=color,
        no_color=not color,
        color_system=_find_color_system() if color else None,
        highlight=False,
        legacy_windows=False,
    )
    with console.capture() as captured:
        console.print(
            _EscapedDrawing(what), crop=False
        )  # what is longer is for the terminal to wrap
    return "".join(line.rstrip() + "\n" for line in captured.get().splitlines())


def _find_color_system() -> Literal["standard", "256", "truecolor"]:
    """Return the terminal's color system.

    The ``standard`` sixteen colors have different values on each terminal.
    """
    if os.environ.get("COLORTERM", "") in ("truecolor", "24bit"):
        return "truecolor"
    return "256" if os.environ.get("TERM", "").endswith("256color") else "standard"


class _EscapedDrawing:
    """A rich renderable with control characters escaped: a name must not change the terminal."""

    def __init__(self, what: RenderableType) -> None:
        self._what = what

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.segment import Segment

        options = options.copy()
        options.encoding = "utf-8" if is_unicode_supported() else "ascii"
        for text, style, control in console.render(self._what, options):
            yield Segment(text if control else printable(text, kept="\n"), style, control)


def show(what: RenderableType, color: ColorChoice) -> None:
    """Print a rich renderable on stdout, as wide as the terminal or ``COLUMNS``."""
    text = draw(what, use_color(color, sys.stdout), measure_screen_columns(sys.stdout))
    with open_sink(None) as sink:
        sink.write(text.encode())


def write_document(text: str, path: str | None = None) -> None:
    """Write a text for programs to a file or stdout; a terminal gets control characters escaped."""
    with open_sink(path) as sink:
        sink.write((printable(text, kept="\n") if sink.isatty() else text).encode())


def write_report(
    report: Report,
    form: str,
    color: ColorChoice,
    summary: bool = False,
    charts: Callable[[], None] | None = None,
    explain: bool = False,
    rest: str = "a wider window or --format csv",
) -> None:
    """Write a report to stdout: as ``table`` for people, or as a document (``csv``, ...).

    With ``summary``, verdict and notes go to stderr if programs read the data. ``charts`` follow.
    ``explain`` adds the method. ``rest`` says how to see the columns for which a screen is too
    narrow. On a terminal the verdict comes last if the report is higher than the screen.
    """
    from epic_cli.show.formats import REPORT_FORMATS

    entry = REPORT_FORMATS[form]
    if entry.write is None:
        from dataclasses import replace  # replay starts faster without it

        from epic_cli.show.report import Report, ReportFinding
        from epic_cli.show.text import ReportText

        height, verdict = measure_screen_lines(sys.stdout), report.verdict
        found = [
            part.title for part in report.parts if isinstance(part, ReportFinding) and part.title
        ]
        if found and not verdict:
            verdict = [f"{report.title}: {', '.join(found)}"]
        text = draw(
            ReportText(report, explain, rest), color=False, width=measure_screen_columns(sys.stdout)
        )
        scrolls = height is not None and (charts is not None or text.count("\n") >= height)
        above = replace(report, verdict=()) if scrolls else report
        show(ReportText(above, explain, rest), color)
        if charts is not None:
            charts()
        if scrolls and verdict:
            write_document("\n")
            show(ReportText(Report(verdict=verdict)), color)
        return
    write_document(entry.write(report))
    if summary and not entry.is_whole:
        lines = [*report.verdict, *report.notes, *(report.method if explain else ())]
        write_message(printable("".join(f"{line}\n" for line in lines), kept="\n"))


if TYPE_CHECKING:

    class TextStream(Protocol):
        """A text stream that may be a terminal."""

        def isatty(self) -> bool:
            """Return True for a terminal."""


ColorChoice = Literal["auto", "always", "never"]
COLOR_CHOICES: tuple[ColorChoice, ...] = ("auto", "always", "never")


#: Values of TERM that promise nothing but lines of text.
PLAIN_TERMINALS = ("dumb", "unknown", "")


def use_color(choice: ColorChoice, stream: TextStream | None) -> bool:
    """Return True if output is colored: --color, NO_COLOR, FORCE_COLOR, TERM, the terminal."""
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    plain = os.environ.get("TERM", "") in PLAIN_TERMINALS
    return not plain and stream is not None and stream.isatty()
