"""Packets of a running game, for an asyncio program."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Self

from epic_cli.api.reading import parse_read
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
    """Listen for packets of a running game, in datagrams or connections, as ``epic listen`` does.

    ``address`` is a port of 127.0.0.1, or ``"HOST:PORT"``; port 0 is any free one.
    ``"tcp://HOST:PORT"`` takes lines or, with a ``layout``, messages prefixed by their lengths;
    ``"ws://HOST:PORT"`` is for WebSockets. A message counts as a datagram. The address may have the
    keys of ``epic listen``: ``"9870,from=192.168.0.7"``, ``"tcp://9870,prefix=u16"``,
    ``"ws://9870,origin=https://game.example"``, ``max_entities=1000``. ``read`` is that of
    ``read_packets``: without a format each datagram shows its own, and times are in seconds unless
    it says otherwise. ``layout`` is that of binary datagrams, as ``"time:u32*0.001 x:f32 y:f32
    z:f32 id:u16"`` or with a header, ``"magic:u32=0xCAFE time:u32/60 n:u8 {id:u16 x:f32
    y:f32}[n]"``.

    Listening begins at the call. ``arrival`` is on a clock that starts with the first packet, at
    the time in it; the times of a game that is restarted continue, as in ``epic listen``. Raises
    ``OSError`` where it cannot listen there, and ``ValueError`` or ``TypeError`` for wrong
    arguments.
    """
    ingest = IngestSpec(
        parse_read(read),
        None if layout is None else RecordLayout(layout),
    )
    packets = _BlockReader()
    listener = Listener(ListenSpec(Endpoint.parse(str(address)), ingest), [packets])
    return PacketListener(listener, packets)


class _BlockReader(Consumer):
    """A consumer that holds the newest block and hands out the block's packets one by one."""

    def __init__(self) -> None:
        self._left: Iterator[Packet] = iter(())

    def take_packets(self, block: PacketBlock) -> None:
        """Take a block, after all packets of the previous block have been handed out."""
        self._left = (block[index] for index in range(len(block)))

    def read_next(self) -> Packet | None:
        """Return the next packet; None if there is none left."""
        return next(self._left, None)


class PacketListener:
    """An asynchronous iterator of packets as they arrive, as ``listen`` returns.

    Use it with ``async for``, within ``async with`` or alone: its socket is closed at the end of
    the block, by ``close``, or when nothing refers to it any more. A task that is cancelled while
    it waits loses no packet. One task at a time can wait.
    """

    def __init__(self, listener: Listener, packets: _BlockReader) -> None:
        self._listener, self._packets = listener, packets
        self._receiving = listener.receiving
        self._waits = False
        self._closed = False

    @property
    def port(self) -> int:
        """The port on which the listener listens; 0 after ``close``."""
        return 0 if self._closed else self._receiving.port

    @property
    def refused(self) -> dict[str, int]:
        """The number of refusals so far, by the reason in words."""
        return {one.value: count for one, count in self._listener.counts.refused.items()}

    @property
    def dropped(self) -> int:
        """The number of datagrams that the socket's full queue dropped, where known."""
        return self._receiving.dropped

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Packet:
        if self._waits:
            raise RuntimeError(
                "another task waits for the next packet: read each listener in one task"
            )
        while (packet := self._packets.read_next()) is None:
            if self._closed:
                raise StopAsyncIteration
            if self._listener.step():
                await asyncio.sleep(0)  # let other tasks run, however many packets there are
                continue
            self._waits = True
            try:
                await self._receiving.wait_until_readable()
            finally:
                self._waits = False
        return packet

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop listening; packets that were received already are still handed out."""
        self._closed = True
        self._receiving.close()

    def __del__(self) -> None:
        self._receiving.close()
