"""What a session writes, and the terminal that it writes to.

Rows go as bytes past every library, messages to the person.
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
from epic_cli.recordings.files import CannotAccess, cleaning_up
from epic_cli.shell.console import NARROWEST, draw
from epic_cli.shell.errors import Style, shown

if TYPE_CHECKING:
    from rich.console import RenderableType

    from epic_cli.engine.refusals import Refusal
    from epic_cli.shell.refused_lines import RefusedLines

#: By what a message is about.
_STYLES = {"good": Style.GOOD, "warning": Style.WARNING, "error": Style.RED, "dim": Style.DIM}

#: For terminals without them: the characters that charts and tables are made of.
_ASCII = str.maketrans("─━│┃┤├└┘┌┐┬┴┼•…", "--||+++++++++o~")

#: Bytes handed over at once: what an interrupt leaves unsent is known to the byte.
_CHUNK = 4096


def failure(error: Exception) -> str:
    """What an unexpected exception says of itself."""
    if isinstance(error, StrategyFailed):
        return str(error)
    return f"{type(error).__name__}: {error}"


def window() -> tuple[int, int]:
    """The columns and lines of the terminal; 80 and 24 where it does not say."""
    try:  # standard output of the process: commands have one of their own
        size = os.get_terminal_size(sys.__stdout__.fileno() if sys.__stdout__ else 1)
    except (OSError, ValueError):
        return 80, 24
    return size.columns or 80, size.lines or 24


class RowOutlet:
    """Writes at once, past the stream's buffer; what is no terminal is written as it is."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        #: Whether what is written is shown at once.
        self.is_terminal = stream.isatty()
        # the console of Windows takes UTF-8 from Python's streams only
        by_hand = self.is_terminal and sys.platform != "win32"
        self._terminal = stream.fileno() if by_hand else None

    def write(self, data: bytes) -> None:
        """Writes all of it; a ``KeyboardInterrupt`` leaves the rest unwritten."""
        if self._terminal is None:
            self._stream.write(data)
            self._stream.flush()
            return
        left = memoryview(data)
        while left:
            left = left[os.write(self._terminal, left[:_CHUNK]) :]

    def drop(self) -> None:
        """Forgets what the terminal has not taken yet."""
        if self._terminal is None or sys.platform == "win32":
            return
        import termios

        with contextlib.suppress(termios.error, OSError):  # it may be gone
            termios.tcflush(self._terminal, termios.TCOFLUSH)


