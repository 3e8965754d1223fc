"""Captures, byte by byte."""

import socket
import struct

UDP = 17
SENDER, SERVER = ("10.0.0.1", 5000), ("10.0.0.2", 7777)
SENDER6, SERVER6 = ("fe80::1", 5000), ("fe80::2", 7777)


def udp(data: bytes, source: int = 5000, target: int = 7777, length: int | None = None) -> bytes:
    """Return a segment; ``length`` is the length in its header."""
    size = 8 + len(data) if length is None else length
    return struct.pack(">HHHH", source, target, size, 0) + data


def ipv4(
    segment: bytes, *, protocol: int = UDP, fragment: int = 0, length: int | None = None,
    options: bytes = b"", ends: tuple[str, str] = (SENDER[0], SERVER[0]),
) -> bytes:  # fmt: skip
    """Return an IPv4 packet."""
    size = 20 + len(options) + len(segment) if length is None else length
    head = struct.pack(">BBHHHBBH", 0x45 + len(options) // 4, 0, size, 1, fragment, 64, protocol, 0)
    return head + b"".join(map(socket.inet_aton, ends)) + options + segment


def ipv6(segment: bytes, headers: bytes = b"", kind: int = UDP) -> bytes:
    """Return an IPv6 packet; ``headers`` precede the segment, the first of this kind."""
    ends = b"".join(socket.inet_pton(socket.AF_INET6, pair[0]) for pair in (SENDER6, SERVER6))
    size = len(headers) + len(segment)
    return struct.pack(">IHBB", 6 << 28, size, kind, 64) + ends + headers + segment


def ethernet(packet: bytes, tags: bytes = b"") -> bytes:
    """Return a frame, with the ``tags`` of VLANs."""
    kind = b"\x86\xdd" if packet[:1] > b"\x5f" else b"\x08\x00"
    return bytes(12) + tags + kind + packet


def pcap(
    frames: list[tuple[float, bytes]], link: int = 1, *, order: str = "<", nano: bool = False,
    snap: int = 65535,
) -> bytes:  # fmt: skip
    """Return a pcap capture."""
    per_second = 10**9 if nano else 10**6
    magic = 0xA1B23C4D if nano else 0xA1B2C3D4
    out = struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, snap, link)
    for time, frame in frames:
        seconds, rest = divmod(round(time * per_second), per_second)
        taken = frame[:snap]
        out += struct.pack(order + "IIII", seconds, rest, len(taken), len(frame)) + taken
    return out


def block(kind: int, body: bytes, order: str = "<") -> bytes:
    """Return a block of pcapng."""
    body += bytes(-len(body) % 4)
    size = struct.pack(order + "I", 12 + len(body))
    return struct.pack(order + "I", kind) + size + body + size


def section(order: str = "<") -> bytes:
    """Return the header of a section."""
    return block(0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1), order)


def interface(link: int = 1, order: str = "<", options: bytes = b"") -> bytes:
    """Return an interface."""
    return block(1, struct.pack(order + "HHI", link, 0, 0) + options, order)


def packet(
    time: float, frame: bytes, order: str = "<", number: int = 0, per_second: float = 1e6
) -> bytes:
    """Return an enhanced packet."""
    stamp = round(time * per_second)
    head = (number, stamp >> 32, stamp & 0xFFFFFFFF, len(frame), len(frame))
    return block(6, struct.pack(order + "IIIII", *head) + frame, order)


def pcapng(frames: list[tuple[float, bytes]], link: int = 1, order: str = "<") -> bytes:
    """Return a pcapng capture."""
    return (
        section(order)
        + interface(link, order)
        + b"".join(packet(time, frame, order) for time, frame in frames)
    )
