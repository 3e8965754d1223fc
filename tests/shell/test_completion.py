"""What the Tab key offers: what shells are told, and what real shells make of it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pexpect
import pytest
from support.running import EPIC, environment, epic
from support.terminals import end

from epic_cli import strategies
from epic_cli.engine.text import FORMATS
from epic_cli.shell.commands import COMMANDS

NAMES = [strategy.name for strategy in strategies()]
SETTINGS = [
    f"{setting.name}=" for spec in strategies() for setting in spec.settings if spec.name == "epic"
]
BREAKS = " \t\n\"'><=;|&(:"


def lines(*words: str, shell: str = "fish", **variables: str) -> list[list[str]]:
    """Kind, word and meaning of each candidate for the last word."""
    done = epic(*words, env=environment(_EPIC_COMPLETE=f"{shell}_complete", **variables))
    assert (done.returncode, done.stderr) == (0, b"")
    return [line.split("\t") for line in done.stdout.decode().splitlines()]


def offered(*words: str) -> list[str]:
    return [word for kind, word, _ in lines(*words) if kind == "plain"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([""], list(COMMANDS)),
        (["rep"], ["replay"]),
        (["--v"], ["--version", "--video"]),
        (["--cloc"], ["--clock"]),
        (["--format=c"], ["--format=csv"]),
        (["replay", "--strategy", ""], NAMES),
        (["replay", "-s", "epi"], [name for name in NAMES if name.startswith("epi")]),
        (["replay", "--strategy=dumb-"], ["--strategy=dumb-terminal"]),
        (["strategies", ""], NAMES),
        (["play", "optimism-"], ["optimism-unwarranted"]),
        (["replay", "-s", "epic+"], [f"epic+{name}" for name in SETTINGS]),
        (["replay", "--strategy=epic+sl"], ["--strategy=epic+slop_time="]),
        (["replay", "-s", "epic+start="], ["epic+start=origin", "epic+start=packet"]),
        (["replay", "-s", "epic+slop_time=1+start=p"], ["epic+slop_time=1+start=packet"]),
        (["-s", "snapshot+clo"], ["snapshot+clock="]),
        (["replay", "--format", ""], list(FORMATS)),
        (["replay", "--format=c"], ["--format=csv"]),
        (["replay", "--clock", "e"], ["exact"]),
        (["replay", "--str"], ["--strategy", "--strict"]),
        (["compare", "-s", "epic,epic+calc"], ["epic,epic+calc_ahead="]),
        (["compare", "-s", "epic+start=o"], ["epic+start=origin"]),
        (["nonsense", "--x"], []),
    ],
    ids=" ".join,
)
def test_offers(words: list[str], expected: list[str]) -> None:
    assert offered(*words) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("epic replay -s epic+clo", []),
        ("epic replay -s snapshot+clo", ["snapshot+clock="]),
        ("epic replay -s epic+start=p", ["packet"]),
        ("epic replay -s epic+start=", ["origin", "packet"]),
        ("epic replay --format=c", ["csv"]),
        ("epic replay -s 'epic+start=p", ["epic+start=packet"]),
        ("epic replay --clock ", ["single", "exact", "auto"]),
    ],
)
def test_bash_gets_what_stands_behind_its_word_breaks(line: str, expected: list[str]) -> None:
    told = lines(shell="bash", COMP_LINE=line, COMP_WORDBREAKS=BREAKS)
    assert [word for _, word, _ in told] == expected


def test_bash_without_word_breaks_gets_whole_words() -> None:
    told = lines(shell="bash", COMP_LINE="epic -s epic+start=p", COMP_WORDBREAKS=" \t\n")
    assert [word for _, word, _ in told] == ["epic+start=packet"]


def test_files_are_left_to_the_shell() -> None:
    assert lines("replay", "--output", "fi") == [["file", "fi", ""]]
    assert lines("replay", "--output=fi") == [["file", "fi", ""]]


def test_everything_is_explained_in_one_line_with_commas_and_colons() -> None:
    meanings = {word: meaning for _, word, meaning in lines("replay", "--strategy", "")}
    assert meanings == {strategy.name: strategy.summary for strategy in strategies()}
    assert any("," in meaning for meaning in meanings.values())
    assert ["plain", "replay", COMMANDS["replay"].summary] in lines("")


def test_a_wrong_configuration_is_not_told_by_the_tab_key(tmp_path: Path) -> None:
    (tmp_path / "epic").mkdir()
    (tmp_path / "epic" / "config.toml").write_text("tock = 1\n")
    done = epic(
        "replay", "--clock", "e",
        env=environment(_EPIC_COMPLETE="fish_complete", XDG_CONFIG_HOME=str(tmp_path)),
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "powershell"])
def test_there_is_a_script_for_each_shell(shell: str) -> None:
    """Scripts keep what goes wrong to themselves: nobody wants it in the line being typed."""
    done = epic(env=environment(_EPIC_COMPLETE=f"{shell}_source"))
    assert f"{shell}_complete" in done.stdout.decode()
    assert b"2>" in done.stdout


# ----------------------------------------------------------------- real shells

START = {
    "bash": (["--norc", "--noprofile", "-i"], 'eval "$(_EPIC_COMPLETE=bash_source epic)"'),
    "zsh": (
        ["-f", "-i"],
        'autoload -U compinit; compinit -u -D; eval "$(_EPIC_COMPLETE=zsh_source epic)"',
    ),
    "fish": (["--no-config", "-i"], "_EPIC_COMPLETE=fish_source epic | source"),
}

#: What is typed before Tab, and what stands there then; X is at the cursor.
COMPLETED = [
    ("epic repl", "epic replay X"),
    ("epic replay -s snapshot+clo", "epic replay -s snapshot+clock=X"),
    ("epic replay -s epic+start=p", "epic replay -s epic+start=packet X"),
    ("epic replay --format=c", "epic replay --format=csv X"),
    ("epic --format=c", "epic --format=csv X"),
    ("epic replay --strategy=epic+start=o", "epic replay --strategy=epic+start=origin X"),
    ("epic replay --output=here-is-on", "epic replay --output=here-is-one.txt X"),
    ("epic replay here-is-on", "epic replay here-is-one.txt X"),
]


@pytest.fixture(params=[shell for shell in START if shutil.which(shell)])
def shell(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    """A shell on a terminal, in which ``epic`` is on the path and its completion is set up."""
    command = tmp_path / "epic"
    command.write_text(f'#!/bin/sh\nexec {" ".join(EPIC)} "$@"\n')
    command.chmod(0o755)
    (tmp_path / "here-is-one.txt").touch()
    name = request.param
    options, setting_up = START[name]
    variables = environment(
        TERM="dumb", HOME=str(tmp_path), PS1="$ ", XDG_DATA_HOME=str(tmp_path), COLUMNS="200"
    )
    variables["PATH"] = f"{tmp_path}:{variables['PATH']}"
    child = pexpect.spawn(
        name, options, env=variables, cwd=str(tmp_path), timeout=120, dimensions=(40, 200)
    )
    child.sendline(setting_up + "; echo se''t-up")
    child.expect("set-up")
    yield child, name
    end(child)


def completed(shell: Any, typed: str) -> str:
    """The line after Tab and an X, as the shell itself says it."""
    child, _ = shell
    child.send(f"{typed}\t")
    child.send("X'\x01echo '<\x05\r")
    child.expect(r"\n[^\n]*<(epic [^<>\r\n]*X)\r?\n")
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", child.match.group(1).decode())


def test_real_shells_complete(shell: Any) -> None:
    """Takes about three seconds for each shell: eight runs of epic."""
    assert [(typed, completed(shell, typed)) for typed, _ in COMPLETED] == COMPLETED


def test_real_shells_explain(shell: Any) -> None:
    """Whole sentences, with commas and colons; bash shows none."""
    child, name = shell
    if name == "bash":
        child.send("epic replay --c\t\t")
        child.expect(r"--clock [^\r]*--color")
        return
    summary = next(strategy.summary for strategy in strategies() if strategy.name == "geckos")
    assert {",", ":"} <= set(summary)
    # the pager of fish needs a better terminal than this one
    asked = "complete -C 'epic strategies g'\r" if name == "fish" else "epic strategies g\t\t"
    child.send(asked)
    child.expect_exact(summary)
