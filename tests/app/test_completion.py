"""What the Tab key offers, through the variables that click's shell scripts set."""

from pathlib import Path

import pytest
from support.running import EPIC, environment, epic, shell

from epic_cli import strategies
from epic_cli.app.group import COMMANDS
from epic_cli.engine.text.rows import FORMATS

NAMES = [one.name for one in strategies()]
SETTINGS = [
    f"{setting.name}=" for one in strategies() for setting in one.settings if one.name == "epic"
]


def offered(*words: str) -> list[str]:
    """What can stand in the last word's place."""
    env = environment(
        _EPIC_COMPLETE="bash_complete", COMP_WORDS=" ".join(words), COMP_CWORD=str(len(words) - 1)
    )
    done = epic(env=env)
    assert done.stderr == b""
    return [line.partition(",")[2] for line in done.stdout.decode().splitlines()]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["epic", ""], list(COMMANDS)),
        (["epic", "rep"], ["replay"]),
        (["epic", "--v"], ["--version"]),
        (["epic", "replay", "--strategy", ""], NAMES),
        (["epic", "replay", "-s", "epi"], [name for name in NAMES if name.startswith("epi")]),
        (["epic", "strategies", ""], NAMES),
        (["epic", "replay", "--set", ""], SETTINGS),
        (["epic", "replay", "--set", "sl"], ["slop_time="]),
        (["epic", "replay", "--set", "start="], ["start=origin", "start=packet"]),
        (["epic", "replay", "--set", "start=p"], ["start=packet"]),
        (["epic", "replay", "--strategy", "epic", "--set", "calc"], ["calc_ahead="]),
        (["epic", "--set", "calc"], ["calc_ahead="]),
        (["epic", "replay", "--format", ""], list(FORMATS)),
        (["epic", "replay", "--clock", "e"], ["exact"]),
        (["epic", "replay", "--str"], ["--strategy", "--strict"]),
    ],
    ids=lambda value: " ".join(value) if "epic" in value[:1] else "",
)
def test_offers(words: list[str], expected: list[str]) -> None:
    assert offered(*words) == expected


def test_strategies_are_explained() -> None:
    env = environment(
        _EPIC_COMPLETE="zsh_complete", COMP_WORDS="epic replay --strategy epic", COMP_CWORD="3"
    )
    assert strategies()[0].summary in epic(env=env).stdout.decode()


def test_bash_completes(tmp_path: Path) -> None:
    """The script that bash loads works with a command that is found on the path."""
    command = tmp_path / "epic"
    command.write_text(f'#!/bin/sh\nexec {" ".join(EPIC)} "$@"\n')
    command.chmod(0o755)
    done = shell(
        f"""
        PATH={tmp_path}:$PATH
        unset -f epic
        eval "$(_EPIC_COMPLETE=bash_source epic)"
        COMP_WORDS=(epic replay --strategy "") COMP_CWORD=3
        _epic_completion epic
        echo ${{COMPREPLY[*]}}
        """
    )
    assert done.stderr == b""
    assert done.stdout.decode().split() == NAMES
