"""What ``epic listen`` can take: packets a second without a drop, CPU time of each, and memory.

    python tests/benchmarks/bench_listen.py [--rate 20000] [--seconds 10] [--minutes 60]

One program sends packets of a hundred entities, each in a datagram of its own, at an even rate;
``epic listen`` records and draws them. With ``--minutes 60`` the memory is looked at once a second
for an hour, and its slope printed.
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
from pathlib import Path

from timing import EPIC

ENTITIES = 100

LAYOUT = "time:f64 x:f32 y:f32 z:f32 vx:f32 vy:f32 vz:f32 id:u16"


def text(number: int, now: float) -> bytes:
    """A line of packet text."""
    return b"%d,2,3 / 4,5,6 / %.6f entity=e%d seq=%d" % (
        number % 1000,
        now,
        number % ENTITIES,
        number,
    )


def as_json(number: int, now: float) -> bytes:
    """A JSON object."""
    packet = {"entity": f"e{number % ENTITIES}", "time": now, "x": number % 1000, "y": 2, "z": 3}
    return json.dumps(packet).encode()


def csv(number: int, now: float) -> bytes:
    """A row under a header."""
    return b"entity,time,x,y,z\ne%d,%.6f,%d,2,3" % (number % ENTITIES, now, number % 1000)


def binary(number: int, now: float) -> bytes:
    """A record of ``LAYOUT``."""
    return struct.pack("<dffffffH", now, number % 1000, 2, 3, 4, 5, 6, number % ENTITIES)


FORMATS: dict[str, tuple[Callable[[int, float], bytes], list[str]]] = {
    "text": (text, []),
    "jsonl": (as_json, []),
    "csv": (csv, []),
    "binary": (binary, ["--layout", LAYOUT]),
}


def send(kind: str, port: int, rate: int, seconds: float, together: int) -> int:
    """Sends so many packets a second, ``together`` in a datagram; how many they were."""
    make = FORMATS[kind][0]
    game = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    begin = time.monotonic()
    number = 0
    while (now := time.monotonic() - begin) < seconds:
        while number < now * rate:
            some = [make(number + index, now) for index in range(together)]
            if kind == "csv":
                some[1:] = [one.partition(b"\n")[2] for one in some[1:]]
            game.sendto((b"" if kind == "binary" else b"\n").join(some), ("127.0.0.1", port))
            number += together
        time.sleep(0.001)
    return number


def megabytes(process: int) -> float:
    """What a process has of the machine's memory; 0 where nobody says."""
    try:
        pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    except OSError:
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def listened(kind: str, options: argparse.Namespace) -> Iterator[str]:
    """Figures of one run."""
    with tempfile.TemporaryDirectory() as folder:
        record = str(Path(folder) / "game.csv")
        listener = subprocess.Popen(
            [EPIC, "listen", "0", "-f", "csv", "--record", record, *FORMATS[kind][1]],
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
    yield f"{kind:10}{sent / options.seconds:12,.0f}{taken / options.seconds:12,.0f}"
    yield f"{dropped[-1]:>10}{cost:12.1f}{max(memory):10.1f}"
    if len(memory) > 20:
        slope = statistics.linear_regression(range(len(memory) - 10), memory[10:]).slope
        yield f"   memory grows by {slope * 60:.2f} MB a minute"
    if len(memory) > 600:
        curve = [f"{i // 60}: {memory[i]:.1f}" for i in range(60, len(memory), 300)]
        yield f"\n{'':10}MB after so many minutes: {', '.join(curve)}"


def main() -> None:
    """Prints a line for each format."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rate", type=int, default=20_000, help="packets a second")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--together", type=int, default=1, help="packets in a datagram")
    parser.add_argument("--minutes", type=float, help="text for so long: does memory grow")
    parser.add_argument("--send", choices=FORMATS, help=argparse.SUPPRESS)
    parser.add_argument("--port", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.send:
        print(send(options.send, options.port, options.rate, options.seconds, options.together))
        return
    if options.minutes:
        options.seconds = 60 * options.minutes
    print("              sent/s     taken/s   dropped    us CPU/packet   peak MB")
    for kind in ["text"] if options.minutes else FORMATS:
        print(*listened(kind, options), sep="", flush=True)


if __name__ == "__main__":
    main()
