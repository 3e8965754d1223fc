"""The growth of a page of the lab: python -m benchmarks.bench_growth [MINUTES [live]].

In tests/. A hand that never rests: sliders of the network and of a strategy, other strategies,
paths, zoom and time; once in a while long enough a rest for the figures of 64 networks. With
``live`` the page shows 50 entities at 30 Hz, one after the other is followed, and the strategies
change. Each minute, after a collection: the page's heap (MB), its nodes, listeners and documents,
and the server's memory (MB). Page and server are gone when it ends.
"""

from __future__ import annotations

import itertools
import json
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from support.browser import Page, open_page
from support.datagrams import program, receiver

EXPERIMENT = "movement=strafe,duration=20&link=latency=80ms,jitter=30ms&s=epic&s=snapshot&s=mirror"

#: Ten seconds of a hand: sliders; every third time another strategy, path, zoom and moment.
HAND = """(async (k) => {
  const rest = (ms) => new Promise((done) => setTimeout(done, ms));
  const ranges = "#lab-groups input[type=range], #lab-team input[type=range]";
  const sliders = [...document.querySelectorAll(ranges)];
  for (let n = 0; n < 4; n++) {
    const slider = sliders[(7 * k + n) % sliders.length];
    const middle = Number(slider.value);
    for (let i = 0; i < 60; i++) {
      slider.value = middle + 120 * Math.sin(i / 9);
      slider.dispatchEvent(new Event("input"));
      await rest(16);
    }
    slider.value = middle;
    slider.dispatchEvent(new Event("input"));
    slider.dispatchEvent(new Event("change"));
    slider.dispatchEvent(new Event("dblclick"));
    await rest(150);
  }
  if (k % 3 === 0) {
    const paths = ["strafe", "circle", "zigzag", "octagon"], names = Object.keys(lab.strategies);
    $("lab-moves").value = paths[k % 4]; $("lab-moves").dispatchEvent(new Event("change"));
    const choice = document.querySelector("#lab-team select");
    choice.value = names[k % names.length]; choice.dispatchEvent(new Event("change"));
    go(k % 10); play(true); await rest(500); play(false);
    showTime(2, 5); await rest(200); showTime(0, getDuration()); showWholePath();
  }
  await rest(k % 6 ? 500 : 4500);
})(STEP)"""

LIVE = """(async (k) => {
  const rest = (ms) => new Promise((done) => setTimeout(done, ms));
  for (let n = 0; n < 4; n++) {
    followEntity((k * 4 + n) % 50);
    for (let i = 0; i < 20; i++) { zoomMap(i % 2 ? 1.25 : 0.8); await rest(100); }
    showNextPlane();
  }
  if (k % 6 === 0) {
    $("live-team").value = k % 12 ? "snapshot,epic" : "mirror, epic, dead-reckoning";
    $("live-team").dispatchEvent(new Event("change"));
    showEverything();
  }
  await rest(1500);
})(STEP)"""

COUNTS = ("Nodes", "JSEventListeners", "Documents")


def measured(page: Page, server: int) -> list[float]:
    """Return sizes of the heap, its arrays, nodes, listeners, documents, and of the server's
    memory.
    """
    for _ in range(2):
        page.call("HeapProfiler.collectGarbage")
    found = {
        metric["name"]: metric["value"] for metric in page.call("Performance.getMetrics")["metrics"]
    }
    status = Path(f"/proc/{server}/status").read_text()
    memory = int(status.partition("VmRSS:")[2].split()[0]) / 1024
    heap = page.call("Runtime.getHeapUsage")
    used = heap["usedSize"] + heap.get("backingStorageSize", 0)
    return [used / 1e6, *(found[name] for name in COUNTS), memory]


def watch(page: Page, server: int, hand: str, minutes: float, painted: str) -> None:
    """Print a line for each minute."""
    page.call("Performance.enable")
    began = time.monotonic()
    due = 0.0
    print("minute   heap    nodes  listeners  documents  server  painted", flush=True)
    for step in itertools.count():
        now = (time.monotonic() - began) / 60
        if now >= due or now >= minutes:
            heap, nodes, listeners, documents, memory = measured(page, server)
            print(
                f"{now:6.1f} {heap:6.2f} {nodes:8.0f} {listeners:10.0f} {documents:10.0f}"
                f" {memory:7.1f} {page.run(painted):8,}",
                flush=True,
            )
            due += 1
        if now >= minutes:
            break
        page.run(hand.replace("STEP", str(step)))
    assert not page.complaints, page.complaints


def main() -> None:
    minutes = float(sys.argv[1]) if sys.argv[1:] else 30.0
    with tempfile.TemporaryDirectory() as folder:
        if sys.argv[2:] == ["live"]:
            with receiver() as free:
                port = free.port
            options = ["--listen", port, "--strategies", "mirror,epic,dead-reckoning"]
        else:
            port, options = "", []
        with program("lab", "--no-open", *options) as lab, open_page(Path(folder)) as page:
            found = re.search(r"http://\S+", lab.wait_for(b"Ctrl-C").decode())
            assert found
            page.size(1500, 1000)
            if port:
                movement = f"circle,entities=50,turning=heading,duration={60 * minutes + 60}"
                moved = ["--movement", movement, "--send", "30hz"]
                moved += ["--latency", "40ms", "--jitter", "10ms", port]
                sender = subprocess.Popen([sys.executable, "-m", "epic_cli", "send", "-q", *moved])
                try:
                    page.open(found[0])
                    page.until("typeof live !== 'undefined' && live.entities.size > 0")
                    watch(page, lab.process.pid, LIVE, minutes, "live.painted")
                finally:
                    sender.kill()
                    sender.wait()
            else:
                page.open(f"{found[0]}?{EXPERIMENT}")
                page.until("document.body && document.body.dataset.lab && lab.networks >= 1")
                watch(page, lab.process.pid, HAND, minutes, "lab.answered")
                print(json.dumps(page.run("[lab.delays.length, lab.number]")))


if __name__ == "__main__":
    main()
