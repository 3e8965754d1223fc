"""Work for other processes, which find it by its name here."""

from __future__ import annotations

import os
import signal
import time

DEADLY, WRONG = 7, 9


def work(number: int) -> int:
    if number == DEADLY:
        os.kill(os.getpid(), signal.SIGKILL)
    if number == WRONG:
        raise ValueError("nine")
    time.sleep(0.002 * (-number % 5))  # later ones are done first
    return number * number


def pid(job: int) -> int:
    time.sleep(60 * bool(job))
    return os.getpid()
