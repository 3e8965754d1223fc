"""The proxy: clients on one side, each with its own links and its own socket to the server."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import math
import os
import socket
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from heapq import heappop, heappush
from ipaddress import IPv4Address, IPv6Address, ip_address
from operator import itemgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from epic_cli.engine.packets import Entities, PacketBlock
from epic_cli.live.proxy.spec import Direction, LinkController, ProxySpec
from epic_cli.live.receiving import ReceivingSocket, allow_files, read_machine_time
from epic_cli.live.recording import WholeFile
from epic_cli.network.link import Link, Way
from epic_cli.network.trace import AddedLink
from epic_cli.recordings.addresses import Address, ReceivedDatagram, Resolved
from epic_cli.recordings.datagrams.ingest import Ingest, IngestSpec
from epic_cli.recordings.writing import write_csv_field
from epic_cli.work.event_loop import wait_for_event

if TYPE_CHECKING:
    from epic_cli.live.consumer import Consumer
    from epic_cli.recordings.datagrams.counts import Counts


#: New clients in a row with a known first datagram that cause a probe; seconds between probes.
_ALIKE = 8
_PAUSE = 0.5

#: The number of earlier clients with which a new one is compared.
_REMEMBERED = 16


# Loops: a proxy whose datagrams come back to it, by itself or through other proxies. A game's
# datagram cannot be marked as seen. A probe can: if new clients begin with the same bytes, as in a
# loop (and if many players join), a probe is sent to the target. Only in a loop does it arrive at
# the proxy itself.


class NetworkLoop(ValueError):
    """An error: datagrams that the proxy sends to the target arrive at the proxy again."""


def is_own_address(listening: socket.socket, target: Resolved) -> bool:
    """Return True if the target is the proxy's own socket, by any address of this machine."""
    with socket.socket(target.family, socket.SOCK_DGRAM) as trial:
        try:
            trial.connect(target.place)  # 0.0.0.0 and :: become an address
        except OSError:
            return False
        host, port = trial.getpeername()[:2]
    at, own = listening.getsockname()[:2]
    there, here = _parse_host(host), _parse_host(at)
    if port != own or there == here:
        return bool(port == own)
    if not here.is_unspecified:
        return False
    if here.version != there.version and not (
        here.version == 6 and not listening.getsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY)
    ):
        return False
    with socket.socket(target.family, socket.SOCK_DGRAM) as trial:
        try:
            trial.bind((target.place[0], 0, *target.place[2:]))
        except OSError:
            return False
    return True


def _parse_host(host: str) -> IPv4Address | IPv6Address:
    number = ip_address(host.partition("%")[0])
    return getattr(number, "ipv4_mapped", None) or number


class LoopTest:
    """A test for loops, which compares a new client's first datagram with a probe sent before."""

    def __init__(self, target: Resolved) -> None:
        self._target = target
        self._firsts: deque[int] = deque(maxlen=_REMEMBERED)
        self._alike = 0
        self._probed = -_PAUSE
        self._probe = b""
        self._socket: socket.socket | None = None

    def look(self, data: bytes, now: float) -> None:
        """Check a client's first datagram, and send a probe if needed.

        Raise ``NetworkLoop`` for a probe.
        """
        if self._probe and data == self._probe:
            raise NetworkLoop(
                "the target sends datagrams back to this proxy: choose another target"
            )
        mark = hash(data)
        self._alike = self._alike + 1 if mark in self._firsts else 0
        self._firsts.append(mark)
        if self._alike >= _ALIKE and now - self._probed >= _PAUSE:
            self._alike, self._probed = 0, now
            self._send_probe()

    def _send_probe(self) -> None:
        self._probe = self._probe or os.urandom(16)
        with contextlib.suppress(OSError):
            if self._socket is None:
                self._socket = socket.socket(self._target.family, socket.SOCK_DGRAM)
                self._socket.setblocking(False)
            self._socket.sendto(self._probe, self._target.place)

    def close(self) -> None:
        """Close the socket of probes."""
        if self._socket is not None:
            self._socket.close()


