"""A port, another implementation: a program that reads packets and prints rows, in a sandbox.

It may crash, hang, never read, never stop writing, or leave children behind; it is ended after the
time limit, and only a bounded part of its output is kept.
"""

from __future__ import annotations

import contextlib
import enum
import glob
import os
import re
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from epic_cli.recordings.children import start_program

#: Bytes kept of the program's standard error.
_SAID = 2000

_PIECE = 65536

#: Seconds to wait for output after the program's end: another process may hold the pipe.
_GRACE = 0.3


class Ending(enum.Enum):
    """Ways in which a run of a program ends."""

    DONE = enum.auto()
    FAILED = enum.auto()  # with a status other than 0, or by a signal
    TIMEOUT = enum.auto()
    TOO_MUCH = enum.auto()
    NOT_STARTED = enum.auto()


class PortRun(NamedTuple):
    """The result of a run: its output, the end of its standard error, and how it ended.

    A status below 0 is the number of a signal.
    """

    ending: Ending
    output: bytes = b""
    said: bytes = b""
    status: int = 0


class Port(NamedTuple):
    """A program under test: its command line, and its time limit in seconds."""

    command: tuple[str, ...]
    timeout: float = 10.0

    def find_code_command(self) -> str:
        """Return the ``epic code`` command that the port's source names; empty if there is none.

        The source is a file of the port's command line, or one of the same name beside it.
        """
        for word in self.command:
            path = Path(word)
            for file in [path, *sorted(path.parent.glob(f"{glob.escape(path.stem)}.*"))]:
                if not file.is_file():
                    continue
                with contextlib.suppress(OSError), file.open("rb") as stream:
                    top = stream.read(4000).decode("utf-8", "replace")
                    if found := re.search(r"Made by: (epic code [^\n]+)", top):
                        return found[1].strip()
        return ""

    def run(
        self,
        given: bytes,
        variables: Mapping[str, str],
        most: int,
        stopped: Callable[[], bool] = bool,
    ) -> PortRun:
        """Run the program on packets; keep at most ``most`` bytes of output.

        End it once ``stopped``.
        """
        try:
            process = _start_program(self.command, variables)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            return PortRun(Ending.NOT_STARTED, said=(reason or str(error)).encode())
        deadline = time.monotonic() + self.timeout
        return _PortProcess(process, given, most, deadline, stopped).run()


def _start_program(command: Sequence[str], variables: Mapping[str, str]) -> subprocess.Popen[bytes]:
    if sys.platform == "win32":
        raise OSError("this system cannot wait for a program's pipes: run epic in WSL")
    pipe = subprocess.PIPE
    return start_program(
        command,
        variables,
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
        bufsize=0,
        start_new_session=True,  # so that its children end with it
    )


class _PortProcess:
    """A running port whose three pipes are served together, so that no pipe blocks another."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        given: bytes,
        most: int,
        deadline: float,
        stopped: Callable[[], bool],
    ) -> None:
        self._process = process
        self._given = memoryview(given)
        self._most = most
        self._deadline = deadline
        self._stopped = stopped
        self._output = bytearray()
        self._said = bytearray()
        self._heard = 0.0

    def run(self) -> PortRun:
        process = self._process
        ending: Ending | None = None
        try:
            with selectors.DefaultSelector() as pipes:
                for stream, event in (
                    (process.stdin, selectors.EVENT_WRITE),
                    (process.stdout, selectors.EVENT_READ),
                    (process.stderr, selectors.EVENT_READ),
                ):
                    assert stream is not None
                    if sys.platform != "win32":
                        os.set_blocking(stream.fileno(), False)
                    pipes.register(stream, event)
                ending = self._serve_pipes(pipes)
            if ending is None:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(max(self._deadline - time.monotonic(), 0.001))
                ending = self._find_ending()
        finally:
            if ending not in (Ending.DONE, Ending.FAILED):
                self._kill_children()
                process.kill()
                process.wait()
            for pipe in (process.stdin, process.stdout, process.stderr):
                if pipe is not None:
                    with contextlib.suppress(OSError):
                        pipe.close()
        return PortRun(ending, bytes(self._output), bytes(self._said), process.returncode or 0)

    def _find_ending(self) -> Ending:
        status = self._process.returncode
        if status is None:
            return Ending.TIMEOUT
        return Ending.FAILED if status else Ending.DONE

    def _serve_pipes(self, pipes: selectors.BaseSelector) -> Ending | None:
        """Serve the pipes until the output ends.

        Return the reason to stop the run early, or None.
        """
        ended = 0.0
        while any(key.fileobj is not self._process.stdin for key in pipes.get_map().values()):
            now = time.monotonic()
            if now >= self._deadline or self._stopped():
                return Ending.TIMEOUT
            if self._process.poll() is not None and not pipes.select(0):
                ended = ended or now
                if now - max(ended, self._heard) > _GRACE:
                    self._kill_children()
                    return None
            for key, _ in pipes.select(min(self._deadline - now, 0.1)):
                if key.fileobj is self._process.stdin:
                    self._write_input(pipes)
                else:
                    self._read_output(pipes, key)
            if len(self._output) > self._most:
                return Ending.TOO_MUCH
        return None

    def _write_input(self, pipes: selectors.BaseSelector) -> None:
        stream = self._process.stdin
        assert stream is not None
        try:
            written = os.write(stream.fileno(), self._given[:_PIECE])
            self._given = self._given[written:]
        except BlockingIOError:
            return
        except OSError:  # it reads no more, which it may
            self._given = self._given[:0]
        if not self._given:
            pipes.unregister(stream)
            with contextlib.suppress(OSError):
                stream.close()

    def _read_output(self, pipes: selectors.BaseSelector, key: selectors.SelectorKey) -> None:
        try:
            piece = os.read(key.fd, _PIECE)
        except BlockingIOError:
            return
        except OSError:
            piece = b""
        self._heard = time.monotonic()
        if not piece:
            pipes.unregister(key.fileobj)
        elif key.fileobj is self._process.stdout:
            self._output += piece
        else:
            self._said += piece
            del self._said[:-_SAID]

    def _kill_children(self) -> None:
        """Kill the processes left in the program's session."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if sys.platform != "win32":
                os.killpg(self._process.pid, signal.SIGKILL)
