"""Movement through a sender and over a link: packets in the order in which they arrive."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from fractions import Fraction
from heapq import heappop, heappush

from epic_cli.engine.contract import Packet
from epic_cli.network.link import Channel, Link
from epic_cli.network.sender import DECIMALS, Sender, sample
from epic_cli.network.state import Movement, Snapshot


class Statistics:
    """What became of the datagrams, counted in memory that does not grow with their number.

    ``reordered`` are those that arrive after one that was sent later (RFC 4737). Delays are kept
    to three digits.
    """

    def __init__(self) -> None:
        self.sent = 0
        self.lost = 0
        self.duplicated = 0
        self.arrived = 0
        self.reordered = 0
        self.longest_loss = 0
        self._losses_in_a_row = 0
        self._latest = -1
        self._delays: Counter[float] = Counter()

    def count_sent(self, time: float, arrivals: tuple[float, ...]) -> None:
        """Counts a datagram that was sent at ``time``, with the times of its arrival."""
        self.sent += 1
        self.lost += not arrivals
        self.duplicated += max(len(arrivals) - 1, 0)
        self._losses_in_a_row = 0 if arrivals else self._losses_in_a_row + 1
        self.longest_loss = max(self.longest_loss, self._losses_in_a_row)
        for arrival in arrivals:
            self._delays[float(f"{arrival - time:.2e}")] += 1

    def count_arrived(self, sequence: int) -> None:
        """Counts an arrival."""
        self.arrived += 1
        self.reordered += sequence < self._latest
        self._latest = max(self._latest, sequence)

    def delay(self, share: float) -> float:
        """The delay in seconds that this share (0 to 1) of the arrivals do not exceed."""
        wanted = math.ceil(share * self._delays.total())
        passed = 0
        for delay in sorted(self._delays):
            passed += self._delays[delay]
            if passed >= wanted:
                return delay
        return math.nan


def simulate(
    movement: Movement,
    *,
    send_rate: float | Fraction | None = 20,
    duration: float = math.inf,
    channel: Channel | None = None,
    sender: Sender | None = None,
    separate: bool = False,
    statistics: Statistics | None = None,
) -> Iterator[Packet]:
    """The packets that a receiver gets, in order of arrival; endless if the movement is.

    ``send_rate`` is in hertz, None: recorded states as they stand. ``duration`` is in seconds.
    ``channel`` is a ``Link`` or ``TraceLink``, by default a perfect link. The states of one time
    travel in one datagram (they have the same ``sequence`` and fate), with ``separate`` in one
    each. ``statistics`` is kept up to date meanwhile.

    Only the packets in flight are in memory.
    """
    channel = Link() if channel is None else channel
    sender = Sender() if sender is None else sender
    statistics = Statistics() if statistics is None else statistics
    in_flight: list[tuple[float, int, int, list[Packet]]] = []
    snapshots = sample(movement, send_rate, duration)
    datagrams = _datagrams(snapshots, sender, separate)
    for sequence, (time, packets) in enumerate(datagrams):
        if channel.ended(time):
            break
        while in_flight and in_flight[0][0] <= time:
            yield from _land(heappop(in_flight), statistics)
        arrivals = channel.send(time)
        statistics.count_sent(time, arrivals)
        for copy, arrival in enumerate(arrivals):
            heappush(in_flight, (arrival, sequence, copy, packets))
    while in_flight:
        yield from _land(heappop(in_flight), statistics)


def _datagrams(
    snapshots: Iterable[Snapshot], sender: Sender, separate: bool
) -> Iterator[tuple[float, list[Packet]]]:
    for snapshot in snapshots:
        packets = list(sender.packets(snapshot))
        if separate:
            for packet in packets:
                yield snapshot.time, [packet]
        elif packets:
            yield snapshot.time, packets


def _land(
    landing: tuple[float, int, int, list[Packet]], statistics: Statistics
) -> Iterator[Packet]:
    arrival, sequence, _, packets = landing
    statistics.count_arrived(sequence)
    rounded = round(arrival, DECIMALS)
    for packet in packets:
        yield packet._replace(arrival=rounded, sequence=sequence)
