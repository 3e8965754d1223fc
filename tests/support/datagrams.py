"""Sockets on the loopback, as programs beside ``epic`` use them."""

import contextlib
import os
import re
import select
import signal
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from support.running import started

#: Seconds; nothing takes as long unless it hangs.
PATIENCE = 120.0


def free_port() -> int:
    """Return a port that stays free: below the range from which the system assigns ports."""
    for port in range(10_000 + os.getpid() * 16 % 20_000, 32_000):
        with contextlib.ExitStack() as trying, contextlib.suppress(OSError):
            for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM):
                trying.enter_context(socket.socket(socket.AF_INET, kind)).bind(("", port))
            if port not in _GIVEN:
                _GIVEN.add(port)
                return port
    raise AssertionError("there is no free port")


_GIVEN: set[int] = set()


def has_ipv6() -> bool:
    """Return whether the loopback has an IPv6 address, which is often disabled."""
    try:
        with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as trial:
            trial.bind(("::1", 0))
    except OSError:
        return False
    return True


class Receiver:
    """A game that listens on a port of its own."""

    def __init__(self, family: int = socket.AF_INET) -> None:
        self.socket = socket.socket(family, socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        self.socket.bind(("::1" if family == socket.AF_INET6 else "127.0.0.1", 0))
        self.socket.settimeout(PATIENCE)
        self.port = str(self.socket.getsockname()[1])

    def one(self) -> bytes:
        """Wait for the next datagram and return it."""
        return self.socket.recv(65536)

    def all(self) -> list[bytes]:
        """Return the datagrams that have arrived."""
        self.socket.setblocking(False)
        found = []
        with contextlib.suppress(BlockingIOError):
            while True:
                found.append(self.socket.recv(65536))
        return found


@contextlib.contextmanager
def receiver(family: int = socket.AF_INET) -> Iterator[Receiver]:
    """Yield a receiver, and close it afterwards."""
    made = Receiver(family)
    with made.socket:
        yield made


class Program:
    """A running ``epic`` whose output can be waited for."""

    def __init__(self, *args: str) -> None:
        self.process = started(*args)
        self.said = {"stdout": b"", "stderr": b""}

    def wait_for(self, words: bytes, stream: str = "stderr") -> bytes:
        """Read until the output has this text; return all output so far."""
        pipe = getattr(self.process, stream)
        until = time.monotonic() + PATIENCE
        while words not in self.said[stream]:
            ready, _, _ = select.select([pipe], [], [], max(until - time.monotonic(), 0))
            assert ready, f"nothing comes after {self.said!r}"
            piece = os.read(pipe.fileno(), 65536)
            assert piece, f"the end comes after {self.said!r}"
            self.said[stream] += piece
        return self.said[stream]

    def drain(self, stream: str) -> None:
        """Take what the program has written, so that it need not wait for a reader."""
        pipe = getattr(self.process, stream)
        while select.select([pipe], [], [], 0)[0]:
            piece = os.read(pipe.fileno(), 65536)
            if not piece:
                return
            self.said[stream] += piece

    @property
    def port(self) -> str:
        """Wait for the program's first line and return the port that it names."""
        found = re.search(rb":(\d+)( relays|\n)", self.wait_for(b"\n"))
        assert found
        return found[1].decode()

    @property
    def place(self) -> tuple[str, int]:
        """Return the port with this machine's address."""
        return ("127.0.0.1", int(self.port))

    def end(self, number: int = signal.SIGINT) -> tuple[int, bytes, bytes]:
        """Signal the program; return its status and all its output."""
        self.process.send_signal(number)
        stdout, stderr = self.process.communicate(timeout=PATIENCE)
        return (self.process.returncode, self.said["stdout"] + stdout, self.said["stderr"] + stderr)


@contextlib.contextmanager
def program(*args: str) -> Iterator[Program]:
    """Run ``epic`` with these arguments until the block ends."""
    made = Program(*args)
    try:
        yield made
    except BaseException:
        print(args, "ended with", made.process.poll(), "and said", made.said)
        made.process.kill()
        print(*(chunk.decode(errors="replace") for chunk in made.process.communicate()))
        raise
    finally:
        made.process.kill()
        made.process.wait()
        for pipe in (made.process.stdin, made.process.stdout, made.process.stderr):
            if pipe is not None:
                pipe.close()


def wait_until(holds: Callable[[], object]) -> None:
    """Wait until a condition holds."""
    until = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.01)


def resident(process: int) -> int:
    """Return a process's resident memory in bytes; 0 if unknown."""
    try:
        pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")
