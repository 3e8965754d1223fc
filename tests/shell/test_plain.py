"""A replay with options that have a word each starts without click, and is the same."""

from pathlib import Path

import pytest
from support.places import SAMPLES
from support.running import PACKET, environment, epic

from epic_cli.engine.replay.playback import Timing
from epic_cli.engine.replay.strategy_spec import StrategySpec, read_spec
from epic_cli.jobs.replay.spec import ReplaySpec
from epic_cli.main import plain_replay
from epic_cli.recordings.read_spec import ReadSpec


@pytest.fixture(autouse=True)
def nothing_else_says_more(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name, value in environment(XDG_CONFIG_HOME=str(tmp_path)).items():
        monkeypatch.setenv(name, value)


@pytest.mark.parametrize("words", [["replay"], ["replay", "a"], ["replay", "-", "b c"]])
def test_it_is_told_from_the_words(words: list[str]) -> None:
    assert plain_replay(words) == (words[1:], ReplaySpec())


#: Options of a replay, each with what it sets.
OPTIONS = {
    ("--strategy", "dead-reckoning"): {"strategy": StrategySpec("dead-reckoning")},
    ("-s", "epic+calc_ahead=100ms"): {"strategy": read_spec("epic+calc_ahead=100ms")},
    ("-f", "csv"): {"row_format": "csv"},
    ("--latency", "80ms"): {"timing": Timing(latency=0.08)},
    ("--tick", "60hz"): {"timing": Timing(tick=(1, 60))},
    ("--entity", "tank7"): {"entity": "tank7"},
    ("--read", "unit=ms"): {"read": ReadSpec(time_unit="ms")},
    ("--file-column", "no"): {"file_column": "no"},
}


@pytest.mark.parametrize("option", OPTIONS)
def test_options_with_a_word_may_be_given(option: tuple[str, str]) -> None:
    assert plain_replay(["replay", "a", *option, "b"]) == (
        ["a", "b"],
        ReplaySpec(**OPTIONS[option]),  # type: ignore[arg-type]
    )


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
    assert plain_replay(words) is None


@pytest.mark.parametrize("name", ["EPIC_STRATEGY", "EPIC_REPLAY_TICK", "_EPIC_COMPLETE"])
def test_variables_are_for_click(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "")
    assert plain_replay(["replay"]) is None


@pytest.mark.parametrize("name", ["EPIC_COMPILED", "EPIC_ENGINE", "EPIC_ENTRY_POINTS"])
def test_variables_that_are_no_options_are_not(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "")
    assert plain_replay(["replay"]) == ([], ReplaySpec())


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


@pytest.mark.parametrize(
    ("words", "name"),
    [
        *((option, "two_tanks.csv") for option in OPTIONS),
        *((option, "jitter.txt") for option in OPTIONS),
        (("-f", "jsonl", "--strategy", "mirror", "-s", "lerp"), "jitter.txt"),
        (("--file-column", "time", "-f", "csv"), "jitter.txt"),
        (("--pacing", "demo", "--latency", "0.1"), "turn.txt"),
    ],
)
def test_it_is_the_same_replay_with_options(words: tuple[str, ...], name: str) -> None:
    file = SAMPLES / name
    plain, whole = epic("replay", *words, file), epic("replay", "--color", "auto", *words, file)
    assert plain.stdout == whole.stdout
    assert (plain.returncode, plain.stderr) == (whole.returncode, whole.stderr)
    assert plain.stdout or plain.returncode == 2


def test_epic_alone_is_a_replay_where_there_is_no_terminal() -> None:
    assert epic(stdin=PACKET).stdout == epic("replay", stdin=PACKET).stdout != b""
