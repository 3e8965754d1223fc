"""The settings of a proxy, and its link: the changing conditions and their totals."""

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

#: The control that reads standard input.
STANDARD_INPUT = "-"


def parse_control(text: str) -> Address | Path | str:
    """Parse an address, the path of a socket (with a slash), or ``-``; raise ``ValueError``."""
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


#: The keys of the address for clients.
CLIENTS = (
    Custom("address", None, "The address to listen on.", "[HOST:]PORT", parse_address,
           kind=Address),
    Number("idle", 60.0, "Forget a client after this time without datagrams from or to it.", "s",
           0.1, 86_400),
    Number("max_clients", 1000, "The most clients; further ones are rejected. Each takes a socket"
           " and 30 kB.", "", 1, 100_000, whole=True),
)  # fmt: skip

#: The keys of the log of datagrams.
LOG = (
    FileName("file", "The file to write.", form="FILE", field="path"),
    Switch("payload", False, "Log the bytes of each datagram, too, as hex."),
)

#: The keys of --watch.
WATCH = (
    Choice("direction", None, "The direction of the packets.", ("down", "up", "both")),
    Custom("sent", None, "Record the packets as they are sent, for compare --truth.", "FILE", str),
    Custom("received", None, "Record the packets that pass the link, with their arrivals.",
           "FILE", str),
    *(key for key in ENDPOINT if key.name in ("from", "max_entities")),
)  # fmt: skip


@dataclass(frozen=True)
class ProxyAddress(Described):
    """The address at which the proxy receives clients: ``7777,idle=10s,max_clients=20``.

    Its keys are ``CLIENTS``.
    """

    TABLE, KEY, OWNER = CLIENTS, "address", "an address"

    address: Address
    idle: float = 60.0
    max_clients: int = 1000


@dataclass(frozen=True)
class LogFile(Described):
    """The file of a log of every datagram: ``traffic.csv,payload=on``."""

    TABLE, KEY, OWNER = LOG, "file", "a file"

    path: str
    payload: bool = False


@dataclass(frozen=True)
class WatchSpec(Described):
    """The packets read from the traffic: ``both,sent=sent.csv,received=received.csv``.

    Down are those of the server for the first client (or for ``sender``), ``up`` those of all
    clients; of ``both`` directions, files are named -up and -down. No ``direction`` means down.
    """

    TABLE, KEY, OWNER = WATCH, "direction", "a direction"

    direction: Literal["up", "down", "both"] | None = None
    sent: str | None = None
    received: str | None = None
    sender: Address | None = None
    max_entities: int = MAX_ENTITIES

    @property
    def files(self) -> list[str]:
        """The paths of the files to write."""
        return [path for path in (self.sent, self.received) if path is not None]

    @property
    def first(self) -> Way:
        """The direction to show or to write first."""
        return "up" if self.direction == "up" else "down"

    def has(self, way: Way) -> bool:
        """Return True if the packets of this direction are read."""
        return self.direction == "both" or way == self.first


@dataclass(frozen=True)
class ProxySpec:
    """The settings of a proxy: the clients that it accepts, its duration (s), its log, its control.

    A client is dropped after ``idle`` seconds without datagrams from or to it. ``control`` is an
    address, the path of a socket, or ``-`` for the standard input.
    """

    idle: float = 60.0
    max_clients: int = 1000
    duration: float = math.inf
    record: LogFile | None = None
    control: Address | Path | str | None = None


#: Seconds after its due time from which a datagram's departure counts as late.
LATE = 0.001


