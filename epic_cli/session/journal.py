"""The session's journal: accepted lines, saved in the state directory before they are drawn.

A journal is a text file that restores the session when it is typed: packets, and the commands that
changed them or their view. Lines are only ever appended.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Callable
from pathlib import Path

from epic_cli.recordings.files import lock
from epic_cli.recordings.reading import BINARY

Warn = Callable[[str], None]

#: Lines that no session writes: they would end it, or were left by a power cut.
_DAMAGED = re.compile(rb"^(?=q|[^\n]*\0)", re.MULTILINE)

#: The number of journals that are kept.
_KEPT = 20


def find_state_directory() -> Path:
    """Return the folder of the session's files.

    ``$XDG_STATE_HOME/epic`` or ``~/.local/state/epic``.
    """
    base = os.environ.get("XDG_STATE_HOME", "")
    # the standard says to ignore a relative path
    root = Path(base) if os.path.isabs(base) else Path(os.path.expanduser("~/.local/state"))  # noqa: PTH111, PTH117
    return root / "epic"


class SessionJournal:
    """The journal of this session, created at the first write.

    ``warn`` is called once if it cannot be written; the session continues without a journal.
    ``path`` is that of a journal to continue.
    """

    def __init__(self, directory: Path, warn: Warn, path: Path | None = None) -> None:
        self._directory = directory
        self._warn: Warn | None = warn
        self._pending = b""
        self._descriptor: int | None = None
        self.path = path

    def write(self, lines: bytes) -> None:
        """Append whole lines to the journal.

        The next call also retries lines for which a full disk had no room.
        """
        self._pending += lines
        try:
            if self._descriptor is None:
                self._descriptor = self._create_file()
            while self._pending:
                self._pending = self._pending[os.write(self._descriptor, self._pending) :]
        except OSError as error:
            warn, self._warn = self._warn, None
            if warn is not None:
                place, why = self.path or self._directory, error.strerror or str(error)
                warn(f"the session is not being saved for --resume: {place}: {why}")

    def _create_file(self) -> int:
        if self.path is None:
            folder = self._directory / "sessions"
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            stamp = time.strftime("%Y%m%d-%H%M%S")
            self.path = folder / f"{stamp}-{time.time_ns() % 10**9:09d}-{os.getpid()}.epic"
            for old in sorted(folder.glob("*.epic"), reverse=True)[_KEPT - 1 :]:
                with contextlib.suppress(OSError):
                    if not is_in_use(old):
                        old.unlink()
        descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | BINARY, 0o600)
        lock(descriptor)
        return descriptor

    def close(self) -> None:
        """Close the journal's file."""
        if self._descriptor is not None:
            with contextlib.suppress(OSError):
                os.close(self._descriptor)
            self._descriptor = None


def find_newest(directory: Path) -> Path | None:
    """Return the newest journal of a session that no longer runs, however the session ended."""
    for path in sorted((directory / "sessions").glob("*.epic"), reverse=True):
        with contextlib.suppress(OSError):
            if path.stat().st_size and not is_in_use(path):
                return path
    return None


def read(path: Path) -> bytes:
    """Return the journal's whole lines, without a last line that a crash left unfinished.

    A damaged line that would end a recording is made a refused one, so that the lines below it are
    read. Raise ``OSError``.
    """
    text = path.read_bytes()
    whole = text[: text.rfind(b"\n") + 1]
    if len(whole) < len(text):
        os.truncate(path, len(whole))
    return _DAMAGED.sub(b"?", whole)


def is_in_use(path: Path) -> bool:
    """Return True if a running session writes to this journal."""
    descriptor = os.open(path, os.O_RDWR)
    try:
        return not lock(descriptor)
    finally:
        os.close(descriptor)
