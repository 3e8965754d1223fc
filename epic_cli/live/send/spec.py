"""Schedules of packets to send, made from recordings (repeated or merged) or from a movement."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain

from epic_cli.engine.contract import Packet
from epic_cli.network.movement import Movement
from epic_cli.network.sender import Sender, sample_movement

#: The states of one moment (seconds), in the order of sending.
Moment = tuple[float, list[Packet]]


def get_due_time(packet: Packet) -> float:
    """Return a packet's arrival time, or its own time if the arrival is unknown."""
    return packet.time if packet.arrival is None else packet.arrival


class _EntityTimes:
    """The times and sequence numbers of one entity in a recording, and its first time steps."""

    def __init__(self, time: float) -> None:
        self.first = self.last = time
        self.low: int | None = None
        self.high = -1
        self.steps: list[float] = []

    def add(self, packet: Packet) -> None:
        if self.last < packet.time and len(self.steps) < _STEPS:
            self.steps.append(packet.time - self.last)
        self.first, self.last = min(self.first, packet.time), max(self.last, packet.time)
        if packet.sequence is not None:
            self.low = packet.sequence if self.low is None else min(self.low, packet.sequence)
            self.high = max(self.high, packet.sequence)

    @property
    def step(self) -> float:
        """The median time step (s); 0 if there is none."""
        return sorted(self.steps)[len(self.steps) // 2] if self.steps else 0.0

    def compute_number(self, sequence: int | None, later: int) -> int | None:
        """Return a packet's sequence number when it is sent again, ``later`` rounds later."""
        return None if sequence is None else sequence + later * (self.high - (self.low or 0) + 1)


#: The most steps for the median; the period (s) of a recording with a single time.
_STEPS, _LONE = 1000, 1.0


def repeat_packets(read: Callable[[], Iterable[Packet]], times: float) -> Iterator[Packet]:
    """Yield the packets of ``read`` in ``times`` rounds, one after another (infinite: endlessly).

    The times of each round are a period later than those of the round before. The period is the
    longest time from an entity's first to its last packet, plus its usual step, so that its packets
    keep their pace and no time goes back. Sequence numbers continue, too; an entity's first packet
    in a round is a teleport.
    """
    seen: dict[str, _EntityTimes] = {}
    if times == 1:
        yield from read()
        return
    for packet in read():
        if math.isfinite(packet.time):
            seen.setdefault(packet.entity, _EntityTimes(packet.time)).add(packet)
        yield packet
    if not seen:
        return
    span = max(entity.last for entity in seen.values()) - min(
        entity.first for entity in seen.values()
    )
    period = max(entity.last - entity.first + entity.step for entity in seen.values())
    if period <= span:  # one entity follows another
        period = span + (
            min((entity.step for entity in seen.values() if entity.step), default=_LONE)
        )
    for later in range(1, int(min(times, 2**62))):
        shift, there = later * period, set[str]()
        for packet in read():
            if packet.entity in seen:
                number = seen[packet.entity].compute_number(packet.sequence, later)
                jumps = packet.teleport or packet.entity not in there
                yield shift_packet(packet, shift)._replace(sequence=number, teleport=jumps)
                there.add(packet.entity)


def shift_packet(packet: Packet, seconds: float) -> Packet:
    """Return the packet with times this many seconds later, in whole nanoseconds."""
    arrival = None if packet.arrival is None else round(packet.arrival + seconds, 9)
    return packet._replace(time=round(packet.time + seconds, 9), arrival=arrival)


def merge_recordings(
    recordings: Sequence[tuple[str, Iterator[Packet]]], renamed: Callable[[str, str, str], object]
) -> Iterator[Packet]:
    """Merge the packets of several named recordings in the order of sending.

    All recordings begin with the first packet of the first one. An entity whose name an earlier
    recording uses becomes ENTITY@RECORDING, which ``renamed(recording, old, new)`` reports; an
    entity without a name becomes RECORDING.
    """
    origin: float | None = None
    streams = []
    for index, (_, packets) in enumerate(recordings):
        for first in packets:
            if math.isfinite(get_due_time(first)):
                origin = get_due_time(first) if origin is None else origin
                streams.append(_shift_stream(index, first, packets, origin - get_due_time(first)))
                break
    owners: dict[str, int] = {}
    names: dict[tuple[int, str], str] = {}
    for _, index, packet in heapq.merge(*streams, key=lambda due: due[:2]):
        name = names.get((index, packet.entity))
        if name is None:
            recording, old = recordings[index][0], packet.entity
            other, number = f"{old}@{recording}" if old else recording, 1
            name = old
            while owners.setdefault(name, index) != index or name in names.values():
                name = other if number == 1 else f"{other}-{number}"
                number += 1
            names[index, old] = name
            if name != old:
                renamed(recording, old, name)
        yield packet if name == packet.entity else packet._replace(entity=name)


def _shift_stream(
    index: int, first: Packet, packets: Iterator[Packet], shift: float
) -> Iterator[tuple[float, int, Packet]]:
    """Yield each packet with its due time and the index of its stream, in order of time.

    Times never fall.
    """
    due = -math.inf
    for packet in chain([first], packets):
        one = shift_packet(packet, shift) if shift else packet
        if math.isfinite(get_due_time(one)):
            due = max(due, get_due_time(one))
        yield due, index, one


def iterate_recording_moments(
    packets: Iterable[Packet], duration: float, leave_out: Callable[[], object]
) -> Iterator[Moment]:
    """Yield packets grouped by due time: their arrival, or their own time if that is unknown.

    A packet with an earlier time than its predecessor joins its predecessor's group. ``leave_out``
    is called for each packet that has no finite time.
    """
    due, first = -math.inf, math.inf
    at_once: list[Packet] = []
    for packet in packets:
        time = get_due_time(packet)
        if not math.isfinite(time):
            leave_out()
            continue
        if time > due:
            if at_once:
                yield due, at_once
            due, at_once = time, []
            first = min(first, due)
            if due > first + duration:
                return
        at_once.append(packet)
    if at_once:
        yield due, at_once


def iterate_movement_moments(
    movement: Movement, rate: float | None, duration: float, sender: Sender
) -> Iterator[Moment]:
    """Yield the packets of a movement by time, sampled at ``rate`` (Hz; None: as recorded)."""
    for snapshot in sample_movement(movement, rate, duration):
        yield snapshot.time, sender.make_packets(snapshot)
