"""The time of a thousand golden cases of a thousand rows.

    python tests/benchmarks/bench_check.py [--cases N]

Each case has a recording of its own of 51 s of jittered packets, drawn by one of the strategies in
a thousand rows, and its expected rows beside it. One in a hundred fails.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import tempfile
from pathlib import Path

from timing import EPIC, run

from epic_cli import strategies


def make(folder: Path, count: int) -> None:
    """Write the cases, without expected rows."""
    names = sorted(strategy.name for strategy in strategies())
    dice = random.Random(17)
    for number in range(count):
        case = folder / f"case{number:04}"
        case.mkdir()
        lines = []
        for step in range(499):
            time = step * 0.1
            arrival = time + 0.05 + dice.random() * 0.08
            lines.append(
                f"{time * 3:.3f},{step % 7},0 / 3,0,0 / {time:.3f} arrival={arrival:.4f}\n"
            )
        (case / "packets.txt").write_text("".join(lines))
        (case / "case.toml").write_text(
            f'recording = "packets.txt"\nstrategy = "{names[number % len(names)]}"\n'
        )


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=int, default=1000)
    count = parser.parse_args().cases
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make(folder, count)
        subprocess.run([EPIC, "check", "--accept", folder], stdout=subprocess.DEVNULL, check=True)
        rows = sum(path.read_bytes().count(b"\n") - 1 for path in folder.glob("*/expected.tsv"))
        found = run([EPIC, "check", str(folder)])
        one = run([EPIC, "check", "--threads", "1", str(folder)])
        print(f"{count:,} cases of {rows / count:,.0f} rows, all of which hold:")
        print(f"{found.seconds:6.2f} s, {found.peak:.0f} MB; in one thread {one.seconds:.2f} s")
        for path in sorted(folder.glob("*/expected.tsv"))[::100]:
            text = path.read_text()
            path.write_text(text.replace("\t3\t", "\t3.5\t"))
        begun = subprocess.run([EPIC, "check", folder], capture_output=True, check=False)
        words = begun.stdout.decode().splitlines()[-1]
        print(f"with one in a hundred that fails: {words}")


if __name__ == "__main__":
    main()
