"""Code named in a data file runs only where the user has allowed it."""

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

REMEDY = b"a data file names code to run, which needs --trust, or trust = true in your own"

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
    """Return a folder with code in it, and the file that exists once the code has run."""
    monkeypatch.chdir(tmp_path)
    mark = tmp_path / "ran"
    Path("case").mkdir()
    for folder in (Path(), Path("case")):
        (folder / "evil.py").write_text(CODE.format(mark=str(mark)))
    return mark


def write(name: str) -> None:
    """Write data files that name the code, each in all ways that its format allows."""
    recording = os.fspath(SAMPLES / "turn.txt")
    Path("case/case.toml").write_text(f"recording = {recording!r}\nstrategy = {name!r}\n")
    shutil.copytree("case", "several")
    Path("several/case.toml").write_text(
        f"recording = {recording!r}\nstrategy = ['epic', '{name}+a=1']\n"
    )
    Path("good").mkdir()
    Path("good/case.toml").write_text(f"recording = {recording!r}\nstrategy = 'lerp'\n")
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
    ):
        config.write_text(own)
        done = epic(words[0], *more, *words[1:], env=environment(**changes))
        assert not is_refused(done)
        assert mark.exists(), (own, more)
        mark.unlink()


PROGRAM = "a data file asks for a program, which can run any code: that needs --trust"


@pytest.mark.parametrize("given", [("--init", "typed"), ()], ids=["init", "stdin"])
@pytest.mark.parametrize(
    ("line", "refusal"),
    [
        (":check --against 'touch ran' good", PROGRAM),
        (":check --trust --against 'touch ran' good", PROGRAM),
        (":check --trust case", REMEDY.decode()),
        (":play --trust -q --duration 1 game.script", REMEDY.decode()),
        (
            ":compare --cluster tcp://127.0.0.1:9",
            "a data file asks for a cluster, which can run any",
        ),
        (":save ../outside", "the folder of the file that asks for it"),
        (":golden ../outside", "the folder of the file that asks for it"),
        (":convert --to csv -o ../outside", "the folder of the file that asks for it"),
        (":tune -s lerp --journal ../outside", "the folder of the file that asks for it"),
    ],
)
def test_a_script_starts_nothing_and_writes_nothing_elsewhere(
    line: str, refusal: str, given: tuple[str, ...], mark: Path
) -> None:
    write("./evil.py:Mine")
    Path("typed").write_text(f"0,0,0 / 1,0,0 / 0\n1,0,0 / 1,0,0 / 1\n{line}\n")
    outside = mark.parent.parent / "outside"
    done = epic("session", *given, stdin=Path("typed").read_bytes())
    assert refusal in " ".join(done.stderr.decode().split())
    assert done.returncode == 1
    assert not mark.exists()
    assert not outside.exists()
    epic("session", "--trust", *given, stdin=Path("typed").read_bytes())
    assert mark.exists() or outside.exists() or "--cluster" in line or "--journal" in line
    if outside.is_dir():
        shutil.rmtree(outside)
    outside.unlink(missing_ok=True)


@pytest.mark.parametrize("kind", ["above", "absolute", "link", "new"])
def test_a_case_expects_its_rows_in_its_own_folder(kind: str, tmp_path: Path) -> None:
    precious = tmp_path / "precious.txt"
    precious.write_text("precious")
    recording = os.fspath(SAMPLES / "turn.txt")
    Path("case/link.tsv").symlink_to(precious)
    Path("case/mine.new").symlink_to(precious)
    names = {"above": "../precious.txt", "absolute": os.fspath(precious), "link": "link.tsv"}
    Path("case/mine.tsv").write_text("time\n")
    expected = names.get(kind, "mine.tsv")
    Path("case/case.toml").write_text(f"recording = {recording!r}\nexpected = {expected!r}\n")
    for more in ((), ("--accept",)):
        done = epic("check", *more, "case", env=environment(CI=""))
        assert done.returncode == 2
        assert b"the folder of the file that asks for it" in b" ".join(done.stdout.split())
        assert precious.read_text() == "precious"
        assert not (tmp_path / "precious.new").exists()
    epic("check", "--trust", "case", env=environment(CI=""))
    assert (
        precious.read_text() != "precious"
        or (tmp_path / "precious.new").exists()
        or (Path("case/link.new").exists())
    )


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("replay", "strategy = './evil.py:Mine'"),
        ("compare", "strategies = ['lerp', './evil.py:Mine']"),
        ("compare", "strategies = 'lerp,evil:Mine+a=1'"),
        ("check", "against = 'touch ran'"),
    ],
)
def test_a_configuration_runs_code_only_where_it_is_trusted(
    command: str, text: str, mark: Path, tmp_path: Path
) -> None:
    config = tmp_path / "config" / "epic" / "config.toml"
    config.parent.mkdir(parents=True)
    env = environment(XDG_CONFIG_HOME=os.fspath(tmp_path / "config"))
    words = ["--builtin"] if command == "check" else [os.fspath(SAMPLES / "turn.txt")]
    for own in (text, f"[{command}]\n{text}")[command == "compare" :]:
        config.write_text(own)
        done = epic(command, *words, env=env)
        assert done.returncode == 2
        assert b"it runs code: write trust = true beside it" in done.stderr
        assert not mark.exists()
        head, _, rest = own.rpartition("\n")
        config.write_text(f"{head}\ntrust = true\n{rest}\n")
        epic(command, *words, env=env)
        assert mark.exists()
        mark.unlink()


def test_a_variable_gives_no_trust(mark: Path) -> None:
    """A folder can set environment variables, too."""
    write(NAMES[0])
    assert is_refused(epic(*READS["check"], env=environment(EPIC_TRUST="1")))
    assert not mark.exists()


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
    """A file recorded with a user's own strategy replays with the strategy."""
    write(NAMES[0])
    done = epic("session", "-s", NAMES[0], "--init", "typed")
    assert not is_refused(done)
    assert mark.exists()
    done = epic("play", "-q", "--remote-strategy", NAMES[0], *READS["play"][2:])
    assert not is_refused(done)
