"""The frames of a capture, pcap or pcapng, one after the other.

Formats: draft-ietf-opsawg-pcap, draft-ietf-opsawg-pcapng. No length is trusted: a file that becomes
unreadable ends there, with an error.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import NamedTuple

from epic_cli.recordings.entries.capture import CAPTURE_MAGICS

#: By the first four bytes: the order of bytes, and how many of its fractions are a second.
_WAYS = (("<", 10**6), (">", 10**6), ("<", 10**9), (">", 10**9))
_CLASSIC = dict(zip(CAPTURE_MAGICS[:4], _WAYS, strict=True))

_SECTION = CAPTURE_MAGICS[4]
_ORDERS = {b"\x4d\x3c\x2b\x1a": "<", b"\x1a\x2b\x3c\x4d": ">"}

#: pcapng's kinds of blocks.
_INTERFACE, _OLD_PACKET, _SIMPLE_PACKET, _PACKET = 1, 2, 3, 6

#: An interface's options.
_END, _RESOLUTION, _OFFSET = 0, 9, 14

#: Bytes; no real frame or block is longer.
_LONGEST_FRAME = 1 << 18
_LONGEST_BLOCK = 1 << 24

#: So many interfaces are known in a section.
_MOST_INTERFACES = 4096


class Frame(NamedTuple):
    """What went over a link of this type (as numbered by tcpdump.org/linktypes.html).

    ``time`` is in nanoseconds since 1970; None: unknown. ``whole``: not truncated.
    """

    link: int
    time: int | None
    data: bytes
    whole: bool


class Broken(ValueError):
    """A capture that is unreadable from here on; the frames before have been returned."""


class _Interface(NamedTuple):
    link: int
    per_second: int
    offset: int

    def time(self, high: int, low: int) -> int:
        """Nanoseconds since 1970."""
        return (high << 32 | low) * 10**9 // self.per_second + self.offset * 10**9


def frames(more: Callable[[int], bytes]) -> Iterator[Frame]:
    """The frames of a capture; ``more`` reads so many bytes, and fewer only at the end.

    Raises ``Broken``.
    """
    magic = more(4)
    if magic in _CLASSIC:
        return _classic(more, *_CLASSIC[magic])
    if magic == _SECTION:
        return _next_generation(more)
    raise Broken("it is not a capture")


def _exactly(more: Callable[[int], bytes], size: int) -> bytes:
    data = more(size)
    if len(data) < size:
        raise Broken("it ends within a frame")
    return data


def _classic(more: Callable[[int], bytes], order: str, per_second: int) -> Iterator[Frame]:
    link = struct.unpack(order + "16xI", _exactly(more, 20))[0] & 0xFFFF
    record = struct.Struct(order + "IIII")
    while head := more(record.size):
        if len(head) < record.size:
            raise Broken("it ends within a frame")
        seconds, rest, size, length = record.unpack(head)
        if size > _LONGEST_FRAME:
            raise Broken(f"a frame of {size:,} bytes is not valid")
        data = _exactly(more, size)
        time = seconds * 10**9 + rest * (10**9 // per_second)
        yield Frame(link, time, data, length <= size)


def _next_generation(more: Callable[[int], bytes]) -> Iterator[Frame]:
    order, interfaces = _section(more), list[_Interface]()
    while head := more(8):
        if len(head) < 8:
            raise Broken("it ends within a block")
        if head[:4] == _SECTION:
            order, interfaces = _section(more, head[4:]), []
            continue
        kind, size = struct.unpack(order + "II", head)
        if size < 12 or size % 4 or size > _LONGEST_BLOCK:
            raise Broken(f"a block of {size:,} bytes is not valid")
        body = _exactly(more, size - 8)[:-4]
        if kind == _INTERFACE:
            if len(interfaces) == _MOST_INTERFACES:
                raise Broken(f"it has more than {_MOST_INTERFACES:,} interfaces")
            interfaces.append(_interface(order, body))
        elif kind in (_PACKET, _OLD_PACKET, _SIMPLE_PACKET):
            yield _frame(order, kind, body, interfaces)


def _section(more: Callable[[int], bytes], size: bytes | None = None) -> str:
    """Skips a section header, whose type has been read; returns its byte order."""
    size = _exactly(more, 4) if size is None else size
    order = _ORDERS.get(_exactly(more, 4))
    if order is None:
        raise Broken("a section has no byte order")
    (length,) = struct.unpack(order + "I", size)
    if length < 28 or length % 4 or length > _LONGEST_BLOCK:
        raise Broken(f"a section header of {length:,} bytes is not valid")
    _exactly(more, length - 12)
    return order


def _interface(order: str, body: bytes) -> _Interface:
    if len(body) < 8:
        raise Broken("an interface is too short")
    per_second, offset, at = 10**6, 0, 8
    while at + 4 <= len(body):
        code, size = struct.unpack_from(order + "HH", body, at)
        value = body[at + 4 : at + 4 + size]
        if code == _END or len(value) < size:
            break
        if code == _RESOLUTION and size == 1:
            base, power = (2, value[0] & 127) if value[0] & 128 else (10, value[0])
            per_second = base ** min(power, 64)
        elif code == _OFFSET and size == 8:
            (offset,) = struct.unpack(order + "q", value)
        at += 4 + size + -size % 4
    return _Interface(struct.unpack_from(order + "H", body)[0], per_second, offset)


def _frame(order: str, kind: int, body: bytes, interfaces: list[_Interface]) -> Frame:
    if kind == _SIMPLE_PACKET:
        head, number, high, low = 4, 0, None, None
        (length,) = _unpacked(order + "I", body)
        size = min(length, len(body) - head)
    else:
        head = 20
        numbers = "HxxIIII" if kind == _OLD_PACKET else "IIIII"
        number, high, low, size, length = _unpacked(order + numbers, body)
    if number >= len(interfaces):
        raise Broken("a frame names an unknown interface")
    if size > len(body) - head:
        raise Broken(f"a frame of {size:,} bytes does not fit its block")
    one = interfaces[number]
    time = None if high is None or low is None else one.time(high, low)
    return Frame(one.link, time, body[head : head + size], length <= size)


def _unpacked(form: str, body: bytes) -> tuple[int, ...]:
    if len(body) < struct.calcsize(form):
        raise Broken("a block is too short")
    return struct.unpack_from(form, body)
