"""``epic proxy``: its parts without a socket, then between real ones, and watched packets."""

from __future__ import annotations

import contextlib
import errno
import json
import math
import re
import resource
import signal
import socket
import struct
import time
from collections import Counter
from collections.abc import Callable
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
from support.datagrams import PATIENCE, free_port, has_ipv6, program, receiver, wait_until
from support.full_disks import files_of
from support.proxies import Game, ask, game, rows, send_slowly
from support.running import epic

from epic_cli.api.reading import read_packets
from epic_cli.engine.contract import Packet
from epic_cli.engine.packets import PacketBlock
from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.live.consumer import Consumer
from epic_cli.live.listener import LaterDrawing, ListenSpec
from epic_cli.live.proxy.run import (
    DelayQueue,
    DirectionTap,
    Flight,
    Flow,
    Relay,
    TrafficLog,
    is_own_address,
)
from epic_cli.live.proxy.spec import Direction, LinkController, ProxySpec
from epic_cli.live.receiving import ReceivingSocket
from epic_cli.main import main
from epic_cli.network.link import WAYS, Link, LinkConditions
from epic_cli.network.link_spec import LinkSpec, TwoWays, parse_word
from epic_cli.recordings.addresses import Address, resolve
from epic_cli.recordings.datagrams.ingest import IngestSpec


def own_addresses() -> list[str]:
    """Return the addresses of this machine's interfaces, as far as it knows them."""
    found = {"127.0.0.1", "127.0.0.7", "0.0.0.0"}
    with contextlib.suppress(OSError):
        found |= {str(row[4][0]) for row in socket.getaddrinfo(socket.gethostname(), None)}
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as trial:
        trial.connect(("203.0.113.1", 9))
        found.add(trial.getsockname()[0])
    return sorted(packet for packet in found if ip_address(packet.partition("%")[0]).version == 4)


@pytest.mark.parametrize("host", [*own_addresses(), "localhost", "::ffff:127.0.0.1"])
def test_a_socket_on_all_interfaces_is_reached_by_each_of_them(host: str) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listening:
        listening.bind(("0.0.0.0", 0))
        port = listening.getsockname()[1]
        try:
            target = resolve(Address(host, port))
        except OSError:
            pytest.skip("no such addresses here")
        assert is_own_address(listening, target) or target.place[0] == "::1"
        assert not is_own_address(listening, resolve(Address(host, port - 1)))


@pytest.mark.parametrize(
    ("at", "target", "itself"),
    [
        ("127.0.0.1", "0.0.0.0", True),
        ("127.0.0.1", "127.0.0.1", True),
        ("127.0.0.1", "127.0.0.7", False),
        ("0.0.0.0", "203.0.113.9", False),
    ],
)
def test_a_socket_of_one_interface(at: str, target: str, itself: bool) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listening:
        listening.bind((at, 0))
        port = listening.getsockname()[1]
        assert is_own_address(listening, resolve(Address(target, port))) is itself


@pytest.mark.parametrize(
    ("options", "proxies"),
    [((), 3), (("--latency", "5ms", "--loss", "5%", "--link", "duplicate=5%"), 2)],
)
def test_proxies_in_a_ring_end(options: tuple[str, ...], proxies: int) -> None:
    """The first proxy that detects the loop ends, and so breaks it."""
    with contextlib.ExitStack() as stack:
        ports = [str(free_port()) for _ in range(proxies)]
        running = [
            stack.enter_context(program("proxy", *options, port, ports[number - 1]))
            for number, port in enumerate(ports)
        ]
        for proxy in running:
            proxy.wait_for(b"relays datagrams to")
        client = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        for _ in range(20):
            client.sendto(b"state", ("127.0.0.1", int(ports[0])))
        wait_until(lambda: any(proxy.process.poll() is not None for proxy in running))
        ended = next(proxy for proxy in running if proxy.process.poll() is not None)
        assert ended.process.returncode == 2
        said = ended.wait_for(b"sends datagrams back to this proxy")
        assert b"back to this proxy" in said
        found = re.search(rb"(\d+) clients", said)
        assert found
        assert int(found[1]) < 1000


