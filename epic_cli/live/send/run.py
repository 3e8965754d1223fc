"""A sender of packets as a game sends them: packed, over a simulated link, each at its time."""

from __future__ import annotations

import asyncio
import contextlib
import heapq
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from epic_cli.engine.contract import Packet
from epic_cli.live.listener import ECHO
from epic_cli.live.send.spec import Moment
from epic_cli.network.link import Channel
from epic_cli.network.simulation import Statistics
from epic_cli.recordings.addresses import UNFRAGMENTED, Address, resolve
from epic_cli.recordings.reading import make_writer
from epic_cli.recordings.writing import write_csv_field, write_number
from epic_cli.work.event_loop import prefetch_items, wait_for_event


class Outlet(asyncio.DatagramProtocol):
    """A UDP socket to send from.

    ``refused`` counts replies from closed ports; ``answered`` is called with all other replies.
    Subclasses are connections of TCP and WebSocket. If sending is no longer possible, ``send`` and
    ``check`` raise ``OSError``.
    """

    refused = 0
    answered: Callable[[bytes], object] = staticmethod(lambda _: None)

    async def send(self, data: bytes) -> None:
        """Send a datagram or message, or wait until a connection takes it."""
        self._transport.sendto(data)

    def check(self) -> None:
        """Raise the error that the network has reported, if any."""
        if self._error is not None:
            raise self._error

    async def close(self) -> None:
        """Close the socket once all data is sent."""
        self._transport.close()

    async def connect(self, to: Address) -> None:
        """Connect the socket."""
        self._error: OSError | None = None
        place = resolve(to)
        loop = asyncio.get_running_loop()
        self._transport, _ = await loop.create_datagram_endpoint(
            lambda: self, remote_addr=place.place[:2], family=place.family
        )

    def datagram_received(self, data: bytes, addr: object) -> None:  # noqa: ARG002
        """Pass a received datagram to ``answered``."""
        self.answered(data)

    def error_received(self, exc: Exception) -> None:
        """Store an error, but not that of a closed port: a game's receiver may start late."""
        if isinstance(exc, ConnectionRefusedError):
            self.refused += 1
        elif isinstance(exc, OSError):
            self._error = exc


@contextlib.contextmanager
def _shorten_errors() -> Iterator[None]:
    """Raise errors of the block without asyncio's wording, which repeats the address."""
    try:
        yield
    except OSError as error:
        if not error.errno:
            raise
        raise OSError(error.errno, os.strerror(error.errno)) from error


