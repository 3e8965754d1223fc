"""Network captures (pcap, pcapng): frames to datagrams, and datagrams to frames."""

from __future__ import annotations

import socket
import struct
from collections import Counter
from collections.abc import Callable, Iterator
from enum import Enum
from time import monotonic
from typing import Any, NamedTuple

from epic_cli.engine.packets import PacketBlock
from epic_cli.recordings.addresses import ReceivedDatagram
from epic_cli.recordings.datagrams.counts import Refused, count_words
from epic_cli.recordings.datagrams.ingest import Ingest
from epic_cli.recordings.entries.wrapped import CAPTURE_MAGICS

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

#: This many interfaces are known in a section.
_MOST_INTERFACES = 4096


class Frame(NamedTuple):
    """A frame captured on a link of this type (as numbered by tcpdump.org/linktypes.html).

    ``time`` is in nanoseconds since 1970, None if unknown. ``whole``: not truncated.
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

    def convert_time(self, high: int, low: int) -> int:
        """Return the time in nanoseconds since 1970."""
        return (high << 32 | low) * 10**9 // self.per_second + self.offset * 10**9


def iterate_frames(more: Callable[[int], bytes]) -> Iterator[Frame]:
    """Yield the frames of a capture; ``more`` returns this many bytes, fewer only at the end.

    Raises ``Broken``.
    """
    magic = more(4)
    if magic in _CLASSIC:
        return _read_pcap(more, *_CLASSIC[magic])
    if magic == _SECTION:
        return _read_pcapng(more)
    raise Broken("the file is not a capture")


def _read_bytes(more: Callable[[int], bytes], size: int) -> bytes:
    data = more(size)
    if len(data) < size:
        raise Broken("the capture ends within a frame")
    return data


def _read_pcap(more: Callable[[int], bytes], order: str, per_second: int) -> Iterator[Frame]:
    link = struct.unpack(order + "16xI", _read_bytes(more, 20))[0] & 0xFFFF
    record = struct.Struct(order + "IIII")
    while head := more(record.size):
        if len(head) < record.size:
            raise Broken("the capture ends within a frame")
        seconds, rest, size, length = record.unpack(head)
        if size > _LONGEST_FRAME:
            raise Broken(f"a frame of {size:,} bytes is not valid")
        data = _read_bytes(more, size)
        time = seconds * 10**9 + rest * (10**9 // per_second)
        yield Frame(link, time, data, length <= size)


def _read_pcapng(more: Callable[[int], bytes]) -> Iterator[Frame]:
    order, interfaces = _skip_section_header(more), list[_Interface]()
    while head := more(8):
        if len(head) < 8:
            raise Broken("the capture ends within a block")
        if head[:4] == _SECTION:
            order, interfaces = _skip_section_header(more, head[4:]), []
            continue
        kind, size = struct.unpack(order + "II", head)
        if size < 12 or size % 4 or size > _LONGEST_BLOCK:
            raise Broken(f"a block of {size:,} bytes is not valid")
        body = _read_bytes(more, size - 8)[:-4]
        if kind == _INTERFACE:
            if len(interfaces) == _MOST_INTERFACES:
                raise Broken(f"the capture has more than {_MOST_INTERFACES:,} interfaces")
            interfaces.append(_parse_interface(order, body))
        elif kind in (_PACKET, _OLD_PACKET, _SIMPLE_PACKET):
            yield _parse_frame(order, kind, body, interfaces)


def _skip_section_header(more: Callable[[int], bytes], size: bytes | None = None) -> str:
    """Skip a section header, whose type has been read; return the section's byte order."""
    size = _read_bytes(more, 4) if size is None else size
    order = _ORDERS.get(_read_bytes(more, 4))
    if order is None:
        raise Broken("a section has no byte order")
    (length,) = struct.unpack(order + "I", size)
    if length < 28 or length % 4 or length > _LONGEST_BLOCK:
        raise Broken(f"a section header of {length:,} bytes is not valid")
    _read_bytes(more, length - 12)
    return order


