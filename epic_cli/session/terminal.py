"""The output of a session, and its terminal.

Rows are written as bytes without any library, messages as text.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from epic_cli.engine.failures import StrategyFailed
from epic_cli.engine.text import RowWriter
from epic_cli.engine.text.widths import width, wrap
from epic_cli.recordings.files import CannotAccess, clean_up_on_signal
from epic_cli.shell.console import NARROWEST, draw
from epic_cli.shell.errors import Style, style_message

if TYPE_CHECKING:
    from rich.console import RenderableType

    from epic_cli.engine.refusals import Refusal
    from epic_cli.shell.refused_lines import RefusedLines

#: Styles by the kind of a message.
_STYLES = {"good": Style.GOOD, "warning": Style.WARNING, "error": Style.RED, "dim": Style.DIM}

#: ASCII for the characters of charts and tables, for terminals without them.
_ASCII = str.maketrans("─━│┃┤├└┘┌┐┬┴┼•…", "--||+++++++++o~")

#: The options of less: the text stays on the screen, in color; the prompt names its keys.
_LESS = "-FRX -Ps?eend:space\\: more., q\\: back to the session$"

#: Bytes written at once, so that an interrupt leaves a known rest.
_CHUNK = 4096


def describe_failure(error: Exception) -> str:
    """Return the message of an unexpected exception."""
    if isinstance(error, StrategyFailed):
        return str(error)
    return f"{type(error).__name__}: {error}"


def measure_window() -> tuple[int, int]:
    """Return the numbers of columns and lines of the terminal; 80 and 24 if unknown."""
    try:  # the process's standard output: commands have their own
        size = os.get_terminal_size(sys.__stdout__.fileno() if sys.__stdout__ else 1)
    except (OSError, ValueError):
        return 80, 24
    return size.columns or 80, size.lines or 24


class RowOutlet:
    """A writer of rows that bypasses the stream's buffer on a terminal."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        #: True if the output is shown at once.
        self.is_terminal = stream.isatty()
        # the console of Windows takes UTF-8 from Python's streams only
        by_hand = self.is_terminal and sys.platform != "win32"
        self._terminal = stream.fileno() if by_hand else None

    def write(self, data: bytes) -> None:
        """Write all data; a ``KeyboardInterrupt`` leaves the rest unwritten."""
        if self._terminal is None:
            self._stream.write(data)
            self._stream.flush()
            return
        left = memoryview(data)
        while left:
            left = left[os.write(self._terminal, left[:_CHUNK]) :]

    def drop(self) -> None:
        """Discard the output that the terminal has not taken yet."""
        if self._terminal is None or sys.platform == "win32":
            return
        import termios

        with contextlib.suppress(termios.error, OSError):  # it may be gone
            termios.tcflush(self._terminal, termios.TCOFLUSH)