def test_many_players_who_begin_alike_are_no_circle() -> None:
    with game() as playing, contextlib.ExitStack() as stack:
        for _ in range(60):
            stack.enter_context(playing.another_client()).send(b"hello")
        arrived = playing.arrived(60)
        assert arrived.count(b"hello") == 60
        assert playing.proxy.process.poll() is None
        playing.proxy.end()


def flow(
    conditions: LinkConditions, waiting: DelayQueue, log: TrafficLog | None = None
) -> tuple[Flow, Direction, list[bytes]]:
    """Return a client's flow up, with its counts and the datagrams that it sent."""
    sent: list[bytes] = []

    def send(data: bytes) -> None:
        if data == b"too long":
            raise OSError(errno.EMSGSIZE, "Message too long")
        sent.append(data)

    direction = Direction("up", conditions)
    made = Flow(direction, Link(conditions), send, waiting, 28, "1,127.0.0.1:5", log)
    return made, direction, sent


def deliver(waiting: DelayQueue, until: float = 1e9) -> None:
    """Deliver the datagrams due by then, each 1.5 ms late."""
    while (due := waiting.due) is not None and due <= until:
        flight = waiting.pop()
        flight.deliver(flight, lambda due=due: due + 0.0015)  # type: ignore[misc]


def test_equal_times_keep_the_order_and_counts_are_of_what_was_sent() -> None:
    waiting = DelayQueue()
    made, direction, sent = flow(LinkConditions(latency=0.1), waiting)
    for data in (b"1", b"2", b"too long", b"3"):
        made.take(data, 5.0)
    made.take(b"a clock that was set back", 4.0)
    deliver(waiting)
    assert sent == [b"1", b"2", b"3", b"a clock that was set back"]
    assert (direction.sent, direction.arrived, direction.late, direction.waiting) == (5, 4, 4, 0)
    assert direction.unsent == {"Message too long": 1}
    assert direction.requested.delay(1) == pytest.approx(0.1)
    assert direction.delay(1) == pytest.approx(0.1015, abs=1e-3)
    assert made.flying == 0


def test_memory_has_an_end() -> None:
    waiting = DelayQueue(most=10_000)
    made, direction, sent = flow(LinkConditions(latency=60), waiting)
    for _ in range(100):
        made.take(b"x" * 1000, 1.0)
    assert direction.overflowed == direction.lost == 93
    deliver(waiting)
    assert len(sent) == 7
    made.take(b"x" * 1000, 2.0)
    assert direction.lost == 93


def test_what_has_left_is_in_the_log_and_what_could_not_is_not_said_to_have(tmp_path: Path) -> None:
    file, waiting = tmp_path / "log.csv", DelayQueue()
    log = TrafficLog(str(file), payload=True)
    conditions = LinkConditions(latency=0.1, reorder=0.5, loss=0.2, duplicate=0.3)
    made, _, sent = flow(conditions, waiting, log)
    came = [b"too long" if number % 5 == 0 else b"%d" % number for number in range(50)]
    for number, data in enumerate(came):
        made.take(data, number / 100)
        before = len(sent)
        deliver(waiting, number / 100)
        there = {bytes.fromhex(row["payload"]) for row in rows(file) if row["fate"] == "passed"}
        assert set(sent[before:]) <= there == set(sent)
    log.end(waiting.entries)
    found = {bytes.fromhex(row["payload"]): row for row in rows(file)}
    assert log.file.recorded == len(rows(file)) == 50
    assert set(found) == set(came)
    fates = Counter(row["fate"] for row in rows(file))
    assert set(fates) == {"passed", "lost", "unsent", "flying"}
    assert fates["passed"] == len(set(sent))
    assert all((row["fate"] == "passed") == (row["lost"] == "0") for row in rows(file))


def test_keys_change_one_direction_within_bounds() -> None:
    steering = LinkController(LinkSpec.from_description(LinkConditions(latency=0.015, loss=0.99)))
    steering.add("loss", 0.02, WAYS)
    steering.add("latency", -0.01, ["up"])
    steering.add("latency", -0.01, ["up"])
    up, down = (steering.directions[way].conditions for way in WAYS)
    assert (up.latency, up.loss, down.latency, down.loss) == (0, 1, 0.015, 1)
    steering.set([parse_word("gemodel=1%,30%")])
    steering.add("loss", 0.01, ["down"])
    assert steering.directions["down"].conditions.loss == 0.01
    steering.choose_next_preset(-1)
    steering.choose_next_preset(1)
    assert steering.preset == "broadband"
    steering.reset()
    assert steering.preset == ""
    assert {steering.directions[way].conditions.loss for way in WAYS} == {0.99}


