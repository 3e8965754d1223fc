"""``epic play`` on a real terminal (a pty): steer, switch, resize, leave, crash."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pexpect
import pyte
import pytest
from support.terminals import end

PATIENCE = 120.0


class Terminal:
    """``epic play`` in a pty of 80 by 24, and everything that it has written."""

    def __init__(self, directory: Path, *arguments: str, code: str = "") -> None:
        command = ["-c", code] if code else ["-m", "epic_cli", "play", *arguments]
        environment = {**os.environ, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
        environment.pop("NO_COLOR", None)
        self.child = pexpect.spawn(
            sys.executable, command, dimensions=(24, 80), env=environment, cwd=str(directory)
        )
        self.child.delaybeforesend = None
        self.text = b""
        self._screen = pyte.Screen(80, 24)
        self._stream = pyte.ByteStream(self._screen)

    @property
    def shown(self) -> str:
        """What stands on the screen."""
        return "\n".join(self._screen.display)

    def read(self, seconds: float = 0.1) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                data: bytes = self.child.read_nonblocking(65536, timeout=0.05)  # type: ignore[assignment]
            except pexpect.TIMEOUT:
                continue
            except pexpect.EOF:
                return
            self.text += data
            self._stream.feed(data)

    def wait_for(self, pattern: str) -> None:
        """Reads until this stands on the screen."""
        end = time.monotonic() + PATIENCE
        while not re.search(pattern, self.shown):
            assert time.monotonic() < end, f"no {pattern}:\n{self.shown}"
            self.read(0.05)

    def press(self, keys: str) -> None:
        self.child.send(keys)

    def resize(self, columns: int, lines: int) -> None:
        self._screen.resize(lines, columns)
        self.child.setwinsize(lines, columns)

    def end(self) -> int | None:
        """Waits until it has ended; its exit status."""
        end = time.monotonic() + PATIENCE
        while self.child.isalive():
            assert time.monotonic() < end
            self.read(0.05)
        self.read(0.05)
        return self.child.exitstatus

    def assert_left_as_found(self) -> None:
        assert self.text.rfind(b"\x1b[?1049l") > self.text.rfind(b"\x1b[?1049h")
        assert self.text.rfind(b"\x1b[?25h") > self.text.rfind(b"\x1b[?25l")
        assert self.text.rfind(b"\x1b[?2004l") > self.text.rfind(b"\x1b[?2004h")


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    made = Terminal(tmp_path, "--record", "kept.script")
    made.wait_for("q: quit")
    yield made
    end(made.child)


def test_play_steer_switch_and_quit(terminal: Terminal, tmp_path: Path) -> None:
    lines = terminal.shown.splitlines()
    assert [title in lines[0] for title in ("A's screen", "server", "B's screen")] == [True] * 3
    standing = next(number for number, line in enumerate(lines) if "A→" in line[:26] and number)
    terminal.press("\x1b[A")
    end = time.monotonic() + PATIENCE
    while "A" in terminal.shown.splitlines()[standing][:26]:  # he runs up and away
        assert time.monotonic() < end
        terminal.read(0.05)
    for key, shown in (
        ("l", r"\[l\]atency 75 ms"),
        ("L", r"\[l\]atency 50 ms"),
        ("j", r"\[j\]itter 5 ms"),
        ("o", r"l\[o\]ss 1 %"),
        ("s", r"\[s\]end rate 30/s"),
        ("p", r"\[p\]rediction OFF"),
        ("p", r"\[p\]rediction on"),
        ("r", r"\[r\]eplay OFF"),
        ("r", r"\[r\]eplay on"),
        ("w", r"re\[w\]ind OFF"),
        ("m", r"s\[m\]oothing on"),
        ("i", r"\[i\]: dead-reckoning"),
        (" ", r"A's shot (HITS|MISSES)"),
    ):
        terminal.press(key)
        terminal.wait_for(shown)
    terminal.press("q")
    assert terminal.end() == 0
    assert b"rtt estimate" in terminal.text
    kept = (tmp_path / "kept.script").read_text()
    for said in ("A up\n", "set latency=0.075", "set local=predicted", "set rewind=off", "shoot"):
        assert said in kept
    again = subprocess.run(
        [sys.executable, "-m", "epic_cli", "play", "-q", "kept.script"],
        capture_output=True, check=True, cwd=tmp_path,
    )  # fmt: skip
    assert again.stdout.startswith(b"     time view")


def test_ctrl_c_leaves_the_terminal_as_it_was(terminal: Terminal, tmp_path: Path) -> None:
    playing = termios.tcgetattr(terminal.child.child_fd)
    assert playing[3] & termios.ICANON == 0
    terminal.press("\x03")
    assert terminal.end() == 130
    terminal.assert_left_as_found()
    assert b"Traceback" not in terminal.text
    assert (tmp_path / "kept.script").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_in_the_same_way(terminal: Terminal, number: int) -> None:
    assert terminal.child.pid
    os.kill(terminal.child.pid, number)
    assert terminal.end() == 130
    terminal.assert_left_as_found()


def test_it_follows_the_size_of_the_terminal(terminal: Terminal) -> None:
    terminal.resize(15, 10)
    terminal.wait_for("epic play needs")
    terminal.resize(40, 12)
    terminal.wait_for("q: quit")
    terminal.resize(150, 50)
    terminal.wait_for("\u2500{10} A's screen \u2500{10}")
    terminal.press("q")
    assert terminal.end() == 0


def test_a_scenario_plays_with_its_captions_until_a_key_goes_on(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, "figure-8.5")
    for key, shown in (
        ("", "figure-8.5: Dead reckoning, RTT 100 ms"),
        ("t", r"\[t\]ime 0.25 x"),
        ("?", "a b +their ghosts"),
        ("?", "as your own screen draws"),
        ("x", "\u2500 A's screen"),
        ("", "At 1 s B will turn"),
        ("n", "move-replay: Client move prediction"),
        ("N", "figure-8.5: Dead reckoning"),
        ("NNNN", "figure-8.1: Packet round trip"),
    ):
        terminal.press(key)
        terminal.wait_for(shown)
    terminal.resize(45, 20)
    terminal.wait_for("b: B's screen")
    assert "server" in terminal.shown
    terminal.press("b")
    terminal.wait_for("A's screen .* B's screen")
    terminal.press("?\x03")
    assert terminal.end() == 130
    terminal.assert_left_as_found()
    end(terminal.child)


def test_unknown_keys_and_garbage_do_nothing(terminal: Terminal) -> None:
    terminal.press("zZ0\t\r\x1b[15~\xff\x00\x1b[<0;1;1M")
    terminal.read(0.5)
    terminal.press("l")
    terminal.wait_for(r"\[l\]atency 75 ms")
    assert b"Traceback" not in terminal.text
    terminal.press("q")
    assert terminal.end() == 0


@pytest.mark.parametrize("where", ["advance", "lines", "press"])
def test_a_crash_leaves_the_terminal_as_it_was_and_is_told(tmp_path: Path, where: str) -> None:
    code = f"""
