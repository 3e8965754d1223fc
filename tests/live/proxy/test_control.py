"""A running proxy controlled by scripts and keys."""

from __future__ import annotations

import asyncio
import json
import socket
import stat
from pathlib import Path

import pytest
from support.datagrams import PATIENCE, wait_until
from support.proxies import game
from support.running import epic
from support.terminals import Terminal

from epic_cli.live.proxy.spec import LinkController
from epic_cli.network.link_spec import LinkSpec

PERFECT = "ok up perfect; down perfect"


def test_commands_change_the_link_and_garbage_changes_nothing() -> None:
    with game("--latency", "5ms", "--control", "-", "--seed", "3") as playing:
        ask = playing.ask
        beginning = "ok up latency=0.005; down latency=0.005"
        for command, answer in (
            ("show", beginning),
            ("set loss=50% up.jitter=1ms", "ok up latency=0.005 jitter=0.001 loss=0.5;"),
            ("loss=0", "ok up latency=0.005 jitter=0.001; down latency=0.005"),
            ("set preset=web-cable", "rate=1000000.0 queue=1.0; down latency=0.014 rate=5000000.0"),
            ("set up.latency=5ms up.latency=6ms", "error: up.latency is set twice"),
            ("set loss=5% latency=100s", "error: latency=100s is not allowed"),
            ("set", "error: nothing to set"),
            ("set packet_size=8", "error: leave packet_size out: each of a proxy's"),
            ("blackout sideways", "error: 'sideways' is not a direction: up, down"),
            ("blackuot", "error: 'blackuot' is not a command: did you mean blackout?"),
            ("\x1b[2J\x07", r"error: '\x1b[2J\x07' is not a command: commands are set"),
            ("reset now", "error: this command takes no arguments, but got 'now'"),
            ("help", "ok set WORD=VALUE ..."),
            ("reset", beginning.replace("ok ", "ok")),
            ("clear", "ok"),
        ):
            said = ask(command)
            assert answer in said or said == "ok", (command, said)
            assert said.isprintable()
        assert ask("show") == PERFECT
        assert ask("blackout up") == "ok up blackout; down perfect"
        playing.client.send(b"lost")
        wait_until(lambda: json.loads(ask("stats"))["up"]["blackout"] == 1)
        assert ask("restore") == PERFECT
        playing.client.send(b"passes")
        data, proxy = playing.server.recvfrom(100)
        assert data == b"passes"
        playing.server.sendto(data, proxy)
        assert playing.client.recv(100) == b"passes"
        facts = json.loads(ask("stats"))
        assert (facts["up"]["lost"], facts["up"]["delivered"]) == (1, 1)
        assert facts["down"]["requested_ms"]["max"] == 0
        (client,) = json.loads(ask("clients"))["clients"]
        assert client["address"] == f"127.0.0.1:{playing.client.getsockname()[1]}"
        assert (client["up"], client["down"]) == (2, 1)
        assert ask("quit") == "ok"
        assert playing.proxy.process.wait(PATIENCE) == 0


