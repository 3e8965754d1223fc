"""Defaults from the configuration file and from EPIC_* variables."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from support import running
from support.running import environment

PACKETS = "0,0,0 / 10,0,0 / 0\n1,0,0 / 10,0,0 / 0.1\n"


def epic(
    tmp_path: Path, *arguments: str, config: str | None = None, **variables: str
) -> subprocess.CompletedProcess[str]:
    if config is not None:
        (tmp_path / "epic").mkdir(exist_ok=True)
        (tmp_path / "epic" / "config.toml").write_text(config)
    env = environment(XDG_CONFIG_HOME=str(tmp_path), **variables)
    done = running.epic(*arguments, stdin=PACKETS.encode(), env=env)
    said = done.stdout.decode(), done.stderr.decode()
    return subprocess.CompletedProcess(done.args, done.returncode, *said)


def test_the_file_gives_defaults(tmp_path: Path) -> None:
    config = 'tick = "100ms"\nstrategy = "epic+calc_ahead=0.1+slop_time=1"\n'
    given = epic(tmp_path, "replay", config=config)
    assert given.returncode == 0
    options = ["--tick", "0.1", "-s", "epic+calc_ahead=0.1+slop_time=1"]
    assert given.stdout == epic(tmp_path, "replay", *options, config="").stdout


def test_the_file_may_have_numbers_where_options_take_words(tmp_path: Path) -> None:
    config = "[simulate]\nlatency = 0.05\nloss = 1\n"
    given = epic(tmp_path, "simulate", config=config)
    assert given.returncode == 0
    options = ["--latency", "50ms", "--loss", "100%"]
    assert given.stdout == epic(tmp_path, "simulate", *options, config="").stdout
    refused = epic(tmp_path, "simulate", config="[simulate]\nloss = true\n")
    assert refused.returncode == 2
    assert "loss = True: True is not allowed: it must be 0 to 1" in refused.stderr


def test_variables_give_defaults(tmp_path: Path) -> None:
    given = epic(
        tmp_path,
        "replay",
        EPIC_TICK="100ms",
        EPIC_STRATEGY="epic+calc_ahead=0.1",
        EPIC_FORMAT="csv",
    )
    options = ["--tick", "0.1", "-s", "epic+calc_ahead=0.1", "--format", "csv"]
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
    assert epic(tmp_path, "session", config=config).stdout.startswith("time,x")


@pytest.mark.parametrize(
    ("config", "arguments"),
    [
        ('strategy = "epic+calc_ahead=0.1"\n', ("replay", "-s", "snapshot")),
        ('strategy = "epic+calc_ahead=0.1"\n', ("play", "-q", "--duration", "0.2")),
        ('format = "table"\n', ("simulate", "-q")),
        ('format = "markdown"\n', ("replay",)),
        ('clock = "exact"\n', ("play", "-q", "--duration", "0.2")),
        ('jitter = "5ms"\n', ("play", "-q", "--duration", "0.2", "--link", "trace=trace.csv")),
        ('send = "recorded"\n', ("play", "-q", "--duration", "0.2")),
    ],
)
def test_what_is_meant_for_others_is_passed_over(
    tmp_path: Path, config: str, arguments: tuple[str, ...]
) -> None:
    trace = tmp_path / "trace.csv"
    trace.write_text("send_time,owd_down_ms,owd_up_ms\n0,40,90\n0.05,50,80\n")
    words = [word.replace(trace.name, str(trace)) for word in arguments]
    given = epic(tmp_path, *words, config=config)
    assert (given.returncode, given.stderr) == (0, "")
    assert given.stdout == epic(tmp_path, *words, config="").stdout != ""


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "epic" / "config.toml").mkdir(parents=True)
    given = epic(tmp_path)
    assert given.returncode == 3
    assert "cannot read" in given.stderr


def test_a_typed_loss_overrules_a_configured_model(tmp_path: Path) -> None:
    arguments = ("simulate", "--movement", "circle,duration=20", "--loss", "0")
    lossy = epic(tmp_path, *arguments[:-2], config="link = 'gemodel=\"50%,50%\"'\n")
    assert " 0 lost" not in lossy.stderr
    given = epic(tmp_path, *arguments, config="link = 'gemodel=\"50%,50%\"'\n")
    assert given.stdout == epic(tmp_path, *arguments, config="").stdout
    assert " 0 lost" in given.stderr
    typed = epic(tmp_path, *arguments[:-2], "--link", 'gemodel="50%,50%"', config="loss = 0\n")
    assert typed.stdout == lossy.stdout
