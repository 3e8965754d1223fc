"""Where rows go: stdout, or a file that is written whole or not at all."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import BinaryIO

from epic_cli.shell.errors import CannotAccess, shown


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
def open_sink(
    path: str | None, backup: str | None = None, replaces: bool = False
) -> Iterator[Sink]:
    """A sink for a file or, without a path (or with ``-``), for stdout.

    A file is written as ``open_whole`` does.
    """
    if path is None or path == "-":
        sink = Sink(_stdout(), "stdout")
        yield sink
        sink.flush()
    else:
        yield from _file(path, backup, replaces)


def write_text(text: str) -> None:
    """Writes text other than rows to stdout, where it steers no terminal."""
    with open_sink(None) as sink:
        sink.write(shown(text).encode(sys.stdout.encoding or "utf-8", "replace"))


def _stdout() -> BinaryIO:
    if sys.stdout is None:
        raise CannotAccess("write to", "stdout", OSError("it is closed"))
    return sys.stdout.buffer


def _file(path: str, backup: str | None, replaces: bool) -> Iterator[Sink]:
    from epic_cli.recordings.output_files import open_whole  # stdout does without it

    of_block: BaseException | None = None
    try:
        with open_whole(path, backup, replaces) as stream:
            sink = Sink(stream, path)
            try:
                yield sink
                sink.flush()
            except BaseException as error:
                of_block = error
                raise
    except OSError as error:
        if error is of_block or isinstance(error, BrokenPipeError):
            raise
        raise CannotAccess("write to", path, error) from error