def _parse_interface(order: str, body: bytes) -> _Interface:
    if len(body) < 8:
        raise Broken("an interface block is too short")
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


def _parse_frame(order: str, kind: int, body: bytes, interfaces: list[_Interface]) -> Frame:
    if kind == _SIMPLE_PACKET:
        head, number, high, low = 4, 0, None, None
        (length,) = _unpack_block(order + "I", body)
        size = min(length, len(body) - head)
    else:
        head = 20
        numbers = "HxxIIII" if kind == _OLD_PACKET else "IIIII"
        number, high, low, size, length = _unpack_block(order + numbers, body)
    if number >= len(interfaces):
        raise Broken("a frame names an unknown interface")
    if size > len(body) - head:
        raise Broken(f"a frame of {size:,} bytes does not fit its block")
    one = interfaces[number]
    time = None if high is None or low is None else one.convert_time(high, low)
    return Frame(one.link, time, body[head : head + size], length <= size)


def _unpack_block(form: str, body: bytes) -> tuple[int, ...]:
    if len(body) < struct.calcsize(form):
        raise Broken("a block is too short")
    return struct.unpack_from(form, body)


_ETHERNET, _COOKED, _COOKED2 = 1, 113, 276
#: The family of the protocol comes first, in the order of bytes of the machine that captured.
_LOOPBACK = (0, 108)
#: IP with nothing before it.
_RAW = (12, 14, 101, 228, 229)

_IPV4, _IPV6 = 0x0800, 0x86DD
_VLANS = (0x8100, 0x88A8, 0x9100)
_TCP, _UDP = 6, 17

#: Headers of IPv6 that may come before UDP's; the fragments' has one length.
_EXTENSIONS = (0, 43, 60)
_FRAGMENT = 44

#: More tags or headers than this are not valid.
_MOST_HEADERS = 8


class Lost(Enum):
    """The reasons why a frame has no usable datagram."""

    UNKNOWN_LINK = "on links of an unknown kind"
    FRAGMENT = "of which only fragments were captured"
    CUT = "cut short when they were captured (the snapshot length)"
    DAMAGED = "with invalid lengths"
    NO_TIME = "without a time"
    TCP = "of TCP, of which no packets are read"
    OTHER = "of other protocols"


class Carried(NamedTuple):
    """A datagram, its source and its target."""

    source: tuple[str, int]
    target: tuple[str, int]
    data: bytes


def extract_datagram(frame: Frame) -> Carried | Lost:
    """Return the datagram in a frame, or the reason why there is none."""
    if frame.time is None:
        return Lost.NO_TIME
    found = _find_ip_packet(frame)
    if isinstance(found, Lost):
        return found
    packet = found
    version = packet[0] >> 4 if packet else 0
    if version == 4:
        return _parse_ipv4(packet, frame.whole)
    return (
        _parse_ipv6(packet, frame.whole)
        if version == 6
        else _explain_missing_part(frame.whole, packet)
    )


def _explain_missing_part(whole: bool, packet: bytes = b"") -> Lost:
    """Return the reason why a part of a frame is missing."""
    if packet:
        return Lost.OTHER
    return Lost.DAMAGED if whole else Lost.CUT


def _find_ip_packet(frame: Frame) -> bytes | Lost:
    """Return the IP packet in a frame, or the reason why there is none."""
    data, link = frame.data, frame.link
    if link in _RAW:
        return data
    if link in _LOOPBACK:
        return data[4:]
    places = {_ETHERNET: (12, 14), _COOKED: (14, 16), _COOKED2: (0, 20)}
    if link not in places:
        return Lost.UNKNOWN_LINK
    at, begin = places[link]
    kind = int.from_bytes(data[at : at + 2], "big")
    for _ in range(_MOST_HEADERS):
        if kind not in _VLANS:
            break
        kind = int.from_bytes(data[begin + 2 : begin + 4], "big")
        begin += 4
    if len(data) < begin:
        return _explain_missing_part(frame.whole)
    return data[begin:] if kind in (_IPV4, _IPV6) else Lost.OTHER


