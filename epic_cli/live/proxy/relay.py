"""The proxy: clients on one side, each with its own socket to the server on the other."""

from __future__ import annotations

import asyncio
import gc
import math
import socket
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from epic_cli.live.proxy.circle import CircleTest
from epic_cli.live.proxy.flow import ChangingChannel, DelayQueue, Flow
from epic_cli.live.proxy.link_control import Direction, LinkController
from epic_cli.live.proxy.traffic_log import TrafficLog, client_cells
from epic_cli.live.proxy.watch import Watch
from epic_cli.live.receiving import ReceivingSocket, allow_files, machine_time
from epic_cli.network.link_spec import Way
from epic_cli.recordings.addresses import Address, Resolved
from epic_cli.show.stop_signals import set_or_late

#: Datagrams that are read from one socket before the others' turn.
_AT_ONCE = 64

#: Lines that are written while datagrams wait.
_LINES_AT_ONCE = 32

#: Seconds between two checks for idle clients and lines to write.
_BEAT = 0.1

#: Bytes that come before those of a datagram: the headers of IP and UDP.
_HEADERS = {socket.AF_INET: 28, socket.AF_INET6: 48}

#: Files beside the clients' sockets that may be open.
_OTHER_FILES = 64


@dataclass(frozen=True)
class ProxySpec:
    """How a proxy runs: for whom, for how many seconds, what it records, where it is controlled.

    A client is dropped after ``idle`` seconds without datagrams from or for it. ``record`` is
    the path of a traffic log, with the ``payload`` of datagrams or without. ``control`` is an
    address, the path of a socket, or ``-`` for the standard input.
    """

    idle: float = 60.0
    max_clients: int = 1000
    duration: float = math.inf
    record: str | None = None
    payload: bool = False
    control: Address | Path | str | None = None


class UpstreamSocket(ReceivingSocket):
    """A socket that sends to one place, and takes in what comes from there."""

    def _attach(self, at: Resolved, interface: str | None) -> None:
        del interface
        self.socket.connect(at.place)

    def send(self, data: bytes) -> None:
        """Sends a datagram; raises ``OSError``."""
        try:
            self.socket.send(data)
        except ConnectionRefusedError:  # the answer to an earlier one; this one was not sent
            self.refused += 1
            self.socket.send(data)


@dataclass
class Client:
    """A client: a number, an address, and a flow in each direction.

    ``used``: when the last datagram from or for it arrived (seconds).
    """

    number: int
    address: Address
    server: UpstreamSocket
    up: Flow
    down: Flow
    used: float = 0.0


