"""A command does not overwrite its inputs, and no two of its outputs are one file.

The options are those that the commands have: a new one is tried here without being named.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click
import pytest

from epic_cli.engine.description import Described
from epic_cli.engine.parameters import FileName
from epic_cli.engine.trust import apply_file_rule
from epic_cli.main import main
from epic_cli.network.link_spec import LinkSpec
from epic_cli.shell.command_line import load
from epic_cli.shell.commands import COMMANDS
from epic_cli.shell.declared import (
    STRATEGIES,
    STRATEGY,
    STRATEGY_NAME,
    InputFile,
    OutputFile,
    Parsed,
)

PACKETS = "".join(f"{t / 20},0,0 / 1,0,0 / {t / 20} arrival={t / 20 + 0.05}\n" for t in range(60))
#: What every file holds here: read as a strategy, too.
CODE = """
class Mine:
    def reset(self): ...
    def update(self, packet, now): ...
    def read(self, at): ...
"""
LINKS = ("same.py", "./same.py", "symbolic.py", "hard.py", "folder/../same.py")


#: How a description can name a file: alone, as code, and by each key that is a file's.
FORMS = ("{}", "{}:Mine", "truth={}", "trace={}", "./{}")


def options(command: str, *kinds: type) -> list[click.Parameter]:
    return [param for param in load(command).params if isinstance(param.type, kinds)]


def form_of(one: click.Parameter, names_files: str) -> str | None:
    """Return how an option's value names a file that it ``reads`` or ``writes``.

    None: it cannot.
    """
    if not isinstance(one.type, Parsed):
        return None
    for form in FORMS:
        text = form.format("same.py")
        with contextlib.suppress(click.BadParameter):
            value = one.type.convert(text, None, None)
            if any(Path(name) == Path("same.py") for name in getattr(one.type, names_files)(value)):
                return form
    return None


@cache
def reading(command: str) -> list[click.Parameter]:
    """Return the options that name a file to be read."""
    # strategies are looked up when they are parsed: that of a file is one kind of three
    known = (STRATEGY_NAME, STRATEGIES)
    params = load(command).params
    return options(command, InputFile) + [
        one
        for one in params
        if one.type in known or (one.type is not STRATEGY and form_of(one, "reads"))
    ]


@cache
def writing(command: str) -> list[click.Parameter]:
    """Return the options that name a file to be written."""
    return options(command, OutputFile) + [
        one for one in load(command).params if form_of(one, "writes")
    ]


def words(one: click.Parameter, path: str) -> list[str]:
    """Return the words that give this option this file."""
    if one.type in (STRATEGY_NAME, STRATEGIES):
        path += ":Mine"
    else:
        path = (form_of(one, "reads") or form_of(one, "writes") or "{}").format(path)
    return [path] if isinstance(one, click.Argument) else [one.opts[-1], path]


def others(command: str, *used: click.Parameter) -> list[str]:
    """Return values of the other arguments that the command requires."""
    rest = [param for param in load(command).params if isinstance(param, click.Argument)]
    return ["0" for argument in rest if argument not in used and argument.required]


PAIRS = [
    pytest.param(command, read, written, id=f"{command}-{read.name}-{written.name}")
    for command in COMMANDS
    for read in reading(command)
    for written in writing(command)
]
OUTPUTS = [
    pytest.param(command, written, id=f"{command}-{written.name}")
    for command in COMMANDS
    for written in writing(command)
]
TWO_OUTPUTS = [
    pytest.param(command, one, other, id=f"{command}-{one.name}-{other.name}")
    for command in COMMANDS
    for one, other in itertools.combinations(writing(command), 2)
]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("folder").mkdir()
    Path("same.py").write_text(CODE)
    Path("symbolic.py").symlink_to("same.py")
    Path("hard.py").hardlink_to("same.py")


@contextlib.contextmanager
def standard(number: int, path: str, how: int) -> Iterator[None]:
    """Open the file as standard input, output or error."""
    before, descriptor = os.dup(number), os.open(path, how)
    os.dup2(descriptor, number)
    try:
        yield
    finally:
        os.dup2(before, number)
        os.close(before)
        os.close(descriptor)


def untouched() -> bool:
    there = sorted(path.name for path in Path().iterdir() if path.name != "__pycache__")
    return Path("same.py").read_text() == CODE and there == [
        "folder", "hard.py", "same.py", "symbolic.py",
    ]  # fmt: skip


def test_no_path_of_a_command_goes_round_the_guard() -> None:
    assert len(PAIRS) > 30
    paths = [option.type for name in COMMANDS for option in options(name, click.Path)]
    assert all(isinstance(path, InputFile | OutputFile) for path in paths)


def test_each_description_with_a_file_in_it_is_declared() -> None:
    guarded = {
        one.type.kind
        for command in COMMANDS
        for one in [*reading(command), *writing(command)]
        if isinstance(one.type, Parsed)
    }
    for name in COMMANDS:
        load(name)
    having = {
        kind
        for kind in Described.__subclasses__()
        if any(isinstance(parameter, FileName) for parameter in kind.TABLE)
    }
    assert len(having) > 4
    assert having - guarded == {LinkSpec}  # --link is parsed with those beside it: a text
    assert str in guarded


@pytest.mark.parametrize(("command", "read", "written"), PAIRS)
def test_no_output_is_an_input(
    command: str,
    read: click.Parameter,
    written: click.Parameter,
    capfd: pytest.CaptureFixture[str],
) -> None:
    first = len(f"{command}{read.name}{written.name}") % len(LINKS)
    for number in range(2):
        link = LINKS[(first + number) % len(LINKS)]
        pair = [words(read, "same.py"), words(written, link)]
        given = [*pair[number % 2], *pair[1 - number % 2]]
        assert main([command, *given, *others(command, read)]) == 2
        assert (
            f"{written.opts[-1]} would overwrite same.py, which is read" in capfd.readouterr().err
        )
        assert untouched()


@pytest.mark.parametrize(("command", "written"), OUTPUTS)
def test_no_output_is_the_standard_input(
    command: str, written: click.Parameter, capfd: pytest.CaptureFixture[str]
) -> None:
    with standard(0, "same.py", os.O_RDONLY):
        assert main([command, *words(written, "hard.py"), *others(command)]) == 2
    assert f"{written.opts[-1]} would overwrite <stdin>, which is read" in capfd.readouterr().err
    assert untouched()


@pytest.mark.parametrize(("command", "written"), OUTPUTS)
def test_no_output_leaves_the_folder_of_an_untrusted_file(
    command: str, written: click.Parameter, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    outside = tmp_path / "outside"
    Path("folder/link").symlink_to("../outside")
    for path in (str(outside), "folder/link", "folder/../outside"):
        for trusts_within in (False, True):
            with apply_file_rule("folder/script", trust=False), apply_file_rule("x", trusts_within):
                assert main([command, *words(written, path), *others(command)]) == 3
            assert "the folder of the file that asks for it" in capfd.readouterr().err
            assert not outside.exists()


@pytest.mark.parametrize(("command", "read"), {pair.id: pair.values[:2] for pair in PAIRS}.values())
def test_no_input_is_the_standard_output(
    command: str, read: click.Parameter, capfd: pytest.CaptureFixture[str]
) -> None:
    with standard(1, "same.py", os.O_WRONLY | os.O_APPEND):
        status = main([command, *words(read, "symbolic.py"), *others(command, read)])
    assert status == 2
    error = capfd.readouterr().err
    assert "standard output would overwrite symbolic.py, which is read" in error
    assert untouched()


@pytest.mark.parametrize(("command", "one", "other"), TWO_OUTPUTS)
def test_no_two_outputs_are_one_file(
    command: str,
    one: click.Parameter,
    other: click.Parameter,
    capfd: pytest.CaptureFixture[str],
) -> None:
    for first, second in (("same.py", "hard.py"), ("new", "folder/../new")):
        given = [*words(one, first), *words(other, second)]
        assert main([command, *given, *others(command)]) == 2
        assert "would both write" in capfd.readouterr().err
        assert untouched()


@pytest.mark.parametrize("redirected", [("same.py", ""), ("-", "same.py"), ("", "same.py")])
def test_a_plain_replay_does_not_read_what_it_writes(redirected: tuple[str, str]) -> None:
    name, read = redirected
    with Path("same.py").open("ab") as out, Path(read or os.devnull).open("rb") as source:
        done = subprocess.run(
            [sys.executable, "-m", "epic_cli", "replay", *([name] if name else [])],
            check=False, stdin=source, stdout=out, stderr=subprocess.PIPE, text=True, timeout=600,
        )  # fmt: skip
    assert done.returncode == 2
    assert "standard output would overwrite" in done.stderr
    assert untouched()


@pytest.mark.parametrize("words", [("simulate", "-o"), ("listen", "0", "--duration", "1", "-o")])
def test_a_read_only_file_is_not_replaced(
    words: tuple[str, ...], capfd: pytest.CaptureFixture[str]
) -> None:
    Path("kept").write_text("kept")
    Path("kept").chmod(0o444)
    assert main([*words, "kept"]) == 3
    assert "cannot write to kept: it is read-only" in capfd.readouterr().err
    assert Path("kept").read_text() == "kept"


def test_a_numbered_recording_and_another_output_are_two_files(
    capfd: pytest.CaptureFixture[str],
) -> None:
    given = ["--record", "a.csv,rotate=1MB", "-f", "csv", "-o", "a-0001.csv", "--duration", "1"]
    assert main(["listen", *given, "0"]) == 3
    assert "would both write a-0001.csv" in capfd.readouterr().err


def test_what_a_session_has_loaded_its_commands_do_not_overwrite(
    capfd: pytest.CaptureFixture[str],
) -> None:
    Path("in.txt").write_text(PACKETS)
    Path("link.txt").symlink_to("in.txt")
    script = ":load in.txt\n:convert -o link.txt\n:compare --html in.txt\n:convert -o new.txt\n"
    Path("script").write_text(script)
    assert main(["session", "--init", "script"]) == 1
    error = capfd.readouterr().err
    assert "--output would overwrite in.txt, which is read" in error
    assert "--html would overwrite in.txt, which is read" in error
    assert Path("in.txt").read_text() == PACKETS
    assert Path("new.txt").is_file()


def test_devices_hold_nothing_that_could_be_lost() -> None:
    Path("d.csv").write_text(
        "time,x,y,z\n" + "".join(f"{t / 60},{t / 60},0,0\n" for t in range(180))
    )
    null = ["--svg", "/dev/null", "--html", "/dev/null"]
    assert main(["compare", "--movement", "truth=d.csv", "--seeds", "2", "-s", "lerp", *null]) == 0


# ---------------------------------------------------------------- files that no option names


@pytest.mark.parametrize(
    "words",
    [
        ("diagnose", "f", "--link-out", "f/b.txt"),
        ("compare", "f/c.txt", "f", "-s", "lerp", "--html", "f/b.txt"),
        ("tune", "f", "-s", "lerp", "--svg", "f/b.txt"),
        ("check", "case", "--junit", "case/case.toml"),
        ("check", "case", "--tap", "case/expected.tsv"),
        ("check", "case", "--html", "f/b.txt"),
        ("replay", "f/b.txt", "-o", "config/epic/config.toml"),
    ],
)
def test_files_in_folders_and_cases(
    words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    Path("f").mkdir()
    Path("f/b.txt").write_text(PACKETS)
    Path("f/c.txt").write_text(PACKETS)
    assert main(["check", "--new", "case", "f/b.txt"]) == 0
    Path("config/epic").mkdir(parents=True)
    Path("config/epic/config.toml").write_text('tick = "60hz"\n')
    monkeypatch.setenv("XDG_CONFIG_HOME", str(Path("config").absolute()))
    before = Path(words[-1]).read_bytes()
    capfd.readouterr()
    assert main(list(words)) == 2
    assert f"epic: {words[-2].replace('-o', '--output')[:6]}" in capfd.readouterr().err
    assert Path(words[-1]).read_bytes() == before


# ---------------------------------------------------------------- in place


@pytest.mark.parametrize("through", ["same.txt", "link.txt"])
def test_in_place_keeps_the_old_file(through: str, capfd: pytest.CaptureFixture[str]) -> None:
    Path("same.txt").write_text(PACKETS)
    Path("link.txt").symlink_to("same.txt")
    assert main(["convert", "--in-place", "--shift", "2s", through]) == 0
    backup = Path(f"{through}.bak")
    assert backup.read_text() == PACKETS
    assert Path("same.txt").read_text().startswith("0,0,0 / 1,0,0 / 2 arrival=2.05\n")
    assert Path("link.txt").is_symlink()
    converted = Path("same.txt").read_text()
    assert main(["convert", "--in-place", "--shift", "2s", through]) == 2
    assert f"{backup} is there already" in capfd.readouterr().err
    assert (Path("same.txt").read_text(), backup.read_text()) == (converted, PACKETS)


def test_in_place_goes_on_where_it_was_killed() -> None:
    Path("a.txt").write_text(PACKETS)
    Path("a.txt.bak").hardlink_to("a.txt")
    assert main(["convert", "--in-place", "--to", "csv", "a.txt"]) == 0
    assert Path("a.txt.bak").read_text() == PACKETS
    assert Path("a.txt").read_text().startswith("entity,time,")


@pytest.mark.parametrize("words", [("-",), (), ("same.py", "-o", "b.txt")])
def test_in_place_needs_a_file(words: tuple[str, ...]) -> None:
    assert main(["convert", "--in-place", "--to", "csv", *words]) == 2
    assert untouched()
