"""``epic tune --design``: optima known by reasoning, and figures that other commands print."""

from __future__ import annotations

import base64
import csv
import io
import json
import re
import shlex
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from support.typed_session import TypedSession

import epic_cli
from epic_cli.engine.replay.playback import SCREEN_TIMING
from epic_cli.engine.replay.strategy_spec import read_specs
from epic_cli.jobs.tune.design import Design, DesignRow, Part, design
from epic_cli.jobs.tune.design_report import verdict
from epic_cli.jobs.tune.report import TITLE
from epic_cli.jobs.tune.spec import Division, TuneSpec
from epic_cli.main import main
from epic_cli.metrics.evaluation import CompareSpec, Run, group_by_entity
from epic_cli.metrics.metric import Weighing
from epic_cli.network.link import Link, LinkConditions
from epic_cli.network.movement import PathMovement
from epic_cli.network.paths import PATHS
from epic_cli.network.simulation import simulate

Told = Callable[..., str]


def sent(
    path: str, link: LinkConditions, *, rate: float = 20, seconds: float = 14.0, seed: int = 1,
    velocities: bool = True,
) -> Run:  # fmt: skip
    movement = PathMovement(PATHS[path](5.0, 5.0, seed))
    packets = simulate(movement, send_rate=rate, duration=seconds, channel=Link(link, seed=seed))
    taken = [packet if velocities else packet._replace(velocity=None) for packet in packets]
    return Run(f"seed {seed}", group_by_entity(taken))


def designed(*runs: Run, of: str = "", game: str = "accuracy=1", by: Division = "time") -> Design:
    how = CompareSpec((), SCREEN_TIMING, Weighing.parse(game).weights, threads=1)
    strategies = tuple(read_specs(of.split(","))) if of else ()
    return design(TuneSpec(strategies, how, division=by, trials=8), runs)


def parts(row: DesignRow) -> set[str]:
    assert row.composition is not None
    return {part.words for part in row.composition.parts}


CLEAN = LinkConditions(latency=0.05)
JITTERY = LinkConditions(latency=0.05, jitter=0.045, distribution="uniform")


def test_without_jitter_and_loss_a_straight_line_is_drawn_with_one_interval_of_delay() -> None:
    # at 20 Hz packets would come with every third frame, the oldest 33 ms ago
    found = designed(sent("straight", CLEAN, rate=17), of="buffer+beyond=hold")
    assert found.taken.composition is not None
    assert found.taken.composition.complexity == 0
    settings = dict(found.taken.strategy.settings) if found.taken.strategy else {}
    # less would wait for each packet, more is latency for nothing
    assert 0.9 <= float(str(settings["delay"]).removesuffix("i")) <= 1.15
    assert settings.get("curve", "linear") == "linear"


def test_slow_packets_of_a_curve_are_drawn_by_their_velocities_and_not_without_them() -> None:
    given = sent("figure-eight", CLEAN, rate=4, seconds=20.0)
    found = designed(given, of="buffer+beyond=hold", game="observer")
    assert "Hermite" in parts(found.taken)
    bare = designed(sent("figure-eight", CLEAN, rate=4, velocities=False), of="chase")
    every: Sequence[Part] = [
        part for row in bare.rows if row.composition for part in row.composition.parts
    ]
    assert every
    assert not any("velocities" in part.needs for part in every)


def test_no_row_has_more_parts_for_nothing_and_what_is_taken_is_as_good_as_the_best() -> None:
    found = designed(sent("strafe", JITTERY, seconds=8))
    own = [row.own.value("score") for row in found.simplest]
    complexity = [row.composition.complexity for row in found.simplest if row.composition]
    assert own == sorted(own)
    assert complexity == sorted(set(complexity))
    assert found.taken in found.simplest
    for count, line in found.fronts:
        late, rough = zip(
            *((each.point.latency, each.point.roughness) for each in line), strict=True
        )
        assert list(late) == sorted(late)
        assert list(rough) == sorted(rough, reverse=True)
        assert max(each.complexity for each in line) == count
    for row in found.simplest:
        said = verdict(replace(found, taken=row))
        assert ("Nothing more complex is better." in said) == (row is found.simplest[-1])


# ---------------------------------------------------------------- on the command line


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    files = []
    for seed in range(4):
        path = tmp_path_factory.mktemp("design") / f"{seed}.txt"
        words = ["--movement", "strafe,duration=8", "--link", "latency=50ms,jitter=20ms,loss=2%"]
        assert main(["simulate", *words, "--seed", str(seed), "-o", str(path)]) == 0
        files.append(str(path))
    return files


@pytest.fixture
def told(capsys: pytest.CaptureFixture[str]) -> Told:
    def run(*words: str, status: int = 0) -> str:
        capsys.readouterr()
        found = main(list(words))
        shown = capsys.readouterr()
        assert found == status, shown.err
        return shown.err if status else shown.out

    return run


FEW = ("--trials", "2", "-s", "chase,dead-reckoning")


