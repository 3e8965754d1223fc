"""Numbered cases in a child process, each with a limit of processor time."""

from __future__ import annotations

import mmap
import os
import signal
import struct
from collections.abc import Callable, Iterator
from typing import NamedTuple


class Ended(NamedTuple):
    """A case that has ended the process: its number, and the signal or status of the process."""

    case: int
    status: int

    def __str__(self) -> str:
        if self.status == -signal.SIGVTALRM:
            return f"case {self.case}: still running after the limit"
        if self.status < 0:
            return f"case {self.case}: {signal.Signals(-self.status).name}"
        return f"case {self.case}: status {self.status}"


def run_cases(cases: range, run: Callable[[int], object], limit: float) -> Iterator[Ended]:
    """Run every case, and yield those that hang, crash or raise.

    ``limit`` is in seconds of the process's own processor time, so that a busy machine finds no
    hang where there is none. The timer kills without asking Python, which a loop in the engine
    would not let answer.
    """
    begin = cases.start
    with mmap.mmap(-1, 8) as now:
        while begin < cases.stop:
            now[:] = struct.pack("q", begin)
            child = os.fork()
            if not child:
                _work(range(begin, cases.stop), run, limit, now)
            _, status = os.waitpid(child, 0)
            if status == 0:
                return
            (at,) = struct.unpack("q", now[:])
            yield Ended(at, os.waitstatus_to_exitcode(status))
            begin = at + 1


def _work(cases: range, run: Callable[[int], object], limit: float, now: mmap.mmap) -> None:
    status = 1
    try:
        signal.signal(signal.SIGVTALRM, signal.SIG_DFL)
        for case in cases:
            now[:] = struct.pack("q", case)
            signal.setitimer(signal.ITIMER_VIRTUAL, limit)
            run(case)
        status = 0
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        os._exit(status)  # none of the parent's own endings
