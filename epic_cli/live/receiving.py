"""Where packets are received: a UDP socket whose datagrams have kernel timestamps, or others."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
import sys
import time
from collections import Counter
from ipaddress import ip_address
from typing import TYPE_CHECKING

from epic_cli.live.kernel_batches import KernelBatch, dropped_by
from epic_cli.recordings.addresses import LARGEST, ReceivedDatagram, Resolved
from epic_cli.show.stop_signals import set_or_late

if TYPE_CHECKING:
    from epic_cli.recordings.datagrams.counts import Refused

#: Requested bytes of the kernel's queue: half a second of 20,000 small ones.
QUEUE = 1 << 22


def machine_time() -> float:
    """Seconds of a monotonic clock: Python's finest, which on Linux and macOS is its only one."""
    return time.perf_counter_ns() / 1e9


class Reception:
    """A socket from which datagrams are taken, or messages that are like them.

    ``queue`` is the size of the kernel's queue in bytes. ``closed`` counts, by reason, connections
    that were refused or ended early, and ``example`` describes the first one in words.
    """

    socket: socket.socket
    queue = QUEUE
    _waiting: tuple[asyncio.AbstractEventLoop, asyncio.Event, int] | None = None

    def __init__(self) -> None:
        self.closed: Counter[Refused] = Counter()
        self.example: str | None = None

    @property
    def port(self) -> int:
        """The bound port."""
        return int(self.socket.getsockname()[1])

    @property
    def dropped(self) -> int:
        """How many datagrams the kernel's full queue has dropped until now, where known."""
        return 0

    def read(self, most: int) -> list[ReceivedDatagram]:
        """The waiting datagrams, in their order, up to ``most``."""
        raise NotImplementedError

    async def readable(self, seconds: float | None = None) -> None:
        """Waits for a datagram, for ``close``, or for so many seconds at most."""
        changed = asyncio.Event()
        loop, waitable = asyncio.get_running_loop(), self._waitable()
        loop.add_reader(waitable, changed.set)
        self._waiting = loop, changed, waitable
        try:
            await set_or_late(changed, seconds)
        finally:
            self._stop_waiting()

    def _waitable(self) -> int:
        """The descriptor that becomes readable."""
        return self.socket.fileno()

    def close(self) -> None:
        """Closes the socket; ``dropped`` stays as it is then."""
        # before it: once a socket is closed, its descriptor may be that of another one
        self._stop_waiting()
        _ = self.dropped
        self.socket.close()

    def _stop_waiting(self) -> None:
        if self._waiting is None:
            return
        (loop, changed, waitable), self._waiting = self._waiting, None
        if not loop.is_closed():
            loop.remove_reader(waitable)
        changed.set()


class ReceivingSocket(Reception):
    """A bound non-blocking socket, which joins the group of a multicast address.

    ``interface`` is where it joins the group: an address, for IPv6 a name. Without it the system
    chooses one. ``queue`` is the size of its queue in bytes, and ``refused`` counts the closed
    ports reported for datagrams sent. Raises ``OSError``, and ``ValueError``
    for an interface without a group.
    """

    def __init__(self, at: Resolved, interface: str | None = None) -> None:
        if interface is not None and not _is_group(at):
            raise ValueError("--interface is for the address of a multicast group")
        super().__init__()
        self.refused = 0
        self._dropped = 0
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
        """How many datagrams the kernel's full queue has dropped until now, where known.

        It is the socket's own counter: it needs no datagram behind those that were dropped.
        """
        if sys.platform == "linux" and self.socket.fileno() >= 0:
            with contextlib.suppress(OSError):
                self._dropped = dropped_by(self.socket)
        return self._dropped


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


def allow_files(count: int) -> None:
    """Raises the number of files that this process may open, as far as it may."""
    if sys.platform == "win32":  # which has no such limit
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = count if hard == resource.RLIM_INFINITY else min(count, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
