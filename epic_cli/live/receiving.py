"""A UDP socket whose datagrams have the times at which the kernel took them in."""

from __future__ import annotations

import socket
import sys
import time

from epic_cli.live.addresses import Resolved
from epic_cli.live.kernel_batches import LARGEST, Arrived, KernelBatch

#: Bytes of the kernel's queue that are asked for: half a second of 20,000 small ones.
QUEUE = 1 << 22


def machine_time() -> float:
    """Seconds of a clock that is never set."""
    return time.monotonic_ns() / 1e9


class ReceivingSocket:
    """A bound socket, which is read without waiting. Raises ``OSError``."""

    def __init__(self, at: Resolved) -> None:
        self.socket = socket.socket(at.family, socket.SOCK_DGRAM)
        try:
            self.socket.setblocking(False)
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, QUEUE)
            self._many = _in_batches(self.socket)
            self.socket.bind(at.place)
        except BaseException:
            self.socket.close()
            raise

    @property
    def kernel_times(self) -> bool:
        """Whether arrivals are those at the kernel, and its drops are counted."""
        return self._many is not None

    @property
    def port(self) -> int:
        """The port that it has."""
        return int(self.socket.getsockname()[1])

    def read(self, most: int) -> list[Arrived]:
        """The datagrams that are there, in their order, no more than ``most``."""
        if self._many is not None:
            return self._many.read(most)
        found: list[Arrived] = []
        while len(found) < most:
            try:
                data, sender = self.socket.recvfrom(LARGEST)
            except (BlockingIOError, InterruptedError):
                break
            except ConnectionError:
                continue  # what came back of something that was never sent
            found.append(Arrived(data, sender, machine_time()))
        return found

    @property
    def dropped(self) -> int:
        """What the kernel's queue had no room for, as far as that is known."""
        return 0 if self._many is None else self._many.dropped

    @property
    def queue(self) -> int:
        """Bytes of the kernel's queue that were granted."""
        granted = self.socket.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF)
        return granted // 2 if sys.platform == "linux" else granted  # the rest is for its account

    def close(self) -> None:
        """Listens no more."""
        self.socket.close()


def _in_batches(source: socket.socket) -> KernelBatch | None:
    if sys.platform != "linux":
        return None
    try:
        return KernelBatch(source)
    except (AttributeError, OSError):
        return None
