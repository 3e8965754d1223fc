"""Packets of a running game, within an asyncio program."""

import asyncio
import gc
import socket

import pytest
from support.datagrams import receiver

from epic_cli import Packet, PacketListener, listen

WAIT = 120


def send(listener: PacketListener, *datagrams: bytes) -> None:
    """Send datagrams as another program."""
    with receiver() as game:
        for data in datagrams:
            game.socket.sendto(data, ("127.0.0.1", listener.port))


async def some(listener: PacketListener, count: int) -> list[Packet]:
    """Wait for this many packets."""
    return [await asyncio.wait_for(anext(listener), WAIT) for _ in range(count)]


async def rest(listener: PacketListener) -> list[Packet]:
    """Return all packets that are still to come."""
    return [packet async for packet in listener]


def is_free(port: int) -> bool:
    """Return whether no socket listens on the port."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        try:
            other.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def test_packets_come_as_they_are_sent_and_the_rest_is_counted() -> None:
    async def program() -> None:
        async with listen(0) as listener:
            waiting = asyncio.create_task(some(listener, 3))
            await asyncio.sleep(0.01)
            send(
                listener,
                b"1,2,3 / 4,5,6 / 0.5\n1,2,3 / 4,5,6 / 0.6",
                b"",
                b"x",
                b"7,2,3 / 4,5,6 / 0.7",
            )
            packets = await waiting
            assert [packet.time for packet in packets] == [0.5, 0.6, 0.7]
            assert packets[0] == Packet((1, 2, 3), (4, 5, 6), 0.5, 0.5)
            assert listener.refused == {"empty": 1, "not readable as packets": 1}
            assert listener.dropped == 0
            port = listener.port
        assert is_free(port)
        assert [packet async for packet in listener] == []

    asyncio.run(program())


def test_a_cancelled_wait_loses_nothing_and_others_have_their_turn() -> None:
    async def program() -> None:
        async with listen(0) as listener:
            for _ in range(3):
                with pytest.raises(TimeoutError):
                    await asyncio.wait_for(anext(listener), 0.01)
            send(listener, *(b"1,2,3 / 4,5,6 / %d" % time for time in range(300)))
            turns = 0

            async def other() -> None:
                nonlocal turns
                while True:
                    turns += 1
                    await asyncio.sleep(0)

            beside = asyncio.create_task(other())
            assert [packet.time for packet in await some(listener, 300)] == list(range(300))
            assert turns
            beside.cancel()
            waiting = asyncio.create_task(rest(listener))
            await asyncio.sleep(0.01)
            with pytest.raises(RuntimeError, match="another task waits"):
                await anext(listener)
            listener.close()
            assert await waiting == []

    asyncio.run(program())


def test_it_is_closed_when_it_is_left_behind() -> None:
    async def first() -> int:
        listener = listen(0, layout="time:u8 x:u8")
        port = listener.port
        send(listener, b"\1\2")
        async for packet in listener:
            assert packet.position == (2, 0, 0)
            break
        return port

    port = asyncio.run(first())
    gc.collect()
    assert is_free(port)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"address": "nowhere"}, "is not an address"),
        ({"read": "parquet"}, "a datagram is text, csv, jsonl"),
        ({"layout": "x:f32"}, "a record needs time"),
        ({"layout": "time:f32 x:f32", "read": "unit=ms"}, "layout describes all"),
        ({"address": "9870,from=a b"}, "is not a sender"),
        ({"address": "9870,max_entities=0"}, "max_entities"),
        ({"read": "unit=weeks"}, "is not s, ms"),
    ],
)
def test_wrong_arguments_are_refused(arguments: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        listen(**{"address": 0, **arguments})  # type: ignore[arg-type]


def test_a_port_in_use_is_said() -> None:
    with receiver() as taken, pytest.raises(OSError, match="in use"):
        listen(int(taken.port))


def test_a_listener_that_gets_the_descriptor_of_a_closed_one_hears() -> None:
    async def program() -> None:
        first = listen(0)
        waiting = asyncio.create_task(rest(first))
        await asyncio.sleep(0.01)
        first.close()
        async with listen(0) as second:  # before the task of the first one has gone on
            line = b"1,2,3 / 4,5,6 / 0.5"
            asyncio.get_running_loop().call_later(0.05, send, second, line)
            async with asyncio.timeout(WAIT):
                assert (await anext(second)).time == 0.5
        assert await waiting == []

    asyncio.run(program())
