"""Tests of the shell's commands in a session, against their output on the saved packets."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from support.recordings import few_of
from support.running import epic
from support.typed_session import TypedSession

from epic_cli.shell.commands import COMMANDS

STEADY = [f"{k},{k / 2},0 / 20,10,0 / {k / 20} arrival={k / 20 + 0.04}" for k in range(40)]
LEAP = [f"{k + 500},{k / 2},0 / 20,10,0 / {k / 20} arrival={k / 20 + 0.04}" for k in range(40, 60)]
SAMPLES = Path(__file__).parents[2] / "sample_inputs"


@pytest.mark.parametrize(
    "command",
    [
        "compare --format csv",
        "compare -s epic,snapshot+interpolation_time=0.2 --format csv --tick 50ms",
        "convert --to csv",
        "inspect --format json",
        "diagnose --format jsonl",
        "replay --format csv -s lerp",
    ],
)
def test_what_was_typed_has_the_rows_of_what_was_saved(command: str, tmp_path: Path) -> None:
    samples = ["two_tanks.csv", "jitter.txt", "turn.txt", "hop.jsonl"]
    samples = samples[len(command) % 4 :] + samples[: len(command) % 4]
    for name in few_of(samples, 1):
        typed, saved = TypedSession(), tmp_path / name.partition(".")[0]
        typed.type(f":load {SAMPLES / name}", f":save {saved}")
        said = typed.type(f":{command}")
        done = epic(*command.split(), stdin=saved.read_bytes())
        assert done.returncode in (0, 1, 2)
        rows = done.stdout.decode().replace("<stdin>", "<typed>")
        assert rows in said


def test_the_sessions_timing_and_strategy_are_the_defaults(tmp_path: Path) -> None:
    typed, saved = TypedSession(), tmp_path / "saved"
    typed.type(*STEADY, f":save {saved}", ":strategy snapshot+interpolation_time=0.2")
    typed.type(":tick 25hz")
    options = ["-s", "snapshot+interpolation_time=0.2", "--tick", "25hz", "-f", "csv"]
    assert typed.type(":replay -f csv") == epic("replay", *options, saved).stdout.decode()
    options = ["-s", "epic", "--tick", "25hz", "-f", "csv"]
    rows = epic("compare", *options, stdin=saved.read_bytes()).stdout.decode()
    assert rows.replace("<stdin>", "<typed>") in typed.type(":compare -s epic -f csv")


def test_a_table_in_a_pipe_has_the_rows_of_replay() -> None:
    file = SAMPLES / "two_tanks.csv"
    typed = epic("session", "--format", "table", stdin=f":load {file}\n:rows 3\n".encode())
    replayed = epic("replay", "--format", "table", file)
    assert typed.stdout.splitlines()[-3:] == replayed.stdout.splitlines()[-3:]


def test_what_was_typed_is_sent() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as game:
        game.bind(("127.0.0.1", 0))
        game.settimeout(10)
        TypedSession().type(*STEADY[:3], f":send -q {game.getsockname()[1]}")
        sent = [game.recv(999).split(b" seq=")[0].decode() for _ in range(3)]
    assert sent == ["0,0,0 / 20,10,0 / 0", "1,0.5,0 / 20,10,0 / 0.05", "2,1,0 / 20,10,0 / 0.1"]


def test_problems_are_told_in_the_sessions_way() -> None:
    typed = TypedSession()
    assert typed.type(":diagnose").startswith("<typed>: ")
    said = typed.type(*STEADY[:10], ":diagnose")
    assert "epic: " not in said
    assert "20 packets" in said
    assert "cannot read /nowhere" in typed.type(":compare --truth /nowhere")
    before = typed.screen.complaints
    typed.type(*STEADY[10:], ":compare -s epic --fail-if 'score(epic)<101'")
    assert typed.screen.complaints == before + 1
    assert "not marked" in typed.type(*LEAP, ":diagnose")


def test_an_option_that_shows_something_is_not_shown_while_it_is_typed(
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert TypedSession().check(":simulate --link list") is None
    assert capfd.readouterr().out == ""


def test_every_command_is_there_and_explains_itself() -> None:
    typed = TypedSession()
    said = typed.type(":help")
    for name in set(COMMANDS) - {"session"}:
        assert f":{name} " in said
        assert f":{name} " in typed.type(f":{name} --help").splitlines()[0]
