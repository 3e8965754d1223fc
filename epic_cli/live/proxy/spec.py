"""How a proxy runs, and its link: the conditions, which change meanwhile, and their totals."""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from epic_cli.engine.description import Described
from epic_cli.engine.link import Tally
from epic_cli.engine.parameters import Choice, Custom, FileName, Number, Switch
from epic_cli.live.listener import ENDPOINT
from epic_cli.network.link import LONGEST_DELAY, WAYS, LinkConditions, Way
from epic_cli.network.link_spec import PRESETS, LinkSpec, TwoWays, parse_word, split_way
from epic_cli.recordings.addresses import Address, parse_address
from epic_cli.recordings.datagrams.counts import MAX_ENTITIES

#: Where control is taken from the standard input.
STANDARD_INPUT = "-"


def parse_control(text: str) -> Address | Path | str:
    """An address, the path of a socket (with a slash), or ``-``; raises ``ValueError``."""
    if text == STANDARD_INPUT:
        return text
    if "/" in text:
        return Path(text)
    try:
        return parse_address(text)
    except ValueError:
        raise ValueError(
            f"{text!r} is not a control address: write 9871, 127.0.0.1:9871, a path with"
            " a slash (./proxy.socket), or - for the standard input"
        ) from None


#: What describes where clients connect.
CLIENTS = (
    Custom("address", None, "Where to listen.", "[HOST:]PORT", parse_address, kind=Address),
    Number("idle", 60.0, "Forget a client after this long without datagrams from or to it.", "s",
           0.1, 86_400),
    Number("max_clients", 1000, "Reject datagrams of further clients; each takes a socket and"
           " 30 kB.", "", 1, 100_000, whole=True),
)  # fmt: skip

#: What describes the log of datagrams.
LOG = (
    FileName("file", "Where to.", form="FILE", field="path"),
    Switch("payload", False, "The bytes of each datagram, too, as hex."),
)

#: What describes the packets that are watched.
WATCH = (
    Choice("direction", None, "Which way they go.", ("down", "up", "both")),
    Custom("sent", None, "Record the packets as they are sent, for compare --truth.", "FILE", str),
    Custom("received", None, "Record the packets that the link lets through, with their arrivals.",
           "FILE", str),
    *(key for key in ENDPOINT if key.name in ("from", "max_entities")),
)  # fmt: skip


@dataclass(frozen=True)
class ProxyAddress(Described):
    """Where clients connect: ``7777,idle=10s,max_clients=20``, keys of ``CLIENTS``."""

    TABLE, KEY, OWNER = CLIENTS, "address", "an address"

    address: Address
    idle: float = 60.0
    max_clients: int = 1000


@dataclass(frozen=True)
class LogFile(Described):
    """The log of every datagram: ``traffic.csv,payload=on``."""

    TABLE, KEY, OWNER = LOG, "file", "a file"

    path: str
    payload: bool = False


@dataclass(frozen=True)
class WatchSpec(Described):
    """Which packets are read from what passes: ``both,sent=sent.csv,received=received.csv``.

    Those of the server, for the client that came first (or is ``sender``), or ``up``, those of all
    clients; of ``both`` directions, in files named -up and -down. No ``direction`` is down.
    """

    TABLE, KEY, OWNER = WATCH, "direction", "a direction"

    direction: Literal["up", "down", "both"] | None = None
    sent: str | None = None
    received: str | None = None
    sender: Address | None = None
    max_entities: int = MAX_ENTITIES

    @property
    def files(self) -> list[str]:
        """Those that are written."""
        return [path for path in (self.sent, self.received) if path is not None]

    @property
    def first(self) -> Way:
        """The direction that is shown first, or written."""
        return "up" if self.direction == "up" else "down"

    def has(self, way: Way) -> bool:
        """Whether packets of this direction are read."""
        return self.direction == "both" or way == self.first


@dataclass(frozen=True)
class ProxySpec:
    """How a proxy runs: for whom, for how many seconds, what it records, where it is controlled.

    A client is dropped after ``idle`` seconds without datagrams from or for it. ``control`` is an
    address, the path of a socket, or ``-`` for the standard input.
    """

    idle: float = 60.0
    max_clients: int = 1000
    duration: float = math.inf
    record: LogFile | None = None
    control: Address | Path | str | None = None


#: Seconds; a datagram that leaves so much after its time is late.
LATE = 0.001


