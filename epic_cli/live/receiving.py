"""Sockets that receive: datagrams with kernel timestamps, or messages of connections.

Python's own calls receive one datagram each, and take several times as long as the batches that
Linux offers. A message of TCP or of a WebSocket counts as a datagram; it arrives when its last
bytes are read. The memory of a connection is bounded, and a connection that breaks the protocol
ends.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import re
import selectors
import socket
import struct
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from functools import partial
from ipaddress import ip_address
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from epic_cli.engine.failures import Portable
from epic_cli.recordings.addresses import LARGEST, Address, ReceivedDatagram, Resolved, resolve
from epic_cli.recordings.datagrams.counts import Refused
from epic_cli.recordings.datagrams.ingest import LONGEST_NAMES, IngestSpec, recognize_format
from epic_cli.recordings.read_spec import INFERRED
from epic_cli.work.event_loop import wait_for_event

#: Linux's numbers (asm-generic/socket.h), for which Python may have no names.
_TIMESTAMPNS = getattr(socket, "SO_TIMESTAMPNS", 35)
_MEMINFO = getattr(socket, "SO_MEMINFO", 55)
_DONTWAIT = getattr(socket, "MSG_DONTWAIT", 64)

#: Datagrams of a call, and bytes for each: its data, its sender, its control messages.
_AT_ONCE = 64
_NAME = 32
_CONTROL = 128

#: Nanoseconds; a greater age means that the clock has been set.
_OLDEST = 10_000_000_000

#: The most senders whose addresses are cached.
_MOST_SENDERS = 1024


class _IoVec(ctypes.Structure):
    _fields_ = (("base", ctypes.c_void_p), ("size", ctypes.c_size_t))


class _MessageHeader(ctypes.Structure):
    """The C structure ``msghdr`` of recvmsg(2)."""

    _fields_ = (
        ("name", ctypes.c_void_p),
        ("name_size", ctypes.c_uint32),
        ("pieces", ctypes.c_void_p),
        ("piece_count", ctypes.c_size_t),
        ("control", ctypes.c_void_p),
        ("control_size", ctypes.c_size_t),
        ("flags", ctypes.c_int),
    )


class _BatchMessage(ctypes.Structure):
    """The C structure ``mmsghdr`` of recvmmsg(2)."""

    _fields_ = (("header", _MessageHeader), ("size", ctypes.c_uint))


_MESSAGE = struct.Struct("@PIPNPNi0PI0P")
assert _MESSAGE.size == ctypes.sizeof(_BatchMessage)

#: The head of a control message: size, level and kind (cmsg(3)).
_CONTROL_HEADER = struct.Struct("@Nii")
_TIMESPEC = struct.Struct("@Niill")

#: The result of SO_MEMINFO (linux/sock_diag.h), whose last field counts dropped datagrams.
_DROPS = struct.Struct("@32xI")
_ALIGNED = struct.calcsize("@N")


class _KernelBuffers:
    """The buffers of a thread that the kernel fills; its sockets share them."""

    def __init__(self) -> None:
        self.senders: dict[bytes, tuple[Any, ...]] = {}
        self.data = bytearray(_AT_ONCE * LARGEST)
        self.names = bytearray(_AT_ONCE * _NAME)
        self.controls = bytearray(_AT_ONCE * _CONTROL)
        data, names, controls = map(_get_buffer_address, (self.data, self.names, self.controls))
        self.pieces = (_IoVec * _AT_ONCE)()
        self.messages = (_BatchMessage * _AT_ONCE)()
        for index, (piece, message) in enumerate(zip(self.pieces, self.messages, strict=True)):
            piece.base, piece.size = data + index * LARGEST, LARGEST
            header = message.header
            header.name, header.name_size = names + index * _NAME, _NAME
            header.pieces, header.piece_count = ctypes.addressof(piece), 1
            header.control, header.control_size = controls + index * _CONTROL, _CONTROL
        self.fresh = bytes(self.messages)


_of_thread = threading.local()


def _get_thread_buffers() -> _KernelBuffers:
    found: _KernelBuffers | None = getattr(_of_thread, "buffers", None)
    if found is None:
        found = _of_thread.buffers = _KernelBuffers()
    return found


def count_dropped(source: socket.socket) -> int:
    """Return the number of datagrams that the socket's full queue has dropped (Linux 4.12).

    Raise ``OSError``.
    """
    found = source.getsockopt(socket.SOL_SOCKET, _MEMINFO, _DROPS.size)
    return int(_DROPS.unpack(found)[0]) if len(found) == _DROPS.size else 0


class KernelBatch:
    """A reader of many datagrams per call from a non-blocking socket.

    Raises ``OSError`` or ``AttributeError`` on systems that lack recvmmsg(2).
    """

    def __init__(self, source: socket.socket) -> None:
        source.setsockopt(socket.SOL_SOCKET, _TIMESTAMPNS, 1)
        self._call = ctypes.CDLL(None, use_errno=True).recvmmsg
        self._descriptor = source.fileno()

    def read(self, most: int, found: list[ReceivedDatagram]) -> bool:
        """Append the waiting datagrams to ``found``, in order, up to ``most``.

        Return False if there are no more. Raise ``OSError``; a ``BlockingIOError`` means the same.
        """
        buffers = _get_thread_buffers()
        ctypes.memmove(buffers.messages, buffers.fresh, len(buffers.fresh))
        some = min(most - len(found), _AT_ONCE)
        count = self._call(self._descriptor, buffers.messages, some, _DONTWAIT, None)
        if count < 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))
        self._append_datagrams(buffers, count, found)
        return bool(count == some)

    def _append_datagrams(
        self, buffers: _KernelBuffers, count: int, found: list[ReceivedDatagram]
    ) -> None:
        now, wall = time.monotonic_ns(), time.time_ns()
        data, names = buffers.data, buffers.names
        sizes = memoryview(buffers.messages).cast("B")[: count * _MESSAGE.size]
        for index, (_, name, _, _, _, control, _, size) in enumerate(_MESSAGE.iter_unpack(sizes)):
            age = wall - self._read_arrival(buffers.controls, index * _CONTROL, control, wall)
            arrival = (now - age if 0 <= age <= _OLDEST else now) / 1e9
            begin = index * LARGEST
            place = bytes(names[index * _NAME : index * _NAME + name])
            sender = buffers.senders.get(place) or _decode_address(buffers.senders, place)
            found.append(ReceivedDatagram(bytes(data[begin : begin + size]), sender, arrival))

    def _read_arrival(self, controls: bytearray, at: int, size: int, wall: int) -> int:
        """Return when the kernel received a datagram, in nanoseconds of the wall clock."""
        end = at + size
        taken = wall
        while at + _CONTROL_HEADER.size <= end:
            length, level, kind = _CONTROL_HEADER.unpack_from(controls, at)
            if level == socket.SOL_SOCKET and kind == _TIMESTAMPNS:
                _, _, _, seconds, rest = _TIMESPEC.unpack_from(controls, at)
                taken = seconds * 1_000_000_000 + rest
            at += max(-(-length // _ALIGNED) * _ALIGNED, _CONTROL_HEADER.size)
        return taken


def _decode_address(known: dict[bytes, tuple[Any, ...]], place: bytes) -> tuple[Any, ...]:
    """Return a kernel's address as Python's sockets write it."""
    family = int.from_bytes(place[:2], sys.byteorder)
    port = int.from_bytes(place[2:4], "big")
    sender: tuple[Any, ...]
    if family == socket.AF_INET6:
        flow, scope = (
            int.from_bytes(place[4:8], "big"),
            int.from_bytes(place[24:28], sys.byteorder),
        )
        sender = (socket.inet_ntop(family, place[8:24]), port, flow, scope)
    else:
        sender = (socket.inet_ntop(socket.AF_INET, place[4:8]), port)
    if len(known) >= _MOST_SENDERS:
        known.clear()
    known[place] = sender
    return sender


def _get_buffer_address(buffer: bytearray) -> int:
    return ctypes.addressof(ctypes.c_char.from_buffer(buffer))


#: The requested size of the kernel's queue: half a second of 20,000 small datagrams a second.
QUEUE = 1 << 22


def read_machine_time() -> float:
    """Return the time (s) of Python's finest monotonic clock; Linux and macOS have only one."""
    return time.perf_counter_ns() / 1e9