@dataclass
class Direction:
    """The counts of all clients' datagrams in one direction; delays and times are in seconds.

    ``conditions`` are the current conditions of the link, and ``version`` counts their changes.
    During a ``blackout`` every datagram is lost. ``longest_loss`` is the longest run of losses of
    one client. ``requested`` are the delays of the link, ``achieved`` those from the arrival to the
    real departure, ``seconds`` their sum, and ``lateness`` the delay of each departure after its
    due time.
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
        """The number of datagrams that arrived."""
        return self.requested.sent

    @property
    def lost(self) -> int:
        """The number of datagrams lost for any reason."""
        return self.requested.lost

    @property
    def duplicated(self) -> int:
        """The number of duplicated datagrams."""
        return self.requested.duplicated

    def delay(self, share: float) -> float:
        """Return the quantile of the achieved delays in seconds at this share (0 to 1)."""
        return self.achieved.delay(share)

    def change(self, conditions: LinkConditions) -> None:
        """Set the conditions of the link, from the next datagram on."""
        self.conditions = conditions
        self.version += 1

    def count_left(self, received: float, due: float, left: float, size: int) -> None:
        """Count a departed datagram by its size (bytes) and three times (s)."""
        self.arrived += 1
        self.delivered_bytes += size
        self.seconds += left - received
        self.late += left - due > LATE
        self.achieved.count_sent(received, (left,))
        self.lateness.count_sent(due, (left,))


class LinkController:
    """The changeable conditions of both directions of a ``link``; errors raise ``ValueError``.

    ``ways`` are the current conditions, ``preset`` the name of the last preset chosen here.
    """

    def __init__(self, link: LinkSpec) -> None:
        self._link = link
        self.ways = ways = link.ways
        self.preset = ""
        self.directions = {way: Direction(way, ways.get_direction(way)) for way in WAYS}

    def set(self, words: Sequence[tuple[str, Any]]) -> None:
        """Apply these changes of the link at once, or none of them if one is wrong."""
        if any(split_way(name)[1] == "packet_size" for name, _ in words):
            raise ValueError(
                "leave packet_size out: each of a proxy's datagrams has a length of its own"
            )
        ways = self.ways.apply_words(words)
        self.preset = next((value.name for name, value in words if name == "preset"), self.preset)
        self._apply_conditions(ways)

    def set_words(self, text: str) -> None:
        """Parse and apply words such as ``loss=5% up.latency=40ms``."""
        self.set([parse_word(word) for word in text.split()])

    def clear(self) -> None:
        """Make the link perfect."""
        self.preset = ""
        self._apply_conditions(TwoWays())
        self.black_out(False, WAYS)

    def reset(self) -> None:
        """Restore the initial conditions."""
        self.preset = ""
        self._apply_conditions(self._link.ways)
        self.black_out(False, WAYS)

    def black_out(self, on: bool, ways: Sequence[Way]) -> None:
        """Begin or end a blackout in these directions."""
        for way in ways:
            self.directions[way].blackout = on

    def choose_next_preset(self, step: int) -> None:
        """Apply the preset that stands ``step`` places after the last chosen one in the list."""
        names = list(PRESETS)
        before = names.index(self.preset) if self.preset else (-1 if step > 0 else 0)
        self.set([("preset", PRESETS[names[(before + step) % len(names)]])])

    def add(self, name: str, step: float, ways: Sequence[Way]) -> None:
        """Increase or decrease the ``latency``, ``jitter`` or ``loss`` of these directions."""
        highest = 1.0 if name == "loss" else LONGEST_DELAY
        changed = self.ways
        for way in ways:
            now = getattr(changed.get_direction(way), name)
            now = now if isinstance(now, float) else 0.0  # replaces losses in bursts
            value = round(min(max(now + step, 0.0), highest), 6)
            changed = changed.apply_words([(f"{way}.{name}", value)])
        self._apply_conditions(changed)

    async def follow(self, begun: asyncio.Event) -> None:
        """Apply the scheduled changes, on a clock that starts with the event ``begun``."""
        await begun.wait()
        start = asyncio.get_running_loop().time()
        for time, words in self._link.changes:
            await asyncio.sleep(max(start + time - asyncio.get_running_loop().time(), 0))
            self.set(words)

    def _apply_conditions(self, ways: TwoWays) -> None:
        self.ways = ways
        for way, direction in self.directions.items():
            conditions = ways.get_direction(way)
            if conditions != direction.conditions:
                direction.change(conditions)
