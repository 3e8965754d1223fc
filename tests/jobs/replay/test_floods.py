"""Refused lines: the first five in full, then how many of which kind."""

import os
import signal
import subprocess

from support.running import EPIC, PACKET, environment

WRONG = b"wrong\n" * 7 + b"1,2\n" * 3
KINDS = b"  7  x is not a number\n  3  no ',' after y\n"


def test_an_interrupt_still_gets_the_count() -> None:
    with subprocess.Popen(
        EPIC,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
        start_new_session=True,
    ) as process:
        assert process.stdin
        assert process.stderr
        process.stdin.write(WRONG + PACKET)
        process.stdin.flush()
        shown = [process.stderr.readline() for _ in range(15)]
        assert shown[-1].startswith(b"  ^")
        os.kill(process.pid, signal.SIGINT)
        assert process.stderr.read().endswith(KINDS)
        assert process.wait() == 130