COLUMNS = (
    "send_time", "recv_time", "lost", "direction", "flow", "client", "bytes", "fate",
    "requested_ms", "again",
)  # fmt: skip


class Fate(Enum):
    """The fates of datagrams; ``FLYING``: the datagram was in flight when the proxy ended."""

    PASSED = "passed"
    LOST = "lost"
    DROPPED = "dropped"
    CORRUPTED = "corrupted"
    BLACKOUT = "blackout"
    OVERFLOWED = "overflowed"
    UNSENT = "unsent"
    FLYING = "flying"


@dataclass(slots=True)
class LogEntry:
    """A datagram that arrived at ``time`` (s), for the log; ``left`` are its copies' departures.

    ``client`` are the cells of its flow and its client, ``arrivals`` when the link lets its copies
    arrive, of which a number are ``flying``. ``fate`` is that of a datagram without a copy.
    """

    time: float
    way: Way
    client: str
    data: bytes
    arrivals: tuple[float, ...]
    fate: Fate
    flying: int
    left: list[float] = field(default_factory=list)


class TrafficLog:
    """A log with a line for each datagram, written before the datagram leaves or once it is lost.

    The receiver of a datagram can be sure that its line is in the file, whatever ends the proxy.
    ``recv_time`` is when the first copy left, ``again`` when a second copy was due, and
    ``requested_ms`` the delay that the link gave the first copy. ``flow`` is the client's number.
    With ``payload`` the log has the data in hexadecimal, too. Raises ``OSError``; a non-empty file
    is not overwritten.
    """

    def __init__(self, path: str, payload: bool = False) -> None:
        columns = (*COLUMNS, "payload") if payload else COLUMNS
        header = (",".join(columns) + "\n").encode()
        self.file = WholeFile(path, header)
        self._payload = payload

    def log_arrival(self, entry: LogEntry) -> None:
        """Log a datagram that arrived, if its fate is known already."""
        if not entry.arrivals:
            self._write_entry(entry)

    def log_departure(self, entry: LogEntry, now: float) -> None:
        """Log that a copy is about to be sent."""
        entry.flying -= 1
        entry.left.append(now)
        if len(entry.left) == 1:
            self._write_entry(entry)

    def take_back_departure(self, entry: LogEntry) -> None:
        """Remove the last logged departure, since that copy could not be sent."""
        if len(entry.left) == 1:
            self.file.take_back(self._make_row(entry))
            entry.left.clear()
            entry.fate = Fate.UNSENT
            if not entry.flying:
                self._write_entry(entry)

    def end(self, entries: Iterable[LogEntry | None]) -> None:
        """Log the datagrams that are still in flight, as not arrived."""
        for entry in entries:
            if entry is not None and entry.flying and not entry.left:
                entry.flying, entry.fate = 0, Fate.FLYING
                self._write_entry(entry)

    def close(self) -> None:
        """Close the file."""
        self.file.close()

    def _write_entry(self, entry: LogEntry) -> None:
        self.file.write(self._make_row(entry), 1)

    def _make_row(self, entry: LogEntry) -> bytes:
        fate, left, again, asked = entry.fate, "", "", ""
        if entry.arrivals:
            asked = f"{1000 * (entry.arrivals[0] - entry.time):.4f}"
        if entry.left:
            fate, left = Fate.PASSED, f"{entry.left[0]:.6f}"
            if entry.flying:
                again = f"{max(entry.arrivals):.6f}"
        more = f",{entry.data.hex()}" if self._payload else ""
        return (
            f"{entry.time:.6f},{left},{0 if left else 1},{entry.way},{entry.client},"
            f"{len(entry.data)},{fate.value},{asked},{again}{more}\n"
        ).encode()


#: Bytes that may be in flight at once, with their overhead.
MOST_BYTES = 256 << 20

#: The overhead of a datagram in memory, in bytes.
_AROUND = 256


