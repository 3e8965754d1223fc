"""Strategies of users that raise, hang, exit, crash, print or draw nonsense, in every command.

    python -m endurance.pools

Each such strategy is drawn beside ``epic`` by ``replay``, ``compare``, ``tune``, ``check`` and
``diagnose``, over one recording and over many at once. The command must end, with a status of its
own, say which strategy failed and how, judge the others as without it, and leave no process. Only
a strategy that hangs may keep a command busy; then Ctrl-C must end it with all its workers.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from support.running import EPIC, environment

SAMPLES = Path(__file__).parents[2] / "sample_inputs"

#: Seconds after which a command counts as one that hangs; and in which it must have stopped.
PATIENCE, STOPPED = 90.0, 20.0

STRATEGY = """
import ctypes, os, sys, threading, time
from epic_cli import Number, Sample

class Bad:
    settings = (Number("gain", 0.5, "a share", "", 0, 1),)

    def __init__(self, gain):
        self.gain = gain

    def reset(self):
        self.packet, self.count = None, 0

    def update(self, packet, now):
        self.packet = packet
        return True

    def read(self, at):
        self.count += 1
        if self.count > 5:
            {act}
        place = self.packet.position if self.packet else (0.0, 0.0, 0.0)
        return Sample(at, place, (0.0, 0.0, 0.0), "interpolated")
"""

#: What a strategy does at its sixth row, and whether it goes on then.
ACTS = {
    "raises": "raise ValueError('as asked')",
    "raises a base exception": "raise GeneratorExit('as asked')",
    "raises what no pickle holds": "raise type('Odd', (Exception,), {'__reduce__': 0})('as asked')",
    "interrupts": "raise KeyboardInterrupt",
    "exits": "sys.exit(7)",
    "exits at once": "os._exit(7)",
    "crashes": "ctypes.string_at(0)",
    "recurses": "self.read(at)",
    "hangs": "time.sleep(10_000)",
    "hangs busily": "exec('while True: pass')",
    "draws NaN": "return Sample(at, (float('nan'),) * 3, (0.0, 0.0, 0.0), 'interpolated')",
    "draws infinity": "return Sample(at, (float('inf'),) * 3, (0.0, 0.0, 0.0), 'interpolated')",
    "draws two numbers": "return Sample(at, (1.0, 2.0), (0.0, 0.0, 0.0), 'interpolated')",
    "draws words": "return Sample(at, ('x',) * 3, (0.0, 0.0, 0.0), 'interpolated')",
    "draws nothing": "return None",
    "draws an unknown status": "return Sample(at, (1.0, 2.0, 3.0), (0.0, 0.0, 0.0), 'bent')",
    "draws huge numbers": "return Sample(at, (1e308,) * 3, (1e308,) * 3, 'interpolated')",
    "prints": "print('\\x1b[2Jfrom within')",
    "closes the streams": "[os.close(one) for one in (0, 1, 2)]",
    "starts a thread": "threading.Thread(target=time.sleep, args=(10_000,), daemon=True).start()",
    "forks": "os.fork() or os._exit(0)",
    "changes the folder": "os.chdir('/')",
    "eats memory": "bytes(1 << 46)",
}

HANGING = ("hangs", "hangs busily")

COMMANDS = {
    "replay": "replay -s ./bad.py:Bad one.csv",
    "compare": "compare one.csv -s epic -s ./bad.py:Bad -s lerp",
    "compare many": "compare all -s epic -s ./bad.py:Bad",
    "tune": "tune one.csv -s ./bad.py:Bad,lerp --trials 3",
    "check": "check --new case one.csv -s ./bad.py:Bad",
    "diagnose": "diagnose one.csv -s ./bad.py:Bad",
}


def write_files(folder: Path, act: str) -> None:
    """Write the strategy and its recordings."""
    rows = "".join(f"{n / 20},{n / 20 + 0.05},{n % 17},{n % 5},0\n" for n in range(120))
    (folder / "all").mkdir()
    for name in ("one.csv", "all/a.csv", "all/b.csv", "all/c.csv"):
        (folder / name).write_text(f"time,arrival,x,y,z\n{rows}")
    (folder / "bad.py").write_text(STRATEGY.format(act=ACTS[act]))


def find_processes(mark: str) -> list[int]:
    """Return the processes whose environment has this mark."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if f"MARK={mark}".encode() in (entry / "environ").read_bytes().split(b"\0"):
                    state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
                    found += [int(entry.name)] if state != "Z" else []
            except OSError:
                continue
    return found


