"""The time from a slider's input to the painted picture: epic lab in a browser without a window.

    python tests/benchmarks/bench_lab.py [SECONDS [SECONDS_FOR_MEMORY]]

60 s of movement, six strategies; inputs as fast as a hand moves (60 a second, for SECONDS,
by default 10), and single ones, each after a rest. Prints the median and the 95th percentile
in milliseconds, the processor time of each picture (which a busy machine does not change), what
the page's heap and the server's memory grow by, and what was dropped.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from support.browser import Page, open_page

QUERY = (
    "movement=strafe,duration=60&link=latency=80ms,jitter=30ms"
    "&s=epic&s=snapshot&s=source&s=mirror&s=dead-reckoning&s=hermite"
)

#: Moves a slider to and fro for some seconds, with a rest (ms) between two inputs.
MOVE = """(async () => {
  const slider = %s, end = performance.now() + 1000 * %g, before = lab.number;
  lab.delays.length = 0;
  for (let k = 0; performance.now() < end; k++) {
    slider.value = 300 + Math.round(250 * Math.sin(k / 9));
    slider.dispatchEvent(new Event("input"));
    await new Promise((done) => setTimeout(done, %g));
  }
  await new Promise((done) => setTimeout(done, 500));
  return [lab.delays, lab.number - before];
})()"""

#: Seconds of one script.
LONGEST = 20.0

SLIDERS = {
    "latency": "lab.controls.get('latency').line.querySelector('[type=range]')",
    "a setting": "document.getElementById('team0-calc_ahead')"
    ".parentElement.querySelector('[type=range]')",
}


def server_memory(process: subprocess.Popen[str]) -> float:
    """Return the server's resident memory in megabytes."""
    text = Path(f"/proc/{process.pid}/status").read_text()
    return int(text.partition("VmRSS:")[2].split()[0]) / 1024


def processor_time(process: subprocess.Popen[str], page: Page) -> tuple[float, float]:
    """Return the processor seconds used by the server and by the page's process."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    found = page.call("Performance.getMetrics")["metrics"]
    own = next(metric["value"] for metric in found if metric["name"] == "ProcessTime")
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK"), own


def heap(page: Page) -> float:
    """Return the megabytes of heap in use after a garbage collection."""
    page.call("HeapProfiler.collectGarbage")
    return float(page.call("Runtime.getHeapUsage")["usedSize"]) / 1e6


def move(page: Page, slider: str, seconds: float, rest: float) -> tuple[list[float], int]:
    """Return the time of each picture (ms), and how many were requested."""
    delays: list[float] = []
    asked = 0
    while seconds > 0:  # a script that takes a minute is given up
        some, more = page.run(MOVE % (slider, min(seconds, LONGEST), rest))
        delays, asked, seconds = delays + some, asked + more, seconds - LONGEST
    return delays, asked


def report(
    what: str, lab: subprocess.Popen[str], page: Page, slider: str, seconds: float, rest: float
) -> None:
    before = processor_time(lab, page)
    delays, asked = move(page, slider, seconds, rest)
    server, tasks = (b - a for a, b in zip(before, processor_time(lab, page), strict=True))
    usual, late = statistics.median(delays), statistics.quantiles(delays, n=20)[-1]
    each = f"{1000 * server / len(delays):.0f} + {1000 * tasks / len(delays):.0f}"
    print(
        f"{what}: median {usual:.0f} ms, 95 % {late:.0f} ms, {len(delays)} painted of {asked},"
        f" processor time of each {each} ms (server, page)"
    )


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 10.0
    longer = float(sys.argv[2]) if len(sys.argv) > 2 else seconds
    lab = subprocess.Popen(
        [sys.executable, "-m", "epic_cli", "lab", "--no-open"], stderr=subprocess.PIPE, text=True
    )
    assert lab.stderr is not None
    address = lab.stderr.readline().strip()
    try:
        with tempfile.TemporaryDirectory() as folder, open_page(Path(folder)) as page:
            page.call("Performance.setTimeDomain", timeDomain="threadTicks")
            page.call("Performance.enable")
            page.open(f"{address}?{QUERY}")
            page.until("document.body && document.body.dataset.lab && lab.networks >= 1")
            report("latency, while it plays", lab, page, SLIDERS["latency"], seconds, 400)
            page.run("play(false)")
            for name, slider in SLIDERS.items():
                report(f"{name}, single inputs", lab, page, slider, seconds, 400)
                report(f"{name}, 60 inputs a second", lab, page, slider, seconds, 16)
            before = heap(page), server_memory(lab)
            move(page, SLIDERS["latency"], longer, 16)
            after = heap(page), server_memory(lab)
            print(
                f"memory after {longer:g} s more: page {before[0]:.1f} to {after[0]:.1f} MB,"
                f" server {before[1]:.0f} to {after[1]:.0f} MB"
            )
    finally:
        lab.terminate()
        lab.wait()


if __name__ == "__main__":
    main()