@dataclass
class Direction:
    """The counts of all clients' datagrams on one way; delays and times are in seconds.

    ``conditions`` are those of now, and ``version`` says how often they have changed. During a
    ``blackout`` all is lost. ``longest_loss`` is that of one client. ``requested`` are the delays
    that the link has given, ``achieved`` those from the arrival to when it really left, ``seconds``
    in all, and ``lateness`` how long after its time each left.
    """

    way: Way
    conditions: LinkConditions
    version: int = 0
    blackout: bool = False
    received_bytes: int = 0
    blacked_out: int = 0
    overflowed: int = 0
    longest_loss: int = 0
    dropped: int = 0
    corrupted: int = 0
    clipped: int = 0
    arrived: int = 0
    delivered_bytes: int = 0
    reordered: int = 0
    late: int = 0
    waiting: int = 0
    unsent: Counter[str] = field(default_factory=Counter)
    requested: Tally = field(default_factory=Tally)
    achieved: Tally = field(default_factory=Tally)
    lateness: Tally = field(default_factory=Tally)
    seconds: float = 0.0

    @property
    def sent(self) -> int:
        """How many datagrams came in."""
        return self.requested.sent

    @property
    def lost(self) -> int:
        """How many of them were lost, in any way."""
        return self.requested.lost

    @property
    def duplicated(self) -> int:
        """How many were duplicated."""
        return self.requested.duplicated

    def delay(self, share: float) -> float:
        """The delay in seconds that this share (0 to 1) of those that left do not exceed."""
        return self.achieved.delay(share)

    def change(self, conditions: LinkConditions) -> None:
        """Sets the conditions from the next datagram on."""
        self.conditions = conditions
        self.version += 1

    def count_left(self, received: float, due: float, left: float, size: int) -> None:
        """Counts a datagram of ``size`` bytes that left: when it came, was due, and left."""
        self.arrived += 1
        self.delivered_bytes += size
        self.seconds += left - received
        self.late += left - due > LATE
        self.achieved.count_sent(received, (left,))
        self.lateness.count_sent(due, (left,))


class LinkController:
    """Changes the conditions of both directions of a ``link``; errors raise ``ValueError``.

    ``ways`` are the current conditions, ``preset`` the name of the last preset that was chosen
    here.
    """

    def __init__(self, link: LinkSpec) -> None:
        self._link = link
        self.ways = ways = link.ways
        self.preset = ""
        self.directions = {way: Direction(way, ways.of(way)) for way in WAYS}

    def set(self, words: Sequence[tuple[str, Any]]) -> None:
        """Applies these words from now on: all of them, or none where one is wrong."""
        if any(split_way(name)[1] == "packet_size" for name, _ in words):
            raise ValueError("packet_size: datagrams have lengths of their own")
        ways = self.ways.changed(words)
        self.preset = next((value.name for name, value in words if name == "preset"), self.preset)
        self._use(ways)

    def set_words(self, text: str) -> None:
        """The same, as they are written."""
        self.set([parse_word(word) for word in text.split()])

    def clear(self) -> None:
        """Makes the link perfect."""
        self.preset = ""
        self._use(TwoWays())
        self.black_out(False, WAYS)

    def reset(self) -> None:
        """Restores the initial conditions."""
        self.preset = ""
        self._use(self._link.ways)
        self.black_out(False, WAYS)

    def black_out(self, on: bool, ways: Sequence[Way]) -> None:
        """Begins or ends a blackout in these directions."""
        for way in ways:
            self.directions[way].blackout = on

    def next_preset(self, step: int) -> None:
        """Chooses the next preset by name, or the one before."""
        names = list(PRESETS)
        before = names.index(self.preset) if self.preset else (-1 if step > 0 else 0)
        self.set([("preset", PRESETS[names[(before + step) % len(names)]])])

    def add(self, name: str, step: float, ways: Sequence[Way]) -> None:
        """Increases or decreases the ``latency``, ``jitter`` or ``loss`` of these directions."""
        highest = 1.0 if name == "loss" else LONGEST_DELAY
        changed = self.ways
        for way in ways:
            now = getattr(changed.of(way), name)
            now = now if isinstance(now, float) else 0.0  # losses in bursts end
            value = round(min(max(now + step, 0.0), highest), 6)
            changed = changed.changed([(f"{way}.{name}", value)])
        self._use(changed)

    async def follow(self, begun: asyncio.Event) -> None:
        """Applies the scheduled changes, on the clock that starts when it has ``begun``."""
        await begun.wait()
        start = asyncio.get_running_loop().time()
        for time, words in self._link.changes:
            await asyncio.sleep(max(start + time - asyncio.get_running_loop().time(), 0))
            self.set(words)

    def _use(self, ways: TwoWays) -> None:
        self.ways = ways
        for way, direction in self.directions.items():
            conditions = ways.of(way)
            if conditions != direction.conditions:
                direction.change(conditions)
