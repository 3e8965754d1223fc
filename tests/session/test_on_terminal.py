"""Tests of the session on a real terminal, for behavior that only a terminal shows."""

from __future__ import annotations

import re
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.recordings import EXHAUSTIVE
from support.running import epic
from support.terminals import Terminal
from wcwidth import wcswidth

FIRST = "0,0,0 / 10,0,0 / 0"
SECOND = "1,0,0 / 10,0,0 / 0.1"


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    with Terminal(tmp_path) as one:
        one.prompt()
        yield one


def replayed(packets: str, *options: str) -> list[str]:
    """Return the output of epic replay."""
    done = epic("replay", *options, stdin=packets.encode())
    assert done.returncode == 0
    return done.stdout.decode().splitlines()


def rows_of(terminal: Terminal) -> list[list[str]]:
    """Return the words of all table rows on the screen."""
    return [line.split() for line in terminal.everything() if "polated" in line or "held" in line]


def test_the_first_screen_says_what_to_type_and_two_keys_do_it(terminal: Terminal) -> None:
    terminal.wait_for("0 taken, 0 refused")  # the toolbar comes last
    lines = [line for line in terminal.everything() if line]
    assert lines[0].startswith("epic 0.")
    assert lines[1].endswith("such as 0,0,0 / 1,0,0 / 0 (right arrow: accept)")
    assert ":plot and :compare" in lines[2]
    assert lines[3] == "epic> 0,0,0 / 1,0,0 / 0"
    assert lines[4].strip().startswith("epic | single clock, demo pacing | tick 0.05 s | 0 taken")
    assert len(lines) == 5
    terminal.send("\x1b[C")
    terminal.pump(0.2)
    terminal.send("\r")
    terminal.wait_for("1 taken, 0 refused")


def test_control_c_stops_the_rows_of_a_packet_and_keeps_the_session(terminal: Terminal) -> None:
    terminal.send("1,2,3 / 4,5,6 / 900000\r")
    terminal.wait_for(r"asks for about 18,000,002 rows: draw them\? \(y/n\)")
    terminal.send("y")
    terminal.wait_for("extrapolate")
    terminal.send("\x03")
    terminal.wait_for(r"^stopped .* the clock continues from 900000\.\d+ s")
    terminal.prompt()
    terminal.send(":undo\r")
    terminal.wait_for(r"took back 1 packet")


def test_a_line_is_completed_marked_where_it_is_wrong_and_left_empty(terminal: Terminal) -> None:
    terminal.send(":com\t")
    terminal.wait_for(r"^epic> :compare")
    terminal.send("\x03")
    terminal.prompt()
    terminal.send("1,2,3 / 4,oops,6 / 7\r")
    terminal.wait_for(r"vy is not a number; expected x,y,z / vx,vy,vz / t")
    there = len("epic> 1,2,3 / 4,")
    terminal.wait_until(lambda: terminal.screen.cursor.x == there, "the cursor there")
    terminal.send("\x03")
    terminal.prompt()
    terminal.send("1,2\x04")  # Ctrl-D leaves on an empty line only
    terminal.wait_for(r"^epic> 1,2,z")
    terminal.send("\x15\x04")
    assert terminal.status() == 0


def test_a_game_has_the_terminal_until_it_is_left(terminal: Terminal) -> None:
    terminal.type(FIRST)
    terminal.send(":play figure-8.5\r")
    terminal.wait_for("figure-8.5: Dead reckoning")
    terminal.send("q")
    terminal.prompt()
    assert "rtt estimate" in terminal.text
    terminal.type(":rows 1")
    assert rows_of(terminal)[-1][0] == "0.150"


@pytest.mark.parametrize("bracketed", [True, False])
def test_pasting_many_packets(terminal: Terminal, bracketed: bool) -> None:
    # more than the kernel keeps for a terminal; they and their rows are slow on the tests' screen
    count = 5000 if EXHAUSTIVE else 400
    lines = "".join(f"{k},{k / 2},0 / 20,10,0 / {k * 0.05:.2f}\r" for k in range(count))
    terminal.send(f"\x1b[200~{lines}\x1b[201~" if bracketed else lines)
    terminal.wait_for(f"{count:,} taken, 0 refused")
    last = replayed(lines.replace("\r", "\n"), "--format", "table")[-1]
    assert rows_of(terminal)[-1] == last.split()


