"""The cost of an entity: packets of one and of very many entities, through ``epic replay``.

    python tests/benchmarks/bench_entities.py [--strategy NAME] [--most 1000000]

Every recording has the same number of packets and rows, ten packets and twenty rows a second for
each entity, so that only the number of entities differs. Processor time, the median of the runs.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

from timing import EPIC

COUNTS = (1, 100, 10_000, 100_000, 1_000_000)


class Cost(NamedTuple):
    """Processor seconds and peak memory in MB of one run."""

    seconds: float
    peak: float


def write_recording(path: Path, entities: int, packets: int) -> None:
    """Write this many packets of this many entities, in turn, ten times a second."""
    with path.open("w") as stream:
        for k in range(packets):
            step, number = divmod(k, entities)
            at = f"{step / 10:.1f}"
            stream.write(f"{number}.25,{step % 7},1.5 / 2.5,-1,0.125 / {at} entity=tank{number}\n")


def cost(command: list[str]) -> Cost:
    """Return the cost of one run, the interpreter's own start included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        ["/usr/bin/env", *command], check=False, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        print(f"  status {done.returncode}: {done.stderr[:200]!r}")
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(seconds, after.ru_maxrss / 1024)


def main() -> None:
    """Measure every number of entities."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--strategy", default="epic")
    parser.add_argument("--packets", type=int, default=2_000_000)
    parser.add_argument("--most", type=int, default=COUNTS[-1], help="the most entities")
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    print(f"{'entities':>10s}{'ns a packet':>13s}{'of one':>8s}{'peak MB':>9s}{'bytes each':>12s}")
    one = None
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "recording.txt"
        for entities in (count for count in COUNTS if count <= options.most):
            write_recording(path, entities, options.packets)
            command = [EPIC, "replay", "-s", options.strategy, "-f", "tsv", str(path)]
            runs = [cost(command) for _ in range(options.runs)]
            each = statistics.median(run.seconds for run in runs) / options.packets
            one = one or Cost(each, runs[0].peak)
            # the peak of all children so far: it only ever grows, as the counts do
            extra = (runs[-1].peak - one.peak) * 2**20 / entities
            print(
                f"{entities:10,d}{each * 1e9:13.0f}{each / one.seconds:8.2f}"
                f"{runs[-1].peak:9.1f}{extra:12.0f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
