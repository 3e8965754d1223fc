"""The exactness of the delays of ``epic proxy``, and its share of one core.

    python tests/benchmarks/bench_proxy.py [--seconds 5] [--latency 50]

A program in C (udp_pace.c, built here with cc) sends through the proxy over the loopback at an even
pace and takes the kernel's times of arrival: the error is how much longer than the latency that was
asked for each datagram took. ``direct`` is the same without a proxy, what the machine itself adds.
Prints quantiles of the error in milliseconds, the share that never came, and the processor's time
for each datagram; 100 us each at 10,000/s would be the whole of one core.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent
RATES = (1000, 5000, 10_000)
LISTEN, TARGET = 19871, 19872


def pace(program: Path, port: int, rate: int, seconds: int) -> list[float]:
    """Return the delay of each datagram in milliseconds; negative for a lost datagram."""
    command = [str(program), str(TARGET), str(port), str(rate), str(seconds)]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [float(line) / 1000 for line in printed.split()]


def processor_time(process: int) -> float:
    """Return the processor seconds that a process has used."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def through_proxy(
    program: Path, rate: int, seconds: int, latency: float, more: list[str]
) -> tuple[list[float], float]:
    """Return the delays through the proxy, and the microseconds of CPU time per datagram."""
    words = ["proxy", "--latency", f"{latency}ms", *more, str(LISTEN), str(TARGET)]
    command = [sys.executable, "-m", "epic_cli", *words]
    process = subprocess.Popen(command, stderr=subprocess.PIPE)
    assert process.stderr is not None
    process.stderr.readline()  # it listens
    time.sleep(0.2)
    before = processor_time(process.pid)
    taken = pace(program, LISTEN, rate, seconds)
    used = processor_time(process.pid) - before
    process.send_signal(signal.SIGINT)
    process.communicate()
    return taken, 1e6 * used / len(taken)


def show(name: str, taken: list[float], latency: float, cost: float) -> None:
    """Print one line of the table."""
    came = sorted(value - latency for value in taken if value >= 0)
    quantiles = (came[min(int(len(came) * q), len(came) - 1)] for q in (0.5, 0.99, 0.999, 1))
    figures = "".join(f"{quantile:9.3f}" for quantile in quantiles)
    lost = 1 - len(came) / len(taken)
    print(f"{name:24}{figures}{100 * lost:9.2f}%{cost:10.1f}", flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--latency", type=float, default=50, help="ms")
    parser.add_argument("--nice", type=int, default=0, help="below 0: before other programs (root)")
    options = parser.parse_args()
    os.nice(options.nice)
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "udp_pace"
        source = str(HERE / "udp_pace.c")
        subprocess.run(["cc", "-O2", "-pthread", "-o", str(program), source], check=True)
        heads = "".join(f"{word:>9}" for word in ("p50", "p99", "p99.9", "max", "lost"))
        print(f"{'error in ms':24}{heads} {'us each':>10}")
        for rate in RATES:
            show(f"direct, {rate:,}/s", pace(program, TARGET, rate, options.seconds), 0, 0)
            for name, more in (("proxy", []), ("recording", ["--record", f"{folder}/{rate}.csv"])):
                found = through_proxy(program, rate, options.seconds, options.latency, more)
                show(f"{name}, {rate:,}/s", found[0], options.latency, found[1])


if __name__ == "__main__":
    main()