def test_the_toolbar_can_be_left_out(tmp_path: Path) -> None:
    with Terminal(tmp_path, ["--no-toolbar"]) as terminal:
        terminal.prompt()
        terminal.type(FIRST)
        terminal.wait_for("0.100")
        assert "demo pacing" not in terminal.text


def test_forty_columns(tmp_path: Path) -> None:
    with Terminal(tmp_path, columns=40, lines=20) as terminal:
        terminal.prompt()
        terminal.type(FIRST)
        terminal.wait_for(r"^   time        x        y        z stat$")
        terminal.wait_for(r"^  0\.150     1\.50     0\.00     0\.00 intp$")
        terminal.wait_for(r"^ epic \| 1 taken, 0 refused \| last 0 s$")
        assert max(map(len, terminal.everything())) <= 40


def test_the_header_comes_again_when_it_has_scrolled_away(terminal: Terminal) -> None:
    for k in range(12):
        terminal.type(f"{k},0,0 / 10,0,0 / {k / 10:g}")
    headers = [line for line in terminal.everything() if line.split()[:2] == ["time", "x"]]
    assert len(headers) == 2


@pytest.mark.parametrize("name", ["dumb", ""])
def test_a_dumb_terminal_gets_plain_lines(tmp_path: Path, name: str) -> None:
    with Terminal(tmp_path, environment={"TERM": name}) as terminal:
        terminal.wait_for("^epic>")
        terminal.send(f"{FIRST}\n1,x\n:strategy epic+calc_ahead=0.1\n:nonsense\n")
        # with the prompt behind it: Ctrl-C before that would interrupt the command
        terminal.wait_for(r"no command ':nonsense'.*(\n.+)*\nepic>$")
        assert "<typed>:1:3: y " in terminal.text
        assert "3 of 3 rows differ" in terminal.text
        terminal.send("1,2\x03")
        terminal.wait_for(r"\^C\nepic>")
        terminal.send("q\n" if name else "\x04")
        assert terminal.status() == 0
        assert b"\x1b" not in terminal.raw


def test_ctrl_c_drops_what_a_slow_terminal_has_not_shown(tmp_path: Path) -> None:
    with Terminal(tmp_path) as terminal:
        terminal.prompt()
        terminal.send("1,2,3 / 4,5,6 / 60000\r")
        terminal.wait_for(r"\(y/n\)")
        terminal.send("y")
        terminal.wait_for("extrapolate")
        time.sleep(0.3)  # nobody reads: the kernel's buffer fills, and the session has to wait
        before = len(terminal.raw)
        terminal.signal(signal.SIGINT)
        terminal.wait_for(r"^stopped (after|among)")
        assert len(terminal.raw) - before < 10_000
        terminal.prompt()
        terminal.type(":format")
        assert "format table" in terminal.text
    with Terminal(tmp_path, ["--resume"]) as terminal:
        terminal.wait_for(r"resumed: 1 packet, strategy epic")


STUCK = """
import sys, time
class Stuck:
    def reset(self): pass
    def update(self, packet, now): return True
    def read(self, at):
        if at > 1: print("stuck", file=sys.stderr, flush=True); time.sleep(600)
        from epic_cli import Sample
        return Sample(at, (0, 0, 0), (0, 0, 0), "held")
"""


