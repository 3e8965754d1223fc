"""A running proxy, with a client and a server beside it."""

from __future__ import annotations

import contextlib
import csv
import socket
import time
from collections.abc import Iterator
from pathlib import Path

from support.datagrams import PATIENCE, Program, program, receiver


class Game:
    """A proxy between a client and a server, both played by the test."""

    def __init__(self, proxy: Program, server: socket.socket) -> None:
        self.proxy = proxy
        self.server = server
        self.place = proxy.place
        self.client = self.another_client()

    def ask(self, command: str) -> str:
        """Return the answer to a command; the proxy is controlled by its standard input."""
        return ask(self.proxy, command)

    def another_client(self) -> socket.socket:
        """Return another client's socket, which sends to the proxy."""
        made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        made.settimeout(PATIENCE)
        made.connect(self.place)
        return made

    def arrived(self, count: int, quiet: float = 0.25) -> list[bytes]:
        """Return the datagrams that the server receives.

        At least this many, and then all until nothing comes any more.
        """
        found = [self.server.recv(65536) for _ in range(count)]
        with contextlib.suppress(TimeoutError):
            self.server.settimeout(quiet)
            while True:
                found.append(self.server.recv(65536))
        self.server.settimeout(PATIENCE)
        return found


def ask(proxy: Program, command: str) -> str:
    """Return the answer to a command of a proxy that is controlled by its standard input."""
    assert proxy.process.stdin is not None
    proxy.said["stdout"] = b""
    proxy.process.stdin.write(command.encode() + b"\n")
    proxy.process.stdin.flush()
    return proxy.wait_for(b"\n", "stdout").decode().rstrip("\n")


@contextlib.contextmanager
def game(*options: str | Path, listen: str = "0") -> Iterator[Game]:
    """Yield a proxy with these options between a server and a client."""
    with receiver() as server, program("proxy", *map(str, options), listen, server.port) as proxy:
        made = Game(proxy, server.socket)
        with made.client:
            yield made


def rows(path: Path) -> list[dict[str, str]]:
    """Return a proxy's recording."""
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def send_slowly(client: socket.socket, count: int, pause: float = 0.001) -> None:
    """Send this many datagrams that contain their numbers."""
    for number in range(count):
        client.send(b"%d" % number)
        time.sleep(pause)
