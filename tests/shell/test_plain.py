"""A replay with only plain options starts without click, and gives the same rows."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.places import SAMPLES
from support.running import PACKET, environment, epic

from epic_cli.jobs.replay import command
from epic_cli.jobs.replay.spec import READERS, ReplaySpec
from epic_cli.main import parse_plain_replay
from epic_cli.shell.command_line import run_command_line


@pytest.fixture(autouse=True)
def nothing_else_says_more(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name, value in environment(XDG_CONFIG_HOME=str(tmp_path)).items():
        monkeypatch.setenv(name, value)


@pytest.mark.parametrize("words", [["replay"], ["replay", "a"], ["replay", "-", "b c"]])
def test_it_is_told_from_the_words(words: list[str]) -> None:
    assert parse_plain_replay(words) == (words[1:], ReplaySpec())


OPTIONS = [*(f"--{name}" for name in READERS), "-s", "-f"]
VALUES = [
    "lerp", "epic+calc_ahead=0.1", "correction:snap", "nosuch", "csv", "json", "table", "epic",
    "60hz", "0.05", "1/60", "50ms", "single", "exact", "auto", "demo", "arrival", "none", "80ms",
    "-1", "0.1", "-", "--", "list", "csv,unit=ms", "time=t,x=a,y=b", "no", "file", "EXACT",
]  # fmt: skip
WORDS = st.one_of(
    st.tuples(st.sampled_from(OPTIONS), st.sampled_from(["", "a b", *VALUES])),
    st.tuples(st.sampled_from(["a.txt", "-", "b c", "--strict", "-q", "--tick=60hz", *OPTIONS])),
)


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(WORDS, max_size=4))
def test_what_it_understands_is_what_click_understands(
    monkeypatch: pytest.MonkeyPatch, given: list[tuple[str, ...]]
) -> None:
    words = ["replay", *(word for part in given for word in part)]
    plain = parse_plain_replay(words)
    if plain is None:
        return
    asked: list[tuple[list[str], ReplaySpec]] = []
    monkeypatch.setattr(
        command, "write_rows", lambda spec, files, *_: asked.append(([*files], spec))
    )
    run_command_line(words)
    assert [(files, spec.strategy[:2], spec[1:]) for files, spec in asked] == [
        (files, spec.strategy[:2], spec[1:]) for files, spec in [plain]
    ]


@pytest.mark.parametrize(
    "words",
    [
        *(["replay", "-q"], ["replay", "--", "a"], ["replay", "a", "--help"], ["compare", "a"]),
        *(["--version"], ["a.txt"], ["session"], ["--strategy", "epic"], ["replay", "-o", "a"]),
        *(["replay", "-s"], ["replay", "-s", "nosuch"], ["replay", "-s", "parts"]),
        *(["replay", "-s", "a.py:A"], ["replay", "-slerp"], ["replay", "-strategy", "lerp"]),
        *(["replay", "-f", "xml"], ["replay", "--format=csv"], ["replay", "a", "-f"]),
        *(["replay", "--read", "list"], ["replay", "--latency", "soon"], ["replay", "--strict"]),
    ],
)
def test_all_else_is_for_click(words: list[str]) -> None:
    assert parse_plain_replay(words) is None


@pytest.mark.parametrize("name", ["EPIC_STRATEGY", "EPIC_REPLAY_TICK", "_EPIC_COMPLETE"])
def test_variables_are_for_click(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "")
    assert parse_plain_replay(["replay"]) is None


@pytest.mark.parametrize("name", ["EPIC_COMPILED", "EPIC_ENGINE", "EPIC_ENTRY_POINTS"])
def test_variables_that_are_no_options_are_not(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "")
    assert parse_plain_replay(["replay"]) == ([], ReplaySpec())


def test_a_configuration_is_for_click(tmp_path: Path) -> None:
    (tmp_path / "epic").mkdir()
    (tmp_path / "epic" / "config.toml").write_text("")
    assert parse_plain_replay(["replay"]) is None


@pytest.mark.parametrize(
    "files",
    [
        *(["turn.txt"], ["turn.txt", "jitter.txt"], ["hop.jsonl"], ["broken.txt"]),
        *(["two_tanks.csv"], ["no-such-file"], ["turn.txt", "no-such-file"], [".."], ["-"], []),
    ],
)
def test_it_is_the_same_replay(files: list[str]) -> None:
    paths = [file if file == "-" else SAMPLES / file for file in files]
    plain = epic("replay", *paths, stdin=PACKET)
    whole = epic("replay", "--color", "auto", *paths, stdin=PACKET)
    assert (plain.returncode, plain.stdout, plain.stderr) == (
        whole.returncode,
        whole.stdout,
        whole.stderr,
    )


def test_epic_alone_is_a_replay_where_there_is_no_terminal() -> None:
    assert epic(stdin=PACKET).stdout == epic("replay", stdin=PACKET).stdout != b""
