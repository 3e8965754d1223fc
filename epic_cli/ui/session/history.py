"""The history of typed lines, kept in the state directory."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from prompt_toolkit.history import FileHistory

from epic_cli.ui.session.journal import Warn

#: A longer file is cut down to its newer half when a session begins.
_LONGEST_FILE = 1 << 20


class StateHistory(FileHistory):
    """A history file; if it cannot be read or written, that is said once and nothing is kept."""

    def __init__(self, directory: Path, warn: Warn) -> None:
        self._directory = directory
        self._warn = warn
        self._broken = False
        path = directory / "history"
        try:
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            _shorten(path)
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        except OSError as error:
            self._fail(error)
        super().__init__(str(path))

    def _fail(self, error: OSError) -> None:
        if not self._broken:
            self._broken = True
            self._warn(f"no history: {self._directory}: {error.strerror or error}")

    def load_history_strings(self) -> Iterable[str]:
        """The lines of earlier sessions, newest first."""
        if self._broken:
            return []
        try:
            return list(super().load_history_strings())
        except OSError as error:
            self._fail(error)
            return []

    def store_string(self, string: str) -> None:
        """Appends a line."""
        if self._broken:
            return
        try:
            super().store_string(string)
        except OSError as error:
            self._fail(error)


def _shorten(path: Path) -> None:
    if not path.exists() or path.stat().st_size <= _LONGEST_FILE:
        return
    text = path.read_bytes()
    begin = text.find(b"\n# ", len(text) - _LONGEST_FILE // 2)
    shorter = path.with_name(f"history.{os.getpid()}.part")
    shorter.write_bytes(text[begin + 1 :])
    shorter.replace(path)
