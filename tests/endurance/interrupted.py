"""Signals, Ctrl-Z and closed streams, at random moments of every command.

    python -m endurance.interrupted --cases 300

A case is a command, in a terminal or with pipes, and what meets it: SIGINT, SIGTERM, SIGHUP,
SIGQUIT, Ctrl-C or Ctrl-\\ typed, Ctrl-Z and ``fg``, a reader of its output that goes, a closed
stdin, stdout or stderr, a terminal that is resized or closed. It must end with the status that the
shell expects, say nothing like a traceback, and leave a terminal that echoes, with a visible
cursor, the main screen and no bracketed paste or mouse.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import pty
import random
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from support.running import environment

SAMPLES = Path(__file__).parents[2] / "sample_inputs"

#: Seconds in which every command must have ended.
PATIENCE = 60.0

COMMANDS = (
    "replay {s}/jitter.txt",
    "replay -f table {s}/jitter.txt",
    "replay -",
    "inspect {s}/jitter.txt",
    "compare {s}/jitter.txt -s epic,lerp,mirror,source,snapshot",
    "compare {s}/jitter.txt -s epic,lerp --html out.html",
    "tune {s}/jitter.txt -s lerp --trials 40",
    "diagnose {s}/jitter.txt",
    "simulate --movement circle,duration=600 --latency 80ms",
    "convert {s}/jitter.txt -o out.csv",
    "check --new out {s}/turn.txt -s mirror --latency 80ms",
    "strategies",
    "code buffer+delay=1.8i --lang csharp",
    "explain lag",
    "listen 0",
    "proxy 0 9",
    "send {s}/jitter.txt 9 --times endless",
    "lab --no-open",
    "play",
    "play --duration 30",
    "session",
)

#: What undoes each mode that a program can put a terminal into.
MODES = {
    b"\x1b[?1049h": b"\x1b[?1049l",
    b"\x1b[?25l": b"\x1b[?25h",
    b"\x1b[?2004h": b"\x1b[?2004l",
    b"\x1b[?1000h": b"\x1b[?1000l",
    b"\x1b[?1h": b"\x1b[?1l",
}

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


class Case(NamedTuple):
    """A command, what meets it, and after how many seconds."""

    command: str
    event: str
    after: float


class Result(NamedTuple):
    """The status of a command, and all that it wrote."""

    status: int
    said: bytes
    faults: tuple[str, ...]


def draw_case(number: int, seed: int) -> Case:
    chance = random.Random(f"{seed} {number}")
    event = chance.choice(
        [*(one.name for one in SIGNALS), *TERMINAL_EVENTS, *PIPE_EVENTS, "SIGINT twice"]
    )
    after = chance.choice((0.02, 0.1, 0.3, 0.6, 1.0, 1.5)) * chance.uniform(0.5, 1.5)
    return Case(chance.choice(COMMANDS), event, after)


TERMINAL_EVENTS = (
    *("Ctrl-C", "Ctrl-\\", "Ctrl-Z", "resized", "hung up", "SIGTERM in a terminal"),
    *("no stdout in a terminal", "no stderr in a terminal"),
)
PIPE_EVENTS = ("reader goes", "no stdin", "no stdout", "no stderr", "/dev/full")


def run_case(case: Case, folder: Path) -> Result:
    """Run a command and let the event meet it."""
    if case.event in TERMINAL_EVENTS:
        return run_in_terminal(case, folder)
    return run_with_pipes(case, folder)


def get_words(case: Case) -> list[str]:
    """Return the words of a case's command, with a stream closed where that is the event."""
    words = [sys.executable, "-m", "epic_cli", *case.command.format(s=SAMPLES).split()]
    for number, name in enumerate(("no stdin", "no stdout", "no stderr")):
        if case.event.startswith(name):
            return ["bash", "-c", f'exec "$@" {number}>&-', "-", *words]
    return words


