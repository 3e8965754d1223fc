"""Datagrams from Linux in batches, with kernel timestamps.

Python's own calls receive one datagram each, and take several times as long.
"""

from __future__ import annotations

import ctypes
import os
import socket
import struct
import sys
import threading
import time
from typing import Any

from epic_cli.recordings.addresses import LARGEST, ReceivedDatagram

#: Linux's numbers (asm-generic/socket.h), where Python has no names for them.
_TIMESTAMPNS = getattr(socket, "SO_TIMESTAMPNS", 35)
_MEMINFO = getattr(socket, "SO_MEMINFO", 55)
_DONTWAIT = getattr(socket, "MSG_DONTWAIT", 64)

#: Datagrams of a call, and bytes for each: its data, its sender, its control messages.
_AT_ONCE = 64
_NAME = 32
_CONTROL = 128

#: Nanoseconds; a greater age means that the clock was set meanwhile.
_OLDEST = 10_000_000_000

#: So many senders' addresses are cached as text.
_MOST_SENDERS = 1024


class _IoVec(ctypes.Structure):
    _fields_ = (("base", ctypes.c_void_p), ("size", ctypes.c_size_t))


class _Header(ctypes.Structure):
    """``struct msghdr`` of recvmsg(2)."""

    _fields_ = (
        ("name", ctypes.c_void_p),
        ("name_size", ctypes.c_uint32),
        ("pieces", ctypes.c_void_p),
        ("piece_count", ctypes.c_size_t),
        ("control", ctypes.c_void_p),
        ("control_size", ctypes.c_size_t),
        ("flags", ctypes.c_int),
    )


class _Message(ctypes.Structure):
    """``struct mmsghdr`` of recvmmsg(2)."""

    _fields_ = (("header", _Header), ("size", ctypes.c_uint))


_MESSAGE = struct.Struct("@PIPNPNi0PI0P")
assert _MESSAGE.size == ctypes.sizeof(_Message)

#: A control message: its size, its level and its kind come first (cmsg(3)).
_CONTROL_HEADER = struct.Struct("@Nii")
_TIMESPEC = struct.Struct("@Niill")

#: What SO_MEMINFO gives (linux/sock_diag.h): the last of these counts dropped datagrams.
_DROPS = struct.Struct("@32xI")
_ALIGNED = struct.calcsize("@N")


class _Buffers:
    """What the kernel writes into. All is taken out at once: the sockets of a thread share it."""

    def __init__(self) -> None:
        self.senders: dict[bytes, tuple[Any, ...]] = {}
        self.data = bytearray(_AT_ONCE * LARGEST)
        self.names = bytearray(_AT_ONCE * _NAME)
        self.controls = bytearray(_AT_ONCE * _CONTROL)
        data, names, controls = map(_address, (self.data, self.names, self.controls))
        self.pieces = (_IoVec * _AT_ONCE)()
        self.messages = (_Message * _AT_ONCE)()
        for index, (piece, message) in enumerate(zip(self.pieces, self.messages, strict=True)):
            piece.base, piece.size = data + index * LARGEST, LARGEST
            header = message.header
            header.name, header.name_size = names + index * _NAME, _NAME
            header.pieces, header.piece_count = ctypes.addressof(piece), 1
            header.control, header.control_size = controls + index * _CONTROL, _CONTROL
        self.fresh = bytes(self.messages)


_of_thread = threading.local()


def _buffers() -> _Buffers:
    found: _Buffers | None = getattr(_of_thread, "buffers", None)
    if found is None:
        found = _of_thread.buffers = _Buffers()
    return found


def dropped_by(source: socket.socket) -> int:
    """How many datagrams its full queue has dropped until now (Linux 4.12); raises ``OSError``."""
    found = source.getsockopt(socket.SOL_SOCKET, _MEMINFO, _DROPS.size)
    return int(_DROPS.unpack(found)[0]) if len(found) == _DROPS.size else 0


class KernelBatch:
    """Reads from a non-blocking socket.

    Raises ``OSError`` or ``AttributeError`` where Linux does not offer this.
    """

    def __init__(self, source: socket.socket) -> None:
        source.setsockopt(socket.SOL_SOCKET, _TIMESTAMPNS, 1)
        self._call = ctypes.CDLL(None, use_errno=True).recvmmsg
        self._descriptor = source.fileno()

    def read(self, most: int, found: list[ReceivedDatagram]) -> bool:
        """Appends the waiting datagrams, in their order, up to ``most``.

        False: there are no more. Raises ``OSError``, of which ``BlockingIOError`` says the same.
        """
        buffers = _buffers()
        ctypes.memmove(buffers.messages, buffers.fresh, len(buffers.fresh))
        some = min(most - len(found), _AT_ONCE)
        count = self._call(self._descriptor, buffers.messages, some, _DONTWAIT, None)
        if count < 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))
        self._take(buffers, count, found)
        return bool(count == some)

    def _take(self, buffers: _Buffers, count: int, found: list[ReceivedDatagram]) -> None:
        now, wall = time.monotonic_ns(), time.time_ns()
        data, names = buffers.data, buffers.names
        sizes = memoryview(buffers.messages).cast("B")[: count * _MESSAGE.size]
        for index, (_, name, _, _, _, control, _, size) in enumerate(_MESSAGE.iter_unpack(sizes)):
            age = wall - self._arrival(buffers.controls, index * _CONTROL, control, wall)
            arrival = (now - age if 0 <= age <= _OLDEST else now) / 1e9
            begin = index * LARGEST
            place = bytes(names[index * _NAME : index * _NAME + name])
            sender = buffers.senders.get(place) or _sender(buffers.senders, place)
            found.append(ReceivedDatagram(bytes(data[begin : begin + size]), sender, arrival))

    def _arrival(self, controls: bytearray, at: int, size: int, wall: int) -> int:
        """When the kernel received a datagram, in nanoseconds of the wall clock."""
        end = at + size
        taken = wall
        while at + _CONTROL_HEADER.size <= end:
            length, level, kind = _CONTROL_HEADER.unpack_from(controls, at)
            if level == socket.SOL_SOCKET and kind == _TIMESTAMPNS:
                _, _, _, seconds, rest = _TIMESPEC.unpack_from(controls, at)
                taken = seconds * 1_000_000_000 + rest
            at += max(-(-length // _ALIGNED) * _ALIGNED, _CONTROL_HEADER.size)
        return taken


def _sender(known: dict[bytes, tuple[Any, ...]], place: bytes) -> tuple[Any, ...]:
    """An address as Python's sockets have it."""
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


def _address(buffer: bytearray) -> int:
    return ctypes.addressof(ctypes.c_char.from_buffer(buffer))
