"""Nothing lost: what was accepted is in the state directory before its rows are drawn.

A journal is a script that makes the session again: packets, and the commands that changed them
or their view. It is only ever appended to. Behind each line stands a checksum of it and of the one
before, so that a line that was altered, moved or lost is noticed.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path

from prompt_toolkit.history import FileHistory

from epic_cli.recordings.files import lock
from epic_cli.recordings.reading import BINARY

Warn = Callable[[str], None]

#: A line, its checksum, and its end; journals of earlier versions have none.
_LINE = re.compile(rb"([^\n]*?)(?:\t#([0-9a-f]{8}))?\n")

#: What a damaged line is made to begin with, and how much of it is left: long ones are read in
#: pieces.
_DAMAGED, _SHOWN = b"damaged: ", 100

#: This many sessions can be gone back to.
_KEPT = 20


def state_directory() -> Path:
    """Where the session's files are: ``$XDG_STATE_HOME/epic`` or ``~/.local/state/epic``."""
    base = os.environ.get("XDG_STATE_HOME", "")
    # the standard says that a relative path is to be ignored
    root = Path(base) if os.path.isabs(base) else Path(os.path.expanduser("~/.local/state"))  # noqa: PTH111, PTH117
    return root / "epic"


class Journal:
    """The journal of this session, made when there is something to write.

    ``warn`` is called once when it cannot be written; the session goes on without. ``path`` is
    that of a journal to go on with.
    """

    def __init__(self, directory: Path, warn: Warn, path: Path | None = None) -> None:
        self._directory = directory
        self._warn = warn
        self._warned = False
        self._pending = b""
        self._sum = _check(path.read_bytes())[1] if path is not None and path.is_file() else 0
        self._descriptor: int | None = None
        self.path = path

    def write(self, lines: bytes) -> None:
        """Appends whole lines; what a full disk does not take is kept for the next attempt."""
        parts = []
        for line in lines.split(b"\n")[:-1]:
            self._sum = _sum(line, self._sum)
            parts.append(b"%b\t#%08x\n" % (line, self._sum))
        self._pending += b"".join(parts)
        try:
            if self._descriptor is None:
                self._open()
            while self._pending and self._descriptor is not None:
                written = os.write(self._descriptor, self._pending)
                self._pending = self._pending[written:]
        except OSError as error:
            if not self._warned:
                self._warned = True
                reason = error.strerror or str(error)
                self._warn(
                    f"the session is not being saved for --resume: {self._place()}: {reason}"
                )

    def _place(self) -> str:
        return str(self.path or self._directory)

    def _open(self) -> None:
        if self.path is None:
            folder = self._directory / "sessions"
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            stamp = time.strftime("%Y%m%d-%H%M%S")
            self.path = folder / f"{stamp}-{time.time_ns() % 10**9:09d}-{os.getpid()}.epic"
            _forget_old(folder)
        how = os.O_WRONLY | os.O_APPEND | os.O_CREAT | BINARY
        self._descriptor = os.open(self.path, how, 0o600)
        lock(self._descriptor)

    def close(self) -> None:
        """Lets go of the file."""
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

    A damaged line, or one that would end a recording, is made one that is refused, so that the
    damage is told and the lines below it are read. Raises ``OSError``.
    """
    text = path.read_bytes()
    whole = text[: text.rfind(b"\n") + 1]
    if len(whole) < len(text):
        os.truncate(path, len(whole))
    return _check(whole)[0]


def _check(text: bytes) -> tuple[bytes, int]:
    """The lines without their checksums, the damaged ones marked; and the last checksum."""
    lines: list[bytes] = []
    computed = stored = 0
    plain = 0  # lines without a checksum: an earlier version wrote them, if they are the first
    for line, given in _LINE.findall(text):
        before, computed = stored, _sum(line, computed)
        stored = int(given, 16) if given else computed
        if given and stored in (computed, _sum(line, before)):
            mark = b""
        elif not given and plain == len(lines):
            mark, plain = b"", plain + 1
        else:
            lines = [_DAMAGED + one for one in lines] if plain == len(lines) else lines
            mark, line = _DAMAGED, line[:_SHOWN]  # noqa: PLW2901
        lines.append(mark + (b"?" + line[1:] if line[:1] in (b"q", b"\0") else line))
    return b"".join(one + b"\n" for one in lines), stored


def _sum(line: bytes, before: int) -> int:
    # in digits: the state of a CRC and the bits of what follows cancel each other out
    return zlib.crc32(b"%08x%b\n" % (before, line))


def in_use(path: Path) -> bool:
    """Whether a session that still runs writes this journal."""
    descriptor = os.open(path, os.O_RDWR)
    try:
        return not lock(descriptor)
    finally:
        os.close(descriptor)


def _forget_old(folder: Path) -> None:
    for path in sorted(folder.glob("*.epic"), reverse=True)[_KEPT - 1 :]:
        with contextlib.suppress(OSError):
            if not in_use(path):
                path.unlink()


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