import epic_cli.play.screen as game
calls = []
kept = game.Game.{where}
def fail(self, *rest):
    calls.append(1)
    if len(calls) > 20 or {where!r} == "press":
        raise RuntimeError("made to fail")
    return kept(self, *rest)
game.Game.{where} = fail
from epic_cli.main import main
raise SystemExit(main(["play"]))
"""
    terminal = Terminal(tmp_path, code=code)
    if where == "press":
        terminal.wait_for("q: quit")
        terminal.child.send("x")
    assert terminal.end() == 1
    assert b"made to fail" in terminal.text
    terminal.assert_left_as_found()
    assert terminal.text.rfind(b"made to fail") > terminal.text.rfind(b"\x1b[?1049l")
    end(terminal.child)


def test_without_colour_none_is_written(tmp_path: Path) -> None:
    found = {}
    for name, value in (("NO_COLOR", "1"), ("FORCE_COLOR", "1")):
        code = (
            f"import os; os.environ.pop('NO_COLOR', None); os.environ[{name!r}] = {value!r}\n"
            "from epic_cli.main import main; raise SystemExit(main(['play']))"
        )
        terminal = Terminal(tmp_path, code=code)
        terminal.wait_for("q: quit")
        terminal.read(0.3)
        terminal.child.send("q")
        assert terminal.end() == 0
        found[name] = re.search(rb"\x1b\[[0-9;]*(3[0-7]|9[0-7])[0-9;]*m", terminal.text)
    assert found["NO_COLOR"] is None
    assert found["FORCE_COLOR"] is not None