class Screen:
    """The session's output: the streams of ``rows`` and ``messages``.

    Both go to one terminal, or rows go to a file. ``size`` returns the columns and lines of the
    window, or is None where rows go elsewhere. On a window the header is repeated when it has
    scrolled away.
    """

    def __init__(
        self,
        rows: BinaryIO,
        messages: BinaryIO,
        size: Callable[[], tuple[int, int]] | None = measure_window,
        color: bool = False,
        encoding: str = "utf-8",
    ) -> None:
        self._rows = RowOutlet(rows)
        self._messages = RowOutlet(messages)
        self._size = size
        self._utf8 = encoding.lower().replace("-", "").replace("_", "") in ("utf8", "ascii")
        self._since: int | None = None  # lines below the header; None: it was never shown
        self._header = b""
        self._left_out: tuple[str, ...] = ()  # columns last reported as left out
        self._shown_early = False
        self.encoding = encoding
        self.has_cursor = False
        self.released: Callable[[], AbstractContextManager[None]] = nullcontext
        self.color = color
        self.format = "table"
        self.complaints = 0  # errors so far

    @classmethod
    def from_process(cls, color: bool) -> Screen:
        """Return the screen of this process; messages go to stderr if stdout is not a terminal.

        Raise ``CannotAccess`` if stdout is closed.
        """
        out, error = sys.stdout, sys.stderr
        if out is None:
            raise CannotAccess("write to", "stdout", OSError("it is closed"))
        if out.isatty():
            return cls(out.buffer, out.buffer, measure_window, color, out.encoding or "ascii")
        return cls(out.buffer, error.buffer, None, color, error.encoding or "ascii")

    @property
    def columns(self) -> int:
        """The width of the window, in columns."""
        return (self._size or measure_window)()[0]

    @property
    def lines(self) -> int:
        """The height of the window, in lines."""
        return (self._size or measure_window)()[1]

    @property
    def room(self) -> int:
        """The number of rows that fit the window."""
        return max(min(self.lines - 5, 20), 1)

    @property
    def shows_messages(self) -> bool:
        """True if messages go to a terminal."""
        return self._messages.is_terminal

    # ------------------------------------------------------------- rows

    def make_writer(self, named: bool, turns: bool) -> RowWriter:
        """Return a row writer for the current format and window; ``named``: entities have names."""
        if self._size is None:
            return RowWriter(self.format, turns=turns)
        return RowWriter(self.format, self.color, max(self.columns, NARROWEST), named, turns=turns)

    def choose_format(self, row_format: str) -> None:
        """Set the format of later rows, which begin with a new header."""
        self.format = row_format
        self._since = None

    def begin_table(self) -> None:
        """Make the next rows begin with a header."""
        if self.format == "table" and self._size is not None:
            self._since = None

    def draw(self, rows: bytes, writer: RowWriter) -> None:
        """Write the rows of ``writer``, below a new header if no header is visible."""
        header = writer.header()
        if header != self._header:
            self._header, self._since = header, None
        if not header:
            self._write_rows(rows)
        elif self.format != "table" or self._size is None:
            self._write_rows(header + rows if self._since is None else rows)
            self._since = 0
        else:
            self._draw_table(header, rows, writer.left_out)

    def _draw_table(self, header: bytes, rows: bytes, left_out: tuple[str, ...]) -> None:
        if left_out and left_out != self._left_out:
            from epic_cli.recordings.wording import describe_left_out  # as in report

            words = describe_left_out(left_out, self.columns, "a wider window or :format csv")
            self.say(words, "dim")
        self._left_out = left_out
        room = max(self.lines - 3, 1)  # the header, the prompt and the toolbar
        lines = rows.splitlines(keepends=True)
        while lines:
            if self._since is None or self._since >= room:
                self._write_rows(header)
                self._since = 0
            fitting = room - self._since
            self._write_rows(b"".join(lines[:fitting]))
            self._since += len(lines[:fitting])
            lines = lines[fitting:]

    def count_lines(self, count: int) -> None:
        """Count lines that others have written, which scroll the header up."""
        if self._since is not None:
            self._since += count

    def show_early(self, prompt: str) -> None:
        """Show the prompt while the line editor is loading, which takes a moment."""
        code, end = ("\x1b[36m", "\x1b[0m") if self.color else ("", "")
        self._messages.write(f"{code}{prompt}{end}".encode())
        self._shown_early = True

    def clear_prompt(self) -> None:
        """Erase the prompt that ``show_early`` wrote, if no other line follows the prompt."""
        if self._shown_early:
            self._shown_early = False
            self._messages.write(b"\r\x1b[K")

    def _write_rows(self, rows: bytes) -> None:
        self.clear_prompt()
        if not self._utf8 and not rows.isascii() and self._size:
            text = rows.decode("utf-8", "replace").translate(_ASCII)
            rows = text.encode(self.encoding, "replace")
        self._rows.write(rows)

    # ------------------------------------------------------------- messages

    def say(self, text: str, kind: str = "") -> None:
        """Write a message of one or more lines; ``kind`` chooses its style."""
        style = _STYLES[kind] if self.color and kind else ""
        end = Style.END if style else ""
        if not text:
            return
        lines = [
            part
            for line in style_message(text).removesuffix("\n").split("\n")
            for part in (
                wrap(line, self.columns, "  ")
                if self.shows_messages and width(line) > self.columns
                else [line]
            )
        ]
        self.write_text(style_message("".join(f"{style}{line}{end}\n" for line in lines)))

    def warn(self, text: str) -> None:
        """Write a warning; the session continues."""
        self.say(text, "warning")

    def complain(self, text: str) -> None:
        """Write an error, and count the error."""
        self.complaints += 1
        self.say(text, "error")

    def show_page(self, text: str) -> None:
        """Show a longer text, in a pager if it does not fit."""
        if not self.has_cursor or len(text.splitlines()) < self.lines:
            self.write_text(text)
            return
        os.environ.setdefault("LESS", _LESS)
        with self.released():
            click.echo_via_pager(text if self._utf8 else text.translate(_ASCII))

    def show(self, what: RenderableType) -> None:
        """Write a rich renderable, no wider than the window."""
        self.show_page(draw(what, self.color, self.columns))

    def leave_line(self) -> None:
        """Start a new line after a typed line was discarded, where the prompt does not."""
        if self.has_cursor:
            self.count_lines(1)
        else:
            self.say("\n")

    def report_interrupt(self, what: str) -> None:
        """Report an interrupt, and discard the rows that the terminal has not shown yet."""
        self._rows.drop()
        if self._size is not None:
            self._rows.write(b"\x1b[0m\r\x1b[K" if self.has_cursor else b"\n")
        self.warn(what)

    def report(self, refusals: list[Refusal], name: str) -> None:
        """Write refused lines: number, column, the line and a caret."""
        if refusals:
            self.make_refused_lines(name, everything=True).add(refusals)

    def make_refused_lines(self, name: str, everything: bool) -> RefusedLines:
        """Return the writer of a recording's refused lines.

        Without ``everything``, only the first few are written.
        """
        from epic_cli.recordings.wording import FrontEnd
        from epic_cli.shell.refused_lines import RefusedLines  # the first prompt needs none

        return RefusedLines(
            name,
            FrontEnd.SESSION,
            lambda text: self.write_text(style_message(text)),
            color=self.color,
            columns=self.columns,
            everything=everything,
        )

    def write_text(self, text: str) -> None:
        """Write text, with replacements for characters that the terminal lacks."""
        self.clear_prompt()
        self.count_lines(text.count("\n"))
        if not self._utf8:
            text = text.translate(_ASCII)
        with contextlib.suppress(BlockingIOError):
            self._messages.write(text.encode(self.encoding, "replace"))