class Flight(NamedTuple):
    """A copy of a datagram, with the times at which it is due and was received (seconds).

    ``deliver`` is called with the copy and a clock; ``watched`` with the time when the copy has
    left.
    """

    due: float
    received: float
    sequence: int
    data: bytes
    deliver: Callable[[Flight, Callable[[], float]], None]
    entry: LogEntry | None
    watched: Callable[[float], None] | None = None


class DelayQueue:
    """Datagrams in flight, in order of their due times, then of arrival."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        self._heap: list[tuple[float, int, Flight]] = []
        self._most = most
        self._bytes = 0
        self._number = 0

    def __len__(self) -> int:
        return len(self._heap)

    @property
    def due(self) -> float | None:
        """The due time of the next datagram; None if the queue is empty."""
        return self._heap[0][0] if self._heap else None

    def has_room(self, size: int) -> bool:
        """Return True if there is room for a datagram of ``size`` bytes."""
        return self._bytes + size + _AROUND <= self._most

    def add(self, flight: Flight) -> None:
        """Add a datagram by its due time."""
        self._number += 1
        self._bytes += len(flight.data) + _AROUND
        heappush(self._heap, (flight.due, self._number, flight))

    @property
    def entries(self) -> list[LogEntry | None]:
        """The log entries of the datagrams in flight, in order of arrival."""
        return [flight.entry for _, _, flight in sorted(self._heap, key=itemgetter(1))]

    def pop(self) -> Flight:
        """Remove and return the next datagram."""
        _, _, flight = heappop(self._heap)
        self._bytes -= len(flight.data) + _AROUND
        return flight


#: A link whose conditions can change, possibly added to a recorded network.
ChangingChannel = Link | AddedLink


class Flow:
    """A one-way flow, which takes datagrams from one side and sends them to the other when due.

    ``send`` raises ``OSError``. ``header`` is the size of the headers on the wire, ``client`` are
    the client's cells in the lines of the ``log``.
    """

    def __init__(
        self,
        direction: Direction,
        channel: ChangingChannel,
        send: Callable[[bytes], object],
        queue: DelayQueue,
        header: int,
        client: str,
        log: TrafficLog | None,
    ) -> None:
        self._direction = direction
        self.way = direction.way
        self._channel = channel
        self._send = send
        self._queue = queue
        self._header = header
        self._client = client
        self._log = log
        self._version = direction.version
        self._last = 0.0
        self._sequence = 0
        self._latest = -1
        self._losses = 0
        self._fates = (0, 0, 0)
        self.flying = 0

    @property
    def taken(self) -> int:
        """The number of datagrams that this flow has taken from its side."""
        return self._sequence

    def has_ended(self, time: float) -> bool:
        """Return True if a recorded network has ended by this time."""
        return self._channel.has_ended(max(time, self._last))

    def take(
        self, data: bytes, time: float, watched: Callable[[float], None] | None = None
    ) -> None:
        """Take a datagram received at ``time`` (s); ``watched`` is called when a copy has left."""
        direction = self._direction
        self._last = time = max(time, self._last)
        direction.received_bytes += len(data)
        if self._version != direction.version:
            self._version = direction.version
            self._channel.change(direction.conditions)
        arrivals = self._channel.send(time, len(data) + self._header)
        fate = self._count_fate()
        if direction.blackout:
            direction.blacked_out += 1
            arrivals, fate = (), Fate.BLACKOUT
        elif arrivals and not self._queue.has_room(len(arrivals) * len(data)):
            direction.overflowed += 1
            arrivals, fate = (), Fate.OVERFLOWED
        direction.requested.count_sent(time, arrivals)
        if arrivals:
            self._losses = 0
        else:
            self._losses += 1
            direction.longest_loss = max(direction.longest_loss, self._losses)
        entry = None
        if self._log is not None:
            entry = LogEntry(time, direction.way, self._client, data, arrivals, fate, len(arrivals))
            self._log.log_arrival(entry)
        for arrival in arrivals:
            copy = Flight(arrival, time, self._sequence, data, self.deliver, entry, watched)
            self._queue.add(copy)
        self.flying += len(arrivals)
        direction.waiting += len(arrivals)
        self._sequence += 1

    def _count_fate(self) -> Fate:
        """Count the datagram by its fate; return the fate if no copy of it arrives."""
        channel, before = self._channel, self._fates
        fates = (channel.dropped, channel.corrupted, channel.clipped)
        if fates == before:
            return Fate.LOST
        self._fates = fates
        direction = self._direction
        direction.dropped += fates[0] - before[0]
        direction.corrupted += fates[1] - before[1]
        direction.clipped += fates[2] - before[2]
        if fates[0] > before[0]:
            return Fate.DROPPED
        return Fate.CORRUPTED if fates[1] > before[1] else Fate.LOST

    def deliver(self, flight: Flight, clock: Callable[[], float]) -> None:
        """Send a due datagram to the other side, and count it."""
        direction = self._direction
        self.flying -= 1
        direction.waiting -= 1
        log, entry = self._log, flight.entry
        if log is not None and entry is not None:
            log.log_departure(entry, clock())
        try:
            self._send(flight.data)
        except OSError as error:
            direction.unsent[error.strerror or str(error)] += 1
            if log is not None and entry is not None:
                log.take_back_departure(entry)
        else:
            left = clock()
            direction.count_left(flight.received, flight.due, left, len(flight.data))
            direction.reordered += flight.sequence < self._latest
            self._latest = max(self._latest, flight.sequence)
            if flight.watched is not None:
                flight.watched(left)


class DirectionTap:
    """A tap that reads the packets in one direction's datagrams.

    ``sent`` consumers get them on arrival, ``received`` consumers on departure. Both have one
    clock, on which a packet arrives at the proxy, or at the other side of its link. In the
    direction ``down`` each client has copies of the same packets; the tap reads those of one
    client.
    """

    def __init__(
        self,
        way: Way,
        spec: IngestSpec,
        sent: Sequence[Consumer],
        received: Sequence[Consumer],
    ) -> None:
        self.way = way
        self.one_client = way == "down" and spec.sender is None
        self._ingest = Ingest(spec)
        self.sent, self.received = list(sent), list(received)

    @property
    def counts(self) -> Counts:
        """The counts of received packets and datagrams so far."""
        return self._ingest.counts

    @property
    def entities(self) -> Entities:
        """The entities whose packets were sent."""
        return self._ingest.entities

    def convert_time(self, time: float) -> float | None:
        """Convert a proxy's time to the receiver's clock (s); None before its start."""
        return self._ingest.convert_time(time)

    def take(self, data: bytes, client: Address, time: float) -> Callable[[float], None] | None:
        """Read a datagram's packets; return a function to call when it has left, or None.

        Raise ``OSError`` if a consumer cannot write.
        """
        datagram = ReceivedDatagram(data, (client.host, client.port), time)
        block = self._ingest.take([datagram], -math.inf)
        if not len(block):
            return None
        for consumer in self.sent:
            consumer.take_packets(block)
        return partial(self._pass_delayed_datagram, block, time)

    def _pass_delayed_datagram(self, block: PacketBlock, received: float, left: float) -> None:
        moved = PacketBlock(block.entities)
        for index in range(len(block)):
            packet = block[index]
            moved.append(packet._replace(arrival=(packet.arrival or 0.0) + left - received))
        for consumer in self.received:
            consumer.take_packets(moved)


#: Datagrams to read from one socket before the others' turn.
_AT_ONCE = 64

#: Seconds between two checks for idle clients.
_BEAT = 0.1

#: Bytes of the headers of IP and UDP.
_HEADERS = {socket.AF_INET: 28, socket.AF_INET6: 48}

#: Open files beside the clients' sockets.
_OTHER_FILES = 64


class UpstreamSocket(ReceivingSocket):
    """A socket that sends to one address, and receives from it."""

    def _bind_to_address(self, at: Resolved, interface: str | None) -> None:
        del interface
        self.socket.connect(at.place)

    def send(self, data: bytes) -> None:
        """Send a datagram; raise ``OSError``."""
        try:
            self.socket.send(data)
        except ConnectionRefusedError:  # about an earlier datagram; this one was not sent
            self.refused += 1
            self.socket.send(data)


@dataclass
class ProxyClient:
    """A client of the proxy: a number, an address, and a flow in each direction.

    ``used`` is when the last datagram from or to it arrived (s).
    """

    number: int
    address: Address
    server: UpstreamSocket
    up: Flow
    down: Flow
    used: float = 0.0


class Relay:
    """A relay of datagrams that sends each to the other side after the delay of its link.

    ``make_channel`` makes a client's link in one direction from the client's number. Times are in
    seconds since the relay was made. ``clients_total`` counts the clients so far, ``rejected`` the
    datagrams of clients beyond the limit, and ``socket_errors`` other errors of sockets by name.
    """

    def __init__(
        self,
        spec: ProxySpec,
        listening: ReceivingSocket,
        target: Resolved,
        links: LinkController,
        make_channel: Callable[[Way, int], ChangingChannel],
        log: TrafficLog | None = None,
        watches: Mapping[Way, DirectionTap] = MappingProxyType({}),
    ) -> None:
        self._watches = watches
        self._origin = read_machine_time()
        self._listening = listening
        self._target = target
        self._make_channel = make_channel
        self.links = links
        self.up, self.down = links.directions["up"], links.directions["down"]
        self._spec = spec
        self._log = log
        self._queue = DelayQueue()
        self._circle = LoopTest(target)
        self._armed = math.inf
        self._timer: asyncio.TimerHandle | None = None
        self._done = asyncio.Event()
        self._failure: Exception | None = None
        self._refused_before = 0
        self.clients: dict[Any, ProxyClient] = {}
        self.clients_total = 0
        self.rejected = 0
        self.socket_errors: Counter[str] = Counter()
        self.begun = asyncio.Event()
        self._leaving = math.inf

    @property
    def refused(self) -> int:
        """The number of reports that the target's port is closed."""
        return self._refused_before + sum(client.server.refused for client in self.clients.values())

    @property
    def overrun(self) -> int:
        """The datagrams dropped by the listening socket's full queue."""
        return self._listening.dropped

    def measure_time(self) -> float:
        """Return the seconds since the relay was made."""
        return read_machine_time() - self._origin

    def find_settled(self) -> float:
        """Return the time (s) before which every departure was passed on to watches.

        Thread-safe.
        """
        return min(self.measure_time(), self._leaving)  # the order of evaluation matters

    def end(self) -> None:
        """End the relay: ``run`` returns."""
        self._done.set()

    async def run(self) -> None:
        """Relay datagrams for its duration; raise ``OSError``, ``NetworkLoop``."""
        self._loop = asyncio.get_running_loop()
        allow_files(self._spec.max_clients + _OTHER_FILES)
        gc.collect()
        frozen = gc.get_freeze_count()  # frozen by the program for good
        gc.freeze()  # so that collections are short while datagrams wait
        beating = self._loop.create_task(self._drop_idle_regularly())
        self._loop.add_reader(self._listening.socket, self._run_guarded, self._read_clients)
        try:
            seconds = self._spec.duration
            await wait_for_event(self._done, None if math.isinf(seconds) else seconds)
        finally:
            beating.cancel()
            self._close_sockets()
            if not frozen:
                gc.unfreeze()
        if self._failure is not None:
            raise self._failure

    async def _drop_idle_regularly(self) -> None:
        while True:
            await asyncio.sleep(_BEAT)
            self._run_guarded(self._drop_idle_clients)

    def _run_guarded(self, work: Callable[[], None]) -> None:
        """Run a callback, then send due datagrams; any exception ends ``run``."""
        try:
            work()
            self._send_due_datagrams()
        except Exception as error:
            self._failure = error
            self.end()

    def _read_clients(self) -> None:
        for data, sender, time in self._listening.read(_AT_ONCE):
            client = self.clients.get(sender) or self._add_client(sender, data)
            if client is not None:
                self._pass_datagram(client, client.up, data, time - self._origin)

    def _read_server(self, client: ProxyClient) -> None:
        try:
            arrived = client.server.read(_AT_ONCE)
        except OSError as error:  # the target is unreachable for now
            self._count_error(error)
            return
        for data, _, time in arrived:
            self._pass_datagram(client, client.down, data, time - self._origin)

    def _count_error(self, error: OSError) -> None:
        self.socket_errors[error.strerror or str(error)] += 1

    def _pass_datagram(self, client: ProxyClient, flow: Flow, data: bytes, time: float) -> None:
        if flow.has_ended(time):
            self.end()
            return
        client.used = time
        watch, watched = self._watches.get(flow.way), None
        # the first of the present clients
        if watch and (not watch.one_client or client is next(iter(self.clients.values()))):
            watched = watch.take(data, client.address, time)
        flow.take(data, time, watched)

    def _add_client(self, sender: tuple[Any, ...], data: bytes) -> ProxyClient | None:
        """Add a client; return None beyond the limit of clients. Raise ``NetworkLoop``."""
        self._circle.look(data, self.measure_time())
        if len(self.clients) >= self._spec.max_clients:
            self.rejected += 1
            return None
        try:
            server = UpstreamSocket(self._target)
        except OSError as error:
            self._count_error(error)
            return None
        self.clients_total += 1
        number, address = self.clients_total, Address(str(sender[0]), int(sender[1]))
        header = _HEADERS.get(self._listening.socket.family, 0)
        who = f"{number},{write_csv_field(str(address))}"

        def make_flow(direction: Direction, send: Callable[[bytes], object]) -> Flow:
            channel = self._make_channel(direction.way, number)
            return Flow(direction, channel, send, self._queue, header, who, self._log)

        back = self._listening.socket.sendto
        client = ProxyClient(
            number=number,
            address=address,
            server=server,
            up=make_flow(self.up, server.send),
            down=make_flow(self.down, lambda data: back(data, sender)),
        )
        self.clients[sender] = client
        self._loop.add_reader(server.socket, self._run_guarded, partial(self._read_server, client))
        self.begun.set()
        return client

    def _send_due_datagrams(self) -> None:
        """Send due datagrams, and set the timer for the next."""
        queue = self._queue
        now = self.measure_time()
        while (due := queue.due) is not None and due <= now:
            self._leaving = now
            flight = queue.pop()
            flight.deliver(flight, self.measure_time)
            now = self.measure_time()
        self._leaving = math.inf
        if due is not None and due < self._armed:
            if self._timer is not None:
                self._timer.cancel()
            self._armed = due
            self._timer = self._loop.call_at(
                self._origin + due, self._run_guarded, self._handle_timer
            )

    def _handle_timer(self) -> None:
        self._armed = math.inf
        self._timer = None

    def _drop_idle_clients(self) -> None:
        """Close the connections of clients that were idle for too long."""
        silent_since = self.measure_time() - self._spec.idle
        for sender, client in list(self.clients.items()):
            if client.used < silent_since and not client.up.flying and not client.down.flying:
                del self.clients[sender]
                self._close_client(client)

    def _close_client(self, client: ProxyClient) -> None:
        self._loop.remove_reader(client.server.socket)
        self._refused_before += client.server.refused
        client.server.close()

    def _close_sockets(self) -> None:
        self._loop.remove_reader(self._listening.socket)
        if self._timer is not None:
            self._timer.cancel()
        for client in self.clients.values():
            self._close_client(client)
        self.clients.clear()
        self._circle.close()
        if self._log is not None:
            self._log.end(self._queue.entries)
