"""Packets of a running game, within an asyncio program."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import Self

from epic_cli.api.reading import spec_of
from epic_cli.engine.contract import Packet
from epic_cli.engine.packets import PacketBlock
from epic_cli.live.consumer import Consumer
from epic_cli.live.listen.run import Listener, ListenSpec, receive_at
from epic_cli.live.receiving import Reception
from epic_cli.recordings.addresses import DEFAULT_PORT, parse_endpoint, parse_sender, resolve
from epic_cli.recordings.datagrams.binary import RecordLayout
from epic_cli.recordings.datagrams.counts import MAX_ENTITIES
from epic_cli.recordings.datagrams.ingest import IngestSpec
from epic_cli.recordings.read_spec import INFERRED, ReadSpec


def listen(
    address: str | int = DEFAULT_PORT,
    *,
    read: str | ReadSpec = INFERRED,
    layout: str | None = None,
    sender: str | None = None,
    max_entities: int = MAX_ENTITIES,
    prefix: str | None = None,
    origins: Sequence[str] = (),
) -> PacketListener:
    """The packets of a running game, as datagrams or connections bring them: as ``epic listen``.

    ``address`` is a port of 127.0.0.1, or ``"HOST:PORT"``; port 0 is any that is free.
    ``"tcp://HOST:PORT"`` takes lines or, with a ``layout``, messages behind their lengths, whose
    type is ``prefix`` (u32; or u16, big-u16); ``"ws://HOST:PORT"`` is for WebSockets, of pages on
    this machine and of ``origins``. What is said of datagrams holds for their messages. ``read`` is
    that of ``read_packets``: without a format each datagram shows its own, and times are in seconds
    unless it says otherwise. ``layout`` is that of binary datagrams, as
    ``"time:u32*0.001 x:f32 y:f32 z:f32 id:u16"`` or with a header,
    ``"magic:u32=0xCAFE time:u32/60 n:u8 {id:u16 x:f32 y:f32}[n]"``. ``sender``, as
    ``"192.168.0.7"`` or with a port, is the only one whose packets are taken, and packets of more
    than ``max_entities`` entities are refused.

    It listens from the call on. ``arrival`` is on a clock that starts with the first packet, at the
    time in it; the times of a game that is started again go on, as in ``epic listen``. Raises
    ``OSError`` where it cannot listen there, and ``ValueError`` or ``TypeError`` for wrong
    arguments.
    """
    if isinstance(max_entities, bool) or not isinstance(max_entities, int) or max_entities < 1:
        raise ValueError(f"max_entities must be a whole number from 1 on, not {max_entities!r}")
    ingest = IngestSpec(
        spec_of(read),
        None if layout is None else RecordLayout(layout),
        None if sender is None else resolve(parse_sender(sender)).place,
        max_entities=max_entities,
    )
    receiving = receive_at(parse_endpoint(str(address)), ingest, None, prefix, origins)
    return PacketListener(receiving, ListenSpec(ingest))


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

    def __init__(self, receiving: Reception, spec: ListenSpec) -> None:
        self._receiving = receiving
        self._packets = _Block()
        self._listener = Listener(spec, receiving, [self._packets])
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
