"""A hundred million packets through ``epic replay``: memory must not grow.

    python -m endurance.scale --packets 100000000

An entity goes round for weeks, with 20 packets a second and a row for each, from a pipe into a
pipe. What the process has resident is told along the way (where there is a ``/proc``).
"""

from __future__ import annotations

import argparse
import math
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import IO, NamedTuple

#: Packets of one round, which takes a thousand seconds.
ROUND = 20_000

#: Bytes by which memory may grow from a tenth of the way to the end.
MOST_MORE = 4_000_000


class Seen(NamedTuple):
    """The packets replayed so far, and the resident memory (bytes) at that point."""

    packets: int
    resident: int


def round_of_packets() -> bytes:
    """Return the packets of one round of 1,000 s, with ``@`` in place of the round's number."""
    lines = []
    for k in range(ROUND):
        angle = math.tau * k / ROUND
        x, y = 100 * math.cos(angle), 100 * math.sin(angle)
        vx, vy = -y * math.tau / 1000, x * math.tau / 1000
        seconds, hundredths = divmod(k * 5, 100)
        stamp = f"@{seconds:03d}.{hundredths:02d}"
        lines.append(f"{x:.3f},{y:.3f},0.000 / {vx:.3f},{vy:.3f},0.000 / {stamp}\n")
    return "".join(lines).encode()


def resident(process: int) -> int:
    """Return a process's resident memory in bytes; 0 if unknown."""
    try:
        pages = Path(f"/proc/{process}/statm").read_text().split()[1]
    except OSError:
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def replay(packets: int) -> tuple[int, list[Seen]]:
    """Return the number of rows of this many packets, and the memory after each tenth of them."""
    command = [sys.executable, "-m", "epic_cli", "replay", "--clock", "exact"]
    pipe = subprocess.PIPE
    rows = 0

    def count(stream: IO[bytes]) -> None:
        nonlocal rows
        while some := stream.read(1 << 16):
            rows += some.count(b"\n")

    seen: list[Seen] = []
    text, rounds = round_of_packets(), packets // ROUND
    with subprocess.Popen(command, stdin=pipe, stdout=pipe) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        reader = threading.Thread(target=count, args=(process.stdout,))
        reader.start()
        for number in range(rounds):
            process.stdin.write(text.replace(b"@", b"%d" % number))
            if (number + 1) * 10 // rounds > len(seen):
                seen.append(Seen((number + 1) * ROUND, resident(process.pid)))
                print(
                    f"{seen[-1].packets:>12,} packets, {seen[-1].resident / 1e6:.1f} MB", flush=True
                )
        process.stdin.close()
        reader.join()
    return rows, seen


def grown(seen: list[Seen]) -> bool:
    """Return whether memory grew."""
    return seen[-1].resident - seen[0].resident > MOST_MORE


def main() -> int:
    """Run the replay and print its cost; return 1 if memory grew or rows are missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--packets", type=int, default=100_000_000)
    packets = parser.parse_args().packets // ROUND * ROUND
    begin = time.monotonic()
    rows, seen = replay(packets)
    print(f"{rows:,} rows in {time.monotonic() - begin:.0f} s")
    return int(rows < packets or grown(seen))


if __name__ == "__main__":
    sys.exit(main())
