"""``epic proxy --watch``: the packets of one direction, before and behind the link."""

import contextlib
import json
import math
import random
import socket
import struct
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.datagrams import wait_until
from support.proxies import Game, game
from support.running import epic

from epic_cli.api.reading import read_packets
from epic_cli.engine.contract import Packet
from epic_cli.engine.packets import PacketBlock
from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.live.consumer import Consumer
from epic_cli.live.listen.run import LaterDrawing
from epic_cli.live.listen.spec import ListenSpec
from epic_cli.live.proxy.run import DirectionTap, Flight, Relay
from epic_cli.live.proxy.spec import LinkController, ProxySpec
from epic_cli.live.receiving import ReceivingSocket
from epic_cli.network import Link
from epic_cli.network.link_spec import TwoWays
from epic_cli.recordings.addresses import Address, resolve
from epic_cli.recordings.datagrams.ingest import IngestSpec

LAYOUT = "time:f64 {id:u16 x:f32 y:f32 z:f32}[u8]"


def snapshot(number: int) -> bytes:
    """A server's datagram: two entities in circles, by ``LAYOUT``."""
    now = 100 + number / 60
    two = (
        struct.pack("<Hfff", entity, 9 * math.cos(now + entity), 0, 9 * math.sin(now + entity))
        for entity in (1, 2)
    )
    return struct.pack("<dB", now, 2) + b"".join(two)


def joined(playing: Game, *clients: socket.socket) -> list[Any]:
    """Where the server finds these clients, who say hello in this order."""
    places = []
    for one in clients:
        one.send(b"hello")
        places.append(playing.server.recvfrom(100)[1])
    return places


def recorded(playing: Game, *files: Path) -> tuple[list[list[Packet]], str]:
    """The recordings when the proxy has ended, and what it said."""
    status, _, said = playing.proxy.end()
    assert status == 130
    return [list(read_packets(one)) for one in files], said.decode()


