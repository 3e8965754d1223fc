"""A UDP socket whose datagrams have the times at which the kernel took them in."""

from __future__ import annotations

import socket
import struct
import sys
import time
from ipaddress import ip_address

from epic_cli.live.addresses import Resolved
from epic_cli.live.arrived import Arrived
from epic_cli.live.kernel_batches import LARGEST, KernelBatch

#: Bytes of the kernel's queue that are asked for: half a second of 20,000 small ones.
QUEUE = 1 << 22


def machine_time() -> float:
    """Seconds of a clock that is never set."""
    return time.monotonic_ns() / 1e9


class ReceivingSocket:
    """A bound socket, which is read without waiting; of a multicast group it becomes a member.

    ``interface`` is where it joins the group: an address, for IPv6 a name. Without it the system
    chooses one. ``queue`` is how many bytes were granted to wait in, and ``refused`` counts the
    answers that nobody listens where something was sent to. Raises ``OSError``.
    """

    def __init__(self, at: Resolved, interface: str | None = None) -> None:
        self.refused = 0
        self.socket = socket.socket(at.family, socket.SOCK_DGRAM)
        try:
            self.socket.setblocking(False)
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, QUEUE)
            granted = self.socket.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF)
            # on Linux the other half is for its account
            self.queue = granted // 2 if sys.platform == "linux" else granted
            self._many = _in_batches(self.socket)
            self._attach(at, interface)
        except BaseException:
            self.socket.close()
            raise

    def _attach(self, at: Resolved, interface: str | None) -> None:
        if is_group(at):
            _join(self.socket, at, interface)
        else:
            self.socket.bind(at.place)

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
        found: list[Arrived] = []
        while len(found) < most:
            try:
                if self._many is None:
                    data, sender = self.socket.recvfrom(LARGEST)
                    found.append(Arrived(data, sender, machine_time()))
                elif not self._many.read(most, found):
                    break
            except (BlockingIOError, InterruptedError):
                break
            except ConnectionError:
                self.refused += 1
        return found

    @property
    def dropped(self) -> int:
        """What the kernel's queue had no room for, as far as that is known."""
        return 0 if self._many is None else self._many.dropped

    def close(self) -> None:
        """Listens no more."""
        self.socket.close()


def is_group(at: Resolved) -> bool:
    """Whether it is the address of a multicast group."""
    return ip_address(at.place[0].partition("%")[0]).is_multicast


def _join(member: socket.socket, at: Resolved, interface: str | None) -> None:
    """Binds it and makes it a member, of which there may be others."""
    host, port = at.place[:2]
    group = socket.inet_pton(at.family, host.partition("%")[0])
    member.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if at.family == socket.AF_INET:
        place: tuple[object, ...] = (host, port)
        # four zeros: the system chooses
        own = socket.inet_aton(interface) if interface else bytes(4)
        joining = (socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, group + own)
    else:
        index = socket.if_nametoindex(interface) if interface else at.place[3]
        place = (host, port, 0, index)
        joining = (socket.IPPROTO_IPV6, socket.IPV6_JOIN_GROUP, group + struct.pack("@I", index))
    # Windows binds to no group
    member.bind(("", port) if sys.platform == "win32" else place)
    member.setsockopt(*joining)


def _in_batches(source: socket.socket) -> KernelBatch | None:
    if sys.platform != "linux":
        return None
    try:
        return KernelBatch(source)
    except (AttributeError, OSError):
        return None
