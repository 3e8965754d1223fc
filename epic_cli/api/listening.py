"""Packets of a running game, within an asyncio program."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Self

from epic_cli.api.reading import spec_of
from epic_cli.engine.contract import Packet
from epic_cli.engine.packets import PacketBlock
from epic_cli.live.consumer import Consumer
from epic_cli.live.listener import Endpoint, Listener, ListenSpec
from epic_cli.recordings.addresses import DEFAULT_PORT
from epic_cli.recordings.datagrams.ingest import IngestSpec
from epic_cli.recordings.datagrams.record_layout import RecordLayout
from epic_cli.recordings.read_spec import INFERRED, ReadSpec


def listen(
    address: str | int = DEFAULT_PORT,
    *,
    read: str | ReadSpec = INFERRED,
    layout: str | None = None,
) -> PacketListener:
    """The packets of a running game, as datagrams or connections bring them: as ``epic listen``.

    ``address`` is a port of 127.0.0.1, or ``"HOST:PORT"``; port 0 is any that is free.
    ``"tcp://HOST:PORT"`` takes lines or, with a ``layout``, messages behind their lengths;
    ``"ws://HOST:PORT"`` is for WebSockets. What is said of datagrams holds for their messages.
    Behind it may stand what ``epic listen`` takes there: ``"9870,from=192.168.0.7"``,
    ``"tcp://9870,prefix=u16"``, ``"ws://9870,origin=https://game.example"``, ``max_entities=1000``.
    ``read`` is that of ``read_packets``: without a format each datagram shows its own, and times
    are in seconds unless it says otherwise. ``layout`` is that of binary datagrams, as
    ``"time:u32*0.001 x:f32 y:f32 z:f32 id:u16"`` or with a header,
    ``"magic:u32=0xCAFE time:u32/60 n:u8 {id:u16 x:f32 y:f32}[n]"``.

    It listens from the call on. ``arrival`` is on a clock that starts with the first packet, at the
    time in it; the times of a game that is started again go on, as in ``epic listen``. Raises
    ``OSError`` where it cannot listen there, and ``ValueError`` or ``TypeError`` for wrong
    arguments.
    """
    ingest = IngestSpec(
        spec_of(read),
        None if layout is None else RecordLayout(layout),
    )
    packets = _Block()
    listener = Listener(ListenSpec(Endpoint.parse(str(address)), ingest), [packets])
    return PacketListener(listener, packets)


class _Block(Consumer):
    """The packets that came in last, one after the other."""

    def __init__(self) -> None:
        self._left: Iterator[Packet] = iter(())

    def take_packets(self, block: PacketBlock) -> None:
        """Those that came in before have all been given."""
        self._left = (block[index] for index in range(len(block)))

    def next(self) -> Packet | None:
        """The next one; None: there are no more."""
        return next(self._left, None)


class PacketListener:
    """Gives packets one after the other, as they come in; ``listen`` makes it.

    Use it with ``async for``, within ``async with`` or alone: its socket is closed at the end of
    the block, by ``close``, or when nothing refers to it any more. A task that is cancelled while
    it waits loses no packet. One task at a time can wait.
    """

    def __init__(self, listener: Listener, packets: _Block) -> None:
        self._listener, self._packets = listener, packets
        self._receiving = listener.receiving
        self._waits = False
        self._closed = False

    @property
    def port(self) -> int:
        """Where it listens; after ``close``, 0."""
        return 0 if self._closed else self._receiving.port

    @property
    def refused(self) -> dict[str, int]:
        """How much was not taken so far, by the reason in words."""
        return {one.value: count for one, count in self._listener.counts.refused.items()}

    @property
    def dropped(self) -> int:
        """Datagrams that the socket's queue had no room for, as far as that is known."""
        return self._receiving.dropped

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Packet:
        if self._waits:
            raise RuntimeError("another task waits for the next packet")
        while (packet := self._packets.next()) is None:
            if self._closed:
                raise StopAsyncIteration
            if self._listener.step():
                await asyncio.sleep(0)  # others have their turn, however many packets there are
                continue
            self._waits = True
            try:
                await self._receiving.readable()
            finally:
                self._waits = False
        return packet

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Listens no more: packets that have been taken in are given, and then no others."""
        self._closed = True
        self._receiving.close()

    def __del__(self) -> None:
        self._receiving.close()