def run_with_pipes(case: Case, folder: Path) -> Result:
    """Run a command whose streams are pipes."""
    reader, writer = os.pipe()
    full = os.open("/dev/full", os.O_WRONLY)
    process = subprocess.Popen(
        get_words(case),
        cwd=folder,
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=full if case.event == "/dev/full" else writer,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    os.close(full)
    os.close(writer)
    assert process.stdin is not None
    assert process.stderr is not None
    time.sleep(case.after)
    if case.event == "reader goes":
        os.close(reader)
    elif case.event.startswith("SIG"):
        for _ in case.event.split():
            process.send_signal(getattr(signal, case.event.split()[0]))
            time.sleep(0.01)
    said = bytearray()
    faults = []
    end, limit = time.monotonic() + PATIENCE, time.monotonic() + 8
    open_streams = [process.stderr.fileno(), *([] if case.event == "reader goes" else [reader])]
    stopped = False
    while open_streams and time.monotonic() < end:
        for one in select.select(open_streams, [], [], 0.2)[0]:
            piece = os.read(one, 65536)
            said += piece[:20_000] if len(said) < 500_000 else b""
            if not piece:
                open_streams.remove(one)
        if time.monotonic() > limit and not stopped:  # it runs for ever, as it is meant to
            process.send_signal(signal.SIGINT)
            stopped = True
    if open_streams:
        faults.append(f"still running {PATIENCE:.0f} s later")
    process.kill()
    status = process.wait()
    if case.event != "reader goes":
        os.close(reader)
    process.stdin.close()
    process.stderr.close()
    return Result(status, bytes(said), tuple(faults))


def run_in_terminal(case: Case, folder: Path) -> Result:
    """Run a command in a terminal of its own, as the foreground job of a shell."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
    before = termios.tcgetattr(theirs)
    process = subprocess.Popen(
        get_words(case),
        cwd=folder,
        env=environment(TERM="xterm"),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509 (no threads)
    )
    said, faults = bytearray(), list[str]()
    read_terminal(ours, said, case.after)
    hung_up = False
    if case.event == "Ctrl-C":
        os.write(ours, b"\x03")
    elif case.event == "Ctrl-\\":
        os.write(ours, b"\x1c")
    elif case.event == "resized":
        for lines, columns in ((1, 1), (5, 300), (60, 20)):
            fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
            read_terminal(ours, said, 0.1)
    elif case.event == "Ctrl-Z":
        os.write(ours, b"\x1a")
        read_terminal(ours, said, 0.5)
        process.send_signal(signal.SIGCONT)
    elif case.event == "hung up":
        os.close(theirs)
        os.close(ours)
        hung_up = True
    elif case.event.startswith("SIGTERM"):
        process.terminate()
    for number in (None, signal.SIGINT, signal.SIGTERM):  # what goes on until it is told
        if number is not None:
            process.send_signal(number)
        end = time.monotonic() + (4 if number is None else PATIENCE / 2)
        while process.poll() is None and time.monotonic() < end:
            if hung_up:
                time.sleep(0.05)
            else:
                read_terminal(ours, said, 0.05)
        if process.poll() is not None:
            break
        if number is None and case.event == "Ctrl-Z" and said.count(b"\x03") == 0:
            os.write(ours, b"q\x03\x04")
    if process.poll() is None:
        faults.append("it does not end")
        process.kill()
    status = process.wait()
    if not hung_up:
        read_terminal(ours, said, 0.1)
        after = termios.tcgetattr(theirs)
        if after[:4] != before[:4]:
            faults.append("the terminal's modes are not restored")
        for begin, finish in MODES.items():
            if said.rfind(begin) > said.rfind(finish):
                faults.append(f"{begin!r} is not undone")
        os.close(ours)
        os.close(theirs)
    return Result(status, bytes(said), tuple(faults))


def read_terminal(ours: int, said: bytearray, seconds: float) -> None:
    """Read what a program shows for so many seconds."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        if select.select([ours], [], [], left)[0]:
            try:
                piece = os.read(ours, 65536)
            except OSError:
                return
            said += piece
            if b"\x1b[6n" in piece:  # where is the cursor?
                os.write(ours, b"\x1b[1;1R")


#: Statuses that a command may have: its own, and those of signals, as themselves or as a shell's.
_OWN = {0, 1, 2, 3, 130}
_BY_SIGNAL = {
    "SIGINT": {-2, 130},
    "SIGINT twice": {-2, 130},
    "SIGTERM": {-15, 143},
    "SIGHUP": {-1, 129},
    "SIGQUIT": {-3, 131},
    "Ctrl-\\": {-3, 131},
    "hung up": {-1, 129},
    "SIGTERM in a terminal": {-15, 143},
    "reader goes": {-13, 141},
}


def judge(case: Case, result: Result) -> list[str]:
    """Return what is wrong with an end."""
    wrong = list(result.faults)
    allowed = _OWN | _BY_SIGNAL.get(case.event, set())
    if case.event in TERMINAL_EVENTS:  # in the end it was told
        allowed |= {-2, -15}
    if result.status not in allowed:
        wrong.append(f"status {result.status}")
    if b"init_import_site" in result.said:
        return wrong  # Python itself was still starting
    for words in (rb"Traceback \(most recent", rb"Exception ignored", rb"Fatal Python error"):
        if found := re.search(words + rb"(?s:.{0,1500})", result.said):
            wrong.append(found[0].decode(errors="replace"))
    return wrong


def main() -> int:
    """Run the cases; return status 1 if one ends wrongly."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--cases", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--case", type=int, help="run this one alone, and print what it wrote")
    options = parser.parse_args()
    # whoever starts this in the background may have told it to ignore Ctrl-C
    signal.signal(signal.SIGINT, signal.default_int_handler)
    counts: Counter[str] = Counter()
    found = 0
    for number in range(options.cases) if options.case is None else [options.case]:
        case = draw_case(number, options.seed)
        with tempfile.TemporaryDirectory() as folder:
            result = run_case(case, Path(folder))
        wrong = judge(case, result)
        counts[case.event] += 1
        if wrong:
            found += 1
            print(f"case {number}: {case}", *wrong, sep="\n    ", flush=True)
        if options.case is not None:
            print(case, result.status, result.said.decode(errors="replace")[-5000:])
    print(f"{sum(counts.values())} cases, {found} found: {dict(counts)}")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
