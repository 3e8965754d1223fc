"""The speed of ``epic replay``, in ratios measured in one run on one machine.

    python tests/benchmarks/bench_replay.py --demo ./epic_demo

``--demo`` is the original C++ program, built from its source with ``g++ -O2``. Everything is
written into /dev/null. Each figure is the median of ratios taken in pairs.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from pathlib import Path

from timing import EPIC, ratio, run

from epic_cli.engine.strategies import list_names


def write_packets(path: Path, count: int) -> None:
    """Write packets of a wandering entity: 10 a second, three decimals, seeded."""
    numbers = random.Random(1)
    position, velocity = [0.0, 0.0, 0.0], [1.0, 2.0, 0.5]
    with path.open("w") as stream:
        for k in range(count):
            for axis in range(3):
                velocity[axis] = 0.99 * (velocity[axis] + numbers.uniform(-0.5, 0.5))
                position[axis] += 0.1 * velocity[axis]
            x, y, z = position
            vx, vy, vz = velocity
            stream.write(f"{x:.3f},{y:.3f},{z:.3f} / {vx:.3f},{vy:.3f},{vz:.3f} / {k / 10:.2f}\n")


PYTHON_STRATEGY = '''
from epic_cli import Sample


class LastState:
    """The last received state, held: the least that a strategy in plain Python can do."""

    def reset(self):
        self.packet = None

    def update(self, packet, now):
        self.packet = packet
        return True

    def read(self, at):
        return Sample(at, self.packet.position, self.packet.velocity, "held")
'''


def bench_start(folder: Path, runs: int) -> None:
    """Measure a replay of ten lines against the import of click."""
    few = folder / "ten.txt"
    write_packets(few, 10)
    quotient, ours, theirs = ratio(
        [EPIC, "replay", str(few)], [sys.executable, "-c", "import click"], runs=runs
    )
    print(f"ten lines: {quotient:.2f} times 'import click'", end="")
    print(f" ({ours.seconds * 1e3:.0f} ms against {theirs.seconds * 1e3:.0f} ms)")


def bench_strategies(million: Path, demo: str, runs: int) -> None:
    """Measure every strategy against the original program."""
    print(f"{'a million packets':20s}{'times the demo':>16s}{'seconds':>10s}{'peak MB':>10s}")
    for name in list_names():
        command = [EPIC, "replay", "--strategy", name, str(million)]
        # the demo reads the file from its stdin, epic by its name
        quotient, theirs, ours = ratio([demo], command, million, runs)
        print(f"{name:20s}{quotient:16.1f}{ours.seconds:10.2f}{ours.peak:10.1f}")
    print(f"{'(the demo)':20s}{1:16.1f}{theirs.seconds:10.2f}{theirs.peak:10.1f}")


def bench_python(folder: Path, million: Path, runs: int) -> None:
    """Measure a strategy in plain Python against the equal compiled one."""
    (folder / "last_state.py").write_text(PYTHON_STRATEGY)
    begin = f"import sys; sys.path.insert(0, {str(folder)!r}); from epic_cli.main import run; "
    in_python = [sys.executable, "-c", begin + "run()", "replay", "-s", "last_state:LastState"]
    compiled = [EPIC, "replay", "-s", "dumb-terminal"]
    quotient, _, _ = ratio([*in_python, str(million)], [*compiled, str(million)], runs=runs)
    print(f"a strategy in plain Python: {quotient:.0f} times the time of the compiled one")


def bench_memory(folder: Path, million: Path) -> None:
    """Measure rate and memory with ten million packets: neither may get worse with the length."""
    long = folder / "long.txt"
    write_packets(long, 10_000_000)
    short_run, long_run = run([EPIC, "replay", str(million)]), run([EPIC, "replay", str(long)])
    print(f"ten million packets: {long_run.seconds / short_run.seconds:.1f} times the time", end="")
    print(f" of one million, peak {long_run.peak:.1f} MB against {short_run.peak:.1f} MB")


def main() -> None:
    """Run all benchmarks of this file."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--demo", help="the original program; without it, no ratio to it")
    parser.add_argument("--runs", type=int, default=5, help="pairs for each figure")
    parser.add_argument("--long", action="store_true", help="ten million packets, too")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        bench_start(folder, 3 * options.runs)
        million = folder / "million.txt"
        write_packets(million, 1_000_000)
        if options.demo:
            bench_strategies(million, options.demo, options.runs)
        bench_python(folder, million, 1)
        if options.long:
            bench_memory(folder, million)


if __name__ == "__main__":
    main()
