"""``epic play`` on a real terminal (a pty): steer, switch, resize, leave, crash."""

from __future__ import annotations

import re
import signal
import sys
import termios
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.running import epic
from support.terminals import Terminal


def play(folder: Path, *words: str, **terminal: object) -> Terminal:
    return Terminal(folder, ("play", *words), columns=80, lines=24, **terminal)  # type: ignore[arg-type]


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    with play(tmp_path, "--record", "kept.script") as made:
        made.wait_for("q: quit")
        yield made


def is_left_as_found(terminal: Terminal) -> bool:
    """Return whether the alternate screen, the cursor and bracketed paste are restored."""
    pairs = ((b"\x1b[?1049h", b"\x1b[?1049l"), (b"\x1b[?25l", b"\x1b[?25h"),
             (b"\x1b[?2004h", b"\x1b[?2004l"))  # fmt: skip
    last = terminal.raw.rfind
    return all(last(begin) < last(ending) for begin, ending in pairs)


def test_play_steer_switch_and_quit(terminal: Terminal, tmp_path: Path) -> None:
    lines = terminal.text.splitlines()
    assert [title in lines[0] for title in ("A's screen", "server", "B's screen")] == [True] * 3
    standing = next(number for number, line in enumerate(lines) if "A→" in line[:26] and number)
    terminal.send("\x1b[A")
    terminal.wait_until(lambda: "A" not in terminal.text.splitlines()[standing][:26], "A runs up")
    for key, shown in (
        ("l", r"\[l\]atency 75 ms"),
        ("r", r"\[r\]eplay OFF"),
        ("w", r"re\[w\]ind OFF"),
        ("i", r"\[i\]: dead-reckoning"),
        (" ", r"A's shot (HITS|MISSES)"),
    ):
        terminal.send(key)
        terminal.wait_for(shown)
    terminal.send("q")
    assert terminal.status() == 0
    assert b"rtt estimate" in terminal.raw
    kept = (tmp_path / "kept.script").read_text()
    for said in ("A up\n", "set latency=0.075", "set local=predicted", "set rewind=off", "shoot"):
        assert said in kept
    assert epic("play", "-q", "kept.script", cwd=tmp_path).stdout.startswith(b"     time view")


def test_ctrl_c_leaves_the_terminal_as_it_was(terminal: Terminal, tmp_path: Path) -> None:
    assert termios.tcgetattr(terminal.child.child_fd)[3] & termios.ICANON == 0
    terminal.send("\x03")
    assert terminal.status() == 130
    assert is_left_as_found(terminal)
    assert b"Traceback" not in terminal.raw
    assert (tmp_path / "kept.script").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_in_the_same_way(terminal: Terminal, number: int) -> None:
    terminal.signal(number)
    assert terminal.status() == 130
    assert is_left_as_found(terminal)


def test_a_scenario_plays_with_its_captions_until_a_key_goes_on(tmp_path: Path) -> None:
    with play(tmp_path, "figure-8.5") as terminal:
        for key, shown in (
            ("", "figure-8.5: Dead reckoning, RTT 100 ms"),
            ("t", r"\[t\]ime 0.25 x"),
            ("?", "a b +their ghosts"),
            ("?", "as your screen draws"),
            ("x", "\u2500 A's screen"),
            ("", "At 1 s B will turn"),
            ("n", "move-replay: Client move prediction"),
            ("N", "figure-8.5: Dead reckoning"),
            ("NNNN", "figure-8.1: Packet round trip"),
        ):
            terminal.send(key)
            terminal.wait_for(shown)
        terminal.resize(20, 45)
        terminal.wait_for("b: B's screen")
        assert "server" in terminal.text
        terminal.send("b")
        terminal.wait_for("A's screen .* B's screen")
        terminal.send("?\x03")
        assert terminal.status() == 130
        assert is_left_as_found(terminal)


def test_unknown_keys_and_garbage_do_nothing(terminal: Terminal) -> None:
    terminal.send(b"zZ0\t\r\x1b[15~\xff\x00\x1b[<0;1;1M")
    terminal.pump(0.5)
    terminal.send("l")
    terminal.wait_for(r"\[l\]atency 75 ms")
    terminal.send("q")
    assert terminal.status() == 0
    assert b"Traceback" not in terminal.raw


@pytest.mark.parametrize("where", ["advance", "press"])
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
    with Terminal(tmp_path, command=[sys.executable, "-c", code]) as terminal:
        if where == "press":
            terminal.wait_for("q: quit")
            terminal.send("x")
        assert terminal.status() == 1
        assert is_left_as_found(terminal)
        assert terminal.raw.rfind(b"made to fail") > terminal.raw.rfind(b"\x1b[?1049l")


@pytest.mark.parametrize(("name", "colored"), [("NO_COLOR", False), ("FORCE_COLOR", True)])
def test_without_colour_none_is_written(tmp_path: Path, name: str, colored: bool) -> None:
    with play(tmp_path, environment={name: "1"}) as terminal:
        terminal.wait_for("q: quit")
        terminal.send("q")
        assert terminal.status() == 0
        found = re.search(rb"\x1b\[[0-9;]*(3[0-7]|9[0-7])[0-9;]*m", terminal.raw)
        assert bool(found) == colored


def test_a_dumb_terminal_has_rows_and_is_told_why(tmp_path: Path) -> None:
    with play(tmp_path, "--match", "step=0.1", environment={"TERM": "dumb"}) as terminal:
        assert terminal.status() == 0
        assert b"this terminal has no cursor" in terminal.raw
        assert terminal.raw.count(b"\n") > 300