@pytest.mark.parametrize("kind", ["path", "port"])
def test_a_control_socket_answers_each_line(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "proxy.socket"
    if kind == "path":
        with socket.socket(socket.AF_UNIX) as left_behind:
            left_behind.bind(str(path))
    with game("--control", path if kind == "path" else "0") as playing:
        if kind == "path":
            playing.proxy.wait_for(b"controlled at")
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
            speaker = socket.socket(socket.AF_UNIX)
            speaker.connect(str(path))
        else:
            said = playing.proxy.wait_for(b"epic: controlled at 127.0.0.1:")
            while not said.endswith(b"\n"):
                said = playing.proxy.wait_for(b"\n")
            port = int(said.partition(b"controlled at 127.0.0.1:")[2].split()[0])
            speaker = socket.create_connection(("127.0.0.1", port))
        with speaker, speaker.makefile("rwb") as lines:
            speaker.settimeout(PATIENCE)
            lines.write(b"set down.latency=7ms\n\xff\xfe\nshow\n")
            lines.flush()
            assert lines.readline() == b"ok up perfect; down latency=0.007\n"
            assert lines.readline().startswith(b"error: '\\\\xff\\\\xfe' is not a command")
            assert lines.readline() == b"ok up perfect; down latency=0.007\n"
            lines.write(b"POST / HTTP/1.1\nset loss=1\n")  # a page in a browser
            lines.flush()
            assert lines.readline().startswith(b"error: 'POST' is not a command")
            assert lines.readline() == b""
        playing.proxy.end()
    assert not path.exists()


def test_a_socket_in_use_stays_with_its_proxy(tmp_path: Path) -> None:
    path = tmp_path / "proxy.socket"
    with game("--control", path) as playing:
        playing.proxy.wait_for(b"controlled at")
        second = epic("proxy", "--control", str(path), "0", "9870")
        assert second.returncode == 3
        assert f"cannot be controlled at {path}: Address already in use".encode() in second.stderr
        with socket.socket(socket.AF_UNIX) as speaker:
            speaker.settimeout(PATIENCE)
            speaker.connect(str(path))
            speaker.sendall(b"show\n")
            assert speaker.recv(100).startswith(b"ok ")
        playing.proxy.end()
    assert not path.exists()


def test_what_is_no_socket_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "recording"
    path.write_text("mine")
    assert epic("proxy", "--control", str(path), "0", "9870").returncode == 3
    assert path.read_text() == "mine"


def test_a_command_without_an_end_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "proxy.socket"
    with game("--control", path) as playing, socket.socket(socket.AF_UNIX) as speaker:
        speaker.settimeout(PATIENCE)
        playing.proxy.wait_for(b"controlled at")
        speaker.connect(str(path))
        speaker.sendall(b"x" * 10_000)
        assert speaker.recv(1000) == b"error: a command has at most 4096 bytes\n"
        playing.proxy.end()


def test_each_change_waits_for_its_time_since_the_beginning(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock, losses = [100.0], []
    controller = LinkController(LinkSpec.parse('at="2s loss=1",at="5s loss=0"'))

    async def sleep(seconds: float) -> None:
        losses.append((clock[0] - 100, controller.directions["up"].conditions.loss))
        clock[0] += seconds

    async def play() -> None:
        begun = asyncio.Event()
        begun.set()
        monkeypatch.setattr(asyncio.get_running_loop(), "time", lambda: clock[0])
        monkeypatch.setattr(asyncio, "sleep", sleep)
        await controller.follow(begun)

    asyncio.run(play())
    assert [*losses, (clock[0] - 100, controller.directions["up"].conditions.loss)] == [
        (0.0, 0.0), (2.0, 1.0), (5.0, 0.0),
    ]  # fmt: skip


def test_keys_and_what_passes_on_a_terminal(tmp_path: Path) -> None:
    with Terminal(tmp_path, ("proxy", "--jitter", "10ms", "--latency", "40ms", "0", "9")) as shown:
        shown.wait_for("space blackout")
        shown.wait_for(r"up +0/s .*\n +latency=0.04 jitter=0.01")
        shown.send("u\x1b[A\x1b[C")  # up: the latency and the loss of what goes up
        shown.wait_for(r"up .*\n +latency=0.05 jitter=0.01 loss=0.01")
        shown.wait_for(r"down .*\n +latency=0.04 jitter=0.01")
        shown.send("d ")
        shown.wait_for(r"down .*\n +BLACKOUT, latency=0.04")
        shown.send("bp")
        shown.wait_for("preset broadband")
        shown.send("\x1ac")  # nobody could continue it here: it goes on
        shown.wait_for(r"up .*\n +perfect")
        shown.send("q")
        assert shown.status() == 0
        assert shown.raw.rfind(b"\x1b[?1049l") > shown.raw.rfind(b"space blackout")
        assert "0 clients" in "\n".join(shown.shown())
