"""Where packets come in, and how they are read and drawn."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from epic_cli.engine.description import read_named
from epic_cli.engine.parameters import Choice, Custom, Number
from epic_cli.engine.replay.playback import SCREEN_TIMING, Ratio
from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.recordings.addresses import Address, parse_endpoint, parse_sender, resolve
from epic_cli.recordings.datagrams.ingest import MAX_ENTITIES, IngestSpec

#: What a description of an address says beside it.
ENDPOINT = (
    Custom("from", None, "Take packets from this sender only.", "HOST[:PORT]", parse_sender,
           kind=Address, field="sender"),
    Number("max_entities", MAX_ENTITIES, "Refuse packets of more entities than this.", "",
           1, 100_000, whole=True),
    Custom("interface", None, "Join a multicast group on this interface: its address or, for IPv6,"
           " its name.", "ADDRESS|NAME", str),
    Choice("prefix", None, "Over tcp://, the length before each binary message; u32 of either byte"
           " order unless given.", ("u16", "big-u16", "u32")),
    Custom("origin", (), "Over ws://, let web pages from here connect, as well as those on this"
           " machine: https://game.example, null (a file) or *; several with blanks between.",
           "URL ...", lambda text: tuple(text.split()), " ".join, kind=tuple),
)  # fmt: skip


@dataclass(frozen=True)
class Endpoint:
    """Where packets come in, as ``ws://9870,origin=https://game.example``: keys of ``ENDPOINT``."""

    address: Address = field(default_factory=Address)
    sender: Address | None = None
    max_entities: int = MAX_ENTITIES
    interface: str | None = None
    prefix: str | None = None
    origin: Sequence[str] = ()

    @classmethod
    def parse(cls, text: str) -> Endpoint:
        """Reads a description; raises ``ValueError``."""
        address, values = read_named(text, ENDPOINT, "an address")
        return cls(parse_endpoint(address) if address else Address(), **values)


@dataclass(frozen=True)
class ListenSpec:
    """Where packets come in, how they are read and drawn, and for how many seconds.

    ``strategy`` None: nothing is drawn.
    """

    endpoint: Endpoint = field(default_factory=Endpoint)
    ingest: IngestSpec = field(default_factory=IngestSpec)
    strategy: StrategySpec | None = None
    tick: Ratio = SCREEN_TIMING.tick
    duration: float = math.inf

    def resolved(self) -> IngestSpec:
        """How datagrams are read, endpoint included; raises ``OSError`` for an unknown sender."""
        at = self.endpoint
        sender = None if at.sender is None else resolve(at.sender).place
        return replace(self.ingest, sender=sender, max_entities=at.max_entities)
