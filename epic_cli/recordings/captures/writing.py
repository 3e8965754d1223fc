"""Datagrams as a capture that Wireshark reads: classic pcap with synthesized IP headers."""

from __future__ import annotations

import socket
import struct
from typing import Any

from epic_cli.recordings.addresses import ReceivedDatagram

#: Times in nanoseconds; frames that begin with IP itself (LINKTYPE_RAW).
HEADER = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 1 << 18, 101)
_RECORD = struct.Struct("<IIII")
_UDP = 17


def capture_record(one: ReceivedDatagram, target: tuple[Any, ...], wall: int) -> bytes:
    """A datagram to ``target`` as a record, with its sender and synthesized IP and UDP headers.

    ``wall`` is its arrival in nanoseconds since 1970.
    """
    packet = _packet(one, target)
    seconds, rest = divmod(wall, 10**9)
    return _RECORD.pack(seconds, rest, len(packet), len(packet)) + packet


def whole_records(data: bytes, most: int) -> int:
    """How many of so many bytes behind the header are whole records."""
    at = 0
    while at + _RECORD.size <= most:
        end = at + _RECORD.size + int(_RECORD.unpack_from(data, at)[2])
        if end > most:
            break
        at = end
    return at


def _packet(one: ReceivedDatagram, target: tuple[Any, ...]) -> bytes:
    """Wraps a datagram in IP and UDP headers."""
    size = 8 + len(one.data)
    udp = struct.pack(">HHHH", one.sender[1], target[1], size, 0) + one.data
    if ":" in one.sender[0]:
        ends = b"".join(
            socket.inet_pton(socket.AF_INET6, end.partition("%")[0])
            for end in (one.sender[0], target[0])
        )
        checked = _checksum(ends + struct.pack(">II", size, _UDP) + udp) or 0xFFFF
        udp = udp[:6] + checked.to_bytes(2, "big") + udp[8:]
        return struct.pack(">IHBB", 6 << 28, size, _UDP, 64) + ends + udp
    ends = socket.inet_aton(one.sender[0]) + socket.inet_aton(target[0])
    head = struct.pack(">BBHHHBBH", 0x45, 0, 20 + size, 0, 0, 64, _UDP, 0) + ends
    return head[:10] + _checksum(head).to_bytes(2, "big") + head[12:] + udp


def _checksum(data: bytes) -> int:
    """The Internet checksum (RFC 1071)."""
    if len(data) % 2:
        data += b"\0"
    total: int = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return total ^ 0xFFFF
