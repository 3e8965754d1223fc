"""The speed of epic beside the original and other programs, in one table.

    python tests/benchmarks --all [--demo ./epic_demo] [--runs 5]

Processor time of whole processes, start included, all output into /dev/null. The contestants take
turns; each figure is the median of the runs, with the spread between the quickest and the slowest.
Nothing is installed: what is not there is named below the table.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import bench_formats
from bench_replay import write_packets
from timing import EPIC

HERE = Path(__file__).parent

#: Slow contestants get fewer packets.
PACKETS, FEW = 1_000_000, 50_000


class Contestant(NamedTuple):
    """A command that replays packets, the number of its packets, and its input."""

    name: str
    command: list[str]
    packets: int = PACKETS
    plain: bool = False
    stdin: bool = False


def contestants(demo: str | None, files: dict[int, Path]) -> tuple[list[Contestant], list[str]]:
    """Return the programs that are installed, and a line for each that is not."""
    million, few = str(files[PACKETS]), str(files[FEW])
    found = [
        Contestant("epic replay", [EPIC, "replay", million]),
        Contestant("  without the vector unit", [EPIC, "replay", million], plain=True),
        Contestant("  the slowest strategy", [EPIC, "replay", "-s", "unity-ngo", million]),
        Contestant("  geckos", [EPIC, "replay", "-s", "geckos", million]),
        Contestant("a plain Python loop", [sys.executable, str(HERE / "plain_loop.py"), few], FEW),
    ]
    missing = []
    if demo:
        found.insert(0, Contestant("the original demo", [demo], stdin=True))
    else:
        missing.append("the original demo: build it with g++ -O2 and name it with --demo")
    script = [shutil.which("node") or "", str(HERE / "geckos.js"), few]
    library = "@geckos.io/snapshot-interpolation"
    if not script[0]:
        missing.append(f"geckos' JavaScript: there is no node ({library} would be next)")
    elif subprocess.run([script[0], "-e", f"require('{library}')"], capture_output=True).returncode:  # noqa: PLW1510
        missing.append(f"geckos' JavaScript: npm install {library}, and set NODE_PATH")
    else:
        found.append(Contestant("geckos' JavaScript, by node", script, FEW))
    return found, missing


def cost(one: Contestant, files: dict[int, Path]) -> float:
    """Return the processor seconds per packet of one run."""
    variables = {**os.environ, **({"EPIC_ENGINE": "plain"} if one.plain else {})}
    with open(files[one.packets] if one.stdin else os.devnull, "rb") as source:  # noqa: PTH123
        process = subprocess.Popen(
            one.command,
            stdin=source,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=variables,
        )
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, one.command)
    return (usage.ru_utime + usage.ru_stime) / one.packets


def print_replays(demo: str | None, runs: int) -> list[str]:
    """Print the speed of programs that turn packets into rows; return the missing programs."""
    with tempfile.TemporaryDirectory() as name:
        files = {count: Path(name) / f"{count}.txt" for count in (PACKETS, FEW)}
        for count, path in files.items():
            write_packets(path, count)
        found, missing = contestants(demo, files)
        costs: dict[str, list[float]] = {contestant.name: [] for contestant in found}
        for _ in range(runs):
            for contestant in found:
                costs[contestant.name].append(cost(contestant, files))
    print(f"{'packets to rows':32}{'ns a packet':>12}{'spread':>20}{'of epic':>10}")
    own = costs["epic replay"]
    for name, seconds in costs.items():
        times = statistics.median(a / b for a, b in zip(seconds, own, strict=True))
        print(f"{name:32}{_figures(seconds)}{times:9.1f}x")
    return missing


def print_readers(runs: int) -> list[str]:
    """Print the speed of programs that read recordings; return the missing programs."""
    data = bench_formats.recordings()
    readers: dict[str, Callable[[], int]] = {
        f"epic, {name}": lambda kind=kind, text=text: bench_formats.read(kind, text)  # type: ignore[misc]
        for name, (kind, text) in data.items()
    }
    readers |= bench_formats.others(data)
    costs: dict[str, list[float]] = {name: [] for name in readers}
    for _ in range(runs):
        for name, use in readers.items():
            begin = time.process_time()
            use()
            costs[name].append((time.process_time() - begin) / bench_formats.PACKETS)
    print(f"\n{'recordings to numbers':32}{'ns a packet':>12}{'spread':>20}")
    for name, seconds in costs.items():
        print(f"{name[:31]:32}{_figures(seconds)}")
    return [f"{word}: pip install {word}" for word in ("orjson", "pandas") if not _version(word)]


def _figures(seconds: list[float]) -> str:
    low, high = min(seconds) * 1e9, max(seconds) * 1e9
    return f"{statistics.median(seconds) * 1e9:12,.0f}{f'{low:,.0f} to {high:,.0f}':>20}"


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


def _said_by(*command: str) -> str:
    """Return the first line of a program's own description; empty if it is not installed."""
    if not shutil.which(command[0]):
        return ""
    said = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    return said.partition("\n")[0]


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def print_machine() -> None:
    """Print the machine that the figures were measured on."""
    print(time.strftime("%Y-%m-%d"), _processor(), f"{os.cpu_count()} cores", sep=", ")
    tools = [_said_by("g++", "--version"), f"Python {platform.python_version()}"]
    packages = ("epic-cli", "orjson", "pandas")
    tools += [f"{name} {_version(name)}" for name in packages if _version(name)]
    node = _said_by("node", "--version")
    print(*filter(None, [*tools, f"node {node}" if node else ""]), sep=", ", end="\n\n")


def main() -> None:
    """Print the table, and the programs that are missing in it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--all", action="store_true", required=True, help="the whole table")
    parser.add_argument("--demo", help="the original program, built with g++ -O2")
    parser.add_argument("--runs", type=int, default=5, help="runs of each")
    options = parser.parse_args()
    print_machine()
    missing = print_replays(options.demo, options.runs) + print_readers(options.runs)
    print()
    for name in missing:
        print(f"not there: {name}")


if __name__ == "__main__":
    main()
