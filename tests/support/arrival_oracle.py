"""A slow, obvious oracle of arrival pacing: what epic draws for packets with arrival times.

Written from the promise alone: tick k is at k * tick seconds; rows go from the first tick at or
after the first arrival to the last tick that is no later than the last arrival + 0.15; at each
tick, first every packet that has arrived by then is applied in turn, then the interpolator of
``oracle`` is read.
"""

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from epic_cli import Packet, Sample, Status
from support.oracle import Interpolator, Vector, add, f32

TAIL = 0.15


def ticks_between(first: float, last: float, tick: Fraction) -> Iterator[float]:
    """The tick times t with first <= t <= last."""
    index = math.floor(Fraction(first) / tick) - 2
    while float(index * tick) < first:
        index += 1
    while float(index * tick) <= last:
        yield float(index * tick)
        index += 1


def arrival_of(packet: Packet) -> float:
    """When a packet arrived; all of them say so."""
    assert packet.arrival is not None
    return packet.arrival


def draw(
    packets: Sequence[Packet],
    tick: Fraction = Fraction(1, 20),
    until: float | None = None,
    **settings: Any,
) -> list[Sample]:
    """The rows of one entity; ``until``: the last arrival of a recording with others in it."""
    interpolator = Interpolator(**settings)
    waiting = list(packets)
    last = arrival_of(packets[-1]) if until is None else until
    drawn: list[Sample] = []
    empty = True
    for now in ticks_between(arrival_of(packets[0]), last + TAIL, tick):
        while waiting and arrival_of(waiting[0]) <= now:
            packet = waiting.pop(0)
            assert packet.velocity
            if interpolator.update(packet.position, packet.velocity, packet.time):
                empty = False
        status = _status(interpolator, f32(now), empty)
        position: Vector = interpolator.last_return_pos
        drawn.append(Sample(now, position, interpolator.last_vel, status, packets[0].entity))
    return drawn


def _status(interpolator: Interpolator, at: float, empty: bool) -> Status:
    """Read the interpolator, and say what kind of a row that gave."""
    if not interpolator.read(at):
        return "none" if empty else "held"
    begin = interpolator.last_time
    if begin <= at <= add(begin, interpolator.display_behind):
        return "interpolated"
    return "extrapolated"
