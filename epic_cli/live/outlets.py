"""Where packets are sent: a socket of UDP, or a connection of TCP or WebSocket."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from epic_cli.recordings.addresses import Address, resolve

if TYPE_CHECKING:
    from typing import Any


class Outlet(asyncio.DatagramProtocol):
    """A socket of UDP; ``refused`` counts replies from closed ports.

    Connections are those of TCP and of WebSocket. Where nothing can be sent any more, ``send`` and
    ``check`` raise ``OSError``.
    """

    refused = 0

    async def send(self, data: bytes) -> None:
        """Sends a datagram or message, or waits until a connection takes it."""
        self._transport.sendto(data)

    def check(self) -> None:
        """Looks at what came back."""
        if self._error is not None:
            raise self._error

    async def close(self) -> None:
        """Closes it, when all is sent."""
        self._transport.close()

    async def connect(self, to: Address) -> None:
        """Makes it ready."""
        self._error: OSError | None = None
        place = resolve(to)
        loop = asyncio.get_running_loop()
        self._transport, _ = await loop.create_datagram_endpoint(
            lambda: self, remote_addr=place.place[:2], family=place.family
        )

    def error_received(self, exc: Exception) -> None:
        """A port that nobody listens on does not end it: a game's receiver may start late."""
        if isinstance(exc, ConnectionRefusedError):
            self.refused += 1
        elif isinstance(exc, OSError):
            self._error = exc


@contextlib.contextmanager
def _plain() -> Iterator[None]:
    """Asyncio's words have the address in them, which is said anyway."""
    try:
        yield
    except OSError as error:
        if not error.errno:
            raise
        raise OSError(error.errno, os.strerror(error.errno)) from error


class _Tcp(Outlet):
    """Lines; what the other side says in the end is why it closed the connection."""

    async def connect(self, to: Address) -> None:
        with _plain():
            self._reader, self._writer = await asyncio.open_connection(to.host, to.port)

    async def send(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()
        self.check()

    def check(self) -> None:
        if self._reader.at_eof():
            raise ConnectionResetError("it closed the connection")

    async def close(self) -> None:
        with contextlib.suppress(OSError):
            self._writer.close()
            await self._writer.wait_closed()


class _WebSocket(Outlet):
    """Messages of text, without compression."""

    async def connect(self, to: Address) -> None:
        from websockets.asyncio.client import connect
        from websockets.exceptions import WebSocketException

        self._failure: type[Exception] = WebSocketException
        try:
            with _plain():
                self._socket: Any = await connect(str(to), compression=None)
        except WebSocketException as error:
            raise ConnectionError(f"it does not speak WebSocket: {error}") from error

    async def send(self, data: bytes) -> None:
        try:
            await self._socket.send(data.decode())
        except self._failure as error:
            raise ConnectionResetError(str(error)) from error

    def check(self) -> None:
        pass

    async def close(self) -> None:
        await self._socket.close()


def outlet_to(target: Address) -> Outlet:
    """What sends there, not connected yet; raises ``ValueError`` where a library is missing."""
    if target.scheme == "ws":
        try:
            import websockets  # noqa: F401 - what is missing shows now
        except ImportError:
            raise ValueError("ws:// needs a library: pip install 'epic-cli[websocket]'") from None
    return {"": Outlet, "tcp": _Tcp, "ws": _WebSocket}[target.scheme]()