class Reception:
    """The interface of a socket that receives datagrams, or messages that count as datagrams.

    ``queue`` is the size of the kernel's queue in bytes. ``closed`` counts, by reason, connections
    that were refused or ended early, and ``example`` describes the first of these in words.
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
        """The number of datagrams that the kernel's full queue has dropped, where known."""
        return 0

    def read(self, most: int) -> list[ReceivedDatagram]:
        """Return the waiting datagrams, in their order, up to ``most``."""
        raise NotImplementedError

    async def wait_until_readable(self, seconds: float | None = None) -> None:
        """Wait for a datagram, for ``close``, or for ``seconds`` at most."""
        changed = asyncio.Event()
        loop, waitable = asyncio.get_running_loop(), self._get_readable_descriptor()
        loop.add_reader(waitable, changed.set)
        self._waiting = loop, changed, waitable
        try:
            await wait_for_event(changed, seconds)
        finally:
            self._stop_waiting()

    def _get_readable_descriptor(self) -> int:
        """Return the descriptor that becomes readable."""
        return self.socket.fileno()

    def close(self) -> None:
        """Close the socket; ``dropped`` keeps its value."""
        # first, since a closed socket's descriptor may soon be another's
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
    ports reported for datagrams sent. Raises ``OSError``, and ``ValueError`` for an interface
    without a group.
    """

    def __init__(self, at: Resolved, interface: str | None = None) -> None:
        if interface is not None and not _is_multicast_group(at):
            raise ValueError("interface= needs the address of a multicast group, such as 239.1.2.3")
        super().__init__()
        self.refused = 0
        self._dropped = 0
        self.socket = socket.socket(at.family, socket.SOCK_DGRAM)
        try:
            self.socket.setblocking(False)
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, QUEUE)
            granted = self.socket.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF)
            # Linux uses half of it for bookkeeping
            self.queue = granted // 2 if sys.platform == "linux" else granted
            self._batch = _open_kernel_batch(self.socket)
            self._bind_to_address(at, interface)
        except BaseException:
            self.socket.close()
            raise

    def _bind_to_address(self, at: Resolved, interface: str | None) -> None:
        if _is_multicast_group(at):
            _join_group(self.socket, at, interface)
        else:
            self.socket.bind(at.place)

    def read(self, most: int) -> list[ReceivedDatagram]:
        """Return the waiting datagrams, in their order, up to ``most``."""
        found: list[ReceivedDatagram] = []
        while len(found) < most:
            try:
                if self._batch is None:
                    data, sender = self.socket.recvfrom(LARGEST)
                    found.append(ReceivedDatagram(data, sender, read_machine_time()))
                elif not self._batch.read(most, found):
                    break
            except (BlockingIOError, InterruptedError):
                break
            except ConnectionError:
                self.refused += 1
        return found

    @property
    def dropped(self) -> int:
        """The number of datagrams that the kernel's full queue has dropped, where known.

        It is the socket's own counter, which does not depend on later datagrams.
        """
        if sys.platform == "linux" and self.socket.fileno() >= 0:
            with contextlib.suppress(OSError):
                self._dropped = count_dropped(self.socket)
        return self._dropped


def _is_multicast_group(at: Resolved) -> bool:
    """Return True if the address is that of a multicast group."""
    return ip_address(at.place[0].partition("%")[0]).is_multicast


def _join_group(member: socket.socket, at: Resolved, interface: str | None) -> None:
    """Bind the socket and join the multicast group, which other sockets may have joined, too."""
    host, port = at.place[:2]
    group = socket.inet_pton(at.family, host.partition("%")[0])
    member.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if at.family == socket.AF_INET:
        place: tuple[object, ...] = (host, port)
        # four zeros let the system choose
        own = socket.inet_aton(interface) if interface else bytes(4)
        joining = (socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, group + own)
    else:
        index = socket.if_nametoindex(interface) if interface else at.place[3]
        place = (host, port, 0, index)
        joining = (socket.IPPROTO_IPV6, socket.IPV6_JOIN_GROUP, group + struct.pack("@I", index))
    # Windows cannot bind to a group
    member.bind(("", port) if sys.platform == "win32" else place)
    member.setsockopt(*joining)


def _open_kernel_batch(source: socket.socket) -> KernelBatch | None:
    if sys.platform != "linux":
        return None
    try:
        return KernelBatch(source)
    except (AttributeError, OSError):
        return None


def allow_files(count: int) -> None:
    """Raise this process's limit of open files to ``count``, or as far as is allowed."""
    if sys.platform == "win32":  # Windows has no such limit
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = count if hard == resource.RLIM_INFINITY else min(count, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


#: The types of the length before a binary message. For 32 bits both byte orders are understood:
#: no length up to ``_LONGEST`` is a length in the other order, too.
PREFIXES = {"u16": (2, "little"), "big-u16": (2, "big"), "u32": (4, "")}

#: The longest message: as long as the largest datagram, as which a capture records it.
_LONGEST = 65507

#: Bytes to read from a connection at a time, and the longest WebSocket handshake.
AT_ONCE = 1 << 14
_LONGEST_HANDSHAKE = 1 << 14

#: The beginning of an HTTP request, which any web page can make a browser send to any port.
_HTTP = re.compile(rb"(GET|HEAD|POST|PUT|DELETE|OPTIONS|PATCH|CONNECT|TRACE) ")


class Unacceptable(Portable, Exception):
    """An error that ends a connection: the reason to count, and the fault in words."""

    def __init__(self, reason: Refused, words: str) -> None:
        super().__init__(words)
        self.reason = reason


class Splitter:
    """A splitter of one connection's bytes into messages.

    ``found`` are the messages to be taken, ``head`` stands before each of them, ``answer`` is to be
    sent back; ``ended``: the client has closed its side.
    """

    head = b""
    answer = b""
    ended = False

    def __init__(self) -> None:
        self.found: list[bytes] = []
        self._buffer = bytearray()
        self._checked = False

    def feed(self, data: bytes) -> None:
        """Add received bytes, find the messages that end in them, then raise ``Unacceptable``."""
        self._buffer += data
        if not self._checked:
            if _HTTP.match(self._buffer):
                raise Unacceptable(Refused.OTHER_PROTOCOL, "an HTTP request: browsers need ws://")
            self._checked = len(self._buffer) > 8
        self._split_messages()

    def _split_messages(self) -> None:
        raise NotImplementedError

    def end(self) -> None:
        """Handle the end of the connection; raise ``Unacceptable`` for half a message."""
        if self._buffer:
            raise Unacceptable(
                Refused.CUT,
                f"{len(self._buffer):,} bytes of a message that does not end: it needs"
                " a newline, or its length before it (prefix=)",
            )


class Lines(Splitter):
    """A splitter into lines: packet text, JSON, or the rows of a CSV table below its header."""

    def __init__(self, packet_format: str | None, numbered: bool) -> None:
        super().__init__()
        self._format = packet_format
        self._begun = numbered  # numbered columns have no header

    def _split_messages(self) -> None:
        # the earlier bytes have been searched, and may be many
        if self._buffer.find(b"\n", -AT_ONCE) >= 0:
            *lines, rest = bytes(self._buffer).split(b"\n")
            self._buffer = bytearray(rest)
            self.found += [line for text in lines if (line := self._clean_line(text))]
        if len(self._buffer) > _LONGEST:
            raise Unacceptable(Refused.OVERLONG, f"a line is longer than {_LONGEST:,} bytes")

    def _clean_line(self, line: bytes) -> bytes:
        """Return a line that may hold packets; empty for blank lines and comments."""
        line = line.rstrip(b"\r")
        if len(line) > _LONGEST:
            raise Unacceptable(Refused.OVERLONG, f"a line has {len(line):,} bytes")
        if not line.strip() or line + b"\n" == self.head or (line[:1] == b"#" and not self.head):
            return b""
        if not self._begun:
            self._begun = True
            if (self._format or recognize_format(line)) == "csv":
                if len(line) >= LONGEST_NAMES:
                    raise Unacceptable(Refused.OVERLONG, f"the header has {len(line):,} bytes")
                self.head = line + b"\n"
                return b""
        return line

    def end(self) -> None:
        """Take a last line without a newline if it is complete, as a JSON object is."""
        if self._buffer.lstrip().startswith((b"{", b"[")):
            self.found.append(bytes(self._buffer))
        elif self._buffer.strip():
            super().end()


class Prefixed(Splitter):
    """A splitter into binary messages, each preceded by its length (of ``PREFIXES``)."""

    def __init__(self, prefix: str) -> None:
        super().__init__()
        self._prefix = prefix
        self._size, self._order = PREFIXES[prefix]

    def _split_messages(self) -> None:
        at = 0
        while (begin := at + self._size) <= len(self._buffer):
            end = begin + self._decode_length(bytes(self._buffer[at:begin]))
            if end > len(self._buffer):
                break
            self.found.append(bytes(self._buffer[begin:end]))
            at = end
        del self._buffer[:at]

    def _decode_length(self, written: bytes) -> int:
        orders: Any = (self._order,) if self._order else ("little", "big")
        lengths = [int.from_bytes(written, order) for order in orders]
        for order, length in zip(orders, lengths, strict=True):
            if length <= _LONGEST:
                self._order = order if length else self._order
                return length
        words = f"a length of {min(lengths):,} ({self._prefix}; prefix= names other types)"
        raise Unacceptable(Refused.OVERLONG, words)


class WebSocketMessages(Splitter):
    """A splitter of an uncompressed WebSocket, whose messages are no longer than their bytes.

    With ``binary`` text messages are refused.
    """

    def __init__(self, binary: bool, origins: Sequence[str]) -> None:
        from websockets.server import ServerProtocol

        super().__init__()
        self._binary = binary
        self._origins = origins
        # browsers close a connection if none of their subprotocols is chosen
        self._protocol = ServerProtocol(
            max_size=_LONGEST, select_subprotocol=lambda _, offered: next(iter(offered), None)
        )
        self._size = 0
        self._is_open = False

    def feed(self, data: bytes) -> None:
        """Add received bytes, find the messages that end in them, then raise ``Unacceptable``."""
        protocol = self._protocol
        self._size += len(data)
        if not self._is_open and self._size > _LONGEST_HANDSHAKE:
            raise Unacceptable(Refused.OTHER_PROTOCOL, "a handshake that is too long")
        protocol.receive_data(data)
        try:
            for event in protocol.events_received():
                if not hasattr(event, "opcode"):
                    self._answer_request(event)
                elif event.opcode <= 2 and self._is_open:  # 0: continuation, 1: text, 2: binary
                    if event.opcode == 1 and self._binary:
                        raise Unacceptable(
                            Refused.OTHER_PROTOCOL, "a text message, but --layout needs binary ones"
                        )
                    self._buffer += event.data
                    if event.fin:
                        self.found.append(bytes(self._buffer))
                        self._buffer.clear()
        finally:
            self.answer = b"".join(protocol.data_to_send())
        if protocol.parser_exc is not None:
            wrong = type(protocol.parser_exc).__name__
            reason = Refused.OVERLONG if wrong == "PayloadTooBig" else Refused.OTHER_PROTOCOL
            raise Unacceptable(reason, str(protocol.parser_exc))
        if protocol.handshake_exc is not None:
            raise Unacceptable(Refused.OTHER_PROTOCOL, str(protocol.handshake_exc))
        self.ended = protocol.close_rcvd is not None

    def _answer_request(self, request: Any) -> None:
        protocol = self._protocol
        given = request.headers.get_all("Origin")  # only browsers send one
        self._is_open = all(is_allowed(origin, self._origins) for origin in given)
        if not self._is_open:
            words = f"{', '.join(given)} may not connect: see origin= of epic listen"
            if protocol.parser_exc is None:  # else the bytes behind the request have ended it
                protocol.send_response(protocol.reject(403, f"{words}\n"))
            raise Unacceptable(Refused.FOREIGN_PAGE, f"origin={given[0][:80]!r}")
        protocol.send_response(protocol.accept(request))


def is_allowed(origin: str, allowed: Sequence[str]) -> bool:
    """Return True if pages of this origin may send packets: this machine's and ``allowed`` ones."""
    if "*" in allowed or origin in allowed:
        return True
    with contextlib.suppress(ValueError):
        host = urlsplit(origin).hostname or ""
        return host == "localhost" or host.endswith(".localhost") or ip_address(host).is_loopback
    return False


_MOST_CONNECTIONS = 256


class _Connection(NamedTuple):
    socket: socket.socket
    sender: tuple[Any, ...]
    splitter: Splitter


class StreamSocket(Reception):
    """A socket that accepts connections and receives the messages of all of them.

    Raises ``OSError`` where it cannot listen. A connection is read no faster than its messages are
    taken.
    """

    def __init__(self, at: Resolved, make_splitter: Callable[[], Splitter]) -> None:
        super().__init__()
        self._make_splitter = make_splitter
        self._connections: set[_Connection] = set()
        self._ready: deque[_Connection | None] = deque()
        self._messages: deque[tuple[bytes, bytes, tuple[Any, ...], float]] = deque()
        self.socket = socket.create_server(at.place, family=at.family, backlog=128)
        self.socket.setblocking(False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self.socket, selectors.EVENT_READ)

    def read(self, most: int) -> list[ReceivedDatagram]:
        """Return the received messages, in the order in which they were read."""
        if not self._messages and not self._ready and self.socket.fileno() >= 0:
            self._ready.extend(key.data for key, _ in self._selector.select(0))
        while self._ready and len(self._messages) < most:
            connection = self._ready.popleft()
            if connection is None:
                self._accept_clients()
            elif connection in self._connections:
                self._receive_bytes(connection)
        found: list[ReceivedDatagram] = []
        while self._messages and len(found) < most:
            head, message, sender, time = self._messages.popleft()
            found.append(ReceivedDatagram(head + message, sender, time))
        return found

    def _accept_clients(self) -> None:
        for _ in range(64):
            try:
                accepted, sender = self.socket.accept()
            except ConnectionError:
                continue
            except (BlockingIOError, InterruptedError):
                return
            except OSError:  # no file descriptors left until one is closed
                self._selector.unregister(self.socket)
                return
            accepted.setblocking(False)
            if len(self._connections) >= _MOST_CONNECTIONS:
                self._count_refusal(Unacceptable(Refused.NO_ROOM, f"{_MOST_CONNECTIONS} are open"))
                accepted.close()
                continue
            connection = _Connection(accepted, sender, self._make_splitter())
            self._connections.add(connection)
            self._selector.register(accepted, selectors.EVENT_READ, connection)

    def _receive_bytes(self, connection: _Connection) -> None:
        splitter = connection.splitter
        try:
            data = connection.socket.recv(AT_ONCE)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            data = b""
        time = read_machine_time()
        try:
            if data:
                splitter.feed(data)
            else:
                splitter.end()
        except Unacceptable as error:
            self._count_refusal(error)
            splitter.answer = splitter.answer or f"epic: {error}\n".encode()
            data = b""
        found, splitter.found = splitter.found, []
        self._messages.extend(
            (splitter.head, message, connection.sender, time) for message in found
        )
        answer, splitter.answer = splitter.answer, b""
        with contextlib.suppress(OSError):
            # a client that does not read its answers is dropped
            if answer and connection.socket.send(answer) < len(answer):
                data = b""
        if not data or splitter.ended:
            self._drop_connection(connection)

    def _count_refusal(self, error: Unacceptable) -> None:
        self.closed[error.reason] += 1
        self.example = self.example or str(error)

    def _drop_connection(self, connection: _Connection) -> None:
        self._connections.discard(connection)
        self._selector.unregister(connection.socket)
        with contextlib.suppress(OSError):
            connection.socket.shutdown(socket.SHUT_WR)
        connection.socket.close()
        if self.socket.fileno() >= 0 and self.socket not in self._selector.get_map():
            self._selector.register(self.socket, selectors.EVENT_READ)

    async def wait_until_readable(self, seconds: float | None = None) -> None:
        """Wait for bytes or clients, for ``close``, or for ``seconds`` at most."""
        if not self._messages and not self._ready:
            if sys.platform == "win32":  # selectors have no descriptor on Windows
                seconds = min(seconds or 0.005, 0.005)
            await super().wait_until_readable(seconds)

    def _get_readable_descriptor(self) -> int:
        of: Any = self.socket if sys.platform == "win32" else self._selector
        return int(of.fileno())

    def close(self) -> None:
        """Close the socket and all connections."""
        if self.socket.fileno() < 0:
            return
        self._stop_waiting()
        self.socket.close()
        for connection in list(self._connections):
            self._drop_connection(connection)
        self._selector.close()


def listen_to_streams(
    address: Address, ingest: IngestSpec | None, prefix: str, origins: Sequence[str]
) -> StreamSocket:
    """Listen on an address of TCP or WebSocket; raise ``OSError`` and ``ValueError``."""
    binary = ingest is not None and ingest.records is not None
    make: Callable[[], Splitter]
    if address.scheme == "ws":
        try:
            import websockets.server  # noqa: F401 - what is missing shows now
        except ImportError:
            raise ValueError("ws:// needs a library: pip install websockets") from None
        make = partial(WebSocketMessages, binary, origins)
    elif binary:
        if prefix not in PREFIXES:
            raise ValueError(f"prefix must be {', '.join(PREFIXES)}, not {prefix!r}")
        make = partial(Prefixed, prefix)
    else:
        spec = INFERRED if ingest is None else ingest.read
        make = partial(Lines, None if spec.format == "auto" else spec.format, spec.is_numbered)
    return StreamSocket(resolve(address), make)
