"""A process that has imported ``epic`` and is forked for each command, which saves the start.

Here is the process that asks: it sends the words, the folder, the environment and three open files,
and is told how the command ended. ``support/forked.py`` is the process that is asked.
"""

from __future__ import annotations

import atexit
import os
import pickle
import socket
import struct
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

#: How long an order is; how a process has ended.
NUMBER = struct.Struct("=I")


class Order(NamedTuple):
    """A command line, its folder, and its environment."""

    words: tuple[str, ...]
    folder: str
    environment: dict[str, str]


class Forks:
    """A maker of processes, which ends with its owner."""

    def __init__(self, options: Sequence[str], environment: dict[str, str], *loaded: str) -> None:
        self._to_it, its = socket.socketpair()
        command = [sys.executable, *options, "-m", "support.forked", str(its.fileno()), *loaded]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            cwd=Path(__file__).parent.parent,
            pass_fds=[its.fileno()],
        )
        its.close()
        self._pool = ThreadPoolExecutor(2)
        atexit.register(self._end)

    def run(self, order: Order, given: bytes) -> subprocess.CompletedProcess[bytes]:
        """Run a command to its end."""
        stdin, to_it = os.pipe()
        (from_it, stdout), (said, stderr) = os.pipe(), os.pipe()
        content = pickle.dumps(order)
        socket.send_fds(self._to_it, [NUMBER.pack(len(content))], [stdin, stdout, stderr])
        self._to_it.sendall(content)
        for number in (stdin, stdout, stderr):
            os.close(number)
        heard = [self._pool.submit(_read, number) for number in (from_it, said)]
        with suppress(BrokenPipeError), os.fdopen(to_it, "wb", buffering=0) as pipe:
            left = memoryview(given)
            while left:
                left = left[pipe.write(left) :]
        answers = [future.result() for future in heard]
        (status,) = NUMBER.unpack(self._to_it.recv(NUMBER.size, socket.MSG_WAITALL))
        ended = os.waitstatus_to_exitcode(status)
        return subprocess.CompletedProcess(order.words, ended, *answers)

    def _end(self) -> None:
        self._to_it.close()
        self._process.communicate()


def _read(descriptor: int) -> bytes:
    with os.fdopen(descriptor, "rb") as pipe:
        return pipe.read()
