"""Comparisons from Python."""

import dataclasses
import json
import math
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from support.places import ROOT
from support.running import shell

from epic_cli import Packet, Sample, compare, read_packets, strategy
from epic_cli.engine.strategies import list_remote_names
from epic_cli.network.link import LinkConditions
from epic_cli.work.executors import Processes

SAMPLES = ROOT / "sample_inputs"
JITTER = SAMPLES / "jitter.txt"


class Still:
    """A strategy that draws the newest packet."""

    def reset(self) -> None:
        self.packet: Packet | None = None

    def update(self, packet: Packet, now: float) -> bool:
        self.packet = packet
        return now >= 0

    def read(self, at: float) -> Sample:
        if self.packet is None:
            return Sample(at, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), "none")
        return Sample(at, self.packet.position, (0.0, 0.0, 0.0), "held")


class Broken(Still):
    def read(self, at: float) -> Sample:
        raise LookupError(at)


def unix_table(path: Path, seconds: int) -> Path:
    """Return a table of a turning entity, at Unix times from this second of the day on."""
    rows = [f"{1.7e9 + seconds + k / 20:.2f},{k / 7:.4f},{(k / 20) ** 2:.4f},0" for k in range(90)]
    path.write_text("\n".join(["time,x,y,z", *rows, ""]))
    return path


@pytest.mark.parametrize(
    ("files", "truth"),
    [((JITTER,), None), (("a.csv",), None), (("a.csv", JITTER), None), (("a.csv",), "b.csv")],
    ids=["one", "Unix times", "several", "a truth at Unix times"],
)
def test_it_measures_what_the_command_does(
    tmp_path: Path, files: tuple[str | Path, ...], truth: str | None
) -> None:
    for number, name in enumerate(("a.csv", "b.csv")):
        unix_table(tmp_path / name, number)
    paths = [tmp_path / file for file in files]  # an absolute one stays as it is
    command = "epic compare --format jsonl -s epic,epic+calc_ahead=0.3 --tick 1/60 --latency 50ms"
    command += f" --truth {tmp_path / truth}" if truth else ""
    told = shell(f"{command} {' '.join(map(str, paths))}", cwd=ROOT).stdout.splitlines()
    lines = [line for line in map(json.loads, told) if line.get("entity") is None]
    comparison = compare(
        paths,
        ["epic", "epic+calc_ahead=0.3"],
        truth=tmp_path / truth if truth else None,
        tick="1/60",
        latency=0.05,
    )
    assert [result.label for result in comparison.results] == ["epic", "epic+calc_ahead=0.3"]
    for result in comparison.results:
        line = next(item for item in lines if item["strategy"] == result.label)
        known = {name: None if math.isnan(one) else one for name, one in result.values.items()}
        assert {name: line.get(name) for name in result.values} == known


def test_packets_and_paths_are_compared_alike() -> None:
    by_path = compare(SAMPLES / "two_tanks.csv", "lerp")
    by_packets = compare(list(read_packets(SAMPLES / "two_tanks.csv")), strategy("lerp"))
    assert [result.values for result in by_packets.results] == [
        result.values for result in by_path.results
    ]
    assert {result.entity for result in by_path.by_entity} == {"tank1", "tank7"}


def test_strategies_are_names_objects_classes_and_functions_and_have_labels() -> None:
    made = strategy("epic", display_behind=0.1)
    comparison = compare(JITTER, ["epic", made, Still, "lerp"])
    labels = [result.label for result in comparison.results]
    assert labels == ["epic", "Epic(display_behind=0.1)", "Still", "lerp"]
    named = compare(JITTER, {"a": "epic", "b": made, "c": lambda: strategy("lerp")})
    assert [result.label for result in named.results] == ["a", "b", "c"]
    assert [result.value("error") for result in named.results] == [
        comparison.results[index].value("error") for index in (0, 1, 3)
    ]


def test_without_strategies_all_take_part() -> None:
    labels = [result.label for result in compare(SAMPLES / "turn.txt").results]
    assert labels == list_remote_names()


def test_results_are_frozen() -> None:
    comparison = compare(JITTER, "epic")
    (result,) = comparison.results
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.label = "mine"  # type: ignore[misc]
    with pytest.raises(TypeError):
        result.values["score"] = 100.0  # type: ignore[index]
    assert math.isnan(result.value("no such metric"))


