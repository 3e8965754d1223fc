"""Slow, obvious oracles of the demo's strategy, and of arrival pacing for any strategy.

Written from the promise alone: tick k is at k * tick seconds; rows go from the first tick at or
after the first arrival to the last tick that is no later than the last arrival + 0.15; at each
tick, first every packet that has arrived by then is applied in turn, then the strategy is read.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

from epic_cli import Packet, Sample, SmoothingStrategy, Status
from support.oracle import Interpolator, Vector, add, f32

TAIL = 0.15


class PlainEpic:
    """The same strategy in plain Python: the oracle's interpolator behind the contract."""

    def __init__(self, **settings: Any) -> None:
        self.settings = settings
        self.reset()

    def reset(self) -> None:
        self.interpolator = Interpolator(**self.settings)
        self.empty = True
        self.newest = math.nan
        self.shown: Vector | None = None

    def update(self, packet: Packet, now: float) -> bool:
        del now
        assert packet.velocity
        if packet.teleport:
            if packet.time < self.newest:
                return False
            self.interpolator = Interpolator(
                **self.settings,
                position=packet.position,
                velocity=packet.velocity,
                time=packet.time,
            )
        elif not self.interpolator.update(packet.position, packet.velocity, packet.time):
            return False
        if not packet.time < self.newest:
            self.newest = packet.time
        self.empty = False
        return True

    def read(self, at: float) -> Sample:
        line, now = self.interpolator, f32(at)
        status: Status = "none" if self.empty else "held"
        if line.read(now):
            on_the_way = line.last_time <= now <= add(line.last_time, line.display_behind)
            status = "interpolated" if on_the_way else "extrapolated"
        elif not self.empty and self.shown not in (None, line.last_return_pos):
            status = "interpolated"  # it has just been moved there
        self.shown = None if self.empty else line.last_return_pos
        return Sample(at, line.last_return_pos, line.last_vel, status)


def ticks_between(first: float, last: float, tick: Fraction) -> Iterator[float]:
    """Return the tick times t with first <= t <= last."""
    index = math.floor(Fraction(first) / tick) - 2
    while float(index * tick) < first:
        index += 1
    while float(index * tick) <= last:
        yield float(index * tick)
        index += 1


def arrival_of(packet: Packet) -> float:
    """Return a packet's arrival time, which every packet here has."""
    assert packet.arrival is not None
    return packet.arrival


def draw(
    make: Callable[[], SmoothingStrategy],
    packets: Sequence[Packet],
    tick: Fraction = Fraction(1, 20),
    until: float | None = None,
    frames: int = 0,
    entity: str = "",
) -> list[Sample]:
    """Return the rows of one ``entity``; ``until`` is the last arrival of all packets.

    Strategies that listen hear of the packets of others. Frames that are drawn before anything of
    the entity has come in show nothing.
    """
    one = make()
    one.reset()
    waiting, rows = list(packets), []
    newest: dict[str, float] = {}
    first = arrival_of(next(packet for packet in packets if packet.entity == entity))
    last = arrival_of(packets[-1]) if until is None else until
    begin = arrival_of(packets[0]) - frames * float(tick)
    for now in ticks_between(begin, last + TAIL, tick):
        while waiting and arrival_of(waiting[0]) <= now:
            packet = waiting.pop(0)
            if packet.entity == entity:
                one.update(packet, arrival_of(packet))
            else:
                previous = newest.get(packet.entity, math.nan)
                one.hear(packet.time, arrival_of(packet), previous)  # type: ignore[attr-defined]
            newest[packet.entity] = max(packet.time, newest.get(packet.entity, -math.inf))
        sample = one.read(now)
        if now < first:
            assert sample.status == "none"
        else:
            rows.append(sample._replace(entity=entity))
    return rows
