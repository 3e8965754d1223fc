"""The speed of the session: start to first prompt, a paste, and replaying on a change.

    python tests/benchmarks/bench_session.py

Prints ratios and seconds; asserts nothing.
"""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Callable

from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.engine.text import RowWriter
from epic_cli.jobs.replay.spec import ReplaySpec
from epic_cli.session.state import Session

PROMPT = b"epic> "
QUESTION = b"\x1b[6n"  # where is the cursor?
ANSWER = b"\x1b[1;1R"


class Child:
    """A session on a terminal of its own, which answers where its cursor is."""

    def __init__(self, directory: str) -> None:
        self.seen = b""
        self.pid, self.descriptor = pty.fork()
        if not self.pid:
            names = {"TERM": "xterm", "XDG_STATE_HOME": directory, "XDG_CONFIG_HOME": directory}
            os.environ.update(names)
            os.execv(sys.executable, [sys.executable, "-m", "epic_cli"])
        fcntl.ioctl(self.descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))

    def until(self, end: bytes, data: bytes = b"") -> None:
        """Send ``data`` and read until ``end`` appears."""
        tail = b""
        while end not in tail:
            wanted = [self.descriptor] if data else []
            readable, writable, _ = select.select([self.descriptor], wanted, [])
            if readable:
                got = os.read(self.descriptor, 65536)
                tail = tail[-200:] + got
                if QUESTION in got:
                    os.write(self.descriptor, ANSWER)
            elif writable:
                data = data[os.write(self.descriptor, data[:1024]) :]

    def close(self) -> None:
        """End the session."""
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.descriptor)


def first(directory: str, sign: bytes) -> float:
    """Return the seconds from the start of the process to the first text on its screen."""
    begin = time.perf_counter()
    child = Child(directory)
    child.until(sign)
    seconds = time.perf_counter() - begin
    child.close()
    return seconds


def bare_import() -> float:
    """Return the seconds that Python takes to import the modules of any prompt."""
    begin = time.perf_counter()
    subprocess.run([sys.executable, "-c", "import prompt_toolkit.shortcuts"], check=True)
    return time.perf_counter() - begin


def paste(directory: str, count: int, bracketed: bool) -> float:
    """Return seconds from a paste to the toolbar that counts all of its packets."""
    lines = "".join(f"{k},{k * 0.5},0 / 20,10,0 / {k * 0.05:.2f}\r" for k in range(count))
    child = Child(directory)
    child.until(b"0 taken")
    begin = time.perf_counter()
    child.until(
        f"{count:,} taken".encode(),
        (f"\x1b[200~{lines}\x1b[201~" if bracketed else lines).encode(),
    )
    seconds = time.perf_counter() - begin
    child.close()
    return seconds


def replay(count: int) -> float:
    """Return the seconds that replaying this many packets takes after a changed setting."""
    state = Session()
    lines = b"".join(b"%d,%d,0 / 20,10,0 / %.2f\n" % (k, k // 2, k * 0.05) for k in range(count))
    state.add(lines, lambda _: None)
    begin = time.perf_counter()
    change = state.change(ReplaySpec(StrategySpec("epic", {"calc_ahead": 0.1})), 20)
    change.after.list_rows(RowWriter("table"))
    return time.perf_counter() - begin


def median(measure: Callable[[], float], times: int = 7) -> float:
    """Return the median of several measurements."""
    return statistics.median(measure() for _ in range(times))


def main() -> None:
    """Print all figures."""
    with tempfile.TemporaryDirectory() as directory:
        first(directory, PROMPT)
        shown, ready, alone = [], [], []
        for _ in range(9):  # by turns, so that a busy machine slows all of them
            shown.append(first(directory, PROMPT))
            ready.append(first(directory, QUESTION))
            alone.append(bare_import())
        theirs = statistics.median(alone)
        print(f"prompt_toolkit alone: {theirs:.3f} s")
        for what, times in (("the first prompt is seen", shown), ("takes keys", ready)):
            ours = statistics.median(times)
            print(f"{what} after {ours:.3f} s: {ours / theirs:.2f} times that")
        for bracketed in (True, False):
            seconds = paste(directory, 5000, bracketed)
            print(
                f"paste of 5,000 packets, {'' if bracketed else 'not '}bracketed: {seconds:.2f} s"
            )
    print(f"100,000 packets replayed after a change: {median(lambda: replay(100_000)):.3f} s")


if __name__ == "__main__":
    main()
