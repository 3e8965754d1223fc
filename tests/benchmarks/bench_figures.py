"""Figures on the screens of ``listen`` and ``proxy`` against ``epic compare`` of the recordings.

    python tests/benchmarks/bench_figures.py [--entities 1000] [--seconds 15] [STRATEGY]...

Entities move on sums of sines, at 20 Hz each. For ``listen`` the sender itself delays and loses
datagrams; for ``proxy`` the proxy's link does, and the truth is what was sent. In the end the game
is killed and the screen paused, and what it then shows (of the last five seconds) is printed beside
what the recordings give for these seconds, with the largest difference.
"""

from __future__ import annotations

import argparse
import csv
import heapq
import json
import math
import random
import re
import socket
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from support.terminals import Terminal

from epic_cli.engine.replay.playback import SCREEN_TIMING

TICK = SCREEN_TIMING.tick

LAYOUT = "time:f64 {id:u16 x:f32 y:f32 z:f32}[u8]"
RATE, TOGETHER = 20, 50

#: As they stand on the screen, and what compare calls them; what that counts in seconds is in ms.
FIGURES = {"error": "error", "95%": "error95", "lag": "lag", "residual": "residual", "jerk": "jerk"}


def send(port: int, at: int, entities: int, seconds: float, network: bool) -> None:
    """Send packets as the server, to the client that has written to ``at``; 0: as the game."""
    generator = np.random.default_rng(entities)
    sizes = generator.uniform(1, 6, (entities, 3, 3))
    speeds = generator.uniform(0.2, 1.5, (entities, 3, 3))
    phases = generator.uniform(0, 6.3, (entities, 3, 3))
    chance = random.Random(1)
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    place = ("127.0.0.1", port)
    if at:
        udp.bind(("127.0.0.1", at))
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
            client.sendto(b"hello", place)
            place = udp.recvfrom(99)[1]
            _play(udp, place, (sizes, speeds, phases), seconds, None)
        return
    _play(udp, place, (sizes, speeds, phases), seconds, chance if network else None)


def _play(
    udp: socket.socket,
    place: tuple[str, int],
    paths: tuple[np.ndarray, ...],
    seconds: float,
    network: random.Random | None,
) -> None:
    sizes, speeds, phases = paths
    entities = len(sizes)
    waiting: list[tuple[float, int, bytes]] = []
    begin, number, beat = time.monotonic(), 0, 0
    record = np.dtype([("id", "<u2"), ("place", "<f4", 3)])
    table = np.empty(entities, record)
    table["id"] = np.arange(entities)
    # the datagrams of a beat are spread over it
    parts = range(0, entities, TOGETHER)
    while (now := time.monotonic() - begin) < seconds:
        while beat / RATE <= now:
            for index, first in enumerate(parts):
                stamp = beat / RATE + index / len(parts) / RATE
                some = slice(first, first + TOGETHER)
                angles = speeds[some] * stamp + phases[some]
                table["place"][some] = (sizes[some] * np.sin(angles)).sum(axis=2)
                body = table[some].tobytes()
                data = struct.pack("<dB", stamp, len(body) // record.itemsize) + body
                due = stamp
                if network is not None:
                    due += 0.03 + network.expovariate(1 / 0.01)
                    if network.random() < 0.02:
                        continue
                heapq.heappush(waiting, (due, number, data))
                number += 1
            beat += 1
        while waiting and waiting[0][0] <= now:
            udp.sendto(heapq.heappop(waiting)[2], place)
        time.sleep(0.001)


def free_port() -> int:
    """Return a free UDP port."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def watched(
    command: str, strategy: str, options: argparse.Namespace
) -> dict[str, tuple[float, float]]:
    """Return each figure on the screen, and that of ``epic compare``, by name."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        own, server = free_port(), free_port() if command == "proxy" else 0
        more = ["--layout", LAYOUT, "-s", strategy]
        if server:
            link = ["--latency", "30ms", "--jitter", "10ms", "--loss", "2%"]
            files = "sent=sent.csv,received=game.csv,max_entities=5000"
            more += ["--watch", files, *link, str(own), str(server)]
        else:
            more += ["--record", "game.csv", f"{own},max_entities=5000"]
        with Terminal(folder, [command, *more], columns=140, lines=40) as terminal:
            terminal.wait_for("waiting for packets")
            arguments = ["--send", str(own), "--at", str(server)]
            arguments += ["--entities", str(options.entities)]
            game = subprocess.Popen([sys.executable, __file__, *arguments])
            end = time.monotonic() + options.seconds
            while time.monotonic() < end:
                terminal.pump(0.1)
            game.kill()
            terminal.send(" ")
            terminal.wait_for("PAUSED")
            end = time.monotonic() + 120
            terminal.wait_for(r"\(\d+/\d+\) +error")
            while re.search(r"of [\d,]+ of [\d,]+", terminal.text) and time.monotonic() < end:
                terminal.pump(0.5)
            shown = terminal.text
            # what there was no time for
            for words in re.findall(r"of [\d,]+ of [\d,]+ entities|[\d,]+ (?:NOT|DROP)\w+", shown):
                print(words, end="  ")
            terminal.send("q")
            terminal.status()
            game.wait()
        with (folder / "game.csv").open() as stream:
            rows = list(csv.DictReader(stream))
        seconds = float(rows[-1]["arrival"]) - 5 - float(rows[0]["arrival"])
        truth = ["--truth", "sent.csv"] if server else []
        done = subprocess.run(
            [sys.executable, "-m", "epic_cli", "compare", *truth, "-s", strategy, "-f", "json",
             "--warm-up", str(seconds), "--tick", f"{TICK[0]}/{TICK[1]}", "game.csv"],
            cwd=folder,
            capture_output=True,
            check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        compared = json.loads(done.stdout)
    found = {}
    for words, metric in FIGURES.items():
        line = re.search(rf"\(\d+/\d+\) .*?\b{re.escape(words)} ([-\d.,]+)", shown, re.S)
        value = compared[metric] * (1000 if words == "lag" else 1)
        found[words] = float(line[1].replace(",", "")) if line else math.nan, value
    return found


def main() -> None:
    """Print a line for each screen and strategy."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("strategies", nargs="*", default=["snapshot", "lerp", "dead-reckoning"])
    parser.add_argument("--entities", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=15)
    parser.add_argument("--only", choices=("listen", "proxy"))
    parser.add_argument("--send", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--at", type=int, default=0, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.send:
        send(options.send, options.at, options.entities, 600, not options.at)
        return
    for command in [options.only] if options.only else ["listen", "proxy"]:
        for strategy in options.strategies:
            found = watched(command, strategy, options)
            parts = []
            largest = 0.0
            for name, (screen, compared) in found.items():
                apart = abs(screen / compared - 1) if compared else abs(screen)
                largest = max(largest, apart)
                parts.append(f"{name} {screen:.4g} {compared:.4g}")
            print(f"{command:7}{strategy:16}{'  '.join(parts)}  off by {largest:.1%}", flush=True)


if __name__ == "__main__":
    main()
