"""A recorded network: which delay each packet had, and which packets were lost."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import BinaryIO, Literal, NamedTuple

from epic_cli.network.tables import Row, Table

TraceBy = Literal["time", "packet"]
TRACE_BY: tuple[TraceBy, ...] = ("time", "packet")
TraceEnd = Literal["loop", "stop"]
TRACE_ENDS: tuple[TraceEnd, ...] = ("loop", "stop")
Direction = Literal["down", "up"]
DIRECTIONS: tuple[Direction, ...] = ("down", "up")

#: Two times closer than this are the same: sums of decimals miss by less.
_SAME = 1e-9


class Trace(NamedTuple):
    """Packets of a recorded network in the order of sending, the first one sent at 0.

    ``times`` and ``delays`` in seconds; a delay of None: the packet was lost. ``column`` says
    where the delays come from.
    """

    times: list[float]
    delays: list[float | None]
    column: str

    @property
    def period(self) -> float:
        """How long the trace lasts, with a mean step after its last packet."""
        count = len(self.times)
        return self.times[-1] * count / (count - 1) if count > 1 else 0.0


def read_trace(
    stream: BinaryIO, *, flow: str | None = None, direction: Direction = "down"
) -> Trace:
    """Reads a recorded network from CSV.

    Columns: ``send_time`` (seconds, rising), and the delay as ``recv_time`` (seconds, on the
    same clock), ``owd_ms``, ``owd_down_ms`` or ``owd_up_ms`` (one way, by ``direction``), or
    ``rtt_ms`` (half of it is taken); the first of these that there is. A packet is lost where
    ``lost`` is 1 or the delay is empty. With a column ``flow`` of several names, ``flow`` says
    which is meant.

    Raises ``RefusedLine`` for a line that cannot be used, ``ValueError`` where no packet is left
    or the flow is not clear.
    """
    table = Table(stream, ("send_time",))
    column = _delay_column(table, direction)
    times: list[float] = []
    delays: list[float | None] = []
    flows: dict[str, None] = {}
    for row in table:
        name = row.text("flow")
        flows[name] = None
        if name != (next(iter(flows)) if flow is None else flow):
            continue
        time = row.number("send_time")
        if times and time < times[-1]:
            raise row.refuse("send_time", "time goes back", f"at least {times[-1]!r}")
        times.append(time)
        delays.append(_delay(row, column, time))
    names = ", ".join(flows)
    if flow is None and len(flows) > 1:
        raise ValueError(f"there are several flows in it, choose one: {names}")
    if not times:
        what = f"flow {flow!r} in it; there are: {names}" if flows else "packet in it"
        raise ValueError(f"there is no {what}")
    return Trace([time - times[0] for time in times], delays, column)


def _delay_column(table: Table, direction: Direction) -> str:
    known = ("recv_time", "owd_ms", f"owd_{direction}_ms", "rtt_ms")
    for name in known:
        if name in table:
            return name
    raise table.refuse("the header has no column for delays", f"one of {', '.join(known)}")


def _delay(row: Row, column: str, time: float) -> float | None:
    if row.flag("lost") or not row.text(column):
        return None
    value = row.number(column)
    if column == "recv_time":
        value -= time
    else:
        value /= 2000 if column == "rtt_ms" else 1000
    if value < 0:
        raise row.refuse(column, "it arrives before it is sent", "both times on one clock")
    return value


class TraceLink:
    """Sends packets as a recorded network did; time counts from the first packet sent.

    By ``packet``, the n-th packet has the delay of the trace's n-th. By ``time``, a packet has
    that of the trace's last packet sent until then; of several sent at one time, packets sent at
    one time have them in turn. So packets sent when the trace's were, arrive when they did.

    After its last packet the trace begins again (``loop``), or nothing more is sent (``stop``):
    by time, that is a mean step after the last packet.
    """

    def __init__(self, trace: Trace, by: TraceBy = "time", end: TraceEnd = "loop") -> None:
        self._trace = trace
        self._by = by
        self._end = end
        self._sent = 0
        self._start: float | None = None
        self._used = -1  # the entry taken last, and in which round of the trace
        self._round = 0

    def send(self, time: float) -> tuple[float, ...]:
        """When a packet sent at ``time`` (seconds, never going back) arrives; lost: no time."""
        if self._start is None:
            self._start = time
        if self._by == "packet":
            index = self._sent % len(self._trace.times)
        else:
            index = self._entry(time - self._start)
        self._sent += 1
        delay = self._trace.delays[index]
        return () if delay is None else (time + delay,)

    def ended(self, time: float) -> bool:
        """Whether the trace is at its end, and is not to begin again."""
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
        first = bisect_left(times, times[index])
        used = self._used if number == self._round else -1
        self._round = number
        self._used = max(first, min(used + 1, index))
        return self._used
