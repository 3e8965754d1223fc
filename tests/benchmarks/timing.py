"""Timing whole commands in pairs: what the benchmarks share."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

#: ``epic`` as installed beside this Python.
EPIC = str(Path(sys.executable).with_name("epic"))


class Run(NamedTuple):
    """A run of a command: wall-clock seconds and peak memory in MB."""

    seconds: float
    peak: float


def run(command: Sequence[str], stdin: Path | None = None) -> Run:
    """Run a command with its output discarded; raise if it fails."""
    with open(stdin or os.devnull, "rb") as source:  # noqa: PTH123
        begin = time.perf_counter()
        process = subprocess.Popen(
            command, stdin=source, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, list(command))
    return Run(seconds, usage.ru_maxrss / 1024)


def ratio(
    first: Sequence[str], second: Sequence[str], stdin: Path | None = None, runs: int = 5
) -> tuple[float, Run, Run]:
    """Return the median ratio of first to second over pairs of runs, and the median of each.

    One run of each comes before as a warm-up.
    """
    pairs = [(run(first, stdin), run(second, stdin)) for _ in range(runs + 1)][1:]
    quotients = [a.seconds / b.seconds for a, b in pairs]
    medians = [
        Run(statistics.median(r.seconds for r in side), max(r.peak for r in side))
        for side in zip(*pairs, strict=True)
    ]
    return statistics.median(quotients), medians[0], medians[1]
