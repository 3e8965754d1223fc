"""Calls of ``replay`` in one process, again and again: memory must not grow.

    python -m endurance.calls --calls 1000000

Every strategy takes its turn, some with an error on the way: a packet that is refused, a setting
that there is not, a strategy in plain Python that raises, a generator that is dropped half-way.
"""

from __future__ import annotations

import argparse
import gc
import itertools
import sys
import time
from collections.abc import Callable
from pathlib import Path

from support.movements import Heedless

from epic_cli import Packet, Sample, replay, strategies

PACKETS = [
    Packet((k * 0.1, 1.0, 2.0), (1.0, 0.0, 0.0), k * 0.1, k * 0.1 + 0.05, f"e{k % 2}")
    for k in range(4)
]

#: Bytes that a call may leave behind, in the mean over all calls but the first tenth: memory that
#: is full of holes is given half a megabyte more, now and then.
MOST_LEFT = 4.0


class Raises(Heedless):
    """A strategy in plain Python whose ``read`` raises."""

    def read(self, at: float) -> Sample:
        """Raise an error."""
        raise ZeroDivisionError(at)


def refused() -> None:
    list(replay([PACKETS[0], Packet((0, 0, 0), (0, 0, 0), 1e300)], clock="exact"))


def kinds() -> list[Callable[[], object]]:
    """Make one call of each kind."""

    def drawn(name: str) -> Callable[[], object]:
        return lambda: list(replay(PACKETS, name))

    return [
        *(drawn(strategy.name) for strategy in strategies()),
        refused,
        lambda: list(replay(PACKETS, "epic", no_such_setting=1)),
        lambda: list(replay(PACKETS, Raises)),
        lambda: next(replay(PACKETS, "mirror")),
    ]


def resident() -> int:
    """Return this process's resident memory in bytes."""
    gc.collect()
    fields = Path("/proc/self/statm").read_text().split()
    return int(fields[1]) * 4096


def run(calls: int) -> float:
    """Return the bytes that a call leaves behind, on average."""
    turns = itertools.cycle(kinds())
    first = max(calls // 10, 1)
    before = 0
    for number in range(calls):
        if number == first:
            before = resident()
        try:
            next(turns)()
        except (ValueError, ZeroDivisionError):
            continue
    return (resident() - before) / (calls - first)


def main() -> int:
    """Make the calls; return status 1 if memory grows."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--calls", type=int, default=1_000_000)
    options = parser.parse_args()
    begin = time.monotonic()
    left = run(options.calls)
    seconds = time.monotonic() - begin
    print(f"{options.calls:,} calls in {seconds:.0f} s: {left:.2f} bytes left by each")
    return 1 if left > MOST_LEFT else 0


if __name__ == "__main__":
    sys.exit(main())