_BRACKETED_PASTE_OFF = b"\x1b[?2004l"


class QuietTerminal:
    """A terminal without echo and line editing while the session runs; Ctrl-C still interrupts.

    Each prompt sets the terminal up for itself and restores this state. Without it, the kernel
    would show a paste while its rows are drawn, and hold back its unfinished line.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._original: list[Any] = []
        self._quiet: list[Any] = []
        if sys.platform == "win32":  # a console is quiet while it is not read
            return
        import termios

        self._original = termios.tcgetattr(descriptor)
        self._quiet = termios.tcgetattr(descriptor)
        self._quiet[0] &= ~termios.ICRNL
        self._quiet[3] &= ~(termios.ECHO | termios.ICANON)

    @contextlib.contextmanager
    def hold_quiet(self) -> Iterator[QuietTerminal]:
        """Quiet the terminal within the block.

        Restore it afterwards, even if the process is ended.
        """
        with clean_up_on_signal(self._restore_terminal):
            self._set_attributes(self._quiet)
            try:
                yield self
            finally:
                self._set_attributes(self._original)

    @contextlib.contextmanager
    def release_terminal(self) -> Iterator[None]:
        """Restore the terminal within the block, for another program."""
        self._set_attributes(self._original)
        try:
            yield
        finally:
            self._set_attributes(self._quiet)

    def _set_attributes(self, attributes: list[Any], now: bool = False) -> None:
        if sys.platform == "win32":
            return
        import termios

        with contextlib.suppress(termios.error, OSError):  # it may be gone
            moment = termios.TCSANOW if now else termios.TCSADRAIN
            termios.tcsetattr(self._descriptor, moment, attributes)

    def _restore_terminal(self) -> None:
        """Restore the terminal at once, even if it takes no more output."""
        import select

        self._set_attributes(self._original, now=True)
        with contextlib.suppress(OSError, ValueError):
            output = sys.stdout.fileno()
            if select.select([], [output], [], 0)[1]:
                os.write(output, _BRACKETED_PASTE_OFF)