class Screen:
    """Writes rows to ``rows`` and messages to ``messages``: one terminal, or a file and a terminal.

    ``size`` gives the columns and lines of the window, or is None where rows go elsewhere. On a
    window the header is repeated when it has scrolled away.
    """

    def __init__(
        self,
        rows: BinaryIO,
        messages: BinaryIO,
        size: Callable[[], tuple[int, int]] | None = window,
        color: bool = False,
        encoding: str = "utf-8",
    ) -> None:
        self._rows = RowOutlet(rows)
        self._messages = RowOutlet(messages)
        self._size = size
        self._utf8 = encoding.lower().replace("-", "").replace("_", "") in ("utf8", "ascii")
        self._since: int | None = None  # lines below the header; None: it was never shown
        self._header = b""
        self._left_out: tuple[str, ...] = ()  # the columns that were last said to be left out
        self._shown_early = False
        self.encoding = encoding
        self.has_cursor = False
        self.released: Callable[[], AbstractContextManager[None]] = nullcontext
        self.color = color
        self.format = "table"
        self.complaints = 0  # what was not done

    @classmethod
    def standard(cls, color: bool) -> Screen:
        """Return the screen of this process: messages go to stderr where stdout is no terminal.

        Raise ``CannotAccess`` where stdout is closed.
        """
        out, error = sys.stdout, sys.stderr
        if out is None:
            raise CannotAccess("write to", "stdout", OSError("it is closed"))
        if out.isatty():
            return cls(out.buffer, out.buffer, window, color, out.encoding or "ascii")
        return cls(out.buffer, error.buffer, None, color, error.encoding or "ascii")

    @property
    def columns(self) -> int:
        """The width of the window."""
        return (self._size or window)()[0]

    @property
    def lines(self) -> int:
        """The height of the window."""
        return (self._size or window)()[1]

    @property
    def room(self) -> int:
        """How many rows are a windowful."""
        return max(min(self.lines - 5, 20), 1)

    @property
    def shows_messages(self) -> bool:
        """Whether messages go to a terminal."""
        return self._messages.is_terminal

    # ------------------------------------------------------------- rows

    def writer(self, named: bool, turns: bool) -> RowWriter:
        """A writer for the present format and window; ``named``: entities have names."""
        if self._size is None:
            return RowWriter(self.format, turns=turns)
        return RowWriter(self.format, self.color, max(self.columns, NARROWEST), named, turns=turns)

    def choose_format(self, row_format: str) -> None:
        """Writes rows in another format from now on, under a header of its own."""
        self.format = row_format
        self._since = None

    def begin_table(self) -> None:
        """What is drawn next has a header of its own."""
        if self.format == "table" and self._size is not None:
            self._since = None

    def draw(self, rows: bytes, writer: RowWriter) -> None:
        """Writes a writer's rows, under a header where none is to be seen."""
        header = writer.header()
        if header != self._header:
            self._header, self._since = header, None
        if not header:
            self._put(rows)
        elif self.format != "table" or self._size is None:
            self._put(header + rows if self._since is None else rows)
            self._since = 0
        else:
            self._draw_table(header, rows, writer.left_out)

    def _draw_table(self, header: bytes, rows: bytes, left_out: tuple[str, ...]) -> None:
        if left_out and left_out != self._left_out:
            from epic_cli.recordings.wording import left_out_words  # as in report

            words = left_out_words(left_out, self.columns, "a wider window or :format csv")
            self.say(words, "dim")
        self._left_out = left_out
        room = max(self.lines - 3, 1)  # the header, the prompt and the toolbar
        lines = rows.splitlines(keepends=True)
        while lines:
            if self._since is None or self._since >= room:
                self._put(header)
                self._since = 0
            fitting = room - self._since
            self._put(b"".join(lines[:fitting]))
            self._since += len(lines[:fitting])
            lines = lines[fitting:]

    def count_lines(self, count: int) -> None:
        """Notes that something else has written lines: the header moves up."""
        if self._since is not None:
            self._since += count

    def show_early(self, prompt: str) -> None:
        """Shows the prompt before there is one: loading the line editor takes a moment."""
        code, end = ("\x1b[36m", "\x1b[0m") if self.color else ("", "")
        self._messages.write(f"{code}{prompt}{end}".encode())
        self._shown_early = True

    def clear_prompt(self) -> None:
        """Takes back the prompt that was shown early, if it still stands there."""
        if self._shown_early:
            self._shown_early = False
            self._messages.write(b"\r\x1b[K")

    def _put(self, rows: bytes) -> None:
        self.clear_prompt()
        if not self._utf8 and not rows.isascii() and self._size:
            text = rows.decode("utf-8", "replace").translate(_ASCII)
            rows = text.encode(self.encoding, "replace")
        self._rows.write(rows)

    # ------------------------------------------------------------- messages

    def say(self, text: str, kind: str = "") -> None:
        """Writes a message, as one or more lines; ``kind`` is what it is about."""
        style = _STYLES[kind] if self.color and kind else ""
        end = Style.END if style else ""
        if not text:
            return
        lines = [
            part
            for line in shown(text).removesuffix("\n").split("\n")
            for part in (
                wrap(line, self.columns, "  ")
                if self.shows_messages and width(line) > self.columns
                else [line]
            )
        ]
        self.write_text(shown("".join(f"{style}{line}{end}\n" for line in lines)))

    def warn(self, text: str) -> None:
        """Writes what went wrong without keeping the session from going on."""
        self.say(text, "warning")

    def complain(self, text: str) -> None:
        """Writes what was not done, and why."""
        self.complaints += 1
        self.say(text, "error")

    def page(self, text: str) -> None:
        """Shows a longer text: in a pager where it does not fit."""
        if not self.has_cursor or len(text.splitlines()) < self.lines:
            self.write_text(text)
            return
        os.environ.setdefault("LESS", "-FRX")  # what was read stays on the screen, in colour
        with self.released():
            click.echo_via_pager(text if self._utf8 else text.translate(_ASCII))

    def show(self, what: RenderableType) -> None:
        """Writes what rich can draw, no wider than the window."""
        self.page(draw(what, self.color, self.columns))

    def leave_line(self) -> None:
        """A typed line was dropped: where the prompt does not end it, it is ended here."""
        if self.has_cursor:
            self.count_lines(1)
        else:
            self.say("\n")

    def interrupted(self, what: str) -> None:
        """Says what was stopped, in place of the rows that the terminal has not shown yet."""
        self._rows.drop()
        if self._size is not None:
            self._rows.write(b"\x1b[0m\r\x1b[K" if self.has_cursor else b"\n")
        self.warn(what)

    def report(self, refusals: list[Refusal], name: str) -> None:
        """Writes refused lines: number, column, the line and a caret."""
        if refusals:
            self.refused_lines(name, everything=True).add(refusals)

    def refused_lines(self, name: str, everything: bool) -> RefusedLines:
        """Those of one recording, to be written; not ``everything``: the first few."""
        from epic_cli.recordings.wording import FrontEnd
        from epic_cli.shell.refused_lines import RefusedLines  # the first prompt comes without them

        return RefusedLines(
            name,
            FrontEnd.SESSION,
            lambda text: self.write_text(shown(text)),
            color=self.color,
            columns=self.columns,
            everything=everything,
        )

    def write_text(self, text: str) -> None:
        """Writes text as it is, as far as the terminal has its characters."""
        self.clear_prompt()
        self.count_lines(text.count("\n"))
        if not self._utf8:
            text = text.translate(_ASCII)
        with contextlib.suppress(BlockingIOError):
            self._messages.write(text.encode(self.encoding, "replace"))


