"""What a session writes: rows as bytes past every library, and messages to the person."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, BinaryIO, Self

import click

from epic_cli.engine.text import RowWriter
from epic_cli.engine.text.widths import width, wrap
from epic_cli.session.terminal import RowOutlet
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


def window() -> tuple[int, int]:
    """The columns and lines of the terminal; 80 and 24 where it does not say."""
    try:
        size = os.get_terminal_size(sys.stdout.fileno())
    except OSError:
        return 80, 24
    return size.columns or 80, size.lines or 24


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
        self._told: tuple[str, ...] = ()  # the columns that were last said to be left out
        self._shown_early = False
        self.has_cursor = False
        self.released: Callable[[], AbstractContextManager[None]] = nullcontext
        self.color = color
        self.format = "table"
        self.encoding = encoding
        self.complaints = 0  # what was not done

    @classmethod
    def standard(cls, color: bool) -> Self:
        """The screen of this process: messages go to stderr when stdout is no terminal."""
        if sys.stdout.isatty():
            return cls(
                sys.stdout.buffer, sys.stdout.buffer, window, color, sys.stdout.encoding or "ascii"
            )
        encoding = sys.stderr.encoding or "ascii"
        return cls(sys.stdout.buffer, sys.stderr.buffer, None, color, encoding)

    @property
    def columns(self) -> int:
        """The width of the window."""
        return (self._size or window)()[0]

    @property
    def lines(self) -> int:
        """The height of the window."""
        return (self._size or window)()[1]

    # ------------------------------------------------------------- rows

    def writer(self, named: bool, turns: bool) -> RowWriter:
        """A writer for the present format and window; ``named``: entities have names."""
        if self._size is None:
            return RowWriter(self.format, turns=turns)
        width = max(self.columns, NARROWEST)
        return RowWriter(self.format, self.color, width, named, turns=turns)

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
            self._tell_left_out(writer.left_out)
            self._draw_table(header, rows)

    def _tell_left_out(self, columns: tuple[str, ...]) -> None:
        if columns and columns != self._told:
            from epic_cli.recordings.wording import left_out_words  # as in report

            words = left_out_words(columns, self.columns, "a wider window or :format csv")
            self.say(words, "dim")
        self._told = columns

    def _draw_table(self, header: bytes, rows: bytes) -> None:
        room = max(self.lines - 3, 1)  # the header, the prompt and the toolbar
        lines = rows.splitlines(keepends=True)
        begin = 0
        while begin < len(lines):
            if self._since is None or self._since >= room:
                self._put(header)
                self._since = 0
            end = begin + room - self._since
            self._put(b"".join(lines[begin:end]))
            self._since += len(lines[begin:end])
            begin = end

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
        """Writes a message, as one or more lines."""
        style = _STYLES[kind] if self.color and kind else ""
        end = Style.END if style else ""
        if not text:
            return
        text = shown(text).removesuffix("\n")
        lines = (part for line in text.split("\n") for part in self._fitting(line))
        self._message(shown("".join(f"{style}{line}{end}\n" for line in lines)))

    def _fitting(self, line: str) -> list[str]:
        """A line of a message, broken between its words where it is too long."""
        if not self._messages.is_terminal or width(line) <= self.columns:
            return [line]
        return wrap(line, self.columns, "  ")

    def page(self, text: str) -> None:
        """Shows a longer text: in a pager where it does not fit."""
        if not self.has_cursor or len(text.splitlines()) < self.lines:
            self._message(text)
            return
        with self.released():
            # not every pager shows styles
            click.echo_via_pager(click.unstyle(text), color=False)

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
        self.say(what, "warning")

    def warn(self, text: str) -> None:
        """Writes what went wrong without keeping the session from going on."""
        self.say(text, "warning")

    def complain(self, text: str) -> None:
        """Writes what was not done, and why."""
        self.complaints += 1
        self.say(text, "error")

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
            lambda text: self._message(shown(text)),
            color=self.color,
            columns=self.columns,
            everything=everything,
        )

    def show(self, what: RenderableType, paged: bool = False) -> None:
        """Writes what rich can draw, no wider than the window; ``paged``: it may be long."""
        text = draw(what, self.color, self.columns)
        (self.page if paged else self._message)(text)

    @property
    def is_window(self) -> bool:
        """Whether messages go to a terminal."""
        return self._messages.is_terminal

    def write_text(self, text: str) -> None:
        """Writes what a command of the shell writes, as it is."""
        self._message(text)

    def _message(self, text: str) -> None:
        self.clear_prompt()
        self.count_lines(text.count("\n"))
        if not self._utf8:
            text = text.translate(_ASCII)
        with contextlib.suppress(BlockingIOError):
            self._messages.write(text.encode(self.encoding, "replace"))
