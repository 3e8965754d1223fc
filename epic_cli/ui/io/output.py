"""Where rows go: stdout, or a file that is written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from collections.abc import Iterator
from typing import BinaryIO

from epic_cli.ui.io.errors import CannotAccess


class Sink:
    """Takes rows; an error in writing them is a ``CannotAccess`` (a closed pipe is not)."""

    def __init__(self, stream: BinaryIO, name: str) -> None:
        self._stream = stream
        self._name = name

    @property
    def name(self) -> str:
        """What messages call it."""
        return self._name

    @property
    def descriptor(self) -> int | None:
        """The file's number; None: it is none of the system's."""
        try:
            return self._stream.fileno()
        except OSError:
            return None

    def isatty(self) -> bool:
        """Whether it is a terminal, where a person may be looking on."""
        return self._stream.isatty()

    def write(self, rows: bytes | memoryview) -> None:
        """Writes rows into the stream's buffer."""
        with self._errors():
            self._stream.write(rows)

    def flush(self) -> None:
        """Sends what was written on its way."""
        with self._errors():
            self._stream.flush()

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            raise
        except OSError as error:
            raise CannotAccess("write to", self._name, error) from error


@contextlib.contextmanager
def open_sink(path: str | None) -> Iterator[Sink]:
    """A sink for a file or, without a path (or with ``-``), for stdout.

    A regular file appears under its name when the block ends without an error. A device or a
    named pipe is written as it is.
    """
    if path is None or path == "-":
        sink = Sink(_stdout(), "stdout")
        yield sink
        sink.flush()
    elif _is_special(path):
        with _opening(path), open(path, "wb") as stream:  # noqa: PTH123
            sink = Sink(stream, path)
            yield sink
            sink.flush()
    else:
        yield from _replacing(path)


def write_text(text: str) -> None:
    """Writes text other than rows to stdout."""
    with open_sink(None) as sink:
        sink.write(text.encode(sys.stdout.encoding or "utf-8", "replace"))


def _stdout() -> BinaryIO:
    if sys.stdout is None:
        raise CannotAccess("write to", "stdout", OSError("it is closed"))
    return sys.stdout.buffer


def _is_special(path: str) -> bool:
    try:
        return not stat.S_ISREG(os.stat(path).st_mode)  # noqa: PTH116
    except OSError:
        return False


def _replacing(path: str) -> Iterator[Sink]:
    from epic_cli.ui.io.signals import cleaning_up  # stdout does without it

    target = os.path.realpath(path)
    name = f".epic-{os.urandom(8).hex()}.part"
    temporary = os.path.join(os.path.dirname(target), name)  # noqa: PTH118, PTH120

    def remove() -> None:
        with contextlib.suppress(OSError):
            os.unlink(temporary)  # noqa: PTH108

    with cleaning_up(remove):
        try:
            with _opening(path):
                descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            stream = os.fdopen(descriptor, "wb")
            try:
                sink = Sink(stream, path)
                yield sink
                sink.flush()
            except BaseException:
                with contextlib.suppress(OSError):  # what is wrong is known
                    stream.close()
                raise
            with _opening(path):
                stream.close()
                os.chmod(temporary, _mode(target))  # noqa: PTH101
                os.replace(temporary, target)  # noqa: PTH105
        except BaseException:
            remove()
            raise


def _mode(target: str) -> int:
    """The permissions that the file has, or would have had if it was opened plainly."""
    try:
        return stat.S_IMODE(os.stat(target).st_mode)  # noqa: PTH116
    except OSError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


@contextlib.contextmanager
def _opening(path: str) -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise CannotAccess("write to", path, error) from error
