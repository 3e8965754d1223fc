"""``epic proxy`` between real sockets: what comes out is what was asked for."""

from __future__ import annotations

import contextlib
import json
import math
import resource
import signal
import socket
import time
from pathlib import Path

import pytest
from support.datagrams import PATIENCE, free_port, has_ipv6, program, receiver, wait_until
from support.full_disks import files_of
from support.proxies import ask, game, rows, send_slowly
from support.running import epic

from epic_cli.main import main
from epic_cli.network import Link, LinkConditions

LINK = LinkConditions(latency=0.03, jitter=0.02, loss=0.2, duplicate=0.1, reorder=0.1, corrupt=0.05)
OPTIONS = (
    "--latency", "30ms", "--jitter", "20ms", "--loss", "20%",
    "--link", "duplicate=10%,reorder=10%,corrupt=5%",
)  # fmt: skip


def test_each_datagram_has_the_fate_and_the_delay_that_simulate_gives_it(tmp_path: Path) -> None:
    """The link's decisions by seed, and that the sockets did what it decided."""
    count, file = 300, tmp_path / "game.csv"
    link = Link(LINK, seed=7, purpose="up/1")
    expected = [link.send(float(number)) for number in range(count)]  # no packet meets another
    with game(*OPTIONS, "--seed", "7", "--record", file) as playing:
        send_slowly(playing.client, count)
        arrived = [int(one) for one in playing.arrived(sum(map(len, expected)))]
        status, _, said = playing.proxy.end(signal.SIGTERM)
    assert status == -signal.SIGTERM
    assert sorted(arrived) == [n for n, one in enumerate(expected) for _ in one]
    recorded = rows(file)
    assert [row["lost"] == "1" for row in recorded] == [not one for one in expected]
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
    assert f"up, to the server: {count} sent, {sum(not one for one in expected)} lost" in words
    assert f"{link.corrupted} corrupted" in words
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
        for one in datagrams:
            playing.client.send(one)
            data, proxy = playing.server.recvfrom(65536)
            assert data == one
            playing.server.sendto(one, proxy)
            assert playing.client.recv(65536) == one


def test_a_rate_counts_the_bytes_of_each_datagram(tmp_path: Path) -> None:
    """One of 972 bytes and 28 of headers at 8 kbit/s: 1 s, and half of it for the one behind."""
    file = tmp_path / "rate.csv"
    with game("--link", "rate=8kbit,queue=1packets", "--record", file) as playing:
        for size in (972, 472, 10):
            playing.client.send(b"x" * size)
        assert len(playing.arrived(2)) == 2
        playing.proxy.end()
    found = rows(file)
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
        assert [one.recv(100) for one in clients[:20]] == [b"%d" % n for n in range(20)]
        clients[20].send(b"one too many")
        words = '"clients": 20, "clients_total": 20, "rejected": 1'
        wait_until(lambda: words in playing.ask("stats"))
        for one in clients:
            one.close()
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
        said = proxy.wait_for(b"passes datagrams on to")
        place = ("127.0.0.1", int(said.partition(b"127.0.0.1:")[2].split()[0]))
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
        with program("proxy", "[::1]:0", target) as proxy:
            said = proxy.wait_for(b"passes datagrams on to")
            port = int(said.partition(b"[::1]:")[2].split()[0])
            with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as client:
                client.settimeout(PATIENCE)
                client.sendto(b"six", ("::1", port))
                data, back = server.socket.recvfrom(100)
                server.socket.sendto(data, back)
                assert client.recv(100) == b"six"


def test_what_cannot_be_is_said(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    full = tmp_path / "full.csv"
    full.write_text("mine")
    port = str(free_port())
    with receiver() as used:
        for words, status, expected in (
            ((port, port), 2, "datagrams would loop"),
            ((f"0.0.0.0:{port}", port), 2, "datagrams would loop"),
            (("9870",), 2, "Missing argument"),
            (("0", "0"), 2, "the target needs a port"),
            (("0", "70000"), 2, "'70000' is not an address"),
            ((used.port, "9870"), 3, f"cannot listen on 127.0.0.1:{used.port}"),
            (("203.0.113.77:0", "9870"), 3, "cannot listen on 203.0.113.77:0"),
            (("0", "no.such.host.invalid:1"), 3, "cannot send to no.such.host.invalid:1"),
            (("--record", str(full), "0", "9870"), 3, f"cannot record in {full}: File exists"),
            (("--record", "/dev/full", "0", "9870"), 3, "cannot record in /dev/full: No space"),
            (("--record", "payload=on", "0", "9870"), 2, "names no file"),
            (("--link", "rate=1mbit,up.packet_size=9", "0", "9870"), 2, "lengths of their own"),
            (("--link", 'at="3s up.los=9"', "0", "9870"), 2, "did you mean 'loss'?"),
            (("--control", "nowhere", "0", "9870"), 2, "'nowhere' is not a control address"),
            (("--control", "/no/such/folder", "0", "9870"), 3, "be controlled at /no/such/folder"),
        ):
            assert main(["proxy", *words]) == status, words
            said = capfd.readouterr()
            assert expected in " ".join(said.err.split()), said.err
            assert not said.out
    assert full.read_text() == "mine"


def test_send_over_a_proxy_to_listen(tmp_path: Path) -> None:
    """The packets that a player gets are those that the link of this seed lets through."""
    file = tmp_path / "heard.jsonl"
    with program("listen", "-f", "csv", "--record", str(file), "0") as listener:
        said = listener.wait_for(b"listening on 127.0.0.1:")
        target = said.rpartition(b":")[2].strip().decode()
        words = ("--loss", "20%", "--link", "duplicate=10%", "--latency", "20ms", "--seed", "5")
        with program("proxy", *words, "--control", "-", "0", target) as proxy:
            said = proxy.wait_for(b"passes datagrams on to")
            port = said.partition(b"127.0.0.1:")[2].split()[0].decode()
            sending = ("--movement", "circle,turning=spin,duration=0.4", "--send", "500hz")
            assert epic("send", *sending, "-f", "jsonl", port).returncode == 0
            link = Link(LinkConditions(loss=0.2, duplicate=0.1), seed=5, purpose="up/1")
            expected = [number for number in range(201) for _ in link.send(float(number))]
            wait_until(lambda: f'"delivered": {len(expected)}' in ask(proxy, "stats"))
            wait_until(lambda: file.read_bytes().count(b"\n") == len(expected))
    received = [json.loads(line) for line in file.read_text().splitlines()]
    assert [one["seq"] for one in received] == expected
    for one in received:
        assert one["qw"] == pytest.approx(math.cos(math.pi * one["time"] / 2), abs=1e-6)


def test_no_socket_for_a_client_is_told_and_no_end() -> None:
    """The files that the process may open are at their end."""
    with receiver() as server, program("proxy", "--control", "-", "0", server.port) as proxy:
        said = proxy.wait_for(b"passes datagrams on to")
        place = ("127.0.0.1", int(said.partition(b"127.0.0.1:")[2].split()[0]))
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


def test_what_a_proxy_records_is_whole_on_a_full_disk_and_after_kill_9(tmp_path: Path) -> None:
    full, killed = tmp_path / "full.csv", tmp_path / "killed.csv"
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
    with game("--record", killed) as playing:
        send_slowly(playing.client, 200)
        wait_until(lambda: killed.read_bytes().count(b"\n") > 100)
        playing.proxy.process.kill()
        playing.proxy.process.wait()
    assert killed.read_bytes().endswith(b"\n")
    assert {row["fate"] for row in rows(killed)} == {"passed"}
