"""Lines from a terminal that can only scroll: the kernel's own line editing, nothing more."""

from __future__ import annotations

import sys
from typing import BinaryIO

from epic_cli.ui.session.dialogue import Dialogue

#: A longer line comes in pieces, so that input without line ends takes no memory.
_LONGEST_LINE = 1 << 20


class PlainReader:
    """Reads lines where there is no cursor to move: TERM=dumb, or rows that go into a file."""

    def __init__(self, dialogue: Dialogue, remarks: BinaryIO) -> None:
        self._dialogue = dialogue
        self._remarks = remarks
        self.lines: list[str] = []
        dialogue.earlier_lines = lambda: self.lines
        dialogue.confirm = self._confirm

    def read(self) -> str:
        """The next line with its end; raises ``EOFError`` and ``KeyboardInterrupt``."""
        line = self._ask(self._dialogue.prompt)
        if line.strip():
            self.lines.append(line.rstrip("\r\n"))
        return line

    def _ask(self, what: str) -> str:
        self._remarks.write(what.encode())
        self._remarks.flush()
        raw = sys.stdin.buffer.readline(_LONGEST_LINE)
        if not raw:
            raise EOFError
        return raw.decode("utf-8", "surrogateescape")

    def _confirm(self, question: str) -> bool:
        return self._ask(f"{question} (y/n) ").strip().lower() in ("y", "yes")
