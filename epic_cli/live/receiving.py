"""A UDP socket whose datagrams have kernel timestamps."""

from __future__ import annotations

import asyncio
import socket
import struct
import sys
import time
from ipaddress import ip_address

from epic_cli.live.addresses import LARGEST, ReceivedDatagram, Resolved
from epic_cli.live.event_loop import set_or_late
from epic_cli.live.kernel_batches import KernelBatch

#: Requested bytes of the kernel's queue: half a second of 20,000 small ones.
QUEUE = 1 << 22


def machine_time() -> float:
    """Seconds of a monotonic clock: Python's finest, which on Linux and macOS is its only one."""
    return time.perf_counter_ns() / 1e9


class ReceivingSocket:
    """A bound non-blocking socket, which joins the group of a multicast address.

    ``interface`` is where it joins the group: an address, for IPv6 a name. Without it the system
    chooses one. ``queue`` is the size of its queue in bytes, and ``refused`` counts the closed
    ports reported for datagrams sent. Raises ``OSError``, and ``ValueError``
    for an interface without a group.
    """

    def __init__(self, at: Resolved, interface: str | None = None) -> None:
        if interface is not None and not _is_group(at):
            raise ValueError("--interface is for the address of a multicast group")
        self.refused = 0
        self._changed: asyncio.Event | None = None
        self.socket = socket.socket(at.family, socket.SOCK_DGRAM)
        try:
            self.socket.setblocking(False)
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, QUEUE)
            granted = self.socket.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF)
            # on Linux the other half is for bookkeeping
            self.queue = granted // 2 if sys.platform == "linux" else granted
            self._batch = _in_batches(self.socket)
            self._attach(at, interface)
        except BaseException:
            self.socket.close()
            raise

    def _attach(self, at: Resolved, interface: str | None) -> None:
        if _is_group(at):
            _join(self.socket, at, interface)
        else:
            self.socket.bind(at.place)

    @property
    def port(self) -> int:
        """The bound port."""
        return int(self.socket.getsockname()[1])

    def read(self, most: int) -> list[ReceivedDatagram]:
        """The waiting datagrams, in their order, up to ``most``."""
        found: list[ReceivedDatagram] = []
        while len(found) < most:
            try:
                if self._batch is None:
                    data, sender = self.socket.recvfrom(LARGEST)
                    found.append(ReceivedDatagram(data, sender, machine_time()))
                elif not self._batch.read(most, found):
                    break
            except (BlockingIOError, InterruptedError):
                break
            except ConnectionError:
                self.refused += 1
        return found

    @property
    def dropped(self) -> int:
        """How many datagrams the kernel's queue dropped, where known."""
        return 0 if self._batch is None else self._batch.dropped

    async def readable(self, seconds: float | None = None) -> None:
        """Waits for a datagram, for ``close``, or for so many seconds at most."""
        loop = asyncio.get_running_loop()
        self._changed = changed = asyncio.Event()
        descriptor = self.socket.fileno()
        loop.add_reader(descriptor, changed.set)
        try:
            await set_or_late(changed, seconds)
        finally:
            loop.remove_reader(descriptor)
            self._changed = None

    def close(self) -> None:
        """Closes the socket."""
        if self._changed is not None:
            self._changed.set()
        self.socket.close()


def _is_group(at: Resolved) -> bool:
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
