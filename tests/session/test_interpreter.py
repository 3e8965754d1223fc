"""Tests of a session's packets and commands, without a terminal."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.running import epic
from support.typed_session import TypedSession

from epic_cli.engine.parameters import Parameter
from epic_cli.engine.replay.playback import TIMING, Timing
from epic_cli.session.commands import COMMANDS

TURN = (
    "0,0,0 / 10,0,0 / 0",
    "1,0,0 / 10,0,0 / 0.1",
    "2,0,0 / 0,10,0 / 0.2",
    "2,1,0 / 0,10,0 / 0.3",
)


def replayed(path: Path, *options: str) -> str:
    done = epic("replay", *options, path)
    assert done.returncode == 0
    return done.stdout.decode()


def test_rows_come_once_and_in_order() -> None:
    typed = TypedSession()
    one_by_one = typed.type(*TURN)
    assert one_by_one == TypedSession().type("\n".join(TURN) + "\n")
    assert [line.split()[0] for line in one_by_one.splitlines()[1:4]] == ["0.050", "0.100", "0.150"]


def test_a_changed_setting_replays_and_says_what_changed(tmp_path: Path) -> None:
    typed = TypedSession()
    typed.type(*TURN)
    output = typed.type(":strategy epic+calc_ahead=0.1")
    lines = output.splitlines()
    packets = tmp_path / "packets"
    packets.write_text("\n".join(TURN) + "\n")
    expected = replayed(packets, "--format", "table", "-s", "epic+calc_ahead=0.1").splitlines()[1:]
    assert [line.split() for line in lines[1:-1]] == [line.split() for line in expected]
    before = replayed(packets, "--format", "table").splitlines()[-1].split()
    last, was = ",".join(lines[-2].split()[1:4]), ",".join(before[1:4])
    assert lines[-1] == (
        f"strategy epic -> epic+calc_ahead=0.1: 9 of 9 rows differ, the last is {last}, was {was}"
    )


@pytest.mark.parametrize(
    "command",
    [":strategy epic+calc_ahead=61", ":tick x", ":plot q", ":undo 0", ":save", ":load 'x", ":s"],
)
def test_what_is_wrong_with_a_command_is_said_before_it_is_run(command: str) -> None:
    wrong = TypedSession().check(command)
    assert wrong is not None
    assert wrong.message in TypedSession().type(command)


def test_a_wrong_word_has_the_cursor() -> None:
    wrong = TypedSession().check(":plot xy -s epic+calc_ahead=61")
    assert wrong is not None
    assert wrong.column == 1 + len(":plot xy -s ")


def test_a_command_may_be_shortened() -> None:
    typed = TypedSession()
    typed.type(TURN[0], ":un")
    assert not typed.session.lines
    typed.type(":q")
    assert typed.ended


def test_undo_takes_packets_back_and_redraws() -> None:
    typed = TypedSession()
    typed.type(*TURN)
    output = typed.type(":undo 2")
    assert output.endswith("took back 2 packets, 2 packets left\n")
    assert output.splitlines()[-2].split()[0] == "0.250"
    again = typed.type(*TURN[2:])
    whole = TypedSession().type(*TURN)
    assert again.splitlines() == whole.splitlines()[-len(again.splitlines()) :]
    assert typed.type(":undo 1").endswith("took back 1 packet, 3 packets left\n")
    assert typed.type(":undo 99").endswith("took back 3 packets, 0 packets left\n")


def test_save_is_what_was_typed_and_replays_the_same(tmp_path: Path) -> None:
    typed = TypedSession()
    odd = "  1.50 , 0x10,0 / 1e1,0,0 / 0.250  entity=t # said so"
    typed.type(*TURN, odd, f":save {tmp_path}/packets", f":replay -f csv -o {tmp_path}/rows.csv")
    assert (tmp_path / "packets").read_text() == "\n".join([*TURN, odd]) + "\n"
    rows = replayed(tmp_path / "packets", "--format", "csv")
    assert (tmp_path / "rows.csv").read_text() == rows


@pytest.mark.parametrize("setting", TIMING, ids=lambda one: one.name)
def test_a_timing_setting_is_written_as_it_is_read(setting: Parameter) -> None:
    typed = TypedSession()
    values = {"tick": (1, 60), "clock": "exact", "pacing": "arrival", "latency": 0.25}
    typed.type(f":{setting.name} {setting.write(values[setting.name])}")
    assert getattr(typed.session.view.timing, setting.name) == values[setting.name]
    typed.type(f":{setting.name} {setting.write(setting.default)}")
    assert typed.session.view.timing == Timing()


def test_a_strategy_of_somebodys_that_raises_does_not_end_the_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken_strategy.py").write_text(
        "class Broken:\n"
        "    def reset(self): pass\n"
        "    def update(self, packet, now): raise KeyError('lost')\n"
        "    def read(self, at): raise KeyError('lost')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    typed = TypedSession()
    output = typed.type(":strategy broken_strategy:Broken", TURN[0])
    assert "broken_strategy:Broken failed in update" in output
    assert "broken_strategy.py, line 3)" in output
    assert "KeyError: 'lost'" in typed.type(":rows")
    assert (
        typed.type(":strategy epic").splitlines()[-1].startswith("strategy broken_strategy:Broken")
    )
    assert typed.session.view.strategy.name == "epic"
    assert typed.type(TURN[1]).splitlines()[-1].split()[0] == "0.250"


@pytest.mark.parametrize("name", list(COMMANDS.commands))
def test_every_command_explains_itself(name: str) -> None:
    typed = TypedSession()
    output = typed.type(f":{name} --help")
    assert f" :{name} " in output.splitlines()[0]
    assert typed.type(f":help {name}") == output
    assert f":{name}" in typed.type(":help")


def test_a_view_that_can_no_longer_be_made_can_be_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gone_strategy.py").write_text(
        "from epic_cli import Sample\n"
        "class Gone:\n"
        "    def __init__(self):\n"
        "        if gone: raise TypeError('no more of me')\n"
        "    def reset(self): pass\n"
        "    def update(self, packet, now): return True\n"
        "    def read(self, at): return Sample(at, (1, 2, 3), (0, 0, 0), 'held')\n"
        "gone = False\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    typed = TypedSession()
    typed.type(*TURN[:2], ":strategy gone_strategy:Gone")
    monkeypatch.setattr("gone_strategy.gone", True)
    assert "no more of me" in typed.type(":rows")
    typed.type(":strategy epic")
    assert typed.session.view.strategy.name == "epic"


@pytest.mark.parametrize("command", [":tick -hh", ":tick --help", ":load -h x", ":compare -hx"])
def test_a_line_that_asks_for_help_is_looked_at_in_peace(command: str) -> None:
    assert TypedSession().check(command) is None


def test_a_nul_in_a_command_is_refused() -> None:
    typed = TypedSession()
    wrong = typed.check(":load a\0b")
    assert wrong is not None
    assert "NUL" in wrong.message
    assert "NUL" in typed.type(":load a\0b")