def test_wrong_words_change_nothing() -> None:
    steering = LinkController(LinkSpec.from_description(LinkConditions(latency=0.015)))
    for words in ("latency=1 up.packet_size=7", "loss=1 loss=2%", "jitter=1 gemodel=9", "x=1"):
        with pytest.raises(ValueError, match=r"packet_size|twice|gemodel|no 'x'"):
            steering.set_words(words)
        assert steering.ways == TwoWays.from_conditions(LinkConditions(latency=0.015))
    with pytest.raises(ValueError, match="at 3 s: loss_correlation"):
        LinkSpec.parse('at="2s gemodel=1%,9%",at="3s loss_correlation=50%"')


LINK = LinkConditions(latency=0.03, jitter=0.02, loss=0.2, duplicate=0.1, reorder=0.1, corrupt=0.05)
OPTIONS = (
    "--latency", "30ms", "--jitter", "20ms", "--loss", "20%",
    "--link", "duplicate=10%,reorder=10%,corrupt=5%",
)  # fmt: skip


def test_each_datagram_has_the_fate_and_the_delay_that_simulate_gives_it(tmp_path: Path) -> None:
    """Check the link's decisions by seed, and that the sockets carried them out."""
    count, file = 300, tmp_path / "game.csv"
    link = Link(LINK, seed=7, purpose="up/1")
    expected = [link.send(float(number)) for number in range(count)]  # no packet meets another
    given = (*OPTIONS, "--seed", "7", "--record", f"{file},payload=on", "--control", "-")
    with game(*given) as playing:
        send_slowly(playing.client, count)
        arrived = [int(packet) for packet in playing.arrived(sum(map(len, expected)))]
        counts = json.loads(playing.ask("stats"))["up"]
        status, _, said = playing.proxy.end(signal.SIGTERM)
    assert status == -signal.SIGTERM
    overtaken = sum(one < max(arrived[:k], default=0) for k, one in enumerate(arrived))
    figures = {
        "datagrams": count,
        "bytes": sum(len(str(number)) for number in range(count)),
        "lost": expected.count(()),
        "dropped": 0,
        "corrupted": link.corrupted,
        "blackout": 0,
        "overflowed": 0,
        "duplicated": sum(len(one) == 2 for one in expected),
        "delivered": len(arrived),
        "delivered_bytes": sum(len(str(number)) for number in arrived),
        "reordered": overtaken,
        "waiting": 0,
        "unsent": {},
    }
    measured = {"late", "requested_ms", "achieved_ms", "lateness_ms"}
    assert {name: value for name, value in counts.items() if name not in measured} == figures
    assert overtaken > 10
    assert sorted(arrived) == [n for n, one in enumerate(expected) for _ in one]
    # by what was sent: what is read at once may have one time
    recorded = sorted(rows(file), key=lambda row: int(bytes.fromhex(row["payload"])))
    assert [row["lost"] == "1" for row in recorded] == [not row for row in expected]
    for number, (row, one) in enumerate(zip(recorded, expected, strict=True)):
        assert row["direction"] == "up"
        assert int(row["bytes"]) == len(str(number))
        assert (row["fate"] == "passed") == bool(one)
        if one:
            delay = one[0] - number
            assert float(row["requested_ms"]) == pytest.approx(1000 * delay, abs=1e-4)
            assert float(row["recv_time"]) - float(row["send_time"]) > delay - 2e-6
            assert bool(row["again"]) == (len(one) == 2)
    assert {row["fate"] for row in recorded} == {"passed", "lost", "corrupted"}
    left = [float(row["recv_time"]) for row in recorded if row["recv_time"]]
    assert left != sorted(left)
    words = said.decode()
    assert f"up, to the server: {count} sent, {expected.count(())} lost" in words
    assert f"{link.corrupted} corrupted" in words
    assert f"{len(arrived)} arrived, {overtaken} reordered" in words
    assert f"{count} datagrams recorded in" in words


