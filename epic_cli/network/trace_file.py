"""A recorded network from a CSV file: when packets were sent, and how long each took."""

from __future__ import annotations

from typing import BinaryIO

from epic_cli.engine.refusals import Reason
from epic_cli.formats.tables import Row, Table
from epic_cli.network.trace import Direction, Trace

#: Seconds; a longer delay means two clocks that do not agree.
LONGEST_RECORDED_DELAY = 3600.0


def read_trace(
    stream: BinaryIO, *, flow: str | None = None, direction: Direction = "down"
) -> Trace:
    """Reads a recorded network; all of it is held in memory (about 70 bytes a packet).

    Columns: ``send_time`` (seconds, rising), and the delay as ``recv_time`` (seconds, on the
    same clock), ``owd_ms``, ``owd_down_ms`` or ``owd_up_ms`` (one way, by ``direction``), or
    ``rtt_ms`` (half of it is taken); the first of these that there is. A packet is lost where
    ``lost`` is 1 or the delay is empty. Of a lost packet ``send_time`` may be unknown: such
    packets are spread evenly between those around them. With a column ``flow`` of several names,
    ``flow`` says which is meant; with a column ``direction``, rows of the other one are left out.

    Raises ``RefusedLine`` for a line that cannot be used, ``ValueError`` where no packet is left
    or the flow is not clear.
    """
    table = Table(stream, ("send_time",))
    column = _delay_column(table, direction)
    builder = _TraceBuilder(column)
    flows: dict[str, None] = {}
    for row in table:
        if row.text("direction") not in ("", direction):
            continue
        name = row.text("flow")
        flows[name] = None
        if name == (next(iter(flows)) if flow is None else flow):
            builder.add(row)
    names = ", ".join(list(flows)[:12]) + (", ..." if len(flows) > 12 else "")
    if flow is None and len(flows) > 1:
        raise ValueError(f"it has several flows, choose one: {names}")
    trace = builder.finish()
    if not trace.times:
        what = f"no packet of the flow {flow!r}" if flow is not None else "no packet"
        raise ValueError(f"there is {what} in it" + (f"; its flows are: {names}" if names else ""))
    return trace


class _TraceBuilder:
    """Builds a trace row by row."""

    def __init__(self, column: str) -> None:
        self._column = column
        self._times: list[float] = []
        self._delays: list[float | None] = []
        self._unknown = 0  # lost packets since the last one whose time is known

    def add(self, row: Row) -> None:
        if not row.text("send_time") and row.flag("lost"):
            self._unknown += 1
            return
        time = row.number("send_time")
        before = self._times[-1] if self._times else time
        if time < before:
            raise row.refuse("send_time", Reason.TIME_GOES_BACK, limit=before)
        self._add_unknown(before, time)
        self._times.append(time)
        self._delays.append(self._delay(row, time))

    def finish(self) -> Trace:
        if self._times:
            self._add_unknown(self._times[-1], self._times[-1])
        first = self._times[0] if self._times else 0.0
        return Trace([time - first for time in self._times], self._delays)

    def _add_unknown(self, before: float, time: float) -> None:
        step = (time - before) / (self._unknown + 1)
        self._times += [before + n * step for n in range(1, self._unknown + 1)]
        self._delays += [None] * self._unknown
        self._unknown = 0

    def _delay(self, row: Row, time: float) -> float | None:
        column = self._column
        if row.flag("lost") or not row.text(column):
            return None
        value = row.number(column)
        if column == "recv_time":
            value -= time
        else:
            value /= 2000 if column == "rtt_ms" else 1000
        if value < 0:
            raise row.refuse(column, Reason.ARRIVES_BEFORE_SENT)
        if value > LONGEST_RECORDED_DELAY:
            raise row.refuse(column, Reason.DELAY_TOO_LONG, limit=LONGEST_RECORDED_DELAY)
        return value


def _delay_column(table: Table, direction: Direction) -> str:
    known = ("recv_time", "owd_ms", f"owd_{direction}_ms", "rtt_ms")
    for name in known:
        if name in table:
            return name
    raise table.refuse(Reason.NO_DELAY_COLUMN, expected=known)


HEADER = "send_time,owd_ms,lost\n"


def write_trace(trace: Trace) -> str:
    """A line for each packet sent: its time in seconds, rounded to 1e-6, the delay to 1e-6 s."""
    return HEADER + "".join(
        f"{time:.6f},,1\n" if delay is None else f"{time:.6f},{delay * 1000:.3f},0\n"
        for time, delay in zip(trace.times, trace.delays, strict=True)
    )
