"""Tests of ``:listen``: packets of a real socket beside typed packets."""

from __future__ import annotations

import re
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.running import EPIC, environment, epic
from support.terminals import Terminal
from support.typed_session import TypedSession

from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.jobs.replay.spec import ReplaySpec
from epic_cli.session import journal as journals


@pytest.fixture
def game() -> Iterator[socket.socket]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as made:
        yield made


def port_in(text: str) -> int:
    found = re.search(r"127\.0\.0\.1:(\d+)", text)
    assert found, text
    return int(found[1])


@pytest.fixture
def typed() -> Iterator[TypedSession]:
    session = TypedSession(ReplaySpec(StrategySpec("snapshot")))
    session.confirm = lambda _: True  # somebody is there
    yield session
    session.end_listening()


def arrive(typed: TypedSession, game: socket.socket, port: int, *packets: str) -> None:
    """Send packets and wait until the session has them."""
    assert typed.listening
    count = len(typed.session.lines)
    for packet in packets:
        game.sendto(packet.encode(), ("127.0.0.1", port))
    until = time.monotonic() + 120
    while len(typed.session.lines) < count + len(packets):
        assert time.monotonic() < until
        typed.listening.catch_up()


def drawn(terminal: Terminal, row: str) -> None:
    """Wait for a row, even if others have scrolled it away since."""
    terminal.wait_until(lambda: re.search(row, "\n".join(terminal.everything()), re.M), row)


def test_a_typed_line_stays_while_rows_are_drawn_above_it(
    tmp_path: Path, game: socket.socket
) -> None:
    with Terminal(tmp_path, ("-s", "snapshot")) as terminal:
        terminal.prompt("snapshot")
        terminal.send(":listen 0\r")
        terminal.wait_for(r"listening on 127\.0\.0\.1:\d+; :pause")
        place = ("127.0.0.1", port_in(terminal.text))
        game.sendto(b"1,2,3 / 4,0,0 / 10 entity=tank", place)
        drawn(terminal, r"10\.000 .* tank")
        terminal.send("5,6,7 / 0,0")
        terminal.wait_for(r"^snapshot> 5,6,7 / 0,0,")
        for time_sent in (b"10.1", b"10.2"):
            game.sendto(b"1.4,2,3 / 4,0,0 / %s entity=tank" % time_sent, place)
            drawn(terminal, rf"1{time_sent.decode()[1:]}50 .* tank(.|\n)*^snapshot> 5,6,7 / 0,0,")
        game.sendto(b"nonsense", place)
        terminal.wait_for(r"1 packet refused: 1 not readable as packets")
        terminal.wait_for(r"1 not taken")
        terminal.send(",0 / 10 entity=me\r")
        drawn(terminal, r"5\.00 +6\.00 +7\.00 .* me")
        terminal.send(":pause\r")
        terminal.wait_for(r"PAUSED on .*; packets are kept")
        terminal.wait_for(r"^snapshot> x,y,z")
        game.sendto(b"3,2,3 / 4,0,0 / 10.9 entity=tank", place)
        terminal.wait_for(r"5 taken")
        before = terminal.text
        terminal.pump(0.3)
        assert terminal.text == before
        terminal.send(":save kept.txt\r")
        terminal.wait_for(r"kept\.txt: 5 packets")
        terminal.prompt("snapshot")  # before it Ctrl-C would end the command, not the listening
        terminal.send("\x03")  # on an empty line
        terminal.wait_for(r"listened on .*: 4 packets in 5 datagrams")
        terminal.send(":quit\r")
        assert terminal.status() == 0
        assert b"Traceback" not in terminal.raw
    (journal,) = (tmp_path / "epic" / "sessions").glob("*.epic")
    kept = journals.read(journal).decode().splitlines()
    lines = [line for line in kept if not line.startswith(":")]
    assert lines == (tmp_path / "kept.txt").read_text().splitlines()
    assert re.fullmatch(r"5,6,7 / 0,0,0 / 10 entity=me arrival=\d+\.\d{6}", lines[3])