def test_a_recording_is_a_recorded_network_in_both_directions(tmp_path: Path) -> None:
    file = tmp_path / "game.csv"
    words = ("--link", "up.latency=30ms,down.loss=1", "--record", f"{file},payload=on")
    with game(*words) as playing:
        playing.client.send(b"ping")
        data, proxy = playing.server.recvfrom(65536)
        playing.server.sendto(b"pong", proxy)
        playing.server.sendto(b"", proxy)
        wait_until(lambda: len(rows(file)) == 3)
        assert playing.proxy.end()[0] == 130
    up, down, empty = rows(file)
    assert data == b"ping"
    assert (up["direction"], up["payload"], up["fate"]) == ("up", b"ping".hex(), "passed")
    assert (down["direction"], down["payload"], down["fate"]) == ("down", b"pong".hex(), "lost")
    assert (empty["bytes"], empty["payload"]) == ("0", "")
    sending = ("simulate", "--send", "10hz", "--movement", "circle,duration=1", "--link")
    found = (epic(*sending, f"trace={file},trace_direction={way}").stderr for way in ("up", "down"))
    assert [said.partition(b" (")[0] for said in found] == [b"11 sent, 0 lost", b"11 sent, 11 lost"]
    over = game("--link", f"trace={file},up.latency=50ms", "--control", "-")
    with over as playing:
        begun = time.monotonic()
        playing.client.send(b"ping")
        _, proxy = playing.server.recvfrom(65536)
        assert time.monotonic() - begun > 0.08  # that of the recording, and what is added
        playing.server.sendto(b"pong", proxy)
        wait_until(lambda: json.loads(playing.ask("stats"))["down"]["lost"] == 1)
        assert b"1 sent, 1 lost (100.0%)" in playing.proxy.end()[2]


def test_whatever_is_in_them_datagrams_pass_as_they_are_in_both_directions() -> None:
    datagrams = [b"", b"\0\xff\n", bytes(range(256)) * 255, b"x" * 65507]
    with game("--latency", "1ms") as playing:
        for datagram in datagrams:
            playing.client.send(datagram)
            data, proxy = playing.server.recvfrom(65536)
            assert data == datagram
            playing.server.sendto(datagram, proxy)
            assert playing.client.recv(65536) == datagram


def test_a_rate_counts_the_bytes_of_each_datagram(tmp_path: Path) -> None:
    """A datagram of 972 + 28 bytes takes 1 s at 8 kbit/s; the next, half as long, 0.5 s more."""
    file = tmp_path / "rate.csv"
    with game("--link", "rate=8kbit,queue=1packets", "--record", file) as playing:
        for size in (972, 472, 10):
            playing.client.send(b"x" * size)
        assert len(playing.arrived(2)) == 2
        playing.proxy.end()
    found = sorted(rows(file), key=lambda row: float(row["send_time"]))
    assert [row["fate"] for row in found] == ["passed", "passed", "dropped"]
    assert float(found[0]["requested_ms"]) == pytest.approx(1000, abs=1e-3)
    since = float(found[1]["send_time"]) - float(found[0]["send_time"])
    assert float(found[1]["requested_ms"]) == pytest.approx(1500 - 1000 * since, abs=0.01)


def test_each_client_has_a_socket_of_his_own_until_he_is_idle() -> None:
    with game("--control", "-", listen="0,max_clients=20") as playing:
        clients = [playing.another_client() for _ in range(21)]
        for number, one in enumerate(clients[:20]):
            one.send(b"%d" % number)
        seen = set()
        for _ in range(20):
            data, proxy = playing.server.recvfrom(100)
            seen.add(proxy)
            playing.server.sendto(data, proxy)
        assert len(seen) == 20
        assert [client.recv(100) for client in clients[:20]] == [b"%d" % n for n in range(20)]
        clients[20].send(b"one too many")
        words = '"clients": 20, "clients_total": 20, "rejected": 1'
        wait_until(lambda: words in playing.ask("stats"))
        for client in clients:
            client.close()
    with game("--control", "-", listen="0,max_clients=1,idle=0.2") as playing:
        with playing.another_client() as first:
            first.send(b"first")
            assert playing.server.recv(100) == b"first"
        wait_until(lambda: '"clients": 0, "clients_total": 1' in playing.ask("stats"))
        playing.client.send(b"now there is room")
        assert playing.server.recv(100) == b"now there is room"


