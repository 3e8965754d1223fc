"""The packets of a game in a capture, with the time of the capture as their arrival.

They are in the UDP datagrams of its frames, of which no field is trusted.
"""

from __future__ import annotations

import socket
from collections import Counter
from collections.abc import Callable, Iterator
from enum import Enum
from time import monotonic
from typing import NamedTuple

from epic_cli.engine.packets import PacketBlock
from epic_cli.recordings.addresses import ReceivedDatagram
from epic_cli.recordings.captures.frames import Broken, Frame, frames
from epic_cli.recordings.datagrams.counts import Refused, count_words
from epic_cli.recordings.datagrams.ingest import Ingest

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
    """Why a frame has no usable datagram."""

    UNKNOWN_LINK = "on links of an unknown kind"
    FRAGMENT = "of which only fragments were captured"
    CUT = "cut short when they were captured (the snapshot length)"
    DAMAGED = "with invalid lengths"
    NO_TIME = "without a time"
    TCP = "of TCP, of which no packets are read"
    OTHER = "of other protocols"


class Carried(NamedTuple):
    """A datagram, and from where to where it went."""

    source: tuple[str, int]
    target: tuple[str, int]
    data: bytes


def carried(frame: Frame) -> Carried | Lost:
    """The datagram in a frame."""
    if frame.time is None:
        return Lost.NO_TIME
    found = _packet(frame)
    if isinstance(found, Lost):
        return found
    packet = found
    version = packet[0] >> 4 if packet else 0
    if version == 4:
        return _in_ipv4(packet, frame.whole)
    return _in_ipv6(packet, frame.whole) if version == 6 else _short(frame.whole, packet)


def _short(whole: bool, packet: bytes = b"") -> Lost:
    """Why something is missing."""
    if packet:
        return Lost.OTHER
    return Lost.DAMAGED if whole else Lost.CUT


def _packet(frame: Frame) -> bytes | Lost:
    """The IP packet in a frame."""
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
        return _short(frame.whole)
    return data[begin:] if kind in (_IPV4, _IPV6) else Lost.OTHER


def _in_ipv4(packet: bytes, whole: bool) -> Carried | Lost:
    if len(packet) < 20:
        return _short(whole)
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
    return _in_udp(packet[head:length], length - head, ends, whole)


def _in_ipv6(packet: bytes, whole: bool) -> Carried | Lost:
    if len(packet) < 40:
        return _short(whole)
    length = int.from_bytes(packet[4:6], "big")
    kind, at = packet[6], 40
    for _ in range(_MOST_HEADERS):
        if kind not in (*_EXTENSIONS, _FRAGMENT):
            break
        if len(packet) < at + 8:
            return _short(whole)
        if kind == _FRAGMENT and int.from_bytes(packet[at + 2 : at + 4], "big") & 0xFFF9:
            return Lost.FRAGMENT
        size = 8 if kind == _FRAGMENT else 8 + 8 * packet[at + 1]
        kind, at = packet[at], at + size
    if kind != _UDP:
        return Lost.TCP if kind == _TCP else Lost.OTHER
    if 40 + length < at:
        return Lost.DAMAGED
    ends = [socket.inet_ntop(socket.AF_INET6, packet[one : one + 16]) for one in (8, 24)]
    return _in_udp(packet[at : 40 + length], 40 + length - at, ends, whole)


def _in_udp(segment: bytes, size: int, ends: list[str], whole: bool) -> Carried | Lost:
    """``size`` is what IP says of it, of which less may be there."""
    if len(segment) < 8:
        return Lost.DAMAGED if size < 8 else _short(whole)
    length = int.from_bytes(segment[4:6], "big")
    if not 8 <= length <= size:
        return Lost.DAMAGED
    if length > len(segment):
        return _short(whole)
    ports = [int.from_bytes(segment[at : at + 2], "big") for at in (0, 2)]
    return Carried((ends[0], ports[0]), (ends[1], ports[1]), segment[8:length])


#: Datagrams that are decoded together, and seconds that one waits for others of a running capture.
_AT_ONCE, _LONGEST_WAIT = 512, 0.05


class Capture:
    """Reads a capture; ``port``: only datagrams from it or to it. ``lost`` counts the others.

    ``broken`` says why the capture could not be read to its end; None: it was.
    """

    def __init__(self, ingest: Ingest, port: int | None = None) -> None:
        self._ingest = ingest
        self._port = port
        self.lost: Counter[Lost] = Counter()
        self.frames = 0
        self.broken: str | None = None

    def blocks(self, more: Callable[[int], bytes]) -> Iterator[PacketBlock]:
        """The packets of a capture; ``more`` reads so many bytes, and fewer only at the end."""
        waiting: list[ReceivedDatagram] = []
        since = monotonic()
        for one in self.datagrams(more):
            waiting.append(one)
            if len(waiting) == _AT_ONCE or monotonic() - since > _LONGEST_WAIT:
                yield self._ingest.take(waiting)
                waiting, since = [], monotonic()
        yield self._ingest.take(waiting)

    def datagrams(self, more: Callable[[int], bytes]) -> Iterator[ReceivedDatagram]:
        """The datagrams of a capture, with times since its first frame that has one."""
        first: int | None = None
        try:
            for frame in frames(more):
                self.frames += 1
                found = carried(frame)
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
        """How many packets were read."""
        return self._ingest.counts.packets

    @property
    def refused(self) -> Counter[Refused]:
        """What was rejected in the datagrams that were read."""
        return self._ingest.counts.refused

    def words(self) -> str:
        """A summary of what was read and what was skipped, in lines."""
        counts = self._ingest.counts
        lines = f"{counts.packets:,} packets in {counts.datagrams:,} datagrams of {self.frames:,}"
        lines += " frames\n"
        lost = [f"{self.lost[one]:,} {one.value}" for one in Lost if self.lost[one]]
        if lost:
            lines += f"frames skipped: {', '.join(lost)}\n"
        words = count_words(counts.refused, counts.example)
        lines += f"{words}\n" if words else ""
        return lines + (
            f"the capture is unreadable past here: {self.broken}\n" if self.broken else ""
        )
