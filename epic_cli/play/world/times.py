"""Seconds where people read them, whole microseconds where times must add up exactly.

Floating-point seconds that are summed step by step drift apart on two machines that sum in
different steps. So the simulation, the event queue and the packets count microseconds, under names
that end in ``_us``; everything else is in seconds.
"""

from __future__ import annotations

SECOND_US = 1_000_000


def to_us(seconds: float) -> int:
    """The nearest whole number of microseconds."""
    return round(seconds * SECOND_US)


def to_seconds(time_us: int) -> float:
    """The double nearest to it: ``to_us`` gives the same microseconds back."""
    return time_us / SECOND_US
