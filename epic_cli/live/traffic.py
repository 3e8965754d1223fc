"""How packets come in: how many, how many are missing, how late; of the last seconds."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable
from typing import NamedTuple

from epic_cli.engine.contract import Packet

#: Seconds that figures are of, and seconds of history.
WINDOW = 5.0
HISTORY = 120

#: Seconds; delays are told above the shortest of so many, since clocks drift.
_SHORTEST_OF = 60

#: Seconds from one look to the next; datagrams a second are those of so many looks.
_EVERY = 0.25
_LOOKS = 8

#: No more packets than this are remembered.
_MOST = 50_000

#: Sequence numbers that go over a range so many times longer than there are, have begun anew.
_BEGUN_ANEW = 20


class Flow(NamedTuple):
    """The figures of the last seconds; NaN: not known.

    ``packets`` and ``datagrams`` a second. ``loss``: the share of sequence numbers that did not
    come, 0 to 1.
    ``jitter`` (s): by how much the delays of an entity's packets differ from each one's to the
    next, a mean of magnitudes (the D of RFC 3550, 6.4.1). ``delay`` and ``delay95`` (s): the
    median and what 95 % do not exceed, above the shortest. ``history``: the longest of each
    second, NaN where nothing came, the latest last.
    """

    packets: float
    datagrams: float
    loss: float
    jitter: float
    delay: float
    delay95: float
    history: tuple[float, ...]


class _Seen(NamedTuple):
    arrival: float
    delay: float
    entity: str
    sequence: int | None
    change: float


class _Second(NamedTuple):
    """The shortest and the longest delay of one second (its number)."""

    number: int
    shortest: float
    longest: float


class Traffic:
    """Counts packets as they come in; what it keeps does not grow. ``flow`` is of the last look."""

    def __init__(self) -> None:
        self._looked = -math.inf
        self._datagrams: deque[tuple[float, int]] = deque(maxlen=_LOOKS)
        self._seen: deque[_Seen] = deque(maxlen=_MOST)
        self._seconds: deque[_Second] = deque(maxlen=HISTORY)
        self._delays: dict[str, float] = {}  # of each entity's last packet
        self.flow = self.flow_at(0.0)

    def add(self, packets: Iterable[Packet]) -> None:
        """Takes packets with arrivals, in their order."""
        for packet in packets:
            if packet.arrival is None:
                continue
            delay = packet.arrival - packet.time
            before = self._delays.get(packet.entity, math.nan)
            self._delays[packet.entity] = delay
            change = abs(delay - before)
            self._seen.append(_Seen(packet.arrival, delay, packet.entity, packet.sequence, change))
            self._note(math.floor(packet.arrival), delay)

    def _note(self, number: int, delay: float) -> None:
        seconds = self._seconds
        if seconds and seconds[-1].number == number:
            _, shortest, longest = seconds.pop()
            seconds.append(_Second(number, min(shortest, delay), max(longest, delay)))
        else:
            seconds.append(_Second(number, delay, delay))

    def look(self, now: float, real_time: float, datagrams: int) -> None:
        """The figures some times a second; ``datagrams`` came in all.

        ``now`` is on the receiver's clock, ``real_time`` on any (s).
        """
        if real_time - self._looked >= _EVERY:
            self._looked = real_time
            self._datagrams.append((real_time, datagrams))
            self.flow = self.flow_at(now)

    def _datagram_rate(self) -> float:
        if len(self._datagrams) < 2:
            return 0.0
        (begin, before), (end, after) = self._datagrams[0], self._datagrams[-1]
        return (after - before) / (end - begin)

    def flow_at(self, now: float) -> Flow:
        """The figures at a time (s) of the receiver's clock."""
        seen = self._seen
        while seen and seen[0].arrival < now - WINDOW:
            seen.popleft()
        recent = [one for one in seen if one.arrival >= now - 1]
        shortest = self._shortest(now)
        delays = sorted(one.delay for one in seen)
        changes = [one.change for one in seen if not math.isnan(one.change)]
        return Flow(
            len(recent),
            self._datagram_rate(),
            _loss(seen),
            sum(changes) / len(changes) if changes else math.nan,
            _quantile(delays, 0.5) - shortest,
            _quantile(delays, 0.95) - shortest,
            self._history(now, shortest),
        )

    def _shortest(self, now: float) -> float:
        recent = [one.shortest for one in self._seconds if one.number >= now - _SHORTEST_OF]
        return min(recent, default=math.nan)

    def _history(self, now: float, shortest: float) -> tuple[float, ...]:
        if not self._seconds:
            return ()
        known = {one.number: one.longest - shortest for one in self._seconds}
        last = math.floor(now)
        first = max(last - HISTORY + 1, self._seconds[0].number)
        return tuple(known.get(number, math.nan) for number in range(first, last + 1))


def _quantile(ordered: list[float], share: float) -> float:
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)] if ordered else math.nan


def _loss(seen: Iterable[_Seen]) -> float:
    """The share of numbers that are missing.

    Some senders number the packets of each entity. Others number all of them: then no two entities
    have a number in common, and those of all are without a hole but for what was lost.
    """
    numbers: dict[str, set[int]] = {}
    for one in seen:
        if one.sequence is not None:
            numbers.setdefault(one.entity, set()).add(one.sequence)
    if not numbers:
        return math.nan
    together = set().union(*numbers.values())
    each = _missing(list(numbers.values()))
    if len(together) < sum(map(len, numbers.values())):
        return each
    both = (each, _missing([together]))
    return min((one for one in both if not math.isnan(one)), default=math.nan)


def _missing(streams: list[set[int]]) -> float:
    there = wanted = 0
    for numbers in streams:
        length = max(numbers) - min(numbers) + 1
        if length > _BEGUN_ANEW * len(numbers) + 100:
            return math.nan
        there += len(numbers)
        wanted += length
    return 1 - there / wanted
