"""Packets over connections: lines or length-prefixed messages of TCP, messages of WebSocket.

A message is what a datagram is; it arrives when its last bytes are read. What is kept of a
connection is bounded, and what it cannot be understood by ends it.
"""

from __future__ import annotations

import contextlib
import selectors
import socket
import sys
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from epic_cli.live.receiving import Reception, machine_time
from epic_cli.live.splitters import (
    AT_ONCE,
    PREFIXES,
    Lines,
    Prefixed,
    Splitter,
    Unacceptable,
    WebSocketMessages,
)
from epic_cli.recordings.addresses import Address, ReceivedDatagram, Resolved, resolve
from epic_cli.recordings.datagrams.counts import Refused

if TYPE_CHECKING:
    from epic_cli.recordings.datagrams.ingest import IngestSpec

_MOST_CONNECTIONS = 256


class _Connection(NamedTuple):
    socket: socket.socket
    sender: tuple[Any, ...]
    splitter: Splitter


class StreamSocket(Reception):
    """Listens for connections, and takes messages from all of them; ``OSError`` where it cannot.

    A connection is read no faster than its messages are taken.
    """

    def __init__(self, at: Resolved, make_splitter: Callable[[], Splitter]) -> None:
        super().__init__()
        self._make_splitter = make_splitter
        self._connections: set[_Connection] = set()
        self._ready: deque[_Connection | None] = deque()
        self._messages: deque[tuple[bytes, bytes, tuple[Any, ...], float]] = deque()
        self.socket = socket.create_server(at.place, family=at.family, backlog=128)
        self.socket.setblocking(False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self.socket, selectors.EVENT_READ)

    def read(self, most: int) -> list[ReceivedDatagram]:
        """The messages that have come in, in the order in which they were read."""
        if not self._messages and not self._ready and self.socket.fileno() >= 0:
            self._ready.extend(key.data for key, _ in self._selector.select(0))
        while self._ready and len(self._messages) < most:
            connection = self._ready.popleft()
            if connection is None:
                self._accept()
            elif connection in self._connections:
                self._receive(connection)
        found: list[ReceivedDatagram] = []
        while self._messages and len(found) < most:
            head, message, sender, time = self._messages.popleft()
            found.append(ReceivedDatagram(head + message, sender, time))
        return found

    def _accept(self) -> None:
        for _ in range(64):
            try:
                accepted, sender = self.socket.accept()
            except ConnectionError:
                continue
            except (BlockingIOError, InterruptedError):
                return
            except OSError:  # no more files: until one is closed
                self._selector.unregister(self.socket)
                return
            accepted.setblocking(False)
            if len(self._connections) >= _MOST_CONNECTIONS:
                self._count(Unacceptable(Refused.NO_ROOM, f"{_MOST_CONNECTIONS} are open"))
                accepted.close()
                continue
            connection = _Connection(accepted, sender, self._make_splitter())
            self._connections.add(connection)
            self._selector.register(accepted, selectors.EVENT_READ, connection)

    def _receive(self, connection: _Connection) -> None:
        splitter = connection.splitter
        try:
            data = connection.socket.recv(AT_ONCE)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            data = b""
        time = machine_time()
        try:
            if data:
                splitter.feed(data)
            else:
                splitter.end()
        except Unacceptable as error:
            self._count(error)
            splitter.answer = splitter.answer or f"epic: {error}\n".encode()
            data = b""
        found, splitter.found = splitter.found, []
        self._messages.extend((splitter.head, one, connection.sender, time) for one in found)
        answer, splitter.answer = splitter.answer, b""
        with contextlib.suppress(OSError):
            # one who does not read has no answer: he asked for more than the kernel keeps
            if answer and connection.socket.send(answer) < len(answer):
                data = b""
        if not data or splitter.ended:
            self._drop(connection)

    def _count(self, error: Unacceptable) -> None:
        self.closed[error.reason] += 1
        self.example = self.example or str(error)

    def _drop(self, connection: _Connection) -> None:
        self._connections.discard(connection)
        self._selector.unregister(connection.socket)
        with contextlib.suppress(OSError):
            connection.socket.shutdown(socket.SHUT_WR)
        connection.socket.close()
        if self.socket.fileno() >= 0 and self.socket not in self._selector.get_map():
            self._selector.register(self.socket, selectors.EVENT_READ)

    async def readable(self, seconds: float | None = None) -> None:
        """Waits for bytes or clients, for ``close``, or for so many seconds at most."""
        if not self._messages and not self._ready:
            if sys.platform == "win32":  # whose selectors have no descriptor
                seconds = min(seconds or 0.005, 0.005)
            await super().readable(seconds)

    def _waitable(self) -> int:
        of: Any = self.socket if sys.platform == "win32" else self._selector
        return int(of.fileno())

    def close(self) -> None:
        """Closes the socket and all connections."""
        if self.socket.fileno() < 0:
            return
        self._stop_waiting()
        self.socket.close()
        for one in list(self._connections):
            self._drop(one)
        self._selector.close()


def listening(
    address: Address, ingest: IngestSpec | None, prefix: str, origins: Sequence[str]
) -> StreamSocket:
    """Listens on an address of TCP or WebSocket; raises ``OSError`` and ``ValueError``."""
    binary = ingest is not None and ingest.records is not None
    make: Callable[[], Splitter]
    if address.scheme == "ws":
        try:
            import websockets.server  # noqa: F401 - what is missing shows now
        except ImportError:
            raise ValueError("ws:// needs a library: pip install 'epic-cli[websocket]'") from None
        make = partial(WebSocketMessages, binary, origins)
    elif binary:
        if prefix not in PREFIXES:
            raise ValueError(f"prefix must be {', '.join(PREFIXES)}, not {prefix!r}")
        make = partial(Prefixed, prefix)
    else:
        layout = None if ingest is None else ingest.layout
        numbered = layout is not None and layout.is_numbered
        make = partial(Lines, None if ingest is None else ingest.packet_format, numbered)
    return StreamSocket(resolve(address), make)
