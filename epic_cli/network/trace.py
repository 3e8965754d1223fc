"""A recorded network in a link's place, alone or with a simulated link added to it."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from epic_cli.engine.parameters import Choice

if TYPE_CHECKING:
    from epic_cli.network.conditions import LinkConditions
    from epic_cli.network.link import Link

TraceBy = Literal["time", "packet"]
TRACE_BY: tuple[TraceBy, ...] = get_args(TraceBy)
TraceEnd = Literal["loop", "stop"]
TRACE_ENDS: tuple[TraceEnd, ...] = get_args(TraceEnd)
Direction = Literal["down", "up"]
DIRECTIONS: tuple[Direction, ...] = get_args(Direction)

#: How a recorded network is used.
TRACE = (
    Choice("trace_by", "time", "Match packets by the time they are sent, or one by one.", TRACE_BY),
    Choice("trace_end", "loop", "After its last packet, start the recorded network again, or"
           " stop.", TRACE_ENDS),
    Choice("trace_direction", "down", "Which direction, if the file has both.", DIRECTIONS),
)  # fmt: skip

#: Two times closer than this are the same: sums of decimals have smaller errors.
_SAME = 1e-9

#: A shorter trace (seconds) cannot be repeated.
_SHORTEST = 1e-6


class Trace(NamedTuple):
    """Packets of a recorded network in the order of sending, the first one sent at 0.

    ``times`` and ``delays`` in seconds; a delay of None: the packet was lost.
    """

    times: list[float]
    delays: list[float | None]

    @property
    def period(self) -> float:
        """The trace's duration, plus a mean step after its last packet; 0: it has none."""
        count, last = len(self.times), self.times[-1]
        return last * count / (count - 1) if last > _SHORTEST else 0.0


class TraceLink:
    """Sends packets as a recorded network did; time counts from the first packet sent.

    By ``packet``, the n-th packet has the delay of the trace's n-th. By ``time``, a packet has
    that of the last packet that the trace had sent by then; where the trace sent several at one
    moment, packets sent at one moment take theirs in turn. So packets that are sent when the
    trace's were arrive when those did. Packets sent more often can overtake each other where the
    delay falls from one entry to the next; ``in_order`` keeps them in order, as one queue would.

    A mean step (by time) after its last packet the trace restarts (``loop``), or nothing more is
    sent (``stop``).
    """

    def __init__(
        self, trace: Trace, by: TraceBy = "time", end: TraceEnd = "loop", in_order: bool = False
    ) -> None:
        self._trace = trace
        self._in_order = in_order
        self._last = -math.inf
        self._by = by
        self._end = end
        self._sent = 0
        self._start: float | None = None
        self._used = -1  # the entry taken last, and in which round of the trace
        self._round = 0

    def send(self, time: float) -> tuple[float, ...]:
        """When a packet sent at ``time`` (seconds, never going back) arrives; empty: lost."""
        if self._start is None:
            self._start = time
        if self._by == "packet":
            index = self._sent % len(self._trace.times)
        else:
            index = self._entry(time - self._start)
        self._sent += 1
        delay = self._trace.delays[index]
        if delay is None:
            return ()
        arrival = time + delay
        if self._in_order:
            arrival = self._last = max(arrival, self._last)
        return (arrival,)

    def ended(self, time: float) -> bool:
        """Whether the trace has ended, and is not repeated."""
        if self._end == "loop" or self._start is None:
            return False
        if self._by == "packet":
            return self._sent >= len(self._trace.times)
        period = self._trace.period
        return time - self._start + _SAME >= period if period else self._sent > 0

    def _entry(self, time: float) -> int:
        times, period = self._trace.times, self._trace.period
        number = int((time + _SAME) // period) if period else 0
        time -= number * period
        index = max(bisect_right(times, time + _SAME) - 1, 0)
        first = bisect_left(times, times[index] - _SAME)
        used = self._used if number == self._round else -1
        self._round = number
        self._used = max(first, min(used + 1, index))
        return self._used


class AddedLink:
    """Each packet has the delays of both, and is lost where one of them loses it.

    Both get every packet at the time it is sent, so neither affects the other. ``in_order``: no
    packet overtakes an earlier one, whichever of them let it.
    """

    def __init__(self, trace: TraceLink, link: Link, in_order: bool = False) -> None:
        self._trace = trace
        self._link = link
        self._in_order = in_order
        self._last = -math.inf

    def change(self, conditions: LinkConditions) -> None:
        """As of ``Link``: the recorded network continues unchanged."""
        self._link.change(conditions)
        self._in_order = conditions.in_order

    def send(self, time: float, size: float = 0) -> tuple[float, ...]:
        """When a packet sent at ``time`` (seconds, never going back) arrives; empty: lost."""
        recorded, simulated = self._trace.send(time), self._link.send(time, size)
        arrivals = [arrival + (other - time) for other in recorded for arrival in simulated]
        if self._in_order:
            arrivals = [max(arrival, self._last) for arrival in arrivals]
            self._last = max(arrivals, default=self._last)
        return tuple(arrivals)

    def ended(self, time: float) -> bool:
        """Whether the recorded network is at its end."""
        return self._trace.ended(time)

    @property
    def dropped(self) -> int:
        """As of ``Link``."""
        return self._link.dropped

    @property
    def corrupted(self) -> int:
        """As of ``Link``."""
        return self._link.corrupted

    @property
    def clipped(self) -> int:
        """As of ``Link``."""
        return self._link.clipped
