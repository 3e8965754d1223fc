"""A client of the proxy, with a socket of its own to the server."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

from epic_cli.live.addresses import Address, Resolved
from epic_cli.live.proxy.flow import Flow
from epic_cli.live.receiving import ReceivingSocket


class UpstreamSocket(ReceivingSocket):
    """A socket that sends to one place, and takes in what comes from there."""

    def _attach(self, at: Resolved, interface: str | None) -> None:
        del interface
        self.socket.connect(at.place)

    def send(self, data: bytes) -> None:
        """Sends a datagram; raises ``OSError``."""
        try:
            self.socket.send(data)
        except ConnectionRefusedError:  # the answer to an earlier one; this one was not sent
            self.refused += 1
            self.socket.send(data)


@dataclass
class Client:
    """Somebody who has sent something: his number, his address, and his flows.

    ``used``: when the last datagram from him or for him came (seconds).
    """

    number: int
    address: Address
    server: UpstreamSocket
    up: Flow
    down: Flow
    used: float = 0.0


def allow_files(count: int) -> None:
    """Raises the number of files that this process may open, as far as it may."""
    try:
        import resource
    except ImportError:  # not everywhere is there such a limit
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = count if hard == resource.RLIM_INFINITY else min(count, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
