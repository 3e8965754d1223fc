"""Datagrams as a capture that Wireshark reads: classic pcap with synthesized IP headers."""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Sequence
from typing import Any

from epic_cli.live.receiving import machine_time
from epic_cli.live.recording import Recording, Rotation, WholeFile
from epic_cli.recordings.addresses import ReceivedDatagram

#: Times in nanoseconds; frames that begin with IP itself (LINKTYPE_RAW).
_HEADER = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 1 << 18, 101)
_RECORD = struct.Struct("<IIII")
_UDP = 17


class DatagramRecording(Recording):
    """Writes each datagram as it was received, with its arrival and its sender.

    The IP and UDP headers are synthesized, from the sender to ``target``.
    """

    unit = "datagrams"

    def __init__(
        self, path: str, target: tuple[Any, ...], rotation: Rotation | None = None
    ) -> None:
        self._target = target
        self.file = WholeFile(path, _HEADER, _whole_records, rotation)
        self._wall = time.time_ns() - int(machine_time() * 1e9)

    def take_datagrams(self, received: Sequence[ReceivedDatagram]) -> None:
        """Writes datagrams."""
        records: list[bytes] = []
        for one in received:
            packet = _packet(one, self._target)
            seconds, rest = divmod(self._wall + round(one.time * 1e9), 10**9)
            records += (_RECORD.pack(seconds, rest, len(packet), len(packet)), packet)
        if records:
            self.file.write(b"".join(records), len(received))


def _whole_records(data: bytes, most: int) -> int:
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
