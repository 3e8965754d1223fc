"""What a socket, or a capture, gives."""

from __future__ import annotations

from typing import Any, NamedTuple


class Arrived(NamedTuple):
    """A datagram, who sent it, and when it came in (seconds of the machine's clock)."""

    data: bytes
    sender: tuple[Any, ...]
    time: float
