"""Files that this program writes: each appears whole or not at all, whatever ends the program.

All output to a named file goes through ``open_whole``, but for what grows while others read it
(``live.whole_files``, journals).
"""

from __future__ import annotations

import contextlib
import os
import signal
import stat
from collections.abc import Callable, Iterator
from types import FrameType
from typing import BinaryIO

#: By name, since one of them is not everywhere.
_ENDINGS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]


@contextlib.contextmanager
def open_whole(path: str) -> Iterator[BinaryIO]:
    """A file to write to, which appears under its name when the block ends without an error.

    Until then the old file is there, and stays there after an error or a signal. A device or a
    named pipe is written as it is. Raises ``OSError``.
    """
    if _is_special(path):
        with open(path, "wb") as stream:  # noqa: PTH123
            yield stream
        return
    target = os.path.realpath(path)
    name = f".epic-{os.urandom(8).hex()}.part"
    temporary = os.path.join(os.path.dirname(target), name)  # noqa: PTH118, PTH120

    def remove() -> None:
        with contextlib.suppress(OSError):
            os.unlink(temporary)  # noqa: PTH108

    with cleaning_up(remove):
        try:
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            stream = os.fdopen(descriptor, "wb")
            try:
                yield stream
            except BaseException:
                with contextlib.suppress(OSError):  # what is wrong is known
                    stream.close()
                raise
            stream.close()
            os.chmod(temporary, _mode(target))  # noqa: PTH101
            os.replace(temporary, target)  # noqa: PTH105
        except BaseException:
            remove()
            raise


def write_whole(path: str, data: bytes) -> None:
    """Writes a file whole or not at all; raises ``OSError``."""
    with open_whole(path) as stream:
        stream.write(data)


def _is_special(path: str) -> bool:
    try:
        return not stat.S_ISREG(os.stat(path).st_mode)  # noqa: PTH116
    except OSError:
        return False


def _mode(target: str) -> int:
    """The permissions that the file has, or would have had if it was opened plainly."""
    try:
        return stat.S_IMODE(os.stat(target).st_mode)  # noqa: PTH116
    except OSError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


@contextlib.contextmanager
def cleaning_up(clean_up: Callable[[], None]) -> Iterator[None]:
    """Within the block, a signal that ends the process calls ``clean_up`` first.

    Blocks may stand in one another: the innermost cleans up first, and the process then ends by
    the signal itself, as whoever sent it expects. A signal that is ignored (``nohup``) stays so.
    """
    before: dict[int, Callable[[int, FrameType | None], object] | int] = {}

    def end(number: int, frame: FrameType | None) -> None:
        clean_up()
        outer = before[number]
        if callable(outer):
            outer(number, frame)
            return
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    with contextlib.suppress(ValueError):  # only the main thread gets signals
        for number in _ENDINGS:
            handler = signal.getsignal(number)
            if handler is not None and handler != signal.SIG_IGN:
                before[number] = handler
                signal.signal(number, end)
    try:
        yield
    finally:
        for number, handler in before.items():
            if signal.getsignal(number) is end:
                signal.signal(number, handler)
