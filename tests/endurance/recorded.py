"""Kill ``epic listen`` and ``epic proxy`` with -9 while they record: is anything lost?

    python -m endurance.recorded --kills 100 --flood 1000000

What has been drawn must be what a replay of the recording draws, and what a recording has must be
whole lines in the order in which they were sent; the datagrams that the capture has, too, and the
lines of a proxy. The flood is of random datagrams, and nothing reads the rows: good packets among
them are recorded, memory does not grow.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import tempfile
import time
from pathlib import Path

from support.datagrams import program, receiver, resident, wait_until
from support.running import epic

from epic_cli.api.reading import read_packets
from epic_cli.recordings import captures
from epic_cli.recordings.captures import Broken

PIECES = [
    *(
        b"{",
        b"}",
        b"[",
        b'"',
        b'"x":',
        b"1",
        b",",
        b"time",
        b"\n",
        b"/",
        b" ",
        b"\0",
        b"\xff",
        b"q",
    ),
    *(b"1e999", b"NaN", b"-1e308", b"\x1b[2J", b"entity,time,x,y,z\n"),
    b'{"time":1,"x":1,"y":2,"z":3}',
    b"1,2,3 / 4,5,6 / 0.5",
]


def live_and_die(folder: Path, chance: random.Random, seconds: float = 0.4) -> str | None:
    """Record until killed at a random moment; return what was lost, or None."""
    record = folder / f"game.{chance.choice(('csv', 'jsonl', 'txt'))}"
    raw = folder / "game.pcap"
    options = ("-f", "csv", "--tick", "1ms", "--record", str(record), "--record", str(raw))
    with program("listen", "0", *options) as listener, receiver() as game:
        place = listener.place
        until = time.monotonic() + chance.uniform(0.01, seconds)
        sent = 0
        while time.monotonic() < until:
            game.socket.sendto(b"%d,2,3 / 4,5,6 / %r" % (sent, sent / 1e4), place)
            sent += 1
            if sent % 50 == 0:
                _keep_up(record, sent, until)
            if chance.random() < 0.3:
                time.sleep(chance.uniform(0, 0.002))
        os.kill(listener.process.pid, signal.SIGKILL)
        drawn = listener.process.communicate()[0]
    data = record.read_bytes()
    wrong = None
    indices = [int(packet.position[0]) for packet in read_packets(record)] if data else []
    if data and not data.endswith(b"\n"):
        wrong = "the last line is not whole"
    elif indices != list(range(len(indices))):
        wrong = "packets are missing, or not in their order"
    elif _count(raw) < len(indices):
        wrong = "a packet is recorded whose datagram is not"
    elif indices:
        again = epic("replay", record, "-f", "csv", "--tick", "1ms").stdout.splitlines()
        rows = drawn[: drawn.rfind(b"\n") + 1].splitlines()
        if any(one != other for one, other in zip(rows, again, strict=False)):
            wrong = "what was drawn is not what the recording says"
    record.unlink()
    raw.unlink()
    return wrong


def proxy_and_die(folder: Path, chance: random.Random, seconds: float = 0.4) -> str | None:
    """Kill a recording proxy at a random moment; return what is wrong, or None."""
    record = folder / "traffic.csv"
    with receiver() as server:
        options = ("--jitter", "3ms", "--loss", "5%", "--record", str(record))
        with program("proxy", *options, "0", server.port) as proxy, receiver() as game:
            place = proxy.place
            until = time.monotonic() + chance.uniform(0.01, seconds)
            sent = 0
            while time.monotonic() < until:
                game.socket.sendto(b"x" * (sent % 100), place)
                sent += 1
                if sent % 50 == 0:
                    _keep_up(record, sent, until)
                if chance.random() < 0.3:
                    time.sleep(chance.uniform(0, 0.002))
            proxy.process.kill()
            proxy.process.wait()
    data = record.read_text()
    lines = data.splitlines()
    record.unlink()
    if data and not data.endswith("\n"):
        return "the proxy's last line is not whole"
    columns = {line.count(",") for line in lines}
    rows = sorted((float(line.split(",")[0]), int(line.split(",")[6])) for line in lines[1:])
    # a line is written when its datagram leaves: some of the last 0.1 s were still under way
    left = [size for time, size in rows if time < rows[-1][0] - 0.1]
    if len(columns) > 1 or left != [number % 100 for number in range(len(left))]:
        return "datagrams of the proxy are missing"
    return None


def _keep_up(record: Path, sent: int, until: float) -> None:
    """Wait for a busy machine, whose kernel would otherwise drop datagrams."""
    while time.monotonic() < until:
        if record.exists() and record.read_bytes().count(b"\n") >= sent - 100:
            return
        time.sleep(0.001)


def _count(raw: Path) -> int:
    """Return the complete datagrams of a capture; only the last may be cut."""
    count = 0
    with raw.open("rb") as stream:
        try:
            for _ in captures.iterate_frames(stream.read):
                count += 1
        except Broken as broken:
            if "ends within" not in str(broken):
                return -1
    return count


def flood(folder: Path, count: int, chance: random.Random) -> list[str]:
    """Send this many random datagrams; return what went wrong."""
    record = folder / "flood.csv"
    wrong = []
    with program("listen", "0", "--record", str(record), "-f", "csv") as listener:
        place = listener.place
        with receiver() as game:

            def good(at: int) -> bool:
                game.socket.sendto(b'{"time":1,"x":%d,"y":%d,"z":%d}' % (at, at, at), place)
                return b"%d,%d,%d" % (at, at, at) in record.read_bytes()[-20_000:]

            wait_until(lambda: good(7))
            memory: list[int] = []
            for number in range(count):
                size = chance.choice((0, 1, 3, 10, 100, 1000))
                if number % 2:
                    data = b"".join(chance.choices(PIECES, k=size % 40))
                else:
                    data = chance.randbytes(size)
                game.socket.sendto(data, place)
                if number % 20 == 0:
                    time.sleep(0.002)
                if number % (count // 10) == 0:
                    memory.append(resident(listener.process.pid))
            wait_until(lambda: good(8))
        status, _, said = listener.end()
    if status != 130:
        wrong.append(f"status {status}")
    if memory[-1] > memory[len(memory) // 2] + 20_000_000:
        wrong.append(f"memory grew: {memory}")
    if b"Traceback" in said or b"\x1b" in said:
        wrong.append(f"it said {said[-1000:]!r}")
    return wrong


def main() -> None:
    """Print what was lost."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--flood", type=int, default=0, help="random datagrams")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as name:
        found = [live_and_die(Path(name), chance) for _ in range(options.kills)]
        found += [proxy_and_die(Path(name), chance) for _ in range(options.kills)]
        wrong = [word for word in found if word]
        if options.flood:
            wrong += flood(Path(name), options.flood, chance)
    print(f"{options.kills:,} kills, {options.flood:,} random datagrams: {len(wrong)} wrong")
    print(*wrong, sep="\n", end="")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
