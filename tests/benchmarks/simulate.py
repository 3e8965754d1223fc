"""The cost of a simulated packet, beside replaying it, with each kind of sender, and in memory.

Run it with ``python tests/benchmarks/simulate.py``; it prints ratios measured in one run.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from resource import struct_rusage

EPIC = [sys.executable, "-m", "epic_cli"]
BAD = ["--latency", "80ms", "--jitter", "20ms", "--loss", "2%", "--quiet"]
RUNS = 3

#: How packets are sent, and of what.
SENDERS = (
    ("bits=16", ""),
    ("bits=16,pack=delta", ""),
    ("quantize=0.01,pack=chain", ""),
    ("redundancy=2", ""),
    ("threshold=0,against=epic", ""),
    ("layout=unreal", ""),
    ("rotation_bits=9", ",turning=look"),
    ("rotation=euler", ",turning=look"),
    ("quantize=half-delta", ""),
    ("bits=16,pack=delta", ",entities=50"),
    ("bits=16,budget=500kbit", ",entities=50"),
    ("bits=16,separate=on", ",entities=50"),
)


def used(*args: str) -> struct_rusage:
    """Return the cost of one run."""
    process = subprocess.Popen([*EPIC, *args], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"epic {' '.join(args)}: status {status}")
    return usage


def seconds(*args: str) -> float:
    """Return the least CPU time of a few runs."""
    runs = [used(*args) for _ in range(RUNS)]
    return min(usage.ru_utime + usage.ru_stime for usage in runs)


def simulate(packets: int, path: str = "circle", send: str = "20hz") -> list[str]:
    """Return a simulation of about this many packets."""
    each = 20 * (50 if "entities=50" in path else 1)
    return ["simulate", *BAD, "--movement", f"{path},duration={packets // each}", "--send", send]


def main() -> None:
    """Print the ratios."""
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "packets.txt")
        short, long = 20_000, 120_000
        used(*simulate(long), "--output", file)
        begun = seconds("--version")
        replayed = seconds("replay", file) - begun
        for path in ("circle", "strafe"):
            made = seconds(*simulate(long, path), "--output", file) - begun
            print(f"{path}: {made / long * 1e6:.1f} us a packet,", end=" ")
            print(f"{made / replayed:.1f} times the time of replaying it")
        for send, of in SENDERS:
            spent = (
                seconds(*simulate(long, f"strafe{of}", f"20hz,{send}"), "--output", file) - begun
            )
            print(f"{send}{of}: {spent / long * 1e6:.1f} s for a million updates,", end=" ")
            print(f"{spent / made:.1f} times 20hz")
        peaks = [used(*simulate(packets), "--output", file).ru_maxrss for packets in (short, long)]
        print(f"memory for {long // short} times the packets: {peaks[1] / peaks[0]:.2f} times")


if __name__ == "__main__":
    main()