def test_results_that_do_not_fit_are_paged_from_their_verdict_on(tmp_path: Path) -> None:
    pager = tmp_path / "pager"
    pager.write_text("#!/bin/sh\nsed 's/^/paged: /'\n")
    pager.chmod(0o755)
    (tmp_path / "stuck.py").write_text(STUCK)
    with Terminal(tmp_path, lines=20, environment={"PAGER": str(pager)}) as terminal:
        terminal.prompt()
        terminal.type(":help")
        assert "paged: :help NAME" in terminal.text
        terminal.type(":load jitter.txt")
        terminal.type(":compare --full")
        shown = "\n".join(terminal.everything()).partition(":compare --full")[2]
        pages = [line for line in shown.splitlines() if line.startswith("paged: ")]
        assert "scores highest" in "".join(pages[:3])
        assert len(pages) > 20
        terminal.type(":inspect --help")  # which fits
        assert "paged: Usage" not in "".join(terminal.everything())
        terminal.send(":replay -s ./stuck.py:Stuck\r")
        terminal.wait_for("^stuck")
        terminal.send("\x03")
        terminal.wait_for("^stopped|^interrupted")
        terminal.prompt()
        terminal.type(":reset")
        assert "removed 96 packets" in terminal.text
    dumb = {"PAGER": str(pager), "TERM": "dumb"}
    with Terminal(tmp_path, lines=20, environment=dumb) as terminal:
        terminal.wait_for("^epic>")
        terminal.send(":load jitter.txt\r:compare\rq\r")
        assert terminal.status() == 0
        assert "paged" not in "".join(terminal.everything())


@pytest.mark.parametrize("columns", [20, 80])
def test_no_table_is_wider_than_the_terminal(tmp_path: Path, columns: int) -> None:
    names = ("坦克坦克坦克坦克坦克坦克", "tank" * 20)
    options = ["--no-proposals", "--no-hints"]
    with Terminal(tmp_path, options, columns=columns, environment={"PAGER": "cat"}) as terminal:
        terminal.prompt()
        lines = "".join(
            f"{k},0,0 / 10,{k},-1e20 / {k / 10:g} entity={name}\r"
            for k in range(8)
            for name in names
        )
        terminal.send(f"\x1b[200~{lines}\x1b[201~")
        terminal.prompt()
        for command in (":rows", ":compare -s epic,lerp", ":strategies"):
            terminal.send(command)
            terminal.enter()
        text = terminal.raw.decode()
    text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text)
    rows = [line for line in text.split("\n") if "…" in line]
    assert len(rows) > 20
    assert max(map(wcswidth, (row.rstrip("\r") for row in rows))) <= columns


def test_no_color(tmp_path: Path) -> None:
    with Terminal(tmp_path, environment={"NO_COLOR": "1"}) as terminal:
        terminal.prompt()
        terminal.type(FIRST)
        terminal.send("1,x\r")
        terminal.wait_for("y is not a number")
        assert b"\x1b[32m" not in terminal.raw
        assert not any(f"\x1b[{code}m".encode() in terminal.raw for code in range(30, 38))


def test_only_sixteen_colours(terminal: Terminal) -> None:
    terminal.type(FIRST)
    terminal.type(":compare")
    assert b"\x1b[32m" in terminal.raw
    assert b"38;5" not in terminal.raw
    assert b"38;2" not in terminal.raw


def test_a_locale_that_is_not_utf8(tmp_path: Path) -> None:
    environment = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    environment |= {"PYTHONIOENCODING": "latin-1", "PAGER": "cat"}
    with Terminal(tmp_path, environment=environment) as terminal:
        terminal.prompt()
        terminal.send(b"\x1b[200~0,0,0 / 10,0,0 / 0 entity=\xc3\xa4\r\x1b[201~")
        terminal.wait_for("1 taken, 0 refused")
        terminal.send(":strategies epic\r")
        terminal.wait_for("calc_ahead")
        terminal.send("q\r")
        assert terminal.status() == 0


def test_rows_that_go_into_a_file_are_the_demos(tmp_path: Path) -> None:
    rows = tmp_path / "rows"
    command = ["/bin/sh", "-c", f'"{sys.executable}" -m epic_cli > rows']
    with Terminal(tmp_path, command=command) as terminal:
        terminal.wait_for("^epic>")
        terminal.send(f"{FIRST}\n:undo\n{FIRST}\nq\n")
        assert terminal.status() == 0
        assert "took back 1 packet" in terminal.text
    assert rows.read_text().splitlines()[-3:] == replayed(FIRST + "\n")


