"""Datagrams and their addresses: ``HOST:PORT`` as text, and the form that sockets take."""

from __future__ import annotations

import socket
from typing import Any, NamedTuple

#: Only this machine is heard unless a host is named.
LOOPBACK = "127.0.0.1"

#: PlotJuggler's.
DEFAULT_PORT = 9870


#: Bytes of a datagram that most networks do not fragment, and of any datagram.
UNFRAGMENTED = 1400
LARGEST = 65536


class Address(NamedTuple):
    """A host, by name or number, and a port.

    Port 0 stands for any free port of an address to listen on, and for all ports of a sender.
    ``scheme`` is ``tcp`` or ``ws`` (WebSocket), or nothing for UDP.
    """

    host: str = LOOPBACK
    port: int = DEFAULT_PORT
    scheme: str = ""

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}" if self.scheme else f"{host}:{self.port}"


class Resolved(NamedTuple):
    """An address in the form that sockets take."""

    family: socket.AddressFamily
    place: tuple[Any, ...]


class ReceivedDatagram(NamedTuple):
    """A datagram, its sender, and its arrival (seconds of the machine's clock)."""

    data: bytes
    sender: tuple[Any, ...]
    time: float


def parse_address(text: str) -> Address:
    """Parse ``9870``, ``:9870``, ``game.example:9870`` or ``[::1]:9870``; raises ``ValueError``."""
    host, colon, port = text.strip().rpartition(":")
    bracketed = host.startswith("[") and host.endswith("]")
    plain = not any(character in host for character in ":[] \t/")
    number = int(port) if port.isascii() and port.isdigit() and len(port) <= 5 else -1
    if not (bracketed or plain) or not 0 <= number <= 65535 or (colon and host == "[]"):
        raise ValueError(
            f"{text!r} is not an address: write 9870, 192.168.0.7:9870, game.example:9870 or"
            " [::1]:9870"
        )
    return Address(host[1:-1] if bracketed else host or LOOPBACK, number)


def parse_endpoint(text: str) -> Address:
    """Parse an address, with ``tcp://``, ``ws://`` or ``udp://`` before it.

    Raises ``ValueError``.
    """
    scheme, mark, place = text.strip().rpartition("://")
    if not mark:
        return parse_address(text)
    if scheme == "wss":
        raise ValueError(
            f"{text!r} is not an address to listen on: let a proxy (nginx, Caddy) end TLS, and"
            " give the ws:// address that the proxy forwards to"
        )
    if scheme not in ("udp", "tcp", "ws"):
        raise ValueError(f"{text!r} is not an address to listen on: write udp://, tcp:// or ws://")
    address = parse_address(place.rstrip("/"))
    return address if scheme == "udp" else address._replace(scheme=scheme)


def parse_sender(text: str) -> Address:
    """Parse a sender as ``parse_address`` does.

    A host without a port stands for all of its ports.
    """
    try:
        return parse_address(text if ":" in text else f"{text}:0")
    except ValueError:
        raise ValueError(
            f"{text!r} is not a sender: write 192.168.0.7, game.example or 127.0.0.1:5000"
        ) from None


def resolve(address: Address) -> Resolved:
    """Return the first address of a host; raises ``OSError`` if there is none."""
    try:
        found = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_DGRAM)
    except UnicodeError as error:  # an invalid host name
        raise OSError(f"{address.host!r} is not a valid host name") from error
    family, _, _, _, place = found[0]
    return Resolved(family, place)