class _TcpOutlet(Outlet):
    """A TCP connection for lines; the last text received says why the other side closed it."""

    async def connect(self, to: Address) -> None:
        with _shorten_errors():
            self._reader, self._writer = await asyncio.open_connection(to.host, to.port)

    async def send(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()
        self.check()

    def check(self) -> None:
        if self._reader.at_eof():
            raise ConnectionResetError("the receiver closed the connection")

    async def close(self) -> None:
        with contextlib.suppress(OSError):
            self._writer.close()
            await self._writer.wait_closed()


class _WebSocketOutlet(Outlet):
    """A WebSocket connection for text messages, without compression."""

    async def connect(self, to: Address) -> None:
        from websockets.asyncio.client import connect
        from websockets.exceptions import WebSocketException

        self._failure: type[Exception] = WebSocketException
        try:
            with _shorten_errors():
                self._socket: Any = await connect(str(to), compression=None)
        except WebSocketException as error:
            raise ConnectionError(f"the receiver does not speak WebSocket: {error}") from error

    async def send(self, data: bytes) -> None:
        try:
            await self._socket.send(data.decode())
        except self._failure as error:
            raise ConnectionResetError(str(error)) from error

    def check(self) -> None:
        pass

    async def close(self) -> None:
        await self._socket.close()


def make_outlet(target: Address) -> Outlet:
    """Return a socket for this address, not connected; raise ``ValueError`` without a library."""
    if target.scheme == "ws":
        try:
            import websockets  # noqa: F401 - what is missing shows now
        except ImportError:
            raise ValueError("ws:// needs a library: pip install websockets") from None
    return {"": Outlet, "tcp": _TcpOutlet, "ws": _WebSocketOutlet}[target.scheme]()


class Datagram(NamedTuple):
    """Bytes to send at a time (seconds), and the packets in them."""

    time: float
    packets: list[Packet]
    data: bytes


def pack_datagrams(
    moments: Iterable[Moment], packet_format: str, separate: bool = False, alike: bool = False
) -> Iterator[Datagram]:
    """Pack packets into self-contained datagrams; raise ``Unwritable``.

    The packets of one moment share datagrams of ``UNFRAGMENTED`` bytes unless they are to be
    ``separate``; a longer packet goes alone. Packets without a sequence number get that of their
    datagram. ``alike``: all have columns for rotations, since one connection has one header.
    """
    writers = {turns: make_writer(packet_format, ("rotation",) * turns) for turns in (False, True)}
    number = 0
    for time, packets in moments:
        writer = writers[alike or any(packet.rotation for packet in packets)]
        rows: list[bytes] = []
        inside: list[Packet] = []
        size = 0
        for packet in packets:
            sequence = number if packet.sequence is None else packet.sequence
            row = writer.format_row(packet._replace(arrival=None, sequence=sequence))
            if inside and (separate or size + len(row) > UNFRAGMENTED):
                yield Datagram(time, inside, b"".join(rows))
                number += 1
                if packet.sequence is None:
                    row = writer.format_row(packet._replace(arrival=None, sequence=number))
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
    """The packets of a datagram, and when its first copy left (s); None: not yet, or lost."""

    packets: list[Packet]
    origin: float
    on_its_way: bool
    sent: float | None = None


class SentLog:
    """A log of sent packets, a line each in their order, even if some overtake others.

    ``sent`` is the departure in seconds on the clock of the packets' times, on which the first
    packet was sent at its own time; it is empty for a packet that the link lost, or that had not
    left at the end. Packets that wait for their departure are in memory.
    """

    def __init__(self, write: Callable[[bytes], object]) -> None:
        self._write = write
        self._waiting: deque[Departure] = deque()
        self._turns: bool | None = None  # whether the first datagram has rotations

    def add(self, packets: list[Packet], origin: float, on_its_way: bool) -> Departure:
        """Add the packets of a datagram that leaves later, or that the link has lost."""
        if self._turns is None:
            self._write_header(any(packet.rotation for packet in packets))
        departure = Departure(packets, origin, on_its_way)
        self._waiting.append(departure)
        self._write_settled_rows()
        return departure

    def record_departure(self, departure: Departure, elapsed: float) -> None:
        """Store when a datagram left, in seconds after the first departure.

        Ignore a second copy.
        """
        if departure.sent is None:
            departure.sent = departure.origin + elapsed
            departure.on_its_way = False
            self._write_settled_rows()

    def end(self) -> None:
        """Write the packets that have not left yet, with an empty ``sent``."""
        if self._turns is None:
            self._write_header(False)
        for departure in self._waiting:
            departure.on_its_way = False
        self._write_settled_rows()

    def _write_header(self, turns: bool) -> None:
        self._turns = turns
        self._write(f"{HEADER}{',qx,qy,qz,qw' * turns}\n".encode())

    def _write_settled_rows(self) -> None:
        while self._waiting and not self._waiting[0].on_its_way:
            departure = self._waiting.popleft()
            sent = "" if departure.sent is None else write_number(round(departure.sent, 6))
            rows = (_make_row(packet, sent, bool(self._turns)) for packet in departure.packets)
            self._write("".join(rows).encode())


def _make_row(packet: Packet, sent: str, turns: bool) -> str:
    velocity = [""] * 3 if packet.velocity is None else map(write_number, packet.velocity)
    numbers = ",".join([write_number(packet.time), *map(write_number, packet.position), *velocity])
    turn = "," + ",".join(map(write_number, packet.rotation or ())) if turns else ""
    turn += ",,," * (turns and packet.rotation is None)
    return f"{write_csv_field(packet.entity)},{numbers},{packet.teleport:d},{sent}{turn}\n"


@dataclass(frozen=True)
class SendSpec:
    """The spec of sending: the format of packets, and the speed relative to the recording.

    ``separate``: a datagram for each packet. ``truth_out`` is the file of the sent log.
    """

    packet_format: str
    speed: float = 1.0
    separate: bool = False
    truth_out: str | None = None


#: The most datagrams whose echoes are expected, and the longest wait for the last echoes (s).
MOST_ECHOES, LONGEST_ECHO = 10_000, 2.0


class Sending:
    """A sender of datagrams, whose ``statistics`` and ``refused`` are up to date while it runs.

    Times are divided by the speed; the delays of the ``channel`` are not. ``refused`` counts
    replies from closed ports. ``log`` records when each datagram really left. ``round_trips`` are
    those (seconds) of the latest datagrams that a listener with ``echo=on`` has sent back: they
    include the link on the way there, and exclude the time that the listener held them.
    """

    def __init__(
        self, spec: SendSpec, target: Address, channel: Channel, log: SentLog | None = None
    ) -> None:
        self._spec = spec
        self._target = target
        self._outlet = make_outlet(target)
        self._channel = channel
        self._log = log
        self._flying: list[tuple[float, int, int, bytes, float, Departure | None]] = []
        self._copies = 0
        self._start = 0.0
        self._taken = False
        self._changed = asyncio.Event()
        self._left: dict[bytes, float] = {}  # departures, by datagram
        self._outlet.answered = self._measure_echo
        self.round_trips: deque[float] = deque(maxlen=MOST_ECHOES)
        self.statistics = Statistics()

    @property
    def refused(self) -> int:
        """The number of datagrams that met a closed port."""
        return self._outlet.refused

    async def run(self, moments: Iterable[Moment]) -> None:
        """Send all datagrams; raise ``OSError`` if sending fails, and ``Unwritable``."""
        await self._outlet.connect(self._target)
        together = self._target.scheme == "tcp"
        packed = pack_datagrams(moments, self._spec.packet_format, self._spec.separate, together)
        taking = asyncio.create_task(self._send_over_link(packed))
        try:
            await self._deliver_copies()
            await taking
            await self._wait_for_echoes()
            self._outlet.check()
        finally:
            taking.cancel()
            await self._outlet.close()
            if self._log is not None:
                self._log.end()

    def _measure_echo(self, data: bytes) -> None:
        held, _, original = data.removeprefix(ECHO).partition(b" ")
        left = self._left.pop(original, None)
        if left is not None:
            now = asyncio.get_running_loop().time()
            with contextlib.suppress(ValueError):
                passed = float(held)
                if 0 <= passed <= now - left:  # otherwise it is forged
                    self.round_trips.append(now - left - passed)

    async def _wait_for_echoes(self) -> None:
        """Wait for the last echoes, if any datagram has been echoed so far."""
        await asyncio.sleep(0)  # the last echo may be there
        longest = min(2 * max(self.round_trips, default=0.0), LONGEST_ECHO)
        for _ in range(20):
            if self._left:
                await asyncio.sleep(longest / 20)

    async def _send_over_link(self, packed: Iterable[Datagram]) -> None:
        """Give each datagram to the link at its time."""
        try:
            first: float | None = None
            sequence = 0
            async for datagram in prefetch_items(packed):
                if first is None:
                    first = datagram.time
                    self._start = asyncio.get_running_loop().time()
                moment = (datagram.time - first) / self._spec.speed
                await self._wait_until(moment)
                if self._channel.has_ended(moment):
                    return
                arrivals = self._channel.send(moment)
                self.statistics.count_sent(moment, arrivals)
                departure = None
                if self._log is not None:
                    departure = self._log.add(datagram.packets, first, bool(arrivals))
                for arrival in arrivals:
                    self._copies += 1
                    copy = (arrival, self._copies, sequence, datagram.data, arrival - moment)
                    heapq.heappush(self._flying, (*copy, departure))
                self._changed.set()
                sequence += 1
        finally:
            self._taken = True
            self._changed.set()

    async def _deliver_copies(self) -> None:
        """Send each copy after the link's delay, until none are left."""
        loop = asyncio.get_running_loop()
        while self._flying or not self._taken:
            self._changed.clear()
            wait = self._start + self._flying[0][0] - loop.time() if self._flying else None
            if wait is None or wait > 0:
                await wait_for_event(self._changed, wait)
                continue
            _, _, sequence, data, delay, departure = heapq.heappop(self._flying)
            self._outlet.check()
            self._left.setdefault(data, loop.time() - delay)
            if len(self._left) > MOST_ECHOES:
                del self._left[next(iter(self._left))]
            await self._outlet.send(data)
            self.statistics.count_arrived(sequence)
            if departure is not None and self._log is not None:
                self._log.record_departure(departure, loop.time() - self._start)

    async def _wait_until(self, moment: float) -> None:
        """Wait until a time, in seconds after the start."""
        wait = self._start + moment - asyncio.get_running_loop().time()
        await asyncio.sleep(max(wait, 0))