def test_nobody_at_the_target_is_told_and_no_end() -> None:
    port = free_port()
    with program("proxy", "--control", "-", "0", str(port)) as proxy:
        place = proxy.place
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
            client.sendto(b"hello", place)
            wait_until(lambda: '"refused_by_target": 1' in ask(proxy, "stats"))
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
                server.bind(("127.0.0.1", port))
                server.settimeout(PATIENCE)
                client.sendto(b"at last", place)
                while server.recv(100) != b"at last":
                    pass
        assert b"nothing listens there" in proxy.end()[2]


def test_an_address_of_ipv6() -> None:
    if not has_ipv6():
        pytest.skip("this machine has no IPv6")
    with receiver(socket.AF_INET6) as server:
        target = f"[::1]:{server.port}"
        with program("proxy", "[::1]:0", target) as proxy, receiver(socket.AF_INET6) as client:
            client.socket.sendto(b"six", ("::1", int(proxy.port)))
            data, back = server.socket.recvfrom(100)
            server.socket.sendto(data, back)
            assert client.one() == b"six"


def test_what_cannot_be_is_said(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    full = tmp_path / "full.csv"
    full.write_text("mine")
    port = str(free_port())
    with receiver() as used:
        for words, status, expected in (
            ((port, port), 2, "datagrams would loop"),
            ((f"0.0.0.0:{port}", port), 2, "datagrams would loop"),
            ((used.port, "9870"), 3, f"cannot listen on 127.0.0.1:{used.port}"),
            (("203.0.113.77:0", "9870"), 3, "cannot listen on 203.0.113.77:0"),
            (("0", "no.such.host.invalid:1"), 3, "cannot send to no.such.host.invalid:1"),
            (("--record", str(full), "0", "9870"), 3, f"cannot record in {full}: File exists"),
            (("--record", "/dev/full", "0", "9870"), 3, "cannot record in /dev/full: No space"),
            (("--control", "/no/such/folder", "0", "9870"), 3, "be controlled at /no/such/folder"),
        ):
            assert main(["proxy", *words]) == status, words
            said = capfd.readouterr()
            assert expected in " ".join(said.err.split()), said.err
            assert not said.out
    assert full.read_text() == "mine"


def test_no_socket_for_a_client_is_told_and_no_end() -> None:
    """Use up the files that the process may open."""
    with receiver() as server, program("proxy", "--control", "-", "0", server.port) as proxy:
        place = proxy.place
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
            ask(proxy, "show")  # it runs
            _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
            resource.prlimit(proxy.process.pid, resource.RLIMIT_NOFILE, (3, hard))
            client.sendto(b"one", place)
            wait_until(lambda: '"socket_errors": {"Too many open files": 1}' in ask(proxy, "stats"))
            resource.prlimit(proxy.process.pid, resource.RLIMIT_NOFILE, (500, hard))
            client.sendto(b"two", place)
            assert server.one() == b"two"
        assert b"no socket for a client, 1 time: Too many open files" in proxy.end()[2]


def test_what_a_proxy_records_is_whole_on_a_full_disk(tmp_path: Path) -> None:
    full = tmp_path / "full.csv"
    with files_of(3000), game("--record", full) as playing:
        number = 0
        while playing.proxy.process.poll() is None:
            with contextlib.suppress(ConnectionRefusedError):
                playing.client.send(b"%d" % number)
            number += 1
            time.sleep(0.001)
        assert playing.proxy.process.returncode == 3
        said = playing.proxy.wait_for(b"File too large\n").decode()
    assert f"epic: cannot record in {full}: File too large" in said
    assert full.read_bytes().endswith(b"\n")
    assert [int(row["bytes"]) for row in rows(full)] == [
        len(str(n)) for n in range(len(rows(full)))
    ]


LAYOUT = "time:f64 {id:u16 x:f32 y:f32 z:f32}[u8]"


def snapshot(number: int) -> bytes:
    """Return a server's datagram: two entities in circles, by ``LAYOUT``."""
    now = 100 + number / 60
    two = (
        struct.pack("<Hfff", entity, 9 * math.cos(now + entity), 0, 9 * math.sin(now + entity))
        for entity in (1, 2)
    )
    return struct.pack("<dB", now, 2) + b"".join(two)


def joined(playing: Game, *clients: socket.socket) -> list[Any]:
    """Let these clients say hello in order; return their addresses at the server."""
    places = []
    for client in clients:
        client.send(b"hello")
        places.append(playing.server.recvfrom(100)[1])
    return places


def read_recordings(playing: Game, *files: Path) -> tuple[list[list[Packet]], str]:
    """Return the recordings after the proxy's end, and its output."""
    status, _, said = playing.proxy.end()
    assert status == 130
    return [list(read_packets(file)) for file in files], said.decode()


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
        (before, behind), said = read_recordings(playing, sent, received)
    # each snapshot once although there are two clients, and what this client got, copy by copy
    assert [(packet.entity, round(60 * (packet.time - 100))) for packet in before] == [
        (entity, number) for number in range(150) for entity in "12"
    ]
    got = [chunk for chunk in got if chunk != b"\xff" * 7]
    assert [packet.time for packet in behind[::2]] == [
        struct.unpack_from("<d", chunk)[0] for chunk in got
    ]
    assert 200 < len(behind) < 360
    arrivals = {(packet.entity, packet.time): packet.arrival or 0.0 for packet in before}
    delays = [(packet.arrival or 0.0) - arrivals[packet.entity, packet.time] for packet in behind]
    assert min(delays) >= 0.0699
    assert sorted(delays)[len(delays) // 2] < 1.0
    assert "1 datagram refused" in said
    assert f"{len(before):,} packets recorded in {sent}" in said
    # the delay of the link is in the lag, since the truth has the server's own times
    done = epic("compare", "--truth", sent, "-s", "lerp", "-f", "json", received)
    assert done.returncode == 0, done.stderr
    assert 0.07 < json.loads(done.stdout)["lag"] < 1.0


def test_the_next_client_is_read_when_the_first_has_gone(tmp_path: Path) -> None:
    sent = tmp_path / "sent.txt"
    with game("--watch", f"sent={sent}", "--control", "-", listen="0,idle=0.5") as playing:
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
        (before,), _ = read_recordings(playing, sent)
    assert [packet.entity for packet in before] == ["first", "second"]


def test_no_tick_is_drawn_before_what_is_just_leaving_has_been_passed_on() -> None:
    received: list[Packet] = []

    class Taker(Consumer):
        def take_packets(self, block: PacketBlock) -> None:
            received.extend(block[index] for index in range(len(block)))

    now = 0.9
    with contextlib.closing(ReceivingSocket(resolve(Address(port=0)))) as place:
        links = LinkController(LinkSpec())
        relay = Relay(ProxySpec(), place, resolve(Address(port=9)), links, lambda *_: Link())
        relay.measure_time = lambda: now  # type: ignore[method-assign]
        watch = DirectionTap("up", IngestSpec(), [], [])
        drawn = ListenSpec(strategy=StrategySpec("lerp"))
        drawing = LaterDrawing(watch, drawn, relay.find_settled, [Taker()])
        left = watch.take(b"1,2,3 / 0,0,0 / 0", Address("::1", 9), now)
        assert left is not None

        def deliver(_: Flight, clock: Callable[[], float]) -> None:
            nonlocal now
            at, now = clock(), 5.0  # the screen's thread is given the processor for long
            drawing.step()
            assert not received
            assert drawing.drawn_up_to <= 1.0 - 0.9
            left(at)

        relay._queue.add(Flight(0.9, 0.9, 0, b"", deliver, None))
        now = 1.0
        relay._send_due_datagrams()
        drawing.step()
    assert [packet.arrival for packet in received] == [pytest.approx(0.1)]
    assert drawing.drawn_up_to == pytest.approx(4.1)
