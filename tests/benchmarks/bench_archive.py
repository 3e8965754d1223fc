"""The time an archive takes: one process, two, and a Dask cluster of two workers here.

    python tests/benchmarks/bench_archive.py [--recordings 200] [--packets 10000]

Compares two strategies over many simulated recordings, and prints each time (wall clock and
processor) as a share of that of one thread in one process, and whether the answer is the same.
"""

from __future__ import annotations

import argparse
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

EPIC = (sys.executable, "-m", "epic_cli")
COMPARE = ("compare", "-q", "-s", "snapshot,lerp", "--tick", "50ms")


def record(folder: Path, recordings: int, packets: int) -> None:
    """Write simulated recordings: 20 packets a second over a link with jitter."""
    for seed in range(recordings):
        movement = f"strafe,duration={packets / 20}"
        command = [*EPIC, "simulate", "--movement", movement, "--seed", str(seed)]
        link = ["--latency", "80ms", "--jitter", "30ms"]
        with (folder / f"{seed:05}.txt").open("wb") as file:
            subprocess.run([*command, *link], stdout=file, stderr=subprocess.DEVNULL, check=True)


def timed(*options: str) -> tuple[float, bytes]:
    """Return the seconds of a comparison, and its output."""
    begun = time.perf_counter()
    done = subprocess.run([*EPIC, *COMPARE, *options], capture_output=True, check=True)
    return time.perf_counter() - begun, done.stdout


def cluster(port: int) -> list[subprocess.Popen[bytes]]:
    """Yield a scheduler with two workers of one thread each."""
    at = f"tcp://127.0.0.1:{port}"
    options = {
        "scheduler": ["--host", "127.0.0.1", "--port", str(port)],
        "worker": [at, "--nworkers", "2", "--nthreads", "1", "--host", "127.0.0.1"],
    }
    return [
        subprocess.Popen(
            [
                sys.executable,
                "-m",
                f"distributed.cli.dask_{name}",
                "--no-dashboard",
                *own,
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for name, own in options.items()
    ]


def main() -> None:
    """Measure one process, two, and the cluster, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--recordings", type=int, default=200)
    parser.add_argument("--packets", type=int, default=10_000)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        record(Path(folder), args.recordings, args.packets)
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = int(server.getsockname()[1])
        started = cluster(port)
        try:
            at = f"tcp://127.0.0.1:{port}"
            while (
                subprocess.run(
                    [*EPIC, *COMPARE, folder, "--cluster", at],
                    capture_output=True,
                    check=False,
                ).returncode
                == 3
            ):
                time.sleep(1)  # fmt: skip
            alone, answer = timed(folder, "--threads", "1")
            print(f"{args.recordings} recordings of {args.packets:,} packets, two strategies")
            print(f"{'one thread':20} {alone:6.1f} s  1.00")
            for name, options in (
                ("threads", ()),
                ("--workers 1", ("--workers", "1")),
                ("--workers 2", ("--workers", "2")),
                ("--cluster, 2", ("--cluster", at)),
            ):
                seconds, other = timed(folder, *options)
                same = "the same answer" if other == answer else "ANOTHER ANSWER"
                print(f"{name:20} {seconds:6.1f} s  {seconds / alone:.2f}  {same}")
        finally:
            for popen in reversed(started):
                popen.terminate()
                popen.wait()


if __name__ == "__main__":
    main()
