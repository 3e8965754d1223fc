"""Measures the session: start to first prompt, a paste, and replaying on a change.

    python tests/benchmarks/bench_session.py

Prints ratios and seconds; asserts nothing.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

import pexpect

from epic_cli.engine.rows import RowWriter
from epic_cli.repl.session import Session, View

PROMPT = b"epic> "
QUESTION = b"\x1b[6n"  # where is the cursor?
ANSWER = b"\x1b[1;1R"


def session(directory: str) -> pexpect.spawn:
    """A session on a terminal of its own."""
    environment = {
        **os.environ,
        "TERM": "xterm-256color",
        "XDG_STATE_HOME": directory,
        "XDG_CONFIG_HOME": directory,
    }
    return pexpect.spawn(
        sys.executable, ["-m", "epic_cli"], env=environment, dimensions=(40, 120), timeout=30
    )


def first_prompt(directory: str) -> float:
    """Seconds from the start of the process to its prompt."""
    begin = time.perf_counter()
    child = session(directory)
    child.expect_exact(PROMPT)
    seconds = time.perf_counter() - begin
    child.send(ANSWER)
    child.close(force=True)
    return seconds


def bare_import() -> float:
    """Seconds that Python takes to load what any prompt needs."""
    begin = time.perf_counter()
    subprocess.run([sys.executable, "-c", "import prompt_toolkit.shortcuts"], check=True)
    return time.perf_counter() - begin


def paste(directory: str, count: int, bracketed: bool) -> float:
    """Seconds from a paste to the prompt after its last row."""
    lines = "".join(f"{k},{k * 0.5},0 / 20,10,0 / {k * 0.05:.2f}\n" for k in range(count))
    child = session(directory)
    child.expect_exact(PROMPT)
    child.send(ANSWER)
    time.sleep(0.3)
    data = lines.replace("\n", "\r").encode()
    begin = time.perf_counter()
    if bracketed:
        data = b"\x1b[200~" + data + b"\x1b[201~"
    _send_all(child, data, f"{count:,} taken".encode())
    seconds = time.perf_counter() - begin
    child.close(force=True)
    return seconds


def _send_all(child: pexpect.spawn, data: bytes, end: bytes) -> None:
    """Feeds the terminal while reading what comes back, until the toolbar shows the end."""
    import select

    descriptor = child.child_fd
    os.set_blocking(descriptor, False)
    tail = b""
    while end not in tail:
        readable, writable, _ = select.select([descriptor], [descriptor] if data else [], [], 30)
        if readable:
            got = os.read(descriptor, 65536)
            if QUESTION in got:
                data = ANSWER + data if not data else data
                os.write(descriptor, ANSWER) if not data else None
            tail = (tail + got)[-20000:]
        elif not writable:
            raise TimeoutError
        if data and writable:
            data = data[os.write(descriptor, data[:4096]) :]


def replay(count: int) -> float:
    """Seconds that a changed setting takes to be replayed with so many packets."""
    state = Session()
    lines = b"".join(b"%d,%d,0 / 20,10,0 / %.2f\n" % (k, k // 2, k * 0.05) for k in range(count))
    state.take(lines, RowWriter("table"), lambda rows: None)
    begin = time.perf_counter()
    state.change(View("epic", {"calc_ahead": 0.1}))
    state.tail(20, RowWriter("table"))
    return time.perf_counter() - begin


def median(measure: Callable[[], float], times: int = 7) -> float:
    """The median of several measurements."""
    return statistics.median(measure() for _ in range(times))


def main() -> None:
    """Prints all figures."""
    with tempfile.TemporaryDirectory() as directory:
        first_prompt(directory)
        ours, theirs = median(lambda: first_prompt(directory)), median(bare_import)
        print(
            f"first prompt {ours:.3f} s, prompt_toolkit alone {theirs:.3f} s: {ours / theirs:.2f}"
        )
        for bracketed in (True, False):
            seconds = paste(directory, 5000, bracketed)
            print(
                f"paste of 5,000 packets, {'' if bracketed else 'not '}bracketed: {seconds:.2f} s"
            )
    print(f"100,000 packets replayed after a change: {median(lambda: replay(100_000)):.3f} s")


if __name__ == "__main__":
    main()