_BRACKETED_PASTE_OFF = b"\x1b[?2004l"


class QuietTerminal:
    """Turns off echo and line editing while the session runs; Ctrl-C still interrupts.

    Each prompt sets the terminal up for itself and gives it back like this. Without it, the
    kernel would show a paste while its rows are drawn, and hold back its unfinished line.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._original: list[Any] = []
        self._quiet: list[Any] = []
        if sys.platform == "win32":  # its console is quiet while it is not read
            return
        import termios

        self._original = termios.tcgetattr(descriptor)
        self._quiet = termios.tcgetattr(descriptor)
        self._quiet[0] &= ~termios.ICRNL
        self._quiet[3] &= ~(termios.ECHO | termios.ICANON)

    @contextlib.contextmanager
    def held(self) -> Iterator[QuietTerminal]:
        """Quiet within the block, and as it was after it or when the process is ended."""
        with cleaning_up(self._leave):
            self._set(self._quiet)
            try:
                yield self
            finally:
                self._set(self._original)

    @contextlib.contextmanager
    def released(self) -> Iterator[None]:
        """As it was, for another program, within the block."""
        self._set(self._original)
        try:
            yield
        finally:
            self._set(self._quiet)

    def _set(self, attributes: list[Any], now: bool = False) -> None:
        if sys.platform == "win32":
            return
        import termios

        with contextlib.suppress(termios.error, OSError):  # it may be gone
            moment = termios.TCSANOW if now else termios.TCSADRAIN
            termios.tcsetattr(self._descriptor, moment, attributes)

    def _leave(self) -> None:
        """As it was, without waiting for a terminal that takes nothing any more."""
        import select

        self._set(self._original, now=True)
        with contextlib.suppress(OSError, ValueError):
            output = sys.stdout.fileno()
            if select.select([], [output], [], 0)[1]:
                os.write(output, _BRACKETED_PASTE_OFF)