def _parse_ipv4(packet: bytes, whole: bool) -> Carried | Lost:
    if len(packet) < 20:
        return _explain_missing_part(whole)
    head = 4 * (packet[0] & 15)
    length = int.from_bytes(packet[2:4], "big")
    if packet[9] != _UDP:
        return Lost.TCP if packet[9] == _TCP else Lost.OTHER
    if int.from_bytes(packet[6:8], "big") & 0x3FFF:
        return Lost.FRAGMENT
    if length == 0:  # left for the network card to fill in
        length = len(packet)
    if head < 20 or length < head:
        return Lost.DAMAGED
    ends = [socket.inet_ntop(socket.AF_INET, packet[at : at + 4]) for at in (12, 16)]
    return _parse_udp(packet[head:length], length - head, ends, whole)


def _parse_ipv6(packet: bytes, whole: bool) -> Carried | Lost:
    if len(packet) < 40:
        return _explain_missing_part(whole)
    length = int.from_bytes(packet[4:6], "big")
    kind, at = packet[6], 40
    for _ in range(_MOST_HEADERS):
        if kind not in (*_EXTENSIONS, _FRAGMENT):
            break
        if len(packet) < at + 8:
            return _explain_missing_part(whole)
        if kind == _FRAGMENT and int.from_bytes(packet[at + 2 : at + 4], "big") & 0xFFF9:
            return Lost.FRAGMENT
        size = 8 if kind == _FRAGMENT else 8 + 8 * packet[at + 1]
        kind, at = packet[at], at + size
    if kind != _UDP:
        return Lost.TCP if kind == _TCP else Lost.OTHER
    if 40 + length < at:
        return Lost.DAMAGED
    ends = [socket.inet_ntop(socket.AF_INET6, packet[value : value + 16]) for value in (8, 24)]
    return _parse_udp(packet[at : 40 + length], 40 + length - at, ends, whole)


def _parse_udp(segment: bytes, size: int, ends: list[str], whole: bool) -> Carried | Lost:
    """Return the datagram in a UDP segment.

    ``size`` is its length by IP, and less may be captured.
    """
    if len(segment) < 8:
        return Lost.DAMAGED if size < 8 else _explain_missing_part(whole)
    length = int.from_bytes(segment[4:6], "big")
    if not 8 <= length <= size:
        return Lost.DAMAGED
    if length > len(segment):
        return _explain_missing_part(whole)
    ports = [int.from_bytes(segment[at : at + 2], "big") for at in (0, 2)]
    return Carried((ends[0], ports[0]), (ends[1], ports[1]), segment[8:length])


#: Datagrams that are decoded together, and seconds that one waits for others of a running capture.
_AT_ONCE, _LONGEST_WAIT = 512, 0.05


