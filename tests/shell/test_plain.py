"""A replay with no more than a strategy and a format starts without click, and is the same."""

from pathlib import Path

import pytest
from support.places import SAMPLES
from support.running import PACKET, environment, epic

from epic_cli.main import Plain, plain_replay


@pytest.fixture(autouse=True)
def nothing_else_says_more(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name, value in environment(XDG_CONFIG_HOME=str(tmp_path)).items():
        monkeypatch.setenv(name, value)


@pytest.mark.parametrize("words", [["replay"], ["replay", "a"], ["replay", "-", "b c"]])
def test_it_is_told_from_the_words(words: list[str]) -> None:
    assert plain_replay(words) == Plain(tuple(words[1:]))


def test_a_strategy_and_a_format_may_be_given() -> None:
    words = ["replay", "-f", "tsv", "a", "--strategy", "dead-reckoning", "b"]
    assert plain_replay(words) == Plain(("a", "b"), "dead-reckoning", "tsv")
    assert plain_replay(["replay", "--format", "csv", "-s", "dis"]) == Plain((), "dis", "csv")


@pytest.mark.parametrize(
    "words",
    [
        *(["replay", "-q"], ["replay", "--", "a"], ["replay", "a", "--help"], ["compare", "a"]),
        *(["--version"], ["a.txt"], ["session"], ["--strategy", "epic"]),
        *(["replay", "-s"], ["replay", "-s", "nosuch"], ["replay", "-s", "parts"]),
        *(["replay", "-s", "a.py:A"], ["replay", "-s", "epic", "-s", "lerp"], ["replay", "-slerp"]),
        *(["replay", "-f", "xml"], ["replay", "--format=csv"], ["replay", "a", "-f"]),
    ],
)
def test_all_else_is_for_click(words: list[str]) -> None:
    assert plain_replay(words) is None


@pytest.mark.parametrize("name", ["EPIC_STRATEGY", "EPIC_REPLAY_TICK", "_EPIC_COMPLETE"])
def test_variables_are_for_click(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "")
    assert plain_replay(["replay"]) is None


@pytest.mark.parametrize("name", ["EPIC_COMPILED", "EPIC_ENGINE", "EPIC_ENTRY_POINTS"])
def test_variables_that_are_no_options_are_not(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "")
    assert plain_replay(["replay"]) == Plain(())


def test_a_configuration_is_for_click(tmp_path: Path) -> None:
    (tmp_path / "epic").mkdir()
    (tmp_path / "epic" / "config.toml").write_text("")
    assert plain_replay(["replay"]) is None


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


@pytest.mark.parametrize("words", [["-s", "lerp"], ["-f", "jsonl", "--strategy", "mirror"]])
def test_it_is_the_same_replay_with_a_strategy(words: list[str]) -> None:
    file = SAMPLES / "jitter.txt"
    plain, whole = epic("replay", *words, file), epic("replay", "--color", "auto", *words, file)
    assert plain.stdout == whole.stdout != b""
    assert (plain.returncode, plain.stderr) == (whole.returncode, whole.stderr)


def test_epic_alone_is_a_replay_where_there_is_no_terminal() -> None:
    assert epic(stdin=PACKET).stdout == epic("replay", stdin=PACKET).stdout != b""
