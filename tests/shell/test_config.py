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
    ("config", "message"),
    [
        ("tock = 1\n", "there is no option 'tock'; did you mean 'tick'?"),
        ("[replai]\ntick = 1\n", "there is no command 'replai'; did you mean 'replay'?"),
        ("[foo]\nx = 1\n", "there is no command 'foo'"),
        ("tick = 0\n", "tick = 0: a tick of 0 is out of range: it must be 0.000001 to 3600 s"),
        ("strategy = 'epik'\n", "unknown strategy 'epik'; did you mean 'epic'?"),
        ("strategy = {}\n", "strategy = {}: "),
        ("tick = \n", "line 1, column 8"),
        ("replay = 5\n", "replay is a table: write [replay]"),
    ],
)
def test_a_wrong_file_is_wrong_usage(tmp_path: Path, config: str, message: str) -> None:
    given = epic(tmp_path, config=config)
    assert given.returncode == 2
    assert given.stdout == ""
    assert f"epic: {tmp_path}/epic/config.toml: " in given.stderr
    assert message in given.stderr
    assert "Traceback" not in given.stderr


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


@pytest.mark.parametrize(
    ("config", "variables", "arguments", "message"),
    [
        ("", {"EPIC_STRATEGY": "epik"}, ("replay",), "EPIC_STRATEGY=epik: unknown strategy"),
        ("", {"EPIC_TICK": "soon"}, ("replay",), "EPIC_TICK=soon: soon is not a tick"),
        ("", {"EPIC_STRATEGY": "epic+calc_ahed=1"}, ("replay",), "'calc_ahead'?"),
        ("", {"EPIC_STRATEGIES": "epik"}, ("compare",), "--strategies is set by EPIC_STRATEGIES"),
        (
            "",
            {"EPIC_MATCH": "step=1"},
            ("play", "-q"),
            "it must be 0.005 to 0.1 s",
        ),
        ("", {"EPIC_VIEW": "Xavier"}, ("play", "-q"), "--view is set by EPIC_VIEW=Xavier"),
        ('strategy = "epic+calc=1"\n', {}, ("replay",), "epic has no setting 'calc'"),
        ('format = "xml"\n', {}, ("replay",), "config.toml: format = 'xml': "),
        ('[simulate]\nformat = "table"\n', {}, ("simulate",), "format = 'table': "),
        ('latency = "-1s"\n', {}, ("replay", "--pacing", "demo"), "--latency is set by /"),
    ],
)
def test_what_is_wrong_is_blamed_on_where_it_comes_from(
    tmp_path: Path,
    config: str,
    variables: dict[str, str],
    arguments: tuple[str, ...],
    message: str,
) -> None:
    given = epic(tmp_path, *arguments, config=config, **variables)
    assert (given.returncode, given.stdout) == (2, "")
    assert message in given.stderr
    assert "'-s'" not in given.stderr
    assert "Traceback" not in given.stderr


def test_what_is_typed_is_blamed_on_nobody_else(tmp_path: Path) -> None:
    given = epic(tmp_path, "replay", "--tick", "soon", config='tick = "50ms"\n')
    assert "set by" not in given.stderr


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "epic" / "config.toml").mkdir(parents=True)
    given = epic(tmp_path)
    assert given.returncode == 3
    assert "cannot read" in given.stderr


def test_options_of_a_session_are_refused_elsewhere(tmp_path: Path) -> None:
    given = epic(tmp_path, "--resume")
    assert given.returncode == 2
    assert "--resume is an option of 'epic session'" in given.stderr


def test_a_typed_loss_overrules_a_configured_model(tmp_path: Path) -> None:
    arguments = ("simulate", "--movement", "circle,duration=20", "--loss", "0")
    lossy = epic(tmp_path, *arguments[:-2], config="link = 'gemodel=\"50%,50%\"'\n")
    assert " 0 lost" not in lossy.stderr
    given = epic(tmp_path, *arguments, config="link = 'gemodel=\"50%,50%\"'\n")
    assert given.stdout == epic(tmp_path, *arguments, config="").stdout
    assert " 0 lost" in given.stderr
    typed = epic(tmp_path, *arguments[:-2], "--link", 'gemodel="50%,50%"', config="loss = 0\n")
    assert typed.stdout == lossy.stdout


def test_a_mistyped_variable_is_named(tmp_path: Path) -> None:
    packet = b"1,2,3 / 4,5,6 / 0.1\n"
    for name, near in (("EPIC_STRATGY", b"EPIC_STRATEGY"), ("EPIC_TICKS", b"EPIC_TICK")):
        done = running.epic("replay", stdin=packet, env=environment(**{name: "1"}))
        assert done.returncode == 0
        assert b"did you mean " + near in done.stderr
    for name in ("EPIC_GAMES_LAUNCHER", "EPIC_ENTRY_POINTS", "EPIC_THREADS"):
        done = running.epic("replay", stdin=packet, env=environment(**{name: "1"}), cwd=tmp_path)
        assert done.stderr == b""