class Relay:
    """Takes datagrams from one side, and sends them to the other when their link has carried them.

    ``make_channel`` makes a client's link in one direction from its number. Times are in seconds
    after the making. ``clients_total`` counts the clients until now, ``rejected`` the datagrams of
    those beyond the limit, and ``socket_errors``, by their names, what else sockets could not do.
    """

    def __init__(
        self,
        spec: ProxySpec,
        listening: ReceivingSocket,
        target: Resolved,
        links: LinkController,
        make_channel: Callable[[Way, int], ChangingChannel],
        log: TrafficLog | None = None,
        watches: Mapping[Way, Watch] = MappingProxyType({}),
    ) -> None:
        self._watches = watches
        self._origin = machine_time()
        self._listening = listening
        self._target = target
        self._make_channel = make_channel
        self.links = links
        self.up, self.down = links.directions["up"], links.directions["down"]
        self._spec = spec
        self._log = log
        self._queue = DelayQueue()
        self._circle = CircleTest(target)
        self._armed = math.inf
        self._timer: asyncio.TimerHandle | None = None
        self._done = asyncio.Event()
        self._failure: Exception | None = None
        self._refused_before = 0
        self.clients: dict[Any, Client] = {}
        self.clients_total = 0
        self.rejected = 0
        self.socket_errors: Counter[str] = Counter()
        self.begun = asyncio.Event()
        self._leaving = math.inf

    @property
    def refused(self) -> int:
        """How often the target's port was reported closed."""
        return self._refused_before + sum(one.server.refused for one in self.clients.values())

    @property
    def overrun(self) -> int:
        """Datagrams dropped by the listening socket's full queue."""
        return self._listening.dropped

    def now(self) -> float:
        """Seconds after the making."""
        return machine_time() - self._origin

    def settled(self) -> float:
        """When everything that has left by then was passed to watches (s); any thread may ask."""
        return min(self.now(), self._leaving)  # in this order

    def end(self) -> None:
        """Ends ``run``."""
        self._done.set()

    async def run(self) -> None:
        """Relays datagrams for its duration; raises ``OSError``, ``Circle``."""
        self._loop = asyncio.get_running_loop()
        allow_files(self._spec.max_clients + _OTHER_FILES)
        gc.collect()
        frozen = gc.get_freeze_count()  # by the program, for good
        gc.freeze()  # what was loaded until now is not looked through while datagrams wait
        beating = self._loop.create_task(self._beat())
        self._loop.add_reader(self._listening.socket, self._guarded, self._from_clients)
        try:
            seconds = self._spec.duration
            await set_or_late(self._done, None if math.isinf(seconds) else seconds)
        finally:
            beating.cancel()
            self._close()
            if not frozen:
                gc.unfreeze()
        if self._failure is not None:
            raise self._failure

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(_BEAT)
            self._guarded(self._settle)

    def _guarded(self, work: Callable[[], None]) -> None:
        """Runs a callback, then sends what is due; any exception ends ``run``."""
        try:
            work()
            self._deliver()
            if self._log is not None and len(self._log) > _LINES_AT_ONCE:
                self._log.write(_LINES_AT_ONCE)
        except Exception as error:
            self._failure = error
            self.end()

    def _from_clients(self) -> None:
        for data, sender, time in self._listening.read(_AT_ONCE):
            client = self.clients.get(sender) or self._welcome(sender, data)
            if client is not None:
                self._pass(client, client.up, data, time - self._origin)

    def _from_server(self, client: Client) -> None:
        try:
            arrived = client.server.read(_AT_ONCE)
        except OSError as error:  # no way to the target, for now
            self._count(error)
            return
        for data, _, time in arrived:
            self._pass(client, client.down, data, time - self._origin)

    def _count(self, error: OSError) -> None:
        self.socket_errors[error.strerror or str(error)] += 1

    def _pass(self, client: Client, flow: Flow, data: bytes, time: float) -> None:
        if flow.ended(time):
            self.end()
            return
        client.used = time
        watch, watched = self._watches.get(flow.way), None
        # of those that are there, the first one to have come
        if watch and (not watch.one_client or client is next(iter(self.clients.values()))):
            watched = watch.take(data, client.address, time)
        flow.take(data, time, watched)

    def _welcome(self, sender: tuple[Any, ...], data: bytes) -> Client | None:
        """A new client; None: there is no room for one. Raises ``Circle``."""
        self._circle.look(data, self.now())
        if len(self.clients) >= self._spec.max_clients:
            self.rejected += 1
            return None
        try:
            server = UpstreamSocket(self._target)
        except OSError as error:
            self._count(error)
            return None
        self.clients_total += 1
        number, address = self.clients_total, Address(str(sender[0]), int(sender[1]))
        header = _HEADERS.get(self._listening.socket.family, 0)
        who = client_cells(number, str(address))

        def flow(direction: Direction, send: Callable[[bytes], object]) -> Flow:
            channel = self._make_channel(direction.way, number)
            return Flow(direction, channel, send, self._queue, header, who, self._log)

        back = self._listening.socket.sendto
        client = Client(
            number=number,
            address=address,
            server=server,
            up=flow(self.up, server.send),
            down=flow(self.down, lambda data: back(data, sender)),
        )
        self.clients[sender] = client
        self._loop.add_reader(server.socket, self._guarded, partial(self._from_server, client))
        self.begun.set()
        return client

    def _deliver(self) -> None:
        """Sends what is due, and sets the clock for the next."""
        queue = self._queue
        now = self.now()
        while (due := queue.due) is not None and due <= now:
            self._leaving = now
            flight = queue.pop()
            flight.deliver(flight, self.now)
            now = self.now()
        self._leaving = math.inf
        if due is not None and due < self._armed:
            if self._timer is not None:
                self._timer.cancel()
            self._armed = due
            self._timer = self._loop.call_at(self._origin + due, self._guarded, self._wake)

    def _wake(self) -> None:
        self._armed = math.inf
        self._timer = None

    def _settle(self) -> None:
        """Drops idle clients, and writes finished datagrams to the log."""
        silent_since = self.now() - self._spec.idle
        for sender, client in list(self.clients.items()):
            if client.used < silent_since and not client.up.flying and not client.down.flying:
                del self.clients[sender]
                self._close_one(client)
        if self._log is not None:
            self._log.write()

    def _close_one(self, client: Client) -> None:
        self._loop.remove_reader(client.server.socket)
        self._refused_before += client.server.refused
        client.server.close()

    def _close(self) -> None:
        self._loop.remove_reader(self._listening.socket)
        if self._timer is not None:
            self._timer.cancel()
        for client in self.clients.values():
            self._close_one(client)
        self.clients.clear()
        self._circle.close()
        if self._log is not None:
            self._log.end()
