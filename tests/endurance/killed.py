"""Kill the session with -9 at random moments, and check that nothing is lost.

    python -m endurance.killed --kills 1000

A session is resumed on a terminal of its own, takes packets (typed, pasted, loaded from a file) or
another strategy, and is killed in the midst of it. What it has shown, a row or a prompt, it must
have kept: all packets up to that one are in the journal, in their order, and no others.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from support.terminals import Terminal
from support.typed_session import TypedSession

from epic_cli.session import journal as journals

STRATEGIES = ("epic", "lerp", "dead-reckoning", "hermite")

#: A session is gone back to so many times before a new one is begun.
LIVES = 25

_CODES = re.compile(rb"\x1b\[[0-9;?]*[a-zA-Z]|\x1b[=>]")
_ROW = re.compile(rb"^ +(\d+\.\d\d\d) ", re.MULTILINE)
_PROMPT = re.compile(rb"([a-z-]+)> ")


def packet(index: int) -> str:
    """Return a packet whose position identifies it."""
    return f"{index},0,0 / 1,0,0 / {index / 10:.1f}"


class Kept(NamedTuple):
    """A session's content in its journal: the packets' positions and the strategy."""

    indices: list[int]
    strategy: str


def kept(state: Path) -> Kept:
    """Return the session that a new process would resume."""
    path = journals.find_newest(state / "epic")
    if path is None:
        return Kept([], "epic")
    typed = TypedSession()
    typed.run_quietly(journals.read(path), path.name)
    indices = [int(line.partition(b",")[0]) for line in typed.lines]
    return Kept(indices, typed.session.view.strategy.name)


def send(terminal: Terminal, chance: random.Random, first: int, folder: Path) -> str | None:
    """Type some random input; return the strategy that it chooses, if any."""
    kind = chance.choice(("type", "paste", "load", "switch"))
    lines = [packet(first + k) for k in range(chance.choice((1, 3, 30, 300)))]
    if kind == "type":
        terminal.send("".join(line + "\r" for line in lines[:30]))
    elif kind == "paste":
        terminal.send("\x1b[200~" + "\n".join(lines) + "\n\x1b[201~\r")
    elif kind == "load":
        (folder / "more.txt").write_text("\n".join(lines) + "\n")
        terminal.send(":load more.txt\r")
    else:
        strategy = chance.choice(STRATEGIES)
        terminal.send(f":strategy {strategy}\r")
        return strategy
    return None


def live_and_die(state: Path, chance: random.Random) -> str | None:
    """Run a session until it is killed; return what was lost, or None."""
    before = kept(state)
    count = len(before.indices)
    with Terminal(state, ["--resume"]) as terminal:
        terminal.wait_until(lambda: b"\x1b[?2004h" in terminal.raw, "a prompt")
        shown = len(terminal.raw)
        asked = send(terminal, chance, count, state)
        end = time.monotonic() + chance.choice((0.02, 0.1, 0.3, 0.6)) * chance.random()
        while time.monotonic() < end:
            terminal.pump(0.005)
        terminal.kill()
        text = _CODES.sub(b"", terminal.raw[shown:]).replace(b"\r", b"\n")
    after = kept(state)
    if after.indices != list(range(len(after.indices))):
        return f"packets {after.indices}"
    last = max((float(row) for row in _ROW.findall(text)), default=-1.0)
    # a packet's last row is 0.15 to 0.2 s after its time
    acknowledged = sum(index / 10 + 0.12 <= last for index in range(count, count + 300))
    if len(after.indices) < count + acknowledged:
        return f"{len(after.indices)} packets where {count + acknowledged} were shown"
    prompts = [name.decode() for name in _PROMPT.findall(text)]
    # a session without packets leaves no journal
    if count and asked != before.strategy and asked in prompts and after.strategy != asked:
        return f"strategy {after.strategy} where {asked} was shown"
    if not asked and after.strategy != before.strategy:
        return f"strategy {after.strategy} where {before.strategy} was kept"
    return None


def main() -> int:
    """Kill sessions; return status 1 if one has lost something."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    begin = time.monotonic()
    lost, packets = 0, 0
    for first in range(0, options.kills, LIVES):
        with tempfile.TemporaryDirectory() as name:
            for life in range(first, min(first + LIVES, options.kills)):
                wrong = live_and_die(Path(name), chance)
                if wrong:
                    lost += 1
                    print(f"kill {life}: {wrong}", flush=True)
            packets += len(kept(Path(name)).indices)
        done, seconds = min(first + LIVES, options.kills), time.monotonic() - begin
        print(f"{done} kills, {packets:,} packets, {seconds:.0f} s: {lost} lost", flush=True)
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
