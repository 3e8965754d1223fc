"""A recorded network, read from a file and used in place of a link, or in addition to one."""

from __future__ import annotations

import gzip
import io
import math
import zlib
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from epic_cli.engine.contract import Packet
from epic_cli.engine.packets import PacketBlock
from epic_cli.engine.refusals import Reason
from epic_cli.network.probes import HEAD, MOST_MISSING, Sent, find_probe, list_sent
from epic_cli.recordings import BYTE_ORDER_MARK, LONGEST_LINE
from epic_cli.recordings.tables import RecordingTable, TableRow, find_delimiter, split_row

if TYPE_CHECKING:
    from epic_cli.network.link import Link, LinkConditions, TraceBy, TraceEnd, Way

#: Times closer than this (s) are equal: sums of decimals have smaller errors.
_SAME = 1e-9

#: A shorter trace (seconds) cannot be repeated.
_SHORTEST = 1e-6


class NetworkTrace(NamedTuple):
    """Packets of a recorded network in order of sending, the first sent at 0.

    ``times`` and ``delays`` are in seconds; the delay of a lost packet is None.
    """

    times: list[float]
    delays: list[float | None]

    @property
    def period(self) -> float:
        """The time after which the trace repeats, s: its duration plus a mean step.

        The period is 0 if the trace is too short to repeat.
        """
        count, last = len(self.times), self.times[-1]
        return last * count / (count - 1) if last > _SHORTEST else 0.0


