"""Circles: a proxy whose datagrams come back to it, by itself or through other proxies.

Nothing in a foreign datagram can say that it has been here before. An own one can: where new
clients begin with the same bytes, as they do in a circle (and where many players join), a probe is
sent to the target. Only in a circle does it arrive at the proxy itself.
"""

from __future__ import annotations

import contextlib
import os
import socket
from collections import deque
from ipaddress import IPv4Address, IPv6Address, ip_address

from epic_cli.recordings.addresses import Resolved

#: So many new clients that begin as others did are followed by a probe; seconds between probes.
_ALIKE = 8
_PAUSE = 0.5

#: New clients that a next one is compared with.
_REMEMBERED = 16


class Circle(ValueError):
    """Datagrams for the target arrive at the proxy again."""


def reaches_itself(listening: socket.socket, target: Resolved) -> bool:
    """Whether the target is where the socket listens, under any address of this machine."""
    with socket.socket(target.family, socket.SOCK_DGRAM) as trial:
        try:
            trial.connect(target.place)  # 0.0.0.0 and :: become an address
        except OSError:
            return False
        host, port = trial.getpeername()[:2]
    at, own = listening.getsockname()[:2]
    there, here = _number(host), _number(at)
    if port != own or there == here:
        return bool(port == own)
    if not here.is_unspecified:
        return False
    if here.version != there.version and not (
        here.version == 6 and not listening.getsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY)
    ):
        return False
    with socket.socket(target.family, socket.SOCK_DGRAM) as trial:
        try:
            trial.bind((target.place[0], 0, *target.place[2:]))
        except OSError:
            return False
    return True


def _number(host: str) -> IPv4Address | IPv6Address:
    number = ip_address(host.partition("%")[0])
    return getattr(number, "ipv4_mapped", None) or number


class CircleTest:
    """Looks at the first datagram of each new client."""

    def __init__(self, target: Resolved) -> None:
        self._target = target
        self._firsts: deque[int] = deque(maxlen=_REMEMBERED)
        self._alike = 0
        self._probed = -_PAUSE
        self._probe = b""
        self._socket: socket.socket | None = None

    def look(self, data: bytes, now: float) -> None:
        """Raises ``Circle`` if it is a probe that has come back; may send one."""
        if self._probe and data == self._probe:
            raise Circle("the target passes datagrams back to this proxy: they would loop")
        mark = hash(data)
        self._alike = self._alike + 1 if mark in self._firsts else 0
        self._firsts.append(mark)
        if self._alike >= _ALIKE and now - self._probed >= _PAUSE:
            self._alike, self._probed = 0, now
            self._send()

    def _send(self) -> None:
        self._probe = self._probe or os.urandom(16)
        with contextlib.suppress(OSError):
            if self._socket is None:
                self._socket = socket.socket(self._target.family, socket.SOCK_DGRAM)
                self._socket.setblocking(False)
            self._socket.sendto(self._probe, self._target.place)

    def close(self) -> None:
        """Closes the socket of probes."""
        if self._socket is not None:
            self._socket.close()