def test_a_strategy_that_fails_is_a_note() -> None:
    good, bad = compare(JITTER, ["epic", Broken]).results
    assert good.values
    assert bad.failed
    assert not bad.values


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        (([], "epic"), ValueError, "not enough to say: there are no packets"),
        ((JITTER, "epik"), ValueError, "did you mean 'epic'"),
        ((JITTER, ["epic", "epic"]), ValueError, "epic is given twice: use a mapping"),
        ((JITTER, [3]), TypeError, "3 is not a strategy"),
        ((JITTER, [Still()]), ValueError, "draws one entity once: give its class"),
        ((None,), TypeError, "None holds no packets"),
        (("no_such_file",), FileNotFoundError, "no_such_file"),
    ],
)
def test_wrong_arguments_are_errors_in_words(
    arguments: tuple[Any, ...], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        compare(*arguments)


def test_wrong_timing_and_weights_are_errors() -> None:
    with pytest.raises(ValueError, match="soon is not a tick"):
        compare(JITTER, "epic", tick="soon")
    with pytest.raises(ValueError, match="there is no weight 'speed'"):
        compare(JITTER, "epic", weights={"speed": 1})
    with pytest.raises(ValueError, match="the truth has no movement to compare with"):
        compare(JITTER, "epic", truth=[])


def test_several_recordings_and_seeds_are_one_comparison_with_intervals(tmp_path: Path) -> None:
    for name in ("jitter.txt", "turn.txt"):
        (tmp_path / name).symlink_to(SAMPLES / name)
    of_folder = compare(tmp_path, ["dis", "lerp"])
    assert of_folder == compare([tmp_path / "jitter.txt", tmp_path / "turn.txt"], ["dis", "lerp"])
    assert [Path(name).name for name in of_folder.recordings] == ["jitter.txt", "turn.txt"]
    link = LinkConditions(0.08, 0.02)
    walk = tmp_path / "walk.csv"
    walk.write_text("time,x,y,z\n" + "".join(f"{k / 10},{k % 20},{k},0\n" for k in range(60)))
    found = compare(None, ["dis", "lerp"], movement=f"truth={walk}", seeds=6, link=link, threads=1)
    assert found == compare(
        None, ["dis", "lerp"], movement=f"truth={walk}", seeds=6, link=link, threads=2
    )
    assert found.certainty is not None
    assert found.certainty.units == 6
    low, high = found.results[0].interval("error")
    assert low < found.results[0].value("error") < high
    assert {result.rank for result in found.results} <= {1, 2}
    assert found.advice.best is not None
    fighting = compare(JITTER, "dis", game="fighting").results[0]
    assert fighting.value("score") != compare(JITTER, "dis").results[0].value("score")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"packets": JITTER, "movement": "circle"}, "leave out packets and truth"),
        ({"movement": f"truth={ROOT / 'README.md'}"}, "README.md: "),
        ({"movement": "circle", "seeds": 0}, "there are no seeds"),
        ({"movement": "cirle"}, "did you mean 'circle'"),
        ({"movement": "circle", "link": "4gg"}, "did you mean '4g'"),
        ({"packets": JITTER, "game": "chess"}, "no game 'chess': choose from shooter"),
    ],
)
def test_what_does_not_go_together_is_told(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        compare(**arguments)


def test_any_executor_judges_recordings_as_threads_do() -> None:
    paths = [SAMPLES / name for name in ("jitter.txt", "turn.txt", "two_tanks.csv")]
    options: dict[str, Any] = {"strategies": ["lerp", "snapshot"], "latency": 0.05}
    here = compare(paths, **options)
    with ThreadPoolExecutor(2) as threads:
        assert compare(paths, executor=threads, **options) == here
    with Processes(1) as processes:
        assert compare(paths, executor=processes, **options) == here
        for executor in (processes, None):
            with pytest.warns(UserWarning, match=r"none\.txt: No such file .* left out"):
                broken = compare([*paths, SAMPLES / "none.txt"], executor=executor, **options)
            assert [pair.recording for pair in broken.skipped] == [str(SAMPLES / "none.txt")]
            assert "No such file" in str(broken.skipped[0].error)
    with ThreadPoolExecutor(1) as threads:
        with pytest.raises(ValueError, match="needs paths"):
            compare([], executor=threads, **options)
        with pytest.raises(ValueError, match="leave it out with --movement"):
            compare(movement="circle", seeds=2, executor=threads)
        with pytest.raises(FileNotFoundError):
            compare(SAMPLES / "none.txt", executor=threads, **options)