class TraceLink:
    """A link with the delays of a recorded network; time counts from the first packet sent.

    By ``packet``, the n-th packet has the delay of the trace's n-th. By ``time``, a packet has that
    of the last packet that the trace had sent by then; if the trace sent several at one moment,
    packets sent at one moment take their delays in turn. So packets sent with the trace's timing
    arrive with its timing. Packets sent more often can overtake each other where the delay falls
    from one entry to the next; ``in_order`` prevents that, as one queue would.

    A mean step (by time) after its last packet, the trace restarts (``loop``), or nothing more is
    sent (``stop``).
    """

    def __init__(
        self,
        trace: NetworkTrace,
        by: TraceBy = "time",
        end: TraceEnd = "loop",
        in_order: bool = False,
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

    def send(self, time: float, size: float = 0) -> tuple[float, ...]:  # noqa: ARG002
        """Return the arrival time of a packet sent at ``time`` (s, never going back).

        Empty if lost.
        """
        if self._start is None:
            self._start = time
        if self._by == "packet":
            index = self._sent % len(self._trace.times)
        else:
            index = self._find_entry(time - self._start)
        self._sent += 1
        delay = self._trace.delays[index]
        if delay is None:
            return ()
        arrival = time + delay
        if self._in_order:
            arrival = self._last = max(arrival, self._last)
        return (arrival,)

    def has_ended(self, time: float) -> bool:
        """Return True if the trace has ended and does not repeat."""
        if self._end == "loop" or self._start is None:
            return False
        if self._by == "packet":
            return self._sent >= len(self._trace.times)
        period = self._trace.period
        return time - self._start + _SAME >= period if period else self._sent > 0

    def _find_entry(self, time: float) -> int:
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
    """A recorded network plus a simulated link: delays add up, and either may lose a packet.

    Both get every packet at the time at which it is sent, so neither affects the other.
    ``in_order``: no packet overtakes an earlier one.
    """

    def __init__(self, trace: TraceLink, link: Link, in_order: bool = False) -> None:
        self._trace = trace
        self._link = link
        self._in_order = in_order
        self._last = -math.inf

    def change(self, conditions: LinkConditions) -> None:
        """Change the link's conditions; the recorded network continues unchanged."""
        self._link.change(conditions)
        self._in_order = conditions.in_order

    def send(self, time: float, size: float = 0) -> tuple[float, ...]:
        """Return the arrival times of a packet sent at ``time`` (s, never going back).

        Empty if lost.
        """
        recorded, simulated = self._trace.send(time), self._link.send(time, size)
        arrivals = [arrival + (other - time) for other in recorded for arrival in simulated]
        if self._in_order:
            arrivals = [max(arrival, self._last) for arrival in arrivals]
            self._last = max(arrivals, default=self._last)
        return tuple(arrivals)

    def has_ended(self, time: float) -> bool:
        """Return True if the recorded network has ended."""
        return self._trace.has_ended(time)

    @property
    def dropped(self) -> int:
        """The number of packets dropped by the link's full queue."""
        return self._link.dropped

    @property
    def corrupted(self) -> int:
        """The number of packets that the link corrupted."""
        return self._link.corrupted

    @property
    def clipped(self) -> int:
        """The number of packets whose delay on the link was below 0 and was clipped to 0."""
        return self._link.clipped


#: Seconds; a longer delay means that the clocks disagree.
LONGEST_RECORDED_DELAY = 3600.0

#: Bytes; a recorded network is held in memory.
LONGEST_TRACE = 256 << 20

#: Names of position columns; a table with one is a recording of movement.
_POSITIONS = {"x", "position", "pos", "lat", "latitude"}


class RecordedNetwork(NamedTuple):
    """A recorded network, and ``words`` that tell users how its file was read."""

    trace: NetworkTrace
    words: str


def read_trace(
    stream: BinaryIO, *, flow: str | None = None, direction: Way = "down"
) -> NetworkTrace:
    """Read a recorded network; all of it is held in memory (about 70 bytes a packet).

    The file is from irtt (``-o``), RIPE Atlas (ping) or ``ping`` (``probes.py``), or a table with
    the columns ``send_time`` (seconds, rising) and a delay: ``recv_time`` (seconds, same clock),
    ``owd_ms``, ``owd_down_ms`` or ``owd_up_ms`` (one way, by ``direction``), or ``rtt_ms`` (half
    counts); the first of these that is there. A packet is lost if ``lost`` is 1 or the delay is
    empty; without ``lost`` and ``flow``, also if its number is missing in ``seq``. Lost packets
    without a ``send_time`` are spread evenly between their neighbors. ``flow`` chooses one of
    several names in the column ``flow``; rows of the other ``direction`` are left out.

    Raises ``TableRefusal`` for an unusable line, ``ValueError`` if no packet is left or the flow is
    ambiguous.
    """
    stream = _decompress_stream(stream)
    found = _read_probe_file(stream, flow, direction)
    return found.trace if found else _read_table(stream, flow, direction)


def read_recorded_network(
    stream: BinaryIO, flow: str | None = None, direction: Way = "down"
) -> RecordedNetwork | None:
    """Read a recorded network, with words on how it was read; return None for any other file.

    A file without ``send_time`` or delays, or with positions, is not a recorded network. Raises as
    ``read_trace``.
    """
    stream = _decompress_stream(stream)
    found = _read_probe_file(stream, flow, direction)
    if found is not None:
        return found
    begin = stream.tell()
    head = stream.readline(LONGEST_LINE).removeprefix(BYTE_ORDER_MARK)
    stream.seek(begin)
    header = head.decode("utf-8", "replace")
    names = [name.strip() for name in split_row(header, find_delimiter(header)) or ()]
    placed = any(_POSITIONS & set(name.lower().split("_")) for name in names)
    column = next((name for name in _list_delay_columns(direction) if name in names), "")
    if "send_time" not in names or placed or not column:
        return None
    words = f"delays from {'half of ' * (column == 'rtt_ms')}{column}"
    words += "; --read arrival=owd_up_ms takes the other way" if "down" in column else ""
    words += "; --entity takes a flow" if "flow" in names else ""
    return RecordedNetwork(_read_table(stream, flow, direction), words)


def _decompress_stream(stream: BinaryIO) -> BinaryIO:
    """Return a seekable, uncompressed stream; raise ``ValueError``."""
    if not stream.seekable():
        stream = read_whole(stream)
    begin = stream.tell()
    magic = stream.read(2)
    stream.seek(begin)
    return read_whole(gzip.GzipFile(fileobj=stream)) if magic == b"\x1f\x8b" else stream


def read_whole(stream: BinaryIO | gzip.GzipFile) -> BinaryIO:
    """Read a stream into memory; raise ``ValueError`` if it is too long or damaged."""
    try:
        data = stream.read(LONGEST_TRACE + 1)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(f"gzip data that are cut off or damaged: {error}") from error
    if len(data) > LONGEST_TRACE:
        raise ValueError(f"the file is longer than {LONGEST_TRACE >> 20} MiB")
    return io.BytesIO(data)


def _read_probe_file(stream: BinaryIO, flow: str | None, direction: Way) -> RecordedNetwork | None:
    """Read the file of a network probe; return None, with nothing read, for other files."""
    begin = stream.tell()
    head = stream.read(HEAD)
    stream.seek(begin)
    encoding = "utf-16" if head[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    probe = find_probe(head.decode(encoding, "replace"))
    if probe is None:
        return None
    text = read_whole(stream).read().decode(encoding, "replace")
    packets, words = list_sent(probe, text, direction)
    builder = _TraceBuilder()
    chosen = _choose_flow(dict.fromkeys(packet.flow for packet in packets), flow)
    for packet in packets:
        if packet.flow == chosen:
            builder.put(packet)
    return RecordedNetwork(builder.finish(flow), f"{probe.name}: delays from {words}")


def _read_table(stream: BinaryIO, flow: str | None, direction: Way) -> NetworkTrace:
    table, columns = RecordingTable(stream, ("send_time",)), _list_delay_columns(direction)
    column = next((name for name in columns if name in table), None)
    if column is None:
        raise table.refuse(Reason.NO_DELAY_COLUMN, expected=columns)
    builder = _TraceBuilder(column)
    flows: dict[str, None] = {}
    rows: Iterable[TableRow] = table
    if "fate" in table:  # a proxy's lines are in the order in which that was decided
        rows = sorted(table, key=lambda row: row.parse_number("send_time"))
    for row in rows:
        if row.get_text("direction") not in ("", direction):
            continue
        name = row.get_text("flow")
        flows[name] = None
        if name == (next(iter(flows)) if flow is None else flow):
            builder.add(row)
    _choose_flow(flows, flow)
    return builder.finish(flow)


def _choose_flow(flows: Iterable[str], flow: str | None) -> str | None:
    """Return the name of the flow to use; raise ``ValueError`` if several are possible."""
    names = list(flows)
    known = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
    if flow is None and len(names) > 1:
        raise ValueError(f"the file has several flows, choose one: {known}")
    if flow is not None and flow not in names:
        there = f"; its flows are: {known}" if known else ""
        raise ValueError(f"the file has no packet of the flow {flow!r}{there}")
    return names[0] if flow is None and names else flow


class _TraceBuilder:
    """A builder of traces, packet by packet."""

    def __init__(self, column: str = "") -> None:
        self._column = column
        self._times: list[float] = []
        self._delays: list[float | None] = []
        self._unknown = 0  # lost packets since the last one whose time is known
        self._number = math.nan  # the newest in ``seq``, where that tells of losses

    def put(self, packet: Sent) -> None:
        if packet.time is None:
            self._unknown += 1
            return
        delay = packet.delay
        if not math.isfinite(packet.time + (delay or 0)) or (
            delay is not None and not 0 <= delay <= LONGEST_RECORDED_DELAY
        ):
            raise ValueError(
                f"the packet sent at {packet.time} s has a delay of {delay} s: it must be"
                f" 0 to {LONGEST_RECORDED_DELAY:g} s"
            )
        before = self._times[-1] if self._times else packet.time
        time = max(packet.time, before)
        self._spread_unknown_delays(before, time)
        self._times.append(time)
        self._delays.append(delay)

    def add(self, row: TableRow) -> None:
        if not row.get_text("send_time") and row.parse_flag("lost"):
            self._unknown += 1
            return
        time = row.parse_number("send_time")
        before = self._times[-1] if self._times else time
        if time < before:
            raise row.refuse("send_time", Reason.TIME_GOES_BACK, limit=before)
        if row.get_text("seq") and "lost" not in row.table and "flow" not in row.table:
            missing, self._number = (
                row.parse_number("seq") - self._number - 1,
                row.parse_number("seq"),
            )
            self._unknown += int(missing) if 0 < missing <= MOST_MISSING else 0
        self.put(Sent("", time, self._read_delay(row, time)))

    def finish(self, flow: str | None) -> NetworkTrace:
        if not self._times:
            of = f" of the flow {flow!r}" if flow is not None else ""
            raise ValueError(f"the file has no packet{of}")
        self._spread_unknown_delays(self._times[-1], self._times[-1])
        first = self._times[0]
        return NetworkTrace([time - first for time in self._times], self._delays)

    def _spread_unknown_delays(self, before: float, time: float) -> None:
        step = (time - before) / (self._unknown + 1)
        self._times += [before + n * step for n in range(1, self._unknown + 1)]
        self._delays += [None] * self._unknown
        self._unknown = 0

    def _read_delay(self, row: TableRow, time: float) -> float | None:
        column = self._column
        if row.parse_flag("lost") or not row.get_text(column):
            return None
        value = row.parse_number(column)
        if column == "recv_time":
            value -= time
        else:
            value /= 2000 if column == "rtt_ms" else 1000
        if value < 0:
            raise row.refuse(column, Reason.ARRIVES_BEFORE_SENT)
        if value > LONGEST_RECORDED_DELAY:
            raise row.refuse(column, Reason.DELAY_TOO_LONG, limit=LONGEST_RECORDED_DELAY)
        return value


def _list_delay_columns(direction: Way) -> tuple[str, ...]:
    return ("recv_time", "owd_ms", f"owd_{direction}_ms", "rtt_ms")


def trace_packets(trace: NetworkTrace) -> PacketBlock:
    """Return the arrived packets of a recorded network, in order of arrival, all at the origin.

    Sequence numbers count lost packets, too.
    """
    here = (0.0, 0.0, 0.0)
    arrived = sorted(
        (time + delay, number, time)
        for number, (time, delay) in enumerate(zip(trace.times, trace.delays, strict=True))
        if delay is not None
    )
    block = PacketBlock()
    for arrival, number, time in arrived:
        block.append(Packet(here, here, time, arrival, sequence=number))
    return block


HEADER = "send_time,owd_ms,lost\n"


def write_trace(trace: NetworkTrace) -> str:
    """Return a recorded network as text: a line for each packet, with its send time and delay.

    Both are rounded to 1e-6 s.
    """
    return HEADER + "".join(
        f"{time:.6f},,1\n" if delay is None else f"{time:.6f},{delay * 1000:.3f},0\n"
        for time, delay in zip(trace.times, trace.delays, strict=True)
    )