def try_strategy(act: str, command: str) -> list[str]:
    """Run a command with a strategy; return what is wrong."""
    wrong = []
    with tempfile.TemporaryDirectory() as name:
        folder, mark = Path(name), f"{os.getpid()}-{time.monotonic_ns()}"
        write_files(folder, act)
        process = subprocess.Popen(
            [*EPIC, *COMMANDS[command].split()],
            cwd=folder,
            env={**environment(), "MARK": mark},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        stopped = False
        try:
            out, said = process.communicate(timeout=8 if act in HANGING else PATIENCE)
        except subprocess.TimeoutExpired:
            stopped = True
            if act not in HANGING:
                wrong.append(f"still running after {PATIENCE:.0f} s")
            os.killpg(process.pid, signal.SIGINT)  # as the terminal does
            try:
                out, said = process.communicate(timeout=STOPPED)
            except subprocess.TimeoutExpired:
                wrong.append("Ctrl-C does not end it")
                os.killpg(process.pid, signal.SIGKILL)
                out, said = process.communicate()
        time.sleep(0.3)
        left = [one for one in find_processes(mark) if one != process.pid]
        if left and act != "forks":
            wrong.append(f"{len(left)} processes are left")
        for one in left:
            os.kill(one, signal.SIGKILL)
    status = process.returncode
    allowed = {0, 1, 2, 3, 4, 130} | ({7, -11} if act in ("exits at once", "crashes") else set())
    allowed |= {-2} if stopped or act == "interrupts" else set()
    if status not in allowed:
        wrong.append(f"status {status}")
    if (
        act == "raises"
        and command != "diagnose"
        and b"as asked" not in b" ".join((said + out).split())
    ):
        wrong.append("the reason is not told")
    if b"\x1b[2J" in said or (b"\x1b[2J" in out and act != "prints"):
        wrong.append("it clears the screen")
    for found in re.findall(rb"Exception ignored(?s:.{0,800})|Fatal Python(?s:.{0,300})", said):
        if act not in ("crashes",):
            wrong.append(found.decode(errors="replace"))
    if tracebacks := said.count(b"Traceback (most recent call last)"):
        inside = b"epic_cli/" in said and b"bad.py" not in said
        if tracebacks > 1 or inside:
            wrong.append(said[-1500:].decode(errors="replace"))
    judged = b"epic" in out and b"lerp" in out
    if command == "compare" and not stopped and status in (0, 1, 4) and not judged:
        wrong.append(f"the others are not judged: {out[-300:]!r}")
    return wrong


def main() -> int:
    """Try every strategy in every command; return status 1 if one behaves badly."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("acts", nargs="*", help=f"of {', '.join(ACTS)}; default all")
    parser.add_argument("--commands", nargs="*", default=list(COMMANDS))
    options = parser.parse_args()
    # whoever starts this in the background may have told it to ignore Ctrl-C
    signal.signal(signal.SIGINT, signal.default_int_handler)
    found = 0
    for act in options.acts or ACTS:
        for command in options.commands:
            wrong = try_strategy(act, command)
            found += bool(wrong)
            if wrong:
                print(f"{command}: a strategy that {act}", *wrong, sep="\n    ", flush=True)
    print(f"{len(options.acts or ACTS) * len(options.commands)} cases, {found} found")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
