"""The speed of the lab on a running game: python -m benchmarks.bench_live [ENTITIES [SECONDS]].

In tests/. ``epic send`` sends ENTITIES entities at 60 Hz to ``epic lab --listen``, whose page a
headless Chromium shows while one of them is followed. Printed are pictures and frames a second,
the time of one picture (median, 99 %), the processor time of the lab and of the page for a second,
how much the page's heap has grown, and whether the recording has all that was received.
"""

import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from support.browser import open_page
from support.datagrams import program, receiver

#: Seconds before the measurement, in which all join and everything is compiled.
BEFORE = 8.0

TIMED = """(() => {
  window.times = [];
  const draw = drawMap, curves = drawCurves;
  drawMap = () => {
    const begin = performance.now(); draw(); times.push(performance.now() - begin);
  };
  drawCurves = () => {
    const begin = performance.now(); curves(); times[times.length - 1] += performance.now() - begin;
  };
})()"""


def processor_time(process: int) -> float:
    """Return the processor seconds that a process has used."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


def main() -> None:
    """Print one run."""
    entities = int(sys.argv[1]) if sys.argv[1:] else 200
    seconds = float(sys.argv[2]) if sys.argv[2:] else 10.0
    with receiver() as free:
        port = free.port
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "game.csv"
        options = ["--listen", f"{port},max_entities=100000", "--no-open", "--record", str(file)]
        with program("lab", *options, "--strategies", "snapshot,mirror,dead-reckoning") as lab:
            address = re.search(rb"http://\S+", lab.wait_for(b"Ctrl-C"))
            assert address
            movement = f"circle,entities={entities},turning=heading"
            moved = ["--movement", f"{movement},duration={BEFORE + seconds + 8}", "--send", "60hz"]
            sender = subprocess.Popen(
                [sys.executable, "-m", "epic_cli", "send", "-q", *moved, "--latency", "40ms",
                 "--jitter", "10ms", port],
            )  # fmt: skip
            with open_page(Path(folder)) as page:
                page.open(address[0].decode())
                page.until("typeof live !== 'undefined' && live.entities.size > 0")
                page.run("followEntity(0)")
                page.run(TIMED)
                time.sleep(BEFORE)
                page.run("times.length = 0")
                page.call("HeapProfiler.collectGarbage")
                now = "[performance.now() / 1000, live.painted, live.got,"
                now += " performance.memory.usedJSHeapSize / 1e6]"
                begin, used = page.run(now), processor_time(lab.process.pid)
                time.sleep(seconds)
                end, used = page.run(now), processor_time(lab.process.pid) - used
                page.call("HeapProfiler.collectGarbage")
                heap = page.run(now)[3]
                times = sorted(page.run("times"))
                went = end[0] - begin[0]
                assert not page.complaints, page.complaints
            sender.wait()
            time.sleep(1)
            said = lab.end()[2].decode()
        received = re.search(r"([\d,]+) packets in", said)
        rows = len(file.read_text().splitlines()) - 1
    print(f"{entities} entities at 60 Hz, {went:.0f} s")
    print(f"pictures a second     {(end[1] - begin[1]) / went:8.1f}")
    print(f"frames a second       {(end[2] - begin[2]) / went:8.1f}")
    middle, slow = times[len(times) // 2], times[len(times) * 99 // 100]
    print(f"one picture (ms)      {middle:8.1f}, 99 % {slow:.1f}")
    print(f"processor of the lab  {100 * used / went:8.0f} %")
    print(f"heap (MB)             {begin[3]:8.1f}, then {heap:.1f}")
    print(f"packets received      {received[1] if received else '?':>8}, recorded {rows:,}")


if __name__ == "__main__":
    main()