def test_resume_after_a_kill_has_all_packets_and_the_view(tmp_path: Path) -> None:
    with Terminal(tmp_path) as terminal:
        terminal.prompt()
        terminal.type(FIRST)
        terminal.type(SECOND)
        terminal.type(":strategy epic+calc_ahead=0.5")
        terminal.type("9,9,9 / 9,9,9 / 9")
        terminal.type(":undo")
        with Terminal(tmp_path, ["--resume"]) as other:
            other.wait_for("there is no session to resume")  # this one still runs
        terminal.send("2,0,0 / 10")
        terminal.wait_for(r"^epic> 2,0,0 / 10")
        terminal.kill()
    with Terminal(tmp_path, ["--resume"]) as terminal:
        terminal.prompt()
        assert "resumed: 2 packets, strategy epic" in terminal.text
        terminal.wait_for(r"epic\+calc_ahead=0\.5 .*2 taken")
        expected = replayed(
            f"{FIRST}\n{SECOND}\n", "--format", "table", "-s", "epic+calc_ahead=0.5"
        )
        assert rows_of(terminal) == [line.split() for line in expected[1:]]


def test_resume_after_the_terminal_was_closed(tmp_path: Path) -> None:
    with Terminal(tmp_path) as terminal:
        terminal.prompt()
        terminal.type(FIRST)
        terminal.signal(signal.SIGHUP)
        assert terminal.status() == -signal.SIGHUP
    with Terminal(tmp_path, ["--resume"]) as terminal:
        terminal.wait_for("resumed: 1 packet")


def test_history_is_there_in_the_next_session(tmp_path: Path) -> None:
    with Terminal(tmp_path) as terminal:
        terminal.prompt()
        terminal.type(FIRST)
        terminal.send("q\r")
        assert terminal.status() == 0
    with Terminal(tmp_path) as terminal:
        terminal.prompt()
        terminal.send("\x12/ 10,")
        terminal.wait_for(r"0,0,0 / 10,0,0 / 0$")
        terminal.send("\r")
        terminal.wait_for("0,0,0 / 10,0,0 / 0$")


def test_without_history_nothing_is_kept(tmp_path: Path) -> None:
    with Terminal(tmp_path, ["--no-history"]) as terminal:
        terminal.prompt()
        terminal.type(":strategy")
        terminal.send("q\r")
        assert terminal.status() == 0
    assert not (tmp_path / "epic" / "history").exists()


def test_f4_changes_to_vi_keys(terminal: Terminal) -> None:
    terminal.send("\x1bOS")
    terminal.pump(0.3)
    terminal.send("1,2,3")
    terminal.wait_for(r"^\(ins\)epic> 1,2,3")
    terminal.send("\x1b")
    terminal.wait_for(r"^\(cmd\)epic> 1,2,3")
    terminal.send("0x")
    terminal.wait_for(r"^\(cmd\)epic> ,2,3")
    terminal.send("\x1bOS")
    terminal.wait_for("^epic> ,2,3")


def test_an_init_file_of_packets_and_commands(tmp_path: Path) -> None:
    (tmp_path / "init").write_text(f":strategy epic+calc_ahead=0.3\n{FIRST}\n1,x\n{SECOND}\n")
    with Terminal(tmp_path, ["--init", "init"]) as terminal:
        terminal.prompt()
        assert "init:3:3: y " in terminal.text
        assert "init: 2 packets, strategy epic" in terminal.text


def test_an_init_file_that_is_not_there(tmp_path: Path) -> None:
    with Terminal(tmp_path, ["--init", "nowhere"]) as terminal:
        assert terminal.status() == 3
        assert "cannot read nowhere" in terminal.text


def test_the_terminal_is_left_as_it_was(tmp_path: Path) -> None:
    command = ["/bin/sh", "-c", f'stty -g; "{sys.executable}" -m epic_cli; stty -g']
    with Terminal(tmp_path, command=command) as terminal:
        terminal.prompt()
        terminal.send("q\r")
        assert terminal.status() == 0
        settings = [line for line in terminal.everything() if line.count(":") > 20]
        assert len(settings) == 2
        assert settings[0] == settings[1]
