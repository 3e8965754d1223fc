"""Keep a run from overwriting its own inputs, and from writing two outputs to one file.

    with guarding() as files:
        files.writes("page.html", "--html")
        files.reads("a.txt")            # Overwrites: a.txt is page.html by another name

A file is known by its device and inode, whatever its name: by links, by hard links, and as standard
input or output. ``check_output`` checks each file before it is written, including files that no
option names.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import stat
import sys
import zlib
from collections.abc import Callable, Iterator
from types import FrameType
from typing import BinaryIO

from epic_cli.engine import trust
from epic_cli.engine.failures import Portable

#: The key under which a command line keeps the ``Files`` of its run.
KEY = "epic_cli.files"

#: A regular file, or the place where one will be: device, inode, and the name in a folder.
Identity = tuple[int, int, str]


#: What is not written where an option is given: ``-o /dev/stdout > rows.txt`` is one output.
_INSTEAD = {"--output": "standard output"}


class Overwrites(ValueError):
    """An error: the file of an output is read, too, or is that of another output."""


class CannotAccess(Portable, Exception):
    """A file or stream that cannot be read or written; the ``error`` says why."""

    def __init__(self, action: str, name: str, error: OSError) -> None:
        super().__init__(f"cannot {action} {name}: {error.strerror or error}")
        self.name = name
        self.error = error


@contextlib.contextmanager
def raise_cannot_access(action: str, name: object, file_action: str = "") -> Iterator[None]:
    """Raise ``CannotAccess`` for an ``OSError``, except for that of a closed pipe.

    ``file_action`` says what cannot be done to the file that an error names.
    """
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        if file_action and error.filename:
            raise CannotAccess(file_action, error.filename, error) from error
        raise CannotAccess(action, str(name), error) from error


def identify_file(file: str | int) -> Identity | None:
    """Return the device and inode of a path or descriptor; None if it cannot be overwritten."""
    try:
        found = os.stat(file)  # noqa: PTH116
    except FileNotFoundError:
        return _find_future_path(str(file))
    except (OSError, ValueError):
        return None
    return (found.st_dev, found.st_ino, "") if stat.S_ISREG(found.st_mode) else None


def _find_future_path(path: str) -> Identity | None:
    """Return the path that a file will have once it is created."""
    folder, name = os.path.split(os.path.realpath(path))
    try:
        found = os.stat(folder)  # noqa: PTH116
    except OSError:
        return None
    return found.st_dev, found.st_ino, os.path.normcase(name)


class Files:
    """The files of a run, each registered before it is opened.

    The inputs of the ``surrounding`` run (a session that runs this command) are inputs of this run,
    too.
    """

    def __init__(self, surrounding: Files | None = None) -> None:
        stream = {number: identify_file(number) for number in range(3)}
        self._read: dict[Identity, str] = {} if surrounding is None else dict(surrounding._read)
        self._read |= {row: "<stdin>" for row in (stream[0],) if row}
        self._written = {
            one: name
            for number, name in ((2, "standard error"), (1, "standard output"))
            if (one := stream[number])
        }

    def register_input(self, path: str) -> None:
        """Register an input; raise ``Overwrites`` where an output is the same file."""
        one = identify_file(path)
        if path == "-" or one is None or one[2]:
            return  # standard input is known, and what is not there cannot be lost
        if one in self._written:
            raise Overwrites(
                f"{self._written[one]} would overwrite {path}, which is read: choose another file"
            )
        self._read.setdefault(one, path)

    def register_output(self, path: str, option: str) -> None:
        """Register a file that an option writes.

        Raise ``Overwrites`` if another option uses the file.
        """
        one = identify_file(path)
        if path == "-" or one is None:
            return
        if one in self._read:
            raise Overwrites(
                f"{option} would overwrite {self._read[one]}, which is read: choose another file"
            )
        # by its place, too: an output that is not there yet has no inode to be known by
        for known in filter(None, (one, _find_future_path(path))):
            other = self._written.setdefault(known, option)
            if other not in (option, _INSTEAD.get(option)):
                raise Overwrites(
                    f"{other} and {option} would both write {path}: choose another file"
                )

    def has_input(self, path: str) -> bool:
        """Return True if the run reads this file."""
        return identify_file(path) in self._read


_runs: list[Files] = []


@contextlib.contextmanager
def guard_files() -> Iterator[Files]:
    """Return the files of a run; outputs are checked against them while the block runs."""
    _runs.append(Files(_runs[-1] if _runs else None))
    try:
        yield _runs[-1]
    finally:
        _runs.pop()


def check_output(path: str, replaces: bool = False) -> None:
    """Raise ``OSError`` for a file that may not be written.

    These are: a file that the current run reads (unless it ``replaces`` it), a read-only one, and
    one that an untrusted file may not ask for (``trust``).
    """
    trust.check_output(path)
    if not replaces and _runs and _runs[-1].has_input(path):
        raise FileExistsError(errno.EEXIST, "this run reads it", path)
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116
    except OSError:
        return  # it will be made
    # a folder that can be written lets any file in it be replaced: its own bits have to say no
    if stat.S_ISREG(mode) and not (mode & _ANYBODY_WRITES and os.access(path, os.W_OK)):
        raise PermissionError(errno.EACCES, "it is read-only", path)


_ANYBODY_WRITES = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH


def claim_output(path: str, name: str) -> None:
    """Register an output that no option names, such as a numbered file of ``name``.

    Raise ``FileExistsError`` where the current run reads the file or writes it elsewhere.
    """
    if _runs:
        try:
            _runs[-1].register_output(path, name)
        except Overwrites as error:
            raise FileExistsError(errno.EEXIST, str(error), path) from error


def register_inputs(*paths: str | None) -> None:
    """Register inputs of the current run, if there is one; raise ``Overwrites``."""
    for path in paths if _runs else ():
        if path is not None:
            _runs[-1].register_input(path)


if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

#: By name, since one of them is not everywhere.
_ENDINGS = [
    getattr(signal, name) for name in ("SIGTERM", "SIGHUP", "SIGQUIT") if hasattr(signal, name)
]


#: What the name of a file ends with that is not whole yet.
_PART = ".part"

_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)


@contextlib.contextmanager
def open_whole(path: str, backup: str | None = None, replaces: bool = False) -> Iterator[BinaryIO]:
    """Open a file that appears under its name only when the block ends without an error.

    Until then the old file stays, also after an error or a signal; with a ``backup`` the old file
    then gets that name, which must be free. The remains of a killed run are removed. A device or a
    named pipe is written directly. Raises ``OSError``, also as ``check_output``.
    """
    if _is_special_file(path):
        trust.check_output(path)
        with open(path, "wb") as special:  # noqa: PTH123
            yield special
        return
    target = os.path.realpath(path)
    check_output(target, replaces or backup is not None)
    begun: list[str] = []

    def remove() -> None:
        for word in begun:
            with contextlib.suppress(OSError):
                os.unlink(word)  # noqa: PTH108

    stream: BinaryIO | None = None
    # from before there is a file, so that a signal finds none without an owner
    with clean_up_on_signal(remove):
        try:
            with defer_interrupt():  # what was opened can be closed
                stream, temporary = _open_temporary(target, begun)
            yield stream
            stream.flush()
            with contextlib.suppress(FileNotFoundError):
                os.chmod(temporary, stat.S_IMODE(os.stat(target).st_mode))  # noqa: PTH101, PTH116
            if sys.platform == "win32":  # where what is open cannot be moved
                stream.close()
            if backup is not None:
                _keep_backup(target, backup)
            os.replace(temporary, target)  # noqa: PTH105
            stream.close()
        except BaseException:
            if stream is not None:
                with contextlib.suppress(OSError):  # what is wrong is known
                    stream.close()
            remove()
            raise


def write_whole(path: str, data: bytes, replaces: bool = False) -> None:
    """Write a file whole or not at all, as ``open_whole``; raises ``OSError``."""
    with open_whole(path, replaces=replaces) as stream:
        stream.write(data)


def _open_temporary(target: str, begun: list[str]) -> tuple[BinaryIO, str]:
    """Open a locked file beside the target, and return it with its path.

    Its path is in ``begun`` before the file exists. Files that a killed run left are removed.
    """
    folder, name = os.path.split(target)
    start = f".epic-{zlib.crc32(os.fsencode(name)):08x}-"
    with contextlib.suppress(OSError):  # a folder that cannot be listed
        for word in os.listdir(folder):  # noqa: PTH208
            if word.startswith(start) and word.endswith(_PART):
                _remove_abandoned_file(os.path.join(folder, word))  # noqa: PTH118
    # the permissions of a new file; those of an old one, which may be no one else's, come last
    mode = 0o600 if os.path.exists(target) else 0o666  # noqa: PTH110
    while True:
        temporary = os.path.join(folder, f"{start}{os.urandom(8).hex()}{_PART}")  # noqa: PTH118
        begun.append(temporary)
        stream = os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb")
        # another run may have taken it for abandoned before it was locked
        if lock(stream.fileno()) is not False and os.fstat(stream.fileno()).st_nlink:
            return stream, temporary
        stream.close()


def _remove_abandoned_file(part: str) -> None:
    with (
        contextlib.suppress(OSError),
        os.fdopen(os.open(part, os.O_WRONLY | _NO_FOLLOW), "wb") as held,
    ):
        if lock(held.fileno()):
            if sys.platform == "win32":  # where what is open cannot be removed
                held.close()
            os.unlink(part)  # noqa: PTH108


def lock(descriptor: int) -> bool | None:
    """Return True if the file is locked for this process until it is closed; None without locks."""
    try:
        if sys.platform == "win32":
            place = os.lseek(descriptor, 0, os.SEEK_CUR)
            os.lseek(descriptor, 1 << 40, os.SEEK_SET)  # a byte that no one reads or writes
            try:
                msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
            finally:
                os.lseek(descriptor, place, os.SEEK_SET)
        else:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:
        return None
    return True


def is_kept(target: str, backup: str) -> bool:
    """Return True if the backup is the file itself, as after a run that was killed.

    A run was killed before it replaced the file.
    """
    try:
        return os.path.samefile(target, backup)  # noqa: PTH121
    except OSError:
        return False


def _keep_backup(target: str, backup: str) -> None:
    """Keep the old file under a second name; raises ``OSError`` if another file has that name."""
    try:
        os.link(target, backup)
    except FileExistsError:
        if not is_kept(target, backup):
            raise
    except OSError:  # a file system without links
        import shutil

        with open(target, "rb") as old, open(backup, "xb") as kept:  # noqa: PTH123
            shutil.copyfileobj(old, kept)
        shutil.copystat(target, backup)


def _is_special_file(path: str) -> bool:
    try:
        return not stat.S_ISREG(os.stat(path).st_mode)  # noqa: PTH116
    except OSError:
        return False


@contextlib.contextmanager
def defer_interrupt() -> Iterator[None]:
    """Defer an interrupt to the end of the block, so that the block is done whole or not at all."""
    held: list[int] = []
    try:
        before = signal.signal(signal.SIGINT, lambda number, _: held.append(number))
    except ValueError:  # only the main thread gets signals
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if held:
            signal.raise_signal(signal.SIGINT)


@contextlib.contextmanager
def clean_up_on_signal(clean_up: Callable[[], None]) -> Iterator[None]:
    """Call ``clean_up`` first if a signal ends the process within the block.

    Blocks may be nested: the innermost cleans up first, and the process then ends by the signal
    itself, as the sender expects. A signal that is ignored (``nohup``) stays ignored.
    """
    before: dict[int, Callable[[int, FrameType | None], object] | int] = {}

    def end(number: int, frame: FrameType | None) -> None:
        clean_up()
        outer = before[number]
        if callable(outer):
            outer(number, frame)
            return
        signal.signal(number, signal.SIG_DFL)
        signal.raise_signal(number)

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
