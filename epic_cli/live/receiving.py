"""A UDP socket whose datagrams have the times at which the kernel took them in."""

from __future__ import annotations

import socket
import struct
import sys
import time
from typing import Any, NamedTuple

from epic_cli.live.addresses import Resolved

#: Linux's numbers (asm-generic/socket.h), where Python has no names for them.
_LINUX = sys.platform == "linux"
_TIMESTAMPNS = getattr(socket, "SO_TIMESTAMPNS", 35 if _LINUX else None)
_RXQ_OVFL = getattr(socket, "SO_RXQ_OVFL", 40 if _LINUX else None)

_TIMESPEC = struct.Struct("@ll")
_COUNT = struct.Struct("@I")

_LARGEST = 65536
_ANCILLARY = 256

#: Bytes of the kernel's queue that are asked for.
_QUEUE = 1 << 22

#: Nanoseconds; a greater age is that of a clock that was set meanwhile.
_OLDEST = 10_000_000_000


class Arrived(NamedTuple):
    """A datagram, who sent it, and when it came in (seconds of the machine's clock)."""

    data: bytes
    sender: tuple[Any, ...]
    time: float


def machine_time() -> float:
    """Seconds of a clock that is never set."""
    return time.monotonic_ns() / 1e9


class ReceivingSocket:
    """A bound socket; ``dropped`` counts what its queue had no room for, where that is known.

    ``refused`` counts the answers that nobody listens where something was sent to. Raises
    ``OSError``.
    """

    def __init__(self, at: Resolved) -> None:
        self.dropped = 0
        self.refused = 0
        self.socket = socket.socket(at.family, socket.SOCK_DGRAM)
        try:
            self.socket.setblocking(False)
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _QUEUE)
            self.kernel_times = self._ask_for(_TIMESTAMPNS)
            self._ask_for(_RXQ_OVFL)
            self._attach(at)
        except BaseException:
            self.socket.close()
            raise

    def _attach(self, at: Resolved) -> None:
        self.socket.bind(at.place)

    def _ask_for(self, option: int | None) -> bool:
        """Asks the kernel for something that comes with each datagram."""
        if option is None or not hasattr(self.socket, "recvmsg"):
            return False
        try:
            self.socket.setsockopt(socket.SOL_SOCKET, option, 1)
        except OSError:
            return False
        return True

    @property
    def port(self) -> int:
        """The port that it has."""
        return int(self.socket.getsockname()[1])

    def read(self, most: int) -> list[Arrived]:
        """The datagrams that are there, in their order, no more than ``most``."""
        found: list[Arrived] = []
        while len(found) < most:
            try:
                found.append(self._one())
            except (BlockingIOError, InterruptedError):
                break
            except ConnectionError:
                self.refused += 1
        return found

    def _one(self) -> Arrived:
        if not hasattr(self.socket, "recvmsg"):
            data, sender = self.socket.recvfrom(_LARGEST)
            return Arrived(data, sender, machine_time())
        data, more, _, sender = self.socket.recvmsg(_LARGEST, _ANCILLARY)
        now, age = time.monotonic_ns(), 0
        for level, kind, value in more:
            if level != socket.SOL_SOCKET:
                continue
            if kind == _TIMESTAMPNS and len(value) >= _TIMESPEC.size:
                seconds, rest = _TIMESPEC.unpack_from(value)
                age = time.time_ns() - (seconds * 1_000_000_000 + rest)
            elif kind == _RXQ_OVFL and len(value) >= _COUNT.size:
                self.dropped = _COUNT.unpack_from(value)[0]
        return Arrived(data, sender, (now - (age if 0 <= age <= _OLDEST else 0)) / 1e9)

    def close(self) -> None:
        """Listens no more."""
        self.socket.close()
