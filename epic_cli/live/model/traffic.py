"""How packets come in: how many, how many are missing, how late; of the last seconds."""

from __future__ import annotations

import math
from collections import deque
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from epic_cli.live.model.history import Floats, History, Rows
    from epic_cli.recordings.datagrams.counts import Counts

#: Seconds that figures are of, and seconds of history.
WINDOW = 5.0
HISTORY = 120

#: Seconds; delays are above the shortest of so many, since clocks drift.
_SHORTEST_OF = 60

#: Seconds from one look to the next; datagrams a second are those of so many looks.
_EVERY = 0.25
_LOOKS = 8

#: Seconds within which a reset of a clock is detected, of a sender of 2 packets a second or more.
_UNCLEAR = 2.0

#: Sequence numbers that go over a range so many times longer than there are, were reset.
_RESET = 20

#: Longer steps from number to number are all alike.
_LONGEST_STEP = 1000


class Flow(NamedTuple):
    """The figures of the last seconds; NaN: not known.

    ``packets`` and ``datagrams`` a second. ``loss``: the share of sequence numbers that did not
    come, 0 to 1. ``jitter`` (s): by how much the delays of an entity's packets differ from each
    one's to the next, a mean of magnitudes (the D of RFC 3550, 6.4.1). ``delay`` and ``delay95``
    (s): the median and what 95 % do not exceed, above the shortest. ``history``: the longest of
    each second, NaN where nothing came, the latest last.
    """

    packets: float
    datagrams: float
    loss: float
    jitter: float
    delay: float
    delay95: float
    history: tuple[float, ...]


NOTHING = Flow(0, 0, math.nan, math.nan, math.nan, math.nan, ())


class Traffic:
    """Looks at what comes in some times a second; ``flow`` is of the last look."""

    def __init__(self) -> None:
        self.flow = NOTHING
        self._looked = self._since = -math.inf
        self._resets = 0
        self._datagrams: deque[tuple[float, int]] = deque(maxlen=_LOOKS)
        self._longest: dict[int, float] = {}  # delays, by second
        self._shortest: dict[int, float] = {}

    def add(self, received: Rows) -> None:
        """Packets came in (``history.POINT``)."""
        seconds = np.floor(received["time"]).astype(int)
        for second in np.unique(seconds).tolist():
            delays = received["delay"][seconds == second]
            self._longest[second] = max(self._longest.get(second, -math.inf), delays.max())
            self._shortest[second] = min(self._shortest.get(second, math.inf), delays.min())
        while len(self._longest) > HISTORY:
            oldest = next(iter(self._longest))
            del self._longest[oldest], self._shortest[oldest]

    def look(self, history: History, now: float, real_time: float, counts: Counts) -> None:
        """The figures at ``now``, of the packets in the ``history``.

        ``now`` is on the receiver's clock, ``real_time`` on any (s).
        """
        if counts.clock_resets > self._resets:
            self._resets = counts.clock_resets
            self._forget(now)
        if real_time - self._looked < _EVERY:
            return
        self._looked = real_time
        self._datagrams.append((real_time, counts.datagrams))
        recent = [delay for second, delay in self._shortest.items() if second >= now - _SHORTEST_OF]
        shortest = min(recent, default=math.nan)
        received = history.points(now - WINDOW)
        packets = int((received["time"] >= now - 1).sum())
        received = received[received["time"] >= max(now - WINDOW, self._since)]
        delays = np.sort(received["delay"])
        self.flow = Flow(
            packets,
            self._datagram_rate(),
            _loss(received),
            _jitter(received),
            _quantile(delays, 0.5) - shortest,
            _quantile(delays, 0.95) - shortest,
            self._history(now, shortest),
        )

    def _forget(self, now: float) -> None:
        """A clock was reset: until that was clear, its packets had no delay that means anything."""
        self._since, self._looked = now, -math.inf
        for second in [one for one in self._longest if one >= math.floor(now - _UNCLEAR)]:
            del self._longest[second], self._shortest[second]

    def _datagram_rate(self) -> float:
        if len(self._datagrams) < 2:
            return 0.0
        (begin, before), (end, after) = self._datagrams[0], self._datagrams[-1]
        return (after - before) / (end - begin)

    def _history(self, now: float, shortest: float) -> tuple[float, ...]:
        if not self._longest:
            return ()
        last = math.floor(now)
        first = max(last - HISTORY + 1, next(iter(self._longest)))
        delays = (self._longest.get(second, math.nan) for second in range(first, last + 1))
        return tuple(delay - shortest for delay in delays)


def _quantile(ordered: Floats, share: float) -> float:
    count = len(ordered)
    return float(ordered[min(int(share * count), count - 1)]) if count else math.nan


def _jitter(received: Rows) -> float:
    ordered = received[np.argsort(received["entity"], kind="stable")]
    changes = np.abs(np.diff(ordered["delay"]))[np.diff(ordered["entity"]) == 0]
    return float(changes.mean()) if len(changes) else math.nan


def _loss(received: Rows) -> float:
    """The share of numbers that are missing.

    Some senders number the packets of each entity. Others number all of them: then no two entities
    have a number in common, and those of all are without a hole but for what was lost. Or they
    number datagrams, several of which hold the entities of a tick: then the commonest step from one
    packet of an entity to its next is not 1, which it is in the first case whatever was lost.
    """
    numbered = received[received["numbered"]]
    numbers, entities = numbered["sequence"], numbered["entity"]
    order = np.lexsort((numbers, entities))
    numbers, entities = numbers[order], entities[order]
    first = np.ones(len(order), bool)
    first[1:] = (np.diff(entities) != 0) | (numbers[1:] != numbers[:-1])
    numbers, entities = numbers[first], entities[first]  # copies are not one more
    together = np.unique(numbers)
    each = _missing(numbers, np.flatnonzero(np.diff(entities, prepend=-1)))
    steps = np.minimum(np.diff(numbers)[np.diff(entities) == 0], _LONGEST_STEP).astype(int)
    if len(together) < len(numbers) and (not len(steps) or np.bincount(steps).argmax() == 1):
        return each
    both = (each, _missing(together, np.zeros(min(len(together), 1), int)))
    return min((one for one in both if not math.isnan(one)), default=math.nan)


def _missing(numbers: NDArray[np.uint64], begins: NDArray[np.intp]) -> float:
    """Of streams of ascending numbers, each of which begins at one of these places."""
    if not len(begins):
        return math.nan
    ends = np.append(begins[1:], len(numbers))
    lengths = (numbers[ends - 1] - numbers[begins]).astype(float) + 1
    if (lengths > _RESET * (ends - begins) + 100).any():
        return math.nan
    return float(1 - len(numbers) / lengths.sum())
