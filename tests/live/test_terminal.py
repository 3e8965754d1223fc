"""``epic listen`` on a real terminal (a pty), with a real sender on the loopback."""

from __future__ import annotations

import re
import signal
import socket
import sys
import termios
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.terminals import Terminal

from epic_cli.api.reading import read_packets

ALTERNATE = (b"\x1b[?1049h", b"\x1b[?1049l")


class Game:
    """A sender of two entities at 50 Hz to a port, until it is stopped."""

    def __init__(self, port: int) -> None:
        self.sent = 0
        self._port = port
        self._going = True
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Game:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        self._going = False
        self._thread.join()

    def _run(self) -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
            begin = time.monotonic()
            while self._going:
                now = time.monotonic() - begin
                text = "\n".join(
                    f"{place + now % 4},{place},0 / 1,0,0 / {now} entity={name} seq={self.sent}"
                    for place, name in enumerate(("tank", "jeep"))
                )
                udp.sendto(text.encode(), ("127.0.0.1", self._port))
                self.sent += 1
                time.sleep(0.02)


def listen(folder: Path, *options: str, **terminal: object) -> tuple[Terminal, int]:
    """Start the screen; return it and its port."""
    made = Terminal(folder, ("listen", "0", *options), **terminal)  # type: ignore[arg-type]
    made.wait_for(r"waiting for packets at 127\.0\.0\.1:\d+")
    found = re.search(r"127\.0\.0\.1:(\d+)", made.text)
    assert found
    return made, int(found[1])


def assert_left_as_found(terminal: Terminal) -> None:
    raw = terminal.raw
    assert raw.rfind(ALTERNATE[1]) > raw.rfind(ALTERNATE[0]) > -1
    assert raw.rfind(b"\x1b[?25h") > raw.rfind(b"\x1b[?25l")
    assert b"Traceback" not in raw


@pytest.fixture
def screen(tmp_path: Path) -> Iterator[tuple[Terminal, int]]:
    made, port = listen(tmp_path, "--record", "game.csv", columns=110)
    with made:
        yield made, port


def test_a_game_is_watched_switched_followed_and_recorded(
    screen: tuple[Terminal, int], tmp_path: Path
) -> None:
    terminal, port = screen
    with Game(port) as game:
        terminal.wait_for(r"\d\d+ packets/s .* loss 0\.0 % .*2 entities")
        terminal.wait_for(r"epic \(1/\d+\)  error [\d.]+ ")
        terminal.wait_for(r"tank +\d+ +0\.\d s")  # beside the map
        for keys, shown in (
            ("s", r"extrapolator \(2/"),
            ("/snap", r"strategy: snap_  snapshot"),
            ("\r", r"snapshot \(\d+/\d+\)  error"),
            ("m", r"\[interpolation_time 0\.3 s\*\]"),
            ("l", r"\[interpolation_time 0\.2 s\]"),
            ("\t", r"\[step 0\.033 s\]"),
            ("f", r"follows tank"),
            (" ", r"PAUSED"),
            ("\x1b[A+v", r"xz, "),
            (" ", r"held [^P]*$"),
            ("?", r"move the map"),
            ("?", r"packets/s"),
        ):
            terminal.send(keys)
            terminal.wait_for(shown)
        terminal.resize(10, 40)
        terminal.wait_for(r"^snapshot.*\n(?!.*silent)")
        terminal.resize(3, 20)
        terminal.wait_for(r"epic listen needs")
        terminal.resize(50, 160)
        terminal.wait_for(r"q: quit")
        game.stop()
        terminal.wait_for(rf"{2 * game.sent:,} recorded in game\.csv")
    terminal.send("q")
    assert terminal.status() == 0
    assert_left_as_found(terminal)
    assert f"{2 * game.sent:,} packets in {game.sent:,} datagrams, 2 entities" in terminal.text
    packets = list(read_packets(tmp_path / "game.csv"))
    assert [packet.sequence for packet in packets[::2]] == list(range(game.sent))


@pytest.mark.parametrize("way", ["Ctrl-C", "SIGTERM", "hang up"])
def test_however_it_ends_the_terminal_and_the_file_are_whole(
    screen: tuple[Terminal, int], tmp_path: Path, way: str
) -> None:
    terminal, port = screen
    with Game(port):
        terminal.wait_for(r"recorded in game\.csv")
        assert not termios.tcgetattr(terminal.child.child_fd)[3] & termios.ICANON
        if way == "hang up":
            assert terminal.hang_up() == -signal.SIGHUP
        else:
            if way == "Ctrl-C":
                terminal.send("\x03")
            else:
                terminal.signal(signal.SIGTERM)
            assert terminal.status() == (130 if way == "Ctrl-C" else -signal.SIGTERM)
            assert_left_as_found(terminal)
            assert "in game.csv" in terminal.text
    text = (tmp_path / "game.csv").read_text()
    assert text.endswith("\n")
    assert len(text.splitlines()) > 2
    assert len({line.count(",") for line in text.splitlines()}) == 1


def test_a_crash_is_told_once_the_terminal_is_restored(tmp_path: Path) -> None:
    code = (
        "from epic_cli.live.model import RunningGame\n"
        "def fail(*_): raise RuntimeError('made to fail')\n"
        "RunningGame.take_packets = fail\n"
        "from epic_cli.main import main; raise SystemExit(main(['listen', '0']))"
    )
    terminal, port = listen(tmp_path, command=[sys.executable, "-c", code])
    with terminal, Game(port):
        assert terminal.status() == 1
        assert terminal.raw.rfind(b"made to fail") > terminal.raw.rfind(ALTERNATE[1]) > 0


def test_without_color_and_utf8_plain_characters_do_and_rows_go_to_a_file_beside_it(
    tmp_path: Path,
) -> None:
    plain = {"NO_COLOR": "1", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    options = ("--show", "screen", "-o", "rows.csv", "-f", "csv")
    terminal, port = listen(tmp_path, *options, environment=plain)
    with terminal, Game(port):
        terminal.wait_for(r"epic \(1/\d+\)  error [\d.]+ ")
        terminal.wait_for(r"^\|.*O.*\|")
        assert terminal.text.isascii()
        terminal.send("q")
        assert terminal.status() == 0
    rows = (tmp_path / "rows.csv").read_text().splitlines()
    assert {row.rpartition(",")[2] for row in rows} == {"entity", "tank", "jeep"}
    assert not re.search(rb"\x1b\[[0-9;]*(3[0-7]|9[0-7])[0-9;]*m", terminal.raw)


def test_the_screen_ends_when_listening_does(tmp_path: Path) -> None:
    terminal, _ = listen(tmp_path, "--duration", "0.5")
    with terminal:
        assert terminal.status() == 0
        assert_left_as_found(terminal)
