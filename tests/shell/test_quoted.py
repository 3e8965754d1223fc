"""Quoted text in messages: nothing from a file, a name or a typed line can control a terminal."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

import click
import pytest
from support.places import SAMPLES
from support.running import environment, epic
from support.typed_session import TypedSession

from epic_cli.engine.refusals import PIECES, Reason, Refusal
from epic_cli.main import main
from epic_cli.recordings.wording import FrontEnd, word_refusal
from epic_cli.session.commands import COMMANDS as TYPED
from epic_cli.shell.command_line import load
from epic_cli.shell.commands import COMMANDS
from epic_cli.shell.errors import Style, style_message
from epic_cli.shell.refused_lines import write_three_lines

#: A color, a title (OSC), C1, what turns the direction of writing, a line that is not ours.
HOSTILE = "a\x1b[31mb\x1b]0;owned\x07c\x9b31md\u202ee\u2066f\rg\nowned: h\x7f"

#: The same for an argument, which has no NUL, and with one for what is read.
READ = HOSTILE + "\0i"

_STEERS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Change to a temporary folder, since some commands write files of these names."""
    monkeypatch.chdir(tmp_path)


def is_harmless(text: str) -> bool:
    return not _STEERS.search(text) and "\nowned:" not in f"\n{text}"


def said(*words: str, stdin: bytes = b"", changes: Mapping[str, str] = MappingProxyType({})) -> str:
    done = epic(*words, stdin=stdin, env=environment(COLUMNS="1000", **changes))
    return (done.stdout + done.stderr).decode("utf-8", "surrogateescape")


def refusals() -> Iterator[Refusal]:
    """Yield a refusal for each reason, with hostile text in all parts that come from a file."""
    for reason in Reason:
        fields = PIECES[:6] if reason is Reason.SEPARATOR_MISSING else (READ, "time")
        for field in fields:
            yield Refusal(1, 2, READ.encode(), 3, reason, field, 4.0, 5, (READ,) * 2, (READ,), READ)


@pytest.mark.parametrize("front_end", FrontEnd)
@pytest.mark.parametrize("color", [False, True])
def test_every_reason(front_end: FrontEnd, color: bool) -> None:
    for refusal in refusals():
        problem = word_refusal(refusal, front_end)
        for columns in (None, 40):
            text = style_message(write_three_lines(problem, READ, color, columns))
            own = re.sub(r"\x1b\[(0|1|31)m", "", text) if color else text
            assert is_harmless(own), refusal.reason


def test_styles_are_not_taken_from_what_is_quoted() -> None:
    assert style_message(f"{Style.RED}x{Style.END}\n") == "\x1b[31mx\x1b[0m\n"
    problem = word_refusal(
        next(refusals())._replace(text="".join(Style).encode()), FrontEnd.SESSION
    )
    assert "\x1b" not in style_message(write_three_lines(problem, "".join(Style)))


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_of_a_command(
    name: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Most commands refuse the value; some look for a file of that name."""
    monkeypatch.setenv("COLUMNS", "1000")
    flags = [
        param.opts[-1]
        for param in load(name).params
        if isinstance(param, click.Option) and not (param.is_flag or param.count)
    ]
    for flag in (*flags, "--no-such-option"):
        # a hostile argument behind it, so that nothing goes on for ever
        for words in (
            [flag, HOSTILE],
            [flag, f"a={HOSTILE}"],
            [f"{flag}={HOSTILE}", "--tick=0"],
        ):
            monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"1,2\n")))
            main([name, *words, HOSTILE])
            assert is_harmless("".join(capfd.readouterr())), words


def test_variables_and_the_configuration(tmp_path: Path) -> None:
    config = tmp_path / "epic" / "config.toml"
    config.parent.mkdir()
    quoted = '"' + "".join(f"\\u{ord(sign):04x}" for sign in HOSTILE) + '"'
    for line in (
        f"tick = {quoted}",
        f"{quoted} = 1",
        f"[replay]\nstrategy = {quoted}",
        f"[{quoted}]\na = 1",
        f"[profile.{quoted}]\na = 1",
        HOSTILE,
    ):
        config.write_text(f"{line}\n")
        text = said(
            "replay",
            os.fspath(SAMPLES / "turn.txt"),
            changes={"XDG_CONFIG_HOME": os.fspath(tmp_path)},
        )
        assert "epic: " in text
        assert is_harmless(text), line
    for variable in ("EPIC_TICK", "EPIC_SETTINGS", "EPIC_STRATEGY", "EPIC_COLUMNS"):
        assert is_harmless(said("replay", changes={variable: HOSTILE})), variable


def test_every_command_of_a_session() -> None:
    typed = TypedSession(size=(1000, 30))
    quoted = "'" + HOSTILE.replace("\n", " ") + "'"
    for name in [*TYPED.commands, "nosuch", quoted]:
        if name in ("quit", "listen", "help"):
            continue
        for words in (quoted, f"{quoted} {quoted}", f"a={quoted}", f"--{quoted}", f"1 {quoted}"):
            text = typed.type(f":{name} {words}")
            assert is_harmless(text), (name, words)
    for line in (f":{HOSTILE}", HOSTILE, f":help {quoted}", f":listen {quoted}", ":a 'b", READ):
        assert is_harmless(typed.type(*line.split("\n"))), line


def test_a_script_of_a_session() -> None:
    line = HOSTILE.replace("\n", " ")
    script = f":{line}\n:tick {line}\n:strategy '{line}'\n:load '{line}'\n{line}\n"
    assert is_harmless(said("session", stdin=script.encode()))


def test_names_in_files(tmp_path: Path) -> None:
    """Entities, columns, and the names of the files themselves."""
    cell = '"' + HOSTILE.replace("\n", " ") + '"'
    rows = [
        f"{k / 20},{k},{k * k % 7},0,{name}" for k in range(60) for name in (cell, f'{cell[:-1]}2"')
    ]
    Path("match.csv").write_text("\n".join(["time,x,y,z,entity", *rows, f"{cell},1", ""]))
    Path("columns.csv").write_text(f"{cell},{cell},x\n1,2,3\n")
    strange = Path(HOSTILE.replace("\n", " "))
    strange.write_text("1,2\n")
    (tmp_path / "case").mkdir()
    Path("case/case.toml").write_text("recording = '../match.csv'\nentity = 'x'\n")
    for words in (
        ("compare", "match.csv", "-s", "lerp,epic"),
        ("compare", "--by", "entity", "match.csv", "-s", "lerp"),
        ("compare", "match.csv", "--entity", "x", "-s", "lerp"),
        ("diagnose", "match.csv"),
        ("convert", "match.csv", "-o", "out.txt"),
        ("convert", "match.csv", "--entity", "x"),
        ("tune", "match.csv", "--trials", "2", "-s", "lerp"),
        ("replay", "columns.csv"),
        ("compare", "columns.csv"),
        ("replay", os.fspath(strange)),
        ("compare", os.fspath(strange)),
        ("diagnose", os.fspath(strange)),
        ("convert", os.fspath(strange), "-f", "csv"),
        ("tune", os.fspath(strange)),
        ("send", os.fspath(strange)),
        ("check", os.fspath(strange)),
        ("check", "case"),
        ("check", "--new", HOSTILE, os.fspath(SAMPLES / "turn.txt")),
        ("play", os.fspath(strange)),
        ("simulate", "--link", f"trace={os.fspath(strange)}"),
    ):
        text = said(*words)
        assert text, words
        assert is_harmless(text), words
