"""The traffic of a proxy on its screen: figures against sent packets, in both directions."""

from __future__ import annotations

import contextlib
import itertools
import math
import re
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path

from support.datagrams import program, receiver
from support.proxies import Game
from support.running import epic
from support.terminals import Terminal

from epic_cli.api.reading import read_packets


def packets(name: str) -> Callable[[float], bytes]:
    """Return a line of an entity in a circle."""
    return lambda now: (
        f"{4 * math.cos(now)},{4 * math.sin(now)},0 / {-4 * math.sin(now)},{4 * math.cos(now)},0"
        f" / {now} entity={name}"
    ).encode()


def test_both_directions_are_shown_recorded_and_changed(tmp_path: Path) -> None:
    with receiver() as server:
        terminal = Terminal(
            tmp_path,
            ("proxy", "--watch", "both,sent=sent.csv,received=received.csv", "--latency", "30ms",
             "0", server.port),
            columns=110, lines=40,
        )  # fmt: skip
        with terminal:
            terminal.wait_for(r"waiting for packets at 127\.0\.0\.1:\d+")
            found = re.search(r"127\.0\.0\.1:(\d+) > ", terminal.text)
            assert found
            going = threading.Event()

            def play() -> None:
                with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
                    client.connect(("127.0.0.1", int(found[1])))
                    server.socket.settimeout(0.001)
                    place, begin = None, time.monotonic()
                    while not going.wait(0.03):
                        now = time.monotonic() - begin
                        with contextlib.suppress(OSError):  # nothing comes, or the proxy has gone
                            client.send(packets("player")(now))
                            place = server.socket.recvfrom(999)[1]
                        if place:
                            server.socket.sendto(packets("tank")(now), place)

            playing = threading.Thread(target=play)
            playing.start()
            try:
                for keys, said in (
                    ("", r"shown: down.*tank.*in sent-up\.csv.*epic \(1/\d+\)  error [\d.]+"),
                    ("w", r"shown: up.*player"),
                    ("f", r"follows player.*error .* most.*lag .* most.*delay .* most \d"),
                    ("n", r"space blackout"),
                    ("\x1b[A", r"latency=0\.04"),
                    (" ", r"BLACKOUT"),
                    (" n", r"shown: up"),
                    ("/snap\r", r"snapshot \(\d+/\d+\)"),
                    ("?", r"move the map"),
                ):
                    terminal.send(keys)
                    terminal.wait_for(f"(?s){said}")
                terminal.send("?")
                terminal.resize(12, 50)
                terminal.wait_for(r"snapshot")
                terminal.resize(3, 20)
                terminal.wait_for(r"epic listen needs")
                terminal.resize(30, 90)
                terminal.wait_for(r"(?s)shown: up.*snapshot")
                terminal.send("q")
                assert terminal.status() == 0
            finally:
                going.set()
                playing.join()
    assert "Traceback" not in terminal.raw.decode()
    for way, name in (("up", "player"), ("down", "tank")):
        sent, received = (
            list(read_packets(tmp_path / f"{kind}-{way}.csv")) for kind in ("sent", "received")
        )
        assert {packet.entity for packet in sent} == {name}
        # some were on their way when it ended: more of them on a busy machine
        assert len(sent) - 100 - (way == "up") * 200 <= len(received) <= len(sent)
        assert all(
            (there.arrival or 0) - (here.arrival or 0) > 0.0299
            for here, there in itertools.islice(zip(sent, received, strict=False), 10)
        )


def test_the_screen_shows_where_the_proxy_is_controlled(tmp_path: Path) -> None:
    with receiver() as server:
        command = ("proxy", "--control", "0", "0", server.port)
        with Terminal(tmp_path, command, columns=110, lines=12) as terminal:
            shown = r"controlled at 127\.0\.0\.1:([1-9]\d+)"
            terminal.wait_for(shown)
            found = re.search(shown, terminal.text)
            assert found
            with socket.create_connection(("127.0.0.1", int(found[1]))) as control:
                control.sendall(b"set up.latency=40ms\n")
                terminal.wait_for(r"latency=0\.04")
            terminal.send("q")
            assert terminal.status() == 0


def test_rows_are_those_of_a_replay(tmp_path: Path) -> None:
    with receiver() as server:
        files = ("--watch", f"up,received={tmp_path}/received.csv", "-o", f"{tmp_path}/rows.csv")
        link = ("--latency", "20ms", "--jitter", "15ms")
        drawn = ("-s", "snapshot", "-f", "csv")
        with program("proxy", *link, *files, *drawn, "0", server.port) as proxy:
            playing = Game(proxy, server.socket)
            with playing.client:
                for number in range(60):
                    time.sleep(0.02)
                    playing.client.send(packets("a")(number / 50))
                playing.arrived(60)
            status, _, said = proxy.end()
    assert status == 130
    assert b"60 packets recorded" in said
    again = epic("replay", tmp_path / "received.csv", "-s", "snapshot", "-f", "csv").stdout
    rows = (tmp_path / "rows.csv").read_bytes()
    whole = rows[: rows.rfind(b"\n", 0, len(again)) + 1]
    assert len(whole.splitlines()) > 15
    assert again.startswith(whole)
