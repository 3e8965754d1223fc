"""Code that a data file names: it runs only where the user has said so."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from support.places import SAMPLES
from support.running import environment, epic

from epic_cli.shell.command_line import load
from epic_cli.shell.commands import COMMANDS

#: What leaves a mark as soon as it is imported.
CODE = """
open({mark!r}, "w").close()
class Mine:
    def reset(self): pass
    def update(self, packet, now): return True
    def read(self, at): raise LookupError
"""

REMEDY = b"code that a data file names runs only with --trust, or trust = true in your own"

#: How each command that reads such a file is given it.
READS = {
    "check": ("check", "case"),
    "play": ("play", "-q", "--duration", "1", "game.script"),
    "session": ("session", "--init", "typed"),
}

#: How a file can name the code: by file, by module, with a setting, among others.
NAMES = ("./evil.py:Mine", "evil:Mine", "case/../evil.py:Mine")


@pytest.fixture(autouse=True)
def mark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with code in it; the file that is there once it has run."""
    monkeypatch.chdir(tmp_path)
    mark = tmp_path / "ran"
    Path("case").mkdir()
    for folder in (Path(), Path("case")):
        (folder / "evil.py").write_text(CODE.format(mark=str(mark)))
    return mark


def write(name: str) -> None:
    """Files of data that name the code, each in all ways that its format has."""
    recording = os.fspath(SAMPLES / "turn.txt")
    Path("case/case.toml").write_text(f"recording = {recording!r}\nstrategy = {name!r}\n")
    shutil.copytree("case", "several")
    Path("several/case.toml").write_text(
        f"recording = {recording!r}\nstrategy = ['epic', '{name}+a=1']\n"
    )
    Path("game.script").write_text(f"set remote_strategy={name}\n")
    Path("later.script").write_text(f"0.5 set remote_strategy={name}\n")
    Path("typed").write_text(
        f"0,0,0 / 1,0,0 / 0\n1,0,0 / 1,0,0 / 1\n:strategy {name}\n:compare -s epic,{name}\n"
        f":strategies {name}\n:plot x -s {name}\n:strategy epic\n"
    )


def is_refused(done: subprocess.CompletedProcess[bytes]) -> bool:
    return REMEDY in b" ".join((done.stdout + done.stderr).split())


def test_every_command_with_the_option_is_tested() -> None:
    having = {
        name for name in COMMANDS if any(param.name == "trust" for param in load(name).params)
    }
    assert having == set(READS)


@pytest.mark.parametrize("name", NAMES)
def test_code_of_a_data_file_does_not_run(name: str, mark: Path) -> None:
    write(name)
    runs = [
        *READS.values(),
        ("check", "several"),
        ("check", "--against", "cat", "case"),
        ("play", "-q", "later.script"),
        ("session",),
    ]
    for words in runs:
        done = epic(*words, stdin=Path("typed").read_bytes())
        assert done.returncode in (1, 2), words
        assert is_refused(done), words
        assert not mark.exists(), words


@pytest.mark.parametrize("words", READS.values(), ids=READS)
def test_it_runs_where_the_user_says_so(words: tuple[str, ...], mark: Path, tmp_path: Path) -> None:
    write(NAMES[0])
    config = tmp_path / "config" / "epic" / "config.toml"
    config.parent.mkdir(parents=True)
    for own, more, changes in (
        ("", ("--trust",), {}),
        ("trust = true", (), {"XDG_CONFIG_HOME": os.fspath(tmp_path / "config")}),
        ("", (), {"EPIC_TRUST": "1"}),
    ):
        config.write_text(own)
        done = epic(words[0], *more, *words[1:], env=environment(**changes))
        assert not is_refused(done)
        assert mark.exists(), (own, more)
        mark.unlink()


def test_a_configuration_may_say_so_for_one_command(mark: Path, tmp_path: Path) -> None:
    write(NAMES[0])
    config = tmp_path / "config" / "epic" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("[play]\ntrust = true\n")
    place = os.fspath(tmp_path / "config")
    assert is_refused(epic(*READS["check"], env=environment(XDG_CONFIG_HOME=place)))
    assert not mark.exists()
    epic(*READS["play"], env=environment(XDG_CONFIG_HOME=place))
    assert mark.exists()


def test_what_the_command_line_names_a_file_may_name_too(mark: Path) -> None:
    """So that what was recorded with a strategy of one's own is replayed with it."""
    write(NAMES[0])
    done = epic("session", "-s", NAMES[0], "--init", "typed")
    assert not is_refused(done)
    assert mark.exists()
    done = epic("play", "-q", "--remote-strategy", NAMES[0], *READS["play"][2:])
    assert not is_refused(done)
