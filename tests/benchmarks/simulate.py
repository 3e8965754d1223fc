"""What a simulated packet costs: time beside that of replaying it, and memory.

Run it with ``python tests/benchmarks/simulate.py``; it prints ratios measured in one run.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

EPIC = [sys.executable, "-m", "epic_cli"]
BAD = ["--latency", "80ms", "--jitter", "20ms", "--loss", "2%", "--quiet"]
RUNS = 3


def seconds(*args: str) -> float:
    """The best of a few runs."""
    best = float("inf")
    for _ in range(RUNS):
        begin = time.perf_counter()
        subprocess.run([*EPIC, *args], stdout=subprocess.DEVNULL, check=True)
        best = min(best, time.perf_counter() - begin)
    return best


def peak_memory(*args: str) -> int:
    """The most memory that one run has, in the unit of ``getrusage``."""
    process = subprocess.Popen([*EPIC, *args], stdout=subprocess.DEVNULL)
    _, _, usage = os.wait4(process.pid, 0)
    return usage.ru_maxrss


def simulate(packets: int, path: str = "circle") -> list[str]:
    """A simulation of about so many packets."""
    return ["simulate", *BAD, "--movement", f"{path},duration={packets // 20}", "--send", "20hz"]


def main() -> None:
    """Prints the ratios."""
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "packets.txt")
        short, long = 20_000, 120_000
        subprocess.run([*EPIC, *simulate(long), "--output", file], check=True)
        begun = seconds("--version")
        replayed = seconds("replay", file) - begun
        for path in ("circle", "strafe"):
            made = seconds(*simulate(long, path), "--output", file) - begun
            print(f"{path}: {made / long * 1e6:.1f} us a packet,", end=" ")
            print(f"{made / replayed:.1f} times the time of replaying it")
        peaks = [peak_memory(*simulate(packets), "--output", file) for packets in (short, long)]
        print(f"memory for {long // short} times the packets: {peaks[1] / peaks[0]:.2f} times")


if __name__ == "__main__":
    main()
