"""Completion offers the same words in every shell, and works in real shells."""

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
from epic_cli.engine.strategies import get_declaration, list_system_names


def test_everything_is_explained_in_one_line_with_commas_and_colons() -> None:
    asked = environment(_EPIC_COMPLETE="fish_complete")
    done = epic("replay", "--strategy", "", env=asked)
    found = [line.split("\t") for line in done.stdout.decode().splitlines()]
    declared = [*strategies(), *map(get_declaration, list_system_names())]
    assert found == [["plain", one.name, one.summary] for one in declared]
    assert any("," in meaning for _, _, meaning in found)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "powershell"])
def test_there_is_a_script_for_each_shell(shell: str) -> None:
    """Scripts hide their errors: nobody wants them in the line being typed."""
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
    ("epic --format=c", "epic --format=csv X"),
    ("epic replay --strategy=epic+start=o", "epic replay --strategy=epic+start=origin X"),
    ("epic replay here-is-on", "epic replay here-is-one.txt X"),
]


@pytest.fixture(params=[shell for shell in START if shutil.which(shell)])
def shell(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    """Start a shell on a terminal with ``epic`` on its path and its completion set up."""
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
    """Return the line after Tab and an X, as the shell itself prints it."""
    child, _ = shell
    child.send(f"{typed}\t")
    child.send("X'\x01echo '<\x05\r")
    child.expect(r"\n[^\n]*<(epic [^<>\r\n]*X)\r?\n")
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", child.match.group(1).decode())


def test_real_shells_complete(shell: Any) -> None:

    assert [(typed, completed(shell, typed)) for typed, _ in COMPLETED] == COMPLETED


def test_real_shells_explain(shell: Any) -> None:
    """The shells show whole sentences, with commas and colons, beside names.

    Bash shows only names.
    """
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
