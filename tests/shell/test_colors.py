"""Colors are used where they should be: in rows, refused lines and the catalog."""

import re
from pathlib import Path
from typing import NamedTuple

import pytest
from support.places import SAMPLES
from support.running import PACKET, ROWS, environment, epic
from support.terminals import on_terminal


class Choice(NamedTuple):
    """A setting that decides on colors, and the expected answer."""

    options: list[str]
    env: dict[str, str]
    on_terminal: bool
    in_pipe: bool


CHOICES = {
    "terminal": Choice([], {"TERM": "xterm"}, True, False),
    "terminal without a name": Choice([], {}, False, False),
    "dumb": Choice([], {"TERM": "dumb"}, False, False),
    "NO_COLOR": Choice([], {"TERM": "xterm", "NO_COLOR": "1"}, False, False),
    "NO_COLOR is empty": Choice([], {"TERM": "xterm", "NO_COLOR": ""}, True, False),
    "FORCE_COLOR": Choice([], {"TERM": "dumb", "FORCE_COLOR": "1"}, True, True),
    "NO_COLOR wins": Choice([], {"NO_COLOR": "1", "FORCE_COLOR": "1"}, False, False),
    "auto": Choice(["--color", "auto"], {"TERM": "xterm"}, True, False),
    "never": Choice(["--color", "never"], {"TERM": "xterm", "FORCE_COLOR": "1"}, False, False),
    "always": Choice(["--color", "always"], {"TERM": "dumb", "NO_COLOR": "1"}, True, True),
}
choices = pytest.mark.parametrize("choice", CHOICES.values(), ids=list(CHOICES))


def is_colored(text: bytes) -> bool:
    return b"\x1b[" in text


@choices
def test_table(choice: Choice) -> None:
    args, env = ["replay", "--format", "table", *choice.options], environment(**choice.env)
    assert is_colored(on_terminal(*args, stdin=PACKET, env=env).terminal) == choice.on_terminal
    assert is_colored(epic(*args, stdin=PACKET, env=env).stdout) == choice.in_pipe


@choices
def test_refused_lines(choice: Choice) -> None:
    args, env = ["replay", *choice.options], environment(**choice.env)
    shown = on_terminal(*args, stdin=PACKET + b"hello\n", env=env, stderr=True)
    assert is_colored(shown.terminal) == choice.on_terminal
    assert shown.pipe == ROWS
    assert is_colored(epic(*args, stdin=b"hello\n", env=env).stderr) == choice.in_pipe


@pytest.mark.parametrize("row_format", ["epic", "tsv", "csv", "jsonl"])
def test_rows_for_programs_have_none(row_format: str) -> None:
    args = ("replay", "--format", row_format, "--color", "always")
    assert not is_colored(on_terminal(*args, stdin=PACKET).terminal)


def test_file_has_none(tmp_path: Path) -> None:
    on_terminal("replay", "--format", "table", "--output", tmp_path / "rows", stdin=PACKET)
    assert not is_colored((tmp_path / "rows").read_bytes())


def lines(text: bytes) -> list[bytes]:
    return [line.rstrip() for line in text.splitlines()]


@pytest.mark.parametrize("command", ["replay", "strategies"])
def test_colors_are_all_that_differs(command: str) -> None:
    file = [SAMPLES / "broken.txt"] if command == "replay" else []
    plain = epic(command, *file)
    colored = epic(command, "--color", "always", *file)
    without = re.sub(rb"\x1b\[[0-9;]*m", b"", colored.stdout + colored.stderr)
    assert without != colored.stdout + colored.stderr
    assert lines(without) == lines(plain.stdout + plain.stderr)