class Capture:
    """A reader of captures; ``port``: only datagrams from or to this port.

    ``lost`` counts the frames without a usable datagram. ``broken`` says why the capture could not
    be read to its end; None if it was.
    """

    def __init__(self, ingest: Ingest, port: int | None = None) -> None:
        self._ingest = ingest
        self._port = port
        self.lost: Counter[Lost] = Counter()
        self.frames = 0
        self.broken: str | None = None

    def iterate_blocks(self, more: Callable[[int], bytes]) -> Iterator[PacketBlock]:
        """Yield the packets of a capture.

        ``more`` returns this many bytes, fewer only at the end.
        """
        waiting: list[ReceivedDatagram] = []
        since = monotonic()
        for datagram in self.iterate_datagrams(more):
            waiting.append(datagram)
            if len(waiting) == _AT_ONCE or monotonic() - since > _LONGEST_WAIT:
                yield self._ingest.take(waiting)
                waiting, since = [], monotonic()
        yield self._ingest.take(waiting)

    def iterate_datagrams(self, more: Callable[[int], bytes]) -> Iterator[ReceivedDatagram]:
        """Yield the datagrams of a capture, with times since its first frame that has a time."""
        first: int | None = None
        try:
            for frame in iterate_frames(more):
                self.frames += 1
                found = extract_datagram(frame)
                if isinstance(found, Lost):
                    self.lost[found] += 1
                    continue
                if self._port is not None and self._port not in (found.source[1], found.target[1]):
                    self.lost[Lost.OTHER] += 1
                    continue
                assert frame.time is not None
                first = frame.time if first is None else first
                yield ReceivedDatagram(found.data, found.source, (frame.time - first) / 1e9)
        except Broken as broken:
            self.broken = str(broken)

    @property
    def packets(self) -> int:
        """Number of packets that were read."""
        return self._ingest.counts.packets

    @property
    def refused(self) -> Counter[Refused]:
        """Counts of the rejected parts of datagrams, by reason."""
        return self._ingest.counts.refused

    def describe_capture(self) -> str:
        """Return a summary of the read and the skipped frames, in lines."""
        counts = self._ingest.counts
        lines = f"{counts.packets:,} packets in {counts.datagrams:,} datagrams of {self.frames:,}"
        lines += " frames\n"
        lost = [f"{self.lost[reason]:,} {reason.value}" for reason in Lost if self.lost[reason]]
        if lost:
            lines += f"frames skipped: {', '.join(lost)}\n"
        words = count_words(counts.refused, counts.example)
        lines += f"{words}\n" if words else ""
        return lines + (
            f"the capture is unreadable past here: {self.broken}\n" if self.broken else ""
        )


#: Times in nanoseconds; frames that begin with IP itself (LINKTYPE_RAW).
HEADER = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 1 << 18, 101)
_RECORD = struct.Struct("<IIII")


def make_capture_record(one: ReceivedDatagram, target: tuple[Any, ...], wall: int) -> bytes:
    """Return a datagram to ``target`` as a capture record, with its sender and made-up headers.

    ``wall`` is its arrival in nanoseconds since 1970.
    """
    packet = _make_udp_packet(one, target)
    seconds, rest = divmod(wall, 10**9)
    return _RECORD.pack(seconds, rest, len(packet), len(packet)) + packet


def measure_whole_records(data: bytes, most: int) -> int:
    """Return the size in bytes of the whole records at the beginning of ``data``.

    Records that end after the first ``most`` bytes do not count.
    """
    at = 0
    while at + _RECORD.size <= most:
        end = at + _RECORD.size + int(_RECORD.unpack_from(data, at)[2])
        if end > most:
            break
        at = end
    return at


def _make_udp_packet(one: ReceivedDatagram, target: tuple[Any, ...]) -> bytes:
    """Wrap a datagram in IP and UDP headers."""
    size = 8 + len(one.data)
    udp = struct.pack(">HHHH", one.sender[1], target[1], size, 0) + one.data
    if ":" in one.sender[0]:
        ends = b"".join(
            socket.inet_pton(socket.AF_INET6, end.partition("%")[0])
            for end in (one.sender[0], target[0])
        )
        checked = _compute_checksum(ends + struct.pack(">II", size, _UDP) + udp) or 0xFFFF
        udp = udp[:6] + checked.to_bytes(2, "big") + udp[8:]
        return struct.pack(">IHBB", 6 << 28, size, _UDP, 64) + ends + udp
    ends = socket.inet_aton(one.sender[0]) + socket.inet_aton(target[0])
    head = struct.pack(">BBHHHBBH", 0x45, 0, 20 + size, 0, 0, 64, _UDP, 0) + ends
    return head[:10] + _compute_checksum(head).to_bytes(2, "big") + head[12:] + udp


def _compute_checksum(data: bytes) -> int:
    """Return the Internet checksum (RFC 1071)."""
    if len(data) % 2:
        data += b"\0"
    total: int = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return total ^ 0xFFFF