def test_the_same_by_any_number_of_threads_and_workers_and_from_a_journal(
    recordings: list[str], told: Told, tmp_path: Path
) -> None:
    words = ["tune", "--design", *FEW, "-f", "jsonl", recordings[0]]
    first = told(*words, "--threads", "1", "--journal", str(tmp_path / "journal"))
    assert told(*words, "--threads", "2") == first
    assert told(*words, "--workers", "2") == first
    lines = (tmp_path / "journal").read_bytes().splitlines(keepends=True)
    cut = tmp_path / "cut"
    cut.write_bytes(b"".join(lines[: len(lines) // 2]) + lines[len(lines) // 2][:20])
    assert told(*words, "--journal", str(cut)) == first
    assert told(*words, "--seed", "5") != first


def test_figures_are_those_that_compare_prints_on_the_same_part(
    recordings: list[str], told: Told, tmp_path: Path
) -> None:
    """The part is the recordings kept back or, with frames of the game, all of one recording."""
    frames = tmp_path / "frames.csv"
    frames.write_text(told("replay", "-s", "lerp", "--tick", "1/60", "-f", "csv", recordings[0]))
    beside = ["--drawn", str(frames)]
    for given, kept, drawn in (
        (recordings, recordings[1::2], []),
        (["--validate", "none", recordings[0]], recordings[:1], beside),
    ):
        out = told("tune", "--design", *FEW, "-f", "csv", "--weights", "shooter", *drawn, *given)
        rows = {row["strategy"]: row for row in csv.DictReader(io.StringIO(out))}
        assert ("drawn" in rows) == bool(drawn)
        labels = ",".join(label for label in rows if label != "drawn")
        shown = told(
            "compare", "-q", "-s", labels, "-f", "csv", "--weights", "shooter", *drawn, *kept
        )
        compared = {row["strategy"]: row for row in csv.DictReader(io.StringIO(shown))}
        taken = next(row for row in rows.values() if row["taken"] == "True")
        for label, row in rows.items():
            for figure in ("score", "lag", "error", "jerk"):
                assert row[figure] == compared[label][figure], (label, figure)
            gap = float(row["score"]) - float(taken["score"])
            assert float(row["gain"]) == pytest.approx(gap, abs=1e-9)


def test_every_command_that_is_printed_does_what_it_says(
    recordings: list[str], told: Told, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for strategy in ("chase", "epic", "kalman"):
        out = told("tune", "--design", "-s", strategy, "--trials", "2", recordings[0])
        forms = dict(
            line.split("  ", 1) for line in out.splitlines()
            if line.startswith(("replay, compare", "config.toml", "Python", "code"))
        )  # fmt: skip
        words = forms["replay, compare"].split()
        shown = json.loads(told("compare", "-q", *words, "-f", "jsonl", recordings[0]))
        assert shown["strategy"] == words[1]
        assert told("replay", *words, recordings[0])
        ours = eval(forms["Python"], {"strategy": epic_cli.strategy})
        assert type(ours).__name__
        if strategy == "kalman":  # there is no code for it
            assert "code" not in forms
            continue
        assert told(*shlex.split(forms["code"])[1:]) == ""
        assert "class Smoothing" in Path("Smoothing.cs").read_text()
        port = ["code", words[1], "--lang", "python", "--main", "-o", "port.py"]
        assert told(*port) == ""
        packets = Path(recordings[0]).read_bytes()
        drawn = subprocess.run(
            ["python3", "port.py"], input=packets, capture_output=True, check=True
        )
        assert drawn.stdout


def test_the_main_cause_is_what_was_made_worse(
    recordings: list[str], told: Told, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A game that draws the same later, and one that jumps from packet to packet."""

    def cause(*game: str) -> tuple[str, str]:
        frames = tmp_path / "frames.csv"
        frames.write_text(told("replay", *game, "--tick", "1/60", "-f", "csv", recordings[0]))
        words = ["--design", *FEW, "--drawn", str(frames), "-f", "jsonl", recordings[0]]
        assert main(["tune", *words]) == 0
        shown = capsys.readouterr()
        found = [json.loads(line) for line in shown.out.splitlines()]
        causes = [record for record in found if record["kind"] == "cause"]
        drawn = next(record for record in found if record.get("strategy") == "drawn")
        whole = sum(record["points"] for record in causes)
        assert whole == pytest.approx(-drawn["gain"])
        return causes[0]["cost"], shown.err

    cost, words = cause("-s", "buffer+clock=min+delay=0.5")
    assert cost == "latency"
    assert "What you draw now (--drawn) is" in words
    assert "points lower" in words
    assert "mostly by its lag" in words
    assert cause("-s", "dumb-terminal")[0] == "smoothness"


def test_what_the_game_draws_is_begun_with_and_tuned(
    recordings: list[str], told: Told, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    frames = tmp_path / "frames.csv"
    game = ["-s", "chase+how=lerp+time=0.3", "--tick", "1/60", "-f", "csv"]
    frames.write_text(told("replay", *game, recordings[0]))
    assert main(["tune", "--design", "-s", "chase", "--trials", "20", "--drawn", str(frames),
                 "-f", "jsonl", recordings[0]]) == 0  # fmt: skip
    shown = capsys.readouterr()
    rows = [json.loads(line) for line in shown.out.splitlines()]
    scores = {row["strategy"]: row["score"] for row in rows if "score" in row}
    tuned = [score for name, score in scores.items() if name.startswith("chase+how=lerp+time=")]
    assert len(tuned) == 1
    assert tuned[0] > scores["drawn"]
    assert "It is chase+how=lerp+time=0.3; with other numbers" in " ".join(shown.err.split())


def test_the_page_and_the_picture_have_a_line_for_each_complexity(
    recordings: list[str], told: Told, tmp_path: Path
) -> None:
    page, picture = tmp_path / "design.html", tmp_path / "front.svg"
    out = told("tune", "--design", *FEW, "--html", str(page), "--svg", str(picture), recordings[0])
    assert TITLE.split(" (")[0] in out
    assert " T taken" in out
    found = json.loads(re.findall(r'id="data">(.*?)</script>', page.read_text())[0])
    (source,) = re.findall(r'src="data:[^,]*,([^"]*)"', found["lead"])
    points = re.compile(r"<title>.*?</title>")  # on the page, for a wider screen
    assert points.findall(base64.b64decode(source).decode()) == points.findall(picture.read_text())
    assert ">plain</text>" in picture.read_text()
    assert ">1 part</text>" in picture.read_text()
    assert found["verdict"][0].split() == out.split()[: len(found["verdict"][0].split())]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--drawn", "FILE"], "--drawn needs --design"),
        (["--design", "--all"], "--all tunes every strategy, --design composes one"),
        (["--design", "-s", "mirror"], "mirror is not made of parts: --design composes buffer"),
        (["--design", "-s", "buffer+curve=hermit"], "hermite"),
        (["--design", "--drawn", "FILE", "FILE"], "--drawn belongs to one recording"),
        (["--design", "--drawn", "FILE", "--movement", "strafe"], "--drawn belongs to one"),
    ],
)
def test_what_cannot_be_composed_is_said(
    words: list[str], said: str, recordings: list[str], told: Told
) -> None:
    given = [word.replace("FILE", recordings[1]) for word in words]
    given += [] if "--movement" in words else [recordings[0]]
    assert said in " ".join(told("tune", *given, status=2).split())


@pytest.mark.parametrize(
    ("given", "held"),
    [
        ("buffer+clock=agree+delay=0.1", "buffer+delay=0.1"),
        ("buffer+stamps=arrival+curve=linear", "buffer+stamps=arrival+delay="),
        ("chase+time=0.2+how=spring+ahead=newest", "chase+how=spring+time=0.2"),
        ("dead-reckoning+correction=snap", "dead-reckoning+correction=snap"),
    ],
)
def test_what_is_given_is_held(given: str, held: str, recordings: list[str], told: Told) -> None:
    out = told("tune", "--design", "-s", given, "--trials", "2", "-f", "csv", recordings[0])
    for row in csv.DictReader(io.StringIO(out)):
        assert row["strategy"].startswith(held)


def test_where_nothing_moves_nothing_is_said_to_be_good(tmp_path: Path, told: Told) -> None:
    rest = tmp_path / "rest.csv"
    rows = (f"{at / 20},{at / 20 + 0.05},0" for at in range(100))
    rest.write_text("\n".join(["time,arrival,x", *rows, ""]))
    out = told("tune", "--design", "--trials", "2", str(rest))
    assert out.startswith("Nothing can be judged here: the score of all is unknown.")


def test_what_predicts_by_velocities_needs_them(tmp_path: Path, told: Told) -> None:
    bare = tmp_path / "bare.csv"
    rows = (f"{at / 20},{at / 20 + 0.05},{at % 40}" for at in range(400))
    bare.write_text("\n".join(["time,arrival,x", *rows, ""]))
    said = told("tune", "--design", "-s", "dis", str(bare), status=2)
    assert "dis: this strategy needs packets with velocities" in " ".join(said.split())


def test_however_short_the_time_is_a_composition_is_taken(
    recordings: list[str], told: Told
) -> None:
    out = told("tune", "--design", "--time", "0.01", "-f", "csv", recordings[0])
    (taken,) = (row for row in csv.DictReader(io.StringIO(out)) if row["taken"] == "True")
    assert read_specs([taken["strategy"]])


def test_from_python_and_in_the_session(recordings: list[str]) -> None:
    with pytest.raises(ValueError, match="drawn needs design=True"):
        epic_cli.tune(recordings[0], "chase", trials=2, drawn=recordings[1])
    found = epic_cli.tune(recordings[0], "chase", design=True, trials=2, game="shooter")
    assert isinstance(found, epic_cli.Design)
    assert "For a shooter, a chase: " in repr(found)
    assert any(record["kind"] == "design" for record in found.to_dicts())
    assert replace(found, interrupted=True).interrupted
    packets = Path(recordings[0]).read_text().splitlines()[:200]
    shown = " ".join(TypedSession().type(*packets, ":tune --design -s chase --trials 2").split())
    assert "A chase: " in shown
    assert "epic code chase+" in shown
