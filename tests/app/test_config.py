"""Defaults from the configuration file and from EPIC_* variables."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PACKETS = "0,0,0 / 10,0,0 / 0\n1,0,0 / 10,0,0 / 0.1\n"


def epic(
    tmp_path: Path, *arguments: str, config: str | None = None, **variables: str
) -> subprocess.CompletedProcess[str]:
    if config is not None:
        (tmp_path / "epic").mkdir(exist_ok=True)
        (tmp_path / "epic" / "config.toml").write_text(config)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("EPIC_")}
    return subprocess.run(
        [sys.executable, "-m", "epic_cli", *arguments],
        input=PACKETS,
        capture_output=True,
        text=True,
        check=False,
        env={**kept, "XDG_CONFIG_HOME": str(tmp_path), **variables},
    )


def test_the_file_gives_defaults(tmp_path: Path) -> None:
    config = 'tick = "100ms"\nset = ["calc_ahead=0.1", "slop_time=1"]\n'
    given = epic(tmp_path, "replay", config=config)
    assert given.returncode == 0
    options = ["--tick", "0.1", "--set", "calc_ahead=0.1", "--set", "slop_time=1"]
    assert given.stdout == epic(tmp_path, "replay", *options, config="").stdout


def test_variables_give_defaults(tmp_path: Path) -> None:
    given = epic(
        tmp_path, "replay", EPIC_TICK="100ms", EPIC_SET="calc_ahead=0.1", EPIC_FORMAT="csv"
    )
    options = ["--tick", "0.1", "--set", "calc_ahead=0.1", "--format", "csv"]
    assert given.stdout == epic(tmp_path, "replay", *options).stdout


def test_the_command_line_comes_first_then_variables_then_the_file(tmp_path: Path) -> None:
    csv = epic(tmp_path, "--format", "csv").stdout
    tsv = epic(tmp_path, "--format", "tsv").stdout
    config = 'format = "jsonl"\n'
    assert epic(tmp_path, config=config, EPIC_FORMAT="tsv").stdout == tsv
    assert epic(tmp_path, "--format", "csv", config=config, EPIC_FORMAT="tsv").stdout == csv


def test_a_table_is_for_one_command(tmp_path: Path) -> None:
    config = 'format = "csv"\n[replay]\nformat = "tsv"\n[session]\ntoolbar = false\n'
    assert epic(tmp_path, "replay", config=config).stdout.startswith("time\tx")
    assert epic(tmp_path, config=config).stdout.startswith("time,x")


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ("tock = 1\n", "there is no option 'tock'; did you mean 'tick'?"),
        ("tick = 0\n", "tick = 0: a tick of 0 is out of range: it must be 0.000001 to 3600 s"),
        ("strategy = 'epik'\n", "there is no strategy 'epik'; did you mean 'epic'?"),
        ("strategy = {}\n", "strategy = {}: "),
        ("set = 5\n", "set = 5: "),
        ("tick = \n", "line 1, column 8"),
        ("session = 5\n", "session is a table: write [session]"),
    ],
)
def test_a_wrong_file_is_wrong_usage(tmp_path: Path, config: str, message: str) -> None:
    given = epic(tmp_path, config=config)
    assert given.returncode == 2
    assert given.stdout == ""
    assert f"epic: {tmp_path}/epic/config.toml: " in given.stderr
    assert message in given.stderr
    assert "Traceback" not in given.stderr


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "epic" / "config.toml").mkdir(parents=True)
    given = epic(tmp_path)
    assert given.returncode == 3
    assert "cannot read" in given.stderr


def test_options_of_a_session_are_refused_elsewhere(tmp_path: Path) -> None:
    given = epic(tmp_path, "--resume")
    assert given.returncode == 2
    assert "--resume is for a session" in given.stderr


def test_a_replay_loads_nothing_of_the_session(tmp_path: Path) -> None:
    code = (
        "import sys; from epic_cli.app import main; main(['replay']);"
        "heavy = {'prompt_toolkit', 'rich', 'numpy', 'tomllib'} & set(sys.modules);"
        "sys.exit(f'loaded: {heavy}' if heavy else 0)"
    )
    given = subprocess.run(
        [sys.executable, "-c", code],
        input=PACKETS,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "XDG_CONFIG_HOME": str(tmp_path)},
    )
    assert given.returncode == 0, given.stderr
