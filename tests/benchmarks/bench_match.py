"""A comparison of a whole match: processor time, wall time and memory, beside a replay of it.

    python tests/benchmarks/bench_match.py [--minutes 10] [--entities 64] [--strategies NAME,...]

Writes a recording of this many entities at 20 packets a second, sent by a server's tick: all
states of a tick have one stamp. Prints the cost of ``epic compare`` with one thread and with two,
and, as a ratio of the same run, how many replays of the recording by the demo's strategy, with as
many rows, a strategy's comparison takes.
"""

from __future__ import annotations

import argparse
import math
import os
import subprocess
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from timing import EPIC

RATE = 20


class Cost(NamedTuple):
    """Processor seconds, wall seconds and peak memory in MB of one run."""

    cpu: float
    wall: float
    peak: float


def write_match(path: Path, entities: int, seconds: float) -> None:
    """Write entities that each move on a figure of its own, to hundredths of a millimeter."""
    with path.open("w") as stream:
        stream.write("entity,time,x,y,z,vx,vy,vz\n")
        for tick in range(round(seconds * RATE)):
            t = tick / RATE
            for one in range(entities):
                a, b = 0.3 + one / 97, 0.7 + one / 53
                x, y = 40 * math.sin(a * t + one), 25 * math.sin(b * t)
                vx, vy = 40 * a * math.cos(a * t + one), 25 * b * math.cos(b * t)
                stream.write(f"p{one},{t:.2f},{x:.5f},{y:.5f},0,{vx:.5f},{vy:.5f},0\n")


def run(output: Path, *words: str) -> Cost:
    """Return the cost of a command of ``epic`` that writes to a file."""
    begin = time.perf_counter()
    with output.open("w") as stream:
        process = subprocess.Popen([EPIC, *words], stdout=stream, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, words)
    return Cost(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--entities", type=int, default=64)
    parser.add_argument("--strategies", help="all of them if not given")
    options = parser.parse_args()
    latency = ("--latency", "60ms")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "match.csv"
        write_match(path, options.entities, 60 * options.minutes)
        chosen = ("-s", options.strategies) if options.strategies else ()
        how = (*chosen, *latency, "-f", "csv", str(path))
        replaying = ("-s", "epic", *latency, "--tick", "1/60", "-f", "csv", str(path))
        replay = run(Path(os.devnull), "replay", *replaying)
        table = Path(folder) / "table.csv"
        costs = {
            threads: run(table, "compare", *how, "--threads", str(threads)) for threads in (1, 2)
        }
        count = len(table.read_text().splitlines()) - 1
    print(f"{options.entities} entities, {options.minutes:g} minutes, {count} strategies")
    print(f"{'':12s}{'CPU s':>8s}{'wall s':>8s}{'MB':>7s}{'replays each':>14s}")
    print(f"{'replay':12s}{replay.cpu:8.1f}{replay.wall:8.1f}{replay.peak:7.0f}")
    for threads, cost in costs.items():
        name = f"{threads} thread{'s' if threads > 1 else ''}"
        each = cost.cpu / count / replay.cpu
        print(f"{name:12s}{cost.cpu:8.1f}{cost.wall:8.1f}{cost.peak:7.0f}{each:14.2f}")
    print(f"two threads are {costs[1].wall / costs[2].wall:.2f} times as fast as one")


if __name__ == "__main__":
    main()