def test_the_truth_is_what_the_server_sent(tmp_path: Path) -> None:
    sent, received = tmp_path / "sent.csv", tmp_path / "received.jsonl"
    down = ("latency=80ms", "jitter=10ms", "loss=20%", "duplicate=10%")
    link = ("--link", ",".join(f"down.{word}" for word in down))
    kept = ("--watch", f"sent={sent},received={received}", "--control", "-")
    with game("--layout", LAYOUT, *kept, *link) as playing:
        other = playing.another_client()
        with other:
            places = joined(playing, playing.client, other)
            begin = time.monotonic()
            for number in range(150):
                time.sleep(max(begin + number / 60 - time.monotonic(), 0))
                for place in places:
                    playing.server.sendto(snapshot(number), place)
            playing.server.sendto(b"\xff" * 7, places[0])

            def all_there() -> bool:
                down = json.loads(playing.ask("stats"))["down"]
                return bool(down["datagrams"] == 301 and not down["waiting"])

            wait_until(all_there)
            got = []
            playing.client.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                while True:
                    got.append(playing.client.recv(999))
        (before, behind), said = recorded(playing, sent, received)
    # each snapshot once although there are two clients, and what this client got, copy by copy
    assert [(one.entity, round(60 * (one.time - 100))) for one in before] == [
        (entity, number) for number in range(150) for entity in "12"
    ]
    got = [one for one in got if one != b"\xff" * 7]
    assert [one.time for one in behind[::2]] == [struct.unpack_from("<d", one)[0] for one in got]
    assert 200 < len(behind) < 360
    arrivals = {(one.entity, one.time): one.arrival or 0.0 for one in before}
    delays = [(one.arrival or 0.0) - arrivals[one.entity, one.time] for one in behind]
    assert min(delays) >= 0.0699
    assert sorted(delays)[len(delays) // 2] < 1.0
    assert "1 datagram refused" in said
    assert f"{len(before):,} packets recorded in {sent}" in said
    # the delay of the link is in the lag, since the truth has the server's own times
    done = epic("compare", "--truth", sent, "-s", "lerp", "-f", "json", received)
    assert done.returncode == 0, done.stderr
    assert 0.07 < json.loads(done.stdout)["lag"] < 1.0


def test_on_the_way_up_all_clients_are_read(tmp_path: Path) -> None:
    sent, received = tmp_path / "sent.jsonl", tmp_path / "received.txt"
    with game("--watch", f"up,sent={sent},received={received}") as playing:
        with playing.another_client() as other:
            for number in range(20):
                for name, one in (("a", playing.client), ("b", other)):
                    line = f"{number},0,0 / 1,0,0 / {number / 20} entity={name}"
                    one.send(line.encode())
            playing.arrived(40)
        (before, behind), said = recorded(playing, sent, received)
    for found in (before, behind):
        assert sorted((one.entity, one.position[0]) for one in found) == [
            (name, number) for name in "ab" for number in range(20)
        ]
    assert "refused" not in said


def test_the_next_client_is_read_when_the_first_has_gone(tmp_path: Path) -> None:
    sent = tmp_path / "sent.txt"
    with game("--watch", f"sent={sent}", "--control", "-", listen="0,idle=2") as playing:
        with playing.another_client() as other:
            first, second = joined(playing, playing.client, other)
            playing.server.sendto(b"1,0,0 / 0,0,0 / 1 entity=first", first)
            playing.server.sendto(b"1,0,0 / 0,0,0 / 1 entity=copy", second)
            assert playing.client.recv(99)
            assert other.recv(99)

            def alone() -> bool:
                other.send(b"still here")  # the first is not
                return bool(json.loads(playing.ask("stats"))["clients"] == 1)

            wait_until(alone)
            playing.server.sendto(b"1,0,0 / 0,0,0 / 2 entity=second", second)
            assert other.recv(99)
        (before,), _ = recorded(playing, sent)
    assert [one.entity for one in before] == ["first", "second"]


@pytest.mark.parametrize("seed", range(3))
def test_garbage_is_passed_on_and_counted(tmp_path: Path, seed: int) -> None:
    generator = random.Random(seed)
    sent = tmp_path / "sent.csv"
    with game("--watch", f"sent={sent}", "--layout", LAYOUT) as playing:
        (place,) = joined(playing, playing.client)
        count = 300
        for number in range(count):
            data = bytearray(snapshot(number))
            for _ in range(generator.randrange(4)):
                data[generator.randrange(len(data))] = generator.randrange(256)
            playing.server.sendto(data[: generator.randrange(len(data) + 1)], place)
            playing.client.recv(99)
        _, said = recorded(playing)
    assert "refused" in said
    assert "Traceback" not in said


def test_no_tick_is_drawn_before_what_is_just_leaving_has_been_passed_on() -> None:
    received: list[Packet] = []

    class Taker(Consumer):
        def take_packets(self, block: PacketBlock) -> None:
            received.extend(block[index] for index in range(len(block)))

    now = 0.9
    with contextlib.closing(ReceivingSocket(resolve(Address(port=0)))) as place:
        links = LinkController(TwoWays())
        relay = Relay(ProxySpec(), place, resolve(Address(port=9)), links, lambda *_: Link())
        relay.now = lambda: now  # type: ignore[method-assign]
        watch = DirectionTap("up", IngestSpec(), [], [])
        drawn = ListenSpec(strategy=StrategySpec("lerp"))
        drawing = LaterDrawing(watch, drawn, relay.settled, [Taker()])
        left = watch.take(b"1,2,3 / 0,0,0 / 0", Address("::1", 9), now)
        assert left is not None

        def deliver(_: Flight, clock: Callable[[], float]) -> None:
            nonlocal now
            at, now = clock(), 5.0  # the screen's thread is given the processor for long
            drawing.step()
            assert not received
            assert drawing.drawn_up_to <= 1.0 - 0.9
            left(at)

        relay._queue.add(0.9, 0.9, 0, b"", deliver, None)
        now = 1.0
        relay._deliver()
        drawing.step()
    assert [one.arrival for one in received] == [pytest.approx(0.1)]
    assert drawing.drawn_up_to == pytest.approx(4.1)
