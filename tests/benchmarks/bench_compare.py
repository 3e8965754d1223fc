"""The time of a comparison, as ratios measured in one run.

    python tests/benchmarks/bench_compare.py --demo PATH_OF_THE_DEMO [--packets 100000]

The demo is the original C++ program, built with ``g++ -O2``. Prints the time of a comparison of
N strategies, once with one thread and once with two, as a multiple of N runs of the demo over
the same packets, and how much faster two threads are. What two processes gain that have nothing
to do with each other says how much of a second core there was at that moment.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from epic_cli.engine.packets import PacketBlock
from epic_cli.engine.replay import separate
from epic_cli.engine.replay.playback import Timing
from epic_cli.engine.replay.strategy_spec import read_specs
from epic_cli.metrics.evaluation import CompareSpec, Run, compare_run
from epic_cli.recordings.reading import read


def write(path: Path, packets: int) -> None:
    """Write a recording of a figure of eight, with a packet each 50 ms."""
    with path.open("w") as file:
        for k in range(packets):
            t = k * 0.05
            x, y = 40 * math.sin(0.3 * t), 25 * math.sin(0.6 * t)
            vx, vy = 12 * math.cos(0.3 * t), 15 * math.cos(0.6 * t)
            file.write(f"{x:.4f},{y:.4f},0 / {vx:.4f},{vy:.4f},0 / {t:.3f}\n")


def load(path: Path) -> dict[str, PacketBlock]:
    """Return the packets of the file by entity."""
    entities: dict[str, PacketBlock] = {}
    with path.open("rb") as file:
        for block in read(file.fileno()):
            separate(block, entities)
    return entities


def best(work: Callable[[], object], rounds: int) -> float:
    """Return the shortest time of several runs, in seconds."""
    times = []
    for _ in range(rounds):
        begun = time.perf_counter()
        work()
        times.append(time.perf_counter() - begun)
    return min(times)


def main() -> None:
    """Measure the ratios, and print them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--demo", type=Path, required=True)
    parser.add_argument("--packets", type=int, default=100_000)
    parser.add_argument("--strategies", default="epic,epic+calc_ahead=0.1,epic+calc_ahead=0.3,"
                        "epic+display_behind=0.1,epic+display_behind=0.3,epic+display_behind=0,"
                        "epic+slop_time=1,epic+start=packet")  # fmt: skip
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    chosen = read_specs(given.strategies.split(","))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "packets.txt"
        write(path, given.packets)

        def demo() -> None:
            with path.open("rb") as file:
                subprocess.run(
                    [given.demo],
                    stdin=file,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    check=True,
                )

        def comparison(threads: int) -> None:
            spec = CompareSpec(chosen, Timing(), intervals=False, threads=threads)
            compare_run(Run("", load(path)), spec)

        reference = best(demo, given.rounds)
        parsing = best(lambda: load(path), given.rounds)
        one = best(lambda: comparison(1), given.rounds)
        two = best(lambda: comparison(2), given.rounds)

        def processes() -> None:
            pair = [multiprocessing.Process(target=comparison, args=(1,)) for _ in range(2)]
            for process in pair:
                process.start()
            for process in pair:
                process.join()

        apart = best(processes, given.rounds)
    count = len(chosen)
    print(f"{count} strategies, {given.packets} packets; the demo takes {reference:.3f} s")
    print(f"one thread:  {one:.3f} s, {one / reference / count:.3f} x N demo runs")
    print(f"two threads: {two:.3f} s, {two / reference / count:.3f} x N demo runs")
    print(f"two threads are {one / two:.2f} times as fast as one")
    print(f"two independent processes: {2 * one / apart:.2f} times")
    print(f"without the parsing ({parsing:.3f} s): {(one - parsing) / (two - parsing):.2f} times")


if __name__ == "__main__":
    main()
