"""The capacity of ``epic listen``: packets a second without a drop, CPU time of each, and memory.

    python tests/benchmarks/bench_listen.py [--rate 20000] [--seconds 10] [--minutes 60]

One program sends packets of a hundred entities, each in a datagram (or a message of TCP or
WebSocket) of its own, at an even rate; ``epic listen`` records and draws them. With
``--minutes 60`` the memory is looked at once a second for an hour, and its slope printed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from timing import EPIC

ENTITIES = 100

LAYOUT = "time:f64 x:f32 y:f32 z:f32 vx:f32 vy:f32 vz:f32 id:u16"
COUNTED = "magic:u32=0xCAFE _:u32 time:f64 n:u8 {id:u16 x:f32 y:f32 z:f32 vx:f32 vy:f32 vz:f32}[n]"


Make = Callable[[range, float], bytes]


def text(numbers: range, now: float) -> bytes:
    """Write packets as lines of packet text."""
    return b"\n".join(
        b"%d,2,3 / 4,5,6 / %.6f entity=e%d seq=%d" % (number % 1000, now, number % ENTITIES, number)
        for number in numbers
    )


def _objects(numbers: range, now: float) -> list[dict[str, Any]]:
    return [
        {"entity": f"e{number % ENTITIES}", "time": now, "x": number % 1000, "y": 2, "z": 3}
        for number in numbers
    ]


def as_json(numbers: range, now: float) -> bytes:
    """Write packets as JSON objects."""
    return b"\n".join(json.dumps(record).encode() for record in _objects(numbers, now))


def packed(numbers: range, now: float) -> bytes:
    """Write packets as maps of msgpack."""
    import msgpack

    return b"".join(msgpack.packb(record) for record in _objects(numbers, now))


def csv(numbers: range, now: float) -> bytes:
    """Write packets as rows under a header."""
    rows = (b"e%d,%.6f,%d,2,3" % (number % ENTITIES, now, number % 1000) for number in numbers)
    return b"\n".join((b"entity,time,x,y,z", *rows))


def binary(numbers: range, now: float) -> bytes:
    """Write packets as records of ``LAYOUT``."""
    return b"".join(
        struct.pack("<dffffffH", now, number % 1000, 2, 3, 4, 5, 6, number % ENTITIES)
        for number in numbers
    )


def counted(numbers: range, now: float) -> bytes:
    """Write packets as records of ``COUNTED`` under their header."""
    head = struct.pack("<IIdB", 0xCAFE, numbers.start, now, len(numbers))
    return head + b"".join(
        struct.pack("<Hffffff", number % ENTITIES, number % 1000, 2, 3, 4, 5, 6)
        for number in numbers
    )


def lines(make: Make, numbers: range, now: float) -> bytes:
    """Return text as TCP carries it, with a newline at the end."""
    return make(numbers, now) + b"\n"


def prefixed(make: Make, numbers: range, now: float) -> bytes:
    """Return a TCP message preceded by its length."""
    data = make(numbers, now)
    return struct.pack("<I", len(data)) + data


def framed(make: Make, numbers: range, now: float) -> bytes:
    """Return a WebSocket message; its mask of zeros leaves the bytes unchanged."""
    data = make(numbers, now)
    size = bytes([0x80 | len(data)]) if len(data) < 126 else struct.pack(">BH", 0xFE, len(data))
    return bytes([0x81 if data[:1] == b"{" else 0x82]) + size + bytes(4) + data


_LAYOUT, _COUNTED = ["--layout", LAYOUT], ["--layout", COUNTED]
FORMATS: dict[str, tuple[str, Make, list[str]]] = {
    "text": ("", text, []),
    "jsonl": ("", as_json, []),
    "csv": ("", csv, []),
    "msgpack": ("", packed, []),
    "binary": ("", binary, _LAYOUT),
    "counted": ("", counted, _COUNTED),
    "tcp text": ("tcp", partial(lines, text), []),
    "tcp json": ("tcp", partial(lines, as_json), []),
    "tcp binary": ("tcp", partial(prefixed, binary), _LAYOUT),
    "ws json": ("ws", partial(framed, as_json), []),
    "ws binary": ("ws", partial(framed, counted), _COUNTED),
}


def connection(scheme: str, port: int) -> socket.socket:
    """Return a socket to the listener."""
    place = ("127.0.0.1", port)
    if not scheme:
        game = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        game.connect(place)
        return game
    game = socket.create_connection(place)
    if scheme == "ws":
        game.sendall(
            b"GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n"
        )
        assert b" 101 " in game.recv(9999)
    return game


def send(kind: str, port: int, rate: int, seconds: float, together: int) -> int:
    """Send this many packets a second, ``together`` in one message; return the number sent."""
    scheme, make, _ = FORMATS[kind]
    game = connection(scheme, port)
    begin = time.monotonic()
    number = 0
    while (now := time.monotonic() - begin) < seconds:
        while number < now * rate:
            game.sendall(make(range(number, number + together), now))
            number += together
        time.sleep(0.001)
    return number


def megabytes(process: int) -> float:
    """Return a process's resident memory (MB); 0 if the system does not tell."""
    try:
        pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    except OSError:
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def listened(kind: str, options: argparse.Namespace) -> Iterator[str]:
    """Return the figures of one run."""
    with tempfile.TemporaryDirectory() as folder:
        record = str(Path(folder) / "game.csv")
        scheme, _, more = FORMATS[kind]
        place = f"{scheme}://127.0.0.1:0" if scheme else "0"
        listener = subprocess.Popen(
            [EPIC, "listen", place, "-f", "csv", "--record", record, *more],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        assert listener.stderr is not None
        port = int(listener.stderr.readline().rpartition(b":")[2])
        own = [sys.executable, __file__, "--send", kind, "--port", str(port)]
        own += ["--rate", str(options.rate), "--seconds", str(options.seconds)]
        game = subprocess.Popen([*own, "--together", str(options.together)], stdout=subprocess.PIPE)
        memory = []
        while game.poll() is None:
            memory.append(megabytes(listener.pid))
            time.sleep(1)
        assert game.stdout is not None
        sent = int(game.stdout.read())
        time.sleep(0.5)
        listener.terminate()
        said = listener.stderr.read().decode()
        usage = os.wait4(listener.pid, 0)[2]
    listener.returncode = 0
    taken = int(re.findall(r"([\d,]+) packets recorded", said)[0].replace(",", ""))
    dropped = re.findall(r"([\d,]+) datagrams dropped", said) or ["0"]
    cost = (usage.ru_utime + usage.ru_stime) / max(taken, 1) * 1e6
    yield f"{kind:11}{sent / options.seconds:12,.0f}{taken / options.seconds:12,.0f}"
    yield f"{dropped[-1]:>10}{cost:12.1f}{max(memory):10.1f}"
    if len(memory) > 20:
        slope = statistics.linear_regression(range(len(memory) - 10), memory[10:]).slope
        yield f"   memory grows by {slope * 60:.2f} MB a minute"
    if len(memory) > 600:
        curve = [f"{i // 60}: {memory[i]:.1f}" for i in range(60, len(memory), 300)]
        yield f"\n{'':10}MB after each of these minutes: {', '.join(curve)}"


def main() -> None:
    """Print a line for each format."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rate", type=int, default=20_000, help="packets a second")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--together", type=int, default=1, help="packets in a datagram")
    parser.add_argument("--only", choices=FORMATS, action="append", help="may be repeated")
    parser.add_argument("--minutes", type=float, help="how long to send text: does memory grow")
    parser.add_argument("--send", choices=FORMATS, help=argparse.SUPPRESS)
    parser.add_argument("--port", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.send:
        print(send(options.send, options.port, options.rate, options.seconds, options.together))
        return
    if options.minutes:
        options.seconds = 60 * options.minutes
    print("               sent/s     taken/s   dropped    us CPU/packet   peak MB")
    for kind in ["text"] if options.minutes else options.only or FORMATS:
        print(*listened(kind, options), sep="", flush=True)


if __name__ == "__main__":
    main()
