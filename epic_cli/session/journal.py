"""Nothing lost: what was accepted is in the state directory before its rows are drawn.

A journal is a text file that makes the session again when it is typed: packets, and the commands
that changed them or their view. It is only ever appended to.
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

#: Lines that no session writes: they would end it, or are what a power cut leaves.
_DAMAGED = re.compile(rb"^(?=q|[^\n]*\0)", re.MULTILINE)

#: Sessions that can be gone back to.
_KEPT = 20


def state_directory() -> Path:
    """Where the session's files are: ``$XDG_STATE_HOME/epic`` or ``~/.local/state/epic``."""
    base = os.environ.get("XDG_STATE_HOME", "")
    # the standard says that a relative path is to be ignored
    root = Path(base) if os.path.isabs(base) else Path(os.path.expanduser("~/.local/state"))  # noqa: PTH111, PTH117
    return root / "epic"


class SessionJournal:
    """The journal of this session, made when there is something to write.

    ``warn`` is called once when it cannot be written; the session goes on without. ``path`` is
    that of a journal to go on with.
    """

    def __init__(self, directory: Path, warn: Warn, path: Path | None = None) -> None:
        self._directory = directory
        self._warn: Warn | None = warn
        self._pending = b""
        self._descriptor: int | None = None
        self.path = path

    def write(self, lines: bytes) -> None:
        """Appends whole lines; what a full disk does not take is kept for the next attempt."""
        self._pending += lines
        try:
            if self._descriptor is None:
                self._descriptor = self._opened()
            while self._pending:
                self._pending = self._pending[os.write(self._descriptor, self._pending) :]
        except OSError as error:
            warn, self._warn = self._warn, None
            if warn is not None:
                place, why = self.path or self._directory, error.strerror or str(error)
                warn(f"the session is not being saved for --resume: {place}: {why}")

    def _opened(self) -> int:
        if self.path is None:
            folder = self._directory / "sessions"
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            stamp = time.strftime("%Y%m%d-%H%M%S")
            self.path = folder / f"{stamp}-{time.time_ns() % 10**9:09d}-{os.getpid()}.epic"
            for old in sorted(folder.glob("*.epic"), reverse=True)[_KEPT - 1 :]:
                with contextlib.suppress(OSError):
                    if not in_use(old):
                        old.unlink()
        descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | BINARY, 0o600)
        lock(descriptor)
        return descriptor

    def close(self) -> None:
        """Closes the file."""
        if self._descriptor is not None:
            with contextlib.suppress(OSError):
                os.close(self._descriptor)
            self._descriptor = None


def newest(directory: Path) -> Path | None:
    """The journal of the last session that has ended, however it ended."""
    for path in sorted((directory / "sessions").glob("*.epic"), reverse=True):
        with contextlib.suppress(OSError):
            if path.stat().st_size and not in_use(path):
                return path
    return None


def read(path: Path) -> bytes:
    """The journal's whole lines; what a crash left of a last one is cut off, in the file too.

    A damaged line that would end a recording is made one that is refused, so that those below it
    are read. Raises ``OSError``.
    """
    text = path.read_bytes()
    whole = text[: text.rfind(b"\n") + 1]
    if len(whole) < len(text):
        os.truncate(path, len(whole))
    return _DAMAGED.sub(b"?", whole)


def in_use(path: Path) -> bool:
    """Whether a session that still runs writes this journal."""
    descriptor = os.open(path, os.O_RDWR)
    try:
        return not lock(descriptor)
    finally:
        os.close(descriptor)
