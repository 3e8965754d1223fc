"""Packets as datagrams, over a simulated link to a socket, each at its time by the real clock."""

from __future__ import annotations

import asyncio
import heapq
import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

from epic_cli.engine.contract import Packet
from epic_cli.formats.recordings import make_writer
from epic_cli.formats.writing import csv_field, number
from epic_cli.live.addresses import UNFRAGMENTED, Resolved
from epic_cli.live.event_loop import prefetched, set_or_late
from epic_cli.network.link import Channel
from epic_cli.network.sender import Sender, sample
from epic_cli.network.simulation import Statistics
from epic_cli.network.state import Movement

#: The states of one moment (seconds), in the order of sending.
Moment = tuple[float, list[Packet]]


class Datagram(NamedTuple):
    """Bytes to send at a time (seconds), and the packets in them."""

    time: float
    packets: list[Packet]
    data: bytes


def due_time(packet: Packet) -> float:
    """When it arrived or, where that is not known, was sent."""
    return packet.time if packet.arrival is None else packet.arrival


class _Seen:
    """Of one entity in a recording: its times and numbers, and its first steps in time."""

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
        """The usual one (s), the median; 0: there is none."""
        return sorted(self.steps)[len(self.steps) // 2] if self.steps else 0.0

    def number(self, sequence: int | None, later: int) -> int | None:
        """The sequence number so many rounds later."""
        return None if sequence is None else sequence + later * (self.high - (self.low or 0) + 1)


#: So many steps are looked at for the usual one; a recording of one time is repeated so often (s).
_STEPS, _LONE = 1000, 1.0


def rounds(read: Callable[[], Iterable[Packet]], times: float) -> Iterator[Packet]:
    """The packets that ``read`` gives, so many times over (infinite: endlessly), as if it went on.

    The times of each round are a period later than those of the one before. The period is the
    longest that an entity is there for, and its usual step more: so that one's packets go on at
    their own pace, and no time goes back. Sequence numbers go on, too; an entity's first packet in
    a round is a teleport.
    """
    seen: dict[str, _Seen] = {}
    if times == 1:
        yield from read()
        return
    for packet in read():
        if math.isfinite(packet.time):
            seen.setdefault(packet.entity, _Seen(packet.time)).add(packet)
        yield packet
    if not seen:
        return
    span = max(one.last for one in seen.values()) - min(one.first for one in seen.values())
    period = max(one.last - one.first + one.step for one in seen.values())
    if period <= span:  # one follows the other
        period = span + (min((one.step for one in seen.values() if one.step), default=_LONE))
    later = 1
    while later < times:
        shift, there = later * period, set[str]()
        for packet in read():
            if packet.entity in seen:
                number = seen[packet.entity].number(packet.sequence, later)
                jumps = packet.teleport or packet.entity not in there
                yield shifted(packet, shift)._replace(sequence=number, teleport=jumps)
                there.add(packet.entity)
        later += 1


def shifted(packet: Packet, seconds: float) -> Packet:
    """It, so much later, in whole nanoseconds."""
    arrival = None if packet.arrival is None else round(packet.arrival + seconds, 9)
    return packet._replace(time=round(packet.time + seconds, 9), arrival=arrival)


def together(
    recordings: Sequence[tuple[str, Iterator[Packet]]], renamed: Callable[[str, str, str], object]
) -> Iterator[Packet]:
    """The packets of several named recordings in the order of sending.

    All begin with the first packet of the first one. An entity whose name belongs to one in another
    recording, which was there before, becomes ENTITY@RECORDING: ``renamed(recording, old, new)``;
    one without a name becomes RECORDING.
    """
    origin: float | None = None
    streams = []
    for index, (_, packets) in enumerate(recordings):
        for first in packets:
            if math.isfinite(due_time(first)):
                origin = due_time(first) if origin is None else origin
                streams.append(_beside(index, first, packets, origin - due_time(first)))
                break
    owners: dict[str, int] = {}
    names: dict[tuple[int, str], str] = {}
    for _, index, packet in heapq.merge(*streams, key=lambda one: one[:2]):
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


def _beside(
    index: int, first: Packet, packets: Iterator[Packet], shift: float
) -> Iterator[tuple[float, int, Packet]]:
    """Packets with the times at which they are due, which do not fall, and their stream's index."""
    due = -math.inf
    for packet in chain([first], packets):
        one = shifted(packet, shift) if shift else packet
        if math.isfinite(due_time(one)):
            due = max(due, due_time(one))
        yield due, index, one


def moments_of_recording(
    packets: Iterable[Packet], duration: float, leave_out: Callable[[], object]
) -> Iterator[Moment]:
    """Packets at the time at which they arrived or, where that is not known, were sent.

    Packets of one time are grouped; one with an earlier time than its predecessor joins it.
    ``leave_out`` is called for each packet that has no finite time.
    """
    due, first = -math.inf, math.inf
    at_once: list[Packet] = []
    for packet in packets:
        time = due_time(packet)
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


def moments_of_movement(
    movement: Movement, rate: float, duration: float, sender: Sender
) -> Iterator[Moment]:
    """A movement, sampled so many times a second."""
    for snapshot in sample(movement, rate, duration):
        yield snapshot.time, sender.packets(snapshot)


def datagrams(
    moments: Iterable[Moment], packet_format: str, separate: bool = False
) -> Iterator[Datagram]:
    """Packs packets into self-contained datagrams; raises ``Unwritable``.

    The packets of one moment share datagrams of ``UNFRAGMENTED`` bytes unless they are to be
    ``separate``; a longer packet goes alone. Packets without a sequence number get that of their
    datagram.
    """
    writers = {turns: make_writer(packet_format, turns=turns) for turns in (False, True)}
    number = 0
    for time, packets in moments:
        writer = writers[any(one.rotation for one in packets)]
        rows: list[bytes] = []
        inside: list[Packet] = []
        size = 0
        for packet in packets:
            sequence = number if packet.sequence is None else packet.sequence
            row = writer.row(packet._replace(arrival=None, sequence=sequence))
            if inside and (separate or size + len(row) > UNFRAGMENTED):
                yield Datagram(time, inside, b"".join(rows))
                number += 1
                if packet.sequence is None:
                    row = writer.row(packet._replace(arrival=None, sequence=number))
                inside = []
            if not inside:
                rows, size = [writer.header], len(writer.header)
            rows.append(row)
            size += len(row)
            inside.append(packet)
        if inside:
            yield Datagram(time, inside, b"".join(rows))
            number += 1


HEADER = "entity,time,x,y,z,vx,vy,vz,teleport,sent"


@dataclass
class Departure:
    """A datagram: its packets, and when its first copy left (None: it has not, or was lost)."""

    packets: list[Packet]
    origin: float
    on_its_way: bool
    sent: float | None = None


class SentLog:
    """Writes a line for each packet, in the order of the packets, even if some overtake others.

    ``sent`` is in seconds on the clock of the packets' times, on which the first was sent at its
    own; it is empty for a packet that the link lost. What is in flight is in memory.
    """

    def __init__(self, write: Callable[[bytes], object]) -> None:
        self._write = write
        self._waiting: deque[Departure] = deque()
        self._turns: bool | None = None  # whether the first datagram has rotations

    def add(self, packets: list[Packet], origin: float, on_its_way: bool) -> Departure:
        """A datagram that leaves later, or that the link has lost."""
        if self._turns is None:
            self._begin(any(one.rotation for one in packets))
        departure = Departure(packets, origin, on_its_way)
        self._waiting.append(departure)
        self._settle()
        return departure

    def left(self, departure: Departure, elapsed: float) -> None:
        """Records that it left so long (seconds) after the first; a second copy is ignored."""
        if departure.sent is None:
            departure.sent = departure.origin + elapsed
            departure.on_its_way = False
            self._settle()

    def end(self) -> None:
        """Ends the datagrams in flight, which will not be sent."""
        if self._turns is None:
            self._begin(False)
        for departure in self._waiting:
            departure.on_its_way = False
        self._settle()

    def _begin(self, turns: bool) -> None:
        self._turns = turns
        self._write(f"{HEADER}{',qx,qy,qz,qw' * turns}\n".encode())

    def _settle(self) -> None:
        while self._waiting and not self._waiting[0].on_its_way:
            departure = self._waiting.popleft()
            sent = "" if departure.sent is None else number(round(departure.sent, 6))
            rows = (_row(one, sent, bool(self._turns)) for one in departure.packets)
            self._write("".join(rows).encode())


def _row(packet: Packet, sent: str, turns: bool) -> str:
    velocity = [""] * 3 if packet.velocity is None else map(number, packet.velocity)
    numbers = ",".join([number(packet.time), *map(number, packet.position), *velocity])
    turn = "," + ",".join(map(number, packet.rotation or ())) if turns else ""
    turn += ",,," * (turns and packet.rotation is None)
    return f"{csv_field(packet.entity)},{numbers},{packet.teleport:d},{sent}{turn}\n"


@dataclass(frozen=True)
class SendSpec:
    """How packets are sent: written in which format, how many times as fast as they were recorded.

    ``separate``: a datagram for each packet. ``truth_out`` is where the sent log goes.
    """

    packet_format: str
    speed: float = 1.0
    separate: bool = False
    truth_out: str | None = None


class _Errors(asyncio.DatagramProtocol):
    """Keeps the socket's errors for datagrams that it could not send."""

    def __init__(self) -> None:
        self.refused = 0
        self.error: OSError | None = None

    def error_received(self, exc: Exception) -> None:
        """A port that nobody listens on does not end it: a game's receiver may start late."""
        if isinstance(exc, ConnectionRefusedError):
            self.refused += 1
        elif isinstance(exc, OSError):
            self.error = exc


class Sending:
    """Sends datagrams; ``statistics`` and ``refused`` are kept up to date meanwhile.

    Times are divided by the speed; the delays of the ``channel`` are not. ``refused`` counts
    replies from closed ports. ``log`` records when each datagram really left.
    """

    def __init__(
        self, spec: SendSpec, target: Resolved, channel: Channel, log: SentLog | None = None
    ) -> None:
        self._spec = spec
        self._target = target
        self._channel = channel
        self._log = log
        self._errors = _Errors()
        self._flying: list[tuple[float, int, int, bytes, Departure | None]] = []
        self._copies = 0
        self._start = 0.0
        self._taken = False
        self._changed = asyncio.Event()
        self.statistics = Statistics()

    @property
    def refused(self) -> int:
        """How many datagrams met a closed port."""
        return self._errors.refused

    async def run(self, moments: Iterable[Moment]) -> None:
        """Sends them all; raises ``OSError`` where that is not possible, and ``Unwritable``."""
        loop = asyncio.get_running_loop()
        self._transport, _ = await loop.create_datagram_endpoint(
            lambda: self._errors, remote_addr=self._target.place[:2], family=self._target.family
        )
        packed = datagrams(moments, self._spec.packet_format, self._spec.separate)
        taking = asyncio.create_task(self._take(packed))
        try:
            await self._deliver()
            await taking
            await asyncio.sleep(0)  # the answer to the last one may be there
            self._check()
        finally:
            taking.cancel()
            self._transport.close()
            if self._log is not None:
                self._log.end()

    async def _take(self, packed: Iterable[Datagram]) -> None:
        """Gives each datagram to the link at its time."""
        try:
            first: float | None = None
            sequence = 0
            async for datagram in prefetched(packed):
                if first is None:
                    first = datagram.time
                    self._start = asyncio.get_running_loop().time()
                moment = (datagram.time - first) / self._spec.speed
                await self._until(moment)
                if self._channel.ended(moment):
                    return
                arrivals = self._channel.send(moment)
                self.statistics.count_sent(moment, arrivals)
                departure = None
                if self._log is not None:
                    departure = self._log.add(datagram.packets, first, bool(arrivals))
                for arrival in arrivals:
                    self._copies += 1
                    copy = (arrival, self._copies, sequence, datagram.data, departure)
                    heapq.heappush(self._flying, copy)
                self._changed.set()
                sequence += 1
        finally:
            self._taken = True
            self._changed.set()

    async def _deliver(self) -> None:
        """Sends each copy when the link has carried it, until there are no more."""
        loop = asyncio.get_running_loop()
        while self._flying or not self._taken:
            self._changed.clear()
            wait = self._start + self._flying[0][0] - loop.time() if self._flying else None
            if wait is None or wait > 0:
                await set_or_late(self._changed, wait)
                continue
            _, _, sequence, data, departure = heapq.heappop(self._flying)
            self._check()
            self._transport.sendto(data)
            self.statistics.count_arrived(sequence)
            if departure is not None and self._log is not None:
                self._log.left(departure, loop.time() - self._start)

    async def _until(self, moment: float) -> None:
        """Waits for a time, in seconds after the start."""
        wait = self._start + moment - asyncio.get_running_loop().time()
        await asyncio.sleep(max(wait, 0))

    def _check(self) -> None:
        if self._errors.error is not None:
            raise self._errors.error