def test_rows_are_those_of_a_replay_of_what_was_saved(
    typed: TypedSession, game: socket.socket, tmp_path: Path
) -> None:
    port = port_in(typed.type(":format csv", ":listen 0"))
    typed.output.truncate(0)
    for index in range(8):
        arrive(typed, game, port, f"{index},0,0 / 10,0,0 / {index / 10} entity=a",
               f'{{"time":{index / 10},"x":0,"y":{index},"z":0,"entity":"b"}}')  # fmt: skip
        time.sleep(0.02)
    drawn = typed.output.getvalue().replace(b"\0", b"").splitlines()
    (tmp_path / "kept").write_bytes(b"".join(typed.lines))
    replayed = epic("replay", tmp_path / "kept", "-s", "snapshot", "-f", "csv")
    rows = replayed.stdout.splitlines()
    assert len(drawn) > 5
    assert drawn == rows[: len(drawn)]
    assert b"entity=b" in typed.lines[-1]  # with a velocity, which JSON did not have
    # what waits is drawn, and everything is replayed by another strategy, as of any packets
    assert "16 packets" in typed.type(f":save {tmp_path / 'saved'}")
    assert "snapshot -> hermite" in typed.type(":strategy hermite")
    typed.type(":undo 1")
    assert len(typed.lines) == 15


def test_a_typed_packet_arrives_when_it_is_entered(
    typed: TypedSession, game: socket.socket
) -> None:
    port = port_in(typed.type(":listen 0"))
    assert "0,0 / 1" not in typed.type(":pause")
    arrive(typed, game, port, "1,2,3 / 0,0,0 / 7")
    assert typed.listening
    now = typed.listening.now
    typed.type("4,5,6 / 0,0,0 / 7 entity=me")
    typed.type(f"4,5,6 / 0,0,0 / 7 entity=me arrival={(now or 0) + 1:.3f}")
    typed.type("nonsense")
    assert typed.lines[1] == b"4,5,6 / 0,0,0 / 7 entity=me arrival=%.6f\n" % (now or 0)
    assert typed.lines[2].endswith(b"arrival=%.3f\n" % ((now or 0) + 1))
    assert typed.session.refused == 1


def test_what_cannot_be_is_said(typed: TypedSession) -> None:
    assert "off" in typed.type(":listen")
    assert "not listening" in typed.type(":pause")
    assert "not listening" in typed.type(":listen off")
    assert "not an address" in typed.type(":listen 999999")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        other.bind(("127.0.0.1", 0))
        said = typed.type(f":listen {other.getsockname()[1]}")
        assert re.search(r"127\.0\.0\.1:\d+: Address already", said)
    port = port_in(typed.type(":listen 0"))
    assert f"listening on 127.0.0.1:{port}" in typed.type(":listen")
    assert f"listened on 127.0.0.1:{port}" in typed.type(":listen 0")  # another one
    typed.type(":listen off", "1,2,3 / 4,5,6 / 0")
    assert "':reset' first" in typed.type(":listen 0")
    typed.type(":reset", ":pacing demo")
    assert "':pacing auto' first" in typed.type(":listen 0")
    assert [completion.text for completion in _completions(typed, ":listen ")] == ["off"]


def _completions(typed: TypedSession, text: str) -> list:  # type: ignore[type-arg]
    from prompt_toolkit.completion import CompleteEvent
    from prompt_toolkit.document import Document

    from epic_cli.session.prompt import LineCompleter

    return list(LineCompleter(typed).get_completions(Document(text), CompleteEvent()))


def test_many_rows_at_once_are_those_that_can_be_seen(
    typed: TypedSession, game: socket.socket
) -> None:
    port = port_in(typed.type(":listen 0"))
    arrive(typed, game, port, "1,2,3 / 0,0,0 / 7")
    typed.output.truncate(0)
    time.sleep(0.1)
    typed.session.view = typed.session.view._replace(
        timing=typed.session.view.timing._replace(tick=(1, 2000))
    )
    typed.session._stream = None
    typed.session._reached = 7.0
    assert typed.listening
    typed.listening.catch_up()
    said = typed.output.getvalue().decode().replace("\0", "")
    assert re.search(r"\.\.\. \d{3,4} rows before these", said)
    assert len(said.splitlines()) == 1 + typed.screen.room


def test_a_script_says_that_it_cannot() -> None:
    ran = subprocess.run(
        [*EPIC, "session"], input=b":listen 9870\n1,2,3 / 4,5,6 / 0\n", capture_output=True,
        env=environment(), check=False,
    )  # fmt: skip
    assert ran.returncode == 1
    assert b"'epic listen'" in ran.stderr
    assert ran.stdout.startswith(b"pos: ")
