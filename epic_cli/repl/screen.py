"""What a session writes: rows as bytes past every library, and remarks to the person."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, BinaryIO, Self

from epic_cli.engine.text.rows import RowWriter
from epic_cli.terminal.console import draw

if TYPE_CHECKING:
    from rich.console import RenderableType

    from epic_cli.engine.refusals import Refusal

#: Sixteen-colour codes, by what a remark is about.
_CODES = {"": "", "good": "\x1b[32m", "warning": "\x1b[33m", "error": "\x1b[31m", "dim": "\x1b[2m"}


#: For terminals without them: the characters that charts and tables are made of.
_ASCII = str.maketrans("─━│┃┤├└┘┌┐┬┴┼•", "--||+++++++++o")


def window() -> tuple[int, int]:
    """The columns and lines of the terminal; 80 and 24 where it does not say."""
    try:
        size = os.get_terminal_size(sys.stdout.fileno())
    except OSError:
        return 80, 24
    return size.columns or 80, size.lines or 24


class Screen:
    """Writes rows to ``rows`` and remarks to ``remarks``: one terminal, or a file and a terminal.

    ``size`` gives the columns and lines of the window, or is None where rows go elsewhere. On a
    window the header is repeated when it has scrolled away.
    """

    def __init__(
        self,
        rows: BinaryIO,
        remarks: BinaryIO,
        size: Callable[[], tuple[int, int]] | None = window,
        color: bool = False,
        encoding: str = "utf-8",
    ) -> None:
        self._rows = rows
        self._remarks = remarks
        self._size = size
        self._encoding = encoding
        self._utf8 = encoding.lower().replace("-", "").replace("_", "") in ("utf8", "ascii")
        self._since: int | None = None  # lines below the header; None: it was never shown
        self._shown_early = False
        self.has_cursor = False
        self.color = color
        self.format = "table"

    @classmethod
    def standard(cls, color: bool) -> Self:
        """The screen of this process: remarks go to stderr when stdout is no terminal."""
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

    def writer(self) -> RowWriter:
        """A writer for the present format and window."""
        shown = self._size is not None
        return RowWriter(self.format, self.color and shown, self.columns if shown else 96, shown)

    def choose_format(self, row_format: str) -> None:
        """Writes rows in another format from now on, under a header of its own."""
        self.format = row_format
        self._since = None

    def begin_table(self) -> None:
        """What is drawn next has a header of its own."""
        if self.format == "table" and self._size is not None:
            self._since = None

    def draw(self, rows: bytes, named: bool = False) -> None:
        """Writes rows, under a header where none is to be seen; ``named``: with entities."""
        header = self.writer().header(named or self._size is None)
        if not header:
            self._put(rows)
        elif self.format != "table" or self._size is None:
            self._put(header + rows if self._since is None else rows)
            self._since = 0
        else:
            self._draw_table(header, rows)

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
        self._rows.flush()

    def count_lines(self, count: int) -> None:
        """Notes that something else has written lines: the header moves up."""
        if self._since is not None:
            self._since += count

    def show_early(self, prompt: str) -> None:
        """Shows the prompt before there is one: loading the line editor takes a moment."""
        code, end = ("\x1b[36m", "\x1b[0m") if self.color else ("", "")
        self._remarks.write(f"{code}{prompt}{end}".encode())
        self._remarks.flush()
        self._shown_early = True

    def clear_prompt(self) -> None:
        """Takes back the prompt that was shown early, if it still stands there."""
        if self._shown_early:
            self._shown_early = False
            self._remarks.write(b"\r\x1b[K")
            self._remarks.flush()

    def _put(self, rows: bytes) -> None:
        self.clear_prompt()
        if not self._utf8 and not rows.isascii() and self._size:
            rows = rows.decode("utf-8", "replace").encode(self._encoding, "replace")
        self._rows.write(rows)
        self._rows.flush()

    # ------------------------------------------------------------- remarks

    def say(self, text: str, kind: str = "") -> None:
        """Writes a remark, as one or more lines."""
        code = _CODES[kind] if self.color else ""
        end = "\x1b[0m" if code else ""
        self._remark("".join(f"{code}{line}{end}\n" for line in text.splitlines()))

    def leave_line(self) -> None:
        """A typed line was dropped: where the prompt does not end it, it is ended here."""
        if self.has_cursor:
            self.count_lines(1)
        else:
            self.say("\n")

    def interrupted(self) -> None:
        """Says that something was stopped, in place of the row that was being written."""
        if self._size is not None:
            self._rows.write(b"\x1b[0m\r\x1b[K" if self.has_cursor else b"\n")
        self.say("interrupted", "dim")

    def warn(self, text: str) -> None:
        """Writes what went wrong without keeping the session from going on."""
        self.say(text, "warning")

    def complain(self, text: str) -> None:
        """Writes what was not done, and why."""
        self.say(text, "error")

    def report(self, refusals: list[Refusal], name: str) -> None:
        """Writes refused lines: number, column, the line and a caret."""
        if not refusals:
            return
        from epic_cli.terminal.report import in_three_lines  # the first prompt comes without them
        from epic_cli.wording import FrontEnd, in_words

        for refusal in refusals:
            self._remark(in_three_lines(in_words(refusal, FrontEnd.SESSION), name, self.color))

    def show(self, what: RenderableType) -> None:
        """Writes what rich can draw, no wider than the window."""
        text = draw(what, self.color, self.columns)
        self._remark(text if self._utf8 else text.translate(_ASCII))

    def _remark(self, text: str) -> None:
        self.clear_prompt()
        self.count_lines(text.count("\n"))
        with contextlib.suppress(BlockingIOError):
            self._remarks.write(text.encode(self._encoding, "replace"))
            self._remarks.flush()
