"""Packets of a running game, within an asyncio program."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping
from types import TracebackType
from typing import Literal, Self

from epic_cli.api.reading import make_layout
from epic_cli.engine.contract import Packet
from epic_cli.engine.packets import PacketBlock
from epic_cli.formats import packet_formats
from epic_cli.live.addresses import parse_address, parse_sender, resolve
from epic_cli.live.binary import RecordLayout
from epic_cli.live.decoding import Decoder
from epic_cli.live.intake import Intake
from epic_cli.live.packet_filter import PacketFilter
from epic_cli.live.receiving import ReceivingSocket

#: Datagrams that are taken at once; the others wait in the socket.
_AT_ONCE = 256


def listen(
    address: str | int = 9870,
    *,
    input_format: Literal["auto", "text", "csv", "jsonl"] = "auto",
    layout: str | None = None,
    columns: str | Mapping[str, str | int] | None = None,
    time_unit: str | None = None,
    time_origin: float | Literal["first"] | None = None,
    axes: str | None = None,
    scale: float = 1.0,
    sender: str | None = None,
    max_entities: int = 256,
) -> PacketListener:
    """The packets of a running game, as UDP datagrams bring them: what ``epic listen`` takes.

    ``address`` is a port of 127.0.0.1, or ``"HOST:PORT"``; port 0 is any that is free.
    ``input_format`` says how packets are written; without it each datagram does. ``layout`` is
    that of binary records, as ``"time:u32*0.001 x:f32 y:f32 z:f32 id:u16"``. ``columns``,
    ``time_unit``, ``axes`` and ``scale`` are those of ``read_packets``; times are in seconds unless
    they say otherwise. ``time_origin`` is the time that becomes 0. ``sender``, as
    ``"192.168.0.7"`` or with a port, is the only one whose packets are taken, and packets of more
    than ``max_entities`` entities are refused.

    It listens from the call on. ``arrival`` is on a clock that starts with the first packet, at the
    time in it; the times of a game that is started again go on, as in ``epic listen``. Raises
    ``OSError`` where it cannot listen there, and ``ValueError`` or ``TypeError`` for wrong
    arguments.
    """
    formats = ("auto", *packet_formats())
    if input_format not in formats:
        raise ValueError(f"there is no format {input_format!r}: choose from {', '.join(formats)}")
    given = make_layout(columns, time_unit, time_origin, axes, scale, None)
    if layout is not None and (given is not None or input_format != "auto"):
        raise ValueError("layout says all of binary records: leave the other arguments away")
    origin = None if given is None else given.time_origin
    kind: str | None = None if input_format == "auto" else input_format
    records = None if layout is None else RecordLayout(layout)
    if isinstance(max_entities, bool) or not isinstance(max_entities, int) or max_entities < 1:
        raise ValueError(f"max_entities is a whole number from 1 on, and not {max_entities!r}")
    gate = PacketFilter(max_entities, math.nan if origin == "first" else origin)
    only = None if sender is None else resolve(parse_sender(sender)).place
    place = resolve(parse_address(str(address)))
    return PacketListener(ReceivingSocket(place), Intake(Decoder(kind, given, records), gate, only))


class PacketListener:
    """Gives packets one after the other, as they come in; ``listen`` makes it.

    Use it with ``async for``, within ``async with`` or alone: its socket is closed at the end of
    the block, by ``close``, or when nothing refers to it any more. A task that is cancelled while
    it waits loses no packet. One task at a time can wait.
    """

    def __init__(self, receiving: ReceivingSocket, intake: Intake) -> None:
        self._receiving = receiving
        self._intake = intake
        self._block = PacketBlock()
        self._index = 0
        self._waiting: asyncio.Event | None = None
        self._closed = False

    @property
    def port(self) -> int:
        """Where it listens; after ``close``, 0."""
        return 0 if self._closed else self._receiving.port

    @property
    def refused(self) -> dict[str, int]:
        """How much was not taken so far, by the reason in words."""
        return {one.value: count for one, count in self._intake.counts.refused.items()}

    @property
    def dropped(self) -> int:
        """Datagrams that the socket's queue had no room for, as far as that is known."""
        return self._receiving.dropped

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Packet:
        if self._waiting is not None:
            raise RuntimeError("another task waits for the next packet")
        while self._index == len(self._block):
            if self._closed:
                raise StopAsyncIteration
            self._block, self._index = self._intake.take(self._receiving.read(_AT_ONCE)), 0
            # others have their turn, however many packets there are
            await (asyncio.sleep(0) if len(self._block) else self._readable())
        packet = self._block[self._index]
        self._index += 1
        return packet

    async def _readable(self) -> None:
        """Waits for a datagram, or for ``close``."""
        loop = asyncio.get_running_loop()
        self._waiting = asyncio.Event()
        descriptor = self._receiving.socket.fileno()
        loop.add_reader(descriptor, self._waiting.set)
        try:
            await self._waiting.wait()
        finally:
            loop.remove_reader(descriptor)
            self._waiting = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Listens no more: packets that have been taken in are given, and then no others."""
        self._closed = True
        if self._waiting is not None:
            self._waiting.set()
        self._receiving.close()

    def __del__(self) -> None:
        self._receiving.close()
